/**
 * Detects the layout of a file and the positions of its columns: by its header, or by its first rows where it has none.
 *
 * Invariants: a file that fits two layouts, or has two columns for one role, is refused with the names of both; nothing
 * is guessed.
 * Not here: the layouts (layouts.ts), reading the rows (table-reader.ts).
 */

import { SluiceError } from "sluice";
import { didYouMean, excerpt } from "sluice/extension";
import { importInvalid } from "../import-decimals.ts";
import { microsecondsOf } from "../import-instants.ts";
import { canBe, isBlank, isNumeric } from "./cell-kinds.ts";
import { type ClockColumn, clockDigits, isDate } from "./date-columns.ts";
import { type Layout, plainName, type Role, rolesOf } from "./layout.ts";
import { layouts } from "./layouts.ts";
import type { Row } from "./text-rows.ts";

/** Plan for reading the rows of a file. */
export interface Plan {
  readonly layout: Layout;
  /** Names of the columns as the file has them; undefined without a header. */
  readonly header: readonly string[] | undefined;
  /** Number of rows before the data. */
  readonly skip: number;
  readonly width: number;
  readonly columns: Readonly<Partial<Record<Role, number>>>;
  /** The column with the time of day, where date and time are apart. */
  readonly clock: ClockColumn | undefined;
  /** The symbol whose columns are read, where a row names a symbol for each column. */
  readonly ticker: string | undefined;
  /** Columns of the levels of a book, the best first. */
  readonly levels: readonly Readonly<Record<"bid" | "bidQty" | "ask" | "askQty", number>>[];
}

interface Subject {
  readonly file: string;
  /** Layout requested by a user: a name of the table, or a layout of their own. */
  readonly layout?: string | Layout | undefined;
  readonly base: string;
  readonly quote: string;
  /** The symbol that was asked for. */
  readonly symbol?: string | undefined;
}

/** `rows` are the first rows of the file. */
export const planFor = (rows: readonly Row[], subject: Subject): Plan => {
  const { file } = subject;
  const begin = rows.findIndex(({ cells }) => cells.length > 1 && !cells[0]?.startsWith("#"));
  // Columns grouped by symbol have the row of symbols above that of names.
  const isGrouped = rows[begin]?.cells[0] === "Ticker" && rows[begin + 1]?.cells[0] === "Price";
  const start = isGrouped ? begin + 1 : begin;
  const first = rows[start];
  if (first === undefined) throw unknownLayout(rows, subject);
  const isHeader = first.names === undefined && isHeaderRow(first.cells);
  const whole = first.names ?? (isHeader ? withIndex(first.cells, rows.slice(start + 1)) : undefined);
  const tickers = isGrouped ? rows[begin] : isHeader ? rows[start + 1] : undefined;
  const ticker = tickers?.cells[0] === "Ticker" ? tickerOf(tickers.cells, subject) : undefined;
  const header = whole?.map((name, index) => {
    const isOther = ticker !== undefined && index > 0 && tickers?.cells[index] !== ticker;
    return isOther ? "" : name;
  });
  const skip = start + (isHeader ? 1 : 0);
  const data = rows.slice(skip);
  const wanted = typeof subject.layout === "string" ? named(subject.layout) : subject.layout;
  const places = header === undefined ? undefined : placesOf(header, subject);
  const found = wanted === undefined ? (places === undefined ? byRows(data) : byHeader(places)) : [wanted];
  const [layout, ...others] = found;
  checkRecords(first, data, file);
  if (layout === undefined)
    throw places === undefined ? unknownLayout(data, subject) : unknownHeader(first, places, subject);
  if (others.length > 0) {
    const names = found.map(({ name, about }) => `--layout ${name}: ${about}`);
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: its rows can be read in ${found.length} ways. Choose the right one:`,
      names,
    );
  }
  if (places !== undefined)
    return withHeader(layout, places, { header: header as readonly string[], skip, data, file, ticker });
  const [odd] = wanted === undefined ? oddRows(layout, data) : [];
  if (odd !== undefined)
    throw importInvalid(
      file,
      odd.line,
      `${shown(odd)} does not fit the layout of the other rows, ${layout.name} (${layout.about}). Correct the row, or remove it.`,
    );
  return withoutHeader(layout, { skip, data, file });
};

/** Refuses one JSON object of columns, which reads as a single row of lists. */
const checkRecords = (first: Row, data: readonly Row[], file: string): void => {
  if (first.names === undefined || data.length !== 1) return;
  if (data[0]?.cells.every((cell) => cell === "" || cell.startsWith("[")) !== true) return;
  throw importInvalid(
    file,
    first.line,
    "it is one JSON object of columns. Write a list of records (pandas: to_json(orient='records')).",
  );
};

/** The index that pandas writes first and without a name is the time where it holds instants. */
const withIndex = (names: readonly string[], data: readonly Row[]): readonly string[] => {
  const [index = "", ...others] = names;
  const isUnnamed = /^(|unnamed: ?0|index|level_0)$/i.test(index);
  const areInstants =
    data.length > 0 &&
    data.every(({ cells: [cell = ""] }) => microsecondsOf(cell) !== undefined && !/^\d{8}$/.test(cell));
  return isUnnamed && areInstants ? ["datetime", ...others] : names;
};

/** The symbol whose columns are read, out of a row that names one for each column. */
const tickerOf = ([, ...cells]: readonly string[], { file, symbol }: Subject): string | undefined => {
  const all = [...new Set(cells.filter((cell) => cell !== ""))].sort();
  if (all.length === 0) return undefined;
  const found = all.join(", ");
  if (symbol === undefined && all.length > 1) {
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: the file holds several symbols (${found}). Choose one with --symbol.`,
    );
  }
  if (symbol !== undefined && !all.includes(symbol))
    throw new SluiceError("IMPORT_INVALID", `${file}: no column is of symbol "${symbol}"; found ${found}.`);
  return symbol ?? all[0];
};

const named = (name: string): Layout => {
  const found = layouts.find((layout) => layout.name === name);
  if (found !== undefined) return found;
  const known = layouts.map((layout) => layout.name);
  throw new SluiceError(
    "USAGE",
    `layout: there is no "${name}".${didYouMean(name, known)} Known are: ${known.join(", ")}.`,
  );
};

/** Names and no values. */
const isHeaderRow = (cells: readonly string[]): boolean =>
  cells.some((cell) => /[a-z]/i.test(cell)) &&
  !cells.some((cell) => isNumeric(cell) || microsecondsOf(cell) !== undefined);

/** Returns the columns of a header that match a pattern, in the order of the header. */
type Places = (pattern: string) => readonly number[];

const placesOf = (header: readonly string[], { base, quote }: Subject): Places => {
  const plain = header.map(plainName);
  return (pattern) => {
    const text = plainName(pattern.replace("{base}", base).replace("{quote}", quote));
    if (!text.includes("*")) return plain.flatMap((name, index) => (name === text ? [index] : []));
    return plain.flatMap((name, index) => (name.startsWith(text.slice(0, text.indexOf("*"))) ? [index] : []));
  };
};

/** The layouts that the most of the rows fit, if that is more than half of them. Rows without values fit any. */
const byRows = (data: readonly Row[]): readonly Layout[] => {
  const counted = layouts.map((layout) => ({ layout, odd: oddRows(layout, data).length }));
  const least = Math.min(...counted.map(({ odd }) => odd));
  if (2 * least >= data.filter(({ cells }) => !isEmpty(cells)).length) return [];
  return counted.filter(({ odd }) => odd === least).map(({ layout }) => layout);
};

/** Nothing but an instant, as where there were no trades. */
const isEmpty = (cells: readonly string[]): boolean =>
  cells.every((cell) => isBlank(cell) || microsecondsOf(cell) !== undefined || Number(cell) === 0) &&
  cells.filter(isBlank).length * 2 > cells.length;

const oddRows = ({ order }: Layout, data: readonly Row[]): readonly Row[] =>
  data.filter(({ cells }) => order === undefined || !(isEmpty(cells) || canBe(order, cells)));

const byHeader = (places: Places): readonly Layout[] => {
  const fitting = layouts.filter((layout) => layout.columns !== undefined && missingIn(layout, places).length === 0);
  const most = Math.max(...fitting.map(({ marks = [] }) => marks.length));
  return fitting.filter(({ marks = [] }) => marks.length === most);
};

const placeOf = (layout: Layout, role: Role, places: Places, level = ""): number | undefined =>
  (layout.columns?.[role] ?? [])
    .map((name) => places(name.replace("#", level))[0])
    .find((place) => place !== undefined);

/** Returns the columns that a header lacks to have this layout. */
const missingIn = (layout: Layout, places: Places): readonly string[] => {
  const { rows, marks = [] } = layout;
  const missing = rolesOf(rows).filter((role) => placeOf(layout, role, places, "0") === undefined);
  const sideless =
    rows === "trades" &&
    (["side", "buyerIsMaker"] as const).every((role) => placeOf(layout, role, places) === undefined);
  return [...missing, ...(sideless ? ["side"] : []), ...marks.filter((mark) => places(mark).length === 0)];
};

interface Found {
  readonly skip: number;
  readonly data: readonly Row[];
  readonly file: string;
}

const withHeader = (
  layout: Layout,
  places: Places,
  found: Found & Pick<Plan, "ticker"> & { readonly header: readonly string[] },
): Plan => {
  const { header, skip, data, file, ticker } = found;
  const missing = missingIn({ ...layout, marks: [] }, places);
  if (missing.length > 0) {
    const names = missing.map(
      (role) => `${role}: ${(layout.columns?.[role as Role] ?? ["no name is given for it"]).join(", ")}`,
    );
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: for layout ${layout.name} the header ${header.join(",")} lacks`,
      names,
    );
  }
  const columns: Partial<Record<Role, number>> = {};
  for (const role of Object.keys(layout.columns ?? {}) as Role[]) {
    const place = placeOf(layout, role, places);
    if (place !== undefined) columns[role] = place;
  }
  const clock = clockOf(layout, columns, places, data);
  checkOneEach(layout, columns, places, { ...found, clock });
  return {
    layout,
    header,
    skip,
    width: header.length,
    columns,
    clock,
    ticker,
    levels: layout.rows === "book" ? levelsOf(layout, places) : [],
  };
};

/** Date and time in two columns: then one of them holds the time of day. */
const clockOf = (
  layout: Layout,
  columns: Plan["columns"],
  places: Places,
  data: readonly Row[],
): ClockColumn | undefined => {
  if (layout.marks !== undefined) return undefined;
  const rows = data.filter(({ cells }) => !layout.skip?.includes(cells[0] ?? ""));
  const textsOf = (place: number): readonly string[] => rows.map(({ cells }) => cells[place] ?? "");
  const named = [...(layout.columns?.time ?? []), ...clockNames].flatMap((name) => places(name));
  const date = named.find((place) => rows.length > 0 && textsOf(place).every(isDate));
  if (date === undefined) return undefined;
  for (const place of named) {
    const digits = place === date ? undefined : clockDigits(textsOf(place));
    if (digits === undefined) continue;
    (columns as { time: number }).time = date;
    return { place, digits };
  }
  return undefined;
};

/** Names of a time of day, besides those of a time. */
const clockNames = ["time_of_day", "hour", "hhmm", "hhmmss", "time_utc"];

/**
 * Takes a column only where no other could be meant: one of the same name, or for a layout that goes by usual names
 * alone one of another name for the same thing.
 */
const checkOneEach = (
  layout: Layout,
  columns: Plan["columns"],
  places: Places,
  found: Found & Pick<Plan, "header" | "clock">,
): void => {
  const { file, header = [], data, clock } = found;
  for (const [role, place] of Object.entries(columns) as [Role, number][]) {
    const meant = layout.marks === undefined ? (layout.columns?.[role] ?? []) : [header[place] ?? ""];
    const all = [...new Set(meant.flatMap((name) => places(name)))].filter((other) => other !== clock?.place);
    const rivals =
      role === "time"
        ? all.filter((other) => !sameInstants(data, place, other))
        : all.filter((other) => other !== place);
    if (rivals.length === 0 || role === "symbol" || role === "id") continue;
    const names = [place, ...rivals].map((column) => `"${header[column] ?? ""}"`).join(" or ");
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: ${role} can be column ${names}. Remove one, or name the right one in a layout of your own (--layout FILE).`,
    );
  }
};

const sameInstants = (data: readonly Row[], one: number, other: number): boolean =>
  data.every(({ cells }) => {
    const [a, b] = [microsecondsOf(cells[one] ?? ""), microsecondsOf(cells[other] ?? "")];
    // A date next to an instant may be rounded to its day or second.
    return a === b || (a !== undefined && b !== undefined && a - b < 86_400_000_000 && a >= b && b % 1_000_000 === 0);
  });

const levelsOf = (layout: Layout, places: Places): Plan["levels"] => {
  const levels: Record<"bid" | "bidQty" | "ask" | "askQty", number>[] = [];
  for (let level = 0; ; level++) {
    const [bid, bidQty, ask, askQty] = (["bid", "bidQty", "ask", "askQty"] as const).map((role) =>
      placeOf(layout, role, places, String(level)),
    );
    if (bid === undefined || bidQty === undefined || ask === undefined || askQty === undefined) return levels;
    // A column that holds all levels is found for each of them.
    if (levels.at(-1)?.bid === bid) return levels;
    levels.push({ bid, bidQty, ask, askQty });
  }
};

const withoutHeader = (layout: Layout, { skip, data, file }: Found): Plan => {
  const { order, name } = layout;
  const row = data[0];
  if (order === undefined || row === undefined || row.cells.length !== order.length) {
    const columns = order === undefined ? "only with a header" : `${order.length} columns: ${order.join(", ")}`;
    throw new SluiceError("IMPORT_INVALID", `${file}: a file of layout ${name} has ${columns}; found ${shown(row)}.`);
  }
  const columns = Object.fromEntries(
    order.flatMap((role, index) => (role.startsWith("?") ? [] : [[role, index] as const])),
  );
  return {
    layout,
    header: undefined,
    skip,
    width: order.length,
    columns,
    clock: undefined,
    ticker: undefined,
    levels: [],
  };
};

const shown = (row: Row | undefined): string =>
  row === undefined ? "no row" : JSON.stringify(excerpt((row.names ?? row.cells).join(","), 120));

/** Creates the error that names the columns a header lacks to have the nearest layout. */
const unknownHeader = (row: Row, places: Places, subject: Subject): SluiceError => {
  const generic = layouts.filter(({ columns, marks }) => columns !== undefined && marks === undefined);
  const lacking = generic.map((layout) => ({ layout, missing: missingIn(layout, places) }));
  const [nearest] = lacking.sort(
    (a, b) => a.missing.length / rolesOf(a.layout.rows).length - b.missing.length / rolesOf(b.layout.rows).length,
  );
  if (nearest === undefined || nearest.missing.length * 2 > rolesOf(nearest.layout.rows).length)
    return unknownLayout([row], subject);
  const { layout, missing } = nearest;
  return importInvalid(
    subject.file,
    row.line,
    `the header lacks ${missing.join(", ")} for ${layout.about}; it is ${(row.names ?? row.cells).join(",")}. ` +
      "Rename a column, or describe the file with --layout FILE.",
  );
};

const unknownLayout = (rows: readonly Row[], { file }: Subject): SluiceError => {
  const row = rows[0];
  if (row === undefined) return new SluiceError("IMPORT_INVALID", `${file}: the file is empty.`);
  return new SluiceError(
    "IMPORT_INVALID",
    `${file}: line ${row.line} is ${shown(row)}, which is of no known layout. Expected recorded messages (\`<receive time in ns> <json>\` a line), ` +
      "or rows of bars, trades, best prices or books with a header such as timestamp,open,high,low,close,volume. " +
      "Name the layout with --layout NAME, or describe it with --layout FILE.",
  );
};
