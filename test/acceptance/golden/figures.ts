/**
 * What a golden result holds: figures that mean something to a person, and the hash of everything else.
 *
 * Invariants: plain JSON; two results are compared figure by figure, the hash last, so that a message names what moved.
 */
import type { RunReport } from "../../../src/backtest.ts";

export type Figures = Readonly<Record<string, string | number>>;

export const figuresOf = ({ orders, quota, drawdown, ...report }: RunReport): Figures => ({
  events: report.events,
  placed: orders.placed,
  canceled: orders.canceled,
  filled: orders.filled,
  rejected: orders.rejected,
  refused: orders.refused,
  fills: report.fills,
  volume: report.volume,
  fees: report.fees,
  pnl: report.pnl,
  drawdown: drawdown.max,
  requests: quota.requests,
  weight: quota.weight,
  rejected429: quota.rejected429,
  blockedMinutes: quota.blockedMinutes,
  peakWeight: quota.perLayerPeak.uid,
  resultHash: report.resultHash.slice(0, 16),
});

/** `pnl: was -1.20, is -1.35`, one line a figure that is not as it was. */
export const moved = (was: Figures | undefined, is: Figures): readonly string[] => {
  if (was === undefined) return ["there is no golden result yet"];
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((name) => was[name] !== is[name]);
  if (names.length === 1 && names[0] === "resultHash") {
    return [`resultHash: was ${was["resultHash"]}, is ${is["resultHash"]}; the figures stand, something else in the report moved`];
  }
  return names.map((name) => `${name}: was ${was[name] ?? "not there"}, is ${is[name] ?? "not there any more"}`);
};
