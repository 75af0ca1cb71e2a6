/**
 * What a recording holds and what it lacks: its series, their gaps, how long prices were known, and what was asked for in vain.
 *
 * Invariants: pure over columns; a gap is a stretch without any row of a series, longer than `gapMs` or two bars, from the
 * first instant of the recording to its last.
 * Not here: who asks for market data (asked.ts).
 */
import type { QuoteSeries, Series, Tape } from "../market/tape.ts";
import type { Asked } from "./asked.ts";

export interface Gap {
  readonly fromAt: string;
  readonly ms: number;
}

export interface SeriesCoverage {
  readonly instId: string;
  /** `quote`, `trade`, `level`, or `candle` with its length. */
  readonly kind: string;
  readonly rows: number;
  readonly gaps: number;
  /** All gaps together. */
  readonly gapMs: number;
  readonly longest?: Gap;
  /** Share of the run in which both a bid and an ask were known, in percent; for quotes only. */
  readonly quotedPercent?: string;
}

export interface Coverage {
  /** Shortest stretch without rows that counts as a gap; two bars where bars are longer. */
  readonly gapMs: number;
  readonly series: readonly SeriesCoverage[];
  /** Market data that was asked for and that the recording cannot give, such as `quotes of BTC-USDT`. */
  readonly missing: readonly string[];
}

export const gapMsMin = 5 * 60_000;

export const coverageOf = (tape: Tape, asked: readonly Asked[]): Coverage => ({
  gapMs: gapMsMin,
  series: tape.series.map((series) => seriesCoverage(series, tape)),
  missing: asked.filter((wanted) => !canGive(tape, wanted)).map(nameOf),
});

const seriesCoverage = (series: Series, tape: Tape): SeriesCoverage => {
  const threshold = series.kind === "candle" ? Math.max(gapMsMin, 2 * series.barMs) : gapMsMin;
  const gaps = gapsOf(series.at, tape, threshold);
  const longest = gaps.reduce<(typeof gaps)[number] | undefined>(
    (best, gap) => (best === undefined || gap.ms > best.ms ? gap : best),
    undefined,
  );
  return {
    instId: tape.instruments[series.instrument]?.instId ?? "",
    kind: series.kind === "candle" ? `candle ${spanName(series.barMs)}` : series.kind,
    rows: series.at.length,
    gaps: gaps.length,
    gapMs: Math.round(gaps.reduce((total, { ms }) => total + ms, 0)),
    ...(longest && { longest: { fromAt: new Date(longest.at).toISOString(), ms: Math.round(longest.ms) } }),
    ...(series.kind === "quote" && { quotedPercent: quotedPercent(series, tape) }),
  };
};

/** Also before the first row and after the last. */
const gapsOf = (
  times: Float64Array,
  { startAt, endAt }: Tape,
  threshold: number,
): readonly { readonly at: number; readonly ms: number }[] => {
  const gaps: { at: number; ms: number }[] = [];
  let last = startAt;
  for (let row = 0; row <= times.length; row++) {
    const at = row === times.length ? endAt : (times[row] as number);
    if (at - last > threshold) gaps.push({ at: last, ms: at - last });
    last = at;
  }
  return gaps;
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

const canGive = (tape: Tape, { kind, instId, barMs }: Asked): boolean => {
  const own = tape.series.filter(({ instrument, at }) => tape.instruments[instrument]?.instId === instId && at.length > 0);
  if (kind !== "candle") return own.some((series) => series.kind === kind);
  const source = own.some((series) => series.kind === "trade" || (series.kind === "candle" && barMs % series.barMs === 0));
  return source && barMs <= tape.endAt - tape.startAt + 1_000 + barMs * 0.01;
};

const plural = { trade: "trades", quote: "quotes", level: "books", candle: "candles" } as const;

const nameOf = ({ kind, instId, barMs }: Asked): string =>
  `${kind === "candle" ? `candles of ${spanName(barMs)}` : plural[kind]} of ${instId}`;

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
