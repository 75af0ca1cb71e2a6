/**
 * What may be traded now, by all and by each strategy.
 *
 * Invariants: of the mode of all and a strategy's own the stricter holds; withdrawing orders is possible in every mode.
 * All reducing: what rests may rest on, new orders only reduce. One strategy reducing: what does not reduce is withdrawn as well.
 * Not here: what follows from a change (orders/order-manager.ts).
 */
import type { WantedOrder } from "../wanted-order.ts";

export type Mode = "active" | "reducing" | "halted";

export interface TradingModes {
  mode: Mode;
  /** Why all are in it. */
  reason: string;
  /** Strategies that are not active by themselves. */
  readonly own: Map<string, Mode>;
}

const strictness: readonly Mode[] = ["active", "reducing", "halted"];

export const modeOf = ({ mode, own }: TradingModes, strategy: string): Mode => {
  const its = own.get(strategy) ?? "active";
  return strictness.indexOf(its) > strictness.indexOf(mode) ? its : mode;
};

export const mayPlace = (mode: Mode, wish: WantedOrder | undefined): boolean =>
  mode === "active" || (mode === "reducing" && wish?.reduceOnly === true);

/** Why nothing of a strategy may be placed; undefined where something may. */
export const haltOf = ({ mode, reason, own }: TradingModes, strategy: string): string | undefined => {
  if (mode === "halted") return `trading is halted: ${reason}`;
  return own.get(strategy) === "halted" ? "the strategy is halted" : undefined;
};

/** The wish as far as the modes let it count. */
export const wishWithin = (modes: TradingModes, strategy: string, wish: WantedOrder | undefined): WantedOrder | undefined => {
  if (modeOf(modes, strategy) === "halted") return undefined;
  return modes.own.get(strategy) === "reducing" && wish?.reduceOnly !== true ? undefined : wish;
};
