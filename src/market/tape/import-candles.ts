/**
 * Candles from CSV: `timestamp,open,high,low,close,volume`, in UTC.
 *
 * Invariants: a bar becomes visible when it has closed, never before; rows rise in time; the bar length is the smallest gap and
 * every gap a multiple of it; `low <= open, close <= high`; missing bars are counted, not filled in.
 */
import { SluiceError } from "../../errors.ts";
import { type DecimalColumn, type DecimalPool, importInvalid, parseDecimal } from "./import-decimals.ts";
import { lineAt, type TextLines } from "./import-file.ts";
import { instantOf } from "./import-times.ts";
import { type ParsedVolume, parseVolume, type Volumes, volumesOf } from "./import-volumes.ts";

interface CandleOptions {
  /** Whether the timestamp of a row is the instant its bar began or the one it ended. */
  readonly timestamp: "open" | "close";
  readonly prices: DecimalPool;
  readonly lotSize?: string | undefined;
  readonly note: (what: string, count?: number) => void;
}

interface CandleRows {
  readonly barMs: number;
  /** The instant each bar closed, milliseconds. */
  readonly at: Float64Array;
  readonly open: DecimalColumn;
  readonly high: DecimalColumn;
  readonly low: DecimalColumn;
  readonly close: DecimalColumn;
  readonly volumes: Volumes;
}

const names = ["timestamp", "open", "high", "low", "close", "volume"] as const;
type Name = (typeof names)[number];

export const readCandles = (lines: TextLines, { timestamp, prices, lotSize, note }: CandleOptions): CandleRows => {
  const places = headerOf(lines);
  const columns = { open: prices.column(), high: prices.column(), low: prices.column(), close: prices.column() };
  const parsed: ParsedVolume[] = [];
  const times = new Float64Array(lines.from.length - 1);
  for (let index = 1; index < lines.from.length; index++) {
    const line = lines.number[index] as number;
    const cells = lineAt(lines, index).split(",");
    if (cells.length !== places.width) throw importInvalid(lines.file, line, `${cells.length} cells; the header names ${places.width}.`);
    const cell = (name: Name): string => (cells[places.of[name]] as string).trim();
    times[index - 1] = instantOf(cell("timestamp"), lines.file, line);
    for (const name of ["open", "high", "low", "close"] as const)
      columns[name].push(parseDecimal(cell(name), lines.file, line, name), line);
    parsed.push(parseVolume(cell("volume"), lines.file, line));
    checkShape(columns, index - 1, cells, lines.file, line);
  }
  const barMs = barLength(times, lines);
  countGaps(times, barMs, lines, note);
  const at = timestamp === "close" ? times : times.map((opened) => opened + barMs);
  const volumes = volumesOf(parsed, lotSize, lines.file);
  if (volumes.rounded > 0) note(`volumes brought down to the lot size ${volumes.lotSize}`, volumes.rounded);
  return { barMs, at, ...columns, volumes };
};

interface Header {
  readonly of: Readonly<Record<Name, number>>;
  readonly width: number;
}

const headerOf = (lines: TextLines): Header => {
  const cells = lineAt(lines, 0)
    .split(",")
    .map((cell) => cell.trim().replaceAll('"', "").toLowerCase());
  const missing = names.filter((name) => !cells.includes(name));
  if (missing.length > 0) throw importInvalid(lines.file, 1, `the header lacks ${missing.join(", ")}; expected ${names.join(",")}.`);
  return { of: Object.fromEntries(names.map((name) => [name, cells.indexOf(name)])) as Record<Name, number>, width: cells.length };
};

const checkShape = (
  { open, high, low, close }: Readonly<Record<"open" | "high" | "low" | "close", DecimalColumn>>,
  row: number,
  cells: readonly string[],
  file: string,
  line: number,
): void => {
  const [o, h, l, c] = [open.values[row], high.values[row], low.values[row], close.values[row]] as [number, number, number, number];
  if (l > 0 && l <= Math.min(o, c) && Math.max(o, c) <= h) return;
  throw importInvalid(file, line, `${cells.join(",")}: expected 0 < low <= open and close <= high.`);
};

const barLength = (times: Float64Array, lines: TextLines): number => {
  if (times.length < 2)
    throw new SluiceError("IMPORT_INVALID", `${lines.file}: the length of a bar cannot be told from fewer than two rows.`);
  let barMs = Number.POSITIVE_INFINITY;
  for (let row = 1; row < times.length; row++) {
    const gap = (times[row] as number) - (times[row - 1] as number);
    if (gap <= 0) {
      const problem = gap === 0 ? "repeats the timestamp of the row before it" : "comes before the row above it";
      throw importInvalid(lines.file, lines.number[row + 1] as number, `${lineAt(lines, row + 1).split(",")[0]} ${problem}.`);
    }
    barMs = Math.min(barMs, gap);
  }
  if (Number.isSafeInteger(barMs)) return barMs;
  throw new SluiceError("IMPORT_INVALID", `${lines.file}: the smallest gap between rows is ${barMs} ms; bars last whole milliseconds.`);
};

const countGaps = (times: Float64Array, barMs: number, lines: TextLines, note: CandleOptions["note"]): void => {
  for (let row = 1; row < times.length; row++) {
    const bars = ((times[row] as number) - (times[row - 1] as number)) / barMs;
    if (!Number.isInteger(bars)) {
      const problem = `${bars * barMs} ms after the row before it, which is no multiple of the bar length of ${barMs} ms.`;
      throw importInvalid(lines.file, lines.number[row + 1] as number, problem);
    }
    if (bars > 1) {
      note("gaps between bars");
      note("bars missing in gaps", bars - 1);
    }
  }
};
