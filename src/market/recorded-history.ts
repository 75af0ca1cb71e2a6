/**
 * History read off recorded rows: bars of any length by the builder of live bars, trades and quotes as they were.
 *
 * Invariants: only rows that `known` names are read; bars are those a feed of the same rows would have emitted:
 * recorded ones of the length, else built from the longest recorded length that divides it, else from trades; dates are
 * the recording's.
 * Not here: which rows are known (the caller), the seam to live (host/market-history.ts).
 */
import { chooseSource, sourceOf } from "./bar-sources.ts";
import { type AskedBars, askedBars } from "./calendar/bar-calendar.ts";
import { Channel } from "./channel.ts";
import type { Candle, Quote, Trade } from "./market-data.ts";
import { barsBefore, gridNameIn, openingsOf, type Series, type Tape, type TapeInstrument } from "./tape/tape.ts";
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

/** Number of times at the start of a rising column that are before `at`, or at it where `including`. */
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

  /**
   * The last `count` bars finished by `now`, or all there are. Bars of which the first part is missing are left out.
   */
  candles(instId: string, bars: number | AskedBars, now: number, count: number): readonly Candle[] {
    const asked = typeof bars === "number" ? askedBars(bars) : bars;
    const all = this.#of(instId, now);
    const { source, calendar } = chooseSource(
      asked,
      all.flatMap(({ series, rows }) => (series.kind === "candle" && rows > 0 ? [sourceOf(series)] : [])),
    );
    const parts = all.filter(({ series }) =>
      source === undefined ? series.kind === "trade" : series.kind === "candle" && gridNameIn(series) === source.name,
    );
    const first = Math.min(...parts.map(({ series, rows }) => (rows > 0 ? beginOf(series) : Number.POSITIVE_INFINITY)));
    // Quiet times have no bars: so many are found further back.
    for (let wanted = count + 1; ; wanted *= 4) {
      const from = calendar.before(now, wanted);
      const found = this.#build({ instId, asked }, parts, from, now);
      if (found.length >= count || !(first < from)) return found.slice(-count);
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
    { instId, asked }: { readonly instId: string; readonly asked: AskedBars },
    parts: readonly KnownRows[],
    from: number,
    now: number,
  ): readonly Candle[] {
    const instrument = this.#instrument(instId);
    const made: Candle[] = [];
    if (instrument === undefined) return made;
    const channel = new Channel(scaleOf(instrument), {});
    const bars = channel.barsOf(asked);
    const recorded = parts.flatMap(({ series }) => (series.kind === "candle" && series.at.length > 0 ? [series] : []));
    channel.bind(recorded, Number.NEGATIVE_INFINITY);
    bars.stream.subscribe((bar) => made.push(bar));
    for (const { series, rows } of parts) {
      const route = channel.route(series, 0, () => undefined);
      const { at } = series;
      const begin = series.kind === "candle" ? barsBefore(series, from) : rowsBefore(at, from);
      for (let row = begin; row < rows; row++) {
        const time = at[row] as number;
        if (recorded.length === 0 && time >= bars.closesAt) bars.emit();
        route.take(row, time);
      }
    }
    if (bars.closesAt <= now) bars.emit();
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

const beginOf = (series: Series): number =>
  series.kind === "candle" ? openingsOf(series)(0) : (series.at[0] ?? Number.POSITIVE_INFINITY);

/**
 * The history that a tape holds: rows before the instant asked for, and bars that had closed by then.
 *
 * @param tape - a market
 * @returns a source of history
 */
export const historyOfTape = ({ instruments, series }: Pick<Tape, "instruments" | "series">): RecordedHistory => {
  const known = (now: number): readonly KnownRows[] =>
    series.map((one) => ({ series: one, rows: rowsBefore(one.at, now, one.kind === "candle") }));
  return new RecordedHistory({ instruments, known });
};
