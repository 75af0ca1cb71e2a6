/**
 * An order of ours as its exposure sees it: sizes in base currency, values in quote currency, fees as costs.
 *
 * Invariants: whatever the service's `sz` counts, the same trade gives the same fact; an order whose outcome is unknown
 * is open at its full size; a placement that was turned away is not open.
 * Not here: the sums (exposure.ts).
 */
import { instTypeOf, readInstId } from "../../contract/inst-id.ts";
import type { Profile, Side } from "../../contract/profile.ts";
import type { InstrumentRecord, OrderRecord } from "../../contract/schemas.ts";
import { abs, compare, div, equal, isPositive, isZero, mul, neg, plain, sub, toStep } from "../../decimal.ts";
import { evenQuotient, stepsIn } from "../../decimal-units.ts";
import type { Order } from "../order-state.ts";
import type { ExposureEntry, Holding } from "./exposure.ts";

export interface EntrySource {
  readonly profile: Profile;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly marketPx: (instId: string, side: Side) => string | undefined;
}

const places = 12;
const amount = (text: string | undefined): string => (text === undefined || text === "" ? "0" : text);

export type Rules = Pick<EntrySource, "profile" | "instruments">;

export type Traded = Pick<Holding, "position" | "cash">;

/** A size of the service's in base currency, as far as it can be known at this price. */
const baseOf = (instId: string, sz: string, px: string, { profile, instruments }: Rules): string => {
  switch (profile.order.szUnit[instTypeOf(instId)]) {
    case "base":
      return sz;
    case "contracts":
      return mul(sz, instruments().get(instId)?.contractValue ?? "1");
    case "quote_notional":
      return isPositive(amount(px)) ? div(sz, px, places) : "0";
  }
};

export type Executed = Pick<ExposureEntry, "filled" | "value" | "cost" | "feeQty">;

/**
 * Currency in which a fee of an order is taken, where that is the base currency: then it leaves less to hold, and not
 * less money.
 */
const isFeeInBase = (instId: string, { side, feeCcy }: OrderRecord, { order }: Profile): boolean => {
  if (instTypeOf(instId) !== "SPOT") return false;
  if (feeCcy === undefined || feeCcy === "") return side === "buy" && order.spotBuyFee === "base";
  return feeCcy === readInstId(instId)?.base;
};

/**
 * Base currency that an order has brought, with the sign of its side: what was executed without a fee that was taken in
 * it.
 */
export const broughtBy = (side: Side, { filled, feeQty }: Executed): string => {
  const gross = side === "buy" ? filled : neg(filled);
  return feeQty === undefined ? gross : sub(gross, feeQty);
};

/** Quote currency that an order has brought: negative where it was paid. */
const moneyOf = (side: Side, { value, cost, feeQty }: Executed): string => {
  const gross = side === "buy" ? neg(value) : value;
  return feeQty === undefined ? sub(gross, cost) : gross;
};

/** What an order has executed by one record, with the instrument as it was then; texts in their shortest spelling. */
export interface Execution extends Executed {
  /** False while nothing was executed: there may be a cost even so. */
  readonly isAny: boolean;
  /** The price of all of it, where that is on the tick and comes out even; else empty. */
  readonly px: string;
  /** As in the record, with the sign of the profile. */
  readonly fee: string;
  readonly record: OrderRecord | undefined;
  readonly profile: Profile | undefined;
  readonly instrument: InstrumentRecord | undefined;
}

export const noExecution: Execution = {
  isAny: false,
  filled: "0",
  value: "0",
  px: "",
  cost: "0",
  feeQty: undefined,
  fee: "0",
  record: undefined,
  profile: undefined,
  instrument: undefined,
};

const executedOf = (instId: string, record: OrderRecord, rules: Rules): Execution =>
  executedBy(instId, record, rules.instruments().get(instId), rules);

const executedBy = (
  instId: string,
  record: OrderRecord,
  instrument: InstrumentRecord | undefined,
  rules: Rules,
): Execution => {
  const { profile } = rules;
  const { szUnit, feeSign } = profile.order;
  const done = record.accFillSz;
  const fee = record.fee === "" || record.fee === "0" ? "0" : plain(record.fee);
  // In its shortest spelling: only the sign changes.
  const taken = fee === "0" || feeSign !== "negative_is_cost" ? fee : fee.startsWith("-") ? fee.slice(1) : `-${fee}`;
  const avgPx = record.avgPx || "0";
  const feeQty = taken !== "0" && isFeeInBase(instId, record, profile) ? taken : undefined;
  // A fee in base currency is worth what was paid for it.
  const cost = feeQty === undefined ? taken : mul(feeQty, avgPx);
  if (done === "" || done === "0")
    return { isAny: false, filled: "0", value: "0", px: "", cost, feeQty, fee, record, profile, instrument };
  const inMoney = szUnit[instTypeOf(instId)] === "quote_notional";
  const lotSize = inMoney ? instrument?.lotSize : undefined;
  const even = lotSize === undefined ? undefined : evenQuotient(done, avgPx, lotSize);
  // What an amount of money bought at a price to the last digit was bought at that price.
  const px = even === undefined || instrument === undefined ? undefined : stepsIn(avgPx, instrument.tickSize);
  let filled = even;
  if (filled === undefined) {
    const raw = baseOf(instId, done, avgPx, rules);
    filled = lotSize === undefined ? plain(raw) : inLots(raw, avgPx, lotSize);
  }
  const value = inMoney ? plain(done) : mul(filled, avgPx);
  return {
    isAny: filled !== "0" || !isZero(done),
    filled,
    value,
    px: px ?? "",
    cost,
    feeQty,
    fee,
    record,
    profile,
    instrument,
  };
};

/**
 * A quantity worked out from an amount and an average price that is cut off somewhere: what was traded is a whole
 * number of lots, of those of its time. Where the present ones are too far off, the fewest fraction digits that the
 * average allows.
 */
const inLots = (raw: string, avgPx: string, lotSize: string): string => {
  const nearest = toStep(raw, lotSize, "nearest");
  if (equal(nearest, raw) || !isPositive(avgPx)) return nearest;
  const digits = avgPx.split(".")[1]?.length ?? 0;
  const most = div(mul(raw, stepOf(digits)), avgPx, places);
  const isNear = (qty: string): boolean => compare(abs(sub(qty, raw)), most) <= 0;
  if (isNear(nearest)) return nearest;
  for (let place = 0; place < places; place++) {
    const qty = toStep(raw, stepOf(place), "nearest");
    if (isNear(qty)) return qty;
  }
  return raw;
};

/** The smallest step with so many fraction digits. */
const stepOf = (digits: number): string => (digits === 0 ? "1" : `0.${"0".repeat(digits - 1)}1`);

/** What an order of anybody has executed by its record. */
export const executedIn = (record: OrderRecord, rules: Rules): Execution => executedOf(record.instId, record, rules);

/** What an order did to position and money; undefined where nothing of it was executed. */
export const tradedBy = (record: OrderRecord, rules: Rules): Traded | undefined => {
  const executed = executedOf(record.instId, record, rules);
  const side = record.side as Side;
  return isZero(executed.filled) ? undefined : { position: broughtBy(side, executed), cash: moneyOf(side, executed) };
};

/** What an order has executed so far, in base and quote currency. */
export const executionOf = ({ record, spec }: Order, rules: Rules): Execution => {
  if (record === undefined) return noExecution;
  const { accFillSz, fee } = record;
  // Nothing was executed, and nothing paid.
  if ((accFillSz === "0" || accFillSz === "") && (fee === "0" || fee === "")) return noExecution;
  return executedOf(spec.instId, record, rules);
};

/** Base currency executed by an order so far. */
export const filledOf = (order: Order, rules: Rules): string => executionOf(order, rules).filled;

export const exposureEntryOf = (
  order: Order,
  source: EntrySource,
  executed = executionOf(order, source),
): ExposureEntry => {
  const { strategy, clOrdId, terms, record, state, change, revision } = order;
  const { spec, qty } = terms;
  const { instId, side, sz, reduceOnly } = spec;
  const { filled, value, cost, feeQty } = executed;
  const open = state.kind !== "closed" && state.kind !== "notExecuted";
  // Only what may still be executed is valued, or sized, by a price.
  const isPriced = open || qty === "";
  const px = spec.px !== "" || !isPriced ? spec.px : (pxOf(record) ?? source.marketPx(instId, side) ?? "");
  const base = qty === "" ? baseOf(instId, sz, px, source) : qty;
  const entry = {
    id: clOrdId,
    strategy,
    instId,
    side,
    px,
    base,
    reduceOnly,
    open,
    revision,
    filled,
    value,
    cost,
    feeQty,
  };
  // Until it is known which of the two it is, it counts as the larger one.
  if (change.kind !== "sent" || px === "") return entry;
  const larger = (a: string, b: string): string => (compare(a, b) >= 0 ? a : b);
  return { ...entry, px: larger(px, change.to.spec.px), base: larger(base, change.to.qty) };
};

/** The average price of a record that has one. */
const pxOf = (record: OrderRecord | undefined): string | undefined => {
  const avgPx = record?.avgPx ?? "";
  return avgPx !== "" && avgPx !== "0" && isPositive(avgPx) ? avgPx : undefined;
};
