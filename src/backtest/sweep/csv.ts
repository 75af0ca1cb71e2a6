/**
 * All runs of a sweep as comma-separated values, one line a run, by index.
 *
 * Invariants: the columns are the same for every line; what holds a comma, a quote or a line break is quoted; a text that a
 * spreadsheet would take for a formula is not one.
 */

import type { Figures } from "./scores.ts";
import { spelled } from "./space.ts";
import type { SweepReport } from "./sweep-report.ts";

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
        : [figureNames.map(() => ""), "", result.status === "failed" ? result.error : result.reason];
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
  return `${[head, ...lines].map((cells) => cells.map(quoted).join(",")).join("\r\n")}\r\n`;
};

const quoted = (cell: string): string => {
  const text = /^[=+@\t\r]|^-(?![\d.])/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
