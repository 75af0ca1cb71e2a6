/**
 * How much of a window each rank of action may use, at an instant.
 *
 * Invariants: an emergency may use everything; an exit leaves what it takes to cancel all that is open once; an ordinary action
 * leaves, besides, the exits the rest of the window may bring and what others are likely to use; nobody plans to the very last
 * units of weight, because a restarted client has to make one light call blind.
 * Not here: what is used (limit-window.ts), the sizes of the reserve (reserve.ts), others' rate (foreign-usage.ts).
 */
import { createForeignUsage, type ForeignUsage } from "./foreign-usage.ts";
import type { Charge } from "./layers.ts";
import type { Ceiling, LimitWindow } from "./limit-window.ts";
import { exitCost, exitReserve, pacedShare, type ReservePolicy } from "./reserve.ts";
import type { RoundTripTime } from "./round-trip-time.ts";
import type { ServerClock } from "./server-clock.ts";

/** Emergencies may use everything, exits nearly so, ordinary actions leave the reserve. */
export type Rank = "emergency" | "exit" | "ordinary";

export interface Allowances {
  /** Holds for as long as the user's gauge of weight is the same. */
  of(gauge: LimitWindow, charge: Charge, rank: Rank): Ceiling;
  /** The least that `of` can come to at an instant, however much is spent at it; cheaper to tell. */
  floorOf(gauge: LimitWindow, charge: Charge, rank: Rank): Ceiling;
  /** What ordinary actions have to leave of the window that ends at `endAt`. */
  reserved(gauge: LimitWindow, at: number, endAt: number): number;
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

interface AllowancesOptions {
  readonly policy: ReservePolicy;
  readonly clock: ServerClock;
  readonly trips: RoundTripTime;
  readonly startedAt: number;
  /** The gauge of a user's weight, if there is one. */
  readonly weightOf: (uid: string) => LimitWindow | undefined;
}

/** What is known of a user, all layers together. */
interface User {
  openOrders: number;
  heardAt: number | undefined;
  foreign: ForeignUsage | undefined;
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

export const createAllowances = ({ policy, clock, trips, startedAt, weightOf }: AllowancesOptions): Allowances => {
  const users = new Map<string, User>();
  let weightMean = 10;
  let exitRate = 0;
  let lastExitAt = startedAt;
  // One instant is asked about many times over.
  let rateAt = Number.NaN;
  let rate = 0;

  /** Exits per millisecond: rises with each and fades over minutes, never quite to nothing. */
  const exitRateAt = (now: number): number => {
    if (now === rateAt) return rate;
    rateAt = now;
    rate = Math.max(exitRate * Math.exp(-(now - lastExitAt) / exitMemoryMs), exitRateLeast);
    return rate;
  };
  const userOf = (uid: string): User => {
    let user = users.get(uid);
    if (user === undefined) {
      user = { openOrders: 0, heardAt: undefined, foreign: undefined };
      users.set(uid, user);
    }
    return user;
  };
  const silence = ({ heardAt }: User, at: number): number => (heardAt === undefined ? 0 : Math.max(0, at - heardAt));

  const othersMargin = ({ foreign }: User, capacity: number, remMs: number, silentMs: number): number => {
    if (foreign === undefined || remMs <= 0) return 0;
    // Half is never left to others: what is only left free is never measured again, and would be left free for ever.
    return Math.min(capacity / 2, foreign.margin(remMs + silentMs, remMs < endMs ? foreignRiskAtEnd : foreignRisk));
  };

  /** Two engines unaware of each other should meet in the middle: who has had more than half leaves more, who had less leaves less. */
  const yielding = (gauge: LimitWindow, at: number, remMs: number): number => {
    if (remMs < yieldMs) return 1;
    const { used, foreign: others } = gauge.state(at);
    return used - others > gauge.spec.capacity / 2 ? yieldMore : yieldLess;
  };

  /** After a long silence room is left for what was not seen meanwhile; a light call may go without it, because its answer tells. */
  const ordinaryWeight = (
    gauge: LimitWindow,
    user: User,
    weight: number,
    at: number,
    endAt: number,
    startAt: number,
    least: boolean,
  ): number => {
    const { capacity, windowMs } = gauge.spec;
    const remMs = Math.max(0, Math.min(endAt - at, windowMs));
    const wanted = exitReserve(policy, remMs, user.openOrders, exitRateAt(at));
    // What exits live on is the user's minute, which the service tells; a smaller layer beside it is shared by halves.
    const reserve = gauge.spec.header === undefined ? Math.min(wanted, capacity / 2) : wanted;
    const quietMs = silence(user, at);
    const silentMs = weight <= newsWeight || quietMs <= newsMsMax ? 0 : quietMs;
    const others = othersMargin(user, capacity, remMs, silentMs);
    const margin = others === 0 ? 0 : others * (least ? yieldMore : yielding(gauge, at, remMs));
    // Near the limit one call at a time: each answer shows what others did, and a surprise costs one refusal, not several.
    const careful = margin > 0 && (least || gauge.open() > 0) ? carefulUnits : 0;
    const free = capacity - reserve - margin - careful - policy.probeUnits;
    return policy.spending === "paced" && at >= startAt ? Math.min(free, pacedShare(capacity, remMs, windowMs)) : free;
  };

  /** Weight will run out before the key's seconds do, so its kept slots cost nothing and stay free for exits. */
  const weightBinds = (weight: LimitWindow | undefined, at: number, slots: number): boolean => {
    if (weight === undefined) return false;
    const leftMs = weight.windowEndsAt(at) - at;
    // In the last second of the minute slots are what keeps the rest of the weight from being used.
    if (leftMs < lastMs) return false;
    return (weight.spec.capacity - weight.used(at)) / weightMean < (leftMs / 1_000) * slots;
  };

  /** However few there are, ordinary actions get one. */
  const lessSlots = (capacity: number): number => Math.max(1, capacity - policy.keySlots);

  const ordinaryKey = (gauge: LimitWindow, weight: LimitWindow | undefined, at: number, endAt: number): number => {
    const { capacity } = gauge.spec;
    const kept = lessSlots(capacity);
    const width = clock.hi(at) - clock.lo(at);
    if (at < endAt - width - trips.high || weightBinds(weight, at, kept)) return kept;
    // The last slot is sent into the doubtful stretch, where its landing tells most about the boundary.
    return width > clockWidthMs && at < endAt - width / 2 - trips.low / 2 ? capacity - 1 : capacity;
  };

  /** Of ranks above the ordinary: the same whatever the instant and the use. */
  const urgent = (gauge: LimitWindow, rank: Exclude<Rank, "ordinary">): Ceiling => {
    const { capacity, unit } = gauge.spec;
    const most = unit === "weight" ? capacity - policy.probeUnits : capacity;
    if (rank === "emergency" || unit !== "weight") return () => most;
    const user = userOf(gauge.scope);
    // Each exit makes the emergency it leaves room for smaller; more than a quarter is never withheld from exits.
    return () => most - Math.min(exitCost(policy, user.openOrders), capacity / 4);
  };
  const ordinary = (gauge: LimitWindow, charge: Charge, least: boolean): Ceiling => {
    const { capacity, scope, unit } = gauge.spec;
    if (scope === "key") {
      if (least) return () => Math.min(lessSlots(capacity), capacity - 1);
      const weight = charge.uid === undefined ? undefined : weightOf(charge.uid);
      return (endAt, _startAt, at) => ordinaryKey(gauge, weight, at, endAt);
    }
    if (unit !== "weight") return () => lessSlots(capacity);
    const user = userOf(gauge.scope);
    return (endAt, startAt, at) => ordinaryWeight(gauge, user, charge.weight, at, endAt, startAt, least);
  };

  return {
    of: (gauge, charge, rank) => (rank === "ordinary" ? ordinary(gauge, charge, false) : urgent(gauge, rank)),
    floorOf: (gauge, charge, rank) => (rank === "ordinary" ? ordinary(gauge, charge, true) : urgent(gauge, rank)),
    reserved: (gauge, at, endAt) => {
      const { capacity, unit } = gauge.spec;
      return Math.max(
        0,
        unit === "weight"
          ? Math.round(capacity - ordinaryWeight(gauge, userOf(gauge.scope), Number.POSITIVE_INFINITY, at, endAt, at, false))
          : policy.keySlots,
      );
    },
    noteExit: (now) => {
      const keep = Math.exp(-1 / 20);
      exitRate = exitRateAt(now) * keep + (1 - keep) / Math.max(now - lastExitAt, 1_000);
      lastExitAt = now;
      rateAt = Number.NaN;
    },
    noteOpen: (uid, orders) => {
      userOf(uid).openOrders = orders;
    },
    noteUse: (uid, at, fresh) => {
      const user = userOf(uid);
      user.heardAt = at;
      user.foreign ??= createForeignUsage();
      user.foreign.observe(at, fresh);
    },
    noteRefusal: (uid, at) => {
      userOf(uid).foreign?.surprised(at);
    },
    noteWeight: (weight) => {
      weightMean += (weight - weightMean) / 32;
    },
    newsAt: (uid, at, endAt) => {
      const { foreign, heardAt = at } = userOf(uid);
      if (foreign === undefined || foreign.rate === 0) return Number.POSITIVE_INFINITY;
      return heardAt + Math.min(newsMsMax, Math.max(newsMsMin, (endAt - at) / 20));
    },
    forget: () => {
      for (const user of users.values()) user.heardAt = undefined;
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
