/**
 * The chart of prices: bars or a line, resting orders, fills, plotted lines, and the trade that was chosen.
 *
 * Invariants: every fill in sight is in a mark, alone or in a group with its count; buys point up and sells point down, bars that rose
 * are hollow, so that nothing is shown by colour alone; a drawn mark can be found by its place on the screen.
 * Not here: the text of a mark (story.tsx).
 */

import type uPlot from "uplot";
import type { PageData, PriceData } from "../page-data.ts";
import type { Bars, FillGroup } from "./columns.ts";
import { barsBetween, fillGroups, lastPlace, lineBetween, valueAt } from "./columns.ts";
import { element } from "./elements.ts";
import type { Resting } from "./orders.ts";
import { restingBetween } from "./orders.ts";
import type { Pane, Shared, Span } from "./pane.ts";
import { keyOf, lineValue, lookOf, plotOf, rangeOf, shortly, timeHeight } from "./pane.ts";
import type { Canvas, Point, TradeMark } from "./price-drawing.ts";
import {
  drawBars,
  drawGroup,
  drawLine,
  drawPrices,
  drawResting,
  drawRing,
  drawTrade,
  markSize,
} from "./price-drawing.ts";
import { countOf, figure, lasting } from "./texts.ts";

/** on the screen, from the plot's corner */
type Mark = { x: number; y: number; group: FillGroup };
export type Shown = {
  instrument: number;
  asLine: boolean;
  fills: Uint32Array;
  orders: Uint32Array;
  plots: PageData["plots"];
  withFills: boolean;
  withOrders: boolean;
  trade: TradeMark | undefined;
  chosen: Point | undefined;
};

export class PricePane implements Pane {
  node = element("div", { class: "pane price" });
  plot;
  #data;
  #height;
  #shown;
  #drawn: { bars: Bars; groups: FillGroup[]; resting: Resting; lines: [number[], number[]][] } = {
    bars: { barMs: 0, at: [], open: [], high: [], low: [], close: [] },
    groups: [],
    resting: { each: [], bands: [], count: 0 },
    lines: [],
  };
  #range: [number, number] = [0, 1];
  #marks: Mark[] = [];
  #title = element("strong", {});
  #about = element("span", { class: "soft" });
  #keys = element("span", { class: "keys-of-lines" });
  #value = element("output", {});

  constructor(data: PriceData, shared: Shared, shown: Shown, height: number) {
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

  set(shown: Shown) {
    this.#shown = shown;
  }

  /**
   * Returns the mark at or near a place.
   *
   * @param left - from the plot's corner
   */
  markNear(left: number, top: number) {
    const far = ({ x, y }: Mark) => Math.hypot(x - left, y - top);
    const nearest = this.#marks.reduce(
      (best, mark) => (best === undefined || far(mark) < far(best) ? mark : best),
      this.#marks[0],
    );
    return nearest !== undefined && far(nearest) < 14 ? nearest.group : undefined;
  }

  show({ from, to }: Span) {
    const { instrument: place, asLine, fills, orders, plots, withFills, withOrders } = this.#shown;
    const { instruments, startAt } = this.#data;
    const instrument = instruments[place];
    if (instrument === undefined) return;
    const width = this.plot.bbox.width / devicePixelRatio;
    const bars = barsBetween(instrument, startAt, from, to, width / (asLine ? 1 : 6));
    const groups = withFills
      ? fillGroups(this.#data.fills, fills, {
          startAt,
          from,
          to,
          most: width / 12,
          groupMs: (34 * (to - from)) / width,
        })
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
        [
          [from, to],
          [null, null],
        ] as uPlot.AlignedData,
        false,
      );
      this.plot.setScale("x", { min: from, max: to });
    });
  }

  tell(at: number) {
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

  resize() {
    this.plot.setSize({ width: Math.max(200, this.node.clientWidth), height: this.#height + timeHeight });
  }

  #paint(plot: uPlot) {
    const { bars, groups, resting, lines } = this.#drawn;
    const { asLine, trade, chosen } = this.#shown;
    const dot = devicePixelRatio;
    const { ctx, bbox } = plot;
    const canvas: Canvas = {
      plot,
      ctx,
      dot,
      x: (at) => plot.valToPos(at, "x", true),
      y: (px) => plot.valToPos(px, "y", true),
    };
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

/** Orders may rest up to half a picture beyond the prices; those further out are cut at its edge. */
const widened = ([low, high]: [number, number], { each, bands }: Resting): [number, number] => {
  const half = (high - low) / 2;
  let [least, most] = [low, high];
  for (const [bottom, top] of [
    ...each.map(({ px }) => [px, px] as const),
    ...bands.map((band) => [band.low, band.high] as const),
  ]) {
    if (bottom > low - half && bottom < least) least = bottom - half * 0.05;
    if (top < high + half && top > most) most = top + half * 0.05;
  }
  return [least, most];
};

const sources = { quote: "mid price", trade: "traded prices", candle: "recorded bars", bar: "bars" };

const aboutOf = (
  { bars: { barMs }, groups, resting }: { bars: Bars; groups: readonly FillGroup[]; resting: Resting },
  { withFills, withOrders }: Shown,
  of: keyof typeof sources,
) => {
  const fills = groups.reduce((total, { count }) => total + count, 0);
  return [
    `${sources[of]}${barMs === 0 ? ", every change" : `, ${lasting(barMs)}`}`,
    ...(withFills
      ? [`${countOf(fills, "fill")}${groups.length < fills ? ` in ${countOf(groups.length, "group")}` : ""}`]
      : []),
    ...(withOrders ? [`${countOf(resting.count, "resting order")}`] : []),
  ].join(" · ");
};

const barText = ({ barMs, at: times, open, high, low, close }: Bars, at: number, places: number) => {
  const place = lastPlace(times, at);
  if (place < 0) return "";
  const text = (column: readonly number[]) => figure(valueAt(column, place), places, places);
  return barMs === 0
    ? text(close)
    : `O\u00a0${text(open)}  H\u00a0${text(high)}  L\u00a0${text(low)}  C\u00a0${text(close)}`;
};
