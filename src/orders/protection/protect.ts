/**
 * Protection of a position: what it is, whether it is well formed, and where its prices lie. Pure.
 *
 * Invariants: decimals are exact; a price is absolute or counts from the average entry price; nothing is guessed: an
 * error names the malformed field.
 * Not here: how much is protected and when it is triggered (protection.ts), the orders (protections.ts).
 */
import type { Side } from "../../contract/profile.ts";
import {
  add,
  compare,
  type Decimal,
  div,
  isDecimal,
  isPositive,
  mul,
  read,
  sub,
  toStep,
  zero,
} from "../../decimal-value.ts";
import { didYouMean } from "../../errors.ts";

/**
 * Price that triggers: `best` is the price at which the position could be closed, the bid for a long position and the
 * ask for a short one, or the last price while there are no quotes. `last` is the latest trade, in recordings of
 * candles the price on its way through each bar. `mark` is the mark price in the account's positions, as fresh as those
 * are read (`freshness.positionsMs`).
 */
export type Trigger = "best" | "last" | "mark";

/**
 * A price as decimal text, or a distance from the average entry price: `by` in the quote currency, or in `percent` of
 * it.
 */
export type ProtectPx = string | { readonly by: string } | { readonly percent: string };

/** Distance of the stop behind the best price since the entry; from `activePx` on, where that is given. */
export type Trailing = ({ readonly by: string } | { readonly percent: string }) & { readonly activePx?: string };

/**
 * Stop-loss, take-profit and trailing stop of a position; the one reached first closes it and ends the others.
 * Sluice holds them itself, as the service described has no stop orders: while no engine runs, nothing is triggered,
 * and a price that lies beyond when it starts again triggers at once. All amounts are decimal text.
 */
export interface Protect {
  /** Closes at the market at a loss: below the entry of a long position, above that of a short one. */
  readonly stopLoss?: ProtectPx;
  /** Closes at a profit: above the entry of a long position, below that of a short one. */
  readonly takeProfit?: ProtectPx;
  /**
   * `market` (default): the take-profit is held like the stop and closes at the market. `limit`: it rests at the
   * service as a reduce-only order at its price, and is canceled before a stop leaves, which costs the stop one way to
   * the service and back. Where the service cancels no orders of the product (spot of the service described), it is
   * held and closes at the market.
   */
  readonly takeProfitAs?: "market" | "limit";
  /** A stop that follows the best price since the entry and never goes back. */
  readonly trailing?: Trailing;
  /** Default `best`. */
  readonly trigger?: Trigger;
}

/**
 * Protects the whole position of the strategy in an instrument, except the part that the `protect` of its orders
 * already protects. It is part of the set that a strategy wants. A set without it, or with an empty `protect`,
 * withdraws it.
 */
export interface WantedProtection {
  /** Instrument id. */
  readonly instId: string;
  /**
   * Side of the position that it protects; both sides when left out. Needed with a price that does not count from the
   * entry.
   */
  readonly side?: PositionSide;
  /** Its levels; empty withdraws it. */
  readonly protect: Protect;
}

/** Direction of a position: `long` after buying, `short` after selling what is not held. */
export type PositionSide = "long" | "short";

const fields = ["stopLoss", "takeProfit", "takeProfitAs", "trailing", "trigger"] as const;
const triggers: readonly Trigger[] = ["best", "last", "mark"];
const orderTypes = ["market", "limit"] as const;

const hundred = read("100");

const shown = (value: unknown): string => JSON.stringify(value) ?? String(value);

const isAmount = (value: unknown): value is string => isDecimal(value) && isPositive(read(value));

const distanceProblem = (field: string, value: object, more: readonly string[]): string | undefined => {
  const given = Object.keys(value).filter((key) => (value as Record<string, unknown>)[key] !== undefined);
  const strange = given.find((key) => key !== "by" && key !== "percent" && !more.includes(key));
  if (strange !== undefined)
    return `the unknown field "${field}.${strange}".${didYouMean(strange, ["by", "percent", ...more])} Leave it out`;
  if (given.includes("by") === given.includes("percent"))
    return `${field} ${shown(value)}. Write either { by: "500" } or { percent: "1" }`;
  for (const key of given) {
    const amount = (value as Record<string, unknown>)[key];
    if (!isAmount(amount))
      return `${field}.${key} ${shown(amount)}. Write a positive amount as text, such as ${key}: "1"`;
  }
  const { percent } = value as { readonly percent?: string };
  return percent !== undefined && compare(read(percent), hundred) >= 0
    ? `${field}.percent "${percent}". Write less than 100`
    : undefined;
};

const pxProblem = (field: string, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (typeof value === "object" && value !== null) return distanceProblem(field, value, []);
  return isAmount(value)
    ? undefined
    : `${field} ${shown(value)}. Write a price as text, { by: "500" } or { percent: "1" }`;
};

/**
 * Problem with the shape of a `protect`, as the end of a sentence "emitted … with …"; undefined if there is none.
 */
export const malformedProtect = (protect: unknown): string | undefined => {
  if (typeof protect !== "object" || protect === null || Array.isArray(protect)) {
    return `protect ${shown(protect)}. Write { stopLoss: "59000" }, { trailing: { percent: "1" } } or the like`;
  }
  const strange = Object.keys(protect).find((key) => !(fields as readonly string[]).includes(key));
  if (strange !== undefined)
    return `the unknown field "protect.${strange}".${didYouMean(strange, fields)} Leave it out`;
  const { stopLoss, takeProfit, takeProfitAs, trailing, trigger } = protect as Record<string, unknown>;
  return (
    pxProblem("protect.stopLoss", stopLoss) ??
    pxProblem("protect.takeProfit", takeProfit) ??
    trailingProblem(trailing) ??
    choiceProblem("protect.trigger", trigger, triggers) ??
    choiceProblem("protect.takeProfitAs", takeProfitAs, orderTypes)
  );
};

const trailingProblem = (trailing: unknown): string | undefined => {
  if (trailing === undefined) return undefined;
  return typeof trailing === "object" && trailing !== null
    ? distanceProblem("protect.trailing", trailing, ["activePx"])
    : `protect.trailing ${shown(trailing)}. Write { by: "500" } or { percent: "1" }`;
};

const choiceProblem = (field: string, value: unknown, choices: readonly string[]): string | undefined =>
  value === undefined || choices.includes(value as string)
    ? undefined
    : `${field} ${shown(value)}. Write one of ${choices.map((choice) => `"${choice}"`).join(", ")}`;

/** Problem with the protection of a position, in the same form. */
export const malformedProtection = ({
  side,
  protect,
}: {
  readonly side?: unknown;
  readonly protect?: unknown;
}): string | undefined => {
  const problem = malformedProtect(protect);
  if (problem !== undefined) return problem;
  if (side !== undefined && side !== "long" && side !== "short")
    return `side ${shown(side)}. Write "long" or "short", or leave it out`;
  const { stopLoss, takeProfit, trailing } = protect as Protect;
  const px = [stopLoss, takeProfit, trailing?.activePx].find((level) => typeof level === "string");
  return px === undefined || side !== undefined
    ? undefined
    : `the price ${px} and no side. Write side: "long" or side: "short" beside instId`;
};

/** Returns true if it requests no protection. */
export const isEmpty = ({ stopLoss, takeProfit, trailing }: Protect): boolean =>
  stopLoss === undefined && takeProfit === undefined && trailing === undefined;

export const sameProtect = (a: Protect | undefined, b: Protect | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    fields.every((field) => JSON.stringify(a[field]) === JSON.stringify(b[field])));

/** The side that closes a position. */
export const closes: Readonly<Record<PositionSide, Side>> = { long: "sell", short: "buy" };

/** Name of a whole position's protection among those of its strategy. */
export const nameOf = ({ instId, side }: WantedProtection): string =>
  side === undefined ? instId : `${instId} ${side}`;

/** Side of the order that closes what an entry opens. */
export const exitOf = (entry: Side): Side => (entry === "buy" ? "sell" : "buy");

/** Returns whether `a` is equal to `b` or worse, for a position that is closed by an order of side `exit`. */
export const isAtOrBeyond = (exit: Side, a: Decimal, b: Decimal): boolean =>
  exit === "sell" ? compare(a, b) <= 0 : compare(a, b) >= 0;

const hundredth = read("0.01");
const places = 12;

/**
 * `from` moved by a distance towards a loss (`-`) or a profit (`+`) of a position that is closed by an order of side
 * `exit`.
 */
const moved = (
  exit: Side,
  from: Decimal,
  distance: { readonly by?: string; readonly percent?: string },
  way: "+" | "-",
): Decimal => {
  const { by, percent = "0" } = distance;
  const amount = by === undefined ? mul(mul(from, read(percent)), hundredth) : read(by);
  return ((exit === "sell") === (way === "+") ? add : sub)(from, amount);
};

/** Price of a level. Levels that count from the average entry price are rounded to the tick. */
export const levelOf = (
  exit: Side,
  at: ProtectPx | undefined,
  avgPx: Decimal,
  tick: Decimal,
  way: "+" | "-",
): Decimal | undefined => {
  if (at === undefined) return undefined;
  return typeof at === "string" ? read(at) : toStep(moved(exit, avgPx, at, way), tick, "nearest");
};

/** Level of a trailing stop behind the best price since the entry. */
export const trailingPxOf = (exit: Side, { trailing }: Protect, extreme: Decimal): Decimal | undefined =>
  trailing === undefined ? undefined : moved(exit, extreme, trailing, "-");

/** Average price of a quantity; zero if there is none. */
export const averageOf = (value: Decimal, qty: Decimal): Decimal => (isPositive(qty) ? div(value, qty, places) : zero);

/**
 * Reason why an order must not be sent with this protection: a stop on the wrong side of the order's price would close
 * the position at once.
 */
export const misplacedProtect = (entry: Side, protect: Protect, px: string | undefined): string | undefined => {
  if (px === undefined) return undefined;
  const { stopLoss, takeProfit } = protect;
  const [low, high] = entry === "buy" ? ["below", "above"] : ["above", "below"];
  const exit = exitOf(entry);
  const isBeyond = (a: string, b: string): boolean => isAtOrBeyond(exit, read(a), read(b));
  if (typeof stopLoss === "string" && isBeyond(px, stopLoss))
    return `protect.stopLoss ${stopLoss} of a ${entry} at ${px} must lie ${low} it`;
  if (typeof takeProfit === "string" && isBeyond(takeProfit, px))
    return `protect.takeProfit ${takeProfit} of a ${entry} at ${px} must lie ${high} it`;
  return undefined;
};
