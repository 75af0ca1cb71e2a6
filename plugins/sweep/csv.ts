/**
 * All runs of a sweep as comma-separated values, one line a run, by index.
 *
 * Invariants: the columns are the same for every line.
 * Not here: how a cell is spelled (report/csv-lines.ts).
 */

import { csvLines } from "sluice/extension";
import type { Figures } from "./scores.ts";
import { spelled } from "./space.ts";
import { reasonOf, type SweepReport } from "./sweep-report.ts";

const figureNames = [
  "pnl",
  "sharpe",
  "sharpePer",
  "drawdown",
  "drawdownPercent",
  "fees",
  "volume",
  "trades",
  "winPercent",
  "profitFactor",
  "expectancy",
  "fills",
  "placed",
  "canceled",
  "rejected",
  "refused",
  "requests",
  "weight",
  "rejected429",
  "blockedMinutes",
  "heldMs",
  "currency",
] as const satisfies readonly (keyof Figures)[];

/** All runs of a sweep as comma-separated values: what `sluice sweep --csv` writes. */
export const csvOf = ({ space, results }: SweepReport): string => {
  const names = space.map(({ name }) => name);
  const head = ["index", "part", "fold", ...names, "status", ...figureNames, "resultHash", "error"];
  const lines = results.map((result) => {
    const own = names.map((name) => spelled(result.options[name]));
    const [figures, hash, error] =
      result.status === "done"
        ? [figureNames.map((name) => String(result.figures[name] ?? "")), result.resultHash, ""]
        : [figureNames.map(() => ""), "", reasonOf(result)];
    return [
      String(result.index),
      result.part,
      result.fold === undefined ? "" : String(result.fold + 1),
      ...own,
      result.status,
      ...figures,
      hash,
      error,
    ];
  });
  return csvLines([head, ...lines]);
};
