/**
 * The service's own time: a calendar that may be wrong and may step, and a second time that never falls.
 *
 * Invariants: `wallNow` is the time that the service reports (Date, `ts`, the age of a signature); `now` is what
 * its windows and records run on. They are equal until the calendar steps back. Then `now` continues ahead by whole
 * minutes, so that windows still begin at the calendar's full minutes and seconds and no record is older than one
 * before it.
 * Not here: why it is wrong (the faults of the served venue).
 */
import type { Clock } from "./clock.ts";

interface ClockFaults {
  readonly offsetMs?: number;
  /** `atMs` counts from the creation of the clock. */
  readonly steps?: readonly { readonly atMs: number; readonly byMs: number }[];
}

/** The longest window of the description; what is a multiple of it keeps the phase of every window that divides it. */
const phaseMs = 60_000;

/** A fall as small as this is a clock being regulated: time pauses for it instead. */
const regulatedMs = 1_000;

/**
 * A clock whose calendar has these faults. Its `now` never goes back.
 *
 * @param clock - the clock underneath
 * @param faults - offset and steps of the calendar
 * @returns a clock for a service
 */
export const createServiceClock = (clock: Clock, { offsetMs = 0, steps = [] }: ClockFaults = {}): Clock => {
  const startAt = clock.now();
  let lift = 0;
  let last = Number.NEGATIVE_INFINITY;
  const wallNow = (): number => {
    let at = clock.wallNow() + offsetMs;
    if (steps.length === 0) return at;
    const elapsed = clock.now() - startAt;
    for (const { atMs, byMs } of steps) if (atMs <= elapsed) at += byMs;
    return at;
  };
  const now = (): number => {
    let at = wallNow() + lift;
    if (at < last - regulatedMs) {
      const missing = Math.ceil((last - at) / phaseMs) * phaseMs;
      lift += missing;
      at += missing;
    }
    last = Math.max(last, at);
    return last;
  };
  return { now, wallNow, setTimer: (at, run) => clock.setTimer(clock.now() + Math.max(0, at - now()), run) };
};
