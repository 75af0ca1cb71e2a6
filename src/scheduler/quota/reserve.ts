/**
 * Reserve: the ceiling that each class of action has under a layer's capacity.
 *
 * A *look* is a call of a key that is sent about the end of a second, where it may land in this second or in the next.
 * The count in its answer shows in which, and so shows the boundary more exactly than any other call. Looks are sent
 * while the boundary is known less exactly than round trips allow.
 *
 * Invariants: exits (cancels, closes, emergencies) may use everything; ordinary actions leave what it takes to cancel
 * all that is open and to serve the urgent calls the rest of the window is likely to bring; quota that the rest of the
 * window cannot need any more is lent out, so that nothing is wasted.
 * Needed by: forecast of exits by `storms`; late slots and looks of a key by `B`, `E`, `S500`.
 * Not here: what is used (window-usage.ts), others' use (foreign-usage.ts).
 */
import type { LimitWindow } from "./limit-window.ts";
import type { RoundTripTime } from "./server-clock.ts";

/**
 * Rank of an action: emergencies may use everything, exits nearly everything, and ordinary actions leave the reserve.
 */
export type Rank = "emergency" | "exit" | "ordinary";

/** Settings of the reserve that ordinary actions leave for exits. */
export interface ReservePolicy {
  /** Weight of one exit, here a batch cancel. */
  readonly exitWeight: number;
  /** Number of orders that one exit can cancel. */
  readonly ordersPerExit: number;
  /** Weight of each of them, besides the exit's own. */
  readonly elementWeight: number;
  /** Request slots of a key's second that ordinary actions leave free. */
  readonly keySlots: number;
  /** Time before the window's end in which the reserve is lent out. An exit then waits at most this long. */
  readonly lendMs: number;
  /** Number of standard deviations of urgent demand to cover. */
  readonly confidence: number;
  /** Last units, which are left for the one light call that a restarted client has to make without knowing the use. */
  readonly probeUnits: number;
  /** `burst` spends free quota at once, `paced` spreads it over the window. */
  readonly spending: "burst" | "paced";
}

/** The reserve for exits of a config without `quota`. */
export const defaultReserve: ReservePolicy = {
  exitWeight: 15,
  ordersPerExit: 20,
  elementWeight: 0,
  keySlots: 2,
  lendMs: 375,
  confidence: 4,
  probeUnits: 2,
  spending: "burst",
};

/**
 * Weight held back for exits while `remMs` of the minute remain, with `open` orders resting and `ratePerMs` urgent
 * calls expected.
 *
 * @param policy - shares that are kept
 * @param remMs - what is left of the minute
 * @param open - orders resting
 * @param ratePerMs - expected urgent calls
 * @returns weight
 */
export const exitReserve = (policy: ReservePolicy, remMs: number, open: number, ratePerMs: number): number => {
  if (remMs <= policy.lendMs) return 0;
  const expected = ratePerMs * remMs;
  const more = expected + policy.confidence * Math.sqrt(expected);
  // Usual exits do not come out of what it takes to cancel everything.
  const elements = policy.elementWeight * (Math.max(1, open) + more);
  return policy.exitWeight * (Math.max(1, Math.ceil(open / policy.ordersPerExit)) + more) + elements;
};

/**
 * Requests held back for exits. Same as `exitReserve`, for requests instead of weight.
 *
 * @param policy - shares that are kept
 * @param remMs - what is left of the window
 * @param open - orders resting
 * @param ratePerMs - expected urgent calls
 * @returns requests
 */
export const exitCallsOf = (policy: ReservePolicy, remMs: number, open: number, ratePerMs: number): number => {
  if (remMs <= policy.lendMs) return 0;
  const expected = ratePerMs * remMs;
  const all = Math.max(1, Math.ceil(open / policy.ordersPerExit));
  return all + expected + policy.confidence * Math.sqrt(expected);
};

/** Weight of canceling `open` orders once. */
export const exitCost = (policy: ReservePolicy, open: number): number =>
  policy.exitWeight * Math.ceil(open / policy.ordersPerExit) + policy.elementWeight * open;

/**
 * The part of `capacity` that even spending allows once `remMs` of `windowMs` remain. It is slightly ahead, so that
 * small bursts are not cut.
 */
export const pacedShare = (capacity: number, remMs: number, windowMs: number): number =>
  capacity * Math.min(1, 1 - remMs / windowMs + 0.1);

/** Time constant of the forecast in milliseconds: older demand has mostly faded. */
const memoryMs = 300_000;
const rateLeast = 1 / 15_000;
/** Time for which the minimum rate is assumed to have been observed before anything was seen. */
const priorMs = 60_000;

/**
 * Forecast of exits from the number requested in the remembered time, which fades over minutes. It never falls to zero.
 */
export class ExitRate {
  // Instant of the last calculation, kept because the same instant is often asked for many times.
  askedAt = Number.NaN;
  /** Expected number of exits per millisecond, as of `askedAt`. */
  rate = 0;
  /** Number of exits and observed time, both fading, as of `#lastAt`. */
  #exits = priorMs * rateLeast;
  #spanMs = priorMs;
  #lastAt: number;

  constructor(startedAt: number) {
    this.#lastAt = startedAt;
  }

  at(now: number): number {
    if (now === this.askedAt) return this.rate;
    this.askedAt = now;
    const keep = Math.exp(-(now - this.#lastAt) / memoryMs);
    this.rate = Math.max((this.#exits * keep) / (this.#spanMs * keep + memoryMs * (1 - keep)), rateLeast);
    return this.rate;
  }

  /** Called when an exit was requested. */
  note(now: number): void {
    const keep = Math.exp(-(now - this.#lastAt) / memoryMs);
    this.#exits = this.#exits * keep + 1;
    this.#spanMs = this.#spanMs * keep + memoryMs * (1 - keep);
    this.#lastAt = now;
    this.askedAt = Number.NaN;
  }
}

/** If the uncertainty of the clock is wider than this, one call a second is spent on narrowing it. */
const clockWidthMs = 45;
/** The uncertainty cannot be narrowed below this multiple of the round-trip time. */
const tripsWide = 1.5;
/**
 * If uncertainty and round-trip time leave less than this of a second, every answer may belong to either of two
 * seconds.
 */
const plainMs = 80;
/**
 * If counts lag, calls look in one of this number of seconds, and more often while the uncertainty is this much wider.
 */
const lookEvery = 30;
const lookEveryWide = 3;
const widthsWide = 8;
/** If not all use is ours, the second last call of a second leaves this much earlier. */
const strayMs = 150;

/**
 * Returns true if calls look for the boundary in the second that ends at `endAt`. If counts lag, only the answer to the
 * next call shows where a call landed, so in some seconds a call leaves early, and two look one after the other.
 */
export const looksIn = ({ spec }: LimitWindow, endAt: number, widthMs: number): boolean => {
  const every = widthMs > clockWidthMs * widthsWide ? lookEveryWide : lookEvery;
  return widthMs > clockWidthMs && Math.floor(endAt / spec.windowMs) % every === 0;
};

/** A lagging count does not show at once which use is not ours. */
const isUnsteady = ({ unsteady, lags }: LimitWindow): boolean => unsteady && !lags;

/**
 * Instant from which ordinary actions may use the slots for exits in the second that ends at `endAt` at the latest. An
 * exit that is requested after it waits for the next second, which is near.
 */
export const lateFrom = (gauge: LimitWindow, endAt: number, widthMs: number, highMs: number): number =>
  endAt - widthMs - highMs - (isUnsteady(gauge) ? strayMs : 0);

/**
 * Number of slots of that second that ordinary actions may use at `at`, after `lateFrom`; `kept` of them could be used
 * before. The last slot is held back for a look while the boundary is not known well. `looks` is the result of
 * `looksIn`.
 */
export const lateSlots = (
  gauge: LimitWindow,
  kept: number,
  at: number,
  endAt: number,
  { low, high }: Pick<RoundTripTime, "low" | "high">,
  looks: boolean,
): number => {
  const { capacity, windowMs } = gauge.spec;
  const width = gauge.widthMs(at);
  // One call before the last slot is used shows whether something else was counted.
  if (isUnsteady(gauge) && (at < endAt - width - high || gauge.open > 0)) return Math.max(kept, capacity - 1);
  // The last slot is sent into the uncertain stretch. Where it lands is the best evidence of the boundary.
  const looksAt = endAt - width / 2 - low / 2;
  if (!gauge.lags) {
    const tripMs = high < low * tripsWide ? Math.min(low * tripsWide, windowMs - low - plainMs) : 0;
    const finestMs = Math.max(clockWidthMs, tripMs);
    return width > finestMs && at < looksAt ? capacity - 1 : capacity;
  }
  if (!looks) return capacity;
  if (at < looksAt) return kept;
  return gauge.open > 0 ? kept - 1 : capacity;
};
