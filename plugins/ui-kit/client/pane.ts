/**
 * One chart of the stack: a plot over the time that all share, with its title, its values under the cursor and its own axis of values.
 *
 * Invariants: all panes have the same edges, so that an instant is at one place in all of them; colours come from the page's style and
 * follow it; each line has a dash of its own, so that it is recognizable without colour; values at an instant are taken from the data,
 * never from the thinned points that are drawn.
 * Not here: the visible span (view.ts), bars, fills and orders (price-pane.ts).
 */

import uPlot from "uplot";
import type { LineData } from "../page-data.ts";
import { lastPlace, lineBetween, valueAt } from "./columns.ts";
import { element } from "./elements.ts";
import { figure, placesOf, splitTexts, timeSplits } from "./texts.ts";

export type Line = Pick<LineData, "at" | "value"> & {
  name: string;
  colour: string;
  dash?: number[];
  step?: boolean;
  area?: boolean;
  spell?: (value: number) => string;
};
export type Span = { from: number; to: number };
export type Shared = { startAt: number; syncKey: string; onCursor: (at: number | undefined) => void };
export type Pane = {
  node: HTMLElement;
  plot: uPlot;
  show: (span: Span) => void;
  tell: (at: number) => void;
  resize: () => void;
};
export type LinePane = {
  title: string;
  height: number;
  lines: readonly Line[];
  limit?: { value: number; name: string };
  spell?: (value: number) => string;
  zero?: boolean;
};

/** Dashes that distinguish the lines. */
const dashes = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [12, 4]];

const colours: Map<string, string> = new Map();

/** @param name - of a colour in the style */
export const colourOf = (name: string) => {
  const known = colours.get(name);
  if (known !== undefined) return known;
  const colour = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  colours.set(name, colour);
  return colour;
};

/** To be called when the theme has changed: the next drawing reads the colours again. */
export const forgetColours = () => colours.clear();

const font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";

/** Height of the axis of time. */
export const timeHeight = 28;

/** Width of the axes of values. */
const axisWidth = () => (innerWidth < 600 ? 62 : 78);

export const plotOf = (
  node: HTMLElement,
  { startAt, syncKey, onCursor }: Shared,
  {
    height,
    series,
    range,
    hooks = {},
    spell,
    withTime,
  }: {
    height: number;
    series: uPlot.Series[];
    range: () => [number, number];
    hooks?: uPlot.Hooks.Arrays;
    spell?: ((value: number) => string) | undefined;
    withTime: boolean;
  },
): uPlot => {
  const stroke = () => colourOf("soft");
  const grid = { stroke: () => colourOf("rule"), width: 1 };
  const box = element("div", { class: "canvas" });
  node.append(box);
  const plot: uPlot = new uPlot(
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
    [[0, 1], ...series.map(() => [null, null])] as uPlot.AlignedData,
    box,
  );
  return plot;
};

/** Six digits are more than a picture shows. */
export const shortly = (value: number) => figure(Number(value.toPrecision(6)), 12);

/** Returns the swatch of a line, and its name. */
export const keyOf = ({ name, colour, dash = [] }: Pick<Line, "name" | "colour" | "dash">) => {
  const kind = dash.length === 0 ? "" : dash.length > 2 ? " mixed" : (dash[0] ?? 0) < 4 ? " dotted" : " dashed";
  return element("span", { class: "key" }, element("i", { class: `swatch c-${colour}${kind}` }), name);
};

/** A title with a place for values. */
const headOf = (title: string, lines: readonly Line[] = []) => {
  const value = element("output", {});
  return { head: element("div", { class: "head" }, element("strong", {}, title), ...lines.map(keyOf), value), value };
};

/** Colour and dash of one of several lines. */
export const lookOf = (index: number) => ({ colour: `c${(index % 6) + 1}`, dash: dashes[index % dashes.length] ?? [] });

/** The value of a line at an instant: of the last point up to it. */
export const lineValue = ({ at: times, value }: Pick<LineData, "at" | "value">, at: number) => {
  const place = lastPlace(times, at);
  return place < 0 ? undefined : valueAt(value, place);
};

/** A pane of lines. */
export const linePane = (
  shared: Shared,
  { title, height, lines, limit, spell, zero = false }: LinePane,
  withTime: boolean,
): Pane => {
  const { head, value } = headOf(title, lines.length > 1 ? lines : []);
  const node = element("div", { class: "pane" }, head);
  let range: [number, number] = [0, 1];
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
    resize: () =>
      plot.setSize({ width: Math.max(200, node.clientWidth), height: height + (withTime ? timeHeight : 0) }),
  };
};

const seriesOf = ({ colour, dash = [], step = false, area = false }: Line): uPlot.Series => ({
  stroke: () => colourOf(colour),
  width: 1.6,
  dash,
  spanGaps: true,
  points: { show: false },
  ...(area ? { fill: () => colourOf(`${colour}-fill`) } : {}),
  ...(step ? { paths: (uPlot.paths.stepped as uPlot.Series.SteppedPathBuilderFactory)({ align: 1 }) } : {}),
});

const drawLevel = (plot: uPlot, { value, name }: { value: number; name: string }) => {
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

export const rangeOf = (values: readonly (readonly number[])[], besides: readonly number[] = []): [number, number] => {
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

/** Lines on one column of times. */
const joined = (lines: readonly [number[], number[]][]): uPlot.AlignedData => {
  const tables = lines.map(([at, values]) => [distinct(at), values] as uPlot.AlignedData);
  return tables.length === 1 ? (tables[0] as uPlot.AlignedData) : uPlot.join(tables);
};

/** Moves equal instants slightly apart, because a later value at the same instant would replace the first. */
const distinct = (at: number[]) => {
  for (let index = 1; index < at.length; index++) {
    const before = valueAt(at, index - 1);
    if (valueAt(at, index) <= before) at[index] = before + Math.max(1e-6, Math.abs(before) * 1e-12);
  }
  return at;
};
