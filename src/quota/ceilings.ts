/**
 * How much of a window each rank of action may use, at an instant.
 *
 * Invariants: an emergency may use everything; an exit leaves what it takes to cancel all that is open once; an ordinary action
 * leaves, besides, the exits the rest of the window may bring and what others are likely to use; nobody plans to the very last
 * units of weight, because a restarted client has to make one light call blind.
 * Not here: what is used (gauge.ts), the sizes of the reserve (reserve.ts), others' rate (foreign.ts).
 */
import { createForeignUse, type ForeignUse } from "./foreign.ts";
import type { Ceiling, Gauge } from "./gauge.ts";
import type { Charge } from "./layers.ts";
import { exitCost, exitReserve, pacedShare, type ReservePolicy } from "./reserve.ts";
import type { RoundTrips } from "./round-trips.ts";
import type { ServerClock } from "./server-clock.ts";

/** Emergencies may use everything, exits nearly so, ordinary actions leave the reserve. */
export type Rank = "emergency" | "exit" | "ordinary";

export interface Ceilings {
  of(gauge: Gauge, charge: Charge, rank: Rank, at: number): Ceiling;
  /** What ordinary actions have to leave of the window that ends at `endAt`. */
  reserved(gauge: Gauge, at: number, endAt: number): number;
  /** An exit was asked for. */
  noteExit(now: number): void;
  noteOpen(uid: string, orders: number): void;
  /** The service told the use of `uid`; `fresh` units of it were newly seen to be others'. */
  noteUse(uid: string, at: number, fresh: number): void;
  /** The service refused a call of `uid`. */
  noteRefusal(uid: string, at: number): void;
  noteWeight(weight: number): void;
  /** When a light call is worth its answer, because others use this quota and it has been silent; infinite without others. */
  newsAt(uid: string, at: number, endAt: number): number;
  /** What was heard before says nothing about now. */
  forget(): void;
}

export interface CeilingsOptions {
  readonly policy: ReservePolicy;
  readonly clock: ServerClock;
  readonly trips: RoundTrips;
  readonly startedAt: number;
  /** The gauge of a user's weight, if there is one. */
  readonly weightOf: (uid: string) => Gauge | undefined;
}

/** Wider than this, one call a second is spent on narrowing the clock. */
const clockWidthMs = 45;
/** Chance that others' use still to come exceeds what is left free for it: small while there is much time to lose. */
const foreignRisk = 0.005;
const foreignRiskAtEnd = 0.05;
const endMs = 600;
/** Calls at most this heavy are sent for news of others' use. */
export const newsWeight = 5;
const yieldMs = 3_000;
const yieldMore = 2;
const yieldLess = 0.6;
const lastMs = 1_000;
const carefulUnits = 60;
const newsMsMin = 400;
const newsMsMax = 3_000;
/** How fast the forecast of exits fades. */
const exitMemoryMs = 300_000;
const exitRateLeast = 1 / 15_000;

export const createCeilings = ({ policy, clock, trips, startedAt, weightOf }: CeilingsOptions): Ceilings => {
  const foreign = new Map<string, ForeignUse>();
  const heardAt = new Map<string, number>();
  const openOrders = new Map<string, number>();
  let weightMean = 10;
  let exitRate = 0;
  let lastExitAt = startedAt;

  /** Exits per millisecond: rises with each and fades over minutes, never quite to nothing. */
  const exitRateAt = (now: number): number => Math.max(exitRate * Math.exp(-(now - lastExitAt) / exitMemoryMs), exitRateLeast);
  const openOf = (uid: string): number => openOrders.get(uid) ?? 0;

  const silence = (uid: string, at: number): number => Math.max(0, at - (heardAt.get(uid) ?? at));

  const othersMargin = (uid: string, capacity: number, remMs: number, silentMs: number): number => {
    const others = foreign.get(uid);
    if (others === undefined || remMs <= 0) return 0;
    // Half is never left to others: what is only left free is never measured again, and would be left free for ever.
    return Math.min(capacity / 2, others.margin(remMs + silentMs, remMs < endMs ? foreignRiskAtEnd : foreignRisk));
  };

  /** Two engines unaware of each other should meet in the middle: who has had more than half leaves more, who had less leaves less. */
  const yielding = (gauge: Gauge, at: number, remMs: number): number => {
    if (remMs < yieldMs) return 1;
    const { used, foreign: others } = gauge.state(at);
    return used - others > gauge.spec.capacity / 2 ? yieldMore : yieldLess;
  };

  /** After a long silence room is left for what was not seen meanwhile; a light call may go without it, because its answer tells. */
  const ordinaryWeight = (gauge: Gauge, weight: number, at: number, endAt: number, startAt: number): number => {
    const { capacity, windowMs } = gauge.spec;
    const remMs = Math.max(0, Math.min(endAt - at, windowMs));
    const reserve = exitReserve(policy, remMs, openOf(gauge.scope), exitRateAt(at));
    const quietMs = silence(gauge.scope, at);
    const silentMs = weight <= newsWeight || quietMs <= newsMsMax ? 0 : quietMs;
    const margin = othersMargin(gauge.scope, capacity, remMs, silentMs) * yielding(gauge, at, remMs);
    // Near the limit one call at a time: each answer shows what others did, and a surprise costs one refusal, not several.
    const careful = margin > 0 && gauge.state(at).open > 0 ? carefulUnits : 0;
    const free = capacity - reserve - margin - careful - policy.probeUnits;
    return policy.spending === "paced" && at >= startAt ? Math.min(free, pacedShare(capacity, remMs, windowMs)) : free;
  };

  /** Weight will run out before the key's seconds do, so its kept slots cost nothing and stay free for exits. */
  const weightBinds = (charge: Charge, at: number, slots: number): boolean => {
    const weight = charge.uid === undefined ? undefined : weightOf(charge.uid);
    if (weight === undefined) return false;
    const { used, windowEndsAt } = weight.state(at);
    // In the last second of the minute slots are what keeps the rest of the weight from being used.
    if (windowEndsAt - at < lastMs) return false;
    return (weight.spec.capacity - used) / weightMean < ((windowEndsAt - at) / 1_000) * slots;
  };

  const ordinaryKey = (gauge: Gauge, charge: Charge, at: number, endAt: number): number => {
    const { capacity } = gauge.spec;
    const kept = capacity - policy.keySlots;
    const width = clock.hi(at) - clock.lo(at);
    if (weightBinds(charge, at, kept)) return kept;
    if (at < endAt - width - trips.high) return kept;
    // The last slot is sent into the doubtful stretch, where its landing tells most about the boundary.
    return width > clockWidthMs && at < endAt - width / 2 - trips.low / 2 ? capacity - 1 : capacity;
  };

  return {
    of: (gauge, charge, rank, at) => {
      const { capacity, scope, unit } = gauge.spec;
      const weighed = unit === "weight";
      if (rank === "emergency") return () => (weighed ? capacity - policy.probeUnits : capacity);
      // Each exit makes the emergency it leaves room for smaller; more than a quarter is never withheld from exits.
      if (rank === "exit")
        return () => (weighed ? capacity - policy.probeUnits - Math.min(exitCost(policy, openOf(gauge.scope)), capacity / 4) : capacity);
      if (scope === "key") return (endAt) => ordinaryKey(gauge, charge, at, endAt);
      return weighed ? (endAt, startAt) => ordinaryWeight(gauge, charge.weight, at, endAt, startAt) : () => capacity - policy.keySlots;
    },
    reserved: (gauge, at, endAt) => {
      const { capacity, unit } = gauge.spec;
      return Math.max(
        0,
        unit === "weight" ? Math.round(capacity - ordinaryWeight(gauge, Number.POSITIVE_INFINITY, at, endAt, at)) : policy.keySlots,
      );
    },
    noteExit: (now) => {
      const keep = Math.exp(-1 / 20);
      exitRate = exitRateAt(now) * keep + (1 - keep) / Math.max(now - lastExitAt, 1_000);
      lastExitAt = now;
    },
    noteOpen: (uid, orders) => {
      openOrders.set(uid, orders);
    },
    noteUse: (uid, at, fresh) => {
      heardAt.set(uid, at);
      let use = foreign.get(uid);
      if (use === undefined) {
        use = createForeignUse();
        foreign.set(uid, use);
      }
      use.observe(at, fresh);
    },
    noteRefusal: (uid, at) => {
      foreign.get(uid)?.surprised(at);
    },
    noteWeight: (weight) => {
      weightMean += (weight - weightMean) / 32;
    },
    newsAt: (uid, at, endAt) => {
      const others = foreign.get(uid);
      if (others === undefined || others.rate === 0) return Number.POSITIVE_INFINITY;
      return (heardAt.get(uid) ?? at) + Math.min(newsMsMax, Math.max(newsMsMin, (endAt - at) / 20));
    },
    forget: () => {
      heardAt.clear();
    },
  };
};

/** The first instant, to the millisecond, at which `fits` holds, given that it goes on holding until `to`. */
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
