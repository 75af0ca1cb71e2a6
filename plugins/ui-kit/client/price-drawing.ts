/**
 * Draws the chart of prices: bars, lines, resting orders, fills, a trade.
 *
 * Invariants: buys point up and sells point down, bars that rose are hollow, resting sells are dashed, so that nothing is shown by colour
 * alone; sizes are in pixels of the screen, at any density.
 * Not here: the visible part (price-pane.ts).
 */

import type uPlot from "uplot";
import type { Bars, FillGroup } from "./columns.ts";
import { valueAt } from "./columns.ts";
import type { Resting } from "./orders.ts";
import { colourOf, lookOf } from "./pane.ts";

export type Point = { at: number; px: number };
export type TradeMark = { from: Point; to: Point; won: boolean };
/** Canvas with its scales. */
export type Canvas = {
  plot: uPlot;
  ctx: CanvasRenderingContext2D;
  x: (at: number) => number;
  y: (px: number) => number;
  dot: number;
};

export const drawBars = ({ ctx, x, y, dot }: Canvas, { barMs, at, open, high, low, close }: Bars) => {
  const body = Math.max(dot, Math.min(14 * dot, 0.7 * (x(barMs) - x(0))));
  ctx.lineWidth = dot;
  for (const rose of [true, false]) {
    ctx.strokeStyle = colourOf(rose ? "rose" : "fell");
    ctx.fillStyle = rose ? colourOf("bg") : colourOf("fell");
    const wicks = new Path2D();
    const bodies = new Path2D();
    for (let place = 0; place < at.length; place++) {
      const [opened, closed] = [valueAt(open, place), valueAt(close, place)];
      if (closed >= opened !== rose) continue;
      const middle = Math.round(x(valueAt(at, place) + barMs / 2)) + dot / 2;
      const [top, bottom] = [y(Math.max(opened, closed)), y(Math.min(opened, closed))];
      wicks.moveTo(middle, y(valueAt(high, place)));
      wicks.lineTo(middle, top);
      wicks.moveTo(middle, bottom);
      wicks.lineTo(middle, y(valueAt(low, place)));
      bodies.rect(middle - body / 2, top, body, Math.max(dot, bottom - top));
    }
    ctx.stroke(wicks);
    ctx.fill(bodies);
    ctx.stroke(bodies);
  }
};

/** Each price holds until the next one, the last to `until`; of bars the closes. */
export const drawPrices = ({ ctx, x, y, dot }: Canvas, { barMs, at, high, low, close }: Bars, until: number) => {
  ctx.strokeStyle = colourOf("price");
  ctx.lineWidth = 1.4 * dot;
  ctx.setLineDash([]);
  ctx.beginPath();
  let before = Number.NaN;
  for (let place = 0; place < at.length; place++) {
    const right = x(valueAt(at, place) + barMs);
    const level = y(valueAt(close, place));
    if (barMs === 0 && !Number.isNaN(before)) ctx.lineTo(right, before);
    ctx.lineTo(right, level);
    before = level;
  }
  if (barMs === 0 && !Number.isNaN(before)) ctx.lineTo(x(until), before);
  ctx.stroke();
  if (barMs === 0) return;
  ctx.lineWidth = dot;
  ctx.globalAlpha = 0.35;
  ctx.beginPath();
  for (let place = 0; place < at.length; place++) {
    const middle = x(valueAt(at, place) + barMs);
    ctx.moveTo(middle, y(valueAt(high, place)));
    ctx.lineTo(middle, y(valueAt(low, place)));
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
};

export const drawLine = ({ ctx, x, y, dot }: Canvas, [at, values]: [number[], number[]], index: number) => {
  const { colour, dash } = lookOf(index + 1);
  ctx.strokeStyle = colourOf(colour);
  ctx.lineWidth = 1.5 * dot;
  ctx.setLineDash(dash.map((length) => length * dot));
  ctx.beginPath();
  for (const [place, time] of at.entries()) ctx.lineTo(x(time), y(valueAt(values, place)));
  ctx.stroke();
  ctx.setLineDash([]);
};

/** Buys are whole lines, sells are dashed. */
export const drawResting = ({ ctx, x, y, dot }: Canvas, { each, bands }: Resting) => {
  for (const buy of [true, false]) {
    ctx.strokeStyle = colourOf(buy ? "buy" : "sell");
    ctx.fillStyle = colourOf(buy ? "buy-fill" : "sell-fill");
    ctx.lineWidth = 1.2 * dot;
    ctx.setLineDash(buy ? [] : [4 * dot, 3 * dot]);
    ctx.beginPath();
    for (const order of each) {
      if (order.buy !== buy) continue;
      ctx.moveTo(x(order.from), y(order.px));
      ctx.lineTo(x(order.to), y(order.px));
    }
    ctx.globalAlpha = 0.75;
    ctx.stroke();
    ctx.globalAlpha = 1;
    for (const band of bands) {
      if (band.buy !== buy) continue;
      const [left, right, top, bottom] = [x(band.from), x(band.to), y(band.high), y(band.low)];
      ctx.fillRect(left, top - dot, right - left, bottom - top + 2 * dot);
    }
  }
  ctx.setLineDash([]);
};

export const drawTrade = ({ plot, ctx, x, y, dot }: Canvas, { from, to, won }: TradeMark) => {
  ctx.strokeStyle = colourOf(won ? "gain" : "loss");
  ctx.lineWidth = 2 * dot;
  ctx.setLineDash([3 * dot, 3 * dot]);
  ctx.beginPath();
  ctx.moveTo(x(from.at), y(from.px));
  ctx.lineTo(x(to.at), y(to.px));
  ctx.stroke();
  ctx.setLineDash([]);
  for (const point of [from, to]) drawRing({ plot, ctx, x, y, dot }, point);
};

export const drawRing = ({ ctx, x, y, dot }: Canvas, { at, px }: Point) => {
  ctx.strokeStyle = colourOf("fg");
  ctx.lineWidth = 1.5 * dot;
  ctx.beginPath();
  ctx.arc(x(at), y(px), 9 * dot, 0, 7);
  ctx.stroke();
};

/** Half the height of a mark on the screen, larger for more fills. */
export const markSize = (count: number) => 4.5 + Math.min(4, Math.log10(count) * 1.6);

/** A triangle whose tip is at the price, with the count of a group at its foot. */
export const drawGroup = ({ ctx, x, y, dot }: Canvas, { at, px, low, high, count, buy }: FillGroup) => {
  const size = markSize(count) * dot;
  const [middle, level] = [x(at), y(px)];
  const foot = level + (buy ? 1.8 : -1.8) * size;
  ctx.fillStyle = colourOf(buy ? "buy" : "sell");
  ctx.strokeStyle = colourOf("bg");
  ctx.lineWidth = 1.2 * dot;
  if (low < high) ctx.fillRect(middle - dot * 0.75, y(high), 1.5 * dot, y(low) - y(high));
  ctx.beginPath();
  ctx.moveTo(middle, level);
  ctx.lineTo(middle + size, foot);
  ctx.lineTo(middle - size, foot);
  ctx.closePath();
  ctx.fill();
  ctx.stroke();
  if (count === 1) return;
  ctx.font = `600 ${11 * dot}px system-ui, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = buy ? "top" : "bottom";
  ctx.lineWidth = 3 * dot;
  const place = buy ? Math.max(foot, y(low)) + 2 * dot : Math.min(foot, y(high)) - 2 * dot;
  const text = count < 10_000 ? String(count) : `${Math.round(count / 1_000)}k`;
  ctx.strokeText(text, middle, place);
  ctx.fillText(text, middle, place);
};
