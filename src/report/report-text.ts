/**
 * A report as a page for a terminal: what happened, what it earned, what it cost in quota, and under which assumptions.
 *
 * Invariants: pure text from the report alone; no line is wider than `columns` (60 at least); colour repeats what words
 * and signs already show; foreign words are made printable and cut to their column.
 * Not here: the figures (report.ts), the equity line (chart.ts), how a number is spelled (number-format.ts).
 */
import { approximate, compare } from "../decimal.ts";
import { cut, padEnd, padStart, printable, widthOf, wrapped } from "./ansi.ts";
import { chart } from "./chart.ts";
import { coverageText } from "./coverage-text.ts";
import { amount, counted, duration, grouped, minuteOf } from "./number-format.ts";
import { portfolioText } from "./portfolio-text.ts";
import { quotaText } from "./quota-text.ts";
import type { RejectionReason } from "./rejection-reasons.ts";
import { type RunReport, titleOf } from "./report.ts";
import { type ReportSections, reportSections, sectionIn, tableIn, textOf } from "./report-sections.ts";
import type { Fact } from "./run-facts.ts";
import { strategyTable } from "./strategy-table.ts";
import { beside, facts, type Look, type Page, pageOf, printed, table, title, toned, wordTable } from "./text-layout.ts";
import { tradesMeaning } from "./trade-facts.ts";

/**
 * A backtest's report as text, as the command prints it.
 *
 * @param report - what `runBacktest` returned
 * @param look - width, colours and symbols
 * @returns lines that end with a line feed
 */
export const reportText = (report: RunReport, look: Look): string => {
  const page = pageOf(report, look);
  const sections = reportSections(report);
  const lines = [
    ...headline(page, sections.warnings),
    ...equitySection(page),
    "",
    ...beside(
      { name: "Money", lines: money(sections, page) },
      { name: "Orders", lines: facts(factsIn(sections, "orders"), page.paint) },
      page,
    ),
    "",
    title(page, "Returns"),
    ...returns(sections, page),
    "",
    title(page, "Trades"),
    ...trades(sections, page),
    "",
    title(page, "Quota"),
    ...quotaText(page),
    "",
    title(page, "Strategies"),
    ...strategyTable(page),
    "",
    ...portfolioText(page),
    ...positions(sections, page),
    ...rejections(page),
    ...(report.run === undefined ? [title(page, "Recording"), ...coverageText(page), ""] : []),
    title(page, report.run === undefined ? "Assumptions" : "How it was counted"),
    ...assumptions(sections, page),
    // What the world did cannot be repeated.
    ...(report.run === undefined ? ["", `${page.paint.dim("result hash")} ${report.resultHash}`] : []),
  ];
  return printed(lines);
};

const headline = (page: Page, warnings: readonly string[]): readonly string[] => {
  const { report, width, paint } = page;
  return [
    ...(report.run === undefined ? backtestFacts(page) : runFacts(page)),
    ...warnings.flatMap((warning) => wrapped(printable(`! ${warning}`), width).map(paint.yellow)),
    "",
  ];
};

const timesOf = ({ fixture }: RunReport): string => {
  const [start, end] = [minuteOf(fixture.startAt), minuteOf(fixture.endAt)];
  return `${start} to ${end.slice(0, 10) === start.slice(0, 10) ? end.slice(11) : end} UTC`;
};

const runFacts = ({ report, width, paint }: Page): readonly string[] => [
  paint.bold(cut(printable(titleOf(report)), width)),
  ...wrapped(`${timesOf(report)} (${duration(report.virtualMs)}), ${counted(report.events, "event")}`, width),
];

const backtestFacts = ({ report, width, paint }: Page): readonly string[] => {
  const { fixture, virtualMs, wallMs, events } = report;
  const speed = wallMs > 0 ? `, ${grouped(Math.round(virtualMs / wallMs))} × real time` : "";
  const name = cut(printable(fixture.name), width - 30);
  return [
    `${paint.bold(`Backtest of ${name}`)}${paint.dim(`  seed ${cut(printable(report.seed), 16)}`)}`,
    ...wrapped(
      `${timesOf(report)} (${duration(virtualMs)}), ${counted(fixture.rows, "row")}, fixture ${cut(fixture.contentHash, 9)}`,
      width,
    ),
    `${counted(events, "event")} in ${duration(wallMs)}${speed}`,
  ];
};

const chartRows = (width: number): number => (width >= 110 ? 10 : 7);

const equitySection = (page: Page): readonly string[] => {
  const { report, width, paint, places } = page;
  const points = report.equity.map(({ at, equity }) => ({ at, value: approximate(equity) }));
  const textAt = new Map(report.equity.map(({ at, equity }) => [at, equity]));
  const heading = `${report.run?.equity === "fills" ? "Profit" : "Equity"} in ${cut(printable(report.currency), 12)}`;
  if (points.length < 2) return [title(page, heading), paint.dim("Fewer than two points were recorded.")];
  const rows = chart(points, {
    width,
    height: chartRows(width),
    label: ({ at, value }) => amount(textAt.get(at) ?? value.toFixed(places), places),
    line: compare(report.pnl, "0") < 0 ? paint.red : paint.green,
    frame: paint.dim,
  });
  return [title(page, heading), ...rows];
};

const factsIn = (of: ReportSections, id: string): readonly Fact[] =>
  (tableIn(of, id)?.rows ?? []).map(([label = "", value = "", note = ""]) => [
    textOf(label),
    textOf(value),
    textOf(note),
  ]);

/** The result is in colour. */
const money = (of: ReportSections, { paint }: Page): readonly string[] =>
  facts(
    factsIn(of, "money").map(([label, value, note = ""], index) => [
      label,
      index === 0 ? toned(value, paint) : value,
      note,
    ]),
    paint,
  );

/** Sentences, falls and months. */
const returns = (of: ReportSections, page: Page): readonly string[] => {
  const { width, paint } = page;
  const sentences = (sectionIn(of, "returns")?.blocks ?? []).flatMap((block) =>
    block.kind === "table" ? [] : [{ text: printable(block.text), isSoft: block.tone === "soft" }],
  );
  return [
    ...sentences.flatMap(({ text, isSoft }) =>
      isSoft ? wrapped(text, width - 2).map((line) => `  ${paint.dim(line)}`) : wrapped(text, width),
    ),
    ...["falls", "months"].flatMap((id) => {
      const lines = tableText(of, id, 1, page);
      return lines.length === 0 ? [] : ["", ...lines];
    }),
  ];
};

/** A table of the sections; nothing where the report has none of this name. */
const tableText = (of: ReportSections, id: string, named: number, page: Page): readonly string[] => {
  const found = tableIn(of, id);
  if (found === undefined) return [];
  const rows = found.rows.map((row) => row.map((cell) => printable(textOf(cell))));
  return table(
    found.columns.map(({ name }) => name),
    rows,
    named,
    page,
  );
};

const strategyNameMax = 18;

/** A column for each strategy; those that do not fit into the width follow below. */
const trades = (of: ReportSections, { width, paint }: Page): readonly string[] => {
  const { columns: heads = [], rows = [] } = tableIn(of, "trades") ?? {};
  const names = rows.map(([name = ""]) => textOf(name));
  const labels = Math.max(...names.map((name) => name.length));
  const columns = heads.slice(1).map(({ name }, index) => {
    const cells = [cut(printable(name), strategyNameMax), ...rows.map((row) => textOf(row[index + 1] ?? ""))];
    const size = Math.max(...cells.map(widthOf));
    return cells.map((cell) => `  ${padStart(cell, size)}`);
  });
  const lines = ["", ...names].map((name) => padEnd(name, labels));
  const blocks = inBlocks(columns, width - labels).map((block) =>
    lines.map((line, row) => (row === 0 ? paint.dim : String)(`${line}${block.map((cells) => cells[row]).join("")}`)),
  );
  return [
    ...blocks.flatMap((block, index) => (index === 0 ? block : ["", ...block])),
    ...wrapped(tradesMeaning, width).map(paint.dim),
  ];
};

/** Columns in groups that fit into `width`; each holds one at least. */
const inBlocks = (
  columns: readonly (readonly string[])[],
  width: number,
): readonly (readonly (readonly string[])[])[] => {
  const blocks: (readonly string[])[][] = [];
  let left = 0;
  for (const column of columns) {
    left -= widthOf(column[0] ?? "");
    if (left < 0) {
      blocks.push([]);
      left = width - widthOf(column[0] ?? "");
    }
    blocks.at(-1)?.push(column);
  }
  return blocks;
};

/** Left out when nothing is held. */
const positions = (of: ReportSections, page: Page): readonly string[] => {
  const lines = tableText(of, "held", 2, page);
  return lines.length === 0 ? [] : [title(page, "Held at the end"), ...lines, ""];
};

/** Why orders came to nothing; left out when none did. */
const rejections = (page: Page): readonly string[] => {
  const { report, width, paint } = page;
  const { reasons, orders: others } = report.turnedDownMore;
  if (report.turnedDown.length === 0) return [];
  const counts = Math.max(...report.turnedDown.map(({ count }) => grouped(count).length));
  const indent = " ".repeat(counts + 3);
  const block = ({ count, by, reason, strategies, example }: RejectionReason): readonly string[] => {
    const varied = example.reason !== reason;
    const one = strategies.length === 1;
    const who = one
      ? `${example.strategy}, slot ${example.slot}`
      : `${strategies.join(", ")}; first ${example.strategy}, slot ${example.slot}`;
    const text = `${by === "engine" ? "before sending" : "by the service"}: ${printable(reason)}`;
    const [first = "", ...rest] = wrapped(text, width - indent.length);
    return [
      `${padStart(grouped(count), counts)} × ${first}`,
      ...rest.map((line) => `${indent}${line}`),
      ...wrapped(printable(`${who}${varied ? `: ${example.reason}` : ""}`), width - indent.length).map(
        (line) => `${indent}${paint.dim(line)}`,
      ),
    ];
  };
  const more =
    reasons + others === 0
      ? []
      : [paint.dim(`and ${counted(reasons, "more reason")}, ${counted(others, "order")} in all`)];
  return [title(page, "Refused and rejected orders"), ...report.turnedDown.flatMap(block), ...more, ""];
};

const assumptions = (sections: ReportSections, page: Page): readonly string[] => {
  const { columns = [], rows = [] } = tableIn(sections, "assumptions") ?? {};
  if (rows.length === 0) return [page.paint.dim("none stated")];
  return wordTable(
    columns.map(({ name }) => name),
    rows.map((row) => row.map((cell) => printable(textOf(cell)))),
    page,
  );
};
