/**
 * Orders over time: from when to when each could be filled, and which of them rested in a stretch of time.
 *
 * Invariants: an order rests from its first phase at the service to its final one, or to the end of the run; where there are too many
 * to be drawn one by one, their lowest and highest prices are kept for each small stretch.
 */

import type { OrderData, PriceData } from "../page-data.ts";
import { valueAt } from "./columns.ts";
import type { Span } from "./pane.ts";

type RestingOrder = { from: number; to: number; px: number; buy: boolean; order: number };
type Band = { from: number; to: number; low: number; high: number; buy: boolean };
export type Resting = { each: RestingOrder[]; bands: Band[]; count: number };
type Lives = { first: Float64Array; from: Float64Array; to: Float64Array };

const restingPhases = ["acked", "live", "partially_filled", "canceling"];
const finalPhases = ["filled", "canceled", "rejected", "absent"];
const eachMax = 700;

const known: WeakMap<OrderData, Lives> = new WeakMap();

/** First place of each order's phases, and when it rested; from NaN where it never did. */
export const livesOf = ({ orders, phases, spanMs }: Pick<PriceData, "orders" | "phases" | "spanMs">): Lives => {
  const found = known.get(orders);
  if (found !== undefined) return found;
  const count = orders.px.length;
  const lives = {
    first: new Float64Array(count),
    from: new Float64Array(count).fill(Number.NaN),
    to: new Float64Array(count).fill(spanMs),
  };
  const rests = phases.map((phase) => restingPhases.includes(phase));
  const ends = phases.map((phase) => finalPhases.includes(phase));
  let next = 0;
  for (let order = 0; order < count; order++) {
    lives.first[order] = next;
    for (const until = next + valueAt(orders.phases, order); next < until; next++) {
      const phase = valueAt(orders.phase, next);
      if (rests[phase] && Number.isNaN(lives.from[order])) lives.from[order] = valueAt(orders.phaseAt, next);
      if (ends[phase]) lives.to[order] = valueAt(orders.phaseAt, next);
    }
  }
  known.set(orders, lives);
  return lives;
};

/** Returns the resting orders at `places`; `slots` is the number of groups for many orders. */
export const restingBetween = (
  orders: OrderData,
  places: ArrayLike<number>,
  { from, to }: Span,
  slots: number,
): Resting => {
  const lives = known.get(orders);
  const inSight = [];
  for (let index = 0; lives !== undefined && index < places.length; index++) {
    const order = valueAt(places, index);
    const begin = valueAt(lives.from, order);
    if (begin <= to && valueAt(lives.to, order) >= from && valueAt(orders.px, order) > 0) inSight.push(order);
  }
  const one = (order: number) => ({
    order,
    from: Math.max(from, valueAt(lives?.from ?? [], order)),
    to: Math.min(to, valueAt(lives?.to ?? [], order)),
    px: valueAt(orders.px, order),
    buy: orders.buy[order] === 1,
  });
  if (inSight.length <= eachMax) return { each: inSight.map(one), bands: [], count: inSight.length };
  return { each: [], bands: bandsOf(inSight.map(one), from, (to - from) / slots, slots), count: inSight.length };
};

const bandsOf = (orders: readonly RestingOrder[], from: number, width: number, slots: number): Band[] => {
  const bands: (Band | undefined)[] = Array.from({ length: 2 * slots });
  for (const order of orders) {
    const last = Math.min(slots - 1, Math.floor((order.to - from) / width));
    for (let slot = Math.floor((order.from - from) / width); slot <= last; slot++) {
      const place = 2 * slot + (order.buy ? 1 : 0);
      const band = bands[place];
      if (band === undefined)
        bands[place] = {
          from: from + slot * width,
          to: from + (slot + 1) * width,
          low: order.px,
          high: order.px,
          buy: order.buy,
        };
      else if (order.px < band.low) band.low = order.px;
      else if (order.px > band.high) band.high = order.px;
    }
  }
  return bands.filter((band) => band !== undefined);
};
