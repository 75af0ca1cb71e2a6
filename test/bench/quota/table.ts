/**
 * Figures as a table for people: Markdown, so that a terminal and the README show the same thing.
 */
import type { Scenario } from "./scenarios.ts";
import type { Figures } from "./tally.ts";

export interface Row {
  readonly label: string;
  readonly figures: Figures;
}

const ms = (value: number): string => {
  if (Number.isNaN(value)) return "-";
  return value < 999.5 ? `${value.toFixed(0)} ms` : `${(value / 1000).toFixed(1)} s`;
};
const percent = (value: number, digits: number): string => (Number.isNaN(value) ? "-" : `${value.toFixed(digits)} %`);

interface Column {
  readonly head: string;
  readonly cell: (figures: Figures) => string;
}

const columnsOf = (scenario: Scenario): readonly Column[] => [
  {
    head: "429 per hour",
    cell: (row) => row.refusedPerHour.toFixed(row.refusedPerHour > 0 && row.refusedPerHour < 10 ? 1 : 0),
  },
  { head: "minutes blocked", cell: (row) => percent(row.minutesBlockedPct, 0) },
  { head: "time blocked", cell: (row) => percent(row.timeBlockedPct, 1) },
  {
    head: { uid: "weight used", key: "key used", ip: "address used" }[scenario.binding],
    cell: (row) => percent(row.utilisationPct, 1),
  },
  ...(scenario.beside === undefined && scenario.bursts === undefined
    ? []
    : [{ head: "placed p99", cell: (row: Figures) => ms(row.placedMsP99) }]),
  ...(scenario.load.kind === "bursts"
    ? [
        { head: "burst p50", cell: (row: Figures) => ms(row.burstMsP50) },
        { head: "burst p99", cell: (row: Figures) => ms(row.burstMsP99) },
      ]
    : []),
  { head: "urgent p50", cell: (row) => ms(row.urgentMsP50) },
  { head: "urgent p99", cell: (row) => ms(row.urgentMsP99) },
  { head: "urgent max", cell: (row) => ms(row.urgentMsMax) },
];

export const tableOf = (id: string, scenario: Scenario, rows: readonly Row[]): string => {
  const columns = columnsOf(scenario);
  const cells = rows.map(({ label, figures }) => [label, ...columns.map(({ cell }) => cell(figures))]);
  const head = ["limiter", ...columns.map((column) => column.head)];
  const widths = head.map((text, index) => Math.max(text.length, ...cells.map((row) => row[index]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, index) => (index === 0 ? text.padEnd(widths[index] ?? 0) : text.padStart(widths[index] ?? 0))).join(" | ")} |`;
  const rule = `| ${widths.map((width, index) => (index === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [`**${id}. ${scenario.title}**`, "", line(head), rule, ...cells.map(line)].join("\n");
};

/** Names of the columns of `lineOf`. */
export const lineHead = ["scenario", "429/h", "used", "p50", "p99", "slowest"];

/** Figures of one scenario in one line; the slowest of ordinary calls is the p99 of bursts, or of placements. */
export const cellsOf = (figures: Figures): string[] => [
  figures.refusedPerHour.toFixed(1),
  percent(figures.utilisationPct, 1),
  ms(figures.urgentMsP50),
  ms(figures.urgentMsP99),
  ms(Number.isNaN(figures.burstMsP99) ? figures.placedMsP99 : figures.burstMsP99),
];

export const figuresLine = (cells: readonly string[]): string => cells.map((text) => text.padStart(9)).join("");

export const lineOf = ([name = "", ...cells]: readonly string[]): string => `${name.padEnd(20)}${figuresLine(cells)}`;
