/**
 * Several tapes as one: other instruments in parallel, rows of one instrument after each other.
 *
 * Invariants: the steps of an instrument become the largest that divide all of them, so prices and quantities stay
 * exact; rows that overlap in time are joined only where they are the same bars, or where the later tape is to replace
 * the earlier one in its span.
 * Not here: steps that divide others (common-step.ts), writing tapes (fixture.ts).
 */
import { grid } from "../../decimal.ts";
import { SluiceError } from "../../errors.ts";
import { commonStep, priceColumns, quantityColumns } from "./common-step.ts";
import {
  barsIn,
  type Column,
  columnsOf,
  createTape,
  markParts,
  type Series,
  type SeriesKind,
  seriesName,
  seriesOf,
  type Tape,
  type TapeInstrument,
} from "./tape.ts";

/** A tape and where it comes from, for messages. */
export interface NamedTape {
  readonly name: string;
  readonly tape: Tape;
}

/** Rows of one kind that two tapes hold for the same time. */
export interface Overlap {
  readonly series: string;
  readonly earlier: string;
  readonly later: string;
  readonly fromMs: number;
  readonly toMs: number;
}

interface JoinOptions {
  /**
   * `same`: bars that repeat others exactly are dropped; `replace`: of rows in the span of a later tape only its own
   * are kept.
   */
  readonly overlap: "refuse" | "same" | "replace";
  readonly note: (what: string, count: number) => void;
  readonly refusal?: (overlap: Overlap) => SluiceError;
}

/** Series of one instrument in the order in which rows of one instant are delivered. */
const kindOrder: readonly SeriesKind[] = ["change", "mark", "funding", "level", "quote", "trade", "candle"];

/**
 * One tape of several, its rows in the order of time. Throws where rows of one series overlap, unless the options
 * permit it.
 */
export const joinTapes = (parts: readonly NamedTape[], options: JoinOptions): Tape => {
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return only.tape;
  const instruments = joinedInstruments(parts.flatMap(({ tape }) => tape.instruments));
  const index = new Map(instruments.map(({ instId }, place) => [instId, place]));
  const groups = new Map<string, Piece[]>();
  for (const { name, tape } of parts) {
    for (const series of tape.series) {
      const from = tape.instruments[series.instrument] as TapeInstrument;
      const place = index.get(from.instId) as number;
      const scaled = rescaled(series, place, from, instruments[place] as TapeInstrument, name);
      const key = seriesName(scaled, instruments);
      groups.set(key, [...(groups.get(key) ?? []), { name, series: scaled }]);
    }
  }
  const series = [...groups].map(([key, pieces]) => joinPieces(key, pieces, options));
  return createTape(instruments, series.sort(inTapeOrder));
};

const inTapeOrder = (a: Series, b: Series): number =>
  a.instrument - b.instrument || kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind) || barOf(a) - barOf(b);

const barOf = (series: Series): number => (series.kind === "candle" ? series.barMs : 0);

const joinedInstruments = (all: readonly TapeInstrument[]): readonly TapeInstrument[] => {
  const found = new Map<string, TapeInstrument>();
  for (const { instId, tickSize, lotSize } of all) {
    const before = found.get(instId);
    found.set(instId, {
      instId,
      tickSize: before === undefined ? tickSize : commonStep(before.tickSize, tickSize),
      lotSize: before === undefined ? lotSize : commonStep(before.lotSize, lotSize),
    });
  }
  return [...found.values()];
};

const rescaled = (
  series: Series,
  instrument: number,
  from: TapeInstrument,
  to: TapeInstrument,
  name: string,
): Series => {
  const ticks = grid(to.tickSize).parse(from.tickSize);
  const lots = grid(to.lotSize).parse(from.lotSize);
  const scaled = Object.entries(series).map(([column, values]) => {
    const factor = priceColumns.has(column) ? ticks : quantityColumns.has(column) ? lots : 1;
    return [
      column,
      factor === 1 || !(values instanceof Float64Array)
        ? (values as unknown)
        : timesFactor(values, factor, `${name}: ${column}`),
    ];
  });
  const copy = { ...(Object.fromEntries(scaled) as unknown as Series), instrument };
  return copy.kind === "mark" && ticks !== 1 ? finerMarks(copy, ticks) : copy;
};

const timesFactor = (values: Float64Array, factor: number, what: string): Float64Array =>
  values.map((value) => {
    if (Number.isSafeInteger(value * factor)) return value * factor;
    throw new SluiceError(
      "IMPORT_INVALID",
      `${what} is beyond 2^53 in the common step. Import both with the same --tick-size and --lot-size.`,
    );
  });

/** Remainders below a tick are counted in parts of a tick, which add up to whole ticks. */
const finerMarks = (series: Extract<Series, { kind: "mark" }>, factor: number): Series => ({
  ...series,
  px: series.px.map((px, row) => px + Math.floor(((series.part[row] as number) * factor) / markParts)),
  part: series.part.map((part) => (part * factor) % markParts),
});

interface Piece {
  readonly name: string;
  readonly series: Series;
}

const firstOf = ({ series }: Piece): number => series.at[0] ?? 0;
const lastOf = ({ series }: Piece): number => series.at.at(-1) ?? 0;

const joinPieces = (key: string, pieces: readonly Piece[], options: JoinOptions): Series => {
  const filled = pieces.filter(({ series }) => series.at.length > 0);
  if (options.overlap !== "replace") filled.sort((a, b) => firstOf(a) - firstOf(b));
  const [first, ...rest] = filled;
  if (first === undefined) return (pieces[0] as Piece).series;
  // Joined in one go where nothing overlaps: a year of days would be copied day by day.
  const isApart = rest.every(
    (piece, index) => firstOf(piece) > lastOf(filled[index] as Piece) || isTouching(piece, filled[index] as Piece),
  );
  if (isApart) return concatenated(filled.map(({ series }) => series));
  return rest.reduce((before, piece) => ({ name: piece.name, series: joinTwo(key, before, piece, options) }), first)
    .series;
};

/** Trades, quotes and changes of a book may share an instant; of bars and terms there is one at a time. */
const isTouching = (piece: Piece, before: Piece): boolean =>
  ["trade", "quote", "level"].includes(piece.series.kind) && firstOf(piece) === lastOf(before);

const joinTwo = (key: string, before: Piece, piece: Piece, { overlap, note, refusal }: JoinOptions): Series => {
  if (firstOf(piece) > lastOf(before)) return concatenated([before.series, piece.series]);
  const [fromMs, toMs] = [Math.max(firstOf(before), firstOf(piece)), Math.min(lastOf(before), lastOf(piece))];
  const told = { series: key, earlier: before.name, later: piece.name, fromMs, toMs };
  if (overlap === "replace") {
    const isOutside = (at: number): boolean => at < firstOf(piece) || at > lastOf(piece);
    const kept = rowsWhere(before.series, (row) => isOutside(before.series.at[row] as number));
    if (kept.at.length < before.series.at.length) note("rows replaced", before.series.at.length - kept.at.length);
    return merged(kept, piece.series);
  }
  const rows = new Map(Array.from(before.series.at, (at, row) => [at, row]));
  const isNew = (row: number): boolean => {
    const twin = rows.get(piece.series.at[row] as number);
    if (twin === undefined) return true;
    const isSame = columnsOf(piece.series).every(
      (column, place) => column[row] === columnsOf(before.series)[place]?.[twin],
    );
    if (!isSame) throw (refusal ?? overlapping)(told);
    return false;
  };
  if (fromMs <= toMs && (overlap === "refuse" || piece.series.kind !== "candle")) throw (refusal ?? overlapping)(told);
  const fresh = rowsWhere(piece.series, isNew);
  if (fresh.at.length < piece.series.at.length)
    note("bars that another file holds as well, dropped", piece.series.at.length - fresh.at.length);
  return merged(before.series, fresh);
};

const overlapping = ({ series, earlier, later, fromMs, toMs }: Overlap): SluiceError =>
  new SluiceError(
    "IMPORT_INVALID",
    `${series}: ${earlier} and ${later} both hold rows from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}, which are not the same bars. Leave one of them out.`,
  );

const rebuilt = (series: Series, at: Float64Array, columns: readonly Column[]): Series =>
  seriesOf(series.kind, series.instrument, at, columns, barsIn(series));

const rowsWhere = (series: Series, isKept: (row: number) => boolean): Series => {
  const kept = Uint32Array.from(series.at.keys()).filter(isKept);
  const pick = <C extends Column>(column: C): C =>
    (column.slice(0, kept.length) as C).map((_, row) => column[kept[row] as number] as number) as C;
  return rebuilt(series, pick(series.at), columnsOf(series).map(pick));
};

const concatenated = (pieces: readonly Series[]): Series => {
  const [first] = pieces as [Series];
  const rows = pieces.reduce((total, { at }) => total + at.length, 0);
  const joined = <C extends Column>(columns: readonly C[]): C => {
    const all = new ((columns[0] as C).constructor as new (length: number) => C)(rows);
    let length = 0;
    for (const column of columns) {
      all.set(column, length);
      length += column.length;
    }
    return all;
  };
  const columns = pieces.map(columnsOf);
  return rebuilt(
    first,
    joined(pieces.map(({ at }) => at)),
    (columns[0] ?? []).map((_, place) => joined(columns.map((list) => list[place] as Column))),
  );
};

/** Rows of both by time. */
const merged = (a: Series, b: Series): Series => {
  const all = concatenated([a, b]);
  const order = Uint32Array.from(all.at.keys()).sort((x, y) => (all.at[x] as number) - (all.at[y] as number) || x - y);
  const pick = <C extends Column>(column: C): C => column.map((_, row) => column[order[row] as number] as number) as C;
  return rebuilt(all, pick(all.at), columnsOf(all).map(pick));
};
