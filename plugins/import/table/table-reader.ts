/**
 * Reads a file of rows: finds its layout, and turns each row into a row of a series.
 *
 * Invariants: rows are passed on as they are read, so that memory grows with the rows kept and never with the text;
 * skipped rows are counted by reason; quantities are in base currency, or refused.
 * Not here: lines and cells (text-rows.ts), finding the layout (detect.ts), kinds of rows (bar-rows.ts, trade-rows.ts).
 */

import { SluiceError } from "sluice";
import { readInstId } from "sluice/dialect";
import type { Series } from "sluice/extension";
import type { TextPart } from "../byte-source.ts";
import { contractsUnknown, importInvalid, type Parsed, parseDecimal } from "../import-decimals.ts";
import { epochIn, instantOf, unitOf } from "../import-instants.ts";
import type { ReaderOptions } from "../reader-options.ts";
import { firstCoinAt, formNames, readingOf, type TimeForm, type TimeReading } from "../time-forms.ts";
import type { GridOptions } from "./bar-grid.ts";
import { BarRows } from "./bar-rows.ts";
import { isBlank } from "./cell-kinds.ts";
import { CurrentRow, priceRoles } from "./current-row.ts";
import { dateAndClock } from "./date-columns.ts";
import { type Plan, planFor } from "./detect.ts";
import { type Layout, plainName } from "./layout.ts";
import { priceKindOf } from "./printed-floats.ts";
import { eachRow, type FileFormat } from "./row-formats.ts";
import { RowOrder } from "./row-order.ts";
import type { RowSink } from "./row-sink.ts";
import type { Row } from "./text-rows.ts";
import { LevelRows, QuoteRows, TradeRows } from "./trade-rows.ts";

interface TableOptions extends ReaderOptions, GridOptions {
  readonly instrument: string;
  readonly layout?: string | Layout | undefined;
  readonly timestamp?: "open" | "close" | undefined;
  readonly lotSize?: string | undefined;
  /** Base currency in one contract, as decimal text. */
  readonly contractSize?: string | undefined;
  /** Instant of the import: rows that are more than a day later are refused, unless `anyTime` is set. */
  readonly now: number;
  readonly anyTime?: boolean | undefined;
  /** Called after each piece of the file; an exception ends the reading. */
  readonly onRead?: ((bytes: number, rows: number) => void) | undefined;
}

export interface Table {
  readonly plan: Plan;
  readonly format: FileFormat;
  /** Form of the times. */
  readonly unit: TimeForm;
  /** Rows read, without header. */
  readonly rows: number;
  readonly timestamp: "open" | "close";
  readonly series: readonly Series[];
  /** Lot size of volumes; undefined where there are none. */
  readonly lotSize: string | undefined;
  /** The first rows, unchanged. */
  readonly sample: readonly Row[];
}

export const readTable = async (part: TextPart, options: TableOptions): Promise<Table> => {
  const reader = new TableReader(part.name, options);
  const format = await eachRow(part, {
    row: (row) => {
      reader.take(row);
    },
    read: (bytes) => options.onRead?.(bytes, reader.rows),
  });
  return { ...reader.finish(), format };
};

const sampleRows = 256;
const dayMs = 86_400_000;
const tickVolume = /^ticks?vol(ume)?$/;

/** Facts known once the layout was found. */
interface Begun {
  readonly plan: Plan;
  readonly order: RowOrder;
  readonly sink: RowSink;
  readonly timestamp: "open" | "close";
}

class TableReader {
  readonly #file: string;
  readonly #options: TableOptions;
  readonly #sample: Row[] = [];
  readonly #symbols = new Set<string>();
  #begun: Begun | undefined;
  #columns: Plan["columns"] = {};
  #names: readonly string[] | undefined;
  #reading: TimeReading = readingOf([], 0) as TimeReading;
  #latestAt = Number.POSITIVE_INFINITY;
  /** Rows from before there were coins. */
  #early = 0;
  #contract: Parsed | undefined;
  /** Pattern of the symbols that count contracts. */
  #contracts: RegExp | undefined;
  /** The current row: one object for all rows, because an object for each costs more than reading it. */
  readonly #values: CurrentRow;
  #isContracts = false;
  rows = 0;

  constructor(file: string, options: TableOptions) {
    this.#file = file;
    this.#options = options;
    this.#values = new CurrentRow();
    const { contractSize } = options;
    if (contractSize !== undefined) this.#contract = parseDecimal(contractSize, "contract size", 0, "contractSize");
  }

  take(row: Row): void {
    if (this.#begun !== undefined) this.#row(row);
    else if (this.#sample.push(row) === sampleRows) this.#begin();
  }

  finish(): Omit<Table, "format"> {
    if (this.#begun === undefined) this.#begin();
    const { plan, order, sink, timestamp } = this.#begun as Begun;
    this.#checkSymbols();
    const series = sink.series();
    const { form } = this.#reading;
    const { floats } = this.#values;
    if (floats > 0) this.#options.note("floats printed in full, read as the decimals they were rounded from", floats);
    if (this.#early > 0 && form !== "dates")
      this.#options.note(`rows before 2009, by times read as ${formNames[form]}`, this.#early);
    if (order.isReversed) this.#options.note("rows newest first, turned round", order.at.length);
    if (order.late > 0) this.#options.note("rows out of order by their time, sorted", order.late);
    const lotSize = sink instanceof BarRows ? sink.lotSize : undefined;
    return { plan, unit: form, rows: this.rows, timestamp, series, lotSize, sample: this.#sample };
  }

  #begin(): void {
    const { instrument, layout, timestamp: given, axis, disorderMs, symbol } = this.#options;
    const { base = "", quote = "" } = readInstId(instrument) ?? {};
    const plan = planFor(this.#sample, { file: this.#file, layout, base, quote, symbol });
    if (plan.ticker !== undefined) this.#symbols.add(plan.ticker);
    const { layout: found } = plan;
    const columns = { ...plan.columns };
    if (axis === "exchange") {
      if (columns.exchangeTime === undefined)
        throw new SluiceError(
          "USAGE",
          `${this.#file}: files of layout ${found.name} have one time only. Import them without --axis exchange.`,
        );
      columns.time = columns.exchangeTime;
    }
    this.#columns = columns;
    if (found.contracts !== undefined) this.#contracts = new RegExp(found.contracts);
    this.#values.levelsOf = plan.levels;
    for (const [side, texts] of Object.entries(found.sides ?? {}))
      for (const text of texts) this.#values.sides.set(text, side);
    this.#names = this.#sample[0]?.names;
    const data = this.#sample.slice(plan.skip);
    this.#values.priceKind = priceKindOf(this.#pricesOf(data), found.singles === true);
    const times = this.#timesOf(data, plan);
    const order = new RowOrder(this.#file, found.rows === "candles" ? 0 : disorderMs, times);
    const timestamp = given ?? found.timestamp ?? "open";
    this.#begun = { plan, order, sink: this.#sinkOf(found, order, timestamp), timestamp };
    if (found.caution !== undefined) this.#options.note(found.caution);
    this.#tellVolume(plan);
    for (const row of data) this.#row(row);
  }

  /** MetaTrader writes two volumes, of which one counts changes of the price. */
  #tellVolume({ header = [], columns }: Plan): void {
    const [taken, other] = [header[columns.volume ?? -1], header.find((name) => tickVolume.test(plainName(name)))];
    if (taken !== undefined && other !== undefined && taken !== other)
      this.#options.note(`volumes taken from "${taken}", not from "${other}", which counts changes of the price`);
  }

  #pricesOf(data: readonly Row[]): readonly string[] {
    const places = [...priceRoles].flatMap((role) => this.#columns[role] ?? []);
    return data.flatMap(({ cells }) => places.map((place) => cells[place] ?? ""));
  }

  /** Instants of the first rows, whose form decides how all are read. */
  #timesOf(data: readonly Row[], { clock, layout }: Plan): readonly number[] {
    const { now, anyTime } = this.#options;
    const rows = data.filter(({ cells }) => !layout.skip?.includes(cells[0] ?? ""));
    const texts = rows.map(({ cells }) => timeText(cells, this.#columns.time, clock));
    const reading = readingOf(texts, now);
    if ("problem" in reading) {
      const word = this.#wordFor(this.#columns.time);
      throw importInvalid(
        this.#file,
        rows[0]?.line ?? 1,
        `"${word}" is ${JSON.stringify(texts[0])}, which ${reading.problem}.`,
      );
    }
    this.#reading = reading;
    if (anyTime !== true) this.#latestAt = now + dayMs;
    return texts.flatMap((text) => reading.microseconds(text) ?? []);
  }

  #sinkOf({ rows }: Layout, order: RowOrder, timestamp: "open" | "close"): RowSink {
    const { prices, quantities, lotSize, note } = this.#options;
    const shared = { file: this.#file, order, prices, note };
    if (rows === "candles") return new BarRows({ ...shared, lotSize, timestamp, grid: this.#options });
    const both = { ...shared, quantities };
    if (rows === "trades") return new TradeRows(both);
    return rows === "quotes" ? new QuoteRows(both) : new LevelRows(both);
  }

  #row(row: Row): void {
    const { plan, sink } = this.#begun as Begun;
    const { cells, line } = row;
    if (plan.layout.skip?.includes(cells[0] ?? "")) return;
    if (row.names !== this.#names) this.#findColumns(row);
    else if (cells.length !== plan.width)
      throw importInvalid(this.#file, line, `${cells.length} cells; ${widthOf(plan)}.`);
    this.rows++;
    if (!this.#isWanted(cells)) return;
    const columns = this.#columns;
    const isBars = plan.layout.rows === "candles";
    if (isBars && isBlank(cells[columns.open ?? -1] ?? "") && isBlank(cells[columns.close ?? -1] ?? "")) {
      this.#options.note("rows without prices, dropped");
      return;
    }
    const contracts = plan.layout.contracts !== undefined && this.#countsContracts(cells, line);
    const values = this.#values;
    const isBase = contracts && isBars && columns.baseVolume !== undefined;
    values.cells = cells;
    values.columns = isBase ? { ...columns, volume: columns.baseVolume } : columns;
    values.at = this.#instant(timeText(cells, columns.time, plan.clock), line);
    values.line = line;
    values.endAt = columns.endTime === undefined ? undefined : this.#endInstant(cells[columns.endTime] ?? "", line);
    values.unit = isBase ? undefined : this.#contract;
    sink.push(values);
  }

  #countsContracts(cells: readonly string[], line: number): boolean {
    if (this.#isContracts) return true;
    const { symbol, exchange, baseVolume } = this.#columns;
    const name = symbol === undefined ? this.#options.instrument : (cells[symbol] ?? "");
    const subject = exchange === undefined ? name : `${cells[exchange] ?? ""}:${name}`;
    if (this.#contracts?.test(subject) !== true) return false;
    if (this.#contract === undefined && baseVolume === undefined)
      throw importInvalid(this.#file, line, contractsUnknown(subject));
    this.#isContracts = true;
    return true;
  }

  #instant(text: string, line: number): number {
    const { form } = this.#reading;
    const quick = form === "s" || form === "ms" || form === "us" ? epochIn(form, text) : undefined;
    const at = quick ?? this.#slowInstant(text, line);
    if (at < firstCoinAt) this.#early++;
    if (at <= this.#latestAt) return at;
    const shown = new Date(at).toISOString();
    throw importInvalid(
      this.#file,
      line,
      `the timestamp ${JSON.stringify(text)}, read as ${formNames[form]}, is ${shown}, in the future. If that is right, import it with --any-time.`,
    );
  }

  #endInstant(text: string, line: number): number {
    const us = this.#reading.microseconds(text);
    return us === undefined ? instantOf(text, this.#file, line, this.#wordFor(this.#columns.endTime)) : us / 1_000;
  }

  #slowInstant(text: string, line: number): number {
    const { form, microseconds } = this.#reading;
    const us = microseconds(text);
    // A quotient, as in `instantOf`.
    if (us !== undefined) return us / 1_000;
    // Refuses a text that is no instant at all.
    instantOf(text, this.#file, line, this.#wordFor(this.#columns.time));
    const unit = unitOf(text) ?? "dates";
    throw importInvalid(
      this.#file,
      line,
      `the timestamp ${JSON.stringify(text)} is of ${formNames[unit]}; rows before it have ${formNames[form]}.`,
    );
  }

  /** A column as the header names it. */
  #wordFor(place: number | undefined): string {
    return this.#names?.[place ?? -1] ?? this.#begun?.plan.header?.[place ?? -1] ?? "timestamp";
  }

  #isWanted(cells: readonly string[]): boolean {
    const place = this.#columns.symbol;
    if (place === undefined) return true;
    const symbol = cells[place] ?? "";
    this.#symbols.add(symbol);
    const { symbol: wanted, note } = this.#options;
    if (wanted === undefined || wanted === symbol) return true;
    note(`rows of another symbol (${symbol}), dropped`);
    return false;
  }

  #checkSymbols(): void {
    const { symbol: wanted } = this.#options;
    const found = [...this.#symbols].sort().join(", ");
    if (wanted !== undefined && this.#symbols.size === 0 && this.rows > 0)
      throw new SluiceError("IMPORT_INVALID", `${this.#file}: the file names no symbol. Leave --symbol out.`);
    if (wanted !== undefined && this.#symbols.size > 0 && !this.#symbols.has(wanted))
      throw new SluiceError("IMPORT_INVALID", `${this.#file}: no row is of symbol "${wanted}"; found ${found}.`);
    const symbol = wanted ?? [...this.#symbols][0];
    if (symbol !== undefined && !isAbout(symbol, this.#options.instrument))
      this.#options.note(`rows of ${symbol} taken as ${this.#options.instrument}`, this.rows);
    if (wanted === undefined && this.#symbols.size > 1)
      throw new SluiceError(
        "IMPORT_INVALID",
        `${this.#file}: the file holds several symbols (${found}). Choose one with --symbol.`,
      );
  }

  /** JSON objects may have their members in another order, or others. */
  #findColumns(row: Row): void {
    const { plan } = this.#begun as Begun;
    const places = Object.entries(plan.columns).map(
      ([role, place]) => [role, row.names?.indexOf(plan.header?.[place] ?? "") ?? -1] as const,
    );
    const missing = places.filter(([, place]) => place < 0).map(([role]) => role);
    if (missing.some((role) => role !== "id" && role !== "symbol"))
      throw importInvalid(this.#file, row.line, `it lacks ${missing.join(", ")}, which elements before it have.`);
    this.#columns = Object.fromEntries(places.filter(([, place]) => place >= 0));
    this.#names = row.names;
  }
}

/** Returns true if a symbol, in any spelling, begins with the base currency of the instrument. */
const isAbout = (symbol: string, instrument: string): boolean => {
  const plain = symbol
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, "")
    .replace(/^XBT/, "BTC");
  return plain.startsWith(readInstId(instrument)?.base ?? "");
};

const timeText = (cells: readonly string[], place: number | undefined, clock: Plan["clock"]): string => {
  const date = cells[place ?? -1] ?? "";
  return clock === undefined ? date : dateAndClock(date, cells[clock.place] ?? "", clock.digits);
};

const widthOf = ({ header, width }: Plan): string =>
  header === undefined ? `rows before it have ${width}` : `the header names ${width}`;
