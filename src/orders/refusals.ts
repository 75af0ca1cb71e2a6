/**
 * Wishes that were refused before they cost anything: told once, and tried again when what they were refused for has changed.
 *
 * Invariants: the same wish of a slot is refused once; an order that ended makes room for one wish that found none; a product
 * nobody lists causes a new reading of the list, at most once a minute.
 * Not here: the rules (orders/risk/pre-trade-checks.ts).
 */
import { type Observable, Subject } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Ruling } from "./risk/pre-trade-checks.ts";
import type { Slot } from "./slots.ts";
import { type WantedOrder, wishMark } from "./wanted-order.ts";

export interface Refusal {
  readonly strategy: string;
  readonly slot: string;
  readonly reason: string;
}

export interface Refusals {
  readonly refuse: (slot: Slot, wish: WantedOrder, ruling: Extract<Ruling, { approved: false }>) => void;
  /** What the wish was refused for has changed. */
  retry(slot: Slot): void;
  /** An order has ended: the first that found no room may have some now. */
  retryCrowded(): void;
  forget(slot: Slot): void;
  readonly refusals$: Observable<Refusal>;
}

interface RefusalsOptions {
  readonly clock: Clock;
  readonly journal: EventLog;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly onUnknownInstrument: ((instId: string) => void) | undefined;
  readonly dropSpare: (slot: Slot) => void;
  readonly consider: (slot: Slot) => void;
  readonly onRefused: (slot: Slot, wish: WantedOrder, reason: string) => void;
}

const unknownMs = 60_000;

export const createRefusals = (options: RefusalsOptions): Refusals => {
  const { clock, journal, instruments, dropSpare, consider } = options;
  const refusals$ = new Subject<Refusal>();
  const crowded = new Set<Slot>();
  const told = new WeakMap<Slot, string>();
  let retried: Slot | undefined;
  let unknownAskedAt = Number.NEGATIVE_INFINITY;

  const noteUnknown = (instId: string): void => {
    if (instruments().has(instId) || clock.now() - unknownAskedAt < unknownMs) return;
    unknownAskedAt = clock.now();
    options.onUnknownInstrument?.(instId);
  };
  const retry = (slot: Slot): void => {
    crowded.delete(slot);
    if (slot.refused && slot.order === undefined) slot.settledMark = undefined;
    slot.refused = false;
    retried = slot;
    consider(slot);
    retried = undefined;
  };

  return {
    refusals$,
    retry,
    retryCrowded: () => {
      const [next] = crowded;
      if (next !== undefined) retry(next);
    },
    forget: (slot) => {
      crowded.delete(slot);
    },
    refuse: (slot, wish, ruling) => {
      if (ruling.crowded === true) crowded.add(slot);
      const mark = wishMark(wish);
      if (slot.settledMark === mark) return;
      const { strategy, name } = slot;
      const { reason } = ruling;
      slot.settledMark = mark;
      slot.refused = true;
      dropSpare(slot);
      const words = `${mark} ${reason}`;
      // Looked at again and refused for the same reason: that is no news.
      const known = retried === slot && told.get(slot) === words;
      told.set(slot, words);
      if (known) return;
      journal.append({ type: "order.refused", strategy, slot: name, reason });
      refusals$.next({ strategy, slot: name, reason });
      options.onRefused(slot, wish, reason);
      noteUnknown(wish.instId);
    },
  };
};
