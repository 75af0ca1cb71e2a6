/**
 * Checks whether an order stays within the risk limits. Takes values and returns a reason. Pure.
 *
 * Invariants: comparisons are exact; known executions count, and so does everything that may still be executed; an
 * order that can only shrink a position passes every limit on size; a refusal names the value, the limit, the value
 * that would pass, and the config key.
 * Not here: where the values come from (risk-manager.ts), limits on losses (loss-limits.ts), on pace
 * (order-throttle.ts).
 */
import { add, compare, type Decimal, div, isPositive, mul, positive, read, spell, sub } from "../../decimal-value.ts";
import { against } from "../exit-size.ts";
import { type OrderSpec, unquoted } from "../wanted-order.ts";
import type { OpenSizes } from "./exposure.ts";

/** Limits on money, all optional; amounts are decimal text in quote currency. */
export interface RiskRules {
  /** Maximum value of one order. Bounds the cost of a typing error. */
  readonly orderNotionalMax?: string;
  /** Percent by which a limit price may be worse than the market. */
  readonly priceBandPct?: string;
  /** Maximum value that all open orders of one strategy may still execute. */
  readonly openNotionalPerStrategy?: string;
  /** The same for all strategies together. */
  readonly openNotionalInAll?: string;
  /** Maximum value of a position, long or short, in one instrument: own fills plus all open orders of that side. */
  readonly positionPerStrategy?: string;
  /** The same for all strategies together. */
  readonly positionInAll?: string;
  /**
   * Number of changed wanted orders of one strategy that are acted on in a second. Of those beyond the limit, the
   * latest for each slot is acted on when its turn comes.
   */
  readonly changesPerSecond?: number;
  /** Maximum loss of one strategy, realised and unrealised, costs included. Beyond it the strategy may only reduce. */
  readonly lossPerStrategy?: string;
  /** The same for all strategies together. Beyond it trading halts. */
  readonly lossInAll?: string;
}

/** Exposure in one instrument. */
interface Holding extends OpenSizes {
  /** Base currency by own fills, positive when long. */
  readonly position: Decimal;
}

interface Standing {
  readonly openNotional: Decimal;
  readonly holding: Holding;
}

export interface RiskInput {
  readonly rules: RiskRules;
  readonly spec: OrderSpec;
  /** Quantity in base currency; undefined if it is not known. */
  readonly baseQty: Decimal | undefined;
  /** Price that a market order of this side would meet, if a quote is known. */
  readonly marketPx: string | undefined;
  readonly strategy: Standing;
  readonly all: Standing;
}

interface RiskRefusal {
  readonly limit: keyof RiskRules;
  readonly reason: string;
  /** True if the order may pass when another one has ended. */
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

/** Returns true if the service lets the order only reduce, and by own fills it cannot enlarge the position. */
const onlyShrinks = ({ spec, strategy: { holding } }: RiskInput): boolean =>
  spec.reduceOnly && !isPositive(against(spec.side === "buy" ? "sell" : "buy", holding.position));

export const riskRuling = (input: RiskInput): RiskRefusal | undefined => {
  const { rules, spec, baseQty, marketPx, strategy, all } = input;
  const band = bandRuling(input);
  if (band !== undefined) return band;
  const limited = sizeLimits.find((limit) => rules[limit] !== undefined);
  if (limited === undefined || onlyShrinks(input)) return undefined;
  const px = spec.px === "" ? marketPx : spec.px;
  if (px === undefined || baseQty === undefined) {
    return { limit: limited, ...unquoted(spec.instId, `value the order (orders.${limited})`), crowded: true };
  }
  const order: SizedOrder = {
    rules,
    spec,
    baseQty,
    notional: mul(baseQty, read(px)),
    markPx: read(marketPx ?? px),
  };
  return (
    orderRuling(order) ??
    openRuling("openNotionalPerStrategy", "the strategy's", order, strategy) ??
    openRuling("openNotionalInAll", "all", order, all) ??
    positionRuling("positionPerStrategy", "the strategy's", order, strategy) ??
    positionRuling("positionInAll", "the", order, all)
  );
};

/** An order with a known size and value. */
interface SizedOrder extends Pick<RiskInput, "rules" | "spec"> {
  readonly baseQty: Decimal;
  readonly notional: Decimal;
  readonly markPx: Decimal;
}

const hundred = read("100");

/**
 * Checks the price band. A limit price on the wrong side of the market takes liquidity; far beyond the market it is a
 * mistake.
 */
const bandRuling = ({
  rules: { priceBandPct: pct },
  spec: { px, side },
  marketPx,
}: RiskInput): RiskRefusal | undefined => {
  if (pct === undefined || px === "" || marketPx === undefined) return undefined;
  const isBuy = side === "buy";
  const hundredfold = mul(read(marketPx), (isBuy ? add : sub)(hundred, read(pct)));
  if (compare(mul(read(px), hundred), hundredfold) !== (isBuy ? 1 : -1)) return undefined;
  const bound = spell(positive(div(hundredfold, hundred, places)));
  const passes = isBuy ? `up to ${bound}` : `from ${bound} on`;
  const reason = `px ${px} is more than ${pct} % beyond the market at ${marketPx}; ${passes} would pass (orders.priceBandPct)`;
  return { limit: "priceBandPct", reason, crowded: false };
};

const orderRuling = ({ rules: { orderNotionalMax: most }, notional }: SizedOrder): RiskRefusal | undefined => {
  if (most === undefined || compare(notional, read(most)) <= 0) return undefined;
  const reason = `the order is worth ${spell(notional)}; up to ${most} would pass (orders.orderNotionalMax)`;
  return { limit: "orderNotionalMax", reason, crowded: false };
};

const openRuling = (
  limit: "openNotionalPerStrategy" | "openNotionalInAll",
  whose: string,
  { rules: { [limit]: most }, notional }: SizedOrder,
  { openNotional }: Standing,
): RiskRefusal | undefined => {
  if (most === undefined || compare(add(openNotional, notional), read(most)) <= 0) return undefined;
  const room = spell(positive(sub(read(most), openNotional)));
  const reason = `the order is worth ${spell(notional)} and ${whose} open orders ${spell(openNotional)} of ${most}; up to ${room} would pass (orders.${limit})`;
  return { limit, reason, crowded: compare(notional, read(most)) <= 0 };
};

const positionRuling = (
  limit: "positionPerStrategy" | "positionInAll",
  whose: string,
  { rules: { [limit]: most }, spec: { side, instId }, baseQty, markPx }: SizedOrder,
  { holding: { position, buying, selling } }: Standing,
): RiskRefusal | undefined => {
  if (most === undefined) return undefined;
  const isBuy = side === "buy";
  const before = isBuy ? add(position, buying) : sub(selling, position);
  const reach = add(before, baseQty);
  const worth = mul(reach, markPx);
  if (!isPositive(reach) || compare(worth, read(most)) <= 0) return undefined;
  const room = spell(positive(sub(div(read(most), markPx, places), before)));
  const reason =
    `${whose} position in ${instId} could become ${spell(worth)} ${isBuy ? "long" : "short"}, more than ${most}; ` +
    `a size of up to ${room} would pass (orders.${limit})`;
  return { limit, reason, crowded: compare(mul(baseQty, markPx), read(most)) <= 0 };
};
