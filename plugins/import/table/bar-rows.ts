/**
 * Bars of a file as a series.
 *
 * Invariants: a bar becomes visible when it has closed, never before; `0 < low <= open, close <= high`; the bar length
 * is the smallest gap and every gap a multiple of it, or the bar that is off the grid of the most frequent gap is
 * refused by line; missing bars are counted, not filled in; a bar that is repeated as it was is dropped and counted,
 * one that is repeated otherwise is refused by line.
 */
import { SluiceError } from "sluice";
import { type Series, seriesOf } from "sluice/extension";
import { append, growing } from "../import-columns.ts";
import { type DecimalColumn, type DecimalPool, importInvalid, type Parsed, parseDecimal } from "../import-decimals.ts";
import { type VolumeColumn, volumeColumn } from "../import-volumes.ts";
import type { Note } from "../reader-options.ts";
import type { RowOrder } from "./row-order.ts";
import { inOrder, type RowSink, type RowValues } from "./row-sink.ts";

interface BarOptions {
  readonly file: string;
  readonly order: RowOrder;
  readonly prices: DecimalPool;
  readonly lotSize: string | undefined;
  readonly timestamp: "open" | "close";
  readonly note: Note;
}

const names = ["open", "high", "low", "close"] as const;

export class BarRows implements RowSink {
  readonly #options: BarOptions;
  readonly #columns: Readonly<Record<(typeof names)[number], DecimalColumn>>;
  readonly #volumes: VolumeColumn = volumeColumn();
  /** Of each row, in the order of the file. */
  readonly #lines = growing(Float64Array);
  /** The bar before as text, and its length where a column tells it. */
  #last = "";
  #toldMs: number | undefined;
  #lotSize = "1";

  constructor(options: BarOptions) {
    this.#options = options;
    const column = () => options.prices.column();
    this.#columns = { open: column(), high: column(), low: column(), close: column() };
  }

  get lotSize(): string {
    return this.#lotSize;
  }

  push({ at, line, cell, endAt, unit }: RowValues): void {
    const { file, order, note } = this.#options;
    const parsed = names.map((name) => parseDecimal(cell(name), file, line, name));
    const volume = cell("volume");
    const told = [...parsed.map(({ count, places }) => `${count}/${places}`), volume].join();
    if (at === order.last && told === this.#last) {
      note("repeated rows, dropped");
      return;
    }
    if (at === order.last) {
      throw importInvalid(
        file,
        line,
        `${cell("time")} repeats the timestamp of the row before it with other values. Remove one of them.`,
      );
    }
    const row = order.at.length;
    order.push(at, line);
    append(this.#lines, line);
    for (const [index, name] of names.entries()) this.#columns[name].push(parsed[index] as Parsed, line);
    this.#checkShape(row, line, `${cell("time")}: ${names.map(cell).join(",")}`);
    this.#volumes.push(volume, file, line, unit);
    this.#last = told;
    // Exchanges name the last instant within a bar.
    if (endAt !== undefined) this.#toldMs = Math.ceil((endAt - at) / 1_000) * 1_000;
  }

  series(): Series[] {
    const { file, order, timestamp, lotSize, note } = this.#options;
    const { counts, lotSize: found, rounded } = this.#volumes.volumes(lotSize, file);
    this.#lotSize = found;
    if (rounded > 0) note(`volumes brought down to the lot size ${found}`, rounded);
    const by = order.order();
    const times = inOrder(order.at.values.slice(0, order.at.length), by);
    const barMs = this.#barLength(times);
    this.#checkGrid(times, barMs, by);
    this.#countGaps(times, barMs);
    const at = timestamp === "close" ? times : times.map((opened) => opened + barMs);
    const columns = [...names.map((name) => inOrder(this.#columns[name].counts(), by)), inOrder(counts, by)];
    return [seriesOf("candle", 0, at, columns, barMs)];
  }

  #checkShape(row: number, line: number, shown: string): void {
    const { open, high, low, close } = this.#columns;
    const [o, h, l, c] = [open.values[row], high.values[row], low.values[row], close.values[row]] as [
      number,
      number,
      number,
      number,
    ];
    if (l > 0 && l <= Math.min(o, c) && Math.max(o, c) <= h) return;
    throw importInvalid(this.#options.file, line, `${shown}: expected 0 < low <= open and close <= high.`);
  }

  #barLength(times: Float64Array): number {
    const { file } = this.#options;
    let barMs = this.#toldMs ?? Number.POSITIVE_INFINITY;
    for (let row = 1; row < times.length; row++)
      barMs = Math.min(barMs, (times[row] as number) - (times[row - 1] as number));
    if (barMs === Number.POSITIVE_INFINITY)
      throw new SluiceError("IMPORT_INVALID", `${file}: the length of a bar cannot be told from fewer than two rows.`);
    const commonMs = commonGap(times);
    // Hardly any is shorter: it is no length, but a bar off the grid, and is told as that.
    if (commonMs > barMs && shorterGaps(times, commonMs) <= times.length * slipShare) return commonMs;
    if (Number.isSafeInteger(barMs) || Number.isSafeInteger(commonMs)) return barMs;
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: the smallest gap between rows is ${barMs} ms; bars last whole milliseconds.`,
    );
  }

  /** Where a gap is no multiple of the bar length, some bar is off the grid that most of them share. */
  #checkGrid(times: Float64Array, barMs: number, by: Uint32Array | undefined): void {
    const isOnGrid = (lengthMs: number): boolean =>
      times.every((at, row) => row === 0 || Number.isInteger((at - (times[row - 1] as number)) / lengthMs));
    if (isOnGrid(barMs)) return;
    const commonMs = commonGap(times);
    const phase = mostFrequent(times.map((at) => at % commonMs));
    const row = Math.max(
      0,
      times.findIndex((at) => at % commonMs !== phase),
    );
    const { file } = this.#options;
    const at = times[row] as number;
    const offMs = (((at - phase) % commonMs) + commonMs) % commonMs;
    throw importInvalid(
      file,
      this.#lines.values[by?.[row] ?? row] as number,
      `the bar of ${new Date(at).toISOString()} is off the grid: bars last ${commonMs} ms, and it comes ${offMs} ms after its place. Correct its timestamp, or remove the row.`,
    );
  }

  #countGaps(times: Float64Array, barMs: number): void {
    const { note } = this.#options;
    for (let row = 1; row < times.length; row++) {
      const bars = ((times[row] as number) - (times[row - 1] as number)) / barMs;
      if (bars > 1) {
        note("gaps between bars");
        note("bars missing in gaps", bars - 1);
      }
    }
  }
}

/** So many of all gaps may be shorter than the most frequent one by a slip. */
const slipShare = 0.05;

const shorterGaps = (times: Float64Array, ms: number): number =>
  times.reduce((count, at, row) => (row > 0 && at - (times[row - 1] as number) < ms ? count + 1 : count), 0);

const commonGap = (times: Float64Array): number =>
  mostFrequent(times.subarray(1).map((at, index) => at - (times[index] as number)));

/** Of equally frequent values the smallest. */
const mostFrequent = (values: Float64Array): number => {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let [best, most] = [Number.NaN, 0];
  for (const [value, count] of counts)
    if (count > most || (count === most && value < best)) [best, most] = [value, count];
  return best;
};
