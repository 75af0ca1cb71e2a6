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

interface Gaps {
  count: number;
  ms: number;
  inexact: number;
  /** Since when, by slot. */
  readonly since: Map<string, number>;
}

export class ExitGaps {
  readonly #untilAt: () => number;
  readonly #known = new Map<string, Gaps>();

  constructor(untilAt: () => number) {
    this.#untilAt = untilAt;
  }

  onEvent(event: Event): void {
    if (event.type === "position.unprotected") {
      const gaps = this.#gapsOf(event.strategy);
      // Told once more for another reason: the gap goes on.
      if (gaps.since.has(event.slot)) return;
      gaps.count++;
      gaps.since.set(event.slot, event.at);
    } else if (event.type === "position.protected") {
      const gaps = this.#gapsOf(event.strategy);
      gaps.ms += event.at - (gaps.since.get(event.slot) ?? event.at);
      gaps.since.delete(event.slot);
    } else if (event.type === "order.inexact") this.#gapsOf(event.strategy).inexact++;
  }

  of(strategy: string): ExitGapReport {
    const gaps = this.#known.get(strategy);
    if (gaps === undefined) return {};
    const open = [...gaps.since.values()].reduce((ms, since) => ms + Math.max(0, this.#untilAt() - since), 0);
    return {
      ...(gaps.count > 0 && { unprotected: { count: gaps.count, ms: Math.round(gaps.ms + open) } }),
      ...(gaps.inexact > 0 && { inexact: gaps.inexact }),
    };
  }

  #gapsOf(strategy: string): Gaps {
    const gaps = this.#known.get(strategy) ?? { count: 0, ms: 0, inexact: 0, since: new Map<string, number>() };
    this.#known.set(strategy, gaps);
    return gaps;
  }
}
