/**
 * The table of strategies in a report: one row each, as many columns as fit.
 *
 * Invariants: columns are dropped whole, the least telling first, never cut; a failed strategy says why on a line of its own.
 */

import { cut, type Ink, padEnd, padStart, printable, widthOf, wrapped } from "./ansi.ts";
import { amount, duration, grouped, signed } from "./number-format.ts";
import type { RunReport, StrategyReport } from "./report.ts";

interface Place {
  readonly width: number;
  readonly paint: Ink;
  readonly places: number;
}

interface Column {
  readonly name: string;
  /** Kept longest where it is lowest. */
  readonly rank: number;
  readonly cell: (row: StrategyReport, places: number) => string;
}

const columns: readonly Column[] = [
  { name: "placed", rank: 1, cell: ({ placed }) => grouped(placed) },
  { name: "filled", rank: 2, cell: ({ filled }) => grouped(filled) },
  { name: "canceled", rank: 6, cell: ({ canceled }) => grouped(canceled) },
  { name: "rejected", rank: 8, cell: ({ rejected }) => grouped(rejected) },
  { name: "refused", rank: 9, cell: ({ refused }) => grouped(refused) },
  { name: "fills", rank: 7, cell: ({ fills }) => grouped(fills) },
  { name: "result", rank: 0, cell: ({ pnl }, places) => signed(pnl, places) },
  { name: "fees", rank: 5, cell: ({ fees }, places) => amount(fees, places) },
  { name: "funding", rank: 5.5, cell: ({ funding }, places) => (funding === undefined ? "" : amount(funding, places)) },
  { name: "weight", rank: 3, cell: ({ weight }) => grouped(weight) },
  { name: "held", rank: 4, cell: ({ heldMs }) => duration(heldMs) },
];

const gap = "  ";
const nameMin = 12;
const nameMax = 32;

export const strategyTable = ({ perStrategy, quota }: RunReport, { width, paint, places }: Place): readonly string[] => {
  const rows = Object.entries(perStrategy);
  if (rows.length === 0) return [paint.dim("none")];
  const names = rows.map(([name, { state }]) => `${printable(name)}${state === "running" ? "" : ` (${state})`}`);
  const nameWidth = Math.min(nameMax, Math.max(nameMin, ...names.map(widthOf)));
  const shown = fitting(
    rows.map(([, row]) => row),
    width - nameWidth,
    places,
  );
  const header = `${padEnd("", nameWidth)}${shown.map(({ name, size }) => gap + padStart(name, size)).join("")}`;
  const lines = rows.flatMap(([, row], index) => {
    const name = padEnd(cut(names[index] ?? "", nameWidth), nameWidth);
    const cells = shown.map(({ cell, size }) => gap + padStart(cell(row, places), size)).join("");
    const line = `${row.state === "failed" ? paint.red(name) : name}${cells}`;
    return row.error === undefined ? [line] : [line, ...wrapped(printable(row.error), width - 2).map((text) => `  ${paint.red(text)}`)];
  });
  const shared = quota.weight - rows.reduce((total, [, { weight }]) => total + weight, 0);
  const rest = shared <= 0 ? [] : wrapped(`Batch cancels and the engine's own reads weighed ${grouped(shared)}: no strategy's.`, width);
  return [paint.dim(header), ...lines, ...rest.map(paint.dim)];
};

/** The columns that fit into `width`, in their own order, with the width each needs. */
const fitting = (rows: readonly StrategyReport[], width: number, places: number): readonly (Column & { readonly size: number })[] => {
  const told = columns.filter(({ name }) => name !== "funding" || rows.some(({ funding }) => funding !== undefined));
  const sized = told.map((column) => ({
    ...column,
    size: Math.max(column.name.length, ...rows.map((row) => column.cell(row, places).length)),
  }));
  let left = width;
  const kept = new Set<string>();
  for (const { name, size } of [...sized].sort((a, b) => a.rank - b.rank)) {
    left -= size + gap.length;
    if (left < 0) break;
    kept.add(name);
  }
  return sized.filter(({ name }) => kept.has(name));
};
