/**
 * Bars of one length, built from trades as they come or from the service's own minutes.
 *
 * Invariants: bars are aligned to multiples of their length since the epoch; a bar is emitted once, after its end; a time
 * without trades gives no bar; a bar in which something was missed is not emitted. The first bar holds what was told since the
 * bars were first asked for, which may be less than its whole length.
 * A bar from trades ends by itself on the engine's clock, one from minutes when the minute that ends it, or a later one, is told.
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import { add, compare } from "../../decimal.ts";
import type { TextBar } from "./field-values.ts";

export const minuteMs = 60_000;

export interface LiveBars {
  trade(at: number, px: string, qty: string): void;
  /** A finished minute of the service that began at `openedAt`, by the service's calendar. */
  minute(openedAt: number, bar: TextBar): void;
  /** Something that happened at `at` was missed: the bar it fell into is worthless. */
  missed(at: number): void;
  /** Forgets the bar being built, and what was missed. */
  reset(): void;
}

interface LiveBarsOptions {
  readonly clock: Clock;
  readonly barMs: number;
  readonly emit: (closedAt: number, bar: TextBar) => void;
}

export const createLiveBars = ({ clock, barMs, emit }: LiveBarsOptions): LiveBars => {
  let open: { readonly closesAt: number; bar: TextBar } | undefined;
  let timer: Timer | undefined;
  let wholeFrom = Number.NEGATIVE_INFINITY;
  let lastMinute = Number.NEGATIVE_INFINITY;

  const endOf = (at: number): number => (Math.floor(at / barMs) + 1) * barMs;
  const finish = (): void => {
    timer?.cancel();
    timer = undefined;
    const done = open;
    open = undefined;
    if (done !== undefined) emit(done.closesAt, done.bar);
  };
  /** Adds to the bar that ends at `closesAt`; the one before it is over. */
  const take = (closesAt: number, piece: TextBar): void => {
    if (open !== undefined && closesAt > open.closesAt) finish();
    if (closesAt - barMs < wholeFrom) return;
    open = { closesAt, bar: open === undefined ? piece : joined(open.bar, piece) };
  };
  const discard = (): void => {
    timer?.cancel();
    timer = undefined;
    open = undefined;
  };
  return {
    trade: (at, px, qty) => {
      const closesAt = endOf(at);
      take(closesAt, { open: px, high: px, low: px, close: px, volume: qty });
      if (open !== undefined && timer === undefined) timer = clock.setTimer(closesAt, finish);
    },
    minute: (openedAt, bar) => {
      // A new subscription may begin with a minute that was told before.
      if (openedAt <= lastMinute) return;
      lastMinute = openedAt;
      const closesAt = endOf(openedAt);
      take(closesAt, bar);
      if (openedAt + minuteMs >= closesAt) finish();
    },
    missed: (at) => {
      wholeFrom = Math.max(wholeFrom, endOf(at));
      if (open !== undefined && open.closesAt - barMs < wholeFrom) discard();
    },
    reset: () => {
      discard();
      wholeFrom = Number.NEGATIVE_INFINITY;
    },
  };
};

const joined = (bar: TextBar, piece: TextBar): TextBar => ({
  open: bar.open,
  high: compare(piece.high, bar.high) > 0 ? piece.high : bar.high,
  low: compare(piece.low, bar.low) < 0 ? piece.low : bar.low,
  close: piece.close,
  volume: add(bar.volume, piece.volume),
});
