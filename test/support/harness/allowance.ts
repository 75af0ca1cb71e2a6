/** Ceilings beside gauges that say what they are told to, and numbers small enough to work out by hand. */
import { Allowances } from "../../../src/scheduler/quota/allowance.ts";
import type { Charge, LayerSpec } from "../../../src/scheduler/quota/layers.ts";
import type { LimitWindow } from "../../../src/scheduler/quota/limit-window.ts";
import type { ReservePolicy } from "../../../src/scheduler/quota/reserve.ts";

export const startedAt = 1_000_000;
/** One exit in fifteen seconds is expected even where none was asked for. */
const policy: ReservePolicy = {
  exitWeight: 10,
  ordersPerExit: 5,
  elementWeight: 0,
  keySlots: 2,
  lendMs: 400,
  confidence: 0,
  probeUnits: 3,
  spending: "burst",
};
export const minute: LayerSpec = {
  name: "uid",
  scope: "uid",
  unit: "weight",
  capacity: 1_200,
  windowMs: 60_000,
  anchor: "wall_clock",
  banMs: 0,
  header: { name: "used", kind: "used" },
};
export const second: LayerSpec = {
  ...minute,
  name: "key",
  scope: "key",
  unit: "requests",
  capacity: 10,
  windowMs: 1_000,
};
export const charge: Charge = { endpoint: "getOrder", weight: 10, elements: 1, ip: "home", uid: "u", key: "k" };

export interface Use {
  readonly used?: number;
  readonly foreign?: number;
  readonly open?: number;
  readonly endsAt?: number;
  readonly scope?: string;
  readonly width?: number;
  readonly paced?: number;
  readonly lags?: boolean;
  readonly unsteady?: boolean;
  readonly missing?: number;
}

/** A gauge that says what it is told to. */
export const gaugeOf = (
  spec: LayerSpec,
  {
    used = 0,
    foreign = 0,
    open = 0,
    endsAt = 0,
    scope = "u",
    width = 0,
    paced = Number.POSITIVE_INFINITY,
    lags = false,
    unsteady = false,
    missing = 0,
  }: Use = {},
): LimitWindow => {
  const none = (): never => {
    throw new Error("Ceilings only look.");
  };
  return {
    spec,
    scope,
    capacity: spec.capacity,
    blockedUntil: none,
    room: none,
    begun: 0,
    begin: none,
    again: none,
    end: none,
    lose: none,
    undo: none,
    learnRefusal: none,
    learnLate: none,
    restate: none,
    changesAt: Number.POSITIVE_INFINITY,
    limitBetween: none,
    shut: none,
    reset: none,
    used: () => used,
    open,
    foreign: () => foreign,
    widthMs: () => width,
    paced: () => paced,
    flows: false,
    mode: "measured",
    noteUnexplained: () => undefined,
    isRisky: () => false,
    ambiguous: false,
    lags,
    unsteady,
    missing,
    windowEndsAt: () => endsAt,
  };
};

export interface Scene {
  readonly policy?: Partial<ReservePolicy>;
  /** Bounds of the offset between the service's clock and ours, for gauges to be as wide as. */
  readonly lo?: number;
  readonly hi?: number;
  readonly low?: number;
  readonly high?: number;
  readonly weight?: LimitWindow | undefined;
}

export const stage = ({ policy: given = {}, low = 10, high = 40, weight }: Scene = {}): Allowances => {
  const trips = { low, high, observe: () => undefined };
  const weightOf = (uid: string): LimitWindow | undefined => (uid === "u" ? weight : undefined);
  return new Allowances({ policy: { ...policy, ...given }, trips, startedAt, weightOf });
};

/** What an ordinary call may use with `remMs` of the window to go, of which `intoMs` have passed. */
export const ordinary = (
  allowances: Allowances,
  remMs: number,
  gauge = gaugeOf(minute),
  at = startedAt,
  intoMs = 60_000 - remMs,
  what = charge,
): number => allowances.of(gauge, what, "ordinary")(at + remMs, at - intoMs, at);
