/**
 * Times in which a strategy held a position without the exit it wanted, and orders that executed another quantity than wanted.
 *
 * Invariants: a gap that has not ended counts up to the end of the run; of a strategy without any, nothing is reported.
 * Not here: when an exit is missing (orders/exits.ts).
 */
import type { Event } from "../journal/events.ts";

export interface ExitGapReport {
  /** Positions without their wanted exit: how often, and for how long in all. Left out where it never happened. */
  readonly unprotected?: { readonly count: number; readonly ms: number };
  /** Completed orders that executed another quantity than wanted; left out where there is none. */
  readonly inexact?: number;
}

interface ExitGaps {
  readonly onEvent: (event: Event) => void;
  readonly of: (strategy: string) => ExitGapReport;
}

interface Gaps {
  count: number;
  ms: number;
  inexact: number;
  /** Since when, by slot. */
  readonly since: Map<string, number>;
}

export const createExitGaps = (untilAt: number): ExitGaps => {
  const known = new Map<string, Gaps>();
  const gapsOf = (strategy: string): Gaps => {
    const gaps = known.get(strategy) ?? { count: 0, ms: 0, inexact: 0, since: new Map<string, number>() };
    known.set(strategy, gaps);
    return gaps;
  };
  const end = (gaps: Gaps, slot: string, at: number): void => {
    gaps.ms += at - (gaps.since.get(slot) ?? at);
    gaps.since.delete(slot);
  };
  return {
    onEvent: (event) => {
      if (event.type === "position.unprotected") {
        const gaps = gapsOf(event.strategy);
        gaps.count++;
        gaps.since.set(event.slot, event.at);
      } else if (event.type === "position.protected") end(gapsOf(event.strategy), event.slot, event.at);
      else if (event.type === "order.inexact") gapsOf(event.strategy).inexact++;
    },
    of: (strategy) => {
      const gaps = known.get(strategy);
      if (gaps === undefined) return {};
      const open = [...gaps.since.values()].reduce((ms, since) => ms + Math.max(0, untilAt - since), 0);
      return {
        ...(gaps.count > 0 && { unprotected: { count: gaps.count, ms: Math.round(gaps.ms + open) } }),
        ...(gaps.inexact > 0 && { inexact: gaps.inexact }),
      };
    },
  };
};
