/**
 * Size of an exit: how much it may reduce of its strategy's position, and whether it carries the service's reduce-only
 * flag. Pure.
 *
 * Invariants: if the strategy is known to hold a position, the order never exceeds what it holds by its own fills;
 * where the service's flag does not keep the order within that, its other exits are subtracted first; an exit that the
 * account's net position does not cover goes without the flag, unless it must carry the flag: then it is cut to what
 * the account covers, or waits; the amount of a market exit cannot buy or sell more while the price moves by up to 2 %.
 * Not here: where the figures come from (exit-limits.ts), how long an exit waits (exits.ts).
 */
import type { Side } from "../contract/profile.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { compare, type Decimal, equal, isPositive, max, min, neg, read, spell, sub, toStep } from "../decimal-value.ts";
import type { Cover } from "./spot-cover.ts";
import { type OrderSpec, type Specified, unquoted } from "./wanted-order.ts";

/** Limits of the exits of one strategy, instrument and side, in base currency. */
export interface ExitLimit {
  /** Part of the strategy's position that an order of this side reduces; zero where there is none. */
  readonly held: Decimal;
  /** Part of it that the strategy's other open orders of this side may still execute. */
  readonly promised: Decimal;
  /** Part of the account's net position that remains for one more flagged order; may be negative. */
  readonly covered: Decimal;
  /** True if the service knows reduce-only orders of this product. It does for contracts, not for spot. */
  readonly hasFlag: boolean;
  /**
   * True if no other strategy holds the product or has orders in it. The flag then keeps an order within what this
   * strategy holds.
   */
  readonly isAlone: boolean;
  /** True if other strategies hold what an order of this side reduces, or may hold it by now. */
  readonly isOthers: boolean;
  /** True if the strategy has traded the product. Otherwise a position may be older than the journal. */
  readonly isKnown: boolean;
  /** The account's balance of a spot product's coin, after an exit was rejected for insufficient funds. */
  readonly coins?: Cover | undefined;
  /** Why no exit may leave without the flag now; undefined where it may. */
  readonly flagOnly?: string | undefined;
}

/**
 * Reason why no exit may leave now. `position`: there is nothing to reduce. `room`: other exits are about to reduce it.
 */
export interface Lack {
  readonly of: "position" | "room";
  readonly reason: string;
}

/** Part of a position that an order of this side reduces; negative where the order would enlarge it. */
export const against = (side: Side, position: Decimal): Decimal => (side === "sell" ? position : neg(position));

type Steps = Pick<InstrumentRecord, "lotSize" | "minSize">;

/** Base quantity of the smallest order. */
export const leastQty = ({ lotSize, minSize = lotSize }: Steps): Decimal => max(read(lotSize), read(minSize));

export const lackOf = (limit: ExitLimit, steps: Steps): Lack | undefined => {
  const { held, promised, covered, hasFlag, isAlone, coins, flagOnly } = limit;
  if (!isPositive(held)) {
    if (hasFlag && !limit.isOthers && !limit.isKnown) return undefined;
    return { of: "position", reason: "the strategy holds nothing that the order would reduce" };
  }
  if (isAlone) return undefined;
  const least = leastQty(steps);
  const text = spell(held);
  if (compare(held, least) < 0)
    return { of: "position", reason: `the strategy holds ${text}, less than the smallest order (${spell(least)})` };
  if (compare(sub(held, promised), least) < 0) {
    const others = `its other orders of this side may still execute ${spell(promised)}`;
    return { of: "room", reason: `the strategy holds ${text}, and ${others}` };
  }
  if (flagOnly !== undefined && (!hasFlag || compare(covered, least) < 0))
    return { of: "room", reason: `the account's position does not cover it, and ${flagOnly}` };
  return coins === undefined ? undefined : coinLackOf(text, coins, least);
};

const coinLackOf = (held: string, coins: Cover, least: Decimal): Lack | undefined => {
  if (coins === "unread")
    return { of: "room", reason: "the service rejected it for want of funds, and the balance is not read yet" };
  const { available, balance } = coins;
  if (compare(available, least) >= 0) return undefined;
  const account = `the account has ${spell(available)} available of ${spell(balance)}`;
  // Coins in open orders become free when these orders end.
  const of = compare(balance, least) < 0 ? "position" : "room";
  return { of, reason: `the strategy holds ${held} by its fills, and ${account}` };
};

/** An exit as it is sent. */
export interface SizedExit {
  readonly ok: true;
  readonly spec: OrderSpec;
  readonly baseQty: Decimal | undefined;
  /** Base quantity that was wanted; undefined where the service decides how much is reduced. */
  readonly wantedQty: Decimal | undefined;
  /** True if the order goes without the flag. The service then treats it like any other trade. */
  readonly withoutFlag: boolean;
}

/** Largest quantity that an exit may have now, in whole lots. */
const freeOf = ({ held, promised, covered, isAlone, coins, flagOnly }: ExitLimit, steps: Steps): Decimal => {
  let free = isAlone ? held : sub(held, promised);
  if (!isAlone && flagOnly !== undefined) free = min(free, covered);
  if (coins !== undefined && coins !== "unread") free = min(free, coins.available);
  return toStep(free, read(steps.lotSize), "down");
};

/** `respecify` makes an order of this base quantity. With `isBounded`, the order never executes more. */
export const sizeExit = (
  { spec, baseQty }: Pick<SizedExit, "spec" | "baseQty">,
  limit: ExitLimit,
  steps: Steps,
  respecify: (qty: string, isBounded: boolean) => Specified,
): SizedExit | Extract<Specified, { ok: false }> => {
  const { held, covered, hasFlag, isAlone } = limit;
  const free = freeOf(limit, steps);
  // The service decides if no position is known, if less is held than can be ordered, or if the quantity is unknown.
  const isUnsized = isAlone && (baseQty === undefined || compare(free, leastQty(steps)) < 0);
  if (!isPositive(held) || isUnsized) return { ok: true, spec, baseQty, wantedQty: undefined, withoutFlag: false };
  if (baseQty === undefined)
    return { ok: false, ...unquoted(spec.instId, `tell how much of ${spell(held)} it would reduce`) };
  const qty = min(baseQty, free);
  const withoutFlag = !isAlone && (!hasFlag || compare(covered, qty) < 0);
  const isBounded = withoutFlag && spec.ordType === "market";
  if (equal(qty, baseQty) && !isBounded) return { ok: true, spec, baseQty, wantedQty: baseQty, withoutFlag };
  const fitted = respecify(spell(qty), isBounded);
  return fitted.ok ? { ...fitted, wantedQty: baseQty, withoutFlag } : fitted;
};
