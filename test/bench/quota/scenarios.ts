/**
 * The loads and the troubles under which limiters are compared, as a table.
 *
 * Invariants: every limiter meets the same seeds, so the same mix, urgent calls, strangers, sleeps and clock errors.
 */
import type { CallKind } from "./limiter.ts";
import { asDescribed, type ServiceFaults } from "./service-faults.ts";
import type { SharingTroubles } from "./shared-engines.ts";
import type { LegMs } from "./wire.ts";

export interface Share {
  readonly share: number;
  readonly kind: CallKind;
  readonly weight: number;
  /** Calls of this share leave on a key of their own; as many of them go on waiting. */
  readonly key?: string;
}

/** Urgent calls that come together, so many at fixed instants: `atMs` after the start and every `everyMs`. */
export interface Storm {
  readonly size: number;
  readonly atMs: number;
  readonly everyMs: number;
}

export interface Scenario {
  readonly title: string;
  /** The layer that binds; utilisation is given for it. */
  readonly binding: "uid" | "key" | "ip";
  readonly mix: readonly Share[];
  readonly load:
    | { readonly kind: "saturated"; readonly outstanding: number }
    | { readonly kind: "bursts"; readonly size: number; readonly everyMs: number };
  readonly urgentPerMinute: number;
  /** Urgent calls come in groups of so many. */
  readonly urgentAtOnce: number;
  readonly storm?: Storm;
  /** Orders at rest that the limiter is told of. */
  readonly openOrders?: number;
  /** Bursts of calls besides the load. */
  readonly bursts?: { readonly mix: readonly Share[]; readonly size: number; readonly everyMs: number };
  readonly legMs: LegMs;
  /** Calls of weight 10 by a program nobody told us of, on the same user. */
  readonly strangerPerMinute: number;
  /** Another client of the user spends so much at once, by calls of weight 10, every so often on average. */
  readonly strangerBurst?: { readonly weight: number; readonly everyMs: number };
  /** Requests of another user from the same address. */
  readonly neighbourPerMinute: number;
  /** Other users of the address send so many requests at once, every so often on average. */
  readonly neighbourBurst?: { readonly requests: number; readonly everyMs: number };
  readonly restartEveryMs: number;
  readonly dateOffMsMax: number;
  /** Engines whose answers come by an edge of their own, and how far that stamps `Date` off. */
  readonly dateOffMsOf?: Readonly<Record<string, number>>;
  /** Engines whose process stands still, from and to in milliseconds after the start: their machine's clock runs on. */
  readonly stopsOf?: Readonly<Record<string, readonly (readonly [number, number])[]>>;
  readonly skewMsMax: number;
  /** Of the client's steady clock; within 50 either way when left out. */
  readonly driftPpm?: number;
  /** A time daemon turns the steady clock forth and back by so much; 0 for none. */
  readonly slewPpm: number;
  /** Sleeps of 1 s to 10 min and steps of the calendar by an hour, one of them every four minutes on average. */
  readonly upsets: boolean;
  readonly engines: number;
  /** Each engine has a user of its own; they share an address. */
  readonly userEach: boolean;
  /** Users of each engine, with a key each. */
  readonly users: number;
  /** What another engine of ours on the same user does. */
  readonly beside?: Pick<Scenario, "mix" | "load"> & { readonly many?: number };
  readonly faults: ServiceFaults;
  /** The engines are one group that divides its quota, and this befalls it. */
  readonly sharing?: SharingTroubles;
}

const trading: readonly Share[] = [
  { share: 0.55, kind: "place", weight: 10 },
  { share: 0.15, kind: "cancel", weight: 15 },
  { share: 0.15, kind: "query", weight: 2 },
  { share: 0.15, kind: "positions", weight: 5 },
];

export const weightBound: Scenario = {
  title: "bound by weight: 50 trading calls always waiting",
  binding: "uid",
  mix: trading,
  load: { kind: "saturated", outstanding: 50 },
  urgentPerMinute: 6,
  urgentAtOnce: 1,
  legMs: { kind: "usual" },
  strangerPerMinute: 0,
  neighbourPerMinute: 0,
  restartEveryMs: 0,
  dateOffMsMax: 0,
  skewMsMax: 300,
  slewPpm: 0,
  upsets: false,
  engines: 1,
  userEach: false,
  users: 1,
  faults: asDescribed,
};

export const keyBound: Scenario = {
  ...weightBound,
  title: "bound by the key: 50 queries of weight 1 always waiting",
  binding: "key",
  mix: [{ share: 1, kind: "query", weight: 1 }],
  urgentPerMinute: 3,
};

const sweepOf = (jitterMs: number): Scenario => ({
  ...keyBound,
  title: `B with every leg uniform in 5..${5 + jitterMs} ms`,
  legMs: { kind: "uniform", from: 5, to: 5 + jitterMs },
});

/** The loads of the comparison. */
export const comparison: Readonly<Record<string, Scenario>> = {
  A: weightBound,
  B: keyBound,
  C: {
    ...weightBound,
    title: "A and a stranger on the same user, 24 calls of weight 10 a minute",
    strangerPerMinute: 24,
  },
  D: { ...weightBound, title: "A and a restart of the client every 95 s", restartEveryMs: 95_000 },
  E: { ...keyBound, title: "B and one leg in a hundred 0.2 to 2 s late", legMs: { kind: "tails" } },
  F: {
    ...weightBound,
    title: "light: 30 placements at once every 20 s",
    mix: [{ share: 1, kind: "place", weight: 10 }],
    load: { kind: "bursts", size: 30, everyMs: 20_000 },
  },
  G: { ...weightBound, title: "A and one leg in a hundred 0.2 to 2 s late", legMs: { kind: "tails" } },
  J: { ...keyBound, title: "B and Date stamped up to 120 ms off the limiting clock", dateOffMsMax: 120 },
  K: {
    ...weightBound,
    title: "A and sleeps, calendar steps of an hour, a calendar up to 120 s wrong",
    skewMsMax: 120_000,
    upsets: true,
  },
  L: {
    ...weightBound,
    title: "A twice: two engines on one user, each with its own key, unaware of each other",
    engines: 2,
  },
  S55: sweepOf(55),
  S250: sweepOf(250),
  S500: sweepOf(500),
  S900: sweepOf(900),
  S1500: sweepOf(1500),
};
