/**
 * What became of each wish, as the engine's events tell: a wish that was filled, refused or cancelled has had its time.
 *
 * Invariants: a wish is told apart by its mark; an order that was cut short by the engine or proved never to have been there settles
 * nothing.
 */
import type { Event } from "../../journal/events.ts";
import { type WantedOrder, wishMark } from "../../orders/wanted-order.ts";

export interface SlotHistory {
  note(event: Event): void;
  settled(slot: string, wish: WantedOrder): boolean;
  /** The last word on a slot. */
  last(slot: string): string;
}

/** Phases of an order that the service has taken and nobody has canceled. */
const taken: readonly string[] = ["acked", "live", "partially_filled"];
const settling: readonly string[] = ["filled", "rejected", "canceled"];

export const createSlotHistory = (wanted: ReadonlyMap<string, readonly WantedOrder[]>): SlotHistory => {
  const lasts = new Map<string, string>();
  const marks = new Map<string, Set<string>>();
  /** Of orders that are not over: the wish they were sent for, and how they stand. */
  const open = new Map<string, { readonly mark: string | undefined; readonly phase: string }>();

  const markNow = (strategy: string, slot: string): string | undefined => {
    const wish = wanted.get(strategy)?.find((candidate) => candidate.slot === slot);
    return wish === undefined ? undefined : wishMark(wish);
  };
  const settle = (name: string, mark: string | undefined): void => {
    if (mark !== undefined) marks.set(name, (marks.get(name) ?? new Set()).add(mark));
  };
  return {
    note: (event) => {
      if (event.type === "order.refused") {
        const name = `${event.strategy} ${event.slot}`;
        lasts.set(name, "refused");
        settle(name, markNow(event.strategy, event.slot));
      }
      if (event.type !== "order.changed") return;
      const { strategy, slot, clOrdId, phase } = event;
      const name = `${strategy} ${slot}`;
      const before = open.get(clOrdId);
      const mark = phase === "sent" ? markNow(strategy, slot) : before?.mark;
      lasts.set(name, phase);
      open.set(clOrdId, { mark, phase });
      const forgotten = phase === "absent" && before !== undefined && taken.includes(before.phase);
      if (!settling.includes(phase) && !forgotten) return;
      open.delete(clOrdId);
      if (phase === "canceled" && before?.phase === "canceling") return;
      // As it was worded when the order left, or last: either may be what was settled.
      settle(name, mark);
      settle(name, markNow(strategy, slot));
    },
    settled: (slot, wish) => marks.get(slot)?.has(wishMark(wish)) === true,
    last: (slot) => lasts.get(slot) ?? "never heard of",
  };
};
