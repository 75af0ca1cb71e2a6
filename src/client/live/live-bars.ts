/**
 * Bar builder for one length, from trades or from the service's own minutes.
 *
 * Invariants: bars begin and end by their calendar; a bar is emitted once, after its end; an interval without
 * trades gives no bar; a bar of which something was missed is not emitted. A first bar that began before the
 * subscription is marked as partial. A bar from trades ends on the engine's clock; one from minutes ends when its last
 * minute, or a later one, arrives, and ten seconds after its time where none does.
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import { add, compare } from "../../decimal.ts";
import type { BarCalendar } from "../../market/calendar/bar-calendar.ts";
import type { TextBar } from "../../market/history.ts";

export const minuteMs = 60_000;
/** Longest wait after its end for the data of a bar from minutes. */
const graceMs = 10_000;

interface LiveBar {
  readonly closesAt: number;
  readonly barMs: number;
  readonly bar: TextBar;
  readonly partial: boolean;
}

export class LiveBars {
  readonly #clock: Clock;
  readonly #calendar: BarCalendar;
  readonly #emit: (bar: LiveBar) => void;
  #open: { readonly closesAt: number; readonly bar: TextBar } | undefined;
  #timer: Timer | undefined;
  #wholeFrom = Number.NEGATIVE_INFINITY;
  #lastMinute = Number.NEGATIVE_INFINITY;
  /** Only data from this instant on is used. */
  #since: number;
  /** End of the last bar. */
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, calendar: BarCalendar, emit: (bar: LiveBar) => void) {
    this.#clock = clock;
    this.#calendar = calendar;
    this.#since = clock.now();
    this.#emit = emit;
  }

  trade(at: number, px: string, qty: string): void {
    const closesAt = this.#calendar.endOf(at);
    this.#take(closesAt, { open: px, high: px, low: px, close: px, volume: qty });
    if (this.#open !== undefined) this.#timer ??= this.#clock.setTimer(closesAt, () => this.#finish());
  }

  /** A finished minute of the service that began at `openedAt`, by the service's calendar. */
  minute(openedAt: number, bar: TextBar): void {
    // A new subscription may begin with a minute that arrived before.
    if (openedAt <= this.#lastMinute) return;
    this.#lastMinute = openedAt;
    this.#since = Math.min(this.#since, openedAt);
    const closesAt = this.#calendar.endOf(openedAt);
    this.#take(closesAt, bar);
    if (openedAt + minuteMs >= closesAt) this.#finish();
    else if (this.#open !== undefined) this.#endLater(closesAt - openedAt - minuteMs);
  }

  /**
   * Sets the timer from the last minute on by our clock, because the service's calendar may be ahead of it or behind.
   */
  #endLater(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(this.#clock.now() + ms + graceMs, () => this.#finish());
  }

  /** Called when data of the instant `at` was missed: the bar that contains it is discarded. */
  missed(at: number): void {
    this.#wholeFrom = Math.max(this.#wholeFrom, this.#calendar.endOf(at));
    if (this.#open !== undefined && this.#calendar.openedBy(this.#open.closesAt) < this.#wholeFrom) this.#end();
  }

  /** Forgets the bar being built, and what was missed. */
  reset(): void {
    this.#end();
    this.#wholeFrom = Number.NEGATIVE_INFINITY;
    this.#since = this.#clock.now();
  }

  /** Adds to the bar that ends at `closesAt`; the previous one has ended. */
  #take(closesAt: number, piece: TextBar): void {
    if (this.#open !== undefined && closesAt > this.#open.closesAt) this.#finish();
    if (closesAt <= this.#endedAt || this.#calendar.openedBy(closesAt) < this.#wholeFrom) return;
    this.#open = { closesAt, bar: this.#open === undefined ? piece : joined(this.#open.bar, piece) };
  }

  #finish(): void {
    const done = this.#end();
    if (done === undefined) return;
    const { closesAt, bar } = done;
    this.#endedAt = closesAt;
    const openedAt = this.#calendar.openedBy(closesAt);
    this.#emit({ closesAt, barMs: closesAt - openedAt, bar, partial: openedAt < this.#since });
  }

  #end(): { readonly closesAt: number; readonly bar: TextBar } | undefined {
    const ended = this.#open;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#open = undefined;
    return ended;
  }
}

const joined = (bar: TextBar, piece: TextBar): TextBar => ({
  open: bar.open,
  high: compare(piece.high, bar.high) > 0 ? piece.high : bar.high,
  low: compare(piece.low, bar.low) < 0 ? piece.low : bar.low,
  close: piece.close,
  volume: add(bar.volume, piece.volume),
});
