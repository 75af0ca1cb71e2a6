/**
 * Each traded instrument of a tearsheet: its price with our fills and resting orders, and the position below.
 *
 * Invariants: no fill is left out: where many fall into one sliver of the picture, their lowest and highest are drawn; orders far
 * from the market are cut at the edge, so that they never flatten the price.
 */
import { approximate, isZero } from "../../decimal.ts";
import type { FillDetail, OrderLife, PositionLine, RunDetails } from "../details.ts";
import { counted } from "../number-format.ts";
import type { PriceLine } from "../price-lines.ts";
import { price } from "../run-facts.ts";
import { valueTicks } from "../ticks.ts";
import type { Sheet } from "./equity-section.ts";
import { html, type Markup, nothing } from "./markup.ts";
import { type Frame, lineThrough, path, plotOf, size, unit, xOf, yOf } from "./static-plot.ts";

const instrumentsMax = 6;
const slivers = 300;

export const marketSection = (sheet: Sheet): Markup => {
  const { details } = sheet;
  const traded = [...new Set([...details.fills, ...details.orders].map(({ instId }) => instId))];
  if (traded.length === 0) return html`<p class="soft">No order was sent.</p>`;
  const left = traded.length - instrumentsMax;
  return html`${traded.slice(0, instrumentsMax).map((instId) => instrumentOf(instId, sheet))}
${left > 0 ? html`<p class="soft">and ${counted(left, "more instrument")}, in the details.</p>` : nothing}`;
};

interface Traded {
  readonly instId: string;
  readonly line: PriceLine | undefined;
  readonly fills: readonly FillDetail[];
  readonly lives: readonly Life[];
}

/** An order while it could be filled. */
interface Life {
  readonly fromAt: number;
  readonly toAt: number;
  readonly px: number;
  readonly buy: boolean;
}

const instrumentOf = (instId: string, sheet: Sheet): Markup => {
  const { details } = sheet;
  const traded: Traded = {
    instId,
    line: details.prices.find((line) => line.instId === instId),
    fills: details.fills.filter((fill) => fill.instId === instId),
    lives: livesOf(details, instId, sheet.endAt),
  };
  const position = details.positions.find((one) => one.instId === instId);
  return html`<h3>${instId}</h3>${pricePlot(traded, sheet)}${position === undefined ? nothing : positionPlot(position, sheet)}`;
};

const resting = new Set(["acked", "live", "partially_filled", "canceling"]);
const over = new Set(["filled", "canceled", "rejected", "absent"]);

const livesOf = ({ orders }: RunDetails, instId: string, endAt: number): readonly Life[] =>
  orders.flatMap((order: OrderLife) => {
    if (order.instId !== instId || order.px === "" || isZero(order.px)) return [];
    const from = order.phases.find(({ phase }) => resting.has(phase));
    if (from === undefined) return [];
    const to = order.phases.find(({ phase }) => over.has(phase));
    return [{ fromAt: from.at, toAt: to?.at ?? endAt, px: approximate(order.px), buy: order.side === "buy" }];
  });

const frameOf = ({ line, fills, lives }: Traded, { startAt, endAt }: Sheet): Frame => {
  const prices = [...(line?.points ?? []).flatMap(({ low, high }) => [low, high]), ...fills.map(({ px }) => px)].map(approximate);
  const own = prices.length > 0 ? prices : lives.map(({ px }) => px);
  const low = own.reduce((least, px) => Math.min(least, px), Number.POSITIVE_INFINITY);
  const high = own.reduce((most, px) => Math.max(most, px), Number.NEGATIVE_INFINITY);
  if (!(high >= low)) return { startAt, endAt, low: 0, high: 1 };
  const span = high > low ? high - low : Math.max(Math.abs(high) * 0.001, 1e-8);
  // Orders may reach half a picture beyond the price; those that rest further out are counted, not drawn.
  const near = lives.filter(({ px }) => px >= low - span / 2 && px <= high + span / 2);
  const lowest = near.reduce((least, { px }) => Math.min(least, px), low);
  const highest = near.reduce((most, { px }) => Math.max(most, px), high);
  return { startAt, endAt, low: lowest - span * 0.04, high: highest + span * 0.04 };
};

const pricePlot = (traded: Traded, sheet: Sheet): Markup => {
  const { instId, line, fills } = traded;
  const frame = frameOf(traded, sheet);
  const buys = fills.filter(({ side }) => side === "buy");
  const sells = fills.filter(({ side }) => side === "sell");
  const points = (line?.points ?? []).map(({ at, last }) => [xOf(at, frame), yOf(approximate(last), frame)] as const);
  const source = { quote: "middle of the best prices", trade: "traded price", candle: "closes" }[line?.of ?? "quote"];
  const reads = (line?.points ?? []).map(({ at, low, high, last }) => ({
    at,
    texts: [new Date(at).toISOString().slice(5, 19).replace("T", " "), price(last), `${price(low)} to ${price(high)}`],
  }));
  return plotOf({
    label: `Price of ${instId} with ${counted(buys.length, "buy")} and ${counted(sells.length, "sell")} filled`,
    caption: legend(source, buys.length, sells.length, traded.lives.filter(({ px }) => px < frame.low || px > frame.high).length),
    height: 280,
    frame,
    ticks: valueTicks(frame.low, frame.high),
    drawing: [
      path("rest-buy", bandOf(traded, true, frame)),
      path("rest-sell", bandOf(traded, false, frame)),
      path("span", spanOf(line, frame)),
      path("px", lineThrough(points)),
      path(`buys${dotSize(buys)}`, dotsOf(buys, frame)),
      path(`sells${dotSize(sells)}`, dotsOf(sells, frame)),
    ],
    names: ["", "price", "between"],
    reads,
  });
};

const legend = (source: string, buys: number, sells: number, outside: number): Markup =>
  html`<span class="key"><b class="c-px"><i></i><span>${source}</span></b><b class="c-buy"><i class="dot"></i><span>${counted(buys, "buy")}</span></b><b class="c-sell"><i></i><span>${counted(sells, "sell")}</span></b><b class="c-bbuy"><i></i><span>resting buys, lowest to highest</span></b><b class="c-bsell"><i></i><span>resting sells</span></b>${outside === 0 ? nothing : html`<b><span>${counted(outside, "order")} rested outside the picture</span></b>`}</span>`;

/** Lowest to highest of each stretch, there and back. */
const spanOf = (line: PriceLine | undefined, frame: Frame): string => {
  const points = line?.points ?? [];
  if (points.length < 2) return "";
  const edge = (which: "low" | "high") => points.map((point) => [xOf(point.at, frame), yOf(approximate(point[which]), frame)] as const);
  return `${lineThrough(edge("high"))}${lineThrough(edge("low").reverse()).replace("M", "L")}Z`;
};

const sliverOf = (at: number, frame: Frame): number => Math.min(slivers - 1, Math.floor((xOf(at, frame) / size) * slivers));

interface Range {
  low: number;
  high: number;
}

const widen = (ranges: (Range | undefined)[], index: number, px: number): void => {
  const known = ranges[index];
  if (known === undefined) ranges[index] = { low: px, high: px };
  else {
    known.low = Math.min(known.low, px);
    known.high = Math.max(known.high, px);
  }
};

/** Where orders of one side rested, sliver by sliver; neighbours of one range are one block. */
const bandOf = ({ lives }: Traded, buy: boolean, frame: Frame): string => {
  const ranges: (Range | undefined)[] = Array.from({ length: slivers });
  for (const life of lives) {
    if (life.buy !== buy || life.toAt < frame.startAt) continue;
    const to = sliverOf(life.toAt, frame);
    for (let index = sliverOf(life.fromAt, frame); index <= to; index++) widen(ranges, index, life.px);
  }
  let drawn = "";
  for (let index = 0; index < slivers; index++) {
    const range = ranges[index];
    if (range === undefined) continue;
    let end = index + 1;
    while (end < slivers && ranges[end]?.low === range.low && ranges[end]?.high === range.high) end++;
    const clip = (y: number): number => Math.min(size, Math.max(0, y));
    // A single order is a line of its own height.
    const [top, bottom] = [clip(yOf(range.high, frame) - 2), clip(yOf(range.low, frame) + 2)];
    if (bottom > top)
      drawn += `M${unit((index / slivers) * size)} ${unit(top)}H${unit((end / slivers) * size)}V${unit(bottom)}H${unit((index / slivers) * size)}Z`;
    index = end - 1;
  }
  return drawn;
};

/** Small where there are so many that they would hide the price. */
const dotSize = (fills: readonly FillDetail[]): string => (fills.length > slivers ? " small" : "");

const dotsOf = (fills: readonly FillDetail[], frame: Frame): string => {
  const dot = (x: number, px: number): string => `M${unit(x)} ${unit(yOf(px, frame))}h0`;
  if (fills.length <= 2 * slivers) return fills.map(({ at, px }) => dot(xOf(at, frame), approximate(px))).join("");
  const ranges: (Range | undefined)[] = Array.from({ length: slivers });
  for (const { at, px } of fills) widen(ranges, sliverOf(at, frame), approximate(px));
  return ranges
    .flatMap((range, index) => {
      if (range === undefined) return [];
      const x = ((index + 0.5) / slivers) * size;
      return range.low === range.high ? [dot(x, range.low)] : [dot(x, range.low), dot(x, range.high)];
    })
    .join("");
};

const positionPlot = ({ instId, points }: PositionLine, sheet: Sheet): Markup => {
  const kept = thinned(points, sheet);
  const values = kept.map(({ qty }) => approximate(qty));
  const low = values.reduce((least, value) => Math.min(least, value), 0);
  const high = values.reduce((most, value) => Math.max(most, value), 0);
  const frame: Frame = { startAt: sheet.startAt, endAt: sheet.endAt, low: low * 1.08, high: high * 1.08 || (low === 0 ? 1 : 0) };
  const zero = unit(yOf(0, frame));
  const steps = kept.map(({ at }, index) => `H${unit(xOf(at, frame))}V${unit(yOf(values[index] as number, frame))}`).join("");
  const base = instId.split("-")[0] ?? "";
  return plotOf({
    label: `Position in ${base}: ${points.at(-1)?.qty} at the end`,
    caption: `Position in ${base}, all strategies together; ${points.at(-1)?.qty.replace("-", "−") ?? "0"} at the end`,
    height: 100,
    frame,
    ticks: valueTicks(frame.low, frame.high, 3),
    drawing: [
      path("area", `M0 ${zero}${steps}H${size}V${zero}Z`),
      path("level", `M0 ${zero}H${size}`),
      path("line", `M0 ${zero}${steps}H${size}`),
    ],
    names: ["", "position"],
    reads: kept.map(({ at, qty }) => ({ at, texts: [new Date(at).toISOString().slice(5, 19).replace("T", " "), qty.replace("-", "−")] })),
  });
};

/** Of each sliver the lowest, the highest and the last. */
const thinned = (points: PositionLine["points"], sheet: Sheet): PositionLine["points"] => {
  if (points.length <= 2 * slivers) return points;
  const frame: Frame = { startAt: sheet.startAt, endAt: sheet.endAt, low: 0, high: 1 };
  const kept = new Set<number>();
  for (let index = 0; index < points.length; ) {
    const sliver = sliverOf(points[index]?.at ?? 0, frame);
    let [low, high, next] = [index, index, index];
    for (; next < points.length && sliverOf(points[next]?.at ?? 0, frame) === sliver; next++) {
      if (approximate(points[next]?.qty ?? "0") < approximate(points[low]?.qty ?? "0")) low = next;
      if (approximate(points[next]?.qty ?? "0") > approximate(points[high]?.qty ?? "0")) high = next;
    }
    for (const one of [low, high, next - 1]) kept.add(one);
    index = next;
  }
  return points.filter((_, index) => kept.has(index));
};
