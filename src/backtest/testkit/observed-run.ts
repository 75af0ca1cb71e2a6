/**
 * Observed run: what an engine under test did, collected while it runs.
 *
 * Invariants: events, orders and fills are in the order in which they happened; of failures the first one is kept until
 * it was asked for.
 */
import { tap } from "rxjs";
import type { Engine } from "../../engine/engine.ts";
import type { PlotOptions } from "../../host/context.ts";
import type { Strategy } from "../../host/strategy.ts";
import type { Event } from "../../journal/events.ts";
import type { Wanted, WantedOrder } from "../../orders/wanted-order.ts";
import type { Venue } from "../../venue/venue.ts";
import { SentOrders } from "./sent-orders.ts";

export type TradingMode = "active" | "reducing" | "halted";

/** A value that a strategy under test published with `plot`. */
export interface PlottedValue extends PlotOptions {
  readonly at: number;
  readonly strategy: string;
  readonly name: string;
  readonly value: number | string;
}

export class ObservedRun {
  readonly events: Event[] = [];
  readonly sent = new SentOrders();
  readonly wanted = new Map<string, readonly WantedOrder[]>();
  readonly plots: PlottedValue[] = [];
  mode: TradingMode = "active";
  /** Names of strategies and plugins whose failure counts. */
  readonly #failing: readonly string[];
  #failure: string | undefined;

  constructor(failing: readonly string[]) {
    this.#failing = failing;
  }

  listen(engine: Engine, venue: Venue, now: () => number): void {
    engine.events$.subscribe((event) => {
      this.#note(event);
    });
    engine.updates$.subscribe((update) => {
      this.sent.take(update, now());
    });
    venue.onFill((fill) => {
      this.sent.fill(fill);
    });
  }

  /** The strategy, whose wanted orders and plots are noted. */
  watched(strategy: Strategy): Strategy {
    // The engine's own check decides whether it is a strategy.
    if (typeof strategy?.start !== "function") return strategy;
    const { plots, wanted } = this;
    const { name } = strategy;
    const ended = (): void => {
      wanted.delete(name);
    };
    return {
      ...strategy,
      start: (context) => {
        const streams = strategy.start({
          ...context,
          plot: (plotted, value, options) => {
            plots.push({ at: context.now(), strategy: name, name: plotted, value, ...options });
          },
        });
        if (typeof streams.wanted?.pipe !== "function") return streams;
        const next = (set: readonly Wanted[]): void => {
          wanted.set(
            name,
            set.filter((one) => "slot" in one),
          );
        };
        return { ...streams, wanted: streams.wanted.pipe(tap({ next, error: ended, complete: ended })) };
      },
    };
  }

  /** Returns the failure since the last call. */
  takeFailure(): string | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  #note(event: Event): void {
    this.events.push(event);
    if (event.type === "mode.changed") this.mode = event.mode;
    if (event.type === "order.changed") this.sent.name(event.clOrdId, event.slot);
    if (event.type !== "strategy.failed" && event.type !== "plugin.failed") return;
    const name = event.type === "strategy.failed" ? event.strategy : event.plugin;
    if (this.#failing.includes(name)) this.#failure ??= `"${name}" failed: ${event.message}`;
  }
}
