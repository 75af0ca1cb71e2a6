/**
 * Positions of strategies by their own fills, at average cost, and the fills that make them up.
 *
 * Invariants: each increase of what an order's record says was executed is booked once, so a position is to the last
 * digit the sum of its fills; an order whose strategy is not known yet is booked when it is; exact decimals.
 * Not here: the arithmetic (average-cost.ts), limits (risk/exposure.ts), the account's own positions (orders/state).
 */
import { readInstId } from "../contract/inst-id.ts";
import type { OrdType } from "../contract/profile.ts";
import { abs, add, compare, div, equal, isPositive, isZero, mul, neg, sub, toStep } from "../decimal.ts";
import { evenQuotient, RunningSum } from "../decimal-units.ts";
import type { EventDraft } from "../journal/events.ts";
import type { BookedPosition, ClosedPart } from "../journal/holdings.ts";
import { addToHolding, averagePxOf, createHolding, type Holding, holdingOf, unrealisedOf } from "./average-cost.ts";
import { isClosed, type Order } from "./order-state.ts";
import { broughtBy, type EntrySource, type Executed, type Execution, executionOf } from "./risk/exposure-entry.ts";

/**
 * What a strategy holds of an instrument by its own fills. Decimal text; funding and liquidations of the account are
 * not in it.
 */
export interface Position {
  /** Instrument id, such as `BTC-USDT-SWAP`. */
  readonly instId: string;
  /** Base currency, negative short. */
  readonly qty: string;
  /** Average entry price, at most 12 fraction digits; "0" while nothing is held. */
  readonly avgPx: string;
  /**
   * What closing it would meet as last quoted: the bid for a long position, the ask for a short one. The average entry
   * price while there is no quote, "0" while nothing is held.
   */
  readonly markPx: string;
  /** Settle currency of the four amounts: the quote currency of the instrument. */
  readonly currency: string;
  /** Profit of what is held at `markPx`, before fees. */
  readonly unrealised: string;
  /** Profit of what was closed, at average cost, before fees. */
  readonly realised: string;
  /** Fees paid, a positive cost; below zero where rebates were more. */
  readonly fees: string;
  /** `realised` + `unrealised` - `fees`. */
  readonly profit: string;
}

export type FillBody = Extract<EventDraft, { readonly type: "fill" }>;

interface Book {
  readonly strategy: string;
  readonly instId: string;
  readonly currency: string;
  holding: Holding;
  fees: RunningSum;
  /** Of orders that are not over. */
  readonly open: Map<string, Executed>;
}

const places = 12;
/** A price as near to a tick as this part of it was on the tick: records cut off their average. */
const nearTick = "0.001";
const nothing: Executed = { filled: "0", value: "0", cost: "0" };
const overMax = 4_096;
const flat = { qty: "0", avgPx: "0" } as const;

export class Positions {
  readonly #source: EntrySource;
  readonly #books = new Map<string, Map<string, Book>>();
  /** Orders of previous runs that were not seen by this one yet are told as recovered. */
  readonly #seen = new Set<string>();
  readonly #over = new Set<string>();
  #listeners: readonly ((strategy: string) => void)[] = [];

  constructor(source: EntrySource) {
    this.#source = source;
  }

  /**
   * Books what an order has executed since it was last looked at; `owner` is its strategy, empty while that is not
   * known.
   */
  take(order: Order, owner: string, now = executionOf(order, this.#source)): FillBody | undefined {
    const { clOrdId, spec, wanted } = order;
    const isRecovered = wanted === undefined && !this.#seen.has(clOrdId);
    if (owner === "" || this.#over.has(clOrdId)) return undefined;
    if (wanted === undefined) this.#seen.add(clOrdId);
    if (!now.isAny && !this.#books.get(owner)?.get(spec.instId)?.open.has(clOrdId)) {
      if (this.#seen.size > 0 && isClosed(order)) this.#seen.delete(clOrdId);
      return undefined;
    }
    const book = this.#books.get(owner)?.get(spec.instId) ?? this.#bookOf(owner, spec.instId);
    const fill = this.#add(book, order, now, isRecovered);
    if (isClosed(order)) {
      book.open.delete(clOrdId);
      this.#seen.delete(clOrdId);
      this.#over.add(clOrdId);
      if (this.#over.size > overMax) this.#forgetOldest();
    }
    return fill;
  }

  /** Whether something was executed for the strategy, or a journal told what it holds. */
  has(strategy: string, instId: string): boolean {
    return this.#books.get(strategy)?.has(instId) === true;
  }

  of(strategy: string, instId: string): Position {
    return this.#positionOf(this.#books.get(strategy)?.get(instId) ?? emptyBook(strategy, instId));
  }

  /** What a strategy holds of an instrument and at what average price, in base currency, negative short. */
  netOf(strategy: string, instId: string): Pick<Position, "qty" | "avgPx"> {
    const holding = this.#books.get(strategy)?.get(instId)?.holding;
    return holding === undefined ? flat : { qty: holding.qty, avgPx: averagePxOf(holding) };
  }

  /** Every instrument a strategy has traded, by id. */
  all(strategy: string): ReadonlyMap<string, Position> {
    return new Map(
      [...(this.#books.get(strategy)?.values() ?? [])].map((book) => [book.instId, this.#positionOf(book)]),
    );
  }

  /** Profit in each settle currency, of all strategies when none is named. */
  equity(strategy?: string): ReadonlyMap<string, string> {
    const sums = new Map<string, string>();
    for (const [name, books] of this.#books) {
      if (strategy !== undefined && name !== strategy) continue;
      for (const book of books.values()) {
        const { currency, profit } = this.#positionOf(book);
        sums.set(currency, add(sums.get(currency) ?? "0", profit));
      }
    }
    return sums;
  }

  /** Instruments of which a strategy, or any where none is named, holds something. */
  heldInstruments(strategy?: string): ReadonlySet<string> {
    const all =
      strategy === undefined ? [...this.#books.values()] : [this.#books.get(strategy) ?? new Map<string, Book>()];
    const books = all.flatMap((byInstrument) => [...byInstrument]);
    return new Set(books.filter(([, { holding }]) => !isZero(holding.qty)).map(([instId]) => instId));
  }

  /** As the journal keeps it; undefined where a strategy has not traded it. */
  booked(strategy: string, instId: string): BookedPosition | undefined {
    const book = this.#books.get(strategy)?.get(instId);
    if (book === undefined) return undefined;
    const { qty, entry, realised } = book.holding;
    const open = [...book.open].map(([clOrdId, { filled, value, cost, feeQty }]) => {
      const booked = feeQty === undefined ? ([filled, value, cost] as const) : ([filled, value, cost, feeQty] as const);
      return [clOrdId, booked] as const;
    });
    return { qty, entry, realised, fees: book.fees.text, open: Object.fromEntries(open) };
  }

  /**
   * What a previous run left. Increases of several orders after its last record are booked as their records are found,
   * so that profit as a whole is exact, and how it divides into realised and unrealised may depend on that order.
   */
  inherit(strategy: string, instId: string, { qty, entry, realised, fees, open }: BookedPosition): void {
    const book = this.#bookOf(strategy, instId);
    book.holding = holdingOf({ qty, entry, realised });
    book.fees = new RunningSum(fees);
    for (const [clOrdId, [filled, value, cost, feeQty]] of Object.entries(open))
      book.open.set(clOrdId, { filled, value, cost, feeQty });
  }

  /** Whatever a strategy has traded, or held by a journal. */
  instruments(): ReadonlySet<string> {
    return new Set([...this.#books.values()].flatMap((books) => [...books.keys()]));
  }

  /** Who holds something of an instrument, and how much. */
  holders(instId: string): readonly { readonly strategy: string; readonly qty: string }[] {
    return [...this.#books].flatMap(([strategy, books]) => {
      const qty = books.get(instId)?.holding.qty ?? "0";
      return isZero(qty) ? [] : [{ strategy, qty }];
    });
  }

  /** A part of what a strategy holds was closed by no order of its own; returns its currency and what is held then. */
  close({ strategy, instId, side, px, qty, cost }: ClosedPart): Pick<FillBody, "currency" | "position"> {
    const book = this.#bookOf(strategy, instId);
    addToHolding(book.holding, { side, px, qty });
    book.fees.add(cost);
    return { currency: book.currency, position: book.holding.qty };
  }

  /** Calls `listener` with each strategy whose position has changed; the returned function ends that. */
  listen(listener: (strategy: string) => void): () => void {
    const own = (strategy: string): void => {
      listener(strategy);
    };
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  tell(strategy: string): void {
    const listeners = this.#listeners;
    for (let index = 0; index < listeners.length; index++) (listeners[index] as (strategy: string) => void)(strategy);
  }

  #add(book: Book, order: Order, now: Execution, isRecovered: boolean): FillBody | undefined {
    const { clOrdId, ordId, slot, spec, record } = order;
    const { feeSign } = this.#source.profile.order;
    const before = book.open.get(clOrdId) ?? nothing;
    const isFirst = before === nothing;
    const executed = isFirst ? now.filled : sub(now.filled, before.filled);
    const feeQty = sub(now.feeQty ?? "0", before.feeQty ?? "0");
    if (executed === "0" || executed.startsWith("-")) {
      if (executed === "0") this.#addFee(book, order, before, now);
      return undefined;
    }
    const value = isFirst ? now.value : sub(now.value, before.value);
    const tick = now.instrument?.tickSize;
    let onTick: string | undefined;
    if (isFirst && now.px !== "") onTick = now.px;
    else if (tick !== undefined) onTick = evenQuotient(value, executed, tick);
    const px = onTick ?? pxOf(value, executed, now.filled, tick, record?.avgPx ?? "");
    const qty = feeQty === "0" ? executed : abs(broughtBy(spec.side, { ...now, filled: executed, feeQty }));
    const cost = feeQty === "0" ? (isFirst ? now.cost : sub(now.cost, before.cost)) : mul(px, feeQty);
    addToHolding(book.holding, { side: spec.side, px, qty });
    book.fees.add(cost);
    if (!isClosed(order)) {
      // A price that comes out even gives the value again.
      const booked = onTick === undefined ? mul(px, executed) : value;
      book.open.set(clOrdId, {
        filled: now.filled,
        value: isFirst ? booked : add(before.value, booked),
        cost: now.cost,
        feeQty: now.feeQty,
      });
    }
    return {
      seq: 0,
      at: 0,
      type: "fill",
      strategy: book.strategy,
      slot,
      instId: spec.instId,
      clOrdId,
      ordId,
      side: spec.side,
      px,
      qty,
      fee: isFirst && feeQty === "0" ? now.fee : feeSign === "negative_is_cost" ? neg(cost) : cost,
      cost,
      ...(feeQty !== "0" && { feeQty }),
      currency: book.currency,
      liquidity: liquidityOf[spec.ordType],
      position: book.holding.qty,
      recovered: isRecovered,
    };
  }

  /** The fee of what was executed has become known, or was corrected: one in base currency leaves less to hold. */
  #addFee(book: Book, { clOrdId }: Order, before: Executed, now: Execution): void {
    const { holding } = book;
    const feeQty = sub(now.feeQty ?? "0", before.feeQty ?? "0");
    const cost = sub(now.cost, before.cost);
    if (cost === "0") return;
    // Money or coins, all of it is paid: coins are given up at what they cost.
    if (feeQty !== "0")
      addToHolding(holding, {
        side: isPositive(feeQty) ? "sell" : "buy",
        px: div(cost, feeQty, places),
        qty: abs(feeQty),
      });
    book.fees.add(cost);
    book.open.set(clOrdId, { ...before, cost: now.cost, feeQty: now.feeQty });
  }

  #positionOf({ instId, currency, holding, fees: { text: fees } }: Book): Position {
    const { qty, realised } = holding;
    const avgPx = averagePxOf(holding);
    const isFlat = isZero(qty);
    const quoted = isFlat ? "0" : this.#source.marketPx(instId, isPositive(qty) ? "sell" : "buy");
    const unrealised = quoted === undefined || isFlat ? "0" : unrealisedOf(holding, quoted);
    const profit = sub(add(realised, unrealised), fees);
    return Object.freeze({ instId, qty, avgPx, markPx: quoted ?? avgPx, currency, unrealised, realised, fees, profit });
  }

  #bookOf(strategy: string, instId: string): Book {
    let books = this.#books.get(strategy);
    if (books === undefined) {
      books = new Map();
      this.#books.set(strategy, books);
    }
    let book = books.get(instId);
    if (book === undefined) {
      book = emptyBook(strategy, instId);
      books.set(instId, book);
    }
    return book;
  }

  #forgetOldest(): void {
    const [oldest] = this.#over;
    this.#over.delete(oldest as string);
  }
}

const emptyBook = (strategy: string, instId: string): Book => ({
  strategy,
  instId,
  currency: currencyOf(instId),
  holding: createHolding(),
  fees: new RunningSum(),
  open: new Map(),
});

/** Price of an increase: on the tick where the record's cut average allows it, else to 12 fraction digits. */
const pxOf = (value: string, qty: string, filled: string, tick: string | undefined, avgPx: string): string => {
  const px = div(value, qty, places);
  if (tick === undefined || !isPositive(tick)) return px;
  const near = toStep(px, tick, "nearest");
  if (equal(near, px)) return near;
  const off = abs(sub(mul(near, qty), value));
  const fraction = avgPx.includes(".") ? avgPx.length - avgPx.indexOf(".") - 1 : 0;
  const cut = fraction === 0 ? filled : mul(filled, `0.${"0".repeat(fraction - 1)}1`);
  return compare(off, cut) < 0 && compare(off, mul(mul(tick, nearTick), qty)) < 0 ? near : px;
};

const currencyOf = (instId: string): string => readInstId(instId)?.quote ?? "";

const liquidityOf: Readonly<Record<OrdType, "maker" | "taker" | undefined>> = {
  post_only: "maker",
  market: "taker",
  ioc: "taker",
  fok: "taker",
  limit: undefined,
};
