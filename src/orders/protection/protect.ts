/**
 * Protection of a position: what it is, whether it is well formed, and where its prices lie. Pure.
 *
 * Invariants: exact decimals; a price is absolute or counts from the average entry price; nothing is guessed: what is
 * malformed is named with its field.
 * Not here: how much is protected and when it is triggered (protection.ts), the orders (protections.ts).
 */
import type { Side } from "../../contract/profile.ts";
import { add, compare, div, isDecimal, isPositive, mul, sub, toStep } from "../../decimal.ts";
import { didYouMean } from "../../errors.ts";

/**
 * Which price triggers: `best` is what closing would meet, the bid for a long position and the ask for a short one, or
 * the last price while there are no quotes. `last` is the latest trade, in recordings of candles the price on its way
 * through each bar. `mark` is the mark price in the account's positions, as fresh as those are read
 * (`freshness.positionsMs`).
 */
export type Trigger = "best" | "last" | "mark";

/**
 * A price as decimal text, or a distance from the average entry price: `by` in the quote currency, or in `percent` of
 * it.
 */
export type ProtectPx = string | { readonly by: string } | { readonly percent: string };

/** How far behind the best price since the entry the stop follows; from `activePx` on, where that is given. */
export type Trailing = ({ readonly by: string } | { readonly percent: string }) & { readonly activePx?: string };

/**
 * Stop-loss, take-profit and trailing stop of a position; whichever is reached first closes it and ends the others.
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
   * held and closes at the market all the same.
   */
  readonly takeProfitAs?: "market" | "limit";
  /** A stop that follows the best price since the entry and never goes back. */
  readonly trailing?: Trailing;
  /** Default `best`. */
  readonly trigger?: Trigger;
}

/**
 * Protects what the strategy holds of an instrument as a whole, but for what the `protect` of its orders protects
 * already. It is part of the set that a strategy wants: a set without it withdraws it, as an empty `protect` does.
 */
export interface WantedProtection {
  /** Instrument id. */
  readonly instId: string;
  /** Which position it protects; both when left out. Needed with a price that does not count from the entry. */
  readonly side?: PositionSide;
  /** Its levels; empty withdraws it. */
  readonly protect: Protect;
}

/** Direction of a position: `long` holds what was bought, `short` owes what was sold. */
export type PositionSide = "long" | "short";

const fields = ["stopLoss", "takeProfit", "takeProfitAs", "trailing", "trigger"] as const;
const triggers: readonly Trigger[] = ["best", "last", "mark"];
const orderTypes = ["market", "limit"] as const;

const shown = (value: unknown): string => JSON.stringify(value) ?? String(value);

const oneOf = (values: readonly string[]): string => `Write one of ${values.map((value) => `"${value}"`).join(", ")}`;

const isAmount = (value: unknown): value is string => isDecimal(value) && isPositive(value);

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
  return percent !== undefined && compare(percent, "100") >= 0
    ? `${field}.percent "${percent}". Write less than 100`
    : undefined;
};

const pxProblem = (field: string, value: unknown): string | undefined => {
  if (typeof value === "object" && value !== null) return distanceProblem(field, value, []);
  return isAmount(value)
    ? undefined
    : `${field} ${shown(value)}. Write a price as text, { by: "500" } or { percent: "1" }`;
};

/**
 * What is wrong with the shape of a `protect`, as the end of a sentence "emitted … with …"; undefined where nothing is.
 */
export const malformedProtect = (protect: unknown): string | undefined => {
  if (typeof protect !== "object" || protect === null || Array.isArray(protect)) {
    return `protect ${shown(protect)}. Write { stopLoss: "59000" }, { trailing: { percent: "1" } } or the like`;
  }
  const strange = Object.keys(protect).find((key) => !(fields as readonly string[]).includes(key));
  if (strange !== undefined)
    return `the unknown field "protect.${strange}".${didYouMean(strange, fields)} Leave it out`;
  const { stopLoss, takeProfit, takeProfitAs, trailing, trigger } = protect as Record<string, unknown>;
  if (stopLoss !== undefined) {
    const problem = pxProblem("protect.stopLoss", stopLoss);
    if (problem !== undefined) return problem;
  }
  if (takeProfit !== undefined) {
    const problem = pxProblem("protect.takeProfit", takeProfit);
    if (problem !== undefined) return problem;
  }
  if (trailing !== undefined) {
    if (typeof trailing !== "object" || trailing === null)
      return `protect.trailing ${shown(trailing)}. Write { by: "500" } or { percent: "1" }`;
    const problem = distanceProblem("protect.trailing", trailing, ["activePx"]);
    if (problem !== undefined) return problem;
  }
  if (trigger !== undefined && !triggers.includes(trigger as Trigger))
    return `protect.trigger ${shown(trigger)}. ${oneOf(triggers)}`;
  if (takeProfitAs !== undefined && !(orderTypes as readonly unknown[]).includes(takeProfitAs)) {
    return `protect.takeProfitAs ${shown(takeProfitAs)}. ${oneOf(orderTypes)}`;
  }
  return undefined;
};

/** What is wrong with the protection of a position, likewise. */
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

/** It asks for nothing. */
export const isEmpty = ({ stopLoss, takeProfit, trailing }: Protect): boolean =>
  stopLoss === undefined && takeProfit === undefined && trailing === undefined;

export const sameProtect = (a: Protect | undefined, b: Protect | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    fields.every((field) => JSON.stringify(a[field]) === JSON.stringify(b[field])));

/** The side that closes a position. */
export const closes: Readonly<Record<PositionSide, Side>> = { long: "sell", short: "buy" };

/** A whole position's protection among those of its strategy. */
export const nameOf = ({ instId, side }: WantedProtection): string =>
  side === undefined ? instId : `${instId} ${side}`;

/** The slot of a closing order that leaves although an order of the slot `exitSlot` cannot be canceled. */
export const lateSlotOf = (exitSlot: string): string => `${exitSlot}.late`;

/** Side of the order that closes what an entry opens. */
export const exitOf = (entry: Side): Side => (entry === "buy" ? "sell" : "buy");

/** `a` is worse than `b` for a position that `exit` closes, or equal. */
export const isAtOrBeyond = (exit: Side, a: string, b: string): boolean =>
  exit === "sell" ? compare(a, b) <= 0 : compare(a, b) >= 0;

const hundredth = "0.01";
const places = 12;

/** `from` moved by a distance towards a loss (`-`) or a profit (`+`) of the position that `exit` closes. */
const moved = (
  exit: Side,
  from: string,
  distance: { readonly by?: string; readonly percent?: string },
  way: "+" | "-",
): string => {
  const amount = distance.by ?? mul(mul(from, distance.percent as string), hundredth);
  return (exit === "sell") === (way === "+") ? add(from, amount) : sub(from, amount);
};

const levelOf = (
  exit: Side,
  at: ProtectPx | undefined,
  avgPx: string,
  tick: string,
  way: "+" | "-",
): string | undefined => {
  if (at === undefined) return undefined;
  return typeof at === "string" ? at : toStep(moved(exit, avgPx, at, way), tick, "nearest");
};

/** `avgPx` is the average entry price; levels that count from it lie on the tick. */
export const stopPxOf = (exit: Side, { stopLoss }: Protect, avgPx: string, tick: string): string | undefined =>
  levelOf(exit, stopLoss, avgPx, tick, "-");

export const takeProfitPxOf = (exit: Side, { takeProfit }: Protect, avgPx: string, tick: string): string | undefined =>
  levelOf(exit, takeProfit, avgPx, tick, "+");

/** Behind the best price since the entry. */
export const trailingPxOf = (exit: Side, { trailing }: Protect, extreme: string): string | undefined =>
  trailing === undefined ? undefined : moved(exit, extreme, trailing, "-");

/** Average price of a quantity. */
export const averageOf = (value: string, qty: string): string => (isPositive(qty) ? div(value, qty, places) : "0");

/**
 * Why an order must not be sent with this protection: a stop on the wrong side of its price would close the position at
 * once.
 */
export const misplacedProtect = (entry: Side, protect: Protect, px: string | undefined): string | undefined => {
  if (px === undefined) return undefined;
  const { stopLoss, takeProfit } = protect;
  const [low, high] = entry === "buy" ? ["below", "above"] : ["above", "below"];
  const exit = exitOf(entry);
  const isLoss = (level: string): boolean => !isAtOrBeyond(exit, px, level);
  const isProfit = (level: string): boolean => !isAtOrBeyond(exit, level, px);
  if (typeof stopLoss === "string" && !isLoss(stopLoss))
    return `protect.stopLoss ${stopLoss} of a ${entry} at ${px} must lie ${low} it`;
  if (typeof takeProfit === "string" && !isProfit(takeProfit))
    return `protect.takeProfit ${takeProfit} of a ${entry} at ${px} must lie ${high} it`;
  return undefined;
};
