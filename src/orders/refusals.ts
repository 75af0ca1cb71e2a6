/**
 * Wanted orders refused before they were sent: reported once, and tried again when what they were refused for has changed.
 *
 * Invariants: the same wanted order of a slot is refused once; an order that ended makes room for one wanted order that found none; a product
 * nobody lists causes a new reading of the list, at most once a minute; in real time an order waits for the first quote of its product before
 * it is told as refused.
 * Not here: the rules (orders/risk/pre-trade-checks.ts).
 */
import { Subject } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { OrderLifecycle } from "./order-lifecycle.ts";
import type { Approval, Ruling } from "./risk/pre-trade-checks.ts";
import type { Slot } from "./slot.ts";
import { sameWanted, type WantedOrder } from "./wanted-order.ts";

export interface Refusal {
  readonly strategy: string;
  readonly slot: string;
  readonly reason: string;
}

interface RefusalsOptions {
  readonly clock: Clock;
  readonly journal: EventLog;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  /** Defined where prices come in real time: a first quote is on its way then. */
  readonly priceSilenceMs?: number | undefined;
  /** A wanted order names a product that is not listed: the list may be old. At most once a minute. */
  readonly onUnknownInstrument?: (instId: string) => void;
}

interface RefusalsOwner {
  consider(slot: Slot): void;
  /** A wanted order was refused for a reason that is news. */
  refused(slot: Slot, wanted: WantedOrder, reason: string): void;
}

const unknownMs = 60_000;
/** What holds for every order and has an event of its own, such as a journal that cannot be written, is told of a slot so often. */
const generalMs = 600_000;
/** So long an order waits for the first quote of its product, and is told as refused then. */
const firstQuoteMs = 10_000;
/** An order that closes a protected position and was refused is ruled on again so often; that costs no request. */
const reservedMs = 1_000;

export class Refusals {
  readonly refusals$ = new Subject<Refusal>();
  readonly #options: RefusalsOptions;
  readonly #lifecycle: OrderLifecycle;
  readonly #owner: RefusalsOwner;
  readonly #crowded = new Set<Slot>();
  readonly crowded: { readonly size: number } = this.#crowded;
  readonly #told = new WeakMap<Slot, { readonly wanted: WantedOrder; readonly reason: string; readonly at: number }>();
  #retried: Slot | undefined;
  #unknownAskedAt = Number.NEGATIVE_INFINITY;
  /** Slots that wait for a first quote, and until when. */
  readonly #unquoted = new Map<Slot, number>();
  /** Slots of the engine's own that are looked at again soon. */
  readonly #waiting = new Set<Slot>();
  #closed = false;

  constructor(options: RefusalsOptions, lifecycle: OrderLifecycle, owner: RefusalsOwner) {
    this.#options = options;
    this.#lifecycle = lifecycle;
    this.#owner = owner;
  }

  refuse(slot: Slot, wanted: WantedOrder, { reason, crowded, isGeneral, isUnquoted }: Exclude<Ruling, Approval>): void {
    if (crowded === true) this.#crowded.add(slot);
    if (sameWanted(wanted, slot.settled)) return;
    slot.settled = wanted;
    slot.refused = true;
    this.#lifecycle.dropSpare(slot);
    // Looked at again and refused for the same reason: that is no news.
    if (slot.reserved) this.#lookAgain(slot);
    if (isUnquoted === true && this.#waitsForQuote(slot)) return;
    const before = this.#told.get(slot);
    const now = this.#options.clock.now();
    const isRecent = isGeneral === true && !slot.byHand && before !== undefined && now - before.at < generalMs;
    const known =
      before?.reason === reason && (isRecent || (this.#retried === slot && sameWanted(wanted, before.wanted)));
    this.#told.set(slot, { wanted, reason, at: known ? before.at : now });
    if (known) {
      if (slot.reserved) this.#noteUnknown(wanted.instId);
      return;
    }
    const { strategy, name } = slot;
    this.note({ strategy, slot: name, reason });
    this.refusals$.next({ strategy, slot: name, reason });
    this.#owner.refused(slot, wanted, reason);
    this.#noteUnknown(wanted.instId);
  }

  /** In the journal, also of what never had a slot. */
  note(refusal: Refusal): void {
    this.#options.journal.append({ type: "order.refused", ...refusal });
  }

  /** Why the slot was refused last; empty where it never was. */
  reasonOf(slot: Slot): string {
    return this.#told.get(slot)?.reason ?? "";
  }

  /** What the wanted order was refused for has changed. */
  retry(slot: Slot): void {
    this.#crowded.delete(slot);
    if (slot.refused && slot.order === undefined) slot.settled = undefined;
    slot.refused = false;
    this.#retried = slot;
    this.#owner.consider(slot);
    this.#retried = undefined;
    if (slot.refused) return;
    this.#told.delete(slot);
    this.#unquoted.delete(slot);
  }

  /** An order has ended: the first of those that found no room may have some now. */
  retryCrowded(most: number): void {
    for (let tried = 0; tried < most && this.#crowded.size > 0; tried++) {
      const [next] = this.#crowded;
      this.retry(next as Slot);
    }
  }

  forget(slot: Slot): void {
    this.#crowded.delete(slot);
    this.#unquoted.delete(slot);
  }

  /** The engine ends: nothing is asked for any more. */
  close(): void {
    this.#closed = true;
  }

  /** True while it waits for the first quote of its product and nothing is told. What is placed by hand is answered at once. */
  #waitsForQuote(slot: Slot): boolean {
    const { clock, priceSilenceMs } = this.#options;
    if (priceSilenceMs === undefined || slot.byHand) return false;
    const now = clock.now();
    const known = this.#unquoted.get(slot);
    if (known !== undefined) return now < known;
    const until = now + firstQuoteMs;
    this.#unquoted.set(slot, until);
    clock.setTimer(until, () => {
      if (!this.#closed && this.#unquoted.get(slot) === until && slot.refused && slot.wanted !== undefined)
        this.retry(slot);
    });
    return true;
  }

  /** Nobody wants what closes a protected position anew: it is looked at again until it may leave. */
  #lookAgain(slot: Slot): void {
    if (this.#waiting.has(slot)) return;
    const { clock } = this.#options;
    this.#waiting.add(slot);
    clock.setTimer(clock.now() + reservedMs, () => {
      this.#waiting.delete(slot);
      if (!this.#closed && slot.refused && slot.wanted !== undefined) this.retry(slot);
    });
  }

  #noteUnknown(instId: string): void {
    const { clock, instruments, onUnknownInstrument } = this.#options;
    if (instruments().has(instId) || clock.now() - this.#unknownAskedAt < unknownMs) return;
    this.#unknownAskedAt = clock.now();
    onUnknownInstrument?.(instId);
  }
}
