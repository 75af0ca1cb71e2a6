/**
 * HTML page of a sweep: results out of sample first, pictures of options against results, and a table of all runs to
 * sort.
 *
 * Invariants: the file needs nothing else and no network; without its few lines of script only the sorting is missing;
 * foreign text is escaped; where more options vary than a heat map has axes, a cell is the median over them and the
 * page states it.
 * Not here: the scores (sweep-report.ts), their reading in words (summary.ts), pictures (page-plots.ts), markup and
 * style (`sluice/plugins/ui-kit`).
 */
import { amount, counted, duration, grouped, signed } from "sluice/extension";
import { html, type Markup, nothing, raw, signedCell, style, tableOf } from "sluice/plugins/ui-kit";
import { type Dot, frontPlot, heatMap, numberOf, optionPlots, plotStyle } from "./page-plots.ts";
import { parallelPlot, parallelStyle } from "./parallel-plot.ts";
import { chanceIn, pnlAnHour, scoreIn, unitOf } from "./part-scores.ts";
import { type Figures, scoreOf } from "./scores.ts";
import { spelled } from "./space.ts";
import { judgement } from "./summary.ts";
import { type Done, type FoldReport, isDone, type Result, reasonOf, type SweepReport } from "./sweep-report.ts";

/** Options of the page of a sweep. */
export interface SweepPageOptions {
  /** Returns the path of the page of a run's own report, relative to this page; undefined where there is none. */
  readonly reportOf?: (index: number) => string | undefined;
}

/** The scores of a sweep as a page for a browser, one file that needs no network: what `sluice sweep --html` writes. */
export const sweepPage = (report: SweepReport, { reportOf = () => undefined }: SweepPageOptions = {}): string => {
  const title = `Sweep of ${report.fixture.name}`;
  const link: Link = (index) => {
    const href = reportOf(index);
    return href === undefined ? nothing : html`<a href="${href}">report</a>`;
  };
  const { results, folds = [] } = report;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title><style>${raw(style)}${plotStyle}${parallelStyle}${tableStyle}</style></head>
<body><main><h1>${title}</h1><p class="soft">${factsOf(report)}</p>
${results.some(isDone) ? html`${tilesOf(report)}${foldSection(report, folds, link)}${pictures(report)}` : html`<p>No run was finished.</p>`}
${chanceSection(judgement(report))}
${runTable(report, link)}</main>
<script>${raw(sortScript)}</script></body></html>
`.markup;
};

const chanceSection = (texts: readonly string[]): Markup =>
  texts.length === 0 ? nothing : html`<h2>Selection bias</h2>${texts.map((text) => html`<p>${text}</p>`)}`;

type Link = (index: number) => Markup;

const factsOf = ({ by, objectives = [by], ranking, runs, fixture, seed, folds }: SweepReport): string => {
  const basis =
    folds === undefined ? "" : ` Scores of points are medians over the trainings of ${counted(folds.length, "fold")}.`;
  return `${objectives.join(" and ")} of ${counted(ranking.length, "point")}, ${counted(runs.done, "run")} done on ${duration(fixture.endAtMs - fixture.startAtMs)} of market, seed ${seed}.${basis}`;
};

const tile = (name: string, value: string, note = ""): Markup =>
  html`<div class="tile"><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>`;

const tilesOf = ({ by, ranking, luck, folds, runs }: SweepReport): Markup => {
  const tested = (folds ?? []).flatMap(({ outOfSample }) => outOfSample ?? []);
  const total = tested.reduce((sum, { pnl }) => sum + numberOf(pnl), 0);
  const gaining = tested.filter(({ pnl }) => numberOf(pnl) > 0).length;
  const best = ranking[0]?.score;
  const shortened = [
    ...(runs.pruned === undefined ? [] : [`${grouped(runs.pruned)} given up early`]),
    `${grouped(runs.failed)} failed`,
  ];
  return html`<dl class="tiles">
${folds === undefined ? nothing : tile("Out of sample", signed(total.toFixed(8), 2), `pnl of ${counted(tested.length, "test")}, ${gaining} with a gain`)}
${best === undefined ? nothing : tile(`Best ${by}${folds === undefined ? "" : " in sample"}`, amount(best, 2), "in sample: chosen after the fact")}
${luck === undefined ? nothing : tile("Best by chance", luck.bestByChance.toFixed(2), `if options did not matter; ${counted(luck.trials, "trial")}`)}
${tile("Runs", `${grouped(runs.done)} of ${grouped(runs.wanted)}`, `${shortened.join(", ")}, ${grouped(runs.unaccepted)} without an accepted order`)}
</dl>`;
};

const minute = (at: number): string => new Date(at).toISOString().slice(0, 16).replace("T", " ");

const foldSection = ({ space, by, results }: SweepReport, folds: readonly FoldReport[], link: Link): Markup => {
  if (folds.length === 0) return nothing;
  const hourly = (figures: Figures | undefined, window: FoldReport["test"]): Markup | string =>
    figures === undefined ? "-" : signedCell(signed(pnlAnHour(figures, window), 2));
  const rows = folds.map((row) => {
    const { fold, test, train, inSample, outOfSample, chosen } = row;
    const tested = results.find((result) => result.part === "test" && result.fold === fold);
    const chance = chanceIn(row, by)?.toFixed(2) ?? "-";
    const options = space.map(({ name }) => spelled(chosen?.options[name]));
    return [
      String(fold + 1),
      hourly(outOfSample, test),
      hourly(inSample, train),
      chance,
      minute(test.fromAt),
      ...options,
      tested === undefined ? nothing : link(tested.index),
    ];
  });
  const figure = ["out of sample", "in sample", "by chance"].map((name) => ({ name, figure: true }));
  const columns = [
    { name: "fold" },
    ...figure,
    { name: "test from" },
    ...space.map(({ name }) => ({ name })),
    { name: "" },
  ];
  return html`<h2>Out of sample</h2>
<p class="soft">Out of sample and in sample are pnl an hour; by chance is the best ${unitOf(by)} that so many trainings would show if options did not matter.</p>
${tableOf("Folds", columns, rows)}`;
};

/**
 * Returns the function that makes the dot of a run. With folds the value is in a unit in which trainings and tests can
 * be compared.
 */
const dotOf =
  ({ by, folds }: SweepReport) =>
  ({ index, options, figures, part, fold = 0 }: Done): Dot => {
    const window = folds?.[fold]?.[part === "test" ? "test" : "train"];
    const value = (window === undefined ? undefined : scoreIn(figures, by, window)) ?? numberOf(scoreOf(figures, by));
    return { index, options, value, outOfSample: part === "test" };
  };

const pictures = (report: SweepReport): Markup => {
  const { space, by, objectives, results, ranking, folds } = report;
  const done = results.filter(isDone);
  const unit = folds === undefined ? by : unitOf(by);
  const dots = done.map(dotOf(report));
  const trainings = dots.filter(({ outOfSample }) => !outOfSample);
  const [, other] = objectives ?? [];
  const fronts = new Set(ranking.filter(({ onFront }) => onFront === true).flatMap(({ runs }) => runs));
  const points = done.map((run) => ({
    dot: { ...dotOf(report)(run), outOfSample: fronts.has(run.index) },
    other: other === undefined ? 0 : numberOf(scoreOf(run.figures, other)),
  }));
  const marks = folds === undefined ? "" : " Rings are trainings, filled diamonds are out of sample.";
  const others = space.length > 2 ? " Each cell is the median over the other varied options." : "";
  return html`${other === undefined ? nothing : html`<h2>Objectives</h2>${frontPlot(points, [unit, other])}`}
<h2>Options against ${unit}</h2>${parallelPlot(
    space,
    trainings,
    by,
    unit,
  )}<p class="soft">Each mark is a run and links to its row.${marks}</p><div class="plots">${optionPlots(space, dots, unit)}
<div class="rest"><h3>Heat map</h3><p class="soft">${folds === undefined ? "All runs." : "Trainings only: out-of-sample results are above."}${others}</p>${heatMap(
    space,
    trainings,
    by,
    unit,
  )}</div></div>`;
};

const rowsMax = 2_000;

/** Sorts results: out of sample first, then by ranking, then those without figures. */
const inOrder = ({ results, ranking }: SweepReport): readonly Result[] => {
  const place = new Map(ranking.flatMap(({ runs }) => runs).map((index, at) => [index, at]));
  const rank = (result: Result): number =>
    result.part === "test" ? -1 : (place.get(result.index) ?? Number.MAX_SAFE_INTEGER);
  return [...results].sort((a, b) => rank(a) - rank(b) || a.index - b.index);
};

const runTable = (report: SweepReport, link: Link): Markup => {
  const { space, results, folds, ranking } = report;
  const fronts = new Set(ranking.filter(({ onFront }) => onFront === true).flatMap(({ runs }) => runs));
  const figured = ["sharpe", "drawdown", "trades", "win %", "fees", "fills", "weight"];
  const figure = raw(' class="n"');
  const heading = (name: string, kind = nothing): Markup => html`<th scope="col"${kind}><button>${name}</button></th>`;
  const heads = [
    heading("run"),
    ...(folds === undefined ? [] : [heading("part")]),
    heading("pnl", figure),
    ...space.map(({ name }) => heading(name)),
    ...figured.map((name) => heading(name, figure)),
    html`<th scope="col">report</th>`,
  ];
  const more =
    results.length > rowsMax ? html`<p>${grouped(results.length - rowsMax)} more runs; --csv writes all.</p>` : nothing;
  return html`<h2 id="runs">Runs</h2><p class="soft">Click a heading to sort.${fronts.size > 0 ? " * is on the Pareto front." : ""} Reports of runs are written by --reports N, also later with --out, --resume and a larger N.</p>
<div class="scroll" role="region" aria-label="Runs" tabindex="0"><table class="sortable"><caption>All runs</caption><thead><tr>${heads}</tr></thead>
<tbody>${inOrder(report)
    .slice(0, rowsMax)
    .map((result) =>
      runRow(result, report, fronts.has(result.index), link(result.index)),
    )}</tbody></table></div>${more}`;
};

const runRow = (result: Result, { space, folds }: SweepReport, isFront: boolean, link: Markup): Markup => {
  const { index, part, fold = 0, options } = result;
  const where =
    folds === undefined
      ? nothing
      : html`<td class="part">${part === "test" ? html`<b>out of sample</b>` : "training"} ${fold + 1}</td>`;
  const [pnl, others] = isDone(result)
    ? [
        figureCell(result.figures.pnl, signedCell(signed(result.figures.pnl, 2))),
        html`${figureCells(result.figures)}<td>${link}</td>`,
      ]
    : [
        figureCell(undefined),
        html`<td colspan="8" class="why">${result.status === "pruned" ? "" : `${result.status}: `}${reasonOf(result)}</td>`,
      ];
  return html`<tr id="run-${index}"><th scope="row">${index}${isFront ? "*" : ""}</th>${where}${pnl}${space.map(({ name }) => html`<td>${spelled(options[name])}</td>`)}${others}</tr>
`;
};

const figureCell = (value: string | number | undefined, shown: Markup | string = ""): Markup =>
  html`<td class="n" data-v="${value ?? ""}">${value === undefined ? "-" : shown}</td>`;

const figureCells = ({ sharpe, drawdown, trades, winPercent, fees, fills, weight }: Figures): Markup =>
  html`${figureCell(sharpe, amount(sharpe ?? "0", 2))}${figureCell(drawdown, amount(drawdown, 2))}${figureCell(trades, grouped(trades))}${figureCell(winPercent, amount(winPercent ?? "0", 0))}${figureCell(fees, amount(fees, 2))}${figureCell(fills, grouped(fills))}${figureCell(weight, grouped(weight))}`;

const tableStyle = raw(`
main{max-width:1720px}
.sortable th button{all:unset;cursor:pointer;border-bottom:1px dotted var(--soft)}.sortable th button:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.sortable th[aria-sort=ascending] button::after{content:" ▲"}.sortable th[aria-sort=descending] button::after{content:" ▼"}
.sortable td:not(.n){min-width:0}.sortable .part{white-space:nowrap}.sortable tr:target{background:var(--card);outline:2px solid var(--accent)}a{color:var(--accent)}
`);

/**
 * Script that sorts rows by a column, the largest first, and in reverse at the next click. Rows without a value stay
 * last.
 */
const sortScript = `
for(const table of document.querySelectorAll("table.sortable")){const body=table.tBodies[0],heads=[...table.tHead.rows[0].cells];
heads.forEach((head,at)=>head.querySelector("button")?.addEventListener("click",()=>{
const down=head.getAttribute("aria-sort")!=="descending";for(const one of heads)one.removeAttribute("aria-sort");head.setAttribute("aria-sort",down?"descending":"ascending");
const of=row=>{const cell=row.cells[at];if(!cell||cell.colSpan>1)return;const text=cell.dataset.v??cell.textContent;return text===""?undefined:isNaN(text)?text:Number(text)};
const rows=[...body.rows].map(row=>[of(row),row]);
rows.sort(([a],[b])=>a===undefined||b===undefined?(a===undefined)-(b===undefined):(down?-1:1)*(typeof a===typeof b&&typeof a==="number"?a-b:String(a).localeCompare(String(b))));
body.append(...rows.map(([,row])=>row))}))}
`;
