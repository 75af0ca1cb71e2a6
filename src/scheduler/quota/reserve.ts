/**
 * Who may use what is left of a window: the ceiling each class of action has under a layer's capacity.
 *
 * Invariants: exits (cancels, closes, emergencies) may use everything; ordinary actions leave what it takes to cancel all that
 * is open and to serve the urgent calls the rest of the window is likely to bring; what the rest of the window cannot need any
 * more is lent out, so that nothing is wasted.
 * Not here: what is used (window-usage.ts), others' use (foreign-usage.ts).
 */

/** Emergencies may use everything, exits nearly so, ordinary actions leave the reserve. */
export type Rank = "emergency" | "exit" | "ordinary";

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

export const defaultReserve: ReservePolicy = {
  exitWeight: 15,
  ordersPerExit: 20,
  elementWeight: 0,
  keySlots: 2,
  lendMs: 375,
  confidence: 3,
  probeUnits: 2,
  spending: "burst",
};

/** Weight held back for exits while `remMs` of the minute remain, with `open` orders resting and `ratePerMs` urgent calls expected. */
export const exitReserve = (policy: ReservePolicy, remMs: number, open: number, ratePerMs: number): number => {
  if (remMs <= policy.lendMs) return 0;
  const expected = ratePerMs * remMs;
  const calls = 1 + expected + policy.confidence * Math.sqrt(expected);
  // An exit takes back one order at least, and each order that rests may have to be.
  const elements = policy.elementWeight * Math.max(open, calls);
  return policy.exitWeight * Math.max(Math.ceil(open / policy.ordersPerExit), calls) + elements;
};

/** Requests held back for exits, as `exitReserve` does weight. */
export const exitCallsOf = (policy: ReservePolicy, remMs: number, open: number, ratePerMs: number): number => {
  if (remMs <= policy.lendMs) return 0;
  const expected = ratePerMs * remMs;
  return Math.max(Math.ceil(open / policy.ordersPerExit), 1 + expected + policy.confidence * Math.sqrt(expected));
};

/** Weight to cancel `open` orders once. */
export const exitCost = (policy: ReservePolicy, open: number): number =>
  policy.exitWeight * Math.ceil(open / policy.ordersPerExit) + policy.elementWeight * open;

/** The part of `free` that even spending allows once `remMs` of `windowMs` remain; a little ahead, so that bursts are not cut small. */
export const pacedShare = (capacity: number, remMs: number, windowMs: number): number => capacity * Math.min(1, 1 - remMs / windowMs + 0.1);
