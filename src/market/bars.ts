/**
 * Bars of one length for one instrument, built from trades or from shorter recorded bars.
 *
 * Invariants: bars begin and end by their calendar; a bar is emitted once, after its end, and never changed; no
 * bar holds data from after its end; a length of time without trades gives no bar; a bar still open when the recording
 * ends is never emitted. A bar that began before the first data is marked as partial.
 * Not here: when bars begin (calendar/bar-calendar.ts), which recorded bars build them (bar-sources.ts).
 */
import { type AskedBars, BarCalendar, gridName } from "./calendar/bar-calendar.ts";
import { HotStream, type HotStreamOptions } from "./hot-stream.ts";
import type { Candle } from "./market-data.ts";
import { type BarColumns, CandleView, type Scale } from "./views.ts";

/** Built bars are kept in columns of so many rows; a kept bar keeps its columns. */
const bundle = 64;

export class Bars {
  readonly asked: AskedBars;
  readonly stream: HotStream<Candle>;
  /** The end of the bar being built; infinite when there is none. */
  closesAt = Number.POSITIVE_INFINITY;
  /**
   * Time at which it is emitted even when nothing arrives: at its end where it is built from trades, after a gap in
   * recorded bars where it is built from them.
   */
  dueAt = Number.POSITIVE_INFINITY;
  /** All data from here on reaches the bars. */
  wholeFrom = Number.POSITIVE_INFINITY;
  #calendar: BarCalendar;
  readonly #scale: Scale;
  #built: BarColumns;
  /** State of the bar being built. */
  #row = 0;

  constructor(scale: Scale, asked: AskedBars, options: HotStreamOptions<Candle>) {
    this.#scale = scale;
    this.asked = asked;
    this.stream = new HotStream(options);
    this.#calendar = new BarCalendar(asked.grid);
    this.#built = columnsOf(this.#calendar);
  }

  /** From now on bars begin by `calendar`. A bar that is being built ends as it began. */
  follow(calendar: BarCalendar): void {
    if (gridName(calendar.grid) === gridName(this.#calendar.grid)) return;
    this.#calendar = calendar;
    this.#row = 0;
    this.#built = columnsOf(calendar);
    this.closesAt = Number.POSITIVE_INFINITY;
    this.dueAt = Number.POSITIVE_INFINITY;
  }

  /** Takes a trade at `at` into its bar. The caller has emitted the bar before, if it was due. */
  trade(at: number, px: number, qty: number): void {
    if (this.closesAt === Number.POSITIVE_INFINITY) {
      this.#open(this.#calendar.endOf(at), at, px);
      this.dueAt = this.closesAt;
    }
    addTrade(this.#built, this.#row, px, qty);
  }

  #open(closesAt: number, at: number, px: number): void {
    this.closesAt = closesAt;
    if (this.wholeFrom === Number.POSITIVE_INFINITY) this.wholeFrom = at;
    openBar(this.#built, this.#row, px);
  }

  /**
   * Takes a recorded shorter bar; emits when it is the last of this length or begins the next one. Where the one after
   * it, at `nextAt`, lies beyond the end, the bar is due at its end.
   */
  shorter({ openedAt, closedAt, lateMs, nextAt }: ShorterBar, bars: BarColumns, from: number): void {
    const end = this.#calendar.endBy(closedAt);
    if (end > this.closesAt) this.emit();
    if (this.closesAt === Number.POSITIVE_INFINITY) this.#open(end, openedAt, bars.open[from] as number);
    this.dueAt = nextAt > end ? end + lateMs : Number.POSITIVE_INFINITY;
    const { high, low, close, volume } = this.#built;
    const row = this.#row;
    high[row] = Math.max(high[row] as number, bars.high[from] as number);
    low[row] = Math.min(low[row] as number, bars.low[from] as number);
    close[row] = bars.close[from] as number;
    volume[row] = (volume[row] as number) + (bars.volume[from] as number);
    if (closedAt >= end) this.emit();
  }

  /** A bar of exactly this length as recorded. */
  recorded(closedAt: number, bars: BarColumns, row: number): void {
    if (this.stream.observed) this.stream.next(new CandleView(this.#scale, bars, row, closedAt));
  }

  /** Ends the bar being built and emits it. */
  emit(): void {
    const at = this.closesAt;
    const built = this.#built;
    const row = this.#row;
    const isPartial = this.#calendar.openedBy(at) < this.wholeFrom;
    this.closesAt = Number.POSITIVE_INFINITY;
    this.dueAt = Number.POSITIVE_INFINITY;
    // Before it is emitted, because a subscriber may cause the next trade.
    if (row + 1 === bundle) this.#built = columnsOf(this.#calendar);
    this.#row = row + 1 === bundle ? 0 : row + 1;
    if (this.stream.observed) this.stream.next(new CandleView(this.#scale, built, row, at, isPartial));
  }
}

const columnsOf = (calendar: BarCalendar): BarColumns => {
  const columns = barColumns(calendar.barMs, bundle);
  return calendar.isFixed ? columns : { ...columns, calendar };
};

/** Place of a shorter bar, and the time of the next one. */
interface ShorterBar {
  readonly openedAt: number;
  readonly closedAt: number;
  /** Delay between its end and its delivery. */
  readonly lateMs: number;
  /** Time at which the next one closes; the same as `closedAt` where that is not known. */
  readonly nextAt: number;
}

/** Columns for bars that are built one after the other. */
export const barColumns = (barMs: number, rows: number): BarColumns => ({
  barMs,
  open: new Float64Array(rows),
  high: new Float64Array(rows),
  low: new Float64Array(rows),
  close: new Float64Array(rows),
  volume: new Float64Array(rows),
});

/** Begins the bar in `row` at a price, without volume. */
export const openBar = ({ open, high, low, volume }: BarColumns, row: number, px: number): void => {
  open[row] = px;
  high[row] = px;
  low[row] = px;
  volume[row] = 0;
};

export const addTrade = ({ high, low, close, volume }: BarColumns, row: number, px: number, qty: number): void => {
  if (px > (high[row] as number)) high[row] = px;
  if (px < (low[row] as number)) low[row] = px;
  close[row] = px;
  volume[row] = (volume[row] as number) + qty;
};
