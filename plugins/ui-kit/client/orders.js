/**
 * Orders over time: from when to when each could be filled, and which of them rested in a stretch of time.
 *
 * Invariants: an order rests from its first phase at the service to its final one, or to the end of the run; where there are too many
 * to be drawn one by one, their lowest and highest prices are kept for each small stretch.
 */
import { valueAt } from "./columns.js";

/** @import {OrderData, PageData} from "../page-data.ts" */
/** @import {Span} from "./pane.js" */
/** @typedef {{ from: number, to: number, px: number, buy: boolean, order: number }} RestingOrder */
/** @typedef {{ from: number, to: number, low: number, high: number, buy: boolean }} Band */
/** @typedef {{ each: RestingOrder[], bands: Band[], count: number }} Resting */
/** @typedef {{ first: Float64Array, from: Float64Array, to: Float64Array }} Lives */

const restingPhases = ["acked", "live", "partially_filled", "canceling"];
const finalPhases = ["filled", "canceled", "rejected", "absent"];
const eachMax = 700;

/** @type {WeakMap<OrderData, Lives>} */
const known = new WeakMap();

/** First place of each order's phases, and when it rested; from NaN where it never did. @param {PageData} data @returns {Lives} */
export const livesOf = ({ orders, phases, spanMs }) => {
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

/**
 * Returns the resting orders at `places`; `slots` is the number of groups for many orders.
 * @param {OrderData} orders
 * @param {ArrayLike<number>} places
 * @param {Span} span
 * @param {number} slots
 * @returns {Resting}
 */
export const restingBetween = (orders, places, { from, to }, slots) => {
  const lives = known.get(orders);
  const inSight = [];
  for (let index = 0; lives !== undefined && index < places.length; index++) {
    const order = valueAt(places, index);
    const begin = valueAt(lives.from, order);
    if (begin <= to && valueAt(lives.to, order) >= from && valueAt(orders.px, order) > 0) inSight.push(order);
  }
  /** @param {number} order */
  const one = (order) => ({
    order,
    from: Math.max(from, valueAt(lives?.from ?? [], order)),
    to: Math.min(to, valueAt(lives?.to ?? [], order)),
    px: valueAt(orders.px, order),
    buy: orders.buy[order] === 1,
  });
  if (inSight.length <= eachMax) return { each: inSight.map(one), bands: [], count: inSight.length };
  return { each: [], bands: bandsOf(inSight.map(one), from, (to - from) / slots, slots), count: inSight.length };
};

/** @param {readonly RestingOrder[]} orders @param {number} from @param {number} width @param {number} slots @returns {Band[]} */
const bandsOf = (orders, from, width, slots) => {
  /** @type {(Band | undefined)[]} */
  const bands = Array.from({ length: 2 * slots });
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
