/**
 * Begins and ends of bars: a fixed length from an anchor on, or days, weeks and months of a time zone.
 *
 * A length in milliseconds is counted from 1 January 1970 on, whole weeks from a Monday. An anchor moves the begin of
 * every bar. In a zone bars follow its calendar: a day lasts 23 to 25 hours, and shorter bars are counted from its
 * begin, so that the last one of a day may be cut short.
 *
 * Invariants: a length is whole milliseconds, and none that is a number of seconds or minutes by mistake;
 * `startOf(t) <= t < endOf(t)`; bars follow each other without a hole; `endOf(t)` is the start of the next.
 * Not here: offsets of zones (zone-offsets.ts), which recorded bars build which (bar-sources.ts).
 */
import { SluiceError } from "../../errors.ts";
import { ZoneOffsets } from "./zone-offsets.ts";

/** Length of bars: whole milliseconds, or a unit of the calendar. */
export type BarLength = number | "day" | "week" | "month";

/** Begins of bars. */
export interface BarGridOptions {
  /**
   * Begin of the bars: a time of day such as "17:00" or "00:30", or milliseconds after the usual begin. A day that
   * begins at or after noon is the day of the next date, so that weeks of days from 17:00 begin on Sunday at 17:00.
   * @default midnight; Monday for weeks; the first for months
   */
  readonly anchor?: string | number | undefined;
  /**
   * Time zone whose days the bars follow, such as "America/New_York". Bars in a zone divide a day, or are whole days,
   * weeks or months.
   * @default "UTC"
   */
  readonly zone?: string | undefined;
}

/** The begin of bars in plain data. */
export interface BarGrid {
  readonly length: number | "month";
  readonly anchorMs: number;
  readonly zone: string;
}

export const dayMs = 86_400_000;
const weekDays = 7;
/** 5 January 1970, the first Monday. */
const mondayDay = 4;
/** A month on average: what a length in milliseconds is needed for. */
export const monthMs = 2_629_746_000;

const units = { day: dayMs, week: weekDays * dayMs, month: "month" } as const;

/** Bars as they were asked for. */
export interface AskedBars {
  readonly grid: BarGrid;
  /** An anchor or a zone was given. Other bars follow the grid of the recorded bars that they are built from. */
  readonly isExplicit: boolean;
}

const secondMs = 1_000;
/** Bars shorter than this hold next to no trades: such a number counts seconds or minutes. */
const shortestMs = 100;
/** Usual bars in seconds: 1 min to 15 min, 30 min, and hours to a week. */
const seconds = [
  60, 120, 180, 240, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 28_800, 43_200, 86_400, 604_800,
];

/** The refusal of a length names the number to write instead. */
const checkBarLength = (barMs: number): void => {
  if (!Number.isSafeInteger(barMs) || barMs <= 0) {
    throw invalid(`${barMs} is not a bar length; give whole milliseconds, such as 60000 for a minute.`);
  }
  if (barMs >= shortestMs && !seconds.includes(barMs)) return;
  const meant = `for bars of ${barMs} seconds write ${barMs * secondMs}`;
  throw invalid(`a bar length is in milliseconds, and ${barMs} would be ${barMs} ms; ${meant}.`);
};

/**
 * Throws CONFIG_INVALID for a length, an anchor or a zone that cannot be.
 *
 * @param length - milliseconds, "day", "week" or "month"
 * @param options - begin of the first bar of a day, and time zone
 * @returns the grid, and whether it was asked for by name
 * @throws CONFIG_INVALID for a length, an anchor or a zone that cannot be
 */
export const askedBars = (length: BarLength, { anchor, zone = "UTC" }: BarGridOptions = {}): AskedBars => {
  const fixed = typeof length === "string" && Object.hasOwn(units, length) ? units[length] : length;
  if (typeof fixed === "string" && fixed !== "month")
    throw invalid(`there are no bars of a ${JSON.stringify(fixed)}; write milliseconds, "day", "week" or "month".`);
  if (fixed !== "month") checkBarLength(fixed);
  const grid = { length: fixed, anchorMs: anchorOf(anchor), zone: isUtc(zone) ? "UTC" : zone };
  if (grid.zone !== "UTC" && fixed !== "month" && dayMs % fixed !== 0 && fixed % dayMs !== 0)
    throw invalid(`bars of ${fixed} ms do not divide a day, as bars in the zone ${zone} must.`);
  return { grid, isExplicit: anchor !== undefined || grid.zone !== "UTC" };
};

const isUtc = (zone: string): boolean => /^(utc|etc\/utc|gmt|etc\/gmt|z)$/i.test(zone);

const anchorOf = (anchor: string | number | undefined): number => {
  if (anchor === undefined) return 0;
  if (typeof anchor === "number" && Number.isSafeInteger(anchor)) return anchor;
  const [, hour = "", minute = ""] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(String(anchor)) ?? [];
  if (hour === "")
    throw invalid(`anchor is ${JSON.stringify(anchor)}; write a time of day such as "17:00", or whole milliseconds.`);
  const ms = (Number(hour) * 60 + Number(minute)) * 60_000;
  return 2 * ms < dayMs ? ms : ms - dayMs;
};

const invalid = (problem: string): SluiceError => new SluiceError("CONFIG_INVALID", `candles: ${problem}`);

/**
 * Short name of a grid, without blanks: its length alone where it has no anchor and no zone.
 *
 * @param grid - length, anchor and zone
 * @returns text for `gridOf`
 */
export const gridName = ({ length, anchorMs, zone }: BarGrid): string =>
  anchorMs === 0 && zone === "UTC" ? String(length) : `${length}@${anchorMs}@${zone}`;

/**
 * The grid of such a name.
 *
 * @param name - made by `gridName`
 * @returns length, anchor and zone
 */
export const gridOf = (name: string): BarGrid => {
  const [length = "", anchorMs = "0", zone = "UTC"] = name.split("@");
  return { length: length === "month" ? length : Number(length), anchorMs: Number(anchorMs), zone };
};

/**
 * A length of bars for people.
 *
 * @param grid - length, anchor and zone
 * @returns text such as "60000 ms"
 */
export const lengthName = ({ length, anchorMs, zone }: BarGrid): string => {
  const name = length === "month" ? "month" : `${length} ms`;
  const from = anchorMs === 0 ? "" : ` from ${anchorMs} ms`;
  return `${name}${from}${zone === "UTC" ? "" : ` in ${zone}`}`;
};

/** The bars of a grid: when each begins and ends. Instants are milliseconds since the epoch. */
export class BarCalendar {
  readonly grid: BarGrid;
  /** Length in milliseconds; the average of months. */
  readonly barMs: number;
  /** Every bar is `barMs` long. */
  readonly isFixed: boolean;
  /** Begin of a fixed bar. */
  readonly #base: number;
  readonly #zone: ZoneOffsets | undefined;
  /** The bar that was asked for last. */
  #start = 0;
  #end = 0;

  constructor(grid: BarGrid) {
    const { length, anchorMs, zone } = grid;
    this.grid = grid;
    this.isFixed = length !== "month" && zone === "UTC";
    this.barMs = length === "month" ? monthMs : length;
    this.#base = anchorMs + (this.barMs % (weekDays * dayMs) === 0 ? mondayDay * dayMs : 0);
    this.#zone = zone === "UTC" ? undefined : new ZoneOffsets(zone);
  }

  startOf(at: number): number {
    if (this.isFixed) return Math.floor((at - this.#base) / this.barMs) * this.barMs + this.#base;
    this.#find(at);
    return this.#start;
  }

  endOf(at: number): number {
    if (this.isFixed) return (Math.floor((at - this.#base) / this.barMs) + 1) * this.barMs + this.#base;
    this.#find(at);
    return this.#end;
  }

  /** End of the bar that has its last data before `at`, which may be off by the fraction of a millisecond. */
  endBy(at: number): number {
    return this.endOf(at - 1);
  }

  /** Begin of the bar that ended at `at`. */
  openedBy(at: number): number {
    return this.isFixed ? at - this.barMs : this.startOf(at - 1);
  }

  /** Number of bars that begin after `from` and before `to`, both of which are begins. */
  between(from: number, to: number): number {
    if (this.isFixed) return Math.round((to - from) / this.barMs) - 1;
    let count = -1;
    for (let at = from; at < to; at = this.endOf(at)) count++;
    return count;
  }

  /** The start of the bar `count` bars before the one of `at`. */
  before(at: number, count: number): number {
    if (this.isFixed) return this.startOf(at) - count * this.barMs;
    let start = this.startOf(at);
    for (let bar = 0; bar < count; bar++) start = this.startOf(start - 1);
    return start;
  }

  #find(at: number): void {
    if (at >= this.#start && at < this.#end) return;
    const day = this.#dayOf(at);
    const { length } = this.grid;
    if (length !== "month" && length < dayMs) {
      const [from, until] = [this.#startOfDay(day), this.#startOfDay(day + 1)];
      this.#start = from + Math.floor((at - from) / length) * length;
      this.#end = Math.min(this.#start + length, until);
      return;
    }
    const [first, next] = length === "month" ? monthOf(day) : daysOf(day, length / dayMs);
    this.#start = this.#startOfDay(first);
    this.#end = this.#startOfDay(next);
  }

  /** The number of the day since the epoch, by the wall clock from the anchor on. */
  #dayOf(at: number): number {
    const wall = at + (this.#zone?.at(at) ?? 0);
    const day = Math.floor((wall - this.grid.anchorMs) / dayMs);
    if (at < this.#startOfDay(day)) return day - 1;
    return at < this.#startOfDay(day + 1) ? day : day + 1;
  }

  #startOfDay(day: number): number {
    const wall = day * dayMs + this.grid.anchorMs;
    return this.#zone === undefined ? wall : this.#zone.instantOf(wall);
  }
}

/** First day of the month of a day, and of the month after it. */
const monthOf = (day: number): readonly [number, number] => {
  const date = new Date(day * dayMs);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return [Date.UTC(year, month, 1) / dayMs, Date.UTC(year, month + 1, 1) / dayMs];
};

const daysOf = (day: number, count: number): readonly [number, number] => {
  const from = count % weekDays === 0 ? mondayDay : 0;
  const first = Math.floor((day - from) / count) * count + from;
  return [first, first + count];
};
