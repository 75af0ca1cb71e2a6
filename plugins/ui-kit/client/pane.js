/**
 * One chart of the stack: a plot over the time that all share, with its title, its values under the cursor and its own axis of values.
 *
 * Invariants: all panes have the same edges, so that an instant is at one place in all of them; colours come from the page's style and
 * follow it; each line has a dash of its own, so that it is recognizable without colour; values at an instant are taken from the data,
 * never from the thinned points that are drawn.
 * Not here: the visible span (view.js), bars, fills and orders (price-pane.js).
 */
import { lastPlace, lineBetween, valueAt } from "./columns.js";
import { element } from "./elements.js";
import { figure, placesOf, splitTexts, timeSplits } from "./texts.js";

/** @import {LineData} from "../page-data.ts" */

/** @typedef {Pick<LineData, "at" | "value"> & { name: string, colour: string, dash?: number[], step?: boolean, area?: boolean, spell?: (value: number) => string }} Line */
/** @typedef {{ from: number, to: number }} Span */
/** @typedef {{ startAt: number, syncKey: string, onCursor: (at: number | undefined) => void }} Shared */
/** @typedef {{ node: HTMLElement, plot: uPlot, show: (span: Span) => void, tell: (at: number) => void, restyle: () => void, resize: () => void }} Pane */
/** @typedef {{ title: string, height: number, lines: readonly Line[], limit?: { value: number, name: string }, spell?: (value: number) => string, zero?: boolean }} LinePane */

/** Dashes that distinguish the lines. */
const dashes = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [12, 4]];

/** @type {Map<string, string>} */
const colours = new Map();

/** @param {string} name of a colour in the style */
export const colourOf = (name) => {
  const known = colours.get(name);
  if (known !== undefined) return known;
  const colour = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  colours.set(name, colour);
  return colour;
};

/** They are asked for again: the theme has changed. */
export const forgetColours = () => colours.clear();

const font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";

/** Height of the axis of time. */
export const timeHeight = 28;

/** Width of the axes of values. */
const axisWidth = () => (innerWidth < 600 ? 62 : 78);

/**
 * @param {HTMLElement} node @param {Shared} shared
 * @param {{ height: number, series: uPlot.Series[], range: () => [number, number], hooks?: uPlot.Hooks.Arrays, spell?: ((value: number) => string) | undefined, withTime: boolean }} parts
 * @returns {uPlot}
 */
export const plotOf = (
  node,
  { startAt, syncKey, onCursor },
  { height, series, range, hooks = {}, spell, withTime },
) => {
  const stroke = () => colourOf("soft");
  const grid = { stroke: () => colourOf("rule"), width: 1 };
  const box = element("div", { class: "canvas" });
  node.append(box);
  /** @type {uPlot} */
  const plot = new uPlot(
    {
      width: Math.max(200, node.clientWidth),
      height: height + (withTime ? timeHeight : 0),
      padding: [8, 24, withTime ? 0 : 4, 0],
      legend: { show: false },
      cursor: {
        drag: { x: false, y: false, setScale: false },
        points: { show: false },
        sync: { key: syncKey, scales: ["x", null] },
      },
      scales: { x: { time: false, range: (_, min, max) => [min, max] }, y: { range } },
      axes: [
        {
          stroke,
          grid,
          ticks: { ...grid, show: withTime, size: 4 },
          size: withTime ? timeHeight : 0,
          gap: 4,
          font,
          splits: (self, _, from, to) => timeSplits(startAt, from, to, self.bbox.width / devicePixelRatio / 92),
          values: (_, splits) => (withTime ? splitTexts(startAt, splits) : splits.map(() => "")),
        },
        {
          stroke,
          grid,
          ticks: { show: false },
          size: axisWidth,
          gap: 6,
          font,
          space: height < 120 ? 20 : 30,
          values: (_, splits) => {
            const step = splits.length > 1 ? Math.abs(Number(splits[1]) - Number(splits[0])) : 1;
            const places = placesOf(step);
            return splits.map((value) => (spell === undefined ? figure(value, places, places) : spell(value)));
          },
        },
      ],
      series: [{}, ...series],
      hooks: {
        ...hooks,
        setCursor: [
          (self) => {
            const { left = -1 } = self.cursor;
            onCursor(left < 0 ? undefined : self.posToVal(left, "x"));
          },
        ],
      },
    },
    /** @type {uPlot.AlignedData} */ ([[0, 1], ...series.map(() => [null, null])]),
    box,
  );
  return plot;
};

/** Six digits are more than a picture shows. @param {number} value */
export const shortly = (value) => figure(Number(value.toPrecision(6)), 12);

/** Returns the swatch of a line, and its name. @param {Pick<Line, "name" | "colour" | "dash">} line */
export const keyOf = ({ name, colour, dash = [] }) => {
  const kind = dash.length === 0 ? "" : dash.length > 2 ? " mixed" : (dash[0] ?? 0) < 4 ? " dotted" : " dashed";
  return element("span", { class: "key" }, element("i", { class: `swatch c-${colour}${kind}` }), name);
};

/** A title with a place for values. @param {string} title @param {readonly Line[]} [lines] */
const headOf = (title, lines = []) => {
  const value = element("output", {});
  return { head: element("div", { class: "head" }, element("strong", {}, title), ...lines.map(keyOf), value), value };
};

/** Colour and dash of one of several lines. @param {number} index */
export const lookOf = (index) => ({ colour: `c${(index % 6) + 1}`, dash: dashes[index % dashes.length] ?? [] });

/** The value of a line at an instant: of the last point up to it. @param {Pick<LineData, "at" | "value">} line @param {number} at */
export const lineValue = ({ at: times, value }, at) => {
  const place = lastPlace(times, at);
  return place < 0 ? undefined : valueAt(value, place);
};

/** A pane of lines. @param {Shared} shared @param {LinePane} about @param {boolean} withTime @returns {Pane} */
export const linePane = (shared, { title, height, lines, limit, spell, zero = false }, withTime) => {
  const { head, value } = headOf(title, lines.length > 1 ? lines : []);
  const node = element("div", { class: "pane" }, head);
  /** @type {[number, number]} */
  let range = [0, 1];
  const plot = plotOf(node, shared, {
    height,
    spell,
    withTime,
    range: () => range,
    series: lines.map((line) => seriesOf(line)),
    hooks: limit === undefined ? {} : { draw: [(self) => drawLevel(self, limit)] },
  });
  return {
    node,
    plot,
    show: ({ from, to }) => {
      const shown = lines.map((line) => lineBetween(line, from, to, Math.max(50, plot.bbox.width / devicePixelRatio)));
      range = rangeOf(
        shown.map(([, values]) => values),
        [...(zero ? [0] : []), ...(limit === undefined ? [] : [limit.value])],
      );
      plot.batch(() => {
        plot.setData(joined(shown), false);
        plot.setScale("x", { min: from, max: to });
      });
    },
    tell: (at) => {
      const texts = lines.map((line) => {
        const found = lineValue(line, at);
        const text = found === undefined ? "–" : (line.spell ?? spell ?? shortly)(found);
        return lines.length > 1 ? `${line.name}: ${text}` : text;
      });
      value.textContent = texts.join("   ");
    },
    restyle: () => plot.redraw(false, true),
    resize: () =>
      plot.setSize({ width: Math.max(200, node.clientWidth), height: height + (withTime ? timeHeight : 0) }),
  };
};

/** @param {Line} line @returns {uPlot.Series} */
const seriesOf = ({ colour, dash = [], step = false, area = false }) => ({
  stroke: () => colourOf(colour),
  width: 1.6,
  dash,
  spanGaps: true,
  points: { show: false },
  ...(area ? { fill: () => colourOf(`${colour}-fill`) } : {}),
  ...(step ? { paths: /** @type {uPlot.Series.SteppedPathBuilderFactory} */ (uPlot.paths.stepped)({ align: 1 }) } : {}),
});

/** @param {uPlot} plot @param {{ value: number, name: string }} limit */
const drawLevel = (plot, { value, name }) => {
  const { ctx, bbox } = plot;
  const y = plot.valToPos(value, "y", true);
  ctx.save();
  ctx.strokeStyle = colourOf("loss");
  ctx.fillStyle = colourOf("soft");
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.fillText(name, bbox.left + bbox.width - 4, y + 13 * devicePixelRatio);
  ctx.restore();
};

/** @param {readonly (readonly number[])[]} values @param {readonly number[]} besides @returns {[number, number]} */
export const rangeOf = (values, besides = []) => {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const list of [...values, besides]) {
    for (const value of list) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (!(high >= low) || (high === 0 && low === 0)) return [0, 1];
  const room = high > low ? (high - low) * 0.07 : Math.max(Math.abs(high) * 0.001, 1e-8);
  // What begins at zero stays on its ground.
  return [low === 0 && high > 0 ? 0 : low - room, high === 0 && low < 0 ? 0 : high + room];
};

/** Lines on one column of times. @param {readonly [number[], number[]][]} lines @returns {uPlot.AlignedData} */
const joined = (lines) => {
  const tables = lines.map(([at, values]) => /** @type {uPlot.AlignedData} */ ([distinct(at), values]));
  return tables.length === 1 ? /** @type {uPlot.AlignedData} */ (tables[0]) : uPlot.join(tables);
};

/** Moves equal instants slightly apart, because a later value at the same instant would replace the first. @param {number[]} at */
const distinct = (at) => {
  for (let index = 1; index < at.length; index++) {
    const before = valueAt(at, index - 1);
    if (valueAt(at, index) <= before) at[index] = before + Math.max(1e-6, Math.abs(before) * 1e-12);
  }
  return at;
};
