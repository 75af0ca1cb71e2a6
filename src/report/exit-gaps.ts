/**
 * Times in which a strategy held a position without the exit it wanted, orders that executed another quantity than
 * wanted, and pauses after rejected post-only orders.
 *
 * Invariants: a gap ends at the latest when the strategy's fills leave nothing for the exit to close; one that has not
 * ended counts up to the end of the run; of a strategy without any, nothing is reported.
 * Not here: when an exit is missing (orders/exits.ts).
 */
import type { Side } from "../contract/profile.ts";
import { isPositive, read } from "../decimal-value.ts";
import type { Event } from "../journal/events.ts";
import { against } from "../orders/exit-size.ts";

export interface ExitGapReport {
  /** Positions without their wanted exit: how often, and for how long in all. Left out where it never happened. */
  readonly unprotected?: { readonly count: number; readonly ms: number };
  /** Completed orders that executed another quantity than wanted; left out where there is none. */
  readonly inexact?: number;
  /** Series of rejected post-only orders after which slots paused; left out where there is none. */
  readonly slowed?: number;
}

interface Gap {
  readonly at: number;
  readonly instId: string;
  readonly side: Side;
}

interface Gaps {
  count: number;
  ms: number;
  inexact: number;
  slowed: number;
  /** Since when, by slot. */
  readonly since: Map<string, Gap>;
}

export class ExitGaps {
  readonly #untilAt: () => number;
  readonly #known = new Map<string, Gaps>();
  /** Gaps that have not ended: without any, fills are not looked at. */
  open = 0;

  constructor(untilAt: () => number) {
    this.#untilAt = untilAt;
  }

  onEvent(event: Event): void {
    if (event.type === "position.unprotected") {
      const gaps = this.#gapsOf(event.strategy);
      // Reported again for another reason: the gap continues.
      if (gaps.since.has(event.slot)) return;
      gaps.count++;
      this.open++;
      gaps.since.set(event.slot, { at: event.at, instId: event.instId, side: event.side });
    } else if (event.type === "position.protected") {
      this.#end(this.#gapsOf(event.strategy), event.slot, event.at);
    } else if (event.type === "fill") {
      const gaps = this.#known.get(event.strategy);
      if (gaps === undefined) return;
      for (const [slot, { instId, side }] of gaps.since) {
        if (instId === event.instId && !isPositive(against(side, read(event.position))))
          this.#end(gaps, slot, event.at);
      }
    } else if (event.type === "order.inexact") this.#gapsOf(event.strategy).inexact++;
    else if (event.type === "order.slowed") this.#gapsOf(event.strategy).slowed++;
  }

  of(strategy: string): ExitGapReport {
    const gaps = this.#known.get(strategy);
    if (gaps === undefined) return {};
    const open = [...gaps.since.values()].reduce((ms, { at }) => ms + Math.max(0, this.#untilAt() - at), 0);
    return {
      ...(gaps.count > 0 && { unprotected: { count: gaps.count, ms: Math.round(gaps.ms + open) } }),
      ...(gaps.inexact > 0 && { inexact: gaps.inexact }),
      ...(gaps.slowed > 0 && { slowed: gaps.slowed }),
    };
  }

  #end(gaps: Gaps, slot: string, at: number): void {
    gaps.ms += at - (gaps.since.get(slot)?.at ?? at);
    if (gaps.since.delete(slot)) this.open--;
  }

  #gapsOf(strategy: string): Gaps {
    const gaps = this.#known.get(strategy) ?? { count: 0, ms: 0, inexact: 0, slowed: 0, since: new Map<string, Gap>() };
    this.#known.set(strategy, gaps);
    return gaps;
  }
}
