/**
 * Contents and gaps of a recording: its series, their gaps, how long prices were known, and requests without
 * data.
 *
 * Invariants: pure over columns; a gap is a stretch without any row of a series, longer than `gapMs`, two bars or one
 * and a half intervals of funding, from the first instant of the recording to its last. Changes of rules come when they
 * come: no gaps.
 * Not here: who asks for market data (requested-data.ts).
 */
import { chooseSource, sourceOf } from "../market/bar-sources.ts";
import { type BarGrid, lengthName } from "../market/calendar/bar-calendar.ts";
import { gridIn, type QuoteSeries, type Series, type Tape } from "../market/tape/tape.ts";
import type { Asked } from "./requested-data.ts";

interface Gap {
  readonly fromAt: string;
  readonly ms: number;
}

export interface SeriesCoverage {
  readonly instId: string;
  /** `quote`, `trade`, `level`, `funding`, `mark`, `change`, or `candle` with its length. */
  readonly kind: string;
  readonly rows: number;
  readonly gaps: number;
  /** All gaps together. */
  readonly gapMs: number;
  readonly longest?: Gap;
  /** Share of the run in which both a bid and an ask were known, in percent; for quotes only. */
  readonly quotedPercent?: string;
}

/** Series of a recording that strategies requested, and their gaps. */
export interface Coverage {
  /** Shortest stretch without rows that counts as a gap; two bars where bars are longer. */
  readonly gapMs: number;
  readonly series: readonly SeriesCoverage[];
  /** The beginning of the recording in which nothing was placed; absent where there was none. */
  readonly warmUp?: { readonly untilAt: string; readonly ms: number };
  /** Market data that was asked for and that the recording cannot give, such as `quotes of BTC-USDT`. */
  readonly missing: readonly string[];
  /** Strategies that requested it, and other series of that instrument; absent where none did. */
  readonly missed?: readonly Missed[];
}

interface Missed {
  readonly strategies: readonly string[];
  /** As in `missing`. */
  readonly what: string;
  /** Such as `candles of 1 min and trades`, or `nothing`. */
  readonly instead: string;
}

const gapMsMin = 5 * 60_000;

export const coverageOf = (tape: Tape, asked: readonly Asked[], tradesAt = tape.startAt): Coverage => {
  const inVain = asked.filter((wanted) => !canGive(tape, wanted));
  const missed = inVain.flatMap((wanted) =>
    wanted.by === undefined
      ? []
      : [{ strategies: wanted.by, what: nameOf(wanted), instead: heldOf(tape, wanted.instId) }],
  );
  return {
    gapMs: gapMsMin,
    ...(tradesAt > tape.startAt && {
      warmUp: { untilAt: new Date(tradesAt).toISOString(), ms: Math.round(tradesAt - tape.startAt) },
    }),
    series: tape.series.map((series) => seriesCoverage(series, tape)),
    missing: inVain.map(nameOf),
    ...(missed.length > 0 && { missed }),
  };
};

const seriesCoverage = (series: Series, tape: Tape): SeriesCoverage => {
  const threshold = thresholdOf(series);
  const gaps = gapsOf(series.at, tape, threshold);
  const longest = gaps.reduce<(typeof gaps)[number] | undefined>(
    (best, gap) => (best === undefined || gap.ms > best.ms ? gap : best),
    undefined,
  );
  return {
    instId: tape.instruments[series.instrument]?.instId ?? "",
    kind: series.kind === "candle" ? `candle ${barName(gridIn(series))}` : series.kind,
    rows: series.at.length,
    gaps: gaps.length,
    gapMs: Math.round(gaps.reduce((total, { ms }) => total + ms, 0)),
    ...(longest && { longest: { fromAt: new Date(longest.at).toISOString(), ms: Math.round(longest.ms) } }),
    ...(series.kind === "quote" && { quotedPercent: quotedPercent(series, tape) }),
  };
};

const thresholdOf = (series: Series): number => {
  if (series.kind === "change") return Number.POSITIVE_INFINITY;
  if (series.kind === "candle") return Math.max(gapMsMin, 2 * series.barMs);
  return series.kind === "funding" ? Math.max(gapMsMin, 1.5 * smallestStep(series.at)) : gapMsMin;
};

/** Smallest distance of two rows; infinite where there are fewer than two. */
const smallestStep = (at: Float64Array): number => {
  let least = Number.POSITIVE_INFINITY;
  for (let row = 1; row < at.length; row++) least = Math.min(least, (at[row] as number) - (at[row - 1] as number));
  return least;
};

/** Also before the first row and after the last. */
const gapsOf = (
  times: Float64Array,
  { startAt, endAt }: Tape,
  threshold: number,
): readonly { readonly at: number; readonly ms: number }[] => {
  const gaps: { at: number; ms: number }[] = [];
  const note = (at: number, until: number): void => {
    if (until - at > threshold) gaps.push({ at, ms: until - at });
  };
  note(startAt, times[0] ?? endAt);
  for (let row = gapAfter(times, 1, threshold); row < times.length; row = gapAfter(times, row + 1, threshold)) {
    note(times[row - 1] as number, times[row] as number);
  }
  if (times.length > 0) note(times[times.length - 1] as number, endAt);
  return gaps;
};

/**
 * The first row, from `row` on, that comes more than `threshold` after the one before it; the length when there is
 * none.
 */
const gapAfter = (times: Float64Array, row: number, threshold: number): number => {
  let next = row;
  while (next < times.length && (times[next] as number) - (times[next - 1] as number) <= threshold) next++;
  return next;
};

/** Rounded down, so that 100 means always. */
const quotedPercent = ({ at, bidQty, askQty }: QuoteSeries, { startAt, endAt }: Tape): string => {
  if (endAt <= startAt) return "0";
  let known = 0;
  for (let row = 0; row < at.length; row++) {
    const until = row + 1 < at.length ? (at[row + 1] as number) : endAt;
    if ((bidQty[row] as number) > 0 && (askQty[row] as number) > 0) known += until - (at[row] as number);
  }
  return String(Math.floor((known / (endAt - startAt)) * 1_000 + 1e-6) / 10);
};

const canGive = (tape: Tape, { kind, instId, bars }: Asked): boolean => {
  const own = tape.series.filter(
    ({ instrument, at }) => tape.instruments[instrument]?.instId === instId && at.length > 0,
  );
  if (kind !== "candle" || bars === undefined) return own.some((series) => series.kind === kind);
  const recorded = own.flatMap((series) => (series.kind === "candle" ? [sourceOf(series)] : []));
  const { source, calendar } = chooseSource(bars, recorded);
  const { barMs } = calendar;
  const isGiven = source !== undefined || own.some((series) => series.kind === "trade");
  return isGiven && barMs <= tape.endAt - tape.startAt + 1_000 + barMs * 0.01;
};

const plural = {
  trade: "trades",
  quote: "quotes",
  level: "books",
  candle: "candles",
  funding: "funding rates",
  mark: "mark prices",
  change: "changes",
} as const;

const kindName = (kind: Asked["kind"], grid: BarGrid | undefined): string =>
  grid === undefined ? plural[kind] : `candles of ${barName(grid)}`;

const barName = (grid: BarGrid): string =>
  grid.length === "month" || grid.zone !== "UTC" || grid.anchorMs !== 0 ? lengthName(grid) : spanName(grid.length);

const nameOf = ({ kind, instId, bars }: Asked): string => `${kindName(kind, bars?.grid)} of ${instId}`;

/** Series that orders can be filled from; funding, marks and changes alone fill none. */
const heldOf = ({ series, instruments }: Tape, instId: string): string => {
  const own = series.filter(({ instrument, at }) => instruments[instrument]?.instId === instId && at.length > 0);
  const names = own.flatMap((one) =>
    one.kind === "funding" || one.kind === "mark" || one.kind === "change"
      ? []
      : [kindName(one.kind, one.kind === "candle" ? gridIn(one) : undefined)],
  );
  return names.length === 0 ? "nothing" : names.join(" and ");
};

/** 60 s bars are called as people write them. */
const spanName = (ms: number): string => {
  const [size, unit] = (
    [
      [86_400_000, "d"],
      [3_600_000, "h"],
      [60_000, "min"],
      [1_000, "s"],
    ] as const
  ).find(([length]) => ms % length === 0) ?? [1, "ms"];
  return `${ms / size} ${unit}`;
};
