/**
 * Scores of trainings and tests in units in which parts of different lengths can be compared: profit an hour, Sharpe
 * ratios a day.
 *
 * Invariants: profit stays exact; other scores are as in the run's own report.
 * Not here: how scores are spelled (table.ts, html-page.ts).
 */
import { approximate, div, mul } from "sluice";
import { perDay, type TimeWindow } from "sluice/extension";
import type { Figures, Score } from "./scores.ts";
import type { FoldReport } from "./sweep-report.ts";

const hourMs = 3_600_000;

export const pnlAnHour = (figures: Pick<Figures, "pnl">, { fromAt, toAt }: TimeWindow): string =>
  div(mul(figures.pnl, String(hourMs)), String(toAt - fromAt), 8);

/** Undefined where the run has no such score. */
export const scoreIn = (figures: Figures, by: Score, window: TimeWindow): number | undefined => {
  if (by === "pnl") return approximate(pnlAnHour(figures, window));
  const value = figures[by];
  if (value === undefined || by !== "sharpe") return value === undefined ? undefined : approximate(String(value));
  return perDay(approximate(String(value)), figures.sharpePer ?? "run", window.toAt - window.fromAt);
};

/** The best training by chance, in the unit of the training it is compared with. */
export const chanceIn = ({ luck, inSample, train: { fromAt, toAt } }: FoldReport, by: Score): number | undefined => {
  if (luck === undefined) return undefined;
  if (by === "pnl") return (luck.bestByChance * hourMs) / (toAt - fromAt);
  return by === "sharpe" ? perDay(luck.bestByChance, inSample?.sharpePer ?? "run", toAt - fromAt) : luck.bestByChance;
};

export const unitOf = (by: Score): string => (by === "pnl" ? "pnl an hour" : by === "sharpe" ? "Sharpe a day" : by);
