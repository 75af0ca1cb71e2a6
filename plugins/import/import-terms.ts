/**
 * The terms of trade of a recording: funding rates, mark prices and changes of an instrument's rules.
 *
 * As CSV with a header of `timestamp` and any of `funding`, `mark`, `tickSize`, `lotSize`, `listed`, or as JSON, one
 * object of the same names a line. An empty cell or a missing name has no effect; `timestamp` is UTC or milliseconds
 * since the epoch.
 *
 * Invariants: times rise within a file for each kind, or the row is refused by line; values that are valid until the
 * next row (marks, rules) and were in force when the recording began are moved to its start, all other rows outside the
 * recording are left out and counted; missing funding is counted, not filled in; values are exact or refused, but marks
 * are cut to a billionth of a tick.
 */
import { compare, div, isDecimal, mul, neg, SluiceError } from "sluice";
import { decimal, excerpt, grid, markParts, rateStep, type Series, seriesOf } from "sluice/extension";
import { type DecimalPool, importInvalid, parseDecimal } from "./import-decimals.ts";
import { lineAt, type TextLines } from "./import-file.ts";
import { instantOf } from "./import-instants.ts";
import type { Note } from "./reader-options.ts";
import { oneInstant } from "./time-forms.ts";

interface Term {
  readonly at: number;
  readonly file: string;
  readonly line: number;
}

interface TermValue extends Term {
  readonly value: string;
}

/** Rules of a row; undefined where it has no value. */
interface TermRules extends Term {
  readonly tickSize: string | undefined;
  readonly lotSize: string | undefined;
  readonly listed: boolean | undefined;
}

export interface Terms {
  readonly funding: TermValue[];
  readonly marks: TermValue[];
  readonly changes: TermRules[];
}

export const noTerms = (): Terms => ({ funding: [], marks: [], changes: [] });

/** Layout of a file of terms, for messages. */
export const termsLayout =
  "a CSV file with a header of timestamp and any of funding, mark, tickSize, lotSize and listed, or a JSON object of these names a line";

const names = ["timestamp", "funding", "mark", "tickSize", "lotSize", "listed"] as const;
type Cells = Readonly<Partial<Record<(typeof names)[number], unknown>>>;

/** Adds the content of a file to `terms`. */
export const readTerms = (lines: TextLines, terms: Terms): void => {
  const from = { funding: terms.funding.length, marks: terms.marks.length, changes: terms.changes.length };
  const cellsAt = lineAt(lines, 0).startsWith("{") ? jsonCells : csvCells(lines);
  for (let index = cellsAt === jsonCells ? 0 : 1; index < lines.from.length; index++) {
    takeCells(cellsAt(lines, index), { file: lines.file, line: lines.number[index] as number }, terms);
  }
  checkRising(terms.funding.slice(from.funding), "funding");
  checkRising(terms.marks.slice(from.marks), "mark");
  checkRising(terms.changes.slice(from.changes), "rule");
};

const jsonCells = (lines: TextLines, index: number): Cells => {
  try {
    const value = JSON.parse(lineAt(lines, index)) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Cells;
  } catch {
    // Refused below, like JSON that is no object.
  }
  throw importInvalid(
    lines.file,
    lines.number[index] as number,
    `${excerpt(lineAt(lines, index))} is not a JSON object.`,
  );
};

const csvCells = (lines: TextLines) => {
  const header = lineAt(lines, 0)
    .split(",")
    .map((cell) => cell.trim().replaceAll('"', ""));
  const places = names.map((name) => header.findIndex((cell) => cell.toLowerCase() === name.toLowerCase()));
  return (from: TextLines, index: number): Cells => {
    const cells = lineAt(from, index).split(",");
    if (cells.length !== header.length) {
      throw importInvalid(
        from.file,
        from.number[index] as number,
        `${cells.length} cells; the header names ${header.length}.`,
      );
    }
    return Object.fromEntries(names.map((name, at) => [name, cells[places[at] ?? -1]?.trim().replaceAll('"', "")]));
  };
};

const takeCells = (cells: Cells, { file, line }: Omit<Term, "at">, terms: Terms): void => {
  const word = wordOf(cells.timestamp);
  const us = oneInstant(word);
  const at = us === undefined ? instantOf(word, file, line, "timestamp") : us / 1_000;
  const cell = (name: "funding" | "mark" | "tickSize" | "lotSize"): string | undefined => {
    const value = cells[name];
    if (value === undefined || value === "") return undefined;
    if (isDecimal(value) && (name === "funding" || compare(value, "0") > 0)) return value;
    const rule = name === "funding" ? "a decimal" : "a decimal above 0";
    throw importInvalid(file, line, `"${name}" is ${JSON.stringify(value)}; expected ${rule} in plain digits.`);
  };
  const [funding, mark, tickSize, lotSize, listed] = [
    cell("funding"),
    cell("mark"),
    cell("tickSize"),
    cell("lotSize"),
    listedOf(cells, file, line),
  ];
  if (funding !== undefined) terms.funding.push({ at, file, line, value: funding });
  if (mark !== undefined) terms.marks.push({ at, file, line, value: mark });
  if (tickSize !== undefined || lotSize !== undefined || listed !== undefined)
    terms.changes.push({ at, file, line, tickSize, lotSize, listed });
};

const wordOf = (cell: unknown): string => (typeof cell === "string" ? cell : (JSON.stringify(cell) ?? ""));

const listedOf = ({ listed }: Cells, file: string, line: number): boolean | undefined => {
  if (listed === undefined || listed === "") return undefined;
  const word = wordOf(listed).toLowerCase();
  if (["true", "1", "false", "0"].includes(word)) return word === "true" || word === "1";
  throw importInvalid(file, line, `"listed" is ${JSON.stringify(listed)}; expected true or false.`);
};

const checkRising = (rows: readonly Term[], kind: string): void => {
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1];
    if (before === undefined || row.at > before.at) continue;
    const problem = row.at === before.at ? "has the timestamp of" : "comes before";
    throw importInvalid(
      row.file,
      row.line,
      `this ${kind} ${problem} the one of line ${before.line}; times rise from row to row.`,
    );
  }
};

/** Offers the steps that rules name, so that the tape's own steps divide them. */
export const offerSteps = ({ changes }: Terms, prices: DecimalPool, quantities: DecimalPool | undefined): void => {
  const [ticks, lots] = [prices.column(), quantities?.column()];
  for (const { tickSize, lotSize, file, line } of changes) {
    if (tickSize !== undefined) ticks.push(parseDecimal(tickSize, file, line, "tickSize"), line);
    if (lotSize !== undefined) lots?.push(parseDecimal(lotSize, file, line, "lotSize"), line);
  }
};

/** Facts of the recording to which the terms are added. */
interface Beside {
  readonly tickSize: string;
  readonly lotSize: string;
  readonly startAt: number;
  readonly endAt: number;
}

/** Series of instrument 0, in the order in which rows of one instant are to be applied. */
export const termSeries = (terms: Terms, beside: Beside, note: Note): Series[] => [
  ...changeSeries(terms.changes, beside, note),
  ...markSeries(terms.marks, beside, note),
  ...fundingSeries(terms.funding, beside, note),
];

/** Rows by time that lie within the recording; of those before it the last, where it `stands` until the next. */
const within = <T extends Term>(
  rows: readonly T[],
  { startAt, endAt }: Beside,
  stands: boolean,
  what: string,
  note: Note,
): T[] => {
  const sorted = [...rows].sort((a, b) => a.at - b.at);
  const inside = sorted.filter(({ at }) => at >= startAt && at <= endAt);
  const last = stands ? sorted.filter(({ at }) => at < startAt).at(-1) : undefined;
  if (last !== undefined && inside[0]?.at !== startAt) inside.unshift({ ...last, at: startAt });
  const left = sorted.length - inside.length;
  if (left > 0) note(`${what} outside the recording, dropped`, left);
  return inside;
};

const timesOf = (rows: readonly Term[]): Float64Array => Float64Array.from(rows, ({ at }) => at);

const fundingSeries = (terms: readonly TermValue[], beside: Beside, note: Note): Series[] => {
  const rows = within(terms, beside, false, "funding rates", note);
  checkRising(rows, "funding");
  countGaps(rows, note);
  const rates = rows.map(({ value, file, line }) => unitsOf(value, file, line));
  if (rows.length === 0) return [];
  return [
    seriesOf("funding", 0, timesOf(rows), [
      Int8Array.from(rates, (units) => (units < 0 ? -1 : 1)),
      Float64Array.from(rates, Math.abs),
    ]),
  ];
};

const unitsOf = (value: string, file: string, line: number): number => {
  const size = value.startsWith("-") ? neg(value) : value;
  const units = div(size, rateStep, 0);
  if (compare(mul(units, rateStep), size) === 0 && Number(units) < 2 ** 52)
    return value === size ? Number(units) : -Number(units);
  throw importInvalid(
    file,
    line,
    `"funding" is ${value}; a rate has at most 16 decimals and is below 0.45, such as 0.0001 for a basis point.`,
  );
};

/** Counts missing funding. Funding has equal intervals; the smallest one is assumed for all. */
const countGaps = (rows: readonly Term[], note: Note): void => {
  const gaps = rows.slice(1).map(({ at }, index) => at - (rows[index]?.at ?? 0));
  const interval = gaps.reduce((least, gap) => Math.min(least, gap), Number.POSITIVE_INFINITY);
  const missing = gaps.map((gap) => Math.round(gap / interval) - 1).filter((count) => count > 0);
  if (missing.length === 0) return;
  note("gaps between funding rates", missing.length);
  note(
    "funding rates missing in gaps",
    missing.reduce((total, count) => total + count, 0),
  );
};

const partPlaces = String(markParts).length - 1;

const markSeries = (terms: readonly TermValue[], beside: Beside, note: Note): Series[] => {
  const rows = within(terms, beside, true, "mark prices", note);
  if (rows.length === 0) return [];
  const [px, part] = [new Float64Array(rows.length), new Float64Array(rows.length)];
  for (const [row, { value }] of rows.entries()) {
    const ticks = div(value, beside.tickSize, partPlaces);
    const [whole = "", fraction = ""] = ticks.split(".");
    px[row] = Number(whole);
    part[row] = Number(fraction.padEnd(partPlaces, "0"));
    if (compare(mul(ticks, beside.tickSize), value) !== 0) note("mark prices cut to a billionth of a tick");
  }
  return [seriesOf("mark", 0, timesOf(rows), [px, part])];
};

const changeSeries = (terms: readonly TermRules[], beside: Beside, note: Note): Series[] => {
  // A value that a row does not contain is unchanged, also from before the recording.
  let rules = { tickSize: beside.tickSize, lotSize: beside.lotSize, listed: true };
  const whole = [...terms]
    .sort((a, b) => a.at - b.at)
    .map(({ tickSize = rules.tickSize, lotSize = rules.lotSize, listed = rules.listed, ...row }) => {
      rules = { tickSize, lotSize, listed };
      return { ...row, ...rules };
    });
  const rows = within(whole, beside, true, "changes of rules", note);
  if (rows.length === 0) return [];
  const ticks = rows.map((row) => stepsIn(row.tickSize, beside.tickSize, "tickSize", row));
  const lots = rows.map((row) => stepsIn(row.lotSize, beside.lotSize, "lotSize", row));
  const listed = Uint8Array.from(rows, (row) => (row.listed ? 1 : 0));
  return [seriesOf("change", 0, timesOf(rows), [Float64Array.from(ticks), Float64Array.from(lots), listed])];
};

const stepsIn = (rule: string, step: string, name: "tickSize" | "lotSize", { file, line }: Term): number => {
  try {
    return grid(step).parse(decimal(rule, name));
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const option = name === "tickSize" ? "--tick-size" : "--lot-size";
    throw importInvalid(
      file,
      line,
      `"${name}" is ${rule}, no multiple of ${step}, which the recording is counted in. Give ${option}.`,
    );
  }
};
