/** Channels without a pool: the test says what they tell and how they stand. */

import { createLiveMarket } from "../../../src/client/live/live-market.ts";
import { toBaseFor } from "../../../src/client/live/quantities.ts";
import type { SharedChannelOptions } from "../../../src/client/live/shared-channel.ts";
import type { ChannelListener, ChannelState } from "../../../src/client/transport/socket-channel.ts";
import { createVirtualClock, type VirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { SzUnit } from "../../../src/contract/profile.ts";

export const instId = "A-USDT";

interface Subscribed {
  readonly listener: ChannelListener;
  state: ChannelState;
  readonly repairs: string[];
}

export interface Stage {
  readonly clock: VirtualClock;
  readonly market: ReturnType<typeof createLiveMarket>;
  readonly anomalies: string[];
  readonly errors: unknown[];
  /** Channels subscribed now, by name. */
  readonly subscribed: ReadonlyMap<string, Subscribed>;
  /** How often a channel was subscribed. */
  readonly counts: ReadonlyMap<string, number>;
  turn(channel: string, state: ChannelState): void;
  say(channel: string, data: readonly unknown[], action?: string): void;
  pass(ms: number): void;
}

export interface StageOptions {
  readonly szUnit?: SzUnit;
  readonly contractValue?: string;
  readonly channels?: readonly string[];
  readonly listed?: boolean;
  /** Channels are live as soon as they are subscribed. Default true. */
  readonly live?: boolean;
  readonly startAt?: number;
  /** How far the service's calendar is ahead of our clock. */
  readonly aheadMs?: number;
}

export const createStage = (options: StageOptions = {}): Stage => {
  const {
    szUnit = "base",
    contractValue,
    channels = ["trades", "tickers", "books", "candle1m"],
    live = true,
    aheadMs = 0,
  } = options;
  const clock = createVirtualClock(options.startAt ?? 6_000_000);
  const anomalies: string[] = [];
  const errors: unknown[] = [];
  const subscribed = new Map<string, Subscribed>();
  const counts = new Map<string, number>();
  const subscribe: SharedChannelOptions["subscribe"] = ({ channel }, listener) => {
    const one: Subscribed = { listener, state: "waiting", repairs: [] };
    subscribed.set(channel, one);
    counts.set(channel, (counts.get(channel) ?? 0) + 1);
    if (live) turn(channel, "live");
    return {
      get state() {
        return one.state;
      },
      repair: (reason) => {
        one.repairs.push(reason);
        turn(channel, "waiting");
      },
      close: () => subscribed.delete(channel),
    };
  };
  const turn = (channel: string, state: ChannelState): void => {
    const one = subscribed.get(channel);
    if (one === undefined || one.state === state) return;
    one.state = state;
    one.listener.state(state, "test");
  };
  const market = createLiveMarket({
    clock,
    serviceNow: () => clock.now() + aheadMs,
    subscribe,
    channels,
    toBase: toBaseFor(szUnit, () => contractValue),
    isListed: () => options.listed,
    onAnomaly: (what, detail) => anomalies.push(`${what}: ${detail}`),
    onError: (error) => errors.push(error),
  });
  return {
    clock,
    market,
    anomalies,
    errors,
    subscribed,
    counts,
    turn,
    say: (channel, data, action) => {
      const one = subscribed.get(channel);
      if (one?.state === "live") {
        // As from the wire: nobody else holds these objects.
        const copy = structuredClone(data) as readonly unknown[];
        one.listener.message({ arg: { channel, instId }, data: copy, action, seqId: undefined, prevSeqId: undefined });
      }
    },
    pass: (ms) => clock.advanceTo(clock.now() + ms),
  };
};

export const trade = (px: string, sz: string, side = "buy") => ({ instId, tradeId: "1", px, sz, side, ts: "1" });
export const ticker = (bidPx: string, askPx: string, last = "", bidSz = "1", askSz = "1") => ({
  instId,
  last,
  bidPx,
  bidSz,
  askPx,
  askSz,
  ts: "1",
});
export type Levels = readonly (readonly [px: string, sz: string])[];
export const book = (bids: Levels, asks: Levels) => ({ instId, bids, asks, ts: "1" });
export const candle = (openedAt: number, px: string, confirm: "0" | "1" = "1", volume = "1") => ({
  instId,
  ts: String(openedAt),
  open: px,
  high: px,
  low: px,
  close: px,
  volume,
  confirm,
});
