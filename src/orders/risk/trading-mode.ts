/**
 * Trading mode: what may be traded now, by all strategies and by each.
 *
 * | mode       | new entries | resting entries | exits, stops and targets |
 * |------------|-------------|-----------------|--------------------------|
 * | `active`   | placed      | stay            | in force                 |
 * | `reducing` | refused     | stay; of one strategy canceled | in force  |
 * | `halted`   | refused     | canceled        | in force                 |
 * | `closing`  | refused     | canceled        | canceled and suspended, as positions are being closed |
 * | `stopped`  | refused     | canceled        | canceled and suspended   |
 *
 * Invariants: the stricter of two modes applies, that of all strategies and the strategy's own; withdrawing orders is
 * possible in every mode.
 * Not here: what follows from a change (orders/order-manager.ts).
 */
import type { WantedOrder } from "../wanted-order.ts";

/** Mode as events, views and the journal show it: a full stop is `halted` with `full`. */
export type Mode = "active" | "reducing" | "halted";
/**
 * Mode with its stricter forms: `closing` and `stopped` are halts that also suspend exits, stops and targets. A run
 * that takes over from `closing` is only halted.
 */
export type Restriction = Mode | "closing" | "stopped";

/** Reasons why no protection is watched. */
export const stoppedWords = "trading is stopped, exits included";
export const stopsWords = "the engine stops, and it holds this protection itself";

const strictness: readonly Restriction[] = ["active", "reducing", "halted", "closing", "stopped"];

/** A halt never weakens a full stop: only a resume ends it. */
export const isStricter = (one: Restriction, other: Restriction): boolean =>
  strictness.indexOf(one) > strictness.indexOf(other);

export const shownMode = (mode: Restriction): Mode => (isHalt(mode) ? "halted" : mode);

/** Returns true if the mode cancels exits and suspends protections. */
export const isFull = (mode: Restriction): mode is "closing" | "stopped" => mode === "closing" || mode === "stopped";

export const isHalt = (mode: Restriction): mode is "halted" | "closing" | "stopped" =>
  mode === "halted" || isFull(mode);

export class TradingModes {
  /** Mode of all strategies. */
  #mode: Restriction = "active";
  /** Reason for the mode of all strategies. */
  #reason = "";
  /** Strategies with a mode of their own other than active. */
  readonly #own = new Map<string, { readonly mode: Restriction; readonly reason: string }>();

  get mode(): Restriction {
    return this.#mode;
  }

  /** Sets the mode of one strategy or of all. */
  set(strategy: string | undefined, mode: Restriction, reason: string): void {
    if (strategy === undefined) {
      this.#mode = mode;
      this.#reason = reason;
    } else if (mode === "active") this.#own.delete(strategy);
    else this.#own.set(strategy, { mode, reason });
  }

  of(strategy: string): Restriction {
    if (this.#own.size === 0) return this.mode;
    const own = this.ownOf(strategy);
    return isStricter(own, this.mode) ? own : this.mode;
  }

  ownOf(strategy: string): Restriction {
    return this.#own.get(strategy)?.mode ?? "active";
  }

  /** Reason for the mode that applies to a strategy; empty while it is active. */
  reasonOf(strategy: string): string {
    const holds = this.of(strategy);
    if (holds === "active") return "";
    return holds === this.mode ? this.#reason : (this.#own.get(strategy)?.reason ?? "");
  }

  /** Reason why an order placed by hand for a strategy is refused; undefined if it may be placed. */
  haltOf(strategy: string, wanted: WantedOrder): string | undefined {
    if (isHalt(this.mode) && !mayPlace(this.mode, wanted)) return `trading is halted: ${this.#reason}`;
    const own = this.ownOf(strategy);
    return isHalt(own) && !mayPlace(own, wanted) ? "the strategy is halted" : undefined;
  }

  /** The wanted order, as far as the modes let it count. */
  within(strategy: string, wanted: WantedOrder | undefined): WantedOrder | undefined {
    if (wanted === undefined || (this.#mode === "active" && this.#own.size === 0)) return wanted;
    const own = this.ownOf(strategy);
    return mayRest(this.mode, wanted) && (own === "reducing" ? wanted.reduceOnly === true : mayRest(own, wanted))
      ? wanted
      : undefined;
  }
}

export const mayPlace = (mode: Restriction, wanted: WantedOrder | undefined): boolean =>
  mode === "active" || (!isFull(mode) && wanted?.reduceOnly === true);

/** Returns whether an order that was placed may stay. */
export const mayRest = (mode: Restriction, wanted: WantedOrder): boolean =>
  !isHalt(mode) || (mode === "halted" && wanted.reduceOnly === true);
