/**
 * Reserve: the ceiling that each class of action has under a layer's capacity.
 *
 * Invariants: exits (cancels, closes, emergencies) may use everything; ordinary actions leave what it takes to cancel
 * all that is open and to serve the urgent calls the rest of the window is likely to bring; what the rest of the window
 * cannot need any more is lent out, so that nothing is wasted. Where it is not known to some milliseconds where a key's
 * seconds begin, a late call is sent into the doubtful stretch, because its landing is the best evidence.
 * Not here: what is used (window-usage.ts), others' use (foreign-usage.ts).
 */
import type { LimitWindow } from "./limit-window.ts";
import type { RoundTripTime } from "./server-clock.ts";

/** Emergencies may use everything, exits nearly so, ordinary actions leave the reserve. */
export type Rank = "emergency" | "exit" | "ordinary";

/** Settings of the reserve that ordinary actions leave for exits. */
export interface ReservePolicy {
  /** Weight of one exit, here a batch cancel. */
  readonly exitWeight: number;
  /** Orders one exit can take back. */
  readonly ordersPerExit: number;
  /** Weight of each of them, besides the exit's own. */
  readonly elementWeight: number;
  /** Request slots of a key's second that ordinary actions leave free. */
  readonly keySlots: number;
  /** The reserve is lent out this long before the window ends; an exit then waits at most as long. */
  readonly lendMs: number;
  /** Standard deviations of urgent demand to cover. */
  readonly confidence: number;
  /** The last units are left for the one light call a restarted client has to make blind. */
  readonly probeUnits: number;
  /** Spend what is free at once, or spread it over the window. */
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
 * Requests held back for exits, as `exitReserve` does weight.
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

/** Weight to cancel `open` orders once. */
export const exitCost = (policy: ReservePolicy, open: number): number =>
  policy.exitWeight * Math.ceil(open / policy.ordersPerExit) + policy.elementWeight * open;

/**
 * The part of `free` that even spending allows once `remMs` of `windowMs` remain; a little ahead, so that bursts are
 * not cut small.
 */
export const pacedShare = (capacity: number, remMs: number, windowMs: number): number =>
  capacity * Math.min(1, 1 - remMs / windowMs + 0.1);

/** Time after which the forecast has mostly forgotten, milliseconds. */
const memoryMs = 300_000;
const rateLeast = 1 / 15_000;
/** Before anything was seen the least is expected, as if it had been seen for so long. */
const priorMs = 60_000;

/** Forecast of exits: how many were asked for in the time remembered, which fades over minutes; never quite none. */
export class ExitRate {
  // One instant is asked about many times over.
  askedAt = Number.NaN;
  /** Exits a millisecond that are to be expected, as of `askedAt`. */
  rate = 0;
  /** Exits and time, both fading, as of `#lastAt`. */
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

  /** An exit was asked for. */
  note(now: number): void {
    const keep = Math.exp(-(now - this.#lastAt) / memoryMs);
    this.#exits = this.#exits * keep + 1;
    this.#spanMs = this.#spanMs * keep + memoryMs * (1 - keep);
    this.#lastAt = now;
    this.askedAt = Number.NaN;
  }
}

/** Wider than this, one call a second is spent on narrowing the clock. */
const clockWidthMs = 45;
/** Nor can it be narrowed below the time a call takes there and back. */
const tripsWide = 1.5;
/**
 * A stretch and a way there and back that together leave less than this of a second make every answer one of two
 * seconds.
 */
const plainMs = 80;
/** With counts that lag, calls look in one second of so many; in more while the stretch is this much wider. */
const lookEvery = 30;
const lookEveryWide = 3;
const widthsWide = 8;
/** If not all use is ours, the second last call of a second leaves this much earlier. */
const strayMs = 150;

/**
 * Counts that lag show where a call landed when the next one is answered: now and then one leaves early, and two look
 * one after the other.
 */
export const looksIn = ({ spec }: LimitWindow, endAt: number, widthMs: number): boolean => {
  const every = widthMs > clockWidthMs * widthsWide ? lookEveryWide : lookEvery;
  return widthMs > clockWidthMs && Math.floor(endAt / spec.windowMs) % every === 0;
};

/** A count that lags does not show at once what is not ours. */
const isUnsteady = ({ unsteady, lags }: LimitWindow): boolean => unsteady && !lags;

/** Instant from which the slots for exits are lent in the second that ends at `endAt` at the latest. */
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
  const { capacity, windowMs } = gauge.spec;
  const width = gauge.widthMs(at);
  // One call before the last slot is used shows whether something else was counted.
  if (isUnsteady(gauge) && (at < endAt - width - high || gauge.open > 0)) return Math.max(kept, capacity - 1);
  // The last slot is sent into the doubtful stretch, where its landing is the best evidence of the boundary.
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
