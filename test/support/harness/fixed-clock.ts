import type { ServerClock } from "../../../src/scheduler/quota/server-clock.ts";

/** What a clock keeps that keeps nothing. */
export const unasked = { at: Number.NaN, lo: 0, hi: 0 };

/** A clock that knows how far the service's is from ours, or knows nothing, and learns nothing more. */
export const fixedClock = (lo: number, hi: number, known = true): ServerClock => ({
  bounds: (at) => ({ at, lo, hi }),
  near: unasked,
  far: unasked,
  lo: () => lo,
  hi: () => hi,
  known,
  observeDate: () => undefined,
  observeBoundary: () => false,
  forget: () => undefined,
  conflicts: 0,
  revision: 0,
});
