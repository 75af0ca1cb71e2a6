/**
 * Size of an exit: how much it may reduce of what its strategy holds, and whether it carries the service's reduce-only
 * flag. Pure.
 *
 * Invariants: where the strategy is known to hold anything, no more is sent than it holds by its own fills; where the
 * service's flag does not keep the order within that, its other exits are subtracted first; an exit that the account's
 * net position does not cover goes without the flag, unless it must carry it: then it is cut to what the account's
 * position covers, or waits; and what it is given to spend at the market cannot buy or sell more while the price moves
 * by up to 2 %.
 * Not here: where the figures come from (exit-limits.ts), how long an exit waits (exits.ts).
 */
import type { Side } from "../contract/profile.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { compare, equal, isPositive, neg, sub, toStep } from "../decimal.ts";
import type { Cover } from "./spot-cover.ts";
import { type OrderSpec, type Specified, unquoted } from "./wanted-order.ts";

/** What bounds the exits of one strategy, instrument and side. Base currency, decimal text. */
export interface ExitLimit {
  /**
   * Of the strategy's position, as much as an order of this side reduces; "0" where it holds nothing or the other
   * direction.
   */
  readonly held: string;
  /** What the strategy's other open orders of this side may still execute of that. */
  readonly promised: string;
  /** What the account's net position leaves to one more flagged order; negative where there is less than nothing. */
  readonly covered: string;
  /** The service knows reduce-only orders of this product: of contracts, not of spot. */
  readonly hasFlag: boolean;
  /**
   * No other strategy holds the product or has orders in it: the flag keeps an order within what this strategy holds.
   */
  readonly isAlone: boolean;
  /** Other strategies hold what an order of this side reduces, or may by now. */
  readonly isOthers: boolean;
  /**
   * The strategy has traded the product: where it holds nothing, that is known. Otherwise a position may be older than
   * the journal.
   */
  readonly isKnown: boolean;
  /** Coins of the account, of a spot product, where an exit was rejected for want of them. */
  readonly coins?: Cover | undefined;
  /** Why no exit may leave without the flag now; undefined where it may. */
  readonly flagOnly?: string | undefined;
}

/** Why no exit may leave now. `position`: there is nothing to reduce. `room`: other exits are about to reduce it. */
export interface Lack {
  readonly of: "position" | "room";
  readonly reason: string;
}

/** Of a position, what an order of this side reduces: positive where it does. */
export const against = (side: Side, position: string): string => (side === "sell" ? position : neg(position));

type Steps = Pick<InstrumentRecord, "lotSize" | "minSize">;

const lesser = (a: string, b: string): string => (compare(a, b) <= 0 ? a : b);

/** Base quantity of the smallest order. */
export const leastQty = ({ lotSize, minSize }: Steps): string =>
  minSize !== undefined && compare(minSize, lotSize) > 0 ? minSize : lotSize;

export const lackOf = (
  { held, promised, covered, hasFlag, isAlone, isOthers, isKnown, coins, flagOnly }: ExitLimit,
  steps: Steps,
): Lack | undefined => {
  if (!isPositive(held)) {
    if (hasFlag && !isOthers && !isKnown) return undefined;
    return { of: "position", reason: "the strategy holds nothing that the order would reduce" };
  }
  if (isAlone) return undefined;
  const least = leastQty(steps);
  if (compare(held, least) < 0)
    return { of: "position", reason: `the strategy holds ${held}, less than the smallest order (${least})` };
  if (compare(sub(held, promised), least) >= 0) {
    if (flagOnly !== undefined && (!hasFlag || compare(covered, least) < 0))
      return { of: "room", reason: `the account's position does not cover it, and ${flagOnly}` };
    return coins === undefined ? undefined : coinLackOf(held, coins, least);
  }
  return {
    of: "room",
    reason: `the strategy holds ${held}, and its other orders of this side may still execute ${promised}`,
  };
};

const coinLackOf = (held: string, coins: Cover, least: string): Lack | undefined => {
  if (coins === "unread")
    return { of: "room", reason: "the service rejected it for want of funds, and the balance is not read yet" };
  const { available, balance } = coins;
  if (compare(available, least) >= 0) return undefined;
  const reason = `the strategy holds ${held} by its fills, and the account has ${available} available of ${balance}`;
  // What open orders hold comes back when they end.
  return { of: compare(balance, least) < 0 ? "position" : "room", reason };
};

/** An exit as it is sent. */
export interface SizedExit {
  readonly ok: true;
  readonly spec: OrderSpec;
  readonly baseQty: string;
  /** Base quantity that was wanted; empty where the service decides how much is reduced. */
  readonly wantedQty: string;
  /** It goes without the flag: at the account it is a trade like any other. */
  readonly withoutFlag: boolean;
}

/** `respecify` makes an order of this base quantity; `isBounded`: one that never executes more. */
export const sizeExit = (
  { spec, baseQty }: Pick<SizedExit, "spec" | "baseQty">,
  limit: ExitLimit,
  steps: Steps,
  respecify: (qty: string, isBounded: boolean) => Specified,
): SizedExit | Extract<Specified, { ok: false }> => {
  const { held, promised, covered, hasFlag, isAlone, coins, flagOnly } = limit;
  const unpromised = isAlone ? held : sub(held, promised);
  const own = isAlone || flagOnly === undefined ? unpromised : lesser(unpromised, covered);
  const bounded = coins === undefined || coins === "unread" ? own : lesser(own, coins.available);
  const free = toStep(bounded, steps.lotSize, "down");
  // Nothing is known to be held, less than can be ordered, or not how much is wanted: the service knows better.
  if (!isPositive(held) || (isAlone && (baseQty === "" || compare(free, leastQty(steps)) < 0)))
    return { ok: true, spec, baseQty, wantedQty: "", withoutFlag: false };
  if (baseQty === "") return { ok: false, ...unquoted(spec.instId, `tell how much of ${held} it would reduce`) };
  const qty = compare(baseQty, free) <= 0 ? baseQty : free;
  const withoutFlag = !isAlone && (!hasFlag || compare(covered, qty) < 0);
  const isBounded = withoutFlag && spec.ordType === "market";
  if (equal(qty, baseQty) && !isBounded) return { ok: true, spec, baseQty, wantedQty: baseQty, withoutFlag };
  const fitted = respecify(qty, isBounded);
  return fitted.ok ? { ...fitted, wantedQty: baseQty, withoutFlag } : fitted;
};
