/**
 * Exposure: what our open orders may still execute, by strategy and instrument.
 *
 * Invariants: the sums equal those of all open orders taken together; an order counts with its full size until it is
 * known to be closed, and with the larger of both sizes while a change of it may be made; a placement that a rate limit
 * turned away does not count.
 * Not here: what was executed (orders/positions.ts), what is allowed (risk-limits.ts).
 */
import type { Side } from "../../contract/profile.ts";
import {
  add,
  type Decimal,
  isPositive,
  isZero,
  max,
  mul,
  positive,
  read,
  sub,
  sum,
  zero,
} from "../../decimal-value.ts";
import { amountIn, baseOf, type Executed, executionOf, type Rules } from "../executions.ts";
import type { Order } from "../order-state.ts";

export interface EntrySource extends Rules {
  readonly marketPx: (instId: string, side: Side) => string | undefined;
}

/** Contribution of one order to the exposure. */
export interface ExposureEntry {
  readonly id: string;
  /** Name of the strategy; empty if the order belongs to none. */
  readonly strategy: string;
  readonly instId: string;
  readonly side: Side;
  /** Price that values it; undefined if no price is known. */
  readonly px: Decimal | undefined;
  /**
   * Base currency that may still be executed; zero for an order that is over, and where the record shows more than was
   * estimated.
   */
  readonly left: Decimal;
  readonly reduceOnly: boolean;
}

/** Base currency that open orders may still buy and sell, without orders that only reduce. */
export interface OpenSizes {
  readonly buying: Decimal;
  readonly selling: Decimal;
}

const nothing: OpenSizes = { buying: zero, selling: zero };

interface Sums {
  /** Quote currency that open orders may still execute. */
  open: Decimal;
  readonly sizes: Map<string, OpenSizes>;
}

export const exposureEntryOf = (
  order: Order,
  source: EntrySource,
  { filled }: Pick<Executed, "filled"> = executionOf(order, source),
): ExposureEntry => {
  const { strategy, clOrdId: id, terms, state, change } = order;
  const { spec, qty } = terms;
  const { instId, side, reduceOnly } = spec;
  const entry = { id, strategy, instId, side, reduceOnly };
  if (state.kind === "closed" || state.kind === "notExecuted") return { ...entry, px: undefined, left: zero };
  const priced = pxOf(order, source);
  const whole = qty ?? baseOf(instId, read(spec.sz), priced ?? zero, source);
  // A change that may be made counts as made if the order is larger after it.
  const to = change.kind === "sent" || change.kind === "doubtful" ? change.to : undefined;
  const px = to === undefined || priced === undefined ? priced : max(priced, read(to.spec.px));
  return { ...entry, px, left: positive(sub(max(whole, to?.qty ?? whole), filled)) };
};

/** Limit price, average price of the record, or price of the market; undefined where none is known. */
const pxOf = ({ terms: { spec }, record }: Order, source: EntrySource): Decimal | undefined => {
  if (spec.px !== "") return read(spec.px);
  const average = amountIn(record?.avgPx ?? "");
  if (isPositive(average)) return average;
  const marketPx = source.marketPx(spec.instId, spec.side);
  return marketPx === undefined ? undefined : read(marketPx);
};

export class Exposure {
  readonly #open = new Map<string, ExposureEntry>();
  readonly #byStrategy = new Map<string, Sums>();

  /** Counts an order in place of its earlier entry. */
  take(entry: ExposureEntry): void {
    const { id, left } = entry;
    const before = this.#open.get(id);
    if (before !== undefined) this.#count(before, sub);
    this.#open.delete(id);
    if (isZero(left)) return;
    this.#count(entry, add);
    this.#open.set(id, entry);
  }

  /** Quote currency that open orders of one strategy, or of all, may still execute. */
  openNotional(strategy?: string): Decimal {
    if (strategy !== undefined) return this.#byStrategy.get(strategy)?.open ?? zero;
    return sum([...this.#byStrategy.values()].map(({ open }) => open));
  }

  /** Sizes of open orders of one strategy, or of all, in an instrument. */
  sizes(instId: string, strategy?: string): OpenSizes {
    if (strategy !== undefined) return this.#byStrategy.get(strategy)?.sizes.get(instId) ?? nothing;
    const all = [...this.#byStrategy.values()].map(({ sizes }) => sizes.get(instId) ?? nothing);
    return { buying: sum(all.map(({ buying }) => buying)), selling: sum(all.map(({ selling }) => selling)) };
  }

  #count({ strategy, instId, side, px, left, reduceOnly }: ExposureEntry, by: typeof add): void {
    let sums = this.#byStrategy.get(strategy);
    if (sums === undefined) {
      sums = { open: zero, sizes: new Map() };
      this.#byStrategy.set(strategy, sums);
    }
    if (px !== undefined) sums.open = by(sums.open, mul(left, px));
    if (reduceOnly) return;
    const { buying, selling } = sums.sizes.get(instId) ?? nothing;
    const isBuy = side === "buy";
    sums.sizes.set(instId, { buying: isBuy ? by(buying, left) : buying, selling: isBuy ? selling : by(selling, left) });
  }
}
