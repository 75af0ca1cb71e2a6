/**
 * A sweep as a page for a terminal: the best points, or how each fold's choice fared, and how much of it may be luck.
 *
 * Invariants: pure text from the report alone; foreign words are made printable; the last columns are dropped whole where the page
 * is too narrow; colour repeats what signs and words say.
 * Not here: the figures (report.ts), the picture (heat-map.ts).
 */

import { div, isPositive, mul } from "../decimal.ts";
import { amount, counted, duration, grouped, signed } from "../report/figures.ts";
import { cut, type Ink, ink, padStart, printable, widthOf, wrapped } from "../report/ink.ts";
import type { Window } from "./folds.ts";
import { judgement } from "./judgement.ts";
import { type Done, type FoldReport, isDone, type PointScore, type SweepReport } from "./report.ts";
import type { Figures } from "./scores.ts";
import { spelled } from "./space.ts";

export interface TableLook {
  readonly columns: number;
  readonly colour: boolean;
  /** How many points are listed. */
  readonly top: number;
}

interface Column {
  readonly name: string;
  readonly cells: readonly string[];
}

export const sweepText = (report: SweepReport, { columns, colour, top }: TableLook): string => {
  const paint = ink(colour);
  const width = Math.max(60, columns) - 2;
  const body = report.folds === undefined ? pointLines(report, top, width, paint) : foldLines(report, report.folds, width, paint);
  const lines = [
    ...headline(report, width, paint),
    "",
    ...body,
    ...failureLines(report, width, paint),
    ...judgement(report).flatMap((text) => ["", ...wrapped(text, width)]),
  ];
  return `\n${lines.map((line) => ` ${line}`.trimEnd()).join("\n")}\n\n`;
};

const headline = ({ fixture, ranking, by, runs, seed, folds }: SweepReport, width: number, paint: Ink): readonly string[] => {
  const span = duration(fixture.endAtMs - fixture.startAtMs);
  const order = folds === undefined ? `the best by ${by} first` : `chosen by ${by}`;
  const unfinished = runs.done + runs.failed < runs.wanted ? `, ${grouped(runs.wanted - runs.done - runs.failed)} not run` : "";
  return [
    `${paint.bold(cut(`Sweep of ${printable(fixture.name)}`, width - 24))} ${paint.dim(`(${span}), seed ${cut(printable(seed), 16)}`)}`,
    `${counted(ranking.length, "point")}, ${order}; ${counted(runs.done, "run")} done${runs.failed === 0 ? "" : `, ${grouped(runs.failed)} failed`}${unfinished}`,
  ];
};

const pointLines = (report: SweepReport, top: number, width: number, paint: Ink): readonly string[] => {
  const rows = report.ranking.slice(0, top);
  if (rows.length === 0) return [paint.dim("No run was finished.")];
  const byIndex = new Map(report.results.filter(isDone).map((result) => [result.index, result]));
  const figures = rows.map(({ runs }) => (byIndex.get(runs[0] as number) as Done).figures);
  const money = (pick: (one: Figures) => string, spell = amount) => figures.map((one) => spell(pick(one), 2));
  const columns: readonly Column[] = [
    { name: "", cells: rows.map((_, index) => String(index + 1)) },
    ...optionColumns(report, rows),
    { name: "pnl", cells: money(({ pnl }) => pnl, signed) },
    { name: "sharpe", cells: money(({ sharpe }) => sharpe) },
    { name: "drawdown", cells: money(({ drawdown }) => drawdown) },
    { name: "fees", cells: money(({ fees }) => fees) },
    { name: "fills", cells: figures.map(({ fills }) => grouped(fills)) },
    { name: "weight", cells: figures.map(({ weight }) => grouped(weight)) },
    { name: "429", cells: figures.map(({ rejected429 }) => grouped(rejected429)) },
    { name: "volume", cells: figures.map(({ volume }) => amount(volume, 0)) },
  ];
  const more = report.ranking.length - rows.length;
  return [...laidOut(columns, width, paint), ...(more === 0 ? [] : [paint.dim(`${grouped(more)} more; --top, --csv or --json show them`)])];
};

const optionColumns = ({ space }: SweepReport, rows: readonly Pick<PointScore, "options">[]): readonly Column[] =>
  space.map(({ name }) => ({
    name: cut(printable(name), 28),
    cells: rows.map(({ options }) => cut(printable(spelled(options[name])), 28)),
  }));

const foldLines = (report: SweepReport, folds: readonly FoldReport[], width: number, paint: Ink): readonly string[] => {
  const chosen = folds.map((fold) => ({ options: fold.chosen?.options ?? {} }));
  const score = (figures: Figures | undefined): string => (figures === undefined ? "-" : amount(String(figures[report.by]), 2));
  const columns: readonly Column[] = [
    { name: "fold", cells: folds.map(({ fold }) => String(fold + 1)) },
    { name: "test from", cells: folds.map(({ test }) => new Date(test.fromAt).toISOString().slice(0, 16).replace("T", " ")) },
    { name: "lasts", cells: folds.map(({ test }) => duration(test.toAt - test.fromAt)) },
    ...optionColumns(report, chosen),
    { name: "in sample", cells: folds.map(({ inSample, train }) => hourly(inSample, train)) },
    { name: "out of sample", cells: folds.map(({ outOfSample, test }) => hourly(outOfSample, test)) },
    ...(report.by === "pnl"
      ? []
      : [
          { name: `${report.by} in`, cells: folds.map(({ inSample }) => score(inSample)) },
          { name: `${report.by} out`, cells: folds.map(({ outOfSample }) => score(outOfSample)) },
        ]),
    { name: "by chance", cells: folds.map((fold) => chanceOf(fold, report.by)) },
  ];
  return [
    ...laidOut(columns, width, paint),
    ...wrapped(
      `In sample and out of sample are pnl an hour. Every part begins cold: what a strategy learns from the past it learns within the part. "By chance" is what the best of so many trainings would show in sample if options did not matter.`,
      width,
    ).map(paint.dim),
  ];
};

/** In the unit of the column it is compared with. */
const chanceOf = ({ luck, train }: FoldReport, by: SweepReport["by"]): string => {
  if (luck === undefined) return "-";
  const value = by === "pnl" ? (luck.bestByChance * 3_600_000) / (train.toAt - train.fromAt) : luck.bestByChance;
  return amount(value.toFixed(8), 2);
};

export const pnlAnHour = (figures: Figures, { fromAt, toAt }: Window): string => div(mul(figures.pnl, "3600000"), String(toAt - fromAt), 8);

const hourly = (figures: Figures | undefined, window: Window): string =>
  figures === undefined ? "-" : signed(pnlAnHour(figures, window), 2);

const gap = "  ";

/** Aligned at the right, as many columns as fit. */
const laidOut = (columns: readonly Column[], width: number, paint: Ink): readonly string[] => {
  let left = width;
  const shown = columns
    .map((column) => ({ ...column, size: Math.max(widthOf(column.name), ...column.cells.map(widthOf)) }))
    .filter(({ size }) => {
      left -= size + gap.length;
      return left >= -gap.length;
    });
  const rows = columns[0]?.cells.length ?? 0;
  const lines = Array.from({ length: rows }, (_, row) =>
    shown
      .map(({ name, cells, size }) => {
        const cell = padStart(cells[row] ?? "", size);
        return name === "pnl" || name.endsWith(" sample") ? tone(cell, paint) : cell;
      })
      .join(gap),
  );
  return [paint.dim(shown.map(({ name, size }) => padStart(name, size)).join(gap)), ...lines];
};

/** Green and red say no more than the sign does. */
const tone = (cell: string, paint: Ink): string => {
  const text = cell.trim().replaceAll(",", "");
  if (text.startsWith("-") && text !== "-") return paint.red(cell);
  return text.startsWith("+") && isPositive(text.slice(1)) ? paint.green(cell) : cell;
};

const failuresMax = 5;

const failureLines = ({ results }: SweepReport, width: number, paint: Ink): readonly string[] => {
  const failed = results.flatMap((result) => (result.status === "failed" ? [result] : []));
  if (failed.length === 0) return [];
  const lines = failed.slice(0, failuresMax).map(({ options, error }) => {
    const name = Object.entries(options).map(([option, value]) => `${option}=${spelled(value)}`);
    return cut(printable(`${name.join(" ")}: ${error}`), width);
  });
  const more = failed.length > failuresMax ? [`and ${grouped(failed.length - failuresMax)} more`] : [];
  return ["", paint.red(`${counted(failed.length, "run")} failed:`), ...lines, ...more];
};
