/**
 * Bars of a file as a series.
 *
 * Invariants: a bar becomes visible when it has closed, never before; `0 < low <= open, close <= high`; the bar length
 * is the smallest gap and every gap a multiple of it, or bars follow a calendar (bar-grid.ts); a bar that is off the
 * grid of the others is refused by line, unless it is asked for that such bars are dropped or moved; missing bars are
 * counted, not filled in; a bar that is repeated as it was is dropped and counted, one that is repeated otherwise is
 * refused by line.
 */
import { SluiceError } from "sluice";
import { BarCalendar, lengthName, type Series, seriesOf } from "sluice/extension";
import { append, growing } from "../import-columns.ts";
import { type DecimalColumn, type DecimalPool, importInvalid, type Parsed, parseDecimal } from "../import-decimals.ts";
import { type VolumeColumn, volumeColumn } from "../import-volumes.ts";
import type { Note } from "../reader-options.ts";
import { calendarOf, type GridOptions, givenGrid, isMonthLong, isOn, type Placed, placedOn } from "./bar-grid.ts";
import type { RowOrder } from "./row-order.ts";
import { inOrder, type RowSink, type RowValues } from "./row-sink.ts";

interface BarOptions {
  readonly file: string;
  readonly order: RowOrder;
  readonly prices: DecimalPool;
  readonly lotSize: string | undefined;
  readonly timestamp: "open" | "close";
  readonly grid: GridOptions;
  readonly note: Note;
}

const names = ["open", "high", "low", "close"] as const;

export class BarRows implements RowSink {
  readonly #options: BarOptions;
  readonly #columns: Readonly<Record<(typeof names)[number], DecimalColumn>>;
  readonly #volumes: VolumeColumn = volumeColumn();
  /** Line of each row, in the order of the file. */
  readonly #lines = growing(Float64Array);
  /** Text of the bar before, and its length if a column contains it. */
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
    const texts = names.map(cell);
    const parsed = names.map((name, index) => parseDecimal(texts[index] ?? "", file, line, name));
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
    if (!this.#isShaped(row)) {
      const text = `${cell("time")}: ${texts.join(",")}`;
      throw importInvalid(file, line, `${text}: expected 0 < low <= open and close <= high.`);
    }
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
    const read = inOrder(order.at.values.slice(0, order.at.length), by);
    const { calendar, placed } = this.#placed(read, by);
    const rows = placed.rows?.map((row) => by?.[row] ?? row) ?? by;
    this.#countGaps(placed.times, calendar);
    const endOf = (opened: number): number => (calendar.isFixed ? opened + calendar.barMs : calendar.endOf(opened));
    const at = timestamp === "close" ? placed.times : placed.times.map(endOf);
    const columns = [...names.map((name) => inOrder(this.#columns[name].counts(), rows)), inOrder(counts, rows)];
    const { grid, barMs, isFixed } = calendar;
    return [seriesOf("candle", 0, at, columns, isFixed ? barMs : grid)];
  }

  /** The calendar of the bars, and those that fit it; all of them where `rows` is undefined. */
  #placed(
    times: Float64Array,
    by: Uint32Array | undefined,
  ): { readonly calendar: BarCalendar; readonly placed: Omit<Placed, "rows"> & { readonly rows?: Uint32Array } } {
    const { grid: options, note } = this.#options;
    const all = { times };
    const monthly = this.#monthly(times);
    if (monthly !== undefined) return { calendar: monthly, placed: all };
    const barMs = this.#barLength(times);
    const given = givenGrid(barMs, options, this.#options.file);
    const fixed = given ?? gridThrough(times[0] ?? 0, barMs);
    if (given === undefined ? areApartBy(barMs, times) : isOn(given, times)) return { calendar: fixed, placed: all };
    const commonMs = commonGap(times);
    const known = calendarOf(times, commonMs, options);
    if (known !== undefined) {
      note(`bars follow the calendar of ${lengthName(known.grid)}`, times.length);
      return { calendar: known, placed: all };
    }
    const calendar =
      givenGrid(commonMs, options, this.#options.file) ?? gridThrough(phaseOf(times, commonMs), commonMs);
    if (options.offGrid === undefined) throw this.#offGrid(times, calendar, by);
    const placed = placedOn(calendar, times, options.offGrid);
    const moved = placed.times.reduce(
      (count, at, row) => count + (at === times[placed.rows[row] as number] ? 0 : 1),
      0,
    );
    if (moved > 0) note("bars off the grid, moved to their next place", moved);
    if (placed.rows.length < times.length) note("bars off the grid, dropped", times.length - placed.rows.length);
    return { calendar, placed };
  }

  /**
   * Returns the calendar if the bars are months, recognized by their length, though few of them may be equally long.
   */
  #monthly(times: Float64Array): BarCalendar | undefined {
    const shortest = shortestGap(times, this.#toldMs ?? Number.POSITIVE_INFINITY);
    if (!isMonthLong(shortest)) return undefined;
    const [only = 0] = times;
    const begins = times.length === 1 ? Float64Array.of(only, only + shortest) : times;
    return calendarOf(begins, shortest, this.#options.grid);
  }

  #isShaped(row: number): boolean {
    const { open, high, low, close } = this.#columns;
    const [o, h, l, c] = [open.values[row], high.values[row], low.values[row], close.values[row]] as [
      number,
      number,
      number,
      number,
    ];
    return l > 0 && l <= Math.min(o, c) && Math.max(o, c) <= h;
  }

  #barLength(times: Float64Array): number {
    const { file } = this.#options;
    const barMs = shortestGap(times, this.#toldMs ?? Number.POSITIVE_INFINITY);
    if (barMs === Number.POSITIVE_INFINITY)
      throw new SluiceError("IMPORT_INVALID", `${file}: the length of a bar cannot be found from fewer than two rows.`);
    const commonMs = commonGap(times);
    // Hardly any gap is shorter: a shorter one is not the bar length but a bar off the grid, and is reported as such.
    if (commonMs > barMs && shorterGaps(times, commonMs) <= times.length * slipShare) return commonMs;
    if (Number.isSafeInteger(barMs) || Number.isSafeInteger(commonMs)) return barMs;
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: the smallest gap between rows is ${barMs} ms; bars last whole milliseconds.`,
    );
  }

  /** Names the first bar off the grid that most of them share, and how many there are. */
  #offGrid(times: Float64Array, calendar: BarCalendar, by: Uint32Array | undefined): SluiceError {
    const isOff = (at: number): boolean => calendar.startOf(at) !== at;
    const row = Math.max(0, times.findIndex(isOff));
    const count = times.reduce((total, at) => total + (isOff(at) ? 1 : 0), 0);
    const { file } = this.#options;
    const at = times[row] as number;
    const others = count > 1 ? `, the first of ${count}` : "";
    const clocks =
      count > 1 && times.every((time) => time % halfHourMs === (times[0] as number) % halfHourMs) ? clockAdvice : "";
    return importInvalid(
      file,
      this.#lines.values[by?.[row] ?? row] as number,
      `the bar of ${new Date(at).toISOString()} is off the grid${others}: bars last ${calendar.barMs} ms, and it comes ${at - calendar.startOf(at)} ms after its place. ` +
        `Correct its timestamp, or remove the row; --off-grid drop leaves such bars out, and --off-grid shift moves each to its next place.${clocks}`,
    );
  }

  #countGaps(times: Float64Array, calendar: BarCalendar): void {
    const { note } = this.#options;
    for (let row = 1; row < times.length; row++) {
      const missing = calendar.between(times[row - 1] as number, times[row] as number);
      if (missing === 0) continue;
      note("gaps between bars");
      note("bars missing in gaps", missing);
    }
  }
}

const halfHourMs = 1_800_000;
const clockAdvice = " Where the clocks of an exchange change, name its zone: --zone America/New_York.";

/** Equally long bars, one of which begins at `at`. */
const gridThrough = (at: number, barMs: number): BarCalendar => {
  const usual = new BarCalendar({ length: barMs, anchorMs: 0, zone: "UTC" });
  return new BarCalendar({ length: barMs, anchorMs: at - usual.startOf(at), zone: "UTC" });
};

const areApartBy = (barMs: number, times: Float64Array): boolean =>
  times.every((at, row) => row === 0 || Number.isInteger((at - (times[row - 1] as number)) / barMs));

/** An instant at which the most bars of a length begin, by their distance from each other. */
const phaseOf = (times: Float64Array, barMs: number): number => mostFrequent(times.map((at) => at % barMs));

const shortestGap = (times: Float64Array, most: number): number => {
  let shortest = most;
  for (let row = 1; row < times.length; row++)
    shortest = Math.min(shortest, (times[row] as number) - (times[row - 1] as number));
  return shortest;
};

/** Share of all gaps that may be shorter than the most frequent one by a slip. */
const slipShare = 0.05;

const shorterGaps = (times: Float64Array, ms: number): number =>
  times.reduce((count, at, row) => (row > 0 && at - (times[row - 1] as number) < ms ? count + 1 : count), 0);

const commonGap = (times: Float64Array): number =>
  mostFrequent(times.subarray(1).map((at, index) => at - (times[index] as number)));

/** Returns the most frequent value; the smallest of equally frequent ones. */
const mostFrequent = (values: Float64Array): number => {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let [best, most] = [Number.NaN, 0];
  for (const [value, count] of counts)
    if (count > most || (count === most && value < best)) [best, most] = [value, count];
  return best;
};
