/**
 * HTML page of a sweep: the scores of two varied options as a table whose cells are shaded by score, and the best points.
 *
 * Invariants: the file needs nothing else, no network and no script; a shade says no more than the number on it; foreign text is
 * escaped; where more options vary, a cell is the median over them and the page says so.
 * Not here: the scores (sweep-report.ts), their reading in words (summary.ts), markup and style (report/).
 */
import { approximate, compare } from "../../decimal.ts";
import { html, type Markup, nothing, raw, tableOf } from "../../report/html/markup.ts";
import { style } from "../../report/html/style.ts";
import { duration } from "../../report/number-format.ts";
import { type Score, scores } from "./scores.ts";
import { spelled } from "./space.ts";
import { judgement } from "./summary.ts";
import type { PointScore, SweepReport } from "./sweep-report.ts";

type Axis = SweepReport["space"][number];

/** The scores of a sweep as a page for a browser, one file that needs no network: what `sluice sweep --html` writes. */
export const sweepPage = (report: SweepReport): string => {
  const title = `Sweep of ${report.fixture.name}`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title><style>${raw(style)}</style></head>
<body><main><h1>${title}</h1><p class="soft">${factsOf(report)}</p>
${report.ranking.length === 0 ? html`<p>No run was finished.</p>` : scoreTable(report)}
${judgement(report).map((text) => html`<p>${text}</p>`)}
${bestTable(report)}</main></body></html>
`.markup;
};

const factsOf = ({ by, ranking, runs, fixture, seed, space, folds }: SweepReport): string => {
  const others = space.length > 2 ? " Each cell is the median over the other varied options." : "";
  const basis = folds === undefined ? "" : ` Scores are medians over the trainings of ${folds.length} folds.`;
  return `${by} of ${ranking.length} points, ${runs.done} runs on ${duration(fixture.endAtMs - fixture.startAtMs)} of market, seed ${seed}.${basis}${others}`;
};

/** The option with most values across, the next one down. */
const scoreTable = (report: SweepReport): Markup => {
  const { by, space } = report;
  const [across, down] = [...space].sort((a, b) => b.values.length - a.values.length) as [Axis, Axis | undefined];
  const cells = (down?.values ?? [undefined]).map((y) => across.values.map((x) => scoreAt(report, across, x, down, y)));
  const shade = shadeOf(cells.flat(), by);
  const rows = cells.map((row, index) => [down === undefined ? by : spelled(down.values[index]), ...row.map(shade)]);
  const columns = across.values.map((value) => ({ name: `${across.name}=${spelled(value)}`, figure: true }));
  return tableOf(`${by} by option, the best in bold`, [{ name: down?.name ?? "" }, ...columns], rows);
};

const scoreAt = ({ ranking, by }: SweepReport, across: Axis, x: unknown, down: Axis | undefined, y: unknown): string | undefined => {
  const key = (value: unknown): string => JSON.stringify(value) ?? "";
  const points = ranking.filter(
    ({ options }) => key(options[across.name]) === key(x) && (down === undefined || key(options[down.name]) === key(y)),
  );
  return points.length === 0 ? undefined : medianOf(points, by);
};

/** The worse of the two in the middle where their number is even. */
const medianOf = (points: readonly PointScore[], by: Score): string => {
  const sign = scores[by] === "more" ? -1 : 1;
  return ([...points].sort((a, b) => sign * compare(a.score, b.score))[Math.floor(points.length / 2)] as PointScore).score;
};

/** Green above the middle and red below it, which for money is nothing gained and for other scores halfway. */
const shadeOf = (cells: readonly (string | undefined)[], by: Score): ((score: string | undefined) => Markup) => {
  const values = cells.flatMap((score) => (score === undefined ? [] : [approximate(score)]));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const middle = by === "pnl" || by === "sharpe" ? 0 : (low + high) / 2;
  const reach = Math.max(Math.abs(high - middle), Math.abs(low - middle)) || 1;
  const sign = scores[by] === "more" ? 1 : -1;
  return (score) => {
    if (score === undefined) return nothing;
    const share = (sign * (approximate(score) - middle)) / reach;
    const tone = `color-mix(in oklab,var(${share < 0 ? "--loss" : "--gain"}) ${Math.round(Math.abs(share) * 35)}%,transparent)`;
    const isBest = approximate(score) === (sign > 0 ? high : low);
    return html`<span class="shade" style="background:${tone}">${isBest ? html`<b>${score}</b>` : score}</span>`;
  };
};

const bestMax = 10;

const bestTable = ({ ranking, space, by }: SweepReport): Markup => {
  const columns = [...space.map(({ name }) => ({ name })), { name: by, figure: true }];
  const rows = ranking.slice(0, bestMax).map(({ options, score }) => [...space.map(({ name }) => spelled(options[name])), score]);
  return rows.length === 0 ? nothing : html`<h2>Best points</h2>${tableOf("Best points", columns, rows)}`;
};
