/**
 * Bar streams of one instrument, by length: minutes from the channel candle1m, other lengths from trades. Minutes are
 * also built from trades if candle1m is refused.
 *
 * Invariants: a bar never mixes the two sources; an incomplete bar is not emitted, although a minute from the service
 * is complete even after a gap in the received data. A bar from minutes carries the service's own times and volume.
 */
import { plain } from "../../decimal.ts";
import { type AskedBars, BarCalendar, type BarGrid, gridName } from "../../market/calendar/bar-calendar.ts";
import { candleOf } from "../../market/history.ts";
import type { HotStream } from "../../market/hot-stream.ts";
import type { Candle } from "../../market/market-data.ts";
import type { InstrumentParts } from "./instrument-parts.ts";
import { LiveBars, minuteMs } from "./live-bars.ts";
import type { MarketRecords } from "./records.ts";
import type { SharedChannelState } from "./shared-channel.ts";
import { WatchedStream } from "./watched-stream.ts";

interface Length {
  readonly calendar: BarCalendar;
  readonly bars: LiveBars;
  readonly stream: WatchedStream<Candle>;
  listened: boolean;
}

const isOfMinutes = ({ calendar: { grid, barMs } }: Length): boolean =>
  (grid.length === "month" || barMs % minuteMs === 0) && grid.anchorMs % minuteMs === 0;

const miss = (lengths: readonly Length[], at: number): void => {
  for (const { bars } of lengths) bars.missed(at);
};

export class BarStreams {
  readonly #parts: InstrumentParts;
  readonly #lengths = new Map<string, Length>();
  readonly #holdTrades: (needed: boolean) => void;
  readonly #holdMinutes: (needed: boolean) => void;
  readonly #tradesLost = createLossWatch();
  readonly #minutesLost = createLossWatch();
  #wasRefused = false;

  constructor(parts: InstrumentParts) {
    this.#parts = parts;
    const { clock, trades, minutes } = parts;
    this.#holdTrades = trades.join({
      take: ({ records }) => this.#takeTrades(records),
      state: (state) => {
        if (this.#tradesLost(state)) miss(this.#fromTrades(), clock.now());
      },
    });
    this.#holdMinutes = minutes.join({
      take: ({ records }) => this.#takeMinutes(records),
      state: (state) => this.#turn(state),
    });
  }

  of({ grid }: AskedBars): HotStream<Candle> {
    return (this.#lengths.get(gridName(grid)) ?? this.#create(grid)).stream;
  }

  stop(): void {
    for (const { bars, stream } of this.#lengths.values()) {
      bars.reset();
      stream.complete();
    }
  }

  #create(grid: BarGrid): Length {
    const { instId, clock, onError } = this.#parts;
    const calendar = new BarCalendar(grid);
    const bars = new LiveBars(clock, calendar, ({ closesAt, barMs, bar, partial }) =>
      stream.next(candleOf(instId, closesAt, barMs, bar, partial)),
    );
    const stream = new WatchedStream<Candle>({
      onError,
      onListened: (is) => {
        length.listened = is;
        bars.reset();
        this.#choose();
      },
    });
    const length: Length = { calendar, bars, stream, listened: false };
    this.#lengths.set(gridName(grid), length);
    return length;
  }

  #takeTrades(records: readonly MarketRecords["trades"][]): void {
    const { instId, clock, toBase } = this.#parts;
    const at = clock.now();
    for (const { px, sz } of records) {
      const qty = toBase(instId, sz, px);
      if (qty !== undefined) for (const { bars } of this.#fromTrades()) bars.trade(at, px, qty);
    }
  }

  #takeMinutes(records: readonly MarketRecords["candle1m"][]): void {
    for (const { ts, open, high, low, close, volume, confirm } of records) {
      this.#parts.onPx(plain(close));
      if (confirm === "1")
        for (const { bars } of this.#fromMinutes()) bars.minute(Number(ts), { open, high, low, close, volume });
    }
  }

  /** Called when the state of the channel of minutes changed. */
  #turn(state: SharedChannelState): void {
    const { clock, serviceNow } = this.#parts;
    const ofMinutes = this.#listened().filter(isOfMinutes);
    const longer = ofMinutes.filter(({ calendar }) => calendar.barMs > minuteMs);
    // The current minute will arrive complete. The missed minutes ended before it.
    if (this.#minutesLost(state)) miss(longer, serviceNow() - (state === "live" ? minuteMs : 0));
    if (state !== "refused" && state !== "live") return;
    // The other source begins in the middle of a bar.
    if (this.#wasRefused || state === "refused") miss(ofMinutes, clock.now());
    this.#wasRefused = state === "refused";
    this.#choose();
  }

  #choose(): void {
    this.#holdMinutes(this.#listened().some(isOfMinutes));
    this.#holdTrades(this.#fromTrades().length > 0);
  }

  #listened(): readonly Length[] {
    return [...this.#lengths.values()].filter(({ listened }) => listened);
  }

  #fromTrades(): readonly Length[] {
    return this.#listened().filter((length) => this.#parts.minutes.refused || !isOfMinutes(length));
  }

  #fromMinutes(): readonly Length[] {
    return this.#parts.minutes.refused ? [] : this.#listened().filter(isOfMinutes);
  }
}

/** Returns for each new state whether data was missed: the channel was live before and is lost, or is back. */
const createLossWatch = () => {
  let begun = false;
  return (state: SharedChannelState): boolean => {
    const lost = begun && state !== "ended";
    begun = state === "ended" ? false : begun || state === "live";
    return lost;
  };
};
