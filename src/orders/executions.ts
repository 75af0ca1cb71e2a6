/**
 * Executions of orders by the service's records: base currency, quote currency, and fees as costs. Pure.
 *
 * Invariants: the same trade gives the same figures for every unit of the service's `sz`.
 * Not here: positions (positions.ts), what an order may still execute (risk/exposure.ts).
 */
import { instTypeOf, readInstId } from "../contract/inst-id.ts";
import type { Profile, Side } from "../contract/profile.ts";
import type { InstrumentRecord, OrderRecord } from "../contract/schemas.ts";
import {
  abs,
  compare,
  type Decimal,
  div,
  equal,
  isPositive,
  isZero,
  mul,
  neg,
  read,
  spell,
  sub,
  toStep,
  zero,
} from "../decimal-value.ts";
import type { Order } from "./order-state.ts";

export interface Rules {
  readonly profile: Profile;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
}

/** Executed part of an order. */
export interface Executed {
  /** Base currency. */
  readonly filled: Decimal;
  /** Quote currency. */
  readonly value: Decimal;
  /** Fee in quote currency; negative for a rebate. */
  readonly cost: Decimal;
  /** Base currency that was taken as the fee; its value is `cost`. Undefined if the fee was money. */
  readonly feeQty: Decimal | undefined;
}

/** Executed part of an order by one record, with the instrument of that moment. */
export interface Execution extends Executed {
  /** False while nothing was executed. `cost` may differ from zero even then. */
  readonly isAny: boolean;
  /** Average price of the record; zero where it has none. */
  readonly avgPx: Decimal;
  /** Fee as in the record, with the sign convention of the profile. */
  readonly fee: Decimal;
  readonly instrument: InstrumentRecord | undefined;
}

export const noExecution: Execution = {
  isAny: false,
  filled: zero,
  value: zero,
  cost: zero,
  feeQty: undefined,
  avgPx: zero,
  fee: zero,
  instrument: undefined,
};

const places = 12;

/** Reads an amount of a record, which may be empty. */
export const amountIn = (text: string): Decimal => (text === "" || text === "0" ? zero : read(text));

/** Base currency of a size in the service's unit. Zero where a size in quote currency has no price. */
export const baseOf = (instId: string, sz: Decimal, px: Decimal, { profile, instruments }: Rules): Decimal => {
  switch (profile.order.szUnit[instTypeOf(instId)]) {
    case "base":
      return sz;
    case "contracts":
      return mul(sz, read(instruments().get(instId)?.contractValue ?? "1"));
    case "quote_notional":
      return isPositive(px) ? div(sz, px, places) : zero;
  }
};

/** Returns true if the fee is taken in base currency. It then reduces the position, not the money. */
const isFeeInBase = ({ instId, side, feeCcy }: OrderRecord, { order }: Profile): boolean => {
  if (instTypeOf(instId) !== "SPOT") return false;
  if (feeCcy === undefined || feeCcy === "") return side === "buy" && order.spotBuyFee === "base";
  return feeCcy === readInstId(instId)?.base;
};

/** Change of the position: the executed quantity with the sign of its side, less a fee in base currency. */
export const broughtBy = (side: Side, { filled, feeQty }: Pick<Executed, "filled" | "feeQty">): Decimal => {
  const gross = side === "buy" ? filled : neg(filled);
  return feeQty === undefined ? gross : sub(gross, feeQty);
};

/** Change of the money: negative where it was paid. */
export const moneyOf = (side: Side, { value, cost, feeQty }: Executed): Decimal => {
  const gross = side === "buy" ? neg(value) : value;
  return feeQty === undefined ? sub(gross, cost) : gross;
};

/** Execution by a record, also of an order of other clients. */
export const executedIn = (record: OrderRecord, rules: Rules): Execution => {
  const { profile, instruments } = rules;
  const { instId } = record;
  const instrument = instruments().get(instId);
  const fee = amountIn(record.fee);
  const avgPx = amountIn(record.avgPx);
  const taken = profile.order.feeSign === "negative_is_cost" ? neg(fee) : fee;
  const feeQty = !isZero(taken) && isFeeInBase(record, profile) ? taken : undefined;
  const cost = feeQty === undefined ? taken : mul(feeQty, avgPx);
  const done = amountIn(record.accFillSz);
  const isAny = !isZero(done);
  const inQuote = profile.order.szUnit[instTypeOf(instId)] === "quote_notional";
  const raw = isAny ? baseOf(instId, done, avgPx, rules) : zero;
  const filled = isAny && inQuote && instrument !== undefined ? inLots(raw, avgPx, read(instrument.lotSize)) : raw;
  const value = inQuote ? done : mul(filled, avgPx);
  return { isAny, filled, value, cost, feeQty, avgPx, fee, instrument };
};

/**
 * Rounds a quantity that was computed from an average price of limited precision to the nearest whole number of lots.
 * If the present lot size does not fit, it uses the fewest fraction digits that the precision allows.
 */
const inLots = (raw: Decimal, avgPx: Decimal, lot: Decimal): Decimal => {
  const nearest = toStep(raw, lot, "nearest");
  if (equal(nearest, raw) || !isPositive(avgPx)) return nearest;
  const most = div(mul(raw, { units: 1, places: avgPx.places }), avgPx, places);
  const isNear = (qty: Decimal): boolean => compare(abs(sub(qty, raw)), most) <= 0;
  if (isNear(nearest)) return nearest;
  for (let place = 0; place < places; place++) {
    const qty = toStep(raw, { units: 1, places: place }, "nearest");
    if (isNear(qty)) return qty;
  }
  return raw;
};

/** Execution of an order of ours so far. */
export const executionOf = ({ record }: Order, rules: Rules): Execution => {
  if (record === undefined) return noExecution;
  const { accFillSz, fee } = record;
  const isNothing = (accFillSz === "0" || accFillSz === "") && (fee === "0" || fee === "");
  return isNothing ? noExecution : executedIn(record, rules);
};

/** Change of position and money by an order, as decimal text; undefined where nothing was executed. */
export const tradedBy = (
  record: OrderRecord,
  rules: Rules,
): { readonly position: string; readonly cash: string } | undefined => {
  const executed = executedIn(record, rules);
  const side = record.side as Side;
  if (isZero(executed.filled)) return undefined;
  return { position: spell(broughtBy(side, executed)), cash: spell(moneyOf(side, executed)) };
};
