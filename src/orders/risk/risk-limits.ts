/**
 * Whether an order stays within the risk limits: values in, a reason out. Pure.
 *
 * Invariants: comparisons are exact; what is known to be executed and all that may still be executed counts; an order
 * that can only shrink a position passes every limit on size; a refusal names the value, the limit, what would pass,
 * and the config key.
 * Not here: where the values come from (risk-manager.ts), limits on losses (loss-limits.ts), on pace
 * (order-throttle.ts).
 */
import { add, compare, div, isPositive, mul, neg, sub } from "../../decimal.ts";
import { type OrderSpec, unquoted } from "../wanted-order.ts";
import type { Holding } from "./exposure.ts";

/** Limits on money, all optional; amounts are decimal text in quote currency. */
export interface RiskRules {
  /** Of one order: what a slip of the finger may cost. */
  readonly orderNotionalMax?: string;
  /** How many percent beyond the market, on the side that costs, a limit price may be. */
  readonly priceBandPct?: string;
  /** All that open orders of one strategy may still execute. */
  readonly openNotionalPerStrategy?: string;
  /** The same for all strategies together. */
  readonly openNotionalInAll?: string;
  /** Long or short in one instrument, by own fills and with everything open on that side executed. */
  readonly positionPerStrategy?: string;
  /** The same for all strategies together. */
  readonly positionInAll?: string;
  /**
   * Wanted orders of one strategy that are acted on in a second; of what is beyond that the latest is acted on when its
   * turn comes.
   */
  readonly changesPerSecond?: number;
  /** Realised and not, costs included: beyond it a strategy may only reduce. */
  readonly lossPerStrategy?: string;
  /** The same for all strategies: beyond it trading halts. */
  readonly lossInAll?: string;
}

interface Standing {
  readonly openNotional: string;
  readonly holding: Holding;
}

export interface RiskInput {
  readonly rules: RiskRules;
  readonly spec: OrderSpec;
  /** Base currency; empty where it is not known. */
  readonly baseQty: string;
  /** What a market order of this side would meet, if a quote is known. */
  readonly marketPx: string | undefined;
  readonly strategy: Standing;
  readonly all: Standing;
}

interface RiskRefusal {
  readonly limit: keyof RiskRules;
  readonly reason: string;
  /** It may pass when an order has ended. */
  readonly crowded: boolean;
  readonly isUnquoted?: true;
}

const places = 12;
const sizeLimits = [
  "orderNotionalMax",
  "openNotionalPerStrategy",
  "openNotionalInAll",
  "positionPerStrategy",
  "positionInAll",
] as const satisfies readonly (keyof RiskRules)[];

export const limitsMoney = (rules: RiskRules): boolean =>
  rules.priceBandPct !== undefined ||
  rules.lossPerStrategy !== undefined ||
  rules.lossInAll !== undefined ||
  sizeLimits.some((limit) => rules[limit] !== undefined);

const shown = (amount: string): string => (isPositive(amount) ? amount : "0");

const directed = (side: "buy" | "sell", position: string): string => (side === "buy" ? position : neg(position));

/** By own fills it cannot enlarge what is held: the service lets it reduce only. */
const onlyShrinks = ({ spec, strategy: { holding } }: RiskInput): boolean =>
  spec.reduceOnly && !isPositive(directed(spec.side, holding.position));

export const riskRuling = (input: RiskInput): RiskRefusal | undefined => {
  const { rules, spec, baseQty, marketPx, strategy, all } = input;
  const band = bandRuling(input);
  if (band !== undefined) return band;
  const limited = sizeLimits.find((limit) => rules[limit] !== undefined);
  if (limited === undefined || onlyShrinks(input)) return undefined;
  const px = spec.px === "" ? marketPx : spec.px;
  if (px === undefined || baseQty === "") {
    return { limit: limited, ...unquoted(spec.instId, `value the order (orders.${limited})`), crowded: true };
  }
  const notional = mul(baseQty, px);
  return (
    orderRuling(rules, notional) ??
    openRuling("openNotionalPerStrategy", rules, "the strategy's", notional, strategy) ??
    openRuling("openNotionalInAll", rules, "all", notional, all) ??
    positionRuling("positionPerStrategy", "the strategy's", input, marketPx ?? px, strategy) ??
    positionRuling("positionInAll", "the", input, marketPx ?? px, all)
  );
};

/** A limit price on the wrong side of the market takes whatever is there: far beyond it, it is a slip. */
const bandRuling = ({
  rules: { priceBandPct: pct },
  spec: { px, side },
  marketPx,
}: RiskInput): RiskRefusal | undefined => {
  if (pct === undefined || px === "" || marketPx === undefined) return undefined;
  const hundredfold = mul(marketPx, side === "buy" ? add("100", pct) : sub("100", pct));
  const beyond = side === "buy" ? compare(mul(px, "100"), hundredfold) > 0 : compare(mul(px, "100"), hundredfold) < 0;
  if (!beyond) return undefined;
  const bound = shown(div(hundredfold, "100", places));
  const passes = side === "buy" ? `up to ${bound}` : `from ${bound} on`;
  const reason = `px ${px} is more than ${pct} % beyond the market at ${marketPx}; ${passes} would pass (orders.priceBandPct)`;
  return { limit: "priceBandPct", reason, crowded: false };
};

const orderRuling = ({ orderNotionalMax: most }: RiskRules, notional: string): RiskRefusal | undefined => {
  if (most === undefined || compare(notional, most) <= 0) return undefined;
  const reason = `the order is worth ${notional}; up to ${most} would pass (orders.orderNotionalMax)`;
  return { limit: "orderNotionalMax", reason, crowded: false };
};

const openRuling = (
  limit: "openNotionalPerStrategy" | "openNotionalInAll",
  { [limit]: most }: RiskRules,
  whose: string,
  notional: string,
  { openNotional }: Standing,
): RiskRefusal | undefined => {
  if (most === undefined || compare(add(openNotional, notional), most) <= 0) return undefined;
  const room = shown(sub(most, openNotional));
  const reason = `the order is worth ${notional} and ${whose} open orders ${openNotional} of ${most}; up to ${room} would pass (orders.${limit})`;
  return { limit, reason, crowded: compare(notional, most) <= 0 };
};

const positionRuling = (
  limit: "positionPerStrategy" | "positionInAll",
  whose: string,
  { rules: { [limit]: most }, spec: { side, instId }, baseQty }: RiskInput,
  px: string,
  { holding }: Standing,
): RiskRefusal | undefined => {
  if (most === undefined) return undefined;
  const before = add(directed(side, holding.position), side === "buy" ? holding.buying : holding.selling);
  const reach = add(before, baseQty);
  if (!isPositive(reach) || compare(mul(reach, px), most) <= 0) return undefined;
  const room = shown(sub(div(most, px, places), before));
  const word = side === "buy" ? "long" : "short";
  const reason =
    `${whose} position in ${instId} could become ${mul(reach, px)} ${word}, more than ${most}; ` +
    `a size of up to ${room} would pass (orders.${limit})`;
  return { limit, reason, crowded: compare(mul(baseQty, px), most) <= 0 };
};
