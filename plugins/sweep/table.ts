/**
 * Report of a sweep for a terminal: the best points, or the results of each fold's choice, and the share of luck.
 *
 * Invariants: pure text from the report alone; foreign text is made printable; where the page is too narrow, columns
 * are dropped whole, never those that a legend explains; a run without figures is listed with its reason and never
 * ranked; colour only repeats signs and words.
 * Not here: the figures (sweep-report.ts), the page (html-page.ts).
 */

import { approximate, isPositive } from "sluice";
import {
  amount,
  counted,
  cut,
  duration,
  grouped,
  type Ink,
  ink,
  padStart,
  printable,
  signed,
  type TimeWindow,
  widthOf,
  wrapped,
} from "sluice/extension";
import { chanceIn, pnlAnHour, scoreIn } from "./part-scores.ts";
import type { Figures, Score } from "./scores.ts";
import { spelled } from "./space.ts";
import { judgement } from "./summary.ts";
import { type Done, type FoldReport, isDone, type PointScore, type Result, type SweepReport } from "./sweep-report.ts";

/** Format of the text of a sweep's table. */
export interface TableLook {
  /** Width of the page in characters, default 100. */
  readonly columns?: number;
  /** Colour by terminal codes; default false. */
  readonly colour?: boolean;
  /** Number of points that are listed, default 20. */
  readonly top?: number;
}

interface Column {
  readonly name: string;
  readonly cells: readonly string[];
  /** Left out before the others where there is too little room, the highest first. */
  readonly spare?: number;
}

type Sized = Column & { readonly size: number };

/** A sweep as a person reads it: what `sluice sweep` prints. */
export const sweepText = (report: SweepReport, { columns = 100, colour = false, top = 20 }: TableLook = {}): string => {
  const paint = ink(colour);
  const width = Math.max(60, columns) - 2;
  const body =
    report.folds === undefined
      ? pointLines(report, top, width, paint)
      : foldLines(report, report.folds, top, width, paint);
  const lines = [
    ...headline(report, width, paint),
    "",
    ...body,
    ...unacceptedLines(report, width, paint),
    ...failureLines(report, width, paint),
    ...judgement(report).flatMap((text) => ["", ...wrapped(text, width)]),
  ];
  return `\n${lines.map((line) => ` ${line}`.trimEnd()).join("\n")}\n\n`;
};

const headline = (
  { fixture, ranking, by, objectives, runs, seed, folds }: SweepReport,
  width: number,
  paint: Ink,
): readonly string[] => {
  const span = duration(fixture.endAtMs - fixture.startAtMs);
  const first =
    objectives === undefined ? `the best by ${by} first` : `the Pareto front of ${objectives.join(" and ")} first`;
  const order = folds === undefined ? first : `chosen by ${by}`;
  const { pruned = 0 } = runs;
  const unfinished = runs.wanted - runs.done - runs.failed - runs.unaccepted - pruned;
  const others = [
    ...(runs.failed === 0 ? [] : [`, ${grouped(runs.failed)} failed`]),
    ...(runs.unaccepted === 0 ? [] : [`, ${grouped(runs.unaccepted)} without an accepted order`]),
    ...(pruned === 0 ? [] : [`, ${grouped(pruned)} given up early and not ranked`]),
    ...(unfinished === 0 ? [] : [`, ${grouped(unfinished)} not run`]),
  ].join("");
  return [
    `${paint.bold(cut(`Sweep of ${printable(fixture.name)}`, width - 24))} ${paint.dim(`(${span}), seed ${cut(printable(seed), 16)}`)}`,
    ...wrapped(`${counted(ranking.length, "point")}, ${order}; ${counted(runs.done, "run")} done${others}`, width),
  ];
};

const pointLines = (report: SweepReport, top: number, width: number, paint: Ink): readonly string[] => {
  const rows = report.ranking.slice(0, top);
  if (rows.length === 0)
    return [paint.dim(report.runs.unaccepted === 0 ? "No run was finished." : "No run has figures to rank.")];
  const byIndex = new Map(report.results.filter(isDone).map((result) => [result.index, result]));
  const figures = rows.map(({ runs }) => (byIndex.get(runs[0] as number) as Done).figures);
  const money = (pick: (one: Figures) => string, spell = amount) => figures.map((one) => spell(pick(one), 2));
  const numbers = rows.map(({ onFront }, index) => `${index + 1}${onFront === true ? "*" : ""}`);
  const scored: readonly (Column & { readonly score?: Score })[] = [
    { name: "pnl", score: "pnl", cells: money(({ pnl }) => pnl, signed) },
    { name: "sharpe", score: "sharpe", cells: known(figures, "sharpe") },
    { name: "drawdown", score: "drawdown", cells: money(({ drawdown }) => drawdown) },
    ...(decides(report, "drawdownPercent")
      ? [
          {
            name: "drawdown %",
            score: "drawdownPercent" as const,
            cells: money(({ drawdownPercent }) => drawdownPercent),
          },
        ]
      : []),
    { name: "trades", cells: figures.map(({ trades }) => grouped(trades)) },
    { name: "win %", cells: known(figures, "winPercent") },
    { name: "factor", cells: known(figures, "profitFactor") },
    { name: "fees", score: "fees", cells: money(({ fees }) => fees) },
    { name: "fills", score: "fills", cells: figures.map(({ fills }) => grouped(fills)) },
    { name: "weight", score: "weight", cells: figures.map(({ weight }) => grouped(weight)) },
    { name: "429", score: "rejected429", cells: figures.map(({ rejected429 }) => grouped(rejected429)) },
    { name: "volume", score: "volume", cells: figures.map(({ volume }) => amount(volume, 0)) },
  ];
  // What decides comes first, so that no narrow page drops it.
  const [deciding, others] = [true, false].map((first) =>
    scored.filter(({ score }) => decides(report, score) === first),
  );
  const columns: readonly Column[] = [
    { name: "", cells: numbers },
    ...optionColumns(report, rows),
    ...(deciding ?? []),
    ...(others ?? []),
  ];
  return [
    ...laidOut(columns, width, paint),
    ...moreLines(report, top, paint),
    ...(report.objectives === undefined ? [] : wrapped(frontLegend(report.objectives), width).map(paint.dim)),
    ...wrapped(legend(figures), width).map(paint.dim),
  ];
};

/** Line with the number of points that are left out; none where all are shown. */
const moreLines = ({ ranking }: SweepReport, top: number, paint: Ink): readonly string[] =>
  ranking.length <= top ? [] : [paint.dim(`${grouped(ranking.length - top)} more; --top, --csv or --json show them`)];

const decides = ({ by, objectives = [by] }: SweepReport, score: Score | undefined): boolean =>
  score !== undefined && objectives.includes(score);

const frontLegend = (objectives: readonly Score[]): string =>
  `* on the Pareto front of ${objectives.join(" and ")}: no other point is better in one of them and as good in the rest.`;

/** Shown as in the run's own report; a dash where the report has none. */
const known = (figures: readonly Figures[], name: "sharpe" | "winPercent" | "profitFactor"): readonly string[] =>
  figures.map((one) => {
    const value = one[name];
    return value === undefined ? "-" : amount(value, name === "winPercent" ? 0 : 2);
  });

const legend = (figures: readonly Figures[]): string => {
  const per = figures.find(({ sharpePer }) => sharpePer !== undefined)?.sharpePer;
  const sharpe =
    per === undefined
      ? ""
      : `Sharpe is ${per === "year" ? "annualised" : "of each run, not annualised (that needs 7 days)"}; `;
  return `${sharpe}win % and factor (win rate, profit factor) are of closed trades after costs: the figures of each run's own report.`;
};

const optionColumns = ({ space }: SweepReport, rows: readonly Pick<PointScore, "options">[]): readonly Column[] =>
  space.map(({ name }) => ({
    name: cut(printable(name), optionMax),
    cells: rows.map(({ options }) => cut(printable(spelled(options[name])), optionMax)),
  }));

const optionMax = 28;

const foldLines = (
  report: SweepReport,
  folds: readonly FoldReport[],
  top: number,
  width: number,
  paint: Ink,
): readonly string[] => {
  const score = (figures: Figures | undefined, window: TimeWindow): string =>
    figures === undefined ? "-" : scoreText(scoreIn(figures, report.by, window));
  const columns: readonly Column[] = [
    { name: "fold", cells: folds.map(({ fold }) => String(fold + 1)) },
    { name: "out of sample", cells: folds.map(({ outOfSample, test }) => hourly(outOfSample, test)) },
    { name: "in sample", cells: folds.map(({ inSample, train }) => hourly(inSample, train)) },
    ...(report.by === "pnl"
      ? []
      : [
          { name: `${report.by} out`, cells: folds.map(({ outOfSample, test }) => score(outOfSample, test)) },
          { name: `${report.by} in`, cells: folds.map(({ inSample, train }) => score(inSample, train)) },
        ]),
    { name: "by chance", cells: folds.map((fold) => scoreText(chanceIn(fold, report.by))) },
    {
      name: "test from",
      spare: 1,
      cells: folds.map(({ test }) => new Date(test.fromAt).toISOString().slice(0, 16).replace("T", " ")),
    },
    { name: "lasts", spare: 2, cells: folds.map(({ test }) => duration(test.toAt - test.fromAt)) },
    ...optionColumns(
      report,
      folds.map((fold) => ({ options: fold.chosen?.options ?? {} })),
    ),
  ];
  const options = report.space.map(({ name }) => cut(printable(name), optionMax));
  const fits = widthOfAll(sized(columns)) <= width;
  const rows = laidOut(fits ? columns : columns.filter(({ name }) => !options.includes(name)), width, paint);
  return [
    ...rows.flatMap((row, index) =>
      fits || index === 0 ? [row] : [row, ...chosenLines(folds[index - 1], width, paint)],
    ),
    ...wrapped(
      `Out of sample and in sample are pnl an hour. Every part begins cold: what a strategy learns from the past it learns within the part. "By chance" is what the best of so many trainings would show in sample if options did not matter.${report.by === "sharpe" ? " Sharpe ratios are per day, so that parts of different lengths can be compared." : ""}`,
      width,
    ).map(paint.dim),
    "",
    ...trainingLines(report, top, width, paint),
  ];
};

/** Points by what decides, over all trainings: what every fold chose from. */
const trainingLines = (report: SweepReport, top: number, width: number, paint: Ink): readonly string[] => {
  const rows = report.ranking.slice(0, top);
  if (rows.length === 0) return [paint.dim("No training was finished.")];
  return [
    ...wrapped(`Points by ${report.by} in sample, the median of their trainings:`, width),
    ...laidOut(
      [
        { name: "", cells: rows.map((_, index) => String(index + 1)) },
        ...optionColumns(report, rows),
        { name: report.by, cells: rows.map(({ score }) => scoreText(approximate(score))) },
        { name: "trainings", spare: 1, cells: rows.map(({ runs }) => grouped(runs.length)) },
      ],
      width,
      paint,
    ),
    ...moreLines(report, top, paint),
  ];
};

/** Returns lines for the choice of a fold, used where there is no room for columns. */
const chosenLines = (fold: FoldReport | undefined, width: number, paint: Ink): readonly string[] => {
  const options = Object.entries(fold?.chosen?.options ?? {}).map(([name, value]) => `${name}=${spelled(value)}`);
  return wrapped(printable(options.length === 0 ? "nothing chosen" : options.join(" ")), width - 6).map(
    (line) => `      ${paint.dim(line)}`,
  );
};

const scoreText = (value: number | undefined): string => (value === undefined ? "-" : amount(value.toFixed(8), 2));

const hourly = (figures: Figures | undefined, window: TimeWindow): string =>
  figures === undefined ? "-" : signed(pnlAnHour(figures, window), 2);

const gap = "  ";

const sized = (columns: readonly Column[]): readonly Sized[] =>
  columns.map((column) => ({ ...column, size: Math.max(widthOf(column.name), ...column.cells.map(widthOf)) }));

const widthOfAll = (columns: readonly Sized[]): number =>
  columns.reduce((total, { size }) => total + size + gap.length, -gap.length);

/** Returns as many columns as fit: optional ones are dropped first, then the last ones. */
const fitting = (columns: readonly Sized[], width: number): readonly Sized[] => {
  if (columns.length === 0 || widthOfAll(columns) <= width) return columns;
  const least = columns.reduce((found, column) => ((column.spare ?? 0) >= (found.spare ?? 0) ? column : found));
  return fitting(
    columns.filter((column) => column !== least),
    width,
  );
};

/** Aligned at the right. */
const laidOut = (columns: readonly Column[], width: number, paint: Ink): readonly string[] => {
  const shown = fitting(sized(columns), width);
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

/** Colours a value green or red; the sign contains the same information. */
const tone = (cell: string, paint: Ink): string => {
  const text = cell.trim().replaceAll(",", "");
  if (text.startsWith("-") && text !== "-") return paint.red(cell);
  return text.startsWith("+") && isPositive(text.slice(1)) ? paint.green(cell) : cell;
};

const listedMax = 5;

const unacceptedLines = ({ results }: SweepReport, width: number, paint: Ink): readonly string[] => {
  const empty = results.flatMap((result) =>
    result.status === "unaccepted" ? [{ ...result, why: result.reason }] : [],
  );
  return listed(empty, `${counted(empty.length, "run")} without an accepted order, not ranked:`, width, paint.yellow);
};

const failureLines = ({ results }: SweepReport, width: number, paint: Ink): readonly string[] => {
  const failed = results.flatMap((result) => (result.status === "failed" ? [{ ...result, why: result.error }] : []));
  return listed(failed, `${counted(failed.length, "run")} failed:`, width, paint.red);
};

type Listed = Pick<Result, "options" | "part" | "fold"> & { readonly why: string };

/** Reasons whole, on as many lines as they need. */
const listed = (
  runs: readonly Listed[],
  heading: string,
  width: number,
  tone: (text: string) => string,
): readonly string[] => {
  if (runs.length === 0) return [];
  const lines = runs.slice(0, listedMax).flatMap(({ options, part, fold, why }) => {
    const name = Object.entries(options).map(([option, value]) => `${option}=${spelled(value)}`);
    const where = fold === undefined ? "" : ` (${part === "train" ? "training" : "test"} of fold ${fold + 1})`;
    return wrapped(printable(`${name.join(" ")}${where}: ${why}`), width - 2).map((line, index) =>
      index === 0 ? line : `  ${line}`,
    );
  });
  const more = runs.length > listedMax ? [`and ${grouped(runs.length - listedMax)} more`] : [];
  return ["", tone(heading), ...lines, ...more];
};
