/**
 * Retry instant of a denied charge, and the weight below which other charges may overtake it.
 *
 * Invariants: when the charge is asked for again at `until`, something has changed; a call that the rest of a window
 * cannot hold does not hold up calls that it can.
 * Not here: whether it has to wait (ledger.ts).
 */
import type { Allowances } from "./allowance.ts";
import { newsWeight } from "./foreign-usage.ts";
import type { Charge, LayerSpec } from "./layers.ts";
import type { Ceiling, LimitWindow } from "./limit-window.ts";

/** Denial: the layer, the instant to ask again, and the calls that may leave meanwhile. */
export interface RetryAt {
  readonly granted: false;
  readonly layer: LayerSpec["name"];
  readonly until: number;
  readonly why: "used" | "reserved" | "start";
  /** Calls lighter than this may pass it. */
  readonly lighterThan: number;
  /** True if only calls on the same key have to wait behind it. If left out, all calls of the user wait. */
  readonly ofKey?: boolean;
}

/**
 * The weight below which calls may pass a call that a layer holds up. If the layer counts only some endpoints, any call
 * may pass: calls that it does not count cannot take the slot, and those that it counts have to ask it.
 */
export const passingBelow = ({ endpoints, unit }: LayerSpec, weight: number): number =>
  endpoints !== undefined && unit !== "weight" ? Number.POSITIVE_INFINITY : weight;

/** A call that does not fit this near to a window's end is assumed not to fit into that window at all. */
const endingMs = 400;

/** Instant at which a ceiling that rises towards the window's end lets the call pass. */
const relaxedAt = (gauge: LimitWindow, units: number, ceiling: Ceiling, now: number, end: number): number => {
  if (gauge.blockedUntil(units, now, () => gauge.capacity) !== undefined) return end;
  const to = earliestFit(
    now,
    Math.min(end, now + gauge.spec.windowMs),
    (at) => gauge.blockedUntil(units, at, ceiling) === undefined,
  );
  return Math.max(to, now + 1);
};

/** Retry instant of an ordinary call of `units` that does not fit under the ceiling before `end`, or never. */
export const retryAtOf = (
  gauge: LimitWindow,
  { weight, uid }: Charge,
  units: number,
  ceiling: Ceiling,
  allowances: Pick<Allowances, "newsAt">,
  now: number,
  end: number,
): RetryAt => {
  const relaxed = relaxedAt(gauge, units, ceiling, now, end);
  const layer = gauge.spec.name;
  const ofKey = gauge.spec.scope === "key";
  // The window cannot hold the call any more. Lighter calls use the rest.
  if (relaxed >= end || end - now <= endingMs)
    return { granted: false, layer, until: relaxed, why: "used", lighterThan: passingBelow(gauge.spec, weight), ofKey };
  const newsAt = uid === undefined ? Number.POSITIVE_INFINITY : allowances.newsAt(uid, now, end);
  const lighterThan = passingBelow(gauge.spec, newsAt <= now ? Math.min(weight, newsWeight + 1) : 0);
  return {
    granted: false,
    layer,
    until: newsAt <= now ? relaxed : Math.min(relaxed, newsAt),
    why: "reserved",
    lighterThan,
    ofKey,
  };
};

/** The first instant, to the millisecond, at which `fits` holds, given that it continues to hold until `to`. */
export const earliestFit = (now: number, end: number, fits: (at: number) => boolean): number => {
  let from = now;
  let to = end;
  while (to - from > 1) {
    const middle = (from + to) / 2;
    if (fits(middle)) to = middle;
    else from = middle;
  }
  return to;
};
