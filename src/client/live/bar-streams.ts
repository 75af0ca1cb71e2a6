/**
 * Bars of one instrument, of every length somebody asked for: whole minutes from candle1m, other lengths from trades, and minutes
 * from trades too where candle1m is refused.
 *
 * Invariants: a bar never mixes the two sources; one in which something was missed is not emitted, except that a minute the
 * service tells is whole whatever we missed. A bar from minutes carries the service's own instants and its volume as told.
 */
import { plain } from "../../decimal.ts";
import { checkBarLength } from "../../market/bar-length.ts";
import type { HotStream } from "../../market/hot-stream.ts";
import type { Candle } from "../../market/market-data.ts";
import { candleOf } from "./field-values.ts";
import type { InstrumentParts } from "./instrument-market.ts";
import { LiveBars, minuteMs } from "./live-bars.ts";
import type { SharedChannelState } from "./shared-channel.ts";
import { WatchedStream } from "./watched-stream.ts";

interface BarStreams {
  readonly of: (barMs: number) => HotStream<Candle>;
  stop(): void;
}

interface Length {
  readonly barMs: number;
  readonly bars: LiveBars;
  readonly stream: WatchedStream<Candle>;
  listened: boolean;
}

export const createBarStreams = (parts: InstrumentParts): BarStreams => {
  const { instId, clock, serviceNow, trades, minutes, toBase, onPx } = parts;
  const lengths = new Map<number, Length>();
  const listened = (): readonly Length[] => [...lengths.values()].filter((length) => length.listened);
  const isOfMinutes = ({ barMs }: Length): boolean => barMs % minuteMs === 0;
  const fromTrades = (): readonly Length[] => listened().filter((length) => minutes.refused || !isOfMinutes(length));
  const fromMinutes = (): readonly Length[] => (minutes.refused ? [] : listened().filter(isOfMinutes));
  const missed = (of: readonly Length[], at: number): void => {
    for (const { bars } of of) bars.missed(at);
  };
  const choose = (): void => {
    holdMinutes(listened().some(isOfMinutes));
    holdTrades(fromTrades().length > 0);
  };
  const tradesLost = createLossWatch();
  const holdTrades = trades.join({
    take: ({ records }) => {
      const at = clock.now();
      for (const { px, sz } of records) {
        const qty = toBase(instId, sz, px);
        if (qty !== undefined) for (const { bars } of fromTrades()) bars.trade(at, px, qty);
      }
    },
    state: (state) => {
      if (tradesLost(state)) missed(fromTrades(), clock.now());
    },
  });
  const minutesLost = createLossWatch();
  let wasRefused = false;
  const holdMinutes = minutes.join({
    take: ({ records }) => {
      for (const { ts, open, high, low, close, volume, confirm } of records) {
        onPx(plain(close));
        if (confirm === "1") for (const { bars } of fromMinutes()) bars.minute(Number(ts), { open, high, low, close, volume });
      }
    },
    state: (state) => {
      const longer = listened().filter((length) => isOfMinutes(length) && length.barMs > minuteMs);
      // The minute under way will be told as a whole; what was missed ended before it.
      if (minutesLost(state)) missed(longer, serviceNow() - (state === "live" ? minuteMs : 0));
      if (state !== "refused" && state !== "live") return;
      // The other source begins in the middle of a bar.
      if (wasRefused || state === "refused") missed(listened().filter(isOfMinutes), clock.now());
      wasRefused = state === "refused";
      choose();
    },
  });
  const create = (barMs: number): Length => {
    checkBarLength(barMs);
    const bars = new LiveBars(clock, barMs, (closedAt, bar) => {
      stream.next(candleOf(instId, closedAt, barMs, bar));
    });
    const stream = new WatchedStream<Candle>({
      onError: parts.onError,
      onListened: (is) => {
        length.listened = is;
        bars.reset();
        choose();
      },
    });
    const length: Length = { barMs, bars, stream, listened: false };
    lengths.set(barMs, length);
    return length;
  };
  return {
    of: (barMs) => (lengths.get(barMs) ?? create(barMs)).stream,
    stop: () => {
      for (const { bars, stream } of lengths.values()) {
        bars.reset();
        stream.complete();
      }
    },
  };
};

/** Tells of each new state whether something was missed: the line was live before and is lost, or is back. */
const createLossWatch = () => {
  let begun = false;
  return (state: SharedChannelState): boolean => {
    const lost = begun && state !== "ended";
    begun = state === "ended" ? false : begun || state === "live";
    return lost;
  };
};
