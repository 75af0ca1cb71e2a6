/**
 * The exchange's own time as the axis of a recording: the instant of each line, and the transit times of messages.
 *
 * Invariants: lines are taken in the order of the exchange's times; book messages of one time in the order of their
 * update ids, all other messages of one time in the order of receipt. A message without a time is assumed to have the
 * transit time of the one received before it. A recorder whose clock was behind the exchange's, as shown by messages
 * received before they were sent, is assumed to be so far behind that the fastest message has a transit time of zero.
 * Not here: the field with the time (import-messages.ts), drawing from delays (backtest/recorded-feed.ts).
 */

import type { FixtureFeed } from "sluice/extension";
import { importInvalid } from "./import-decimals.ts";
import type { TextLines } from "./import-file.ts";

/** Time and order of a line. */
export interface Dated {
  /** Microseconds since the epoch; undefined for a message without a time. */
  readonly us: number | undefined;
  /** Update id of best prices and book changes. */
  readonly updateId: number | undefined;
  /** True if the exchange sent the message unasked. A requested message took two ways. */
  readonly pushed: boolean;
}

export interface Axis {
  /** Microseconds since the epoch of each line. */
  readonly times: Float64Array;
  /** The lines as they are to be taken. */
  readonly order: Uint32Array;
  readonly feed?: FixtureFeed;
}

const hourUs = 3_600_000_000;

export const exchangeAxis = (
  received: Float64Array,
  lines: TextLines,
  datedAt: (index: number) => Dated,
  note: (what: string, count?: number) => void,
): Axis => {
  const count = received.length;
  const [times, ids] = [new Float64Array(count), new Float64Array(count)];
  const pushed = new Uint8Array(count);
  for (let index = 0; index < count; index++) {
    const dated = datedAt(index);
    times[index] = dated.us ?? Number.NaN;
    ids[index] = dated.updateId ?? Number.NaN;
    pushed[index] = dated.pushed && dated.us !== undefined ? 1 : 0;
    if (dated.us === undefined || Math.abs(dated.us - (received[index] as number)) <= hourUs) continue;
    const minutes = Math.round((dated.us - (received[index] as number)) / 60_000_000);
    const problem = `its time of the exchange is ${minutes} minutes from the one at which it was received. Import the recording without --axis exchange.`;
    throw importInvalid(lines.file, lines.number[index] as number, problem);
  }
  const undated = times.reduce((sum, us) => sum + (Number.isNaN(us) ? 1 : 0), 0);
  if (undated === count) {
    throw importInvalid(
      lines.file,
      lines.number[0] as number,
      "neither this nor any other message has the exchange's time. Import the recording without --axis exchange.",
    );
  }
  const feed = feedOf(received, times, pushed);
  if (undated > 0) {
    dateLike(received, times);
    note("messages without a time of the exchange, dated like those before them", undated);
  }
  return { times, order: inOrder(times, ids), ...(feed && { feed }) };
};

/** Gives messages without a time the delay of the one before them. */
const dateLike = (received: Float64Array, times: Float64Array): void => {
  const first = times.findIndex((us) => !Number.isNaN(us));
  let delay = (received[first] as number) - (times[first] as number);
  for (let index = 0; index < times.length; index++) {
    if (Number.isNaN(times[index] as number)) times[index] = (received[index] as number) - delay;
    else delay = (received[index] as number) - (times[index] as number);
  }
};

const inOrder = (times: Float64Array, ids: Float64Array): Uint32Array => {
  const order = new Uint32Array(times.length).map((_, index) => index);
  order.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && times[order[to] as number] === times[order[from] as number]) to++;
    if (to - from > 1) byUpdateIds(order.subarray(from, to), ids);
    from = to;
  }
  return order;
};

/** Book messages change places among themselves. */
const byUpdateIds = (lines: Uint32Array, ids: Float64Array): void => {
  const places = [...lines.keys()].filter((place) => !Number.isNaN(ids[lines[place] as number] as number));
  const sorted = places
    .map((place) => lines[place] as number)
    .sort((a, b) => (ids[a] as number) - (ids[b] as number) || a - b);
  for (const [index, place] of places.entries()) lines[place] = sorted[index] as number;
};

const quantileSteps = 200;
/** Smallest number of delays from which quantiles are computed. */
const delaysMin = 20;

/** Returns the feed delays; undefined if too few messages have both times. */
const feedOf = (received: Float64Array, times: Float64Array, pushed: Uint8Array): FixtureFeed | undefined => {
  const delays = received
    .map((us, index) => us - (times[index] as number))
    .filter((_, index) => pushed[index] === 1)
    .sort();
  if (delays.length < delaysMin) return undefined;
  const behind = Math.max(0, -(delays[0] as number));
  const quantile = (_: unknown, step: number): number => {
    const place = Math.round((step / quantileSteps) * (delays.length - 1));
    return ((delays[place] as number) + behind) / 1_000;
  };
  return { clockBehindMs: behind / 1_000, delaysMs: Array.from({ length: quantileSteps + 1 }, quantile) };
};
