/**
 * Bar builder for one length, from trades or from the service's own minutes.
 *
 * Invariants: bars are aligned to multiples of their length since the epoch; a bar is emitted once, after its end; an
 * interval without trades gives no bar; an incomplete bar is not emitted. The first bar begins with the subscription,
 * which may be in the middle of it. A bar from trades ends on the engine's clock; one from minutes ends when its last
 * minute, or a later one, arrives.
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import { add, compare } from "../../decimal.ts";
import type { TextBar } from "../../market/history.ts";

export const minuteMs = 60_000;

export class LiveBars {
  readonly #clock: Clock;
  readonly #barMs: number;
  readonly #emit: (closedAt: number, bar: TextBar) => void;
  #open: { readonly closesAt: number; readonly bar: TextBar } | undefined;
  #timer: Timer | undefined;
  #wholeFrom = Number.NEGATIVE_INFINITY;
  #lastMinute = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, barMs: number, emit: (closedAt: number, bar: TextBar) => void) {
    this.#clock = clock;
    this.#barMs = barMs;
    this.#emit = emit;
  }

  trade(at: number, px: string, qty: string): void {
    const closesAt = this.#endOf(at);
    this.#take(closesAt, { open: px, high: px, low: px, close: px, volume: qty });
    if (this.#open !== undefined) this.#timer ??= this.#clock.setTimer(closesAt, () => this.#finish());
  }

  /** A finished minute of the service that began at `openedAt`, by the service's calendar. */
  minute(openedAt: number, bar: TextBar): void {
    // A new subscription may begin with a minute that arrived before.
    if (openedAt <= this.#lastMinute) return;
    this.#lastMinute = openedAt;
    const closesAt = this.#endOf(openedAt);
    this.#take(closesAt, bar);
    if (openedAt + minuteMs >= closesAt) this.#finish();
  }

  /** Something that happened at `at` was missed: the bar it fell into is worthless. */
  missed(at: number): void {
    this.#wholeFrom = Math.max(this.#wholeFrom, this.#endOf(at));
    if (this.#open !== undefined && this.#open.closesAt - this.#barMs < this.#wholeFrom) this.#end();
  }

  /** Forgets the bar being built, and what was missed. */
  reset(): void {
    this.#end();
    this.#wholeFrom = Number.NEGATIVE_INFINITY;
  }

  /** Adds to the bar that ends at `closesAt`; the previous one has ended. */
  #take(closesAt: number, piece: TextBar): void {
    if (this.#open !== undefined && closesAt > this.#open.closesAt) this.#finish();
    if (closesAt - this.#barMs < this.#wholeFrom) return;
    this.#open = { closesAt, bar: this.#open === undefined ? piece : joined(this.#open.bar, piece) };
  }

  #finish(): void {
    const done = this.#end();
    if (done !== undefined) this.#emit(done.closesAt, done.bar);
  }

  #end(): { readonly closesAt: number; readonly bar: TextBar } | undefined {
    const ended = this.#open;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#open = undefined;
    return ended;
  }

  #endOf(at: number): number {
    return (Math.floor(at / this.#barMs) + 1) * this.#barMs;
  }
}

const joined = (bar: TextBar, piece: TextBar): TextBar => ({
  open: bar.open,
  high: compare(piece.high, bar.high) > 0 ? piece.high : bar.high,
  low: compare(piece.low, bar.low) < 0 ? piece.low : bar.low,
  close: piece.close,
  volume: add(bar.volume, piece.volume),
});
