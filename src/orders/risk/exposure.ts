/**
 * Exposure: what our orders have executed and may still execute, by strategy and instrument.
 *
 * Invariants: the sums equal those of all orders taken together; an order counts with its full size until it is known
 * to be closed, and with the larger of both sizes while a change of it may be made; a placement that a rate limit
 * turned away does not count.
 * Not here: executions (orders/executions.ts), what is allowed (risk-limits.ts).
 */
import type { Side } from "../../contract/profile.ts";
import { add, type Decimal, isPositive, max, mul, positive, read, sub, sum, zero } from "../../decimal-value.ts";
import { amountIn, baseOf, broughtBy, type Executed, executionOf, moneyOf, type Rules } from "../executions.ts";
import type { Order } from "../order-state.ts";

export interface EntrySource extends Rules {
  readonly marketPx: (instId: string, side: Side) => string | undefined;
}

/** Contribution of one order to the exposure. */
export interface ExposureEntry extends Executed {
  readonly id: string;
  /** Name of the strategy; empty if the order belongs to none. */
  readonly strategy: string;
  readonly instId: string;
  readonly side: Side;
  /** Price that values the part that is not executed; undefined if no price is known. */
  readonly px: Decimal | undefined;
  /** Whole size in base currency. */
  readonly base: Decimal;
  readonly reduceOnly: boolean;
  /** True while more of it may be executed. */
  readonly isOpen: boolean;
}

/** Exposure in one instrument, by own fills. */
export interface Holding {
  /** Base currency, positive when long. */
  readonly position: Decimal;
  /** Quote currency received less paid, costs included. */
  readonly cash: Decimal;
  /** Base currency that open orders may still buy and sell, without orders that only reduce. */
  readonly buying: Decimal;
  readonly selling: Decimal;
}

const flat: Holding = { position: zero, cash: zero, buying: zero, selling: zero };
/** Number of closed orders that are remembered, so that a repetition does not count twice. */
const closedMax = 4_096;

interface Sums {
  /** Quote currency that open orders may still execute. */
  open: Decimal;
  readonly held: Map<string, Holding>;
}

export const exposureEntryOf = (
  order: Order,
  source: EntrySource,
  executed: Executed = executionOf(order, source),
): ExposureEntry => {
  const { strategy, clOrdId: id, terms, state, change } = order;
  const { spec, qty } = terms;
  const { instId, side, reduceOnly } = spec;
  const { filled, value, cost, feeQty } = executed;
  const isOpen = state.kind !== "closed" && state.kind !== "notExecuted";
  const priced = isOpen || qty === undefined ? pxOf(order, source) : undefined;
  const whole = qty ?? baseOf(instId, read(spec.sz), priced ?? zero, source);
  // A change that may be made counts as made if the order is larger after it.
  const to = change.kind === "sent" || change.kind === "doubtful" ? change.to : undefined;
  const px = to === undefined || priced === undefined ? priced : max(priced, read(to.spec.px));
  const base = max(whole, to?.qty ?? whole);
  return { id, strategy, instId, side, px, base, reduceOnly, isOpen, filled, value, cost, feeQty };
};

/** Limit price, average price of the record, or price of the market; undefined where none is known. */
const pxOf = ({ terms: { spec }, record }: Order, source: EntrySource): Decimal | undefined => {
  if (spec.px !== "") return read(spec.px);
  const average = amountIn(record?.avgPx ?? "");
  if (isPositive(average)) return average;
  const marketPx = source.marketPx(spec.instId, spec.side);
  return marketPx === undefined ? undefined : read(marketPx);
};

/** Base currency that an order may still execute; zero where its record shows more than was estimated. */
export const leftOf = ({ base, filled }: Pick<ExposureEntry, "base" | "filled">): Decimal =>
  positive(sub(base, filled));

const joined = (a: Holding, b: Holding): Holding => ({
  position: add(a.position, b.position),
  cash: add(a.cash, b.cash),
  buying: add(a.buying, b.buying),
  selling: add(a.selling, b.selling),
});

export class Exposure {
  readonly #known = new Map<string, ExposureEntry>();
  readonly #closed = new Set<string>();
  readonly #byStrategy = new Map<string, Sums>();

  /** Counts an order in place of its earlier entry. */
  take(entry: ExposureEntry): void {
    const { id } = entry;
    const before = this.#known.get(id);
    // A closed order stays closed.
    if (before?.isOpen === false && entry.isOpen) return;
    if (before !== undefined) this.#count(before, sub);
    this.#count(entry, add);
    this.#known.set(id, entry);
    if (entry.isOpen) return;
    this.#closed.add(id);
    if (this.#closed.size <= closedMax) return;
    const [oldest = ""] = this.#closed;
    this.#closed.delete(oldest);
    this.#known.delete(oldest);
  }

  /** Adds what closed orders of previous runs executed. */
  inherit(strategy: string, instId: string, held: Pick<Holding, "position" | "cash">): void {
    const { held: holdings } = this.#sumsOf(strategy);
    holdings.set(instId, joined(holdings.get(instId) ?? flat, { ...flat, ...held }));
  }

  /** Books that the account's position in an instrument was closed at this price by no order of ours. */
  close(instId: string, px: Decimal): void {
    for (const { held } of this.#byStrategy.values()) {
      const holding = held.get(instId);
      if (holding === undefined) continue;
      held.set(instId, { ...holding, position: zero, cash: add(holding.cash, mul(holding.position, px)) });
    }
  }

  /** Called when the order was not executed and its id will be used again. */
  forget(id: string): void {
    const before = this.#known.get(id);
    if (before === undefined || isPositive(before.filled)) return;
    this.#count(before, sub);
    this.#known.delete(id);
    this.#closed.delete(id);
  }

  /** Quote currency that open orders of one strategy, or of all, may still execute. */
  openNotional(strategy?: string): Decimal {
    if (strategy !== undefined) return this.#byStrategy.get(strategy)?.open ?? zero;
    return sum([...this.#byStrategy.values()].map(({ open }) => open));
  }

  holding(instId: string, strategy?: string): Holding {
    if (strategy !== undefined) return this.#byStrategy.get(strategy)?.held.get(instId) ?? flat;
    let all = flat;
    for (const { held } of this.#byStrategy.values()) all = joined(all, held.get(instId) ?? flat);
    return all;
  }

  holdings(strategy?: string): ReadonlyMap<string, Holding> {
    if (strategy !== undefined) return this.#byStrategy.get(strategy)?.held ?? new Map();
    const instIds = [...this.#byStrategy.values()].flatMap(({ held }) => [...held.keys()]);
    return new Map(instIds.map((instId) => [instId, this.holding(instId)]));
  }

  strategies(): readonly string[] {
    return [...this.#byStrategy.keys()];
  }

  #sumsOf(strategy: string): Sums {
    let sums = this.#byStrategy.get(strategy);
    if (sums === undefined) {
      sums = { open: zero, held: new Map() };
      this.#byStrategy.set(strategy, sums);
    }
    return sums;
  }

  #count(entry: ExposureEntry, by: typeof add): void {
    const { strategy, instId, side, px, reduceOnly } = entry;
    const sums = this.#sumsOf(strategy);
    const left = entry.isOpen ? leftOf(entry) : zero;
    const { position, cash, buying, selling } = sums.held.get(instId) ?? flat;
    if (px !== undefined) sums.open = by(sums.open, mul(left, px));
    sums.held.set(instId, {
      position: by(position, broughtBy(side, entry)),
      cash: by(cash, moneyOf(side, entry)),
      buying: side === "buy" && !reduceOnly ? by(buying, left) : buying,
      selling: side === "sell" && !reduceOnly ? by(selling, left) : selling,
    });
  }
}
