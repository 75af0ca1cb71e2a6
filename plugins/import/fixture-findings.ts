/**
 * Suspicious rows of a fixture: impossible prices, gaps, times without data.
 *
 * Invariants: a problem is data that no market produces, or that a backtest would misinterpret; data with a remark may
 * be correct.
 * Not here: damage of files, which reading a fixture finds (fixture.ts).
 */

import type { Tape } from "sluice/backtest";
import { BarCalendar, type FixtureFinding, type Series, seriesName } from "sluice/extension";

/** Returns suspicious rows of a tape, each finding once for each series. */
export const findingsOf = ({ series, instruments }: Tape): readonly FixtureFinding[] =>
  series.flatMap((one) => {
    const found = new Map<string, FixtureFinding>();
    rowFindings(one, (kind, what, row, count = 1, at = one.at[row] ?? 0) => {
      const before = found.get(what);
      const firstAt = before?.firstAt ?? new Date(at).toISOString();
      found.set(what, {
        series: seriesName(one, instruments),
        kind,
        what,
        count: (before?.count ?? 0) + count,
        firstAt,
      });
    });
    return [...found.values()];
  });

type Tell = (kind: FixtureFinding["kind"], what: string, row: number, count?: number, at?: number) => void;

const rowFindings = (series: Series, tell: Tell): void => {
  if (series.kind === "candle") candleFindings(series, tell);
  if (series.kind === "quote") quoteFindings(series, tell);
  if (series.kind === "trade") tradeFindings(series, tell);
  if (series.kind === "level" && series.at.length > 0 && series.snapshot[0] !== 1)
    tell("problem", "the book does not begin with a snapshot", 0);
  if (series.kind === "quote" || series.kind === "trade" || series.kind === "level") silenceOf(series, tell);
};

const candleFindings = (
  { at, barMs, grid, open, high, low, close, volume }: Extract<Series, { kind: "candle" }>,
  tell: Tell,
): void => {
  const calendar = grid === undefined ? undefined : new BarCalendar(grid);
  const missingBefore = (row: number): number => {
    const [before, now] = [at[row - 1] as number, at[row] as number];
    return calendar === undefined ? (now - before) / barMs - 1 : calendar.between(before, now);
  };
  for (let row = 0; row < at.length; row++) {
    const [o, h, l, c] = [open[row], high[row], low[row], close[row]] as [number, number, number, number];
    if (!(l > 0 && l <= Math.min(o, c) && Math.max(o, c) <= h))
      tell("problem", "bars whose low or high is not the lowest or highest price", row);
    if (volume[row] === 0) tell("remark", "bars without volume", row);
    const missing = row === 0 ? 0 : missingBefore(row);
    // The first of them opens when the one before closed.
    if (missing > 0) tell("remark", "bars missing in gaps", row, missing, at[row - 1]);
    if (missing < 0) tell("problem", "bars that begin before the one before them ended", row);
  }
};

const quoteFindings = ({ at, bidPx, bidQty, askPx, askQty }: Extract<Series, { kind: "quote" }>, tell: Tell): void => {
  for (let row = 0; row < at.length; row++) {
    if (bidQty[row] === 0 || askQty[row] === 0) tell("remark", "best prices of one side only", row);
    else if ((bidPx[row] as number) > (askPx[row] as number)) tell("problem", "best prices that cross", row);
    else if (bidPx[row] === askPx[row]) tell("remark", "best prices that are equal", row);
  }
};

const tradeFindings = ({ at, px, qty }: Extract<Series, { kind: "trade" }>, tell: Tell): void => {
  for (let row = 0; row < at.length; row++)
    if (px[row] === 0 || qty[row] === 0) tell("problem", "trades of price or quantity zero", row);
};

const silenceMin = 60_000;

const silenceOf = ({ at }: Series, tell: Tell): void => {
  let [longest, from] = [0, 0];
  for (let row = 1; row < at.length; row++) {
    const gap = (at[row] as number) - (at[row - 1] as number);
    if (gap > longest) [longest, from] = [gap, row - 1];
  }
  if (longest >= silenceMin)
    tell(
      "remark",
      `seconds without a row at most, after ${new Date(at[from] ?? 0).toISOString()}`,
      from,
      Math.round(longest / 1_000),
    );
};
