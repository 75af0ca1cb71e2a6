/**
 * The chart of prices: bars or a line, resting orders, fills, plotted lines, and the trade that was chosen.
 *
 * Invariants: every fill in sight is in a mark, alone or in a group with its count; buys point up and sells point down, bars that rose
 * are hollow, so that nothing is shown by colour alone; a drawn mark can be found by its place on the screen.
 * Not here: the text of a mark (story.js).
 */
import { barsBetween, fillGroups, lastPlace, lineBetween, valueAt } from "./columns.js";
import { element } from "./elements.js";
import { restingBetween } from "./orders.js";
import { keyOf, lineValue, lookOf, plotOf, rangeOf, shortly, timeHeight } from "./pane.js";
import {
  drawBars,
  drawGroup,
  drawLine,
  drawPrices,
  drawResting,
  drawRing,
  drawTrade,
  markSize,
} from "./price-drawing.js";
import { countOf, figure, lasting } from "./texts.js";

/** @import {PageData} from "../page-data.ts" */
/** @import {Bars, FillGroup} from "./columns.js" */
/** @import {Resting} from "./orders.js" */
/** @import {Pane, Shared, Span} from "./pane.js" */
/** @import {Canvas, Point, TradeMark} from "./price-drawing.js" */
/** @import uPlot from "uplot" */

/** @typedef {{ x: number, y: number, group: FillGroup }} Mark on the screen, from the plot's corner */
/** @typedef {{ instrument: number, asLine: boolean, fills: Uint32Array, orders: Uint32Array, plots: PageData["plots"], withFills: boolean, withOrders: boolean, trade: TradeMark | undefined, chosen: Point | undefined }} Shown */

/** @implements {Pane} */
export class PricePane {
  node = element("div", { class: "pane price" });
  plot;
  #data;
  #height;
  #shown;
  /** @type {{ bars: Bars, groups: FillGroup[], resting: Resting, lines: [number[], number[]][] }} */
  #drawn = {
    bars: { barMs: 0, at: [], open: [], high: [], low: [], close: [] },
    groups: [],
    resting: { each: [], bands: [], count: 0 },
    lines: [],
  };
  /** @type {[number, number]} */
  #range = [0, 1];
  /** @type {Mark[]} */
  #marks = [];
  #title = element("strong", {});
  #about = element("span", { class: "soft" });
  #keys = element("span", { class: "keys-of-lines" });
  #value = element("output", {});

  /** @param {PageData} data @param {Shared} shared @param {Shown} shown @param {number} height */
  constructor(data, shared, shown, height) {
    this.#data = data;
    this.#height = height;
    this.#shown = shown;
    this.node.append(element("div", { class: "head" }, this.#title, this.#about, this.#keys, this.#value));
    this.plot = plotOf(this.node, shared, {
      height,
      withTime: true,
      spell: undefined,
      range: () => this.#range,
      series: [{ show: false }],
      hooks: { draw: [(plot) => this.#paint(plot)] },
    });
  }

  /** @param {Shown} shown */
  set(shown) {
    this.#shown = shown;
  }

  /** Returns the mark at or near a place. @param {number} left from the plot's corner @param {number} top */
  markNear(left, top) {
    const far = (/** @type {Mark} */ { x, y }) => Math.hypot(x - left, y - top);
    const nearest = this.#marks.reduce(
      (best, mark) => (best === undefined || far(mark) < far(best) ? mark : best),
      this.#marks[0],
    );
    return nearest !== undefined && far(nearest) < 14 ? nearest.group : undefined;
  }

  /** @param {Span} span */
  show({ from, to }) {
    const { instrument: place, asLine, fills, orders, plots, withFills, withOrders } = this.#shown;
    const { instruments, startAt } = this.#data;
    const instrument = instruments[place];
    if (instrument === undefined) return;
    const width = this.plot.bbox.width / devicePixelRatio;
    const bars = barsBetween(instrument, startAt, from, to, width / (asLine ? 1 : 6));
    const groups = withFills
      ? fillGroups(this.#data.fills, fills, startAt, from, to, width / 12, (34 * (to - from)) / width)
      : [];
    const lines = plots.map((line) => lineBetween(line, from, to, width));
    const resting = restingBetween(this.#data.orders, withOrders ? orders : [], { from, to }, Math.ceil(width / 4));
    const values = [
      bars.low,
      bars.high,
      groups.map(({ low }) => low),
      groups.map(({ high }) => high),
      ...lines.map(([, line]) => line),
    ];
    this.#range = widened(rangeOf(values), resting);
    this.#drawn = { bars, groups, resting, lines };
    this.#title.textContent = instrument.instId;
    this.#keys.replaceChildren(...plots.map(({ name }, index) => keyOf({ name, ...lookOf(index + 1) })));
    this.#about.textContent = aboutOf(this.#drawn, this.#shown, instrument.of);
    this.plot.batch(() => {
      this.plot.setData(
        /** @type {uPlot.AlignedData} */ ([
          [from, to],
          [null, null],
        ]),
        false,
      );
      this.plot.setScale("x", { min: from, max: to });
    });
  }

  /** @param {number} at */
  tell(at) {
    const { instrument, plots } = this.#shown;
    const plotted = plots.map((line) => {
      const found = lineValue(line, at);
      return `${line.name}:\u00a0${found === undefined ? "–" : shortly(found)}`;
    });
    this.#value.textContent = [
      ...plotted,
      barText(this.#drawn.bars, at, this.#data.instruments[instrument]?.places ?? 0),
    ].join("   ");
  }

  restyle() {
    this.plot.redraw(false, true);
  }

  resize() {
    this.plot.setSize({ width: Math.max(200, this.node.clientWidth), height: this.#height + timeHeight });
  }

  /** @param {uPlot} plot */
  #paint(plot) {
    const { bars, groups, resting, lines } = this.#drawn;
    const { asLine, trade, chosen } = this.#shown;
    const dot = devicePixelRatio;
    const { ctx, bbox } = plot;
    /** @type {Canvas} */
    const canvas = { plot, ctx, dot, x: (at) => plot.valToPos(at, "x", true), y: (px) => plot.valToPos(px, "y", true) };
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    drawResting(canvas, resting);
    if (asLine || bars.barMs === 0) drawPrices(canvas, bars, Math.min(plot.scales["x"]?.max ?? 0, this.#data.spanMs));
    else drawBars(canvas, bars);
    for (const [index, line] of lines.entries()) drawLine(canvas, line, index);
    if (trade !== undefined) drawTrade(canvas, trade);
    for (const group of groups) drawGroup(canvas, group);
    if (chosen !== undefined) drawRing(canvas, chosen);
    ctx.restore();
    this.#marks = groups.map((group) => ({
      group,
      x: (canvas.x(group.at) - bbox.left) / dot,
      y: (canvas.y(group.px) - bbox.top) / dot + (group.buy ? 1 : -1) * markSize(group.count),
    }));
  }
}

/** Orders may rest up to half a picture beyond the prices; those further out are cut at its edge. @param {[number, number]} range @param {Resting} resting @returns {[number, number]} */
const widened = ([low, high], { each, bands }) => {
  const half = (high - low) / 2;
  let [least, most] = [low, high];
  for (const [bottom, top] of [
    ...each.map(({ px }) => /** @type {const} */ ([px, px])),
    ...bands.map((band) => /** @type {const} */ ([band.low, band.high])),
  ]) {
    if (bottom > low - half && bottom < least) least = bottom - half * 0.05;
    if (top < high + half && top > most) most = top + half * 0.05;
  }
  return [least, most];
};

const sources = { quote: "middle of the best prices", trade: "traded prices", candle: "recorded bars", bar: "bars" };

/** @param {{ bars: Bars, groups: readonly FillGroup[], resting: Resting }} drawn @param {Shown} shown @param {keyof typeof sources} of */
const aboutOf = ({ bars: { barMs }, groups, resting }, { withFills, withOrders }, of) => {
  const fills = groups.reduce((total, { count }) => total + count, 0);
  return [
    `${sources[of]}${barMs === 0 ? ", every change" : `, ${lasting(barMs)}`}`,
    ...(withFills
      ? [`${countOf(fills, "fill")}${groups.length < fills ? ` in ${countOf(groups.length, "group")}` : ""}`]
      : []),
    ...(withOrders ? [`${countOf(resting.count, "resting order")}`] : []),
  ].join(" · ");
};

/** @param {Bars} bars @param {number} at @param {number} places */
const barText = ({ barMs, at: times, open, high, low, close }, at, places) => {
  const place = lastPlace(times, at);
  if (place < 0) return "";
  const text = (/** @type {readonly number[]} */ column) => figure(valueAt(column, place), places, places);
  return barMs === 0
    ? text(close)
    : `O\u00a0${text(open)}  H\u00a0${text(high)}  L\u00a0${text(low)}  C\u00a0${text(close)}`;
};
