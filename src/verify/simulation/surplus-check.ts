/**
 * Sees to it that an order more than its slot can hold is taken back, where a lost journal let one come about.
 *
 * Invariants: told by one process's events alone; only what this process itself calls resting counts; whoever has asked for one
 * of the two to be cancelled has done what it can; a process that goes on placing orders had the means to ask.
 */
import { instTypeOf } from "../../contract/inst-id.ts";
import type { Event } from "../../journal/events.ts";

type Change = Extract<Event, { type: "order.changed" }>;

/** Placements that were decided before the surplus was noticed may still be told of; no second has room for more. */
const placementsMax = 20;
const resting: readonly string[] = ["acked", "live", "partially_filled"];

export interface SurplusCheck {
  /** What is wrong now, in words. */
  readonly note: (change: Change) => string | undefined;
}

export const createSurplusCheck = (): SurplusCheck => {
  /** By strategy and slot: the orders that rest and were never asked to be cancelled. */
  const slots = new Map<string, Set<string>>();
  const asked = new Set<string>();
  /** Slots with more than one, and the placements seen since. */
  const crowded = new Map<string, number>();

  const place = (): string | undefined => {
    for (const [name, seen] of crowded) {
      if (seen === placementsMax) return `"${name}" goes on holding ${[...(slots.get(name) ?? [])].join(" and ")}: neither is taken back`;
      crowded.set(name, seen + 1);
    }
    return undefined;
  };
  return {
    note: ({ strategy, slot, instId, clOrdId, phase }) => {
      // What has no home yet crowds nobody; the service describes no way to cancel spot orders; a numbered name is used anew.
      if (slot === "" || slot.startsWith("#") || instTypeOf(instId) === "SPOT") return undefined;
      const name = `${strategy} ${slot}`;
      const orders = slots.get(name) ?? new Set<string>();
      slots.set(name, orders);
      if (phase === "canceling") asked.add(clOrdId);
      if (resting.includes(phase) && !asked.has(clOrdId)) orders.add(clOrdId);
      else orders.delete(clOrdId);
      if (orders.size < 2) crowded.delete(name);
      else if (!crowded.has(name)) crowded.set(name, 0);
      return phase === "sent" ? place() : undefined;
    },
  };
};
