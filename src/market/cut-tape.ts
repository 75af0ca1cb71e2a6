/**
 * The part of a recording that lies in a window, as a recording of its own.
 *
 * Invariants: no row at or after the window's end is in it, so that nothing run on it can look ahead; what is known at
 * its start (the last quote, the book as quotes and book changes had left it) comes first, at that instant; a bar is in
 * it only if all of its time is, so that no bar is in a training and in its test; rows keep their order.
 * Not here: files (tape/fixture.ts).
 */

import { BookSide } from "./book-side.ts";
import { rowsBefore } from "./recorded-history.ts";
import type { Fixture } from "./tape/fixture.ts";
import { barsBefore } from "./tape/tape.ts";

/** From `fromAt` on, up to but without `toAt`; milliseconds since the epoch. */
export interface TimeWindow {
  readonly fromAt: number;
  readonly toAt: number;
}

type Tape = Fixture["tape"];
type Series = Tape["series"][number];
type Levels = Extract<Series, { readonly kind: "level" }>;
type Quotes = Extract<Series, { readonly kind: "quote" }>;
type Column = Float64Array | Int8Array | Uint8Array;

/** The rows a window takes of one series: `from` up to `to`, after `head`, which gives the state at its start. */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly head: Readonly<Record<string, readonly number[]>>;
  readonly heads: number;
}

/**
 * The rows of a tape from `fromAt` on and before `toAt`, as one tape. Bars that end later are left out.
 *
 * @param tape - the whole
 * @param window - `fromAt` and `toAt`, milliseconds since the epoch
 * @returns a part of it
 */
export const cutTape = (tape: Tape, window: TimeWindow): Tape => {
  const parts = tape.series.map((series) => partOf(series, tape, window));
  const series = tape.series.map((one, index) => seriesOf(one, parts[index] as Part));
  const order = orderOf(tape, parts);
  const length = order.row.length;
  const timeAt = (index: number): number => series[order.series[index] ?? 0]?.at[order.row[index] ?? 0] ?? 0;
  return Object.freeze({
    instruments: tape.instruments,
    series,
    length,
    order,
    startAt: timeAt(0),
    endAt: timeAt(length - 1),
  });
};

/**
 * Rows of each series before the window, which `cutTape` leaves out there.
 *
 * @param tape - the whole
 * @param window - `fromAt` and `toAt`, milliseconds since the epoch
 * @returns numbers by series
 */
export const rowsBeforeWindow = (tape: Tape, { fromAt }: TimeWindow): Tape["series"] =>
  tape.series.map((series) => {
    const before = series.kind === "candle" ? barsBefore(series, fromAt) : rowsBefore(series.at, fromAt);
    const to = fromAt <= tape.startAt ? 0 : before;
    return seriesOf(series, { from: 0, to, ...none });
  });

const none = { head: {}, heads: 0 };

const partOf = (series: Series, tape: Tape, { fromAt, toAt }: TimeWindow): Part => {
  const { at, instrument } = series;
  if (series.kind === "candle") {
    // A bar that ends with the window holds nothing from beyond it.
    const to = rowsBefore(at, toAt, true);
    return { from: fromAt <= tape.startAt ? 0 : Math.min(to, barsBefore(series, fromAt)), to, ...none };
  }
  const [from, to] = [rowsBefore(at, fromAt), rowsBefore(at, toAt)];
  if (from === 0) return { from, to, ...none };
  if (series.kind === "level") {
    const quotes = tape.series.find((one): one is Quotes => one.kind === "quote" && one.instrument === instrument);
    return { from, to, ...bookHead(series, quotes, from, fromAt) };
  }
  // Earlier trades and charges are left out; quotes, marks and rules apply until the next ones.
  if (series.kind === "trade" || series.kind === "funding" || at[from] === fromAt) return { from, to, ...none };
  const row = from - 1;
  const last = columnsIn(series).map(([name, column]) => [name, [column[row] as number]] as const);
  return { from, to, head: { ...Object.fromEntries(last), at: [fromAt] }, heads: 1 };
};

type Level = readonly [px: number, qty: number];
type Side = BookSide<Level>;

const put = (side: Side, px: number, qty: number): void => {
  side.set(px, qty === 0 ? undefined : [px, qty]);
};

/**
 * The book before row `from`, as a snapshot at `fromAt`: where a quote is later than the book, the quote's quantity
 * holds.
 */
const bookHead = (
  series: Levels,
  quotes: Quotes | undefined,
  from: number,
  fromAt: number,
): Pick<Part, "head" | "heads"> => {
  const { at, side, px, qty, snapshot } = series;
  const [bids, asks] = [new BookSide<Level>(1), new BookSide<Level>(-1)];
  // Nothing before the last snapshot is left in the book.
  const begin = Math.max(0, snapshot.subarray(0, from).lastIndexOf(1));
  let quote = quotes === undefined ? 0 : rowsBefore(quotes.at, at[begin] as number);
  const quotedUntil = (until: number): void => {
    if (quotes === undefined) return;
    for (; quote < quotes.at.length && (quotes.at[quote] as number) < until; quote++) {
      showBest(bids, 1, quotes.bidPx[quote] as number, quotes.bidQty[quote] as number);
      showBest(asks, -1, quotes.askPx[quote] as number, quotes.askQty[quote] as number);
    }
  };
  for (let row = begin; row < from; row++) {
    quotedUntil(at[row] as number);
    put(side[row] === 1 ? bids : asks, px[row] as number, qty[row] as number);
  }
  quotedUntil(fromAt);
  const levels = [
    ...rowsOf(1, bids.levels(), quotes?.bidPx[quote - 1]),
    ...rowsOf(-1, asks.levels(), quotes?.askPx[quote - 1]),
  ];
  const head = {
    at: levels.map(() => fromAt),
    side: levels.map(([which]) => which),
    px: levels.map(([, price]) => price),
    qty: levels.map(([, , size]) => size),
    snapshot: levels.map((_, index) => (index === 0 ? 1 : 0)),
  };
  return { head, heads: levels.length };
};

/** A best price that the book has taken away since is taken away again, for the quote is repeated before. */
const rowsOf = (
  sign: 1 | -1,
  levels: readonly Level[],
  quoted: number | undefined,
): readonly (readonly [side: number, px: number, qty: number])[] => {
  const rows = levels.map(([px, qty]) => [sign, px, qty] as const);
  return quoted === undefined || levels.some(([px]) => px === quoted) ? rows : [...rows, [sign, quoted, 0]];
};

/** Levels of a side that a quote shows: nothing better than it, and nothing at all where it is empty. */
const showBest = (side: Side, sign: 1 | -1, px: number, qty: number): void => {
  if (qty === 0) side.clear();
  for (let { best } = side; best !== undefined && sign * best[0] > sign * px; { best } = side)
    side.set(best[0], undefined);
  put(side, px, qty);
};

const columnsIn = (series: Series): readonly (readonly [string, Column])[] =>
  Object.entries(series).filter((entry): entry is [string, Column] => ArrayBuffer.isView(entry[1]));

const seriesOf = (series: Series, { from, to, head, heads }: Part): Series => {
  const columns = columnsIn(series).map(([name, column]) => {
    const rows = column.subarray(from, to);
    if (heads === 0) return [name, rows] as const;
    const joined = new (column.constructor as new (length: number) => Column)(heads + rows.length);
    joined.set(head[name] ?? []);
    joined.set(rows, heads);
    return [name, joined] as const;
  });
  return { ...series, ...Object.fromEntries(columns) } as Series;
};

/** The state at the start series by series, then the rows of the whole in their order. */
const orderOf = ({ order, series: all }: Tape, parts: readonly Part[]): Tape["order"] => {
  const length = parts.reduce((total, { from, to, heads }) => total + heads + to - from, 0);
  const series = order.series.slice(0, length);
  const row = order.row.slice(0, length);
  const made =
    length > order.row.length ? { series: new Uint16Array(length), row: new Uint32Array(length) } : { series, row };
  let out = 0;
  const put = (index: number, at: number): void => {
    made.series[out] = index;
    made.row[out++] = at;
  };
  // The book last: it may have changed since the last quote.
  const kinds = all.map(({ kind }) => kind === "level");
  const first = [...parts.keys()].sort((a, b) => Number(kinds[a]) - Number(kinds[b]));
  for (const index of first) for (let at = 0; at < (parts[index] as Part).heads; at++) put(index, at);
  for (let at = 0; at < order.row.length; at++) {
    const index = order.series[at] as number;
    const { from, to, heads } = parts[index] as Part;
    const source = order.row[at] as number;
    if (source >= from && source < to) put(index, heads + source - from);
  }
  return made;
};
