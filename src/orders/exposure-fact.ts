/**
 * An order of ours as its exposure sees it: sizes in base currency, values in quote currency, fees as costs.
 *
 * Invariants: whatever the service's `sz` counts, the same trade gives the same fact; an order whose outcome is unknown is open
 * at its full size; a placement that was turned away is not open.
 * Not here: the sums (exposure.ts).
 */
import { instTypeOf } from "../contract/inst-id.ts";
import type { Profile, Side } from "../contract/profile.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { div, isPositive, mul, neg, toStep } from "../decimal.ts";
import type { OrderFact } from "./exposure.ts";
import { isOver, type TrackedOrder } from "./order.ts";

export interface FactSource {
  readonly profile: Profile;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly marketPx: (instId: string, side: Side) => string | undefined;
}

const places = 12;
const amount = (text: string | undefined): string => (text === undefined || text === "" ? "0" : text);

export const factOf = (order: TrackedOrder, { profile, instruments, marketPx }: FactSource): OrderFact => {
  const { strategy, clOrdId, spec, record, phase } = order;
  const { instId, side, sz, reduceOnly } = spec;
  const unit = profile.order.szUnit[instTypeOf(instId)];
  const instrument = instruments().get(instId);
  const avgPx = amount(record?.avgPx);
  const px = spec.px !== "" ? spec.px : isPositive(avgPx) ? avgPx : (marketPx(instId, side) ?? "");
  const baseOf = (count: string, at: string): string => {
    switch (unit) {
      case "base":
        return count;
      case "contracts":
        return mul(count, instrument?.contractValue ?? "1");
      case "quote_notional":
        return isPositive(amount(at)) ? div(count, at, places) : "0";
    }
  };
  const done = amount(record?.accFillSz);
  // The average is cut off somewhere; what was traded is a whole number of lots.
  const raw = baseOf(done, avgPx);
  const filled = unit === "quote_notional" && instrument !== undefined ? toStep(raw, instrument.lotSize, "nearest") : raw;
  const value = unit === "quote_notional" ? done : mul(filled, avgPx);
  const fee = amount(record?.fee);
  const cost = profile.order.feeSign === "negative_is_cost" ? neg(fee) : fee;
  const open = !isOver(order) && phase !== "planned";
  return { id: clOrdId, strategy, instId, side, px, base: baseOf(sz, px), reduceOnly, open, filled, value, cost };
};
