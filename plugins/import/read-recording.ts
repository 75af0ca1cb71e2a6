/**
 * A recording made elsewhere as a tape: websocket messages as received, or rows of bars, trades, best prices or books.
 *
 * Invariants: the kind follows from the content; a recording is read whole or refused by file, line and value; rows
 * left out on purpose are counted in the notes.
 * Not here: the readers (import-messages.ts, table/table-reader.ts, import-terms.ts), writing it (import.ts).
 */
import { basename } from "node:path";
import { isPositive, parseInstId, SluiceError } from "sluice";
import { createTape, type Tape } from "sluice/backtest";
import {
  createSystemClock,
  decimal,
  type FixtureMeta,
  type FixtureNote,
  type Series,
  type SeriesKind,
  seriesOf,
  type TapeInstrument,
} from "sluice/extension";
import { holdsEvents, readEvents } from "./binary/event-rows.ts";
import { numpyNames } from "./binary/numpy-rows.ts";
import { formatOf, partsOf, type TextPart } from "./byte-source.ts";
import { type Growing, held } from "./import-columns.ts";
import { createDecimalPool } from "./import-decimals.ts";
import type { Axis } from "./import-exchange.ts";
import { firstLineOf, kindOf, readPartLines } from "./import-file.ts";
import { readMessages } from "./import-messages.ts";
import type { MessageRows } from "./import-rows.ts";
import { noTerms, offerSteps, readTerms, type Terms, termSeries, termsLayout } from "./import-terms.ts";
import { inAssumedLots } from "./import-volumes.ts";
import type { Note } from "./reader-options.ts";
import type { Layout } from "./table/layout.ts";
import { readTable, type Table } from "./table/table-reader.ts";

export interface RecordingOptions {
  readonly file: string;
  readonly instrument: string;
  /**
   * Arrangement of the columns of a file of rows: a name of the table of layouts, or a description. Detected from the
   * file when left out.
   */
  readonly layout?: string | Layout;
  /** Base currency in one contract, as decimal text, where a file counts contracts. */
  readonly contractSize?: string;
  /**
   * Candles: meaning of a row's timestamp, the begin or the end of its bar. When left out: as the layout states, else
   * the begin.
   */
  readonly timestamp?: "open" | "close";
  /** Tick size; found as the greatest common step of the values when left out. */
  readonly tickSize?: string;
  readonly lotSize?: string;
  /** Symbol to read from a recording of several. */
  readonly symbol?: string;
  /** Largest number of milliseconds by which times may fall back and still be sorted; candles are never sorted. */
  readonly disorderMs?: number;
  /**
   * Messages: instant of the rows, the receipt (the default) or the exchange's time of the event. With `exchange` the
   * fixture also contains the delays of its messages, for `fromFixture`.
   */
  readonly axis?: "receive" | "exchange";
  /** Files of funding rates, mark prices and changes of rules (columns: import-terms.ts), merged in by time. */
  readonly terms?: readonly string[];
  /** Candles: when bars begin, as for `market.candles`. Found from their times when left out. */
  readonly anchor?: string;
  /** Candles: the zone whose days, weeks or months they are. Found from their times when left out. */
  readonly zone?: string;
  /**
   * Candles: leaves out bars that are off the grid of the others, or moves each to the next place, so that none ends
   * before its data. Left out: they are refused.
   */
  readonly offGrid?: "drop" | "shift";
  /** Takes bars shorter than a second and instants in the future, which are refused otherwise. */
  readonly anyTime?: boolean;
  /**
   * Instant of the import, in milliseconds: instants more than a day later are refused. Left out: the system clock's.
   */
  readonly now?: number;
  /** Called after each piece of a file of rows with the number of bytes and rows read. An exception ends the import. */
  readonly onRead?: (bytes: number, rows: number) => void;
}

/** Facts found while reading rows, for people. */
export type RowsFound = Pick<Table, "plan" | "format" | "unit" | "rows" | "timestamp" | "sample">;

interface Recording {
  readonly tape: Tape;
  readonly meta: FixtureMeta;
  /** Name of the layout; "messages" for websocket messages. */
  readonly layout: string;
  /** Facts found in files of rows. */
  readonly found?: RowsFound;
}

/** The recording as a tape, without writing anything. */
export const readRecording = async (options: RecordingOptions): Promise<Recording> => {
  const parts = await partsOf(options.file);
  const [part, ...others] = parts;
  if (part === undefined || others.length > 0)
    throw new SluiceError(
      "IMPORT_INVALID",
      `${options.file}: the archive holds ${parts.length} files; import it as a whole.`,
    );
  return readPart(part, options);
};

/** Reads a file, or one in an archive, as a tape. */
export const readPart = async (part: TextPart, options: Omit<RecordingOptions, "file">): Promise<Recording> => {
  const { name: file } = part;
  parseInstId(options.instrument, "instrument");
  const kind = await kindOfPart(part);
  if (kind === "terms") {
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: it holds no trading, only its terms. Name the recording first and this file with --terms.`,
    );
  }
  const { note, list } = createNotes();
  const terms = await termsIn(options);
  const read = { file, note, terms };
  const { tape, source, found, feed } = await readers[kind](part, options, read);
  if (tape.length === 0) {
    const reasons = list().map(({ what, count }) => `${what}: ${count}`);
    throw new SluiceError("IMPORT_INVALID", `${file}: nothing in it could be imported.`, reasons);
  }
  checkTimes(file, tape, options);
  const layout = found?.plan.layout.name ?? kind;
  return { tape, layout, meta: { source, notes: list(), ...(feed && { feed }) }, ...(found && { found }) };
};

const dayMs = 86_400_000;
/** Bars of hardly any source are shorter. */
const shortestBarMs = 1_000;

const nowOf = ({ now = createSystemClock().now() }: Pick<RecordingOptions, "now">): number => now;

/** Refuses bars shorter than a second and instants in the future, which result from misread times. */
const checkTimes = (file: string, { series }: Tape, options: Omit<RecordingOptions, "file">): void => {
  if (options.anyTime === true) return;
  const remedy = "If that is right, import it with --any-time.";
  const now = nowOf(options);
  for (const one of series) {
    const barMs = one.kind === "candle" ? one.barMs : 0;
    if (one.kind === "candle" && barMs < shortestBarMs)
      throw new SluiceError(
        "IMPORT_INVALID",
        `${file}: its bars would be ${barMs} ms long, the first from ${new Date((one.at[0] ?? 0) - barMs).toISOString()}. Are its times what they were read as? ${remedy}`,
      );
    const lastAt = (one.at.at(-1) ?? 0) - barMs;
    if (lastAt > now + dayMs)
      throw new SluiceError(
        "IMPORT_INVALID",
        `${file}: its last row is of ${new Date(lastAt).toISOString()}, in the future. ${remedy}`,
      );
  }
};

const kindOfPart = async (part: TextPart): Promise<ReturnType<typeof kindOf> | typeof hftEvents> => {
  const format = await formatOf(part);
  if (format === "numpy" && holdsEvents(await numpyNames(part))) return hftEvents;
  if (format !== "text") return "rows";
  const first = await firstLineOf(part);
  if (first === undefined) throw new SluiceError("IMPORT_INVALID", `${part.name}: the file is empty.`);
  return kindOf(first);
};

const hftEvents = "hftbacktest";

const termsIn = async ({ terms: files = [] }: Pick<RecordingOptions, "terms">): Promise<Terms> => {
  const terms = noTerms();
  for (const file of files) {
    for (const part of await partsOf(file)) {
      const kind = kindOf((await firstLineOf(part)) ?? "");
      if (kind !== "terms")
        throw new SluiceError(
          "IMPORT_INVALID",
          kind === "rows"
            ? `${file}: it holds no terms. Terms are ${termsLayout}. A recording is imported by itself.`
            : `${file}: it holds ${kind}, not terms. Import it by itself.`,
        );
      readTerms(await readPartLines(part), terms);
    }
  }
  return terms;
};

/** Returns the recording with its terms added. */
const tapeWith = (
  terms: Terms,
  { instId, tickSize, lotSize }: TapeInstrument,
  series: readonly Series[],
  note: Note,
): Tape => {
  const rows = series.filter(({ at }) => at.length > 0);
  const startAt = rows.reduce((earliest, { at }) => Math.min(earliest, at[0] as number), Number.POSITIVE_INFINITY);
  const endAt = rows.reduce((latest, { at }) => Math.max(latest, at.at(-1) as number), 0);
  return createTape(
    [{ instId, tickSize, lotSize }],
    [...termSeries(terms, { tickSize, lotSize, startAt, endAt }, note), ...series],
  );
};

interface Reading {
  readonly file: string;
  readonly note: Note;
  readonly terms: Terms;
}

interface ReadTape extends Pick<Axis, "feed"> {
  readonly tape: Tape;
  readonly source: string;
  readonly found?: RowsFound;
}

const poolsFor = ({ tickSize, lotSize }: Pick<RecordingOptions, "tickSize" | "lotSize">, file: string) => ({
  prices: createDecimalPool({ file, name: "tick size", step: stepOf("tick size", tickSize) }),
  quantities: createDecimalPool({ file, name: "lot size", step: stepOf("lot size", lotSize) }),
});

const rowsTape = async (
  part: TextPart,
  options: Omit<RecordingOptions, "file">,
  { file, note, terms }: Reading,
): Promise<ReadTape> => {
  const { instrument, timestamp, lotSize, layout, symbol, contractSize, onRead, axis = "receive" } = options;
  const { prices, quantities } = poolsFor(options, file);
  offerSteps(terms, prices, quantities);
  const disorderMs = disorderOf(options);
  const given = {
    instrument,
    timestamp,
    lotSize: stepOf("lot size", lotSize),
    layout,
    symbol,
    contractSize: stepOf("contract size", contractSize),
    now: nowOf(options),
    anyTime: options.anyTime,
    anchor: options.anchor,
    zone: options.zone,
    offGrid: options.offGrid,
  };
  const found = await readTable(part, { ...given, axis, prices, quantities, note, disorderMs, onRead });
  const steps = { instId: instrument, tickSize: prices.step(), lotSize: found.lotSize ?? quantities.step() };
  return { tape: tapeWith(terms, steps, found.series, note), source: sourceOfRows(file, found, axis), found };
};

const rowKinds = {
  candles: "Candles",
  trades: "Trades",
  quotes: "Best prices",
  book: "Order books",
  changes: "Order books",
} as const;

const sourceOfRows = (file: string, { plan, timestamp }: RowsFound, axis: "receive" | "exchange"): string => {
  const { rows } = plan.layout;
  const times =
    rows === "candles"
      ? `; timestamps mark the ${timestamp} of a bar`
      : axis === "exchange"
        ? "; times are the exchange's"
        : "";
  return `${rowKinds[rows]} from ${basename(file)}${times}.`;
};

const messageTape = async (
  part: TextPart,
  options: Omit<RecordingOptions, "file">,
  { file, note, terms }: Reading,
): Promise<ReadTape> => {
  const { instrument, symbol, axis = "receive", contractSize, onRead } = options;
  const { prices, quantities } = poolsFor(options, file);
  offerSteps(terms, prices, quantities);
  const lines = await readPartLines(part);
  const shared = { prices, quantities, note, symbol, disorderMs: disorderOf(options), axis, terms };
  const rows = await readMessages(lines, {
    ...shared,
    contractSize: stepOf("contract size", contractSize),
    ofBytes: part.bytes,
    onRead,
  });
  const source = sourceOfMessages(file, symbol, axis);
  const { lotSize, series } = seriesInLots(rows, quantities.step(), options.lotSize);
  const steps = { instId: instrument, tickSize: prices.step(), lotSize };
  return { tape: tapeWith(terms, steps, series, note), source, ...(rows.feed && { feed: rows.feed }) };
};

/** Returns the series in lots. Volumes of bars are no evidence of the lot: without other data it is assumed. */
const seriesInLots = (
  rows: MessageRows,
  step: string,
  given: string | undefined,
): { readonly lotSize: string; readonly series: readonly Series[] } => {
  const series = messageSeries(rows);
  const [bars] = series;
  if (given !== undefined || series.length !== 1 || bars?.kind !== "candle") return { lotSize: step, series };
  const { lotSize, counts } = inAssumedLots(bars.volume, step);
  return { lotSize, series: [{ ...bars, volume: counts }] };
};

const eventTape = async (
  part: TextPart,
  options: Omit<RecordingOptions, "file">,
  { file, note, terms }: Reading,
): Promise<ReadTape> => {
  const { instrument, axis = "receive", onRead } = options;
  const { prices, quantities } = poolsFor(options, file);
  offerSteps(terms, prices, quantities);
  const rows = await readEvents(part, { prices, quantities, note, axis, disorderMs: 0, onRead });
  const steps = { instId: instrument, tickSize: prices.step(), lotSize: quantities.step() };
  return {
    tape: tapeWith(terms, steps, messageSeries(rows), note),
    source: sourceOfMessages(file, undefined, axis, "Events"),
  };
};

const readers = { rows: rowsTape, messages: messageTape, [hftEvents]: eventTape } as const;

/** Creates counters of notes, by their text. */
const createNotes = (): { readonly note: Note; readonly list: () => readonly FixtureNote[] } => {
  const counts = new Map<string, number>();
  return {
    note: (what, count = 1) => {
      counts.set(what, (counts.get(what) ?? 0) + count);
    },
    list: () => [...counts].map(([what, count]) => ({ what, count })),
  };
};

const stepOf = (name: string, step: string | undefined): string | undefined => {
  if (step === undefined || isPositive(decimal(step, name))) return step;
  throw new SluiceError("DECIMAL_INVALID", `${name}: "${step}" is not positive. Give a step such as "0.01".`);
};

const disorderOf = ({ disorderMs = 1_000 }: Pick<RecordingOptions, "disorderMs">): number => {
  if (Number.isFinite(disorderMs) && disorderMs >= 0) return disorderMs;
  throw new SluiceError("USAGE", `disorderMs: ${disorderMs} is not a number of milliseconds from 0 up.`);
};

/** The name of the file without its folder: a manifest travels, folders do not. */
const sourceOfMessages = (
  file: string,
  symbol: string | undefined,
  axis: "receive" | "exchange",
  what = "Messages",
): string =>
  `${what} from ${basename(file)}${symbol === undefined ? "" : `, symbol ${symbol}`}; times are ${axis === "exchange" ? "the exchange's" : "when each was received"}.`;

const filled = (kind: SeriesKind, at: Growing<Float64Array>, ...columns: Parameters<typeof seriesOf>[3]): Series[] =>
  at.length === 0 ? [] : [seriesOf(kind, 0, held(at), columns)];

// In the order in which rows of one instant are delivered, which import-times.ts counts on.
const messageSeries = ({ bars, levels, quotes, trades }: MessageRows): readonly Series[] => [
  ...(bars.at.length === 0
    ? []
    : [
        seriesOf(
          "candle",
          0,
          held(bars.at),
          bars.columns.map((column) => column.counts()),
          bars.grid,
        ),
      ]),
  ...filled("level", levels.at, held(levels.side), levels.px.counts(), levels.qty.counts(), held(levels.snapshot)),
  ...filled(
    "quote",
    quotes.at,
    quotes.bidPx.counts(),
    quotes.bidQty.counts(),
    quotes.askPx.counts(),
    quotes.askQty.counts(),
  ),
  ...filled("trade", trades.at, held(trades.side), trades.px.counts(), trades.qty.counts()),
];
