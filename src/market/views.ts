/**
 * The objects strategies receive: decimal text made when it is read, from whole ticks and lots.
 *
 * Invariants: an object never changes (what it holds is private and set once, and rows of a series are final); every
 * kind has one shape; text is exact. A trade, quote or bar names its row instead of copying it: who keeps one keeps the
 * columns of its series. Fields are getters on the class, so `{ ...trade }` copies nothing: use `{ ...trade.toJSON()
 * }`, which is also what `JSON.stringify` and `console.log` show.
 */
import { inspect } from "node:util";
import { type Grid, grid, mul } from "../decimal.ts";
import type { BarCalendar } from "./calendar/bar-calendar.ts";
import type { BookLevel, BookView, Candle, Quote, Trade } from "./market-data.ts";
import type { CandleSeries, QuoteSeries, TapeInstrument, TradeSeries } from "./tape/tape.ts";

/** Spelling of the counts of one instrument. `half` is half a tick, the grid on which the mid price lies. */
export interface Scale {
  readonly instId: string;
  readonly tick: Grid;
  readonly half: Grid;
  readonly lot: Grid;
}

export const scaleOf = ({ instId, tickSize, lotSize }: TapeInstrument): Scale => ({
  instId,
  tick: grid(tickSize),
  half: grid(mul(tickSize, "0.5")),
  lot: grid(lotSize),
});

export class TradeView implements Trade {
  readonly #scale: Scale;
  readonly #series: TradeSeries;
  readonly #row: number;
  readonly #at: number;
  /** A row of a series, which does not change any more, delivered at `at`. */
  constructor(scale: Scale, series: TradeSeries, row: number, at: number) {
    this.#scale = scale;
    this.#series = series;
    this.#row = row;
    this.#at = at;
  }
  get instId(): string {
    return this.#scale.instId;
  }
  get at(): number {
    return this.#at;
  }
  get side(): "buy" | "sell" {
    return (this.#series.side[this.#row] as number) > 0 ? "buy" : "sell";
  }
  get px(): string {
    return this.#scale.tick.format(this.#series.px[this.#row] as number);
  }
  get qty(): string {
    return this.#scale.lot.format(this.#series.qty[this.#row] as number);
  }
  get pxFloat(): number {
    return this.#scale.tick.approximate(this.#series.px[this.#row] as number);
  }
  get qtyFloat(): number {
    return this.#scale.lot.approximate(this.#series.qty[this.#row] as number);
  }
  toJSON(): Trade {
    const { instId, at, side, px, qty, pxFloat, qtyFloat } = this;
    return { instId, at, side, px, qty, pxFloat, qtyFloat };
  }
  [inspect.custom](): Trade {
    return this.toJSON();
  }
}

export class QuoteView implements Quote {
  readonly #scale: Scale;
  readonly #series: QuoteSeries;
  readonly #row: number;
  readonly #at: number;
  constructor(scale: Scale, series: QuoteSeries, row: number, at: number) {
    this.#scale = scale;
    this.#series = series;
    this.#row = row;
    this.#at = at;
  }
  get instId(): string {
    return this.#scale.instId;
  }
  get at(): number {
    return this.#at;
  }
  get bidPx(): string {
    return this.#scale.tick.format(this.#series.bidPx[this.#row] as number);
  }
  get bidQty(): string {
    return this.#scale.lot.format(this.#series.bidQty[this.#row] as number);
  }
  get askPx(): string {
    return this.#scale.tick.format(this.#series.askPx[this.#row] as number);
  }
  get askQty(): string {
    return this.#scale.lot.format(this.#series.askQty[this.#row] as number);
  }
  get mid(): string {
    return this.#scale.half.format(this.#doubleMid);
  }
  get bidFloat(): number {
    return this.#scale.tick.approximate(this.#series.bidPx[this.#row] as number);
  }
  get askFloat(): number {
    return this.#scale.tick.approximate(this.#series.askPx[this.#row] as number);
  }
  get midFloat(): number {
    return this.#scale.half.approximate(this.#doubleMid);
  }
  get #doubleMid(): number {
    return (this.#series.bidPx[this.#row] as number) + (this.#series.askPx[this.#row] as number);
  }
  toJSON(): Quote {
    const { instId, at, bidPx, bidQty, askPx, askQty, mid, bidFloat, askFloat, midFloat } = this;
    return { instId, at, bidPx, bidQty, askPx, askQty, mid, bidFloat, askFloat, midFloat };
  }
  [inspect.custom](): Quote {
    return this.toJSON();
  }
}

/** Bars of one length in ticks and lots, as they are recorded and built. */
export interface BarColumns extends Pick<CandleSeries, "barMs" | "open" | "high" | "low" | "close" | "volume"> {
  /** Set where bars are not all equally long. */
  readonly calendar?: BarCalendar;
}

/** Returns the instant at which the bar began that closed at `closedAt`. */
export const openedBy = ({ calendar, barMs }: BarColumns, closedAt: number): number =>
  calendar === undefined ? closedAt - barMs : calendar.openedBy(closedAt);

export class CandleView implements Candle {
  readonly #scale: Scale;
  readonly #bars: BarColumns;
  readonly #row: number;
  readonly #at: number;
  readonly #partial: boolean;
  /** A row that does not change any more, closed at `at`. */
  constructor(scale: Scale, bars: BarColumns, row: number, at: number, partial = false) {
    this.#scale = scale;
    this.#bars = bars;
    this.#row = row;
    this.#at = at;
    this.#partial = partial;
  }
  get instId(): string {
    return this.#scale.instId;
  }
  get at(): number {
    return this.#at;
  }
  get openedAt(): number {
    return openedBy(this.#bars, this.#at);
  }
  get partial(): boolean {
    return this.#partial;
  }
  get open(): string {
    return this.#scale.tick.format(this.#bars.open[this.#row] as number);
  }
  get high(): string {
    return this.#scale.tick.format(this.#bars.high[this.#row] as number);
  }
  get low(): string {
    return this.#scale.tick.format(this.#bars.low[this.#row] as number);
  }
  get close(): string {
    return this.#scale.tick.format(this.#bars.close[this.#row] as number);
  }
  get volume(): string {
    return this.#scale.lot.format(this.#bars.volume[this.#row] as number);
  }
  get openFloat(): number {
    return this.#scale.tick.approximate(this.#bars.open[this.#row] as number);
  }
  get highFloat(): number {
    return this.#scale.tick.approximate(this.#bars.high[this.#row] as number);
  }
  get lowFloat(): number {
    return this.#scale.tick.approximate(this.#bars.low[this.#row] as number);
  }
  get closeFloat(): number {
    return this.#scale.tick.approximate(this.#bars.close[this.#row] as number);
  }
  toJSON(): Candle {
    const { instId, at, openedAt, open, high, low, close, volume, openFloat, highFloat, lowFloat, closeFloat } = this;
    const bar = { instId, at, openedAt, open, high, low, close, volume, openFloat, highFloat, lowFloat, closeFloat };
    return this.#partial ? { ...bar, partial: true } : bar;
  }
  [inspect.custom](): Candle {
    return this.toJSON();
  }
}

/** A level of a book. Books share those that did not change between them. */
export class BookLevelView implements BookLevel {
  readonly #scale: Scale;
  readonly #px: number;
  readonly #qty: number;
  constructor(scale: Scale, px: number, qty: number) {
    this.#scale = scale;
    this.#px = px;
    this.#qty = qty;
  }
  get px(): string {
    return this.#scale.tick.format(this.#px);
  }
  get qty(): string {
    return this.#scale.lot.format(this.#qty);
  }
  toJSON(): BookLevel {
    const { px, qty } = this;
    return { px, qty };
  }
  [inspect.custom](): BookLevel {
    return this.toJSON();
  }
}

export class BookSnapshot implements BookView {
  readonly #instId: string;
  readonly #at: number;
  readonly #depth: number;
  readonly #worstBids: readonly BookLevel[];
  readonly #worstAsks: readonly BookLevel[];
  #bids: readonly BookLevel[] | undefined;
  #asks: readonly BookLevel[] | undefined;
  /** Levels come worst first, in lists that do not change any more; the best `depth` are shown. */
  constructor(instId: string, at: number, bids: readonly BookLevel[], asks: readonly BookLevel[], depth: number) {
    this.#instId = instId;
    this.#at = at;
    this.#worstBids = bids;
    this.#worstAsks = asks;
    this.#depth = depth;
  }
  get instId(): string {
    return this.#instId;
  }
  get at(): number {
    return this.#at;
  }
  get bids(): readonly BookLevel[] {
    this.#bids ??= bestFirst(this.#worstBids, this.#depth);
    return this.#bids;
  }
  get asks(): readonly BookLevel[] {
    this.#asks ??= bestFirst(this.#worstAsks, this.#depth);
    return this.#asks;
  }
  toJSON(): BookView {
    const { instId, at, bids, asks } = this;
    return { instId, at, bids, asks };
  }
  [inspect.custom](): BookView {
    return this.toJSON();
  }
}

// Frozen, because all subscribers read the same list.
const bestFirst = (levels: readonly BookLevel[], depth: number): readonly BookLevel[] =>
  Object.freeze((depth < levels.length ? levels.slice(levels.length - depth) : levels).toReversed());
