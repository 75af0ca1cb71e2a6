/**
 * Selects the recorded bars from which requested bars are made: those of the same grid, else the longest that fit into
 * them.
 *
 * Invariants: a recorded bar lies within one of the bars that are built from it, so none ends before its last data;
 * bars asked for without an anchor or a zone have those of the recorded bars.
 * Not here: when bars begin (bar-calendar.ts), building them (bars.ts).
 */
import { type AskedBars, BarCalendar, type BarGrid, dayMs } from "./calendar/bar-calendar.ts";
import { type CandleSeries, gridNameIn } from "./tape/tape.ts";

/** Recorded bars of one length. */
interface BarSource {
  readonly calendar: BarCalendar;
  /** Name of the grid as it was recorded. */
  readonly name: string;
  readonly fromAt: number;
  readonly toAt: number;
}

/** `shiftMs` is added to the recorded instants. */
export const sourceOf = (series: CandleSeries, shiftMs = 0): BarSource => {
  const { at, barMs, grid } = series;
  const [firstAt = 0, lastAt = 0] = [at[0], at.at(-1)];
  return {
    calendar: new BarCalendar(grid ?? { length: barMs, zone: "UTC", anchorMs: phaseOf(firstAt + shiftMs, barMs) }),
    name: gridNameIn(series),
    fromAt: firstAt + shiftMs - barMs,
    toAt: lastAt + shiftMs,
  };
};

/** Offset of bars of a fixed length from the usual begin, at most half a bar to either side. */
const phaseOf = (at: number, barMs: number): number => {
  const usual = new BarCalendar({ length: barMs, anchorMs: 0, zone: "UTC" });
  const late = Math.round(at - usual.startOf(at)) % barMs;
  return 2 * late < barMs ? late : late - barMs;
};

interface Chosen {
  /** Undefined where the bars are built from trades. */
  readonly source: BarSource | undefined;
  /** The recorded bars are the bars that are asked for. */
  readonly isExact: boolean;
  readonly calendar: BarCalendar;
}

export const chooseSource = (asked: AskedBars, sources: readonly BarSource[]): Chosen => {
  const all = sources
    .map((source) => ({ source, calendar: new BarCalendar(gridFor(asked, source)) }))
    .sort((a, b) => b.source.calendar.barMs - a.source.calendar.barMs || off(a.source) - off(b.source));
  const exact = all.find(({ source, calendar }) => isSame(source.calendar.grid, calendar.grid));
  if (exact !== undefined) return { ...exact, isExact: true };
  const fitting = all.find(({ source, calendar }) => fits(source, calendar));
  if (fitting !== undefined) return { ...fitting, isExact: false };
  return { source: undefined, isExact: false, calendar: new BarCalendar(asked.grid) };
};

/** Bars on the usual grid come first. */
const off = ({ calendar: { grid } }: BarSource): number => (grid.anchorMs === 0 && grid.zone === "UTC" ? 0 : 1);

const gridFor = ({ grid, isExplicit }: AskedBars, { calendar }: BarSource): BarGrid => {
  if (isExplicit) return grid;
  const { anchorMs, zone } = calendar.grid;
  const { length } = grid;
  const divides = length === "month" || dayMs % length === 0 || length % dayMs === 0;
  return zone === "UTC" || divides ? { length, anchorMs, zone } : grid;
};

const isSame = (a: BarGrid, b: BarGrid): boolean => {
  if (a.length !== b.length || a.zone !== b.zone) return false;
  if (a.length === "month" || a.zone !== "UTC") return a.anchorMs === b.anchorMs;
  return (a.anchorMs - b.anchorMs) % a.length === 0;
};

/** So many bars are looked at where calendars differ. */
const barsMax = 4_000;

const fits = ({ calendar, fromAt, toAt }: BarSource, target: BarCalendar): boolean => {
  if (calendar.barMs >= target.barMs) return false;
  if (calendar.isFixed && target.isFixed)
    return target.barMs % calendar.barMs === 0 && calendar.startOf(target.startOf(0)) === target.startOf(0);
  let boundary = target.startOf(fromAt);
  for (let bar = 0; bar < barsMax && boundary <= toAt; bar++) {
    if (calendar.startOf(boundary) !== boundary) return false;
    boundary = target.endOf(boundary);
  }
  return true;
};
