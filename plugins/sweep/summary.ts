/**
 * Summary of a sweep in plain sentences: the distance of the best result from what selection alone explains.
 *
 * Invariants: sentences are only about finished runs; nothing is promised about results that were not tested out of
 * sample.
 */

import { add, approximate } from "sluice";
import { amount, counted, signed } from "sluice/extension";
import { scores } from "./scores.ts";
import type { SelectionBias } from "./selection-bias.ts";
import type { FoldReport, SweepReport } from "./sweep-report.ts";

export const judgement = (report: SweepReport): readonly string[] => {
  const { by, luck, folds } = report;
  if (folds !== undefined) return [...overFolds(folds), ...caveats(report)];
  return luck === undefined ? [] : [overOne(luck, by), ...caveats(report)];
};

/** Returns sentences about the effect of a guided or pruned search on the comparison with chance. */
const caveats = ({ choice, runs: { pruned = 0 } }: SweepReport): readonly string[] => {
  const guided = choice.kind === "tpe" ? ["later trials were placed where earlier ones were good"] : [];
  const cut =
    pruned > 0 ? ["runs that fell behind were given up, so that the median and the spread are of better ones"] : [];
  const reasons = [...guided, ...cut];
  if (reasons.length === 0) return [];
  return [`The comparison with chance is distorted here: ${reasons.join("; ")}. Use the out-of-sample results.`];
};

const text = (value: number): string => amount(value.toFixed(8), 2);

const overOne = ({ trials, best, median, spread, bestByChance }: SelectionBias, by: SweepReport["by"]): string => {
  if (trials < 3) return `Only ${counted(trials, "trial")}: too few to judge luck.`;
  const stands = scores[by] === "more" ? best > bestByChance : best < bestByChance;
  return [
    `Multiple-testing warning: the best of ${trials} trials has ${by} ${text(best)}, the median ${text(median)}, the spread is ${text(spread)}.`,
    `If the options did not matter at all, the best of ${trials} would still be about ${text(bestByChance)};`,
    stands ? "this one is beyond that, which is evidence, not proof." : "this one is no better than that.",
    "--folds shows how choices fare on the time that follows.",
  ].join(" ");
};

const overFolds = (folds: readonly FoldReport[]): readonly string[] => {
  const tested = folds.flatMap(({ inSample, outOfSample, train, test }) =>
    inSample === undefined || outOfSample === undefined ? [] : [{ inSample, outOfSample, train, test }],
  );
  if (tested.length === 0) return ["No fold was tested: the choice cannot be judged."];
  const hoursOf = (pick: "train" | "test"): number =>
    tested.reduce((total, one) => total + one[pick].toAt - one[pick].fromAt, 0) / 3_600_000;
  const [trained, proved] = [
    tested.map(({ inSample }) => inSample.pnl),
    tested.map(({ outOfSample }) => outOfSample.pnl),
  ].map((all) => all.reduce(add, "0")) as [string, string];
  const promised = approximate(trained) / hoursOf("train");
  const kept = approximate(proved) / hoursOf("test");
  const share = promised > 0 ? `, ${Math.round((100 * kept) / promised)} % of what the trainings promised` : "";
  return [
    `Over ${counted(tested.length, "fold")} the chosen options made ${text(promised)} an hour in the trainings that chose them and ${text(kept)} an hour on the time that followed${share}; ${signed(proved, 2)} in all out of sample.`,
  ];
};
