/**
 * Positions of strategies by their own fills, at average cost, and the fills that make them up.
 *
 * Invariants: each increase of the executed quantity of an order's record is booked once, so that a position is exactly
 * the sum of its fills; an order whose strategy is not known yet is booked when it is known.
 * Not here: the arithmetic (average-cost.ts), what is open (risk/exposure.ts), the account's own positions (orders/state).
 */
import { readInstId } from "../contract/inst-id.ts";
import type { OrdType, Side } from "../contract/profile.ts";
import {
  abs,
  add,
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
import type { EventDraft } from "../journal/events.ts";
import type { BookedPosition, ClosedPart } from "../journal/holdings.ts";
import { averagePxOf, type Holding, noHolding, unrealisedOf, withFill } from "./average-cost.ts";
import { broughtBy, type Executed, type Execution, executionOf, moneyOf, noExecution } from "./executions.ts";
import { Listeners } from "./listeners.ts";
import { isClosed, type Order } from "./order-state.ts";
import type { EntrySource } from "./risk/exposure.ts";
import { nothingTraded, type Traded, TradedSums } from "./traded-sums.ts";

/**
 * Position of a strategy in an instrument by its own fills. Decimal text; funding and liquidations of the account are
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
   * Price at which the position could be closed, as last quoted: the bid for a long position, the ask for a short one.
   * The average entry price while there is no quote, "0" while nothing is held.
   */
  readonly markPx: string;
  /** Settle currency of the four amounts: the quote currency of the instrument. */
  readonly currency: string;
  /** Profit of the open position at `markPx`, before fees. */
  readonly unrealised: string;
  /** Profit of closed quantities, at average cost, before fees. */
  readonly realised: string;
  /** Fees paid, a positive cost; negative where rebates exceeded the fees. */
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
  fees: Decimal;
  /** Executions of orders that are not closed. */
  readonly open: Map<string, Executed>;
}

interface Unowned {
  readonly instId: string;
  readonly traded: Traded;
}

const places = 12;
/**
 * A price this close to a tick, as a part of the tick, lies on the tick: records cut off the digits of their average.
 */
const nearTick = read("0.001");
const closedMax = 4_096;

export class Positions {
  readonly #source: EntrySource;
  readonly #books = new Map<string, Map<string, Book>>();
  /** Orders of previous runs that this run has seen. The first fill of any other order is reported as recovered. */
  readonly #seen = new Set<string>();
  readonly #closed = new Set<string>();
  /** Executions without a known strategy: of orders by client order id, and of previous runs by instrument. */
  readonly #unowned = new Map<string, Unowned>();
  /** Sums of each strategy; those of executions without a known strategy have the empty name. */
  readonly #sums = new Map<string, TradedSums>();
  /** Sums of all strategies and of executions without a known strategy. */
  readonly #sumsOfAll = new TradedSums();
  readonly #listeners = new Listeners<[strategy: string]>();

  constructor(source: EntrySource) {
    this.#source = source;
  }

  /**
   * Books the increase of an order's execution since the last call. `owner` is its strategy, empty if that is not known
   * yet.
   */
  take(order: Order, owner: string, now = executionOf(order, this.#source)): FillBody | undefined {
    const {
      clOrdId,
      terms: { spec, wanted },
    } = order;
    const isRecovered = wanted === undefined && !this.#seen.has(clOrdId);
    if (this.#closed.has(clOrdId)) return undefined;
    if (owner === "") {
      if (now.isAny) this.#setUnowned(clOrdId, { instId: spec.instId, traded: tradedIn(spec.side, now) });
      return undefined;
    }
    this.#dropUnowned(clOrdId);
    if (wanted === undefined) this.#seen.add(clOrdId);
    const known = this.#books.get(owner)?.get(spec.instId);
    const isBooked = now.isAny || known?.open.has(clOrdId) === true;
    const book = isBooked ? (known ?? this.#bookOf(owner, spec.instId)) : undefined;
    const fill = book && this.#add(book, order, now, isRecovered);
    if (isClosed(order)) this.#close(clOrdId, book);
    return fill;
  }

  /**
   * Called when an order is closed. If something was booked for it, it is remembered, so that a repetition does not
   * count twice.
   */
  #close(clOrdId: string, book: Book | undefined): void {
    this.#seen.delete(clOrdId);
    if (book === undefined) return;
    book.open.delete(clOrdId);
    this.#closed.add(clOrdId);
    if (this.#closed.size > closedMax) this.#closed.delete(this.#closed.values().next().value as string);
  }

  /** Returns whether a strategy has traded the instrument, in this run or according to the journal. */
  has(strategy: string, instId: string): boolean {
    return this.#books.get(strategy)?.has(instId) === true;
  }

  of(strategy: string, instId: string): Position {
    return this.#positionOf(this.#books.get(strategy)?.get(instId) ?? emptyBook(strategy, instId));
  }

  /** Quantity of a strategy's position in base currency, negative short, and its average price. */
  netOf(strategy: string, instId: string): { readonly qty: Decimal; readonly avgPx: Decimal } {
    const holding = this.#books.get(strategy)?.get(instId)?.holding ?? noHolding;
    return { qty: holding.qty, avgPx: averagePxOf(holding) };
  }

  /** Quantity of a strategy's position in base currency, negative short. */
  qtyOf(strategy: string, instId: string): Decimal {
    return this.#books.get(strategy)?.get(instId)?.holding.qty ?? zero;
  }

  /** Quantity of all strategies together and of executions without a known strategy. */
  netQty(instId: string): Decimal {
    return this.#sumsOfAll.of(instId).position;
  }

  /** Sums by instrument, of one strategy, or of all and of executions without a known strategy. */
  tradedBy(strategy?: string): TradedSums {
    return strategy === undefined ? this.#sumsOfAll : this.#sumsOf(strategy);
  }

  /** Strategies that have traded, in this run or according to the journal. */
  strategies(): readonly string[] {
    return [...this.#books.keys()];
  }

  /** Every instrument a strategy has traded, by id. */
  all(strategy: string): ReadonlyMap<string, Position> {
    const books = [...(this.#books.get(strategy)?.values() ?? [])];
    return new Map(books.map((book) => [book.instId, this.#positionOf(book)]));
  }

  /** Profit by settle currency, of one strategy or of all. */
  equity(strategy?: string): ReadonlyMap<string, string> {
    const sums = new Map<string, Decimal>();
    for (const book of this.#booksOf(strategy)) {
      sums.set(book.currency, add(sums.get(book.currency) ?? zero, this.#valueOf(book).profit));
    }
    return new Map([...sums].map(([currency, profit]) => [currency, spell(profit)]));
  }

  /**
   * Instruments in which a strategy has an open position; if none is named, those of all strategies and of executions
   * without a known strategy.
   */
  heldInstruments(strategy?: string): ReadonlySet<string> {
    const sums = strategy === undefined ? this.#sums.values() : [this.#sumsOf(strategy)];
    const held = new Set<string>();
    for (const { open } of sums) for (const instId of open.keys()) held.add(instId);
    return held;
  }

  /** The position as the journal keeps it; undefined if the strategy has not traded the instrument. */
  booked(strategy: string, instId: string): BookedPosition | undefined {
    const book = this.#books.get(strategy)?.get(instId);
    if (book === undefined) return undefined;
    const { qty, entry, realised } = book.holding;
    const open = [...book.open].map(([clOrdId, { filled, value, cost, feeQty }]) => {
      const amounts = [spell(filled), spell(value), spell(cost)] as const;
      return [clOrdId, feeQty === undefined ? amounts : ([...amounts, spell(feeQty)] as const)] as const;
    });
    return {
      qty: spell(qty),
      entry: spell(entry),
      realised: spell(realised),
      fees: spell(book.fees),
      open: Object.fromEntries(open),
    };
  }

  /**
   * Takes over a position of a previous run. If several orders executed more after its last record, the increases are
   * booked as their records are found. The total profit is exact, but its division into realised and unrealised may
   * depend on that sequence.
   */
  inherit(strategy: string, instId: string, { qty, entry, realised, fees, open }: BookedPosition): void {
    const book = this.#bookOf(strategy, instId);
    this.#book(book, { qty: read(qty), entry: read(entry), realised: read(realised) }, read(fees));
    for (const [clOrdId, [filled, value, cost, feeQty]] of Object.entries(open)) {
      const fee = feeQty === undefined ? undefined : read(feeQty);
      book.open.set(clOrdId, { filled: read(filled), value: read(value), cost: read(cost), feeQty: fee });
    }
  }

  /** Takes over what a previous run traded without a known strategy. */
  inheritUnowned(instId: string, traded: Traded): void {
    this.#setUnowned(instId, { instId, traded });
  }

  /** Books that the account's position was closed at this price, for executions without a known strategy. */
  closeUnowned(instId: string, px: Decimal): void {
    for (const [id, { instId: of, traded }] of this.#unowned) {
      const { position, cash } = traded;
      if (of === instId)
        this.#setUnowned(id, { instId, traded: { position: zero, cash: add(cash, mul(position, px)) } });
    }
  }

  /** Instruments that any strategy has traded in this run or according to the journal. */
  instruments(): ReadonlySet<string> {
    return new Set(this.#booksOf().map(({ instId }) => instId));
  }

  /** Strategies with an open position in the instrument, and its quantity as decimal text. */
  holders(instId: string): readonly { readonly strategy: string; readonly qty: string }[] {
    return [...this.#books].flatMap(([strategy, books]) => {
      const qty = books.get(instId)?.holding.qty ?? zero;
      return isZero(qty) ? [] : [{ strategy, qty: spell(qty) }];
    });
  }

  /**
   * Books that a part of a position was closed by no order of its strategy. Returns its currency and the remaining
   * position.
   */
  close({ strategy, instId, side, px, qty, cost }: ClosedPart): Pick<FillBody, "currency" | "position"> {
    const book = this.#bookOf(strategy, instId);
    const fill = { side, px: read(px), qty: read(qty) };
    this.#book(book, withFill(book.holding, fill), add(book.fees, read(cost)));
    return { currency: book.currency, position: spell(book.holding.qty) };
  }

  /** Calls `listener` with each strategy whose position has changed; the returned function ends that. */
  listen(listener: (strategy: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  tell(strategy: string): void {
    this.#listeners.call(strategy);
  }

  #add(book: Book, order: Order, now: Execution, isRecovered: boolean): FillBody | undefined {
    const { clOrdId, ordId, slot, spec } = order;
    const { side, instId, ordType } = spec;
    const before = book.open.get(clOrdId) ?? noExecution;
    const executed = sub(now.filled, before.filled);
    if (isZero(executed)) this.#addFee(book, clOrdId, before, now);
    if (!isPositive(executed)) return undefined;
    const px = priceOf(sub(now.value, before.value), executed, now);
    const feeQty = sub(now.feeQty ?? zero, before.feeQty ?? zero);
    const isMoney = isZero(feeQty);
    const qty = isMoney ? executed : abs(broughtBy(side, { filled: executed, feeQty }));
    const cost = isMoney ? sub(now.cost, before.cost) : mul(px, feeQty);
    this.#book(book, withFill(book.holding, { side, px, qty }), add(book.fees, cost));
    // The value is computed from the booked price, so that the next increase adds exactly the difference.
    const value = add(before.value, mul(px, executed));
    if (!isClosed(order)) book.open.set(clOrdId, { filled: now.filled, value, cost: now.cost, feeQty: now.feeQty });
    return {
      seq: 0,
      at: 0,
      type: "fill",
      strategy: book.strategy,
      slot,
      instId,
      clOrdId,
      ordId,
      side,
      px: spell(px),
      qty: spell(qty),
      fee: spell(this.#source.profile.order.feeSign === "negative_is_cost" ? neg(cost) : cost),
      cost: spell(cost),
      feeQty: isMoney ? undefined : spell(feeQty),
      currency: book.currency,
      liquidity: liquidityOf[ordType],
      position: spell(book.holding.qty),
      recovered: isRecovered,
    };
  }

  /** Books a fee that has become known or was corrected. A fee in base currency reduces the position. */
  #addFee(book: Book, clOrdId: string, before: Executed, now: Executed): void {
    const cost = sub(now.cost, before.cost);
    if (isZero(cost)) return;
    const feeQty = sub(now.feeQty ?? zero, before.feeQty ?? zero);
    const side = isPositive(feeQty) ? "sell" : "buy";
    // Base currency is deducted at its value.
    const holding = isZero(feeQty)
      ? book.holding
      : withFill(book.holding, { side, px: div(cost, feeQty, places), qty: abs(feeQty) });
    this.#book(book, holding, add(book.fees, cost));
    book.open.set(clOrdId, { ...before, cost: now.cost, feeQty: now.feeQty });
  }

  /** Changes a book, and the sums with it. */
  #book(book: Book, holding: Holding, fees: Decimal): void {
    const before = tradedOf(book);
    book.holding = holding;
    book.fees = fees;
    this.#change(book.strategy, book.instId, before, tradedOf(book));
  }

  #setUnowned(id: string, { instId, traded }: Unowned): void {
    const before = this.#unowned.get(id)?.traded ?? nothingTraded;
    this.#unowned.set(id, { instId, traded });
    this.#change("", instId, before, traded);
  }

  #dropUnowned(id: string): void {
    const known = this.#unowned.get(id);
    if (known === undefined) return;
    this.#unowned.delete(id);
    this.#change("", known.instId, known.traded, nothingTraded);
  }

  /** Replaces the part `before` of the sums of one strategy and of all by `after`. */
  #change(strategy: string, instId: string, before: Traded, after: Traded): void {
    this.#sumsOf(strategy).change(instId, before, after);
    this.#sumsOfAll.change(instId, before, after);
  }

  #sumsOf(strategy: string): TradedSums {
    let sums = this.#sums.get(strategy);
    if (sums === undefined) {
      sums = new TradedSums();
      this.#sums.set(strategy, sums);
    }
    return sums;
  }

  /** Value of a position at the price at which it could be closed; `markPx` is undefined without a quote. */
  #valueOf({ instId, holding, fees }: Book): {
    readonly markPx: string | undefined;
    readonly unrealised: Decimal;
    readonly profit: Decimal;
  } {
    const { qty, realised } = holding;
    const isFlat = isZero(qty);
    const markPx = isFlat ? "0" : this.#source.marketPx(instId, isPositive(qty) ? "sell" : "buy");
    const unrealised = markPx === undefined || isFlat ? zero : unrealisedOf(holding, read(markPx));
    return { markPx, unrealised, profit: sub(add(realised, unrealised), fees) };
  }

  #positionOf(book: Book): Position {
    const { instId, currency, holding, fees } = book;
    const { qty, realised } = holding;
    const avgPx = spell(averagePxOf(holding));
    const { markPx = avgPx, unrealised, profit } = this.#valueOf(book);
    return Object.freeze({
      instId,
      qty: spell(qty),
      avgPx,
      markPx,
      currency,
      unrealised: spell(unrealised),
      realised: spell(realised),
      fees: spell(fees),
      profit: spell(profit),
    });
  }

  #booksOf(strategy?: string): readonly Book[] {
    const all = strategy === undefined ? [...this.#books.values()] : [this.#books.get(strategy) ?? new Map()];
    return all.flatMap((books: ReadonlyMap<string, Book>) => [...books.values()]);
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
}

const tradedIn = (side: Side, executed: Executed): Traded => ({
  position: broughtBy(side, executed),
  cash: moneyOf(side, executed),
});

const tradedOf = ({ holding: { qty, entry, realised }, fees }: Book): Traded => ({
  position: qty,
  cash: sub(sub(realised, entry), fees),
});

const emptyBook = (strategy: string, instId: string): Book => ({
  strategy,
  instId,
  currency: readInstId(instId)?.quote ?? "",
  holding: noHolding,
  fees: zero,
  open: new Map(),
});

/** Price of an increase: on the tick where the precision of the record's average allows it, else to 12 places. */
const priceOf = (value: Decimal, qty: Decimal, { filled, avgPx, instrument }: Execution): Decimal => {
  const px = div(value, qty, places);
  const tick = instrument === undefined ? zero : read(instrument.tickSize);
  if (!isPositive(tick)) return px;
  const near = toStep(px, tick, "nearest");
  if (equal(near, px)) return near;
  const off = abs(sub(mul(near, qty), value));
  const cut = mul(filled, { units: 1, places: avgPx.places });
  return compare(off, cut) < 0 && compare(off, mul(mul(tick, nearTick), qty)) < 0 ? near : px;
};

const liquidityOf: Readonly<Record<OrdType, "maker" | "taker" | undefined>> = {
  post_only: "maker",
  market: "taker",
  ioc: "taker",
  fok: "taker",
  limit: undefined,
};
