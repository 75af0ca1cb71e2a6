/**
 * Bars of one length for one instrument, built from trades or from shorter recorded bars.
 *
 * Invariants: bars are aligned to multiples of their length since the epoch; a bar is emitted once, after its end, and
 * never changed; a length of time without trades gives no bar; a bar still open when the recording ends is never
 * emitted. The first bar holds what was delivered since the bars were first asked for, which may be less than its whole
 * length.
 */
import { HotStream, type HotStreamOptions } from "./hot-stream.ts";
import type { Candle } from "./market-data.ts";
import { type BarColumns, CandleView, type Scale } from "./views.ts";

/** Built bars are kept in columns of so many rows; a kept bar keeps its columns. */
const bundle = 64;

export class Bars {
  readonly barMs: number;
  readonly stream: HotStream<Candle>;
  /** The end of the bar being built; infinite when there is none. */
  closesAt = Number.POSITIVE_INFINITY;
  readonly #scale: Scale;
  #built: BarColumns;
  /** Where the bar being built stands. */
  #row = 0;

  constructor(scale: Scale, barMs: number, options: HotStreamOptions<Candle>) {
    this.#scale = scale;
    this.barMs = barMs;
    this.stream = new HotStream(options);
    this.#built = barColumns(barMs, bundle);
  }

  /** Takes a trade at `at` into its bar. The caller has emitted the bar before, if it was due. */
  trade(at: number, px: number, qty: number): void {
    if (this.closesAt === Number.POSITIVE_INFINITY) {
      this.closesAt = this.#endOf(at);
      openBar(this.#built, this.#row, px);
    }
    addTrade(this.#built, this.#row, px, qty);
  }

  /**
   * Takes a recorded shorter bar that closed at `closedAt`; emits when it is the last of this length or begins the next
   * one.
   */
  shorter(closedAt: number, bars: BarColumns, from: number): void {
    const end = this.#endOf(closedAt - bars.barMs);
    if (end > this.closesAt) this.emit();
    this.trade(end - this.barMs, bars.open[from] as number, 0);
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
    this.closesAt = Number.POSITIVE_INFINITY;
    // Before it is emitted, because a subscriber may cause the next trade.
    if (row + 1 === bundle) this.#built = barColumns(this.barMs, bundle);
    this.#row = row + 1 === bundle ? 0 : row + 1;
    this.recorded(at, built, row);
  }

  #endOf(at: number): number {
    return (Math.floor(at / this.barMs) + 1) * this.barMs;
  }
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
