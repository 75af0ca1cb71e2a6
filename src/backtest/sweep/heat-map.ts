/**
 * Two varied options as a picture in one HTML file: a cell for each pair of values, coloured by the score.
 *
 * Invariants: the file needs nothing else, no network and no script, and follows light and dark; colour says no more than the number
 * in or on the cell; every foreign word is escaped; where more options vary, a cell is the median over them and says so.
 * Not here: the scores (sweep-report.ts), what to make of them (summary.ts).
 */

import { approximate, compare } from "../../decimal.ts";
import { duration } from "../../report/number-format.ts";
import { css } from "./heat-map-look.ts";
import { type Score, scores } from "./scores.ts";
import { spelled } from "./space.ts";
import { judgement } from "./summary.ts";
import type { PointScore, SweepReport } from "./sweep-report.ts";

interface Axis {
  readonly name: string;
  readonly values: readonly unknown[];
}

interface Cell {
  readonly column: number;
  readonly row: number;
  readonly score: string;
  readonly points: readonly PointScore[];
}

export const heatMap = (report: SweepReport): string => {
  const [across, down = { name: "", values: [undefined] }] = [...report.space].sort((a, b) => b.values.length - a.values.length);
  const cells = cellsOf(report, across as Axis, down);
  const title = `Sweep of ${report.fixture.name}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${css}</style>
<main>
<h1>${escaped(title)}</h1>
<p class="facts">${escaped(factsOf(report))}</p>
${cells.length === 0 ? "<p>No run was finished.</p>" : picture(report, across as Axis, down, cells)}
${judgement(report)
  .map((text) => `<p>${escaped(text)}</p>`)
  .join("\n")}
${bestTable(report)}
</main>
</html>
`;
};

const factsOf = ({ by, ranking, runs, fixture, seed, space, folds }: SweepReport): string => {
  const others = space.length > 2 ? ` Each cell is the median over the other varied options.` : "";
  const basis = folds === undefined ? "" : ` Scores are medians over the trainings of ${folds.length} folds.`;
  return `${by} of ${ranking.length} points, ${runs.done} runs on ${duration(fixture.endAtMs - fixture.startAtMs)} of market, seed ${seed}.${basis}${others}`;
};

const cellsOf = ({ ranking, by }: SweepReport, across: Axis, down: Axis): readonly Cell[] => {
  const key = (value: unknown): string => JSON.stringify(value) ?? "";
  const cells: Cell[] = [];
  for (const [row, y] of down.values.entries()) {
    for (const [column, x] of across.values.entries()) {
      const points = ranking.filter(
        ({ options }) => key(options[across.name]) === key(x) && (down.name === "" || key(options[down.name]) === key(y)),
      );
      if (points.length === 0) continue;
      cells.push({ column, row, points, score: medianOf(points, by) });
    }
  }
  return cells;
};

/** The worse of the two in the middle where their number is even: a picture should not flatter. */
const medianOf = (points: readonly PointScore[], by: Score): string => {
  const sign = scores[by] === "more" ? -1 : 1;
  return ([...points].sort((a, b) => sign * compare(a.score, b.score))[Math.floor(points.length / 2)] as PointScore).score;
};

const cellHeight = 34;
const top = 34;

const picture = ({ by, ranking }: SweepReport, across: Axis, down: Axis, cells: readonly Cell[]): string => {
  const labels = down.values.map((value) => (value === undefined ? "" : clipped(spelled(value))));
  const left = 16 + 7.5 * Math.max(...labels.map((text) => text.length), down.name.length);
  const longest = Math.max(
    ...across.values.map((value) => clipped(spelled(value)).length),
    ...cells.map(({ score }) => numberText(score).length),
  );
  const cellWidth = Math.max(44, 16 + 7.5 * longest);
  const width = left + across.values.length * cellWidth + 8;
  const height = top + down.values.length * cellHeight + 40;
  const scale = scaleOf(cells, by);
  const best = cells.reduce((found, cell) => (scale(cell.score) > scale(found.score) ? cell : found));
  const drawn = cells.map((cell) => {
    const x = left + cell.column * cellWidth;
    const y = top + cell.row * cellHeight;
    const tip = `${across.name}=${spelled(across.values[cell.column])}${down.name === "" ? "" : `, ${down.name}=${spelled(down.values[cell.row])}`}: ${by} ${cell.score}${cell.points.length > 1 ? ` (median of ${cell.points.length}, best ${(cell.points[0] as PointScore).score})` : ""}`;
    return `<g><title>${escaped(tip)}</title><rect x="${x + 1}" y="${y + 1}" width="${cellWidth - 2}" height="${cellHeight - 2}" rx="3" style="fill:${fillOf(scale(cell.score))}"${cell === best ? ' class="best"' : ""}/><text x="${x + cellWidth / 2}" y="${y + cellHeight / 2 + 4}" class="value">${escaped(numberText(cell.score))}</text></g>`;
  });
  const columns = across.values.map(
    (value, index) =>
      `<text x="${left + (index + 0.5) * cellWidth}" y="${top - 8}" class="label middle">${escaped(clipped(spelled(value)))}</text>`,
  );
  const rows = labels.map(
    (text, index) => `<text x="${left - 8}" y="${top + (index + 0.5) * cellHeight + 4}" class="label end">${escaped(text)}</text>`,
  );
  const [low, middle, high] = isGain(by) ? ["lost", "nothing gained", "gained"] : ["worse", "halfway", "better"];
  return `<div class="map"><svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(`${by} over ${across.name}${down.name === "" ? "" : ` and ${down.name}`}, ${ranking.length} points`)}">
<text x="${left - 8}" y="${top - 8}" class="name end">${escaped(down.name)}</text>
${columns.join("\n")}
${rows.join("\n")}
${drawn.join("\n")}
<text x="${left + (across.values.length * cellWidth) / 2}" y="${height - 14}" class="name middle">${escaped(across.name)}</text>
</svg></div>
<p class="legend"><span class="worst"></span>${low} <span class="zero"></span>${middle} <span class="finest"></span>${high} <span class="outlined"></span>the best</p>`;
};

const isGain = (by: Score): boolean => by === "pnl" || by === "sharpe";

/** From -1 (worst) to 1 (best). Money won and lost has its middle at nothing; other scores halfway. */
const scaleOf = (cells: readonly Cell[], by: Score): ((score: string) => number) => {
  const values = cells.map(({ score }) => approximate(score));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const middle = isGain(by) ? 0 : (low + high) / 2;
  const reach = Math.max(Math.abs(high - middle), Math.abs(low - middle)) || 1;
  const sign = scores[by] === "more" ? 1 : -1;
  return (score) => (sign * (approximate(score) - middle)) / reach;
};

const fillOf = (share: number): string =>
  `color-mix(in oklab, var(${share < 0 ? "--bad" : "--good"}) ${Math.round(Math.abs(share) * 100)}%, var(--plain))`;

const numberText = (score: string): string => {
  const value = approximate(score);
  if (Number.isInteger(value) && !score.includes(".")) return score;
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 1 ? value.toFixed(2) : String(Number(value.toPrecision(2)));
};

const clipped = (text: string): string => (text.length > 18 ? `${text.slice(0, 17)}…` : text);

const bestMax = 10;

const bestTable = ({ ranking, space, by }: SweepReport): string => {
  const head = [...space.map(({ name }) => name), by].map((name) => `<th>${escaped(name)}</th>`).join("");
  const rows = ranking
    .slice(0, bestMax)
    .map(
      ({ options, score }) =>
        `<tr>${[...space.map(({ name }) => spelled(options[name])), score].map((text) => `<td>${escaped(text)}</td>`).join("")}</tr>`,
    );
  return rows.length === 0 ? "" : `<table><thead><tr>${head}</tr></thead><tbody>${rows.join("\n")}</tbody></table>`;
};

const marks: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (mark) => marks[mark] ?? "");
