/**
 * Selects the visible part of long columns for a span of time: bars, extremes of a line, groups of fills.
 *
 * Invariants: pure; nothing is left out: entries that do not fit the width are grouped, with its count and its extremes; times of a column
 * never fall.
 */
import type { InstrumentData, LineData } from "../page-data.ts";

type Column = ArrayLike<number>;

/** Place of the first of `count` entries at or after `time`. */
const firstFrom = (count: number, timeOf: (place: number) => number, time: number) => {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(middle) < time) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Place of the first entry at or after `time`. */
export const placeOf = (at: Column, time: number) => firstFrom(at.length, (place) => valueAt(at, place), time);

/** Place of the last entry at or before `time`, -1 where there is none. */
export const lastPlace = (at: Column, time: number) => {
  const place = placeOf(at, time);
  return at[place] === time ? lastEqual(at, place) : place - 1;
};

const lastEqual = (at: Column, place: number) => {
  let last = place;
  while (at[last + 1] === at[place]) last++;
  return last;
};

export const valueAt = (column: Column, place: number) => column[place] ?? 0;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
export const day = 24 * hour;
/** Lengths of time that people read, in milliseconds. */
const roundLengths = [
  ...[1, 2, 5, 10, 20, 50, 100, 250, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 4, 8, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 28, 91, 182, 364, 728, 1_820].map((count) => count * day),
];

/** The shortest of them that is at least `ms`. */
export const roundLength = (ms: number) =>
  roundLengths.find((length) => length >= ms) ?? (roundLengths.at(-1) as number);

export type Bars = { barMs: number; at: number[]; open: number[]; high: number[]; low: number[]; close: number[] };

/**
 * Bars between two instants, at most about `most`; where fewer prices than that are recorded each is one, of no length.
 *
 * @param startAt - epoch of the columns, to which lengths are aligned
 */
export const barsBetween = (
  { at, open, high, low, close, unit, barMs: own }: InstrumentData,
  startAt: number,
  from: number,
  to: number,
  most: number,
): Bars => {
  const first = Math.max(0, lastPlace(at, from));
  const end = placeOf(at, to);
  const fits = end - first <= most;
  const barMs = fits ? own : Math.max(own, roundLength((to - from) / most));
  const bars: Bars = { barMs, at: [], open: [], high: [], low: [], close: [] };
  let last = -1;
  for (let place = first; place < end; place++) {
    const time = valueAt(at, place);
    const begin = fits ? time : Math.floor((time + startAt) / barMs) * barMs - startAt;
    const [top, bottom] = [valueAt(high, place) * unit, valueAt(low, place) * unit];
    if (last >= 0 && bars.at[last] === begin && !fits) {
      bars.high[last] = Math.max(valueAt(bars.high, last), top);
      bars.low[last] = Math.min(valueAt(bars.low, last), bottom);
      bars.close[last] = valueAt(close, place) * unit;
    } else {
      last = bars.at.push(begin) - 1;
      bars.open.push(valueAt(open, place) * unit);
      bars.high.push(top);
      bars.low.push(bottom);
      bars.close.push(valueAt(close, place) * unit);
    }
  }
  return bars;
};

/**
 * A line between two instants with one point beyond each edge; of each of `slots` stretches the lowest and the highest where there are more.
 */
export const lineBetween = (
  { at, value }: Pick<LineData, "at" | "value">,
  from: number,
  to: number,
  slots: number,
): [at: number[], value: number[]] => {
  const first = Math.max(0, lastPlace(at, from));
  const end = Math.min(at.length, placeOf(at, to) + 1);
  const times: number[] = [];
  const values: number[] = [];
  const take = (place: number) => {
    times.push(valueAt(at, place));
    values.push(valueAt(value, place));
  };
  if (end - first <= 4 * slots) {
    for (let place = first; place < end; place++) take(place);
    return [times, values];
  }
  const width = (to - from) / slots;
  for (let place = first; place < end; ) {
    const until = from + (Math.floor((valueAt(at, place) - from) / width) + 1) * width;
    let [low, high, next] = [place, place, place + 1];
    for (; next < end && valueAt(at, next) < until; next++) {
      if (valueAt(value, next) < valueAt(value, low)) low = next;
      if (valueAt(value, next) > valueAt(value, high)) high = next;
    }
    for (const one of [...new Set([place, low, high, next - 1])].sort((a, b) => a - b)) take(one);
    place = next;
  }
  return [times, values];
};

export type FillGroup = {
  at: number;
  px: number;
  low: number;
  high: number;
  qty: number;
  fee: number;
  count: number;
  buy: boolean;
  first: number;
  until: number;
};

interface GroupSize {
  /** Epoch of the columns. */
  readonly startAt: number;
  readonly from: number;
  readonly to: number;
  readonly most: number;
  readonly groupMs: number;
}

/**
 * Fills between two instants: each its own group where at most `most` are shown, else grouped by side and by stretches of `groupMs`.
 *
 * @param shown - places, in order of time
 */
export const fillGroups = (
  fills: { at: Column; buy: Column; px: Column; qty: Column; fee: Column },
  shown: ArrayLike<number>,
  { startAt, from, to, most, groupMs }: GroupSize,
): FillGroup[] => {
  const { at } = fills;
  const timeOf = (index: number) => valueAt(at, valueAt(shown, index));
  const first = firstFrom(shown.length, timeOf, from);
  const end = firstFrom(shown.length, timeOf, to);
  const single = end - first <= most;
  const length = roundLength(groupMs);
  const groups: Map<number | string, FillGroup> = new Map();
  for (let index = first; index < end; index++) {
    const place = valueAt(shown, index);
    const [time, px, qty, buy] = [
      valueAt(at, place),
      valueAt(fills.px, place),
      valueAt(fills.qty, place),
      fills.buy[place] === 1,
    ];
    const stretch = Math.floor((time + startAt) / length);
    const key = single ? index : 2 * stretch + (buy ? 1 : 0);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, {
        at: time,
        px,
        low: px,
        high: px,
        qty,
        fee: valueAt(fills.fee, place),
        count: 1,
        buy,
        first: place,
        until: time,
      });
    } else {
      group.px = (group.px * group.qty + px * qty) / (group.qty + qty);
      group.low = Math.min(group.low, px);
      group.high = Math.max(group.high, px);
      group.qty += qty;
      group.fee += valueAt(fills.fee, place);
      group.until = time;
      group.at = (valueAt(at, group.first) + time) / 2;
      group.count++;
    }
  }
  return [...groups.values()];
};

/** Highest less lowest. */
export const spreadOf = (values: Column) => {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let place = 0; place < values.length; place++) {
    low = Math.min(low, valueAt(values, place));
    high = Math.max(high, valueAt(values, place));
  }
  return high - low;
};

/** Places for which something holds. */
export const placesWhere = (count: number, holds: (place: number) => boolean) => {
  const places = [];
  for (let place = 0; place < count; place++) if (holds(place)) places.push(place);
  return Uint32Array.from(places);
};
