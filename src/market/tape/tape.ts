/**
 * Recorded market data as columns: one series per instrument and kind, and one order of time over all of them.
 *
 * Invariants: times never fall within a series; prices are whole ticks and quantities whole lots, exact below 2^53; an
 * instrument has at most one series of a kind (and, for candles, of a bar length); `order` visits every row once, by
 * time, and rows of equal time in series order.
 * Not here: files (market/tape/fixture.ts), delivery (market/feed.ts), growing columns (series-builder.ts).
 */
import { parseInstId } from "../../contract/inst-id.ts";
import { SluiceError } from "../../errors.ts";
import { BarCalendar, type BarGrid, gridName, lengthName, monthMs } from "../calendar/bar-calendar.ts";
import { mergeOrder, type TapeOrder } from "./tape-order.ts";

/** An instrument of a recorded market: its price step `tickSize` and size step `lotSize`, as decimals. */
export interface TapeInstrument {
  readonly instId: string;
  readonly tickSize: string;
  readonly lotSize: string;
}

interface Timed {
  /** Index into the tape's instruments. */
  readonly instrument: number;
  /** Milliseconds since the epoch; may have a fraction, whole microseconds survive a fixture. */
  readonly at: Float64Array;
}

/** Public trades. `side` is the aggressor's: 1 bought, -1 sold. */
export interface TradeSeries extends Timed {
  readonly kind: "trade";
  readonly side: Int8Array;
  readonly px: Float64Array;
  readonly qty: Float64Array;
}

/** Best bid and ask; a quantity of 0 means that the side is empty. */
export interface QuoteSeries extends Timed {
  readonly kind: "quote";
  readonly bidPx: Float64Array;
  readonly bidQty: Float64Array;
  readonly askPx: Float64Array;
  readonly askQty: Float64Array;
}

/**
 * Book levels: `side` 1 is a bid, -1 an ask; `qty` is absolute and 0 removes; a row with `snapshot` 1 first empties the
 * book.
 */
export interface LevelSeries extends Timed {
  readonly kind: "level";
  readonly side: Int8Array;
  readonly px: Float64Array;
  readonly qty: Float64Array;
  readonly snapshot: Uint8Array;
}

/** Finished bars; `at` is the instant a bar closed. */
export interface CandleSeries extends Timed {
  readonly kind: "candle";
  /** Their length; of days, weeks and months of a calendar the usual one. */
  readonly barMs: number;
  /** Calendar of bars that are not all equally long. */
  readonly grid?: BarGrid;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
}

/**
 * Funding of a swap, charged at `at`: `rate` in units of `rateStep`, longs pay where `sign` is 1 and receive where it
 * is -1.
 */
interface FundingSeries extends Timed {
  readonly kind: "funding";
  readonly sign: Int8Array;
  readonly rate: Float64Array;
}

/** Mark prices, which are finer than ticks: `px` whole ticks and `part` in units of a `markParts`th of one. */
export interface MarkSeries extends Timed {
  readonly kind: "mark";
  readonly px: Float64Array;
  readonly part: Float64Array;
}

/**
 * An instrument's rules from `at` on: its steps as counts of the tape's own, and whether it is listed (1) or not (0).
 */
export interface ChangeSeries extends Timed {
  readonly kind: "change";
  readonly tick: Float64Array;
  readonly lot: Float64Array;
  readonly listed: Uint8Array;
}

/** The rows of one instrument and kind, as columns. */
export type Series = TradeSeries | QuoteSeries | LevelSeries | CandleSeries | FundingSeries | MarkSeries | ChangeSeries;
/** Name of a kind of rows. */
export type SeriesKind = Series["kind"];
/** Values of all rows of a series: whole counts, sides or flags. */
export type Column = Float64Array | Int8Array | Uint8Array;

/** Sixteen places hold the rates that services publish; a count below 2^52 then reaches 45 %. */
export const rateStep = "0.0000000000000001";
/** Exact for marks of up to eight decimals on the usual ticks. */
export const markParts = 1_000_000_000;

/** Terms of trade rather than trading: they do not show what could be bought or sold at which price. */
export const isTerms = ({ kind }: Pick<Series, "kind">): boolean =>
  kind === "funding" || kind === "mark" || kind === "change";

/** The columns of each kind after `at`, in the order in which they are built and stored. */
export const columnNames = {
  trade: ["side", "px", "qty"],
  quote: ["bidPx", "bidQty", "askPx", "askQty"],
  level: ["side", "px", "qty", "snapshot"],
  candle: ["open", "high", "low", "close", "volume"],
  funding: ["sign", "rate"],
  mark: ["px", "part"],
  change: ["tick", "lot", "listed"],
} as const satisfies Record<SeriesKind, readonly string[]>;

/**
 * Empty columns for `rows` rows, in the order of `columnNames`.
 *
 * @param kind - of rows
 * @param rows - how many
 * @returns typed arrays of zeros
 */
export const emptyColumns = (kind: SeriesKind, rows: number): Column[] =>
  columnNames[kind].map((name) => {
    if (name === "side" || name === "sign") return new Int8Array(rows);
    return name === "snapshot" || name === "listed" ? new Uint8Array(rows) : new Float64Array(rows);
  });

/**
 * The columns of a series after its times, in the order of `columnNames`.
 *
 * @param series - any
 * @returns typed arrays, all of one length
 */
export const columnsOf = (series: Series): Column[] => {
  const byName = series as unknown as Readonly<Record<string, Column>>;
  return columnNames[series.kind].map((name) => byName[name] as Column);
};

/**
 * A series from its columns.
 *
 * @param kind - of its rows
 * @param instrument - index into the tape's instruments
 * @param at - times of the rows, milliseconds since the epoch
 * @param columns - in the order of `columnNames`
 * @param bars - length or grid of candles
 * @returns the series; it is not checked
 */
export const seriesOf = (
  kind: SeriesKind,
  instrument: number,
  at: Float64Array,
  columns: readonly Column[],
  bars: number | BarGrid = 0,
): Series => {
  const named = Object.fromEntries(columnNames[kind].map((name, index) => [name, columns[index]]));
  return { kind, instrument, at, ...(kind === "candle" ? lengthOf(bars) : {}), ...named } as unknown as Series;
};

const lengthOf = (bars: number | BarGrid): Pick<CandleSeries, "barMs" | "grid"> => {
  if (typeof bars === "number") return { barMs: bars };
  return { barMs: bars.length === "month" ? monthMs : bars.length, grid: bars };
};

/**
 * The grid of bars, or their length where that is all there is to it; 0 of other rows.
 *
 * @param series - of candles or others
 * @returns milliseconds, or a grid
 */
export const barsIn = (series: Series): number | BarGrid =>
  series.kind === "candle" ? (series.grid ?? series.barMs) : 0;

/** The grid of bars, also of those that have only a length. */
export const gridIn = ({ grid, barMs }: CandleSeries): BarGrid => grid ?? { length: barMs, anchorMs: 0, zone: "UTC" };

/** Name of the grid of recorded bars. */
export const gridNameIn = (series: CandleSeries): string => gridName(gridIn(series));

/** Returns the instant at which the bar of a row began. */
export const openingsOf = ({ at, barMs, grid }: CandleSeries): ((row: number) => number) => {
  if (grid === undefined) return (row) => (at[row] as number) - barMs;
  const calendar = new BarCalendar(grid);
  return (row) => calendar.openedBy(at[row] as number);
};

/** Number of bars that began before `at`. `openedAt` serves several questions about one series. */
export const barsBefore = (series: CandleSeries, at: number, openedAt = openingsOf(series)): number => {
  let [low, high] = [0, series.at.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (openedAt(middle) < at) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** A recorded market in memory: instruments, and one series of columns for each kind of data of each. */
export interface Tape {
  readonly instruments: readonly TapeInstrument[];
  readonly series: readonly Series[];
  /** Rows of all series together. */
  readonly length: number;
  readonly order: TapeOrder;
  /** The first and the last instant; both 0 when there are no rows. */
  readonly startAt: number;
  readonly endAt: number;
}

/**
 * `trade of BTC-USDT-SWAP`, for messages.
 *
 * @param series - any
 * @param instruments - of its tape
 * @returns text such as "trade of BTC-USDT-SWAP"
 */
export const seriesName = (series: Series, instruments: readonly TapeInstrument[]): string => {
  const instId = instruments[series.instrument]?.instId ?? `instrument ${series.instrument}`;
  return `${series.kind === "candle" ? `${lengthName(gridIn(series))} candle` : series.kind} of ${instId}`;
};

/**
 * Checks the series of a recorded market and merges them once into one order of time.
 *
 * @param instruments - instruments with tick and lot size
 * @param series - columns of rows, each for the instrument at its index
 * @returns the market, to be replayed or written as a fixture
 * @throws FIXTURE_INVALID where rows are out of order, off the grid, or of no instrument
 */
export const createTape = (instruments: readonly TapeInstrument[], series: readonly Series[]): Tape => {
  if (series.length > 65_536) throw invalid(`a tape holds at most 65536 series, not ${series.length}`);
  checkInstruments(instruments);
  const seen = new Set<string>();
  for (const one of series) {
    const name = seriesName(one, instruments);
    if (instruments[one.instrument] === undefined)
      throw invalid(`${name}: the tape has ${instruments.length} instruments`);
    if (seen.has(name)) throw invalid(`${name} appears twice; merge the two recordings first`);
    seen.add(name);
    checkSeries(one, name);
  }
  const order = mergeOrder(series.map(({ at }) => at));
  const length = order.row.length;
  return Object.freeze({
    instruments,
    series,
    length,
    order,
    startAt: timeAt({ series, order }, 0),
    endAt: timeAt({ series, order }, length - 1),
  });
};

const invalid = (message: string): SluiceError => new SluiceError("FIXTURE_INVALID", `Market data: ${message}.`);

const checkInstruments = (instruments: readonly TapeInstrument[]): void => {
  const seen = new Set<string>();
  for (const { instId } of instruments) {
    parseInstId(instId, "market data");
    if (seen.has(instId)) throw invalid(`${instId} is listed twice`);
    seen.add(instId);
  }
};

const checkSeries = (series: Series, name: string): void => {
  const { at } = series;
  if (series.kind === "candle" && !(Number.isSafeInteger(series.barMs) && series.barMs > 0)) {
    throw invalid(`${name}: the bar length is ${series.barMs} ms; it must be a positive whole number`);
  }
  for (const column of columnsOf(series)) {
    if (column.length !== at.length)
      throw invalid(`${name}: a column has ${column.length} rows where the times have ${at.length}`);
  }
  let last = 0;
  for (let row = 0; row < at.length; row++) {
    const now = at[row] as number;
    if (!(now >= last && now < Number.POSITIVE_INFINITY)) throw outOfOrder(name, row, last, now);
    last = now;
  }
};

/** The complaint about a time that falls; `row` counts from 0. */
export const outOfOrder = (name: string, row: number, before: number, found: number): SluiceError =>
  invalid(`${name}: row ${row} is at ${found} ms, the row before it at ${before} ms; times never fall within a series`);

/**
 * Time of the event at `index` of the tape's order.
 *
 * @param tape - a market
 * @param index - in the tape's order
 * @returns milliseconds since the epoch
 */
export const timeAt = ({ series, order }: Pick<Tape, "series" | "order">, index: number): number =>
  series[order.series[index] ?? 0]?.at[order.row[index] ?? 0] ?? 0;
