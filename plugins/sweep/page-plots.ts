/**
 * Pictures of a sweep's page: each varied option against the result, two options as a heat map, two objectives against
 * each other.
 *
 * Invariants: everything shown by a colour is also shown by a number, a shape or a position; axes have numbers; where
 * an option has more values than a picture has room for, neighbours share a cell, which is named by its ends.
 * Not here: words and tables (html-page.ts), markup and style (`sluice/plugins/ui-kit`).
 */
import { approximate } from "sluice";
import { valueTicks } from "sluice/extension";
import { html, type Markup, nothing, raw } from "sluice/plugins/ui-kit";
import { type Score, scores } from "./scores.ts";
import { spelled } from "./space.ts";

/** One run in a picture. */
export interface Dot {
  readonly index: number;
  readonly options: Readonly<Record<string, unknown>>;
  readonly value: number;
  /** Judged on time that no choice had seen. */
  readonly outOfSample: boolean;
}

/** A varied option with its values. */
export interface Axis {
  readonly name: string;
  readonly values: readonly unknown[];
}

const [wide, high] = [340, 210];
const [left, right, top, bottom] = [58, 12, 10, 34];

interface Scale {
  readonly low: number;
  readonly high: number;
}

export const scaleOf = (values: readonly number[]): Scale => {
  const [low, top] = [Math.min(...values), Math.max(...values)];
  const room = (top - low) * 0.06 || Math.abs(top) * 0.1 || 1;
  return { low: low - room, high: top + room };
};

export const unit = (value: number): string => String(Math.round(value * 10) / 10);
const yOf = (value: number, { low, high: most }: Scale): number =>
  top + ((most - value) / (most - low)) * (high - top - bottom);
const xAt = (share: number): number => left + share * (wide - left - right);

/** A mark that leads to the run's row: a diamond out of sample, else a ring. */
const mark = ({ index, outOfSample }: Dot, x: number, y: number, title: string): Markup => {
  const [cx, cy] = [unit(x), unit(y)];
  const shape = outOfSample
    ? html`<path class="out" d="${`M${cx} ${unit(y - 6)}L${unit(x + 6)} ${cy}L${cx} ${unit(y + 6)}L${unit(x - 6)} ${cy}Z`}"><title>${title}</title></path>`
    : html`<circle class="in" cx="${cx}" cy="${cy}" r="3.2"><title>${title}</title></circle>`;
  return html`<a href="#run-${index}" tabindex="-1">${shape}</a>`;
};

const rulesOf = (scale: Scale): Markup =>
  html`${valueTicks(scale.low, scale.high).map(({ value, text }) => {
    const y = unit(yOf(value, scale));
    return html`<path class="grid" d="M${left} ${y}H${wide - right}"/><text class="t" x="${left - 6}" y="${y}" dy="3.5" text-anchor="end">${text}</text>`;
  })}`;

const frame = (label: string, body: Markup): Markup =>
  html`<svg class="small" viewBox="0 0 ${wide} ${high}" role="group" aria-label="${label}">${body}</svg>`;

/** The values of each option along the edge at equal distances, the result upwards. */
export const optionPlots = (space: readonly Axis[], dots: readonly Dot[], by: string): Markup => {
  if (dots.length === 0) return nothing;
  const scale = scaleOf(dots.map(({ value }) => value));
  return html`${space
    .filter(({ values }) => values.length > 1)
    .map((axis) => {
      const label = `${by} against ${axis.name}`;
      return html`<figure><figcaption>${label}</figcaption>${frame(label, html`${rulesOf(scale)}${edgeOf(axis)}${dots.map((dot) => dotAt(dot, axis, scale, by))}`)}</figure>`;
    })}`;
};

export const orderedValues = ({ values }: Axis): readonly unknown[] => {
  const numeric = values.every((value) => value !== "" && Number.isFinite(Number(value)) && typeof value !== "boolean");
  return numeric ? [...values].sort((a, b) => Number(a) - Number(b)) : values;
};

export const placeOf = (axis: Axis, value: unknown): number => {
  const all = orderedValues(axis).map(spelled);
  return (all.indexOf(spelled(value)) + 0.5) / all.length;
};

const dotAt = (dot: Dot, axis: Axis, scale: Scale, by: string): Markup => {
  const value = dot.options[axis.name];
  const title = `run ${dot.index}${dot.outOfSample ? ", out of sample" : ""}: ${axis.name}=${spelled(value)}, ${by} ${dot.value.toFixed(2)}`;
  return mark(dot, xAt(placeOf(axis, value)), yOf(dot.value, scale), title);
};

export const edgeNameMax = 12;
const characterWidth = 7;

const edgeOf = (axis: Axis): Markup => {
  const all = orderedValues(axis).map(spelled);
  const longest = Math.min(edgeNameMax, Math.max(...all.map(({ length }) => length)));
  const step = Math.ceil(all.length / Math.floor((wide - left - right) / ((longest + 2) * characterWidth)));
  return html`${all.map((name, index) => {
    if (index % step !== 0) return nothing;
    const x = unit(xAt((index + 0.5) / all.length));
    return html`<path class="grid" d="M${x} ${high - bottom}v4"/><text class="t" x="${x}" y="${high - bottom + 16}" text-anchor="middle">${name.slice(0, edgeNameMax)}</text>`;
  })}`;
};

/** Every run by its first two objectives; the front is filled. */
export const frontPlot = (
  points: readonly { readonly dot: Dot; readonly other: number }[],
  names: readonly [string, string],
): Markup => {
  if (points.length === 0) return nothing;
  const [across, up] = [scaleOf(points.map(({ other }) => other)), scaleOf(points.map(({ dot }) => dot.value))];
  const ticks = valueTicks(across.low, across.high).map(({ value, text }) => {
    const x = unit(xAt((value - across.low) / (across.high - across.low)));
    return html`<path class="grid" d="M${x} ${high - bottom}v4"/><text class="t" x="${x}" y="${high - bottom + 16}" text-anchor="middle">${text}</text>`;
  });
  const label = `${names[0]} against ${names[1]}; the Pareto front is filled`;
  const marks = points.map(({ dot, other }) => {
    const x = xAt((other - across.low) / (across.high - across.low));
    return mark(
      dot,
      x,
      yOf(dot.value, up),
      `run ${dot.index}: ${names[0]} ${dot.value.toFixed(2)}, ${names[1]} ${other.toFixed(2)}`,
    );
  });
  return html`<div class="plots"><figure><figcaption>${label}</figcaption>${frame(label, html`${rulesOf(up)}${ticks}${marks}`)}</figure></div>`;
};

const cellsMax = 12;

interface Bin {
  readonly name: string;
  readonly values: ReadonlySet<string>;
}

/** Returns at most twelve bins with equal numbers of values. */
const binsOf = (axis: Axis): readonly Bin[] => {
  const all = orderedValues(axis).map(spelled);
  const size = Math.ceil(all.length / cellsMax);
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) => {
    const part = all.slice(index * size, (index + 1) * size);
    const [first = "", last = ""] = [part[0], part.at(-1)];
    return { name: first === last ? first : `${first} to ${last}`, values: new Set(part) };
  });
};

/** The option with most values across, another down; a cell is the median of its runs. */
export const heatMap = (space: readonly Axis[], dots: readonly Dot[], by: Score, unit: string): Markup => {
  const [across, down] = [...space].sort((a, b) => b.values.length - a.values.length) as [Axis, Axis | undefined];
  const rows = down === undefined ? [undefined] : binsOf(down);
  const columns = binsOf(across);
  const cells = rows.map((row) => columns.map((column) => medianIn(dots, across.name, column, down?.name, row, by)));
  const known = cells.flat().filter((value) => value !== undefined);
  if (known.length === 0) return nothing;
  const shade = shadeOf(known, by);
  return html`<p class="axes">${down === undefined ? "" : `Down: ${down.name}. `}Across: ${across.name}.</p>
<div class="scroll" role="region" aria-label="Heat map" tabindex="0"><table class="heat"><caption>${unit}, medians; the best in bold</caption>
<thead><tr><td></td>${columns.map(({ name }) => html`<th scope="col" class="n">${name}</th>`)}</tr></thead>
<tbody>${cells.map((row, index) => html`<tr><th scope="row">${rows[index]?.name ?? by}</th>${row.map((value) => html`<td class="n">${value === undefined ? nothing : shade(value)}</td>`)}</tr>`)}</tbody></table></div>
${legendOf(known, by)}`;
};

const medianIn = (
  dots: readonly Dot[],
  x: string,
  column: Bin,
  y: string | undefined,
  row: Bin | undefined,
  by: Score,
): number | undefined => {
  const inside = dots.filter(
    ({ options }) =>
      column.values.has(spelled(options[x])) &&
      (y === undefined || row === undefined || row.values.has(spelled(options[y]))),
  );
  // The worse of the two in the middle where their number is even.
  const values = inside.map(({ value }) => value).sort((a, b) => (scores[by] === "more" ? b - a : a - b));
  return values[Math.floor(values.length / 2)];
};

const middleOf = (values: readonly number[], by: Score): number =>
  by === "pnl" || by === "sharpe" ? 0 : (Math.min(...values) + Math.max(...values)) / 2;

const toneOf = (value: number, values: readonly number[], by: Score): string => {
  const middle = middleOf(values, by);
  const reach = Math.max(...values.map((one) => Math.abs(one - middle))) || 1;
  const share = ((scores[by] === "more" ? 1 : -1) * (value - middle)) / reach;
  return `color-mix(in oklab,var(${share < 0 ? "--loss" : "--gain"}) ${Math.round(Math.abs(share) * 35)}%,transparent)`;
};

/** Green above the middle and red below it, which for money is nothing gained and for other scores halfway. */
const shadeOf = (values: readonly number[], by: Score): ((value: number) => Markup) => {
  const best = scores[by] === "more" ? Math.max(...values) : Math.min(...values);
  return (value) => {
    const text = shown(value);
    return html`<span class="shade" style="background:${toneOf(value, values, by)}">${value === best ? html`<b>${text}</b>` : text}</span>`;
  };
};

/** Formats with two digits after the point, or two significant digits for small values. */
const shown = (value: number): string =>
  value !== 0 && Math.abs(value) < 0.1 ? value.toPrecision(2) : value.toFixed(2);

const legendOf = (values: readonly number[], by: Score): Markup => {
  const [low, most] = [Math.min(...values), Math.max(...values)];
  const steps = [0, 0.25, 0.5, 0.75, 1].map((share) => low + share * (most - low));
  return html`<p class="scale" aria-hidden="true">${steps.map((value) => html`<span style="background:${toneOf(value, values, by)}">${shown(value)}</span>`)}</p>`;
};

/** A figure of a run as a number for a picture. */
export const numberOf = (value: string | number | undefined): number => approximate(String(value ?? 0));

/** Style of the pictures, in addition to that of every page. */
export const plotStyle = raw(`
.plots{display:flex;flex-wrap:wrap;gap:14px 28px}.plots>figure{flex:1 1 min(100%,320px);max-width:460px}.plots>.rest{flex:1 1 min(100%,460px);min-width:0}.plots>.rest>h3{margin-top:10px}
.small{width:100%;height:auto;display:block}.small .t{fill:var(--soft);font-size:11px}
.small .in{fill:none;stroke:var(--accent);stroke-width:1.5}.small .out{fill:var(--warn);stroke:var(--bg);stroke-width:1}
.small a:hover circle,.small a:focus circle{fill:var(--accent)}.small a:hover path,.small a:focus path{stroke:var(--fg)}
.small .grid{stroke:var(--rule);stroke-width:1;fill:none}.axes{margin:10px 0 0;color:var(--soft);font-size:.87rem}
.heat{width:auto}.heat th,.heat td{padding:2px 3px}.heat td.n,.heat th.n{padding:2px 3px;min-width:4.6rem}
.shade{display:block;padding:3px 8px;border-radius:3px}.scale{display:flex;margin:8px 0 0;max-width:420px;font-size:.8rem}.scale span{flex:1;padding:2px 8px;text-align:center}
`);
