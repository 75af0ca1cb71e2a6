/**
 * Slots of a key's second that ordinary actions may use towards its end, and what the last of them are used to find out.
 *
 * Invariants: where it is not known to some milliseconds where seconds begin, a late call is sent into the doubtful stretch, because where it
 * lands tells most; the last slot waits where one more call could turn out to have been counted twice.
 * Not here: the slots kept for exits before (allowance.ts), what a landing proves (count-evidence.ts).
 */
import type { LimitWindow } from "./limit-window.ts";
import type { RoundTripTime } from "./round-trip-time.ts";

/** Wider than this, one call a second is spent on narrowing the clock. */
const clockWidthMs = 45;
/** Nor can it be narrowed below the time a call takes there and back. */
const tripsWide = 1.5;
/** Where counts lag, calls look in one second of so many; in more of them while the stretch is so much wider. */
const lookEvery = 30;
const lookEveryWide = 3;
const widthsWide = 8;
/** Where not all use is ours, the second last call of a second leaves so much earlier. */
const strayMs = 150;

/** Counts that lag tell where a call landed when the next one is answered: now and then one leaves early, and two look one after the other. */
export const looksIn = ({ spec }: LimitWindow, endAt: number, widthMs: number): boolean => {
  const every = widthMs > clockWidthMs * widthsWide ? lookEveryWide : lookEvery;
  return widthMs > clockWidthMs && Math.floor(endAt / spec.windowMs) % every === 0;
};

/** A count that lags does not tell at once what is not ours. */
const isUnsteady = ({ unsteady, lags }: LimitWindow): boolean => unsteady && !lags;

/** When the slots kept for exits are lent, of the second that ends at `endAt` at the latest. */
export const lateFrom = (gauge: LimitWindow, endAt: number, widthMs: number, highMs: number): number =>
  endAt - widthMs - highMs - (isUnsteady(gauge) ? strayMs : 0);

/** Slots that may be used from then on. */
export const lateSlots = (
  gauge: LimitWindow,
  kept: number,
  at: number,
  endAt: number,
  { low, high }: Pick<RoundTripTime, "low" | "high">,
  looks: boolean,
): number => {
  const { capacity } = gauge.spec;
  const width = gauge.widthMs(at);
  // Whether something else was counted is told by one call before the last slot is used.
  if (isUnsteady(gauge) && (at < endAt - width - high || gauge.open > 0)) return Math.max(kept, capacity - 1);
  // The last slot is sent into the doubtful stretch, where its landing tells most about the boundary.
  const looksAt = endAt - width / 2 - low / 2;
  if (!gauge.lags) {
    const finestMs = high < low * tripsWide ? Math.max(clockWidthMs, low * tripsWide) : clockWidthMs;
    return width > finestMs && at < looksAt ? capacity - 1 : capacity;
  }
  if (!looks) return capacity;
  if (at < looksAt) return kept;
  return gauge.open > 0 ? kept - 1 : capacity;
};
