/**
 * Wanted orders refused before they were sent: reported once, and tried again when what they were refused for has
 * changed.
 *
 * Invariants: the same wanted order of a slot is refused once; an order that ended makes room for one wanted order that
 * found none; a product that is not listed causes a new reading of the list, at most once a minute; an order waits for
 * the first quote of its product before it is reported as refused: ten seconds in real time, else until the engine
 * ends.
 * Not here: the rules (orders/risk/pre-trade-checks.ts).
 */
import { Subject } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { type Effect, type Effects, evaluate, next, noEffects, type Refusal } from "./effects.ts";
import type { Approval, Ruling } from "./risk/pre-trade-checks.ts";
import type { Slot } from "./slot.ts";
import type { Waits } from "./waits.ts";
import { sameWanted, type WantedOrder } from "./wanted-order.ts";

interface RefusalsOptions {
  readonly clock: Clock;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  /** Defined where prices come in real time. */
  readonly priceSilenceMs?: number | undefined;
}

/** `isNews`: it was not reported before. */
interface Refused {
  readonly effects: Effects;
  readonly isNews: boolean;
}

const unknownMs = 60_000;
/**
 * A general reason with an event of its own, such as a journal that cannot be written, is reported for a slot
 * so often.
 */
const generalMs = 600_000;
/** Wait of an order for the first quote of its product, before it is reported as refused. */
const firstQuoteMs = 10_000;
/** An order that closes a protected position and was refused is ruled on again so often; that costs no request. */
const reservedMs = 1_000;

export class Refusals {
  /** Every refusal that is news. */
  readonly refusals$ = new Subject<Refusal>();
  readonly #options: RefusalsOptions;
  readonly #waits: Waits;
  #retried: Slot | undefined;
  #unknownAskedAt = Number.NEGATIVE_INFINITY;
  #isEnding = false;
  #closed = false;

  constructor(options: RefusalsOptions, waits: Waits) {
    this.#options = options;
    this.#waits = waits;
  }

  refuse(slot: Slot, wanted: WantedOrder, ruling: Exclude<Ruling, Approval>): Refused {
    const { reason, crowded, isGeneral, isUnquoted } = ruling;
    if (crowded === true) this.#waits.set("room", slot);
    if (sameWanted(wanted, slot.settled)) return { effects: noEffects, isNews: false };
    slot.settled = wanted;
    slot.refused = true;
    const effects: Effect[] = slot.reserved ? [...this.#lookAgain(slot)] : [];
    if (isUnquoted === true && this.#waitsForQuote(slot, effects)) return { effects, isNews: false };
    const before = slot.refusal;
    const now = this.#options.clock.now();
    const isRecent = isGeneral === true && !slot.byHand && before !== undefined && now - before.at < generalMs;
    // Looked at again and refused for the same reason: that is no news.
    const isKnown =
      before?.reason === reason && (isRecent || (this.#retried === slot && sameWanted(wanted, before.wanted)));
    slot.refusal = { wanted, reason, at: isKnown ? before.at : now };
    if (isKnown)
      return { effects: slot.reserved ? [...effects, ...this.unlisted(wanted.instId)] : effects, isNews: false };
    effects.push({ kind: "refuse", refusal: { strategy: slot.strategy, slot: slot.name, reason } });
    return { effects, isNews: true };
  }

  /** Asks for the list of instruments where it lacks this one, at most once a minute. */
  unlisted(instId: string): Effects {
    const { clock, instruments } = this.#options;
    if (instruments().has(instId) || clock.now() - this.#unknownAskedAt < unknownMs) return noEffects;
    this.#unknownAskedAt = clock.now();
    return [{ kind: "relist", instId }];
  }

  /** The reason of a refusal may be over: the slot is ruled on again. */
  retry(slot: Slot): Effects {
    this.#waits.delete("room", slot);
    if (slot.refused && slot.order === undefined) slot.settled = undefined;
    slot.refused = false;
    this.#retried = slot;
    return [evaluate(slot), next(() => this.#retryEnded(slot))];
  }

  #retryEnded(slot: Slot): Effects {
    this.#retried = undefined;
    if (slot.refused) return noEffects;
    slot.refusal = undefined;
    this.#waits.delete("first quote", slot);
    return noEffects;
  }

  /** An order has ended: the first `most` of those that found no room may have some now. */
  retryCrowded(most: number): Effects {
    if (this.#waits.count("room") === 0) return noEffects;
    return this.#waits
      .of("room")
      .slice(0, most)
      .map((slot) => next(() => this.retry(slot)));
  }

  /** The engine ends: reports the orders for whose product no quote has come. */
  leave(): Effects {
    this.#isEnding = true;
    const waiting = this.#waits.of("first quote").filter((slot) => slot.refused && slot.wanted !== undefined);
    return waiting.map((slot) => next(() => this.retry(slot)));
  }

  /** The engine has ended: nothing is asked for any more. */
  close(): void {
    this.#closed = true;
  }

  /**
   * Returns true while it waits for the first quote of its product, unreported. An order placed by hand is answered at
   * once.
   */
  #waitsForQuote(slot: Slot, effects: Effect[]): boolean {
    const { clock, priceSilenceMs } = this.#options;
    if (slot.byHand || this.#isEnding) return false;
    const known = this.#waits.get("first quote", slot);
    if (known !== undefined) return clock.now() < known.until;
    if (priceSilenceMs === undefined) this.#waits.set("first quote", slot);
    else effects.push(this.#retryAfter("first quote", slot, firstQuoteMs));
    return true;
  }

  /** No strategy repeats an order that closes a protected position: it is ruled on until it may leave. */
  #lookAgain(slot: Slot): Effects {
    return this.#waits.get("ruling", slot) === undefined ? [this.#retryAfter("ruling", slot, reservedMs)] : noEffects;
  }

  #retryAfter(cause: "first quote" | "ruling", slot: Slot, ms: number): Effect {
    const wait = this.#waits.set(cause, slot, this.#options.clock.now() + ms);
    const due = (): Effects => {
      if (this.#waits.get(cause, slot) !== wait) return noEffects;
      if (cause === "ruling") this.#waits.delete(cause, slot);
      return !this.#closed && slot.refused && slot.wanted !== undefined ? this.retry(slot) : noEffects;
    };
    return { kind: "schedule", at: wait.until, due };
  }
}
