/**
 * Parallel coordinates of a sweep: an axis for each varied option and one for the result, and a line for each run.
 *
 * Invariants: the better a run, the stronger its line, and the later it is drawn; the best has marks on each
 * axis as well; at most `linesMax` runs are drawn, the best, and the caption states how many are left out.
 * Not here: axes of values and scales (page-plots.ts).
 */
import { counted, valueTicks } from "sluice/extension";
import { html, type Markup, nothing, raw } from "sluice/plugins/ui-kit";
import { type Axis, type Dot, edgeNameMax, orderedValues, placeOf, scaleOf, unit } from "./page-plots.ts";
import { type Score, scores } from "./scores.ts";
import { spelled } from "./space.ts";

const linesMax = 400;
const namesMax = 12;
const high = 320;
const [top, bottom] = [34, 14];
/** Least distance of two axes on a screen, beyond which the plot scrolls. */
const axisPxMin = 150;
/** Units of the lines across; they are stretched to the width of the plot. Texts are not. */
const wide = 1_000;
const [left, right] = [30, 90];

/** Share of the better end of a ranking that is drawn thick. */
const bestShare = 0.1;

interface Sheet {
  readonly axes: readonly Axis[];
  readonly y: (value: number) => number;
  readonly by: string;
}

const yAt = (share: number): number => high - bottom - share * (high - top - bottom);
const xOf = (index: number, { axes }: Sheet): number => left + (index * (wide - left - right)) / axes.length;

/** Returns the plot; nothing where fewer than two options vary or fewer than two runs have a result. */
export const parallelPlot = (space: readonly Axis[], dots: readonly Dot[], score: Score, by: string): Markup => {
  const axes = space.filter(({ values }) => values.length > 1);
  if (axes.length < 2 || dots.length < 2) return nothing;
  const better = scores[score] === "more" ? 1 : -1;
  const ranked = [...dots].sort((a, b) => better * (b.value - a.value));
  const shown = ranked.slice(0, linesMax);
  const { low, high: most } = scaleOf(shown.map(({ value }) => value));
  const sheet: Sheet = { axes, by, y: (value) => yAt((value - low) / (most - low)) };
  const ticks = valueTicks(low, most).map(({ value, text }) => ({ y: sheet.y(value), text }));
  const label = `Parallel coordinates: each line is a run through its options to its ${by}`;
  const unseen = dots.length - shown.length;
  const rest = unseen === 0 ? "" : ` ${counted(unseen, "worse run")} not drawn.`;
  const lines = shown.map((dot, rank) => lineOf(dot, rank / shown.length, sheet)).reverse();
  const columns = axes.map((axis, index) => axisOf(axis.name, xOf(index, sheet), namesOf(axis)));
  return html`<figure class="parallel"><figcaption>Each line is a run and links to its row; the better its ${by}, the stronger. The best has marks.${rest}</figcaption>
<div class="scroll" role="region" aria-label="Parallel coordinates" tabindex="0"><svg class="sheet" style="min-width:${axes.length * axisPxMin + 80}px" role="group" aria-label="${label}">
<svg viewBox="0 0 ${wide} ${high}" width="100%" height="${high}" preserveAspectRatio="none">${lines}</svg>
${columns}${axisOf(by, xOf(axes.length, sheet), ticks)}${shown[0] === undefined ? nothing : marksOf(shown[0], sheet)}</svg></div></figure>`;
};

const namesOf = (axis: Axis): readonly { readonly y: number; readonly text: string }[] => {
  const all = orderedValues(axis).map(spelled);
  const step = Math.ceil(all.length / namesMax);
  return all.flatMap((text, index) => (index % step === 0 ? [{ y: yAt((index + 0.5) / all.length), text }] : []));
};

const across = (x: number): string => `${unit((100 * x) / wide)}%`;

const axisOf = (name: string, x: number, marks: readonly { readonly y: number; readonly text: string }[]): Markup => {
  const at = across(x);
  const names = marks.map(
    ({ y, text }) => html`<text class="t" x="${at}" y="${unit(y)}" dx="8" dy="4">${text.slice(0, edgeNameMax)}</text>`,
  );
  return html`<line class="axis" x1="${at}" x2="${at}" y1="${top}" y2="${high - bottom}"/><text class="name" x="${at}" y="${top - 14}" text-anchor="${x === left ? "start" : "middle"}">${name.slice(0, 2 * edgeNameMax)}</text>${names}`;
};

/** Heights of a run on the axes, the result last. */
const heightsOf = ({ options, value }: Dot, { axes, y }: Sheet): readonly number[] => [
  ...axes.map((axis) => yAt(placeOf(axis, options[axis.name]))),
  y(value),
];

/** @param rank - 0 for the best, towards 1 for the worst */
const lineOf = (dot: Dot, rank: number, sheet: Sheet): Markup => {
  const path = heightsOf(dot, sheet).map(
    (y, index) => `${index === 0 ? "M" : "L"}${unit(xOf(index, sheet))} ${unit(y)}`,
  );
  const words = sheet.axes.map(({ name }) => `${name}=${spelled(dot.options[name])}`).join(", ");
  const tone = `stroke:color-mix(in oklab,var(--accent) ${Math.round(100 - 85 * rank)}%,var(--rule))`;
  return html`<a href="#run-${dot.index}" tabindex="-1"><path class="${rank < bestShare ? "run best" : "run"}" style="${tone}" d="${path.join("")}"><title>run ${dot.index}: ${words}, ${sheet.by} ${dot.value.toFixed(2)}</title></path></a>`;
};

const marksOf = (dot: Dot, sheet: Sheet): Markup =>
  html`${heightsOf(dot, sheet).map((y, index) => html`<text class="top" x="${across(xOf(index, sheet))}" y="${unit(y)}" dy="5" text-anchor="middle">◆</text>`)}`;

/** Style of the plot, in addition to that of the other pictures. */
export const parallelStyle = raw(`
.parallel .sheet{width:100%;height:${high}px;display:block}.parallel text{font-size:11.5px;fill:var(--fg);paint-order:stroke;stroke:var(--bg);stroke-width:4px;stroke-linejoin:round;pointer-events:none}.parallel .name{font-weight:600;font-size:13px}
.parallel .axis{stroke:var(--soft)}.parallel .run{fill:none;stroke-width:1.3;stroke-opacity:.75;vector-effect:non-scaling-stroke}.parallel .best{stroke-width:2.4;stroke-opacity:1}.parallel a:hover path,.parallel a:focus path{stroke:var(--fg)!important;stroke-width:3}.parallel .top{fill:var(--warn);font-size:15px}
`);
