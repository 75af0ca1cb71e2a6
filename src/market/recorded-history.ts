/**
 * History read off recorded rows: bars of any length by the builder of live bars, trades and quotes as they were.
 *
 * Invariants: only rows that `known` names are read; bars are those a feed of the same rows would have emitted:
 * recorded ones of the length, else built from the longest recorded length that divides it, else from trades; dates are
 * the recording's.
 * Not here: which rows are known (the caller), the seam to live (host/market-history.ts).
 */
import { Channel } from "./channel.ts";
import type { Candle, Quote, Trade } from "./market-data.ts";
import type { Series, Tape, TapeInstrument } from "./tape/tape.ts";
import { QuoteView, scaleOf, TradeView } from "./views.ts";

/** Rows of one series, from the first up to before `rows`. */
export interface KnownRows {
  readonly series: Series;
  readonly rows: number;
}

interface RecordedRows {
  readonly instruments: readonly TapeInstrument[];
  /** The parts of each series known at `now`, earlier parts first. */
  known(now: number): readonly KnownRows[];
}

/** How many times before `at`, or at it where `including`, a rising column begins with. */
export const rowsBefore = (times: Float64Array, at: number, including = false): number => {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const time = times[middle] as number;
    if (time < at || (including && time === at)) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Bars, trades and quotes of recorded rows, by the instant at which they are asked for. */
export class RecordedHistory {
  readonly #recorded: RecordedRows;

  constructor(recorded: RecordedRows) {
    this.#recorded = recorded;
  }

  /** The last `count` bars finished by `now`, or all there are. */
  candles(instId: string, barMs: number, now: number, count: number): readonly Candle[] {
    const all = this.#of(instId, now);
    const lengths = all.flatMap(({ series }) =>
      series.kind === "candle" && barMs % series.barMs === 0 ? [series.barMs] : [],
    );
    const length = Math.max(0, ...lengths);
    const parts = all.filter(({ series }) =>
      length > 0 ? series.kind === "candle" && series.barMs === length : series.kind === "trade",
    );
    const first = Math.min(
      ...parts.map(({ series, rows }) => (rows > 0 ? (series.at[0] as number) - length : Number.POSITIVE_INFINITY)),
    );
    const end = Math.floor(now / barMs) * barMs;
    // Quiet times have no bars: so many are found further back.
    for (let span = (count + 1) * barMs; ; span *= 4) {
      const from = end - span;
      const bars = this.#build({ instId, barMs, length }, parts, from, now);
      if (bars.length >= count || !(first < from)) return bars.slice(-count);
    }
  }

  trades(instId: string, count: number, now: number): readonly Trade[] {
    return this.#last(instId, count, now, (scale, series, row) =>
      series.kind === "trade" ? new TradeView(scale, series, row, series.at[row] as number) : undefined,
    );
  }

  quotes(instId: string, count: number, now: number): readonly Quote[] {
    return this.#last(instId, count, now, (scale, series, row) =>
      series.kind === "quote" ? new QuoteView(scale, series, row, series.at[row] as number) : undefined,
    );
  }

  #of(instId: string, now: number): readonly KnownRows[] {
    const { instruments } = this.#recorded;
    return this.#recorded.known(now).filter(({ series }) => instruments[series.instrument]?.instId === instId);
  }

  #instrument(instId: string): TapeInstrument | undefined {
    return this.#recorded.instruments.find((instrument) => instrument.instId === instId);
  }

  #build(
    { instId, barMs, length }: { readonly instId: string; readonly barMs: number; readonly length: number },
    parts: readonly KnownRows[],
    from: number,
    now: number,
  ): readonly Candle[] {
    const instrument = this.#instrument(instId);
    const made: Candle[] = [];
    if (instrument === undefined) return made;
    const channel = new Channel(scaleOf(instrument), {});
    const bars = channel.barsOf(barMs);
    channel.bind(length > 0 ? [length] : []);
    bars.stream.subscribe((bar) => made.push(bar));
    for (const { series, rows } of parts) {
      const route = channel.route(series, 0, () => undefined);
      const { at } = series;
      for (let row = rowsBefore(at, from + length); row < rows; row++) {
        const time = at[row] as number;
        if (length === 0 && time >= bars.closesAt) bars.emit();
        route.take(row, time);
      }
    }
    if (length === 0 && bars.closesAt <= now) bars.emit();
    return made;
  }

  #last<T>(
    instId: string,
    count: number,
    now: number,
    view: (scale: ReturnType<typeof scaleOf>, series: Series, row: number) => T | undefined,
  ): readonly T[] {
    const instrument = this.#instrument(instId);
    if (instrument === undefined) return [];
    const scale = scaleOf(instrument);
    const found: T[] = [];
    for (const { series, rows } of this.#of(instId, now).toReversed()) {
      for (let row = rows - 1; row >= 0 && found.length < count; row--) {
        const one = view(scale, series, row);
        if (one === undefined) break;
        found.push(one);
      }
    }
    return found.reverse();
  }
}

/** The history that a tape holds: rows before the instant asked for, and bars that had closed by then. */
export const historyOfTape = ({ instruments, series }: Pick<Tape, "instruments" | "series">): RecordedHistory => {
  const known = (now: number): readonly KnownRows[] =>
    series.map((one) => ({ series: one, rows: rowsBefore(one.at, now, one.kind === "candle") }));
  return new RecordedHistory({ instruments, known });
};
