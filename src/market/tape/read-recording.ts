/**
 * A recording made elsewhere as a tape: websocket messages as received, or candles as CSV.
 *
 * Invariants: the kind follows from the content; a recording is read whole or refused by file, line and value; what was left out on
 * purpose is counted in the notes.
 * Not here: the readers (import-messages.ts, import-candles.ts, import-terms.ts), writing it (import.ts).
 */
import { basename } from "node:path";
import { parseInstId } from "../../contract/inst-id.ts";
import { decimal, isPositive } from "../../decimal.ts";
import { SluiceError } from "../../errors.ts";
import type { FixtureMeta, FixtureNote } from "./fixture.ts";
import { readCandles } from "./import-candles.ts";
import { type Growing, held } from "./import-columns.ts";
import { createDecimalPool } from "./import-decimals.ts";
import type { Axis } from "./import-exchange.ts";
import { kindOf, readLines, type TextLines } from "./import-file.ts";
import { type Note, readMessages } from "./import-messages.ts";
import type { MessageRows } from "./import-rows.ts";
import { noTerms, offerSteps, readTerms, type Terms, termSeries } from "./import-terms.ts";
import { createTape, type Series, type SeriesKind, seriesOf, type Tape, type TapeInstrument } from "./tape.ts";

export interface RecordingOptions {
  readonly file: string;
  readonly instrument: string;
  /** Candles: whether a row's timestamp is when its bar began (the default) or ended. */
  readonly timestamp?: "open" | "close";
  /** Found as the greatest common step of what was read when left out. */
  readonly tickSize?: string;
  readonly lotSize?: string;
  /** Which symbol to take from a recording of several. */
  readonly symbol?: string;
  /** How far receive times may fall back and still be sorted. */
  readonly disorderMs?: number;
  /**
   * Messages: whether rows are dated when they were received (the default) or when the exchange says that they happened. Then the
   * fixture also says how long its messages took, for `fromFixture`.
   */
  readonly axis?: "receive" | "exchange";
  /** Files of funding rates, mark prices and changes of rules (import-terms.ts tells their columns), to be merged in by time. */
  readonly terms?: readonly string[];
}

interface Recording {
  readonly tape: Tape;
  readonly meta: FixtureMeta;
}

/** The recording as a tape, without writing anything. */
export const readRecording = async (options: RecordingOptions): Promise<Recording> => {
  const { file } = options;
  parseInstId(options.instrument, "instrument");
  const lines = readLines(file);
  const kind = kindOf(lines);
  if (kind === "terms") {
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: it holds no trading, only its terms. Name the recording first and this file with --terms.`,
    );
  }
  const { note, list } = createNotes();
  const terms = termsIn(options);
  if (kind === "candles" && options.axis === "exchange") {
    throw new SluiceError("USAGE", `${file}: candles have one time only. Import them without --axis exchange.`);
  }
  const { tape, feed } = kind === "candles" ? { tape: candleTape(lines, options, note, terms) } : messageTape(lines, options, note, terms);
  if (tape.length === 0) {
    const reasons = list().map(({ what, count }) => `${what}: ${count}`);
    throw new SluiceError("IMPORT_INVALID", `${file}: nothing in it could be imported.`, reasons);
  }
  return { tape, meta: { source: sourceOf(options, kind), notes: list(), ...(feed && { feed }) } };
};

const termsIn = ({ terms: files = [] }: RecordingOptions): Terms => {
  const terms = noTerms();
  for (const file of files) {
    const lines = readLines(file);
    const kind = kindOf(lines);
    if (kind !== "terms") throw new SluiceError("IMPORT_INVALID", `${file}: it holds ${kind}, not terms. Import it by itself.`);
    readTerms(lines, terms);
  }
  return terms;
};

/** The recording with its terms laid beside it. */
const tapeWith = (terms: Terms, { instId, tickSize, lotSize }: TapeInstrument, series: readonly Series[], note: Note): Tape => {
  const rows = series.filter(({ at }) => at.length > 0);
  const startAt = rows.reduce((earliest, { at }) => Math.min(earliest, at[0] as number), Number.POSITIVE_INFINITY);
  const endAt = rows.reduce((latest, { at }) => Math.max(latest, at.at(-1) as number), 0);
  return createTape([{ instId, tickSize, lotSize }], [...termSeries(terms, { tickSize, lotSize, startAt, endAt }, note), ...series]);
};

const candleTape = (lines: TextLines, options: RecordingOptions, note: Note, terms: Terms): Tape => {
  const { file, instrument, timestamp = "open" } = options;
  const prices = createDecimalPool({ file, name: "tick size", step: stepOf("tick size", options.tickSize) });
  offerSteps(terms, prices, undefined);
  const rows = readCandles(lines, { timestamp, prices, lotSize: stepOf("lot size", options.lotSize), note });
  const { barMs, at, open, high, low, close, volumes } = rows;
  const columns = [open.counts(), high.counts(), low.counts(), close.counts(), volumes.counts];
  const series = seriesOf("candle", 0, at, columns, barMs);
  return tapeWith(terms, { instId: instrument, tickSize: prices.step(), lotSize: volumes.lotSize }, [series], note);
};

const messageTape = (lines: TextLines, options: RecordingOptions, note: Note, terms: Terms): Pick<Axis, "feed"> & { tape: Tape } => {
  const { file, instrument, symbol, axis = "receive" } = options;
  const prices = createDecimalPool({ file, name: "tick size", step: stepOf("tick size", options.tickSize) });
  const quantities = createDecimalPool({ file, name: "lot size", step: stepOf("lot size", options.lotSize) });
  offerSteps(terms, prices, quantities);
  const rows = readMessages(lines, { prices, quantities, note, symbol, disorderMs: disorderOf(options), axis, terms });
  const steps = { instId: instrument, tickSize: prices.step(), lotSize: quantities.step() };
  return { tape: tapeWith(terms, steps, messageSeries(rows), note), ...(rows.feed && { feed: rows.feed }) };
};

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

const disorderOf = ({ disorderMs = 1_000 }: RecordingOptions): number => {
  if (Number.isFinite(disorderMs) && disorderMs >= 0) return disorderMs;
  throw new SluiceError("USAGE", `disorderMs: ${disorderMs} is not a number of milliseconds from 0 up.`);
};

/** The name of the file without its folder: a manifest travels, folders do not. */
const sourceOf = ({ file, timestamp = "open", symbol, axis }: RecordingOptions, kind: "messages" | "candles"): string =>
  kind === "candles"
    ? `Candles from ${basename(file)}; timestamps mark the ${timestamp} of a bar.`
    : `Messages from ${basename(file)}${symbol === undefined ? "" : `, symbol ${symbol}`}; times are ${axis === "exchange" ? "the exchange's" : "when each was received"}.`;

const filled = (kind: SeriesKind, at: Growing<Float64Array>, ...columns: Parameters<typeof seriesOf>[3]): Series[] =>
  at.length === 0 ? [] : [seriesOf(kind, 0, held(at), columns)];

// In the order in which rows of one instant are delivered, which import-times.ts counts on.
const messageSeries = ({ levels, quotes, trades }: MessageRows): readonly Series[] => [
  ...filled("level", levels.at, held(levels.side), levels.px.counts(), levels.qty.counts(), held(levels.snapshot)),
  ...filled("quote", quotes.at, quotes.bidPx.counts(), quotes.bidQty.counts(), quotes.askPx.counts(), quotes.askQty.counts()),
  ...filled("trade", trades.at, held(trades.side), trades.px.counts(), trades.qty.counts()),
];
