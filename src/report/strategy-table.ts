/**
 * The table of strategies in a report: one row each, as many columns as fit.
 *
 * Invariants: columns are dropped whole, the least important first, never cut; a failed strategy has its reason on a
 * line of its own.
 */
import { cut, padEnd, padStart, printable, widthOf, wrapped } from "./ansi.ts";
import { grouped } from "./number-format.ts";
import type { RunReport } from "./report.ts";
import { columnsFor, strategyName } from "./run-facts.ts";
import type { Page } from "./text-layout.ts";

const gap = "  ";
const nameMin = 12;
const nameMax = 32;

export const strategyTable = ({ report, width, paint, places }: Page): readonly string[] => {
  const { perStrategy, quota } = report;
  const rows = Object.entries(perStrategy);
  if (rows.length === 0) return [paint.dim("none")];
  const names = rows.map(([name, row]) => printable(strategyName(name, row)));
  const nameWidth = Math.min(nameMax, Math.max(nameMin, ...names.map(widthOf)));
  const shown = fitting(report, width - nameWidth, places);
  const lines = rows.flatMap(([, { state, error }], index) => {
    const name = padEnd(cut(names[index] ?? "", nameWidth), nameWidth);
    const line = `${state === "failed" ? paint.red(name) : name}${shown.map(({ cells }) => cells[index]).join("")}`;
    return error === undefined
      ? [line]
      : [line, ...wrapped(printable(error), width - 2).map((text) => `  ${paint.red(text)}`)];
  });
  const shared = quota.weight - rows.reduce((total, [, { weight }]) => total + weight, 0);
  const rest =
    shared <= 0
      ? []
      : wrapped(`Batch cancels and the engine's own reads weighed ${grouped(shared)}: no strategy's.`, width);
  return [
    paint.dim(`${padEnd("", nameWidth)}${shown.map(({ head }) => head).join("")}`),
    ...lines,
    ...rest.map(paint.dim),
  ];
};

interface Fitted {
  readonly head: string;
  readonly cells: readonly string[];
}

/** The columns that fit into `width`, in their own order. */
const fitting = (report: RunReport, width: number, places: number): readonly Fitted[] => {
  const sized = columnsFor(report).flatMap(({ name, rank, cell }) => {
    if (rank === undefined) return [];
    const cells = Object.values(report.perStrategy).map((row) => cell(row, places));
    const size = Math.max(name.length, ...cells.map(widthOf));
    const put = (text: string): string => gap + padStart(text, size);
    return [{ rank, size, head: put(name), cells: cells.map(put) }];
  });
  let left = width;
  const kept = new Set<Fitted>();
  for (const column of [...sized].sort((a, b) => a.rank - b.rank)) {
    left -= column.size + gap.length;
    if (left < 0) break;
    kept.add(column);
  }
  return sized.filter((column) => kept.has(column));
};
