/**
 * The bars of one minute that a served market shows: the one that is running, and each when it is over.
 *
 * Invariants: bars begin with the clock's minutes; a bar shows the trades shown in its minute, except that a recorded bar, where
 * there is one, is what is shown at its end; the running bar is shown at most once a second, and only after it changed; nothing is shown of a minute without trades.
 * Not here: who calls `tick` every second (market-replay.ts).
 */
import type { CandleMessage } from "../../contract/channels.ts";
import type { Scale } from "../../market/views.ts";

export const minuteMs = 60_000;

export interface ReplayBars {
  trade(px: number, qty: number, at: number): void;
  /** Shows the running bar when it changed, or its end when it is over. */
  tick(at: number): void;
  /** The recorded bar that ends now; it opened at `opened`. */
  closed(bar: MinuteBar, opened: number, at: number): void;
  /** Whether a bar is running that `tick` has to end. */
  readonly running: boolean;
}

/** Prices in ticks, volume in lots. */
export interface MinuteBar {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

/** Where `opensAt` is given, bars are recorded and it tells when the one that holds an instant opened; undefined for none. */
export const createReplayBars = (
  { instId, tick, lot }: Scale,
  show: (bar: CandleMessage, at: number) => void,
  opensAt?: (at: number) => number | undefined,
): ReplayBars => {
  let bar: MinuteBar | undefined;
  let openedAt = 0;
  let changed = false;
  const message = ({ open, high, low, close, volume }: MinuteBar, confirm: "0" | "1"): CandleMessage => ({
    instId,
    ts: String(Math.round(openedAt)),
    open: tick.format(open),
    high: tick.format(high),
    low: tick.format(low),
    close: tick.format(close),
    volume: lot.format(volume),
    confirm,
  });
  const end = (last: MinuteBar, at: number): void => {
    show(message(last, "1"), at);
    bar = undefined;
    changed = false;
  };
  const overdue = (at: number): boolean => opensAt === undefined && at >= openedAt + minuteMs;
  return {
    trade: (px, qty, at) => {
      if (bar !== undefined && overdue(at)) end(bar, at);
      if (bar === undefined) {
        const opened = opensAt === undefined ? Math.floor(at / minuteMs) * minuteMs : opensAt(at);
        if (opened === undefined) return;
        openedAt = opened;
        bar = { open: px, high: px, low: px, close: px, volume: 0 };
      }
      bar = { open: bar.open, high: Math.max(bar.high, px), low: Math.min(bar.low, px), close: px, volume: bar.volume + qty };
      changed = true;
    },
    tick: (at) => {
      if (bar === undefined) return;
      if (overdue(at)) end(bar, at);
      else if (changed) show(message(bar, "0"), at);
      changed = false;
    },
    closed: (recorded, opened, at) => {
      openedAt = opened;
      end(recorded, at);
    },
    get running() {
      return bar !== undefined && (opensAt === undefined || changed);
    },
  };
};
