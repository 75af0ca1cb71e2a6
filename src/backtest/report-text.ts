/**
 * A report as a page for a terminal: what happened, what it earned, what it cost in quota, and under which assumptions.
 *
 * Invariants: pure text from the report alone; no line is wider than `columns` (60 at least); colour repeats what words and
 * signs already say; foreign words are made printable and cut to their column.
 * Not here: the figures (report.ts), the equity line (chart.ts), how a number is spelled (figures.ts).
 */
import { type LayerName, layers } from "../contract/limits.ts";
import { abs, approximate, compare, div, isPositive, isZero, mul } from "../decimal.ts";
import { chart } from "./chart.ts";
import { amount, counted, duration, grouped, minuteOf, percent, placesFor, signed } from "./figures.ts";
import { cut, type Ink, ink, padEnd, padStart, printable, widthOf, wrapped } from "./ink.ts";
import { feeBpsOf, grossOf, type RunReport } from "./report.ts";
import { strategyTable } from "./strategy-table.ts";
import type { TurnedDown } from "./turned-down.ts";

export interface Look {
  readonly columns: number;
  readonly colour: boolean;
}

const columnsMin = 60;
const columnsMax = 160;

export const reportText = (report: RunReport, { columns, colour }: Look): string => {
  const page: Page = {
    report,
    width: Math.min(columnsMax, Math.max(columnsMin, columns)) - 2,
    paint: ink(colour),
    places: placesFor(report.equity[0]?.equity ?? report.volume),
  };
  const half = Math.floor(page.width * 0.55);
  const lines = [
    ...headline(page),
    ...equitySection(page),
    "",
    ...beside([title(page, "Money", half - 2), ...money(page)], [title(page, "Orders", page.width - half), ...orders(page)], half),
    "",
    title(page, "Quota"),
    ...quota(page),
    "",
    title(page, "Strategies"),
    ...strategyTable(report.perStrategy, page),
    "",
    ...turnedDown(page),
    title(page, "Assumptions"),
    ...assumptions(page),
    "",
    `${page.paint.dim("result hash")} ${report.resultHash}`,
  ];
  return `\n${lines.map((line) => ` ${line}`.trimEnd()).join("\n")}\n\n`;
};

export interface Page {
  readonly report: RunReport;
  /** Columns between the margins. */
  readonly width: number;
  readonly paint: Ink;
  /** Fraction digits of money. */
  readonly places: number;
}

const title = ({ paint, width }: Page, name: string, columns = width): string =>
  `${paint.bold(name)} ${paint.dim("─".repeat(Math.max(0, columns - name.length - 1)))}`;

const headline = ({ report, width, paint }: Page): readonly string[] => {
  const {
    fixture,
    virtualMs,
    wallMs,
    events,
    quota: { limits },
  } = report;
  const speed = wallMs > 0 ? `, ${grouped(Math.round(virtualMs / wallMs))} × real time` : "";
  const [start, end] = [minuteOf(fixture.startAt), minuteOf(fixture.endAt)];
  const until = end.slice(0, 10) === start.slice(0, 10) ? end.slice(11) : end;
  const name = cut(printable(fixture.name), width - 30);
  return [
    `${paint.bold(`Backtest of ${name}`)}${paint.dim(`  seed ${cut(printable(report.seed), 16)}`)}`,
    `${start} to ${until} UTC (${duration(virtualMs)}), ${counted(fixture.rows, "row")}, fixture ${cut(fixture.contentHash, 9)}`,
    `${counted(events, "event")} in ${duration(wallMs)}${speed}`,
    ...(limits ? [] : wrapped("! Limits were not enforced: what this run did may be impossible at the service.", width).map(paint.yellow)),
    "",
  ];
};

const chartRows = (width: number): number => (width >= 110 ? 10 : 7);

const equitySection = (page: Page): readonly string[] => {
  const { report, width, paint, places } = page;
  const points = report.equity.map(({ at, equity }) => ({ at, value: approximate(equity) }));
  const textAt = new Map(report.equity.map(({ at, equity }) => [at, equity]));
  const heading = `Equity in ${cut(printable(report.currency), 12)}`;
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

type Fact = readonly [label: string, value: string, note?: string];

/** Labels left, values aligned at the right, notes after them. */
const facts = (rows: readonly Fact[], paint: Ink): readonly string[] => {
  const labels = Math.max(...rows.map(([label]) => widthOf(label)));
  const values = Math.max(...rows.map(([, value]) => widthOf(value)));
  return rows.map(([label, value, note = ""]) => `${padEnd(label, labels)}  ${padStart(value, values)}  ${paint.dim(note)}`.trimEnd());
};

const beside = (left: readonly string[], right: readonly string[], leftWidth: number): readonly string[] =>
  Array.from({ length: Math.max(left.length, right.length) }, (_, row) => `${padEnd(left[row] ?? "", leftWidth)}${right[row] ?? ""}`);

/** Green and red say no more than the sign does. */
export const gain = (value: string, { paint, places }: Pick<Page, "paint" | "places">): string => {
  const text = signed(value, places);
  return isZero(value) ? text : isPositive(value) ? paint.green(text) : paint.red(text);
};

const money = (page: Page): readonly string[] => {
  const { report, paint, places } = page;
  const { pnl, fees, volume, drawdown, equity } = report;
  const start = equity[0]?.equity ?? "0";
  const earned = compare(fees, "0") < 0;
  const cost = abs(fees);
  const share = isPositive(start) ? `${signed(div(mul(pnl, "100"), start, 4), 2)} %` : "";
  return facts(
    [
      ["result", gain(pnl, page), share],
      ["before fees", signed(grossOf(report), places)],
      [earned ? "rebates earned" : "fees paid", amount(cost, places), `${amount(feeBpsOf(cost, volume), 2)} bp`],
      ["volume", amount(volume, places)],
      ["drawdown", amount(drawdown.max, places), `${amount(drawdown.maxPercent, 2)} %`],
    ],
    paint,
  );
};

const orders = ({ report, paint }: Page): readonly string[] => {
  const { placed, filled, canceled, rejected, refused } = report.orders;
  const count = (value: number): string => grouped(value);
  return facts(
    [
      ["placed", count(placed), counted(report.fills, "fill")],
      ["filled", count(filled), percent(filled, placed)],
      ["canceled", count(canceled), percent(canceled, placed)],
      ["rejected", count(rejected), "by the service"],
      ["refused", count(refused), "before sending"],
    ],
    paint,
  );
};

const quota = (page: Page): readonly string[] => {
  const {
    report: { quota: used, perStrategy, latency },
    paint,
  } = page;
  const held = Object.values(perStrategy).reduce((total, { heldMs }) => total + heldMs, 0);
  const refusals = used.rejected429 === 0 ? paint.green("no 429") : paint.red(`${grouped(used.rejected429)} × 429`);
  const blocked = used.blockedMinutes === 0 ? "no minute blocked" : paint.red(`${counted(used.blockedMinutes, "minute")} blocked`);
  return [
    ...(["uid", "key", "ip"] as const).map((name) => peakBar(name, used.perLayerPeak[name], page)),
    "",
    `${counted(used.requests, "request")}, weight ${grouped(used.weight)}, ${refusals}, ${blocked}, reserve used ${used.reserveUsed === 0 ? "never" : counted(used.reserveUsed, "time")}`,
    "",
    ...waits(
      [
        ["waited for quota", used.heldMs.p50, used.heldMs.p99, `max ${duration(used.heldMs.max)}, ${duration(held)} in all`],
        ["submit to placed", latency.place.p50, latency.place.p99, counted(latency.place.count, "order")],
        ["submit to canceled", latency.cancel.p50, latency.cancel.p99, counted(latency.cancel.count, "cancel")],
      ],
      page,
    ),
  ];
};

const waits = (rows: readonly (readonly [string, number, number, string])[], { paint, width }: Page): readonly string[] =>
  rows.map(([label, p50, p99, note]) => {
    const figures = `${padEnd(label, 20)}p50 ${padStart(duration(p50), 9)}   p99 ${padStart(duration(p99), 9)}   `;
    return `${figures}${paint.dim(cut(note, width - widthOf(figures)))}`;
  });

const windowNames: Readonly<Record<LayerName, string>> = { uid: "weight a minute", key: "requests a second", ip: "requests a minute" };

/** Peak of the fullest window against what it holds. */
const peakBar = (name: LayerName, peak: number, { width, paint }: Page): string => {
  const { capacity } = layers[name];
  const figures = `${padStart(grouped(peak), 7)} of ${padStart(grouped(capacity), 5)}  ${padStart(percent(peak, capacity), 6)}`;
  const columns = Math.max(8, Math.min(72, width - 24 - widthOf(figures)));
  const share = Math.min(1, peak / capacity);
  const eighths = Math.round(share * columns * 8);
  const full = Math.floor(eighths / 8);
  const part = eighths % 8 === 0 ? "" : (" ▏▎▍▌▋▊▉"[eighths % 8] ?? "");
  const tone = peak > capacity ? paint.red : share >= 0.9 ? paint.yellow : paint.green;
  const rest = columns - full - widthOf(part);
  return `${padEnd(name, 4)}${padEnd(windowNames[name], 19)}${tone("█".repeat(full) + part)}${paint.dim("·".repeat(rest))} ${figures}`;
};

/** Why orders came to nothing; left out when none did. */
const turnedDown = (page: Page): readonly string[] => {
  const { report, width, paint } = page;
  if (report.turnedDown.length === 0) return [];
  const counts = Math.max(...report.turnedDown.map(({ count }) => grouped(count).length));
  const line = ({ count, by, reason }: TurnedDown): string =>
    `${padStart(grouped(count), counts)} × ${paint.dim(by === "engine" ? "before sending" : "by the service")}  ${cut(printable(reason), width - counts - 19)}`;
  return [title(page, "Turned down"), ...report.turnedDown.map(line), ""];
};

const assumptions = ({ report, width, paint }: Page): readonly string[] =>
  report.assumptions.length === 0
    ? [paint.dim("none stated")]
    : report.assumptions.flatMap((text) => wrapped(printable(text), width - 2).map((line, index) => `${index === 0 ? "- " : "  "}${line}`));
