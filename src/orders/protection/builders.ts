/**
 * Constructors of protections, for sets of wanted orders.
 *
 * Not here: what they mean (protect.ts).
 */
import type { WantedOrder } from "../wanted-order.ts";
import type { PositionSide, Protect, ProtectPx, Trailing, Trigger, WantedProtection } from "./protect.ts";

/** Position that is protected, and the price that triggers. */
interface ProtectionOptions {
  /** Needed with a price that does not count from the entry. If left out, the protection covers both sides. */
  readonly side?: PositionSide;
  /** Default `best`. */
  readonly trigger?: Trigger;
}

const protection = (instId: string, levels: Protect, { side, trigger }: ProtectionOptions): WantedProtection => ({
  instId,
  ...(side !== undefined && { side }),
  protect: { ...levels, ...(trigger !== undefined && { trigger }) },
});

/**
 * An entry with its stop-loss and take-profit. The level that is reached first closes the quantity of the entry and
 * ends the other level. Same as the order with `protect`.
 *
 * @param entry - the order that opens the position
 * @param protect - stop-loss, take-profit or trailing stop of the filled quantity
 * @returns the entry as a wanted order
 * @example
 * bracket(buy({ slot: "entry", instId: "BTC-USDT-SWAP", ordType: "limit", px: "60000", qty: "0.01" }), {
 *   stopLoss: { percent: "1" },
 *   takeProfit: { percent: "2" },
 * })
 */
export const bracket = (entry: WantedOrder, protect: Protect): WantedOrder => ({ ...entry, protect });

/**
 * Closes the strategy's position in an instrument at a loss of this size.
 *
 * @param instId - the instrument of the position
 * @param at - a price, `{ by: "500" }` in quote currency from the entry, or `{ percent: "1" }` of the entry
 * @param options - the side, needed with a price, and the price that triggers
 * @returns a protection to put among the wanted orders
 */
export const stopLoss = (instId: string, at: ProtectPx, options: ProtectionOptions = {}): WantedProtection =>
  protection(instId, { stopLoss: at }, options);

/**
 * Closes the strategy's position in an instrument at a profit of this size.
 *
 * @param instId - the instrument of the position
 * @param at - a price, `{ by: "500" }` in quote currency from the entry, or `{ percent: "1" }` of the entry
 * @param options - the side, needed with a price, and the price that triggers
 * @returns a protection to put among the wanted orders
 */
export const takeProfit = (instId: string, at: ProtectPx, options: ProtectionOptions = {}): WantedProtection =>
  protection(instId, { takeProfit: at }, options);

/**
 * Closes the strategy's position in an instrument when the price falls this far behind its best since the entry.
 *
 * @param instId - the instrument of the position
 * @param distance - `{ by: "500" }` in quote currency or `{ percent: "1" }`
 * @param options - one side of the position, where only that is meant, and the price that triggers
 * @returns a protection to put among the wanted orders
 */
export const trailingStop = (instId: string, distance: Trailing, options: ProtectionOptions = {}): WantedProtection =>
  protection(instId, { trailing: distance }, options);

/**
 * One cancels the other: stop-loss and take-profit of the strategy's position in an instrument.
 *
 * @param instId - the instrument of the position
 * @param levels - both prices, and whether the profit is taken by a market or a limit order
 * @param options - the side, needed with a price, and the price that triggers
 * @returns a protection to put among the wanted orders
 */
export const oco = (
  instId: string,
  levels: { readonly stopLoss: ProtectPx; readonly takeProfit: ProtectPx; readonly takeProfitAs?: "market" | "limit" },
  options: ProtectionOptions = {},
): WantedProtection => protection(instId, levels, options);
