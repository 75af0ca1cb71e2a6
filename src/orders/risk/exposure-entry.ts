/**
 * An order of ours as its exposure sees it: sizes in base currency, values in quote currency, fees as costs.
 *
 * Invariants: whatever the service's `sz` counts, the same trade gives the same fact; an order whose outcome is unknown is open
 * at its full size; a placement that was turned away is not open.
 * Not here: the sums (exposure.ts).
 */
import { instTypeOf } from "../../contract/inst-id.ts";
import type { Profile, Side } from "../../contract/profile.ts";
import type { InstrumentRecord, OrderRecord } from "../../contract/schemas.ts";
import { abs, compare, div, equal, isPositive, isZero, mul, neg, sub, toStep } from "../../decimal.ts";
import { evenQuotient } from "../../decimal-units.ts";
import { isOver, type TrackedOrder } from "../tracked-order.ts";
import type { ExposureEntry, Holding } from "./exposure.ts";

export interface EntrySource {
  readonly profile: Profile;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly marketPx: (instId: string, side: Side) => string | undefined;
}

const places = 12;
const amount = (text: string | undefined): string => (text === undefined || text === "" ? "0" : text);

type Rules = Pick<EntrySource, "profile" | "instruments">;

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

export type Executed = Pick<ExposureEntry, "filled" | "value" | "cost">;

const nothing: Executed = { filled: "0", value: "0", cost: "0" };

interface LastExecuted {
  record: OrderRecord | undefined;
  profile: Profile | undefined;
  instrument: InstrumentRecord | undefined;
  executed: Executed;
}

/** Of the record asked about last: one order's is asked about several times in a row. */
const last: LastExecuted = { record: undefined, profile: undefined, instrument: undefined, executed: nothing };

const executedOf = (instId: string, record: OrderRecord | undefined, rules: Rules): Executed => {
  if (record === undefined) return nothing;
  const { profile } = rules;
  const instrument = rules.instruments().get(instId);
  if (last.record !== record || last.profile !== profile || last.instrument !== instrument) {
    last.executed = executedBy(instId, record, instrument, rules);
    last.record = record;
    last.profile = profile;
    last.instrument = instrument;
  }
  return last.executed;
};

const executedBy = (instId: string, record: OrderRecord, instrument: InstrumentRecord | undefined, rules: Rules): Executed => {
  const { profile } = rules;
  const done = amount(record.accFillSz);
  if (done === "0") return { filled: "0", value: "0", cost: costOf(record, profile) };
  const avgPx = amount(record.avgPx);
  const inMoney = profile.order.szUnit[instTypeOf(instId)] === "quote_notional";
  const lotSize = inMoney ? instrument?.lotSize : undefined;
  const filled = lotSize === undefined ? baseOf(instId, done, avgPx, rules) : lotsBought(instId, done, avgPx, lotSize, rules);
  return { filled, value: inMoney ? done : mul(filled, avgPx), cost: costOf(record, profile) };
};

/** What an amount of money bought at this price on average. */
const lotsBought = (instId: string, done: string, avgPx: string, lotSize: string, rules: Rules): string =>
  evenQuotient(done, avgPx, lotSize) ?? inLots(baseOf(instId, done, avgPx, rules), avgPx, lotSize);

/**
 * A quantity worked out from an amount and an average price that is cut off somewhere: what was traded is a whole number of lots, of those
 * of its time. Where the present ones are too far off, the fewest fraction digits that the average allows.
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

const costOf = ({ fee }: OrderRecord, { order }: Profile): string => {
  const paid = amount(fee);
  return order.feeSign === "negative_is_cost" ? neg(paid) : paid;
};

/** What an order did to position and money; undefined where nothing of it was executed. */
export const tradedBy = (record: OrderRecord, rules: Rules): Traded | undefined => {
  const { filled, value, cost } = executedOf(record.instId, record, rules);
  if (isZero(filled)) return undefined;
  return record.side === "buy" ? { position: filled, cash: sub(neg(value), cost) } : { position: neg(filled), cash: sub(value, cost) };
};

/** What an order has executed so far, in base and quote currency. */
export const executionOf = ({ record, spec }: TrackedOrder, rules: Rules): Executed => executedOf(spec.instId, record, rules);

/** Base currency executed by an order so far. */
export const filledOf = ({ record, spec }: TrackedOrder, rules: Rules): string => executedOf(spec.instId, record, rules).filled;

export const exposureEntryOf = (order: TrackedOrder, source: EntrySource): ExposureEntry => {
  const { strategy, clOrdId, spec, record, phase, amendment, revision } = order;
  const { instId, side, sz, reduceOnly } = spec;
  const avgPx = amount(record?.avgPx);
  const px = spec.px !== "" ? spec.px : isPositive(avgPx) ? avgPx : (source.marketPx(instId, side) ?? "");
  const open = !isOver(order) && phase !== "planned";
  const base = order.qty === "" ? baseOf(instId, sz, px, source) : order.qty;
  const entry = { id: clOrdId, strategy, instId, side, px, base, reduceOnly, open, revision, ...executedOf(instId, record, source) };
  // Until it is known which of the two it is, it counts as the larger one.
  if (amendment?.sent !== true || px === "") return entry;
  const larger = (a: string, b: string): string => (compare(a, b) >= 0 ? a : b);
  return { ...entry, px: larger(px, amendment.spec.px), base: larger(base, amendment.qty) };
};
