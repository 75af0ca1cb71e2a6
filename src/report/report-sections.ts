/**
 * A report in sections of tables and sentences: what a page, a document or a terminal draws.
 *
 * Invariants: pure text from the report alone, rounded for show; a table without rows is a sentence or left out;
 * foreign text (names, reasons, places) is unchanged, and the caller that draws it escapes it.
 * Not here: the rows (run-facts.ts, trade-facts.ts, return-facts.ts), their look on a terminal (report-text.ts).
 */
import { layers } from "../contract/limits.ts";
import { abs, compare, div, isPositive, mul } from "../decimal.ts";
import { gapsOf } from "./coverage-text.ts";
import { amount, counted, duration, grouped, minuteOf, percent, signed } from "./number-format.ts";
import { exposureLine } from "./portfolio-text.ts";
import { waitedFor } from "./quota-minutes.ts";
import { feeBpsOf, placesIn, type RunReport, titleOf } from "./report.ts";
import {
  benchmarkFact,
  dayFacts,
  fallColumns,
  fallRows,
  monthColumns,
  monthRows,
  returnFacts,
} from "./return-facts.ts";
import {
  columnsFor,
  delayFacts,
  type Fact,
  moneyFacts,
  orderFacts,
  positionColumns,
  positionRows,
  quotaSentence,
  strategyName,
  waitNames,
  windowNames,
} from "./run-facts.ts";
import { tradeColumns, tradeFacts, tradesMeaning } from "./trade-facts.ts";
import { warningsOf } from "./warnings.ts";

/** A report as text, ready to be drawn. */
export interface ReportSections {
  /** "Backtest of demo". */
  readonly title: string;
  /** Span, rows, seed and events. */
  readonly facts: string;
  /** Warnings that come before the figures, the gravest first. */
  readonly warnings: readonly string[];
  /** Fraction digits of money in this report. */
  readonly places: number;
  readonly keyFigures: readonly KeyFigure[];
  readonly sections: readonly ReportSection[];
}

/** Figure of the whole run. A gain or loss has its sign. */
export interface KeyFigure {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}

/** A part of a report with its heading. */
export interface ReportSection {
  readonly id: "trades" | "result" | "returns" | "strategies" | "quota" | "rejections" | "recording" | "assumptions";
  readonly name: string;
  readonly blocks: readonly ReportBlock[];
}

/** A table or a sentence. */
export type ReportBlock = ReportTable | ReportSentence;

/** A table. The first cell of a row is its heading. */
export interface ReportTable {
  readonly kind: "table";
  readonly id: string;
  /** Heading within its section. */
  readonly heading?: string;
  /** Label of its contents, for readers who do not see its place. */
  readonly caption: string;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly (readonly ReportCell[])[];
}

/** A column: words, sentences, numbers, or results, of which gains and losses have a sign. */
export interface ReportColumn {
  readonly name: string;
  readonly kind: "word" | "sentence" | "number" | "result";
}

/** Text of a cell, with what explains it. */
export type ReportCell = string | { readonly text: string; readonly note: string };

/** A sentence: `soft` explains others, `bad` reports a failure. */
export interface ReportSentence {
  readonly kind: "sentence";
  readonly text: string;
  readonly tone?: "soft" | "bad";
}

/**
 * Returns the text of a report by section, in the order of a page.
 *
 * @param report - of a run
 * @returns headings, tables and sentences, in the order of a page
 */
export const reportSections = (report: RunReport): ReportSections => {
  const places = placesIn(report);
  const section = (id: ReportSection["id"], name: string, blocks: readonly ReportBlock[]): ReportSection => ({
    id,
    name,
    blocks,
  });
  return {
    title: titleOf(report),
    facts: factsOf(report),
    warnings: warningsOf(report),
    places,
    keyFigures: keyFiguresOf(report, places),
    sections: [
      section("trades", "Trades", [tradeTable(report, places), soft(tradesMeaning)]),
      section("result", "Result", resultTables(report, places)),
      section("returns", "Returns", returnBlocks(report)),
      section("strategies", "Strategies", [
        strategyTable(report, places),
        ...errorsOf(report),
        heldBlock(report, places),
        ...instrumentBlocks(report, places),
      ]),
      section("quota", "Quota", quotaBlocks(report)),
      section("rejections", "Refused and rejected orders", rejectionBlocks(report)),
      ...(report.run === undefined ? [section("recording", "Recording", [coverageTable(report)])] : []),
      section("assumptions", "Assumptions", [assumptionTable(report)]),
    ],
  };
};

const assumptionTable = ({ assumptions }: RunReport): ReportTable => ({
  kind: "table",
  id: "assumptions",
  caption: "Assumptions of the run",
  columns: [
    { name: "what", kind: "word" },
    { name: "assumed", kind: "sentence" },
    { name: "consequence", kind: "sentence" },
  ],
  rows: assumptions.map(({ what, value, consequence }) => [what, value, consequence]),
});

/** The section of this id. */
export const sectionIn = ({ sections }: ReportSections, id: ReportSection["id"]): ReportSection | undefined =>
  sections.find((section) => section.id === id);

/** The table of this id; undefined where the report has none. */
export const tableIn = ({ sections }: ReportSections, id: string): ReportTable | undefined =>
  sections
    .flatMap(({ blocks }) => blocks)
    .find((block): block is ReportTable => block.kind === "table" && block.id === id);

/** Text of a cell without its note. */
export const textOf = (cell: ReportCell): string => (typeof cell === "string" ? cell : cell.text);

const sentence = (text: string): ReportSentence => ({ kind: "sentence", text });
const soft = (text: string): ReportSentence => ({ kind: "sentence", text, tone: "soft" });
const columns = (kind: ReportColumn["kind"], ...names: readonly string[]): readonly ReportColumn[] =>
  names.map((name) => ({ name, kind }));
const table = (
  id: string,
  caption: string,
  heads: readonly ReportColumn[],
  rows: ReportTable["rows"],
): ReportTable => ({ kind: "table", id, caption, columns: heads, rows });

const factsOf = ({ fixture, virtualMs, seed, events, run }: RunReport): string => {
  const [start, end] = [minuteOf(fixture.startAt), minuteOf(fixture.endAt)];
  const until = end.slice(0, 10) === start.slice(0, 10) ? end.slice(11) : end;
  const played = run === undefined ? `, ${counted(fixture.rows, "row")}, seed ${seed}` : "";
  return `${start} to ${until} UTC (${duration(virtualMs)})${played}, ${grouped(events)} events`;
};

const keyFiguresOf = (report: RunReport, places: number): readonly KeyFigure[] => {
  const { pnl, equity, drawdown, fees, volume, turnover, quota, liquidity, fills, trades, returns } = report;
  const start = equity[0]?.equity ?? "0";
  const share = isPositive(start) ? `${signed(div(mul(pnl, "100"), start, 4), 2)} % of ${amount(start, places)}` : "";
  const factor = trades.profitFactor === undefined ? "" : `, profit factor ${amount(trades.profitFactor, 2)}`;
  const { maker, taker } = liquidity;
  const rows: readonly (readonly [name: string, value: string, note: string])[] = [
    [`Result in ${report.currency}`, signed(pnl, places), share],
    ["Drawdown", amount(drawdown.max, places), `${amount(drawdown.maxPercent, 2)} % of the high`],
    [
      "Win rate",
      trades.count === 0 ? "–" : percent(trades.won, trades.count),
      `${counted(trades.count, "trade")}${factor}`,
    ],
    ["Sharpe ratio", returns?.sharpe === undefined ? "–" : amount(returns.sharpe, 2), sharpeNote(returns)],
    [
      compare(fees, "0") < 0 ? "Rebates earned" : "Fees paid",
      amount(abs(fees), places),
      `${amount(feeBpsOf(abs(fees), volume), 2)} bp of volume`,
    ],
    ["Volume", amount(volume, places), `${amount(turnover, 2)} × equity`],
    ["Fills", grouped(fills), `${grouped(maker.fills)} maker, ${grouped(taker.fills)} taker`],
    [
      "Quota, peak minute",
      percent(quota.perLayerPeak.uid, layers.uid.capacity),
      quota.heldMs.total === 0 ? "no scheduling delay" : `${duration(quota.heldMs.total)} scheduling delay in all`,
    ],
  ];
  return rows.map(([name, value, note]) => ({ name, value, note }));
};

const sharpeNote = (returns: RunReport["returns"]): string => {
  if (returns?.per !== "year") return "of this run, not annualised";
  return returns.cagrPercent === undefined ? "annualised" : `annualised; CAGR ${signed(returns.cagrPercent, 2)} %`;
};

/** Statistics of trades, of each strategy and of all. */
const tradeTable = (report: RunReport, places: number): ReportTable => {
  const shown = tradeColumns(report);
  const facts = tradeFacts(
    shown.map(([, own]) => own),
    places,
  );
  return table(
    "trades",
    `Trades of each strategy, money in ${report.currency}`,
    [...columns("word", ""), ...columns("result", ...shown.map(([name]) => name))],
    facts.map(({ name, cells }) => [name, ...cells]),
  );
};

const resultTables = (report: RunReport, places: number): readonly ReportTable[] => {
  const { currency } = report;
  const facts = (id: string, caption: string, unit: string, rows: readonly Fact[]): ReportTable =>
    table(
      id,
      caption,
      [...columns("word", ""), ...columns("result", unit), ...columns("word", "")],
      rows.map(([label, value, note = ""]) => [label, value, note]),
    );
  return [
    facts("money", `Money in ${currency}`, currency, moneyFacts(report, places)),
    facts("orders", "Orders", "count", orderFacts(report, places)),
  ];
};

const returnBlocks = (report: RunReport): readonly ReportBlock[] => {
  const { returns, currency } = report;
  const { said, basis } = returnFacts(returns, currency);
  const [falls, months] = returns === undefined ? [[], []] : [fallRows(returns), monthRows(returns)];
  const [rank, ...fallen] = fallColumns;
  const [year, ...named] = monthColumns;
  return [
    ...[said, ...(returns === undefined ? [] : dayFacts(returns)), ...benchmarkFact(report)].map(sentence),
    ...(basis === "" ? [] : [soft(basis)]),
    ...(months.length === 0
      ? []
      : [
          {
            ...table(
              "months",
              "Return of each month in percent",
              [...columns("word", year), ...columns("number", ...named)],
              months,
            ),
            heading: "Months",
          },
        ]),
    ...(falls.length === 0
      ? []
      : [
          {
            ...table(
              "falls",
              "The deepest falls of equity between daily closes",
              [...columns("word", rank), ...columns("number", ...fallen)],
              falls,
            ),
            heading: "Deepest falls",
          },
        ]),
  ];
};

const strategyTable = (report: RunReport, places: number): ReportTable => {
  const shown = columnsFor(report);
  return table(
    "strategies",
    `Orders, money in ${report.currency} and quota of each strategy`,
    [...columns("word", "strategy"), ...columns("result", ...shown.map(({ name }) => name))],
    Object.entries(report.perStrategy).map(([name, own]) => [
      strategyName(name, own),
      ...shown.map(({ cell }) => cell(own, places)),
    ]),
  );
};

const errorsOf = ({ perStrategy }: RunReport): readonly ReportSentence[] =>
  Object.entries(perStrategy).flatMap(([name, { error }]) =>
    error === undefined ? [] : [{ kind: "sentence", text: `${name}: ${error}`, tone: "bad" }],
  );

const heldBlock = (report: RunReport, places: number): ReportBlock => {
  const rows = positionRows(report, places);
  if (rows.length === 0) return soft("No strategy held anything at the end.");
  const [strategy, instrument, ...rest] = positionColumns;
  const heads = [...columns("word", strategy, instrument), ...columns("result", ...rest)];
  return { ...table("held", "What strategies held at the end", heads, rows), heading: "Held at the end" };
};

/** Left out where one instrument was traded. */
const instrumentBlocks = (report: RunReport, places: number): readonly ReportBlock[] => {
  const traded = Object.entries(report.perInstrument);
  if (traded.length < 2) return [];
  const rows = traded.map(([instId, { fills, volume, pnl, realised, unrealised, fees }]) => [
    instId,
    grouped(fills),
    signed(pnl, places),
    signed(realised, places),
    signed(unrealised, places),
    amount(fees, places),
    amount(volume, places),
  ]);
  const heads = [
    ...columns("word", "instrument"),
    ...columns("number", "fills"),
    ...columns("result", "result", "realised", "unrealised"),
    ...columns("number", "fees", "volume"),
  ];
  const { names = [], values = [] } = report.correlation?.strategies ?? {};
  const correlations = names.map((name, row) => [
    name,
    ...(values[row] ?? []).map((value) => (value === null ? "–" : amount(value, 2))),
  ]);
  return [
    {
      ...table("instruments", `Result of each instrument in ${report.currency}`, heads, rows),
      heading: "Instruments",
    },
    soft(`In ${report.currency}, ${exposureLine(report, places)}.`),
    ...(names.length < 2
      ? []
      : [
          {
            ...table(
              "correlations",
              "Correlation of the strategies' returns",
              [...columns("word", "strategy"), ...columns("number", ...names)],
              correlations,
            ),
            heading: "Correlation of strategies",
          },
        ]),
  ];
};

const quotaBlocks = (report: RunReport): readonly ReportBlock[] => {
  const { perLayerPeak, waitedMs } = report.quota;
  const peaks = (["uid", "key", "ip"] as const).map((layer) => [
    layer,
    windowNames[layer],
    grouped(perLayerPeak[layer]),
    grouped(layers[layer].capacity),
    percent(perLayerPeak[layer], layers[layer].capacity),
  ]);
  const waits = waitedFor
    .filter((layer) => waitedMs[layer] > 0)
    .map((layer) => [waitNames[layer], duration(waitedMs[layer])]);
  return [
    sentence(`${quotaSentence(report)}.`),
    table(
      "peaks",
      "The peak window of each layer",
      [...columns("word", "layer", "counts"), ...columns("number", "peak window", "allowed", "used")],
      peaks,
    ),
    waits.length === 0
      ? soft("Nothing had to wait for quota.")
      : table(
          "waits",
          "What actions waited for, all together",
          [...columns("word", "waited for"), ...columns("number", "time")],
          waits,
        ),
    table(
      "delays",
      "How long actions took",
      [...columns("word", ""), ...columns("number", "p50", "p99", "")],
      delayFacts(report).map(({ what, p50, p99, note }) => [what, p50, p99, note]),
    ),
  ];
};

const rejectionBlocks = ({ turnedDown, turnedDownMore }: RunReport): readonly ReportBlock[] => {
  if (turnedDown.length === 0) return [soft("No order was refused or rejected.")];
  const rows = turnedDown.map(({ count, by, reason, strategies, example }) => [
    `${grouped(count)} ×`,
    by === "engine" ? "before sending" : "by the service",
    { text: reason, note: example.reason === reason ? "" : `such as: ${example.reason}` },
    { text: strategies.join(", "), note: `first in slot ${example.slot}` },
  ]);
  const { reasons, orders } = turnedDownMore;
  const heads = [...columns("word", "orders", ""), ...columns("sentence", "reason"), ...columns("word", "strategies")];
  return [
    table("rejections", "Why orders came to nothing", heads, rows),
    ...(reasons + orders === 0
      ? []
      : [soft(`and ${counted(reasons, "more reason")}, ${counted(orders, "order")} in all`)]),
  ];
};

const coverageTable = ({ coverage }: RunReport): ReportTable => {
  const rows = coverage.series.map((one) => [
    one.instId,
    one.kind,
    grouped(one.rows),
    gapsOf(one, coverage.gapMs),
    one.quotedPercent === undefined ? "–" : `${amount(one.quotedPercent, 1)} %`,
  ]);
  return table(
    "recording",
    "What the recording holds",
    [
      ...columns("word", "instrument", "series"),
      ...columns("number", "rows"),
      ...columns("word", "gaps"),
      ...columns("number", "both sides quoted"),
    ],
    rows,
  );
};
