/**
 * Trading mode: what may be traded now, by all strategies and by each.
 *
 * Invariants: of the mode of all and a strategy's own the stricter holds; withdrawing orders is possible in every mode.
 * All reducing: what rests may rest on, new orders only reduce. One strategy reducing: what does not reduce is withdrawn as well.
 * Not here: what follows from a change (orders/order-manager.ts).
 */
import type { WantedOrder } from "../wanted-order.ts";

export type Mode = "active" | "reducing" | "halted";

/** Why nothing protected is watched, in words. */
export const haltedWords = "trading is halted";
export const stopsWords = "the engine stops, and it holds this protection itself";

const strictness: readonly Mode[] = ["active", "reducing", "halted"];

export class TradingModes {
  /** Neither all strategies nor any of them are in another mode than active, as it is nearly always. */
  isActive = true;
  /** Of all strategies. */
  #mode: Mode = "active";
  /** Why all are in it. */
  #reason = "";
  /** Strategies that are not active by themselves. */
  readonly #own = new Map<string, { readonly mode: Mode; readonly reason: string }>();

  get mode(): Mode {
    return this.#mode;
  }

  setAll(mode: Mode, reason: string): void {
    this.#mode = mode;
    this.#reason = reason;
    this.isActive = mode === "active" && this.#own.size === 0;
  }

  of(strategy: string): Mode {
    if (this.#own.size === 0) return this.mode;
    const own = this.ownOf(strategy);
    return strictness.indexOf(own) > strictness.indexOf(this.mode) ? own : this.mode;
  }

  ownOf(strategy: string): Mode {
    return this.#own.get(strategy)?.mode ?? "active";
  }

  setOwn(strategy: string, mode: Mode, reason: string): void {
    if (mode === "active") this.#own.delete(strategy);
    else this.#own.set(strategy, { mode, reason });
    this.isActive = this.#mode === "active" && this.#own.size === 0;
  }

  /** Why a strategy is in its mode, by the one of the two that holds; empty while it is active. */
  reasonOf(strategy: string): string {
    const holds = this.of(strategy);
    if (holds === "active") return "";
    return holds === this.mode ? this.#reason : (this.#own.get(strategy)?.reason ?? "");
  }

  /** Why nothing of a strategy may be placed; undefined where something may. */
  haltOf(strategy: string): string | undefined {
    if (this.mode === "halted") return `trading is halted: ${this.#reason}`;
    return this.ownOf(strategy) === "halted" ? "the strategy is halted" : undefined;
  }

  /** The wanted order as far as the modes let it count. */
  wishWithin(strategy: string, wish: WantedOrder | undefined): WantedOrder | undefined {
    if (this.#own.size === 0) return this.mode === "halted" ? undefined : wish;
    if (this.of(strategy) === "halted") return undefined;
    return this.ownOf(strategy) === "reducing" && wish?.reduceOnly !== true ? undefined : wish;
  }
}

export const mayPlace = (mode: Mode, wish: WantedOrder | undefined): boolean =>
  mode === "active" || (mode === "reducing" && wish?.reduceOnly === true);
