/**
 * Bars of one length for one instrument, built from trades or from shorter recorded bars.
 *
 * Invariants: bars are aligned to multiples of their length since the epoch; a bar is emitted once, after its end, and never
 * changed; a length of time without trades gives no bar; a bar still open when the recording ends is never emitted.
 * The first bar holds what was delivered since the bars were first asked for, which may be less than its whole length.
 */
import { HotStream, type HotStreamOptions } from "./hot-stream.ts";
import type { Candle } from "./market-data.ts";
import { type Bar, CandleView, type Scale } from "./views.ts";

export class Bars {
  readonly barMs: number;
  readonly stream: HotStream<Candle>;
  /** The end of the bar being built; infinite when there is none. */
  closesAt = Number.POSITIVE_INFINITY;
  readonly #scale: Scale;
  #open = 0;
  #high = 0;
  #low = 0;
  #close = 0;
  #volume = 0;

  constructor(scale: Scale, barMs: number, options: HotStreamOptions<Candle>) {
    this.#scale = scale;
    this.barMs = barMs;
    this.stream = new HotStream(options);
  }

  /** Takes a trade at `at` into its bar. The caller has emitted the bar before, if it was due. */
  trade(at: number, px: number, qty: number): void {
    if (this.closesAt === Number.POSITIVE_INFINITY) {
      this.closesAt = this.#endOf(at);
      this.#open = px;
      this.#high = px;
      this.#low = px;
      this.#volume = 0;
    }
    if (px > this.#high) this.#high = px;
    if (px < this.#low) this.#low = px;
    this.#close = px;
    this.#volume += qty;
  }

  /** Takes a recorded shorter bar that closed at `closedAt`; emits when it is the last of this length or begins the next one. */
  shorter(closedAt: number, shorterMs: number, bar: Bar): void {
    const end = this.#endOf(closedAt - shorterMs);
    if (end > this.closesAt) this.emit();
    this.trade(end - this.barMs, bar.open, 0);
    this.#high = Math.max(this.#high, bar.high);
    this.#low = Math.min(this.#low, bar.low);
    this.#close = bar.close;
    this.#volume += bar.volume;
    if (closedAt >= end) this.emit();
  }

  /** A bar of exactly this length as recorded. */
  recorded(closedAt: number, bar: Bar): void {
    if (this.stream.observed) this.stream.next(new CandleView(this.#scale, closedAt, this.barMs, bar));
  }

  /** Ends the bar being built and emits it. */
  emit(): void {
    const at = this.closesAt;
    this.closesAt = Number.POSITIVE_INFINITY;
    this.recorded(at, { open: this.#open, high: this.#high, low: this.#low, close: this.#close, volume: this.#volume });
  }

  #endOf(at: number): number {
    return (Math.floor(at / this.barMs) + 1) * this.barMs;
  }
}
