/**
 * The grid of the bars of a file: one length, or days, weeks or months of a calendar.
 *
 * Invariants: every bar begins on the grid, or is reported as off the grid; a calendar is taken only if all bars fit
 * it; bars that are moved end no earlier than their data.
 * Not here: the begins of bars (BarCalendar), reading rows (bar-rows.ts).
 */
import { SluiceError } from "sluice";
import { askedBars, BarCalendar, type BarGrid } from "sluice/extension";

/** Treatment of bars that do not fit the grid of the others. */
export type OffGrid = "drop" | "shift";

export interface GridOptions {
  readonly anchor?: string | undefined;
  readonly zone?: string | undefined;
  readonly offGrid?: OffGrid | undefined;
}

const dayMs = 86_400_000;
/** Zones whose days files of bars follow, tried where none was given; the first also from the close of currencies. */
const zones = [
  "America/New_York",
  "Europe/London",
  "Europe/Berlin",
  "America/Chicago",
  "America/Los_Angeles",
  "Australia/Sydney",
] as const;
const anchors = [undefined, "17:00", "09:30", "08:00", "09:00", "18:00"] as const;

export const isMonthLong = (ms: number): boolean => ms >= 28 * dayMs && ms <= 31 * dayMs;

/** Returns true if a bar of the calendar begins at each of these instants. */
export const isOn = (calendar: BarCalendar, times: Float64Array): boolean =>
  times.every((at) => calendar.startOf(at) === at);

/** The calendar that all bars fit, of those that were given or are usual. `times` rise. */
export const calendarOf = (times: Float64Array, commonMs: number, options: GridOptions): BarCalendar | undefined => {
  const length = isMonthLong(commonMs) ? "month" : commonMs;
  if (length !== "month" && dayMs % length !== 0 && length % dayMs !== 0) return undefined;
  for (const grid of gridsOf(length, options)) {
    const calendar = new BarCalendar(grid);
    if (isOn(calendar, times)) return calendar;
  }
  return undefined;
};

const gridsOf = (length: number | "month", { anchor, zone }: GridOptions): readonly BarGrid[] => {
  const all = zone === undefined ? ["UTC", ...zones] : [zone];
  const begins = anchor === undefined ? anchors : [anchor];
  return begins.flatMap((begin) => all.map((one) => askedBars(length, { anchor: begin, zone: one }).grid));
};

/** Rows that stay and when they begin. */
export interface Placed {
  readonly rows: Uint32Array;
  readonly times: Float64Array;
}

/** Leaves out the bars that `calendar` does not have, or moves each to the next place that is free. */
export const placedOn = (calendar: BarCalendar, times: Float64Array, offGrid: OffGrid): Placed => {
  const rows: number[] = [];
  const placed: number[] = [];
  const taken = new Set(times.filter((at) => calendar.startOf(at) === at));
  for (const [row, at] of times.entries()) {
    // Every place on the grid that a bar has is taken, and no other.
    const isPlaced = taken.has(at);
    const place = isPlaced ? at : calendar.endOf(at);
    if (!isPlaced && (offGrid === "drop" || taken.has(place))) continue;
    taken.add(place);
    rows.push(row);
    placed.push(place);
  }
  return { rows: Uint32Array.from(rows), times: Float64Array.from(placed) };
};

/** The grid of the given options, for bars of one length. */
export const givenGrid = (barMs: number, { anchor, zone }: GridOptions, file: string): BarCalendar | undefined => {
  if (anchor === undefined && zone === undefined) return undefined;
  if (!Number.isSafeInteger(barMs) || barMs <= 0)
    throw new SluiceError("IMPORT_INVALID", `${file}: its bars have no length that an anchor or a zone could go with.`);
  return new BarCalendar(askedBars(barMs, { anchor, zone }).grid);
};
