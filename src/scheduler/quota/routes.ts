/**
 * Route of a charge: the windows that it touches, looked up once, and the tickets of its calls.
 *
 * Invariants: a route is valid until a window or a probe state is replaced; a ticket does not change while one of its
 * calls is under way, so that equal calls that leave together share one: a burst would otherwise hold thousands of
 * equal tickets. The parts of a ticket are reused when all its calls have ended.
 * Needed by: a refusal of single calls in empty windows by `later-minutes`.
 */
import { type Allowances, nameOf } from "./allowance.ts";
import type { CountLag } from "./count-lag.ts";
import type { Division } from "./division.ts";
import { FixedWindow } from "./fixed-window.ts";
import { LatestDoubt } from "./floor.ts";
import { type Charge, isLong, type LayerSpec, touchedBy, unitsOf } from "./layers.ts";
import type { Ceiling, LimitWindow, WindowTicket } from "./limit-window.ts";
import type { LimiterParts, WindowOptions } from "./parts.ts";
import { ProbeState } from "./probe-state.ts";
import type { Rank } from "./reserve.ts";
import { RollingWindow } from "./rolling-window.ts";
import type { ServerClock } from "./server-clock.ts";

/** One window of a route for one rank, and the units it may still be charged with at one instant. */
export interface Measure {
  readonly gauge: LimitWindow;
  readonly ceiling: Ceiling;
  readonly floor: Ceiling;
  /** True if it is the same for all windows. */
  readonly isFlat: boolean;
  /** Instant for which the survey is valid, as long as the only events of the ledger are calls that leave. */
  at: number;
  epoch: number;
  /** Highest allowed value of `begun`. */
  most: number;
}

export interface Route {
  readonly windows: readonly LimitWindow[];
  /** Names under which the knowledge of each window's client is kept. */
  readonly names: readonly string[];
  /** One list a rank, one entry a window. */
  readonly measures: Readonly<Record<Rank, readonly Measure[]>>;
  readonly standing: ProbeState;
  /** Units of the smallest call of the route in each window. */
  readonly units: readonly number[];
  /** Ticket of the last call on it, and the epoch of that call. */
  last: Ticket | undefined;
  lastEpoch: number;
  /** Parts of tickets whose calls have all ended. */
  readonly spare: WindowTicket[][];
}

/** Charge of one call, or of several equal ones. It is also permission to send, and does not expire. */
export interface Ticket {
  readonly granted: true;
  readonly charge: Charge;
  readonly expiresAt: number;
  /** Number of elements that were charged, and the maximum that the call may carry. */
  readonly elements: number;
  readonly sentAt: number;
  readonly route: Route;
  /** Parts, one for each window of the route. */
  readonly parts: WindowTicket[];
  readonly probe: boolean;
  /** Number of calls that have not ended. */
  calls: number;
}

/** Makes a ticket for a call that leaves now. Its parts have to be written. */
export const ticketOf = (route: Route, charge: Charge, now: number, elements: number, probe: boolean): Ticket => {
  const parts = route.spare.pop() ?? [];
  return {
    granted: true,
    charge,
    expiresAt: Number.POSITIVE_INFINITY,
    elements,
    sentAt: now,
    route,
    parts,
    probe,
    calls: 1,
  };
};

const halfFull = 0.5;
const nearlyFull = 0.7;

interface RoutesOptions {
  readonly layers: readonly LayerSpec[];
  /** Windows by layer and scope. */
  readonly windows: Map<string, LimitWindow>;
  readonly clock: ServerClock;
  readonly driftPpm: number;
  readonly allowances: Allowances;
  readonly windowOptions: WindowOptions & { readonly parts: LimiterParts };
  /** Instant before which nothing leaves. */
  readonly quietUntil: number;
}

export class Routes {
  /** True if the service sends no date: its windows are assumed to begin anywhere. */
  dateless = false;
  /** Set if several engines divide the quota. */
  division: Division | undefined;
  /** All windows, in the order in which they were made. */
  readonly gauges: LimitWindow[] = [];
  readonly #options: RoutesOptions;
  readonly #lag: CountLag;
  readonly #doubt = new LatestDoubt();
  readonly #standings = new Map<string, ProbeState>();
  #known = new WeakMap<Charge, Route>();
  #quietUntil: number;
  #exitsFrom = Number.NEGATIVE_INFINITY;

  constructor(options: RoutesOptions) {
    this.#options = options;
    this.#lag = options.windowOptions.parts.lag();
    this.#quietUntil = options.quietUntil;
  }

  of(charge: Charge): Route {
    return this.#known.get(charge) ?? this.#open(charge);
  }

  withoutDates(): void {
    this.dateless = true;
    this.#options.windows.clear();
    this.gauges.length = 0;
    this.#known = new WeakMap();
  }

  /**
   * Drops what was learned of windows. Every user probes again; exits leave at once if there was room for one.
   */
  disturb(now: number, quietUntil: number): void {
    this.#quietUntil = quietUntil;
    this.#exitsFrom = this.#hasRoomForExit(now) ? now : quietUntil;
    for (const gauge of this.gauges) gauge.reset();
    this.#standings.clear();
    this.#known = new WeakMap();
  }

  #hasRoomForExit(now: number): boolean {
    const { exitWeight } = this.#options.allowances.policy;
    for (const standing of this.#standings.values()) if (standing.isShut(now)) return false;
    for (const gauge of this.gauges)
      if (gauge.used(now) + (gauge.spec.unit === "weight" ? exitWeight : 1) > gauge.capacity) return false;
    return true;
  }

  #open(charge: Charge): Route {
    const { layers, allowances } = this.#options;
    const windows = touchedBy(layers, charge).map(({ spec, scope }) => this.#windowOf(spec, scope));
    const of = (rank: Rank): Measure[] =>
      windows.map((gauge) => ({
        gauge,
        ceiling: allowances.of(gauge, charge, rank),
        floor: allowances.floorOf(gauge, charge, rank),
        isFlat: allowances.isFlat(gauge),
        at: Number.NaN,
        epoch: 0,
        most: Number.NaN,
      }));
    const measures = { emergency: of("emergency"), exit: of("exit"), ordinary: of("ordinary") };
    const standing = this.#standingOf(charge);
    const names = windows.map(nameOf);
    const route: Route = {
      windows,
      names,
      measures,
      standing,
      units: windows.map(({ spec }) => unitsOf(spec, charge, charge.elements)),
      last: undefined,
      lastEpoch: 0,
      spare: [],
    };
    this.#known.set(charge, route);
    return route;
  }

  #windowOf(spec: LayerSpec, scope: string): LimitWindow {
    const { windows, clock, driftPpm } = this.#options;
    const name = `${spec.name}:${scope}`;
    let gauge = windows.get(name);
    if (gauge === undefined) {
      const isFixed = spec.anchor === "wall_clock" && (spec.header !== undefined || !this.dateless);
      gauge = isFixed
        ? new FixedWindow(spec, scope, clock, this.#lag, { ...this.#options.windowOptions, doubt: this.#doubt })
        : new RollingWindow(spec, scope, driftPpm, clock);
      windows.set(name, gauge);
      this.gauges.push(gauge);
      this.division?.adopt(gauge);
    }
    return gauge;
  }

  #standingOf({ uid, ip }: Charge): ProbeState {
    const name = uid ?? `ip:${ip}`;
    let standing = this.#standings.get(name);
    if (standing === undefined) {
      standing = new ProbeState(this.#quietUntil, this.#exitsFrom);
      this.#standings.set(name, standing);
    }
    return standing;
  }
}

/**
 * Called when the service refused a call without naming the layer. The key's shortest windows are suspected first; the
 * user's minute is suspected when it is near its limit, at a start, or when another refusal follows. A layer falls to
 * its floor if nothing explains its refusals. Then shuts the suspected windows and returns the instant until which the
 * longest is shut.
 */
export const strike = (
  { parts, route: { windows }, sentAt, probe }: Ticket,
  standing: ProbeState,
  allowances: Pick<Allowances, "noteRefusal">,
  now: number,
): number => {
  const fresh = standing.strike(sentAt, now);
  if (fresh) for (const gauge of windows) allowances.noteRefusal(nameOf(gauge), now);
  const isRepeated = standing.strikes > 1;
  const refusal = { fresh, isRepeated, sole: soleSuspect(windows, parts, sentAt, now), sentAt, now };
  const findings = windows.map((gauge, index) => findingOf(gauge, parts[index] as WindowTicket, refusal));

  // A window of which little was spent within its length is the last one to be suspected.
  const mayRefuse = (gauge: LimitWindow, share = halfFull): boolean =>
    standing.strikes > 2 || latelyOf(gauge, now) >= share || now - standing.toldAt < gauge.spec.windowMs;
  const isShortest = shortestOfKey(windows);
  const isBusyKey = (gauge: LimitWindow, index: number): boolean =>
    isShortest(gauge) && mostAround(gauge, parts[index] as WindowTicket, sentAt, now) >= halfFull;
  const isLate = findings.some(({ isLateSecond }) => isLateSecond);
  if (fresh && !findings.some(({ isExplained }) => isExplained))
    for (const [index, gauge] of windows.entries()) {
      // The call that left alone entered another second, so only of the longer windows it is the second refusal.
      if (!isShortest(gauge) && isRepeated && !isLate && mayRefuse(gauge))
        gauge.noteUnexplained(sentAt, now, "repeated");
      else if (isBusyKey(gauge, index)) {
        const { first, units } = parts[index] as WindowTicket;
        const isEntering = gauge instanceof FixedWindow && gauge.ownOf(first).settled <= units;
        gauge.noteUnexplained(sentAt, now, isEntering ? "entering" : "single");
      }
    }

  // Where a long window is on the floor, its schedule decides when to try again.
  const mayBeAny = (isRepeated || probe) && windows.every((gauge) => gauge.mode !== "floor" || isShortest(gauge));
  const isKeyBusy = windows.some(isBusyKey);
  // On the floor, a window is suspected of a single refusal if it is nearly full and the key's second is not half full.
  const isSuspect = (gauge: LimitWindow, index: number): boolean =>
    gauge.mode === "floor"
      ? isRepeated || (!isKeyBusy && mayRefuse(gauge, nearlyFull))
      : findings[index]?.isSuspect === true || (mayBeAny && mayRefuse(gauge));
  const suspects = windows.filter((gauge, index) => isShortest(gauge) || isSuspect(gauge, index));
  return Math.max(now, ...suspects.map((gauge) => gauge.shut(now)));
};

/** Returns whether a window is one of the shortest that a key has. */
const shortestOfKey = (windows: readonly LimitWindow[]): ((gauge: LimitWindow) => boolean) => {
  const lengthOf = ({ spec }: LimitWindow): number => (spec.scope === "key" ? spec.windowMs : Number.POSITIVE_INFINITY);
  const shortestMs = Math.min(...windows.map(lengthOf));
  return (gauge) => gauge.spec.scope === "key" && gauge.spec.windowMs === shortestMs;
};

interface RefusedCall {
  /** True if a new episode of refusals begins. */
  readonly fresh: boolean;
  /** True if the call after the last refusal was refused as well. */
  readonly isRepeated: boolean;
  readonly sole: LimitWindow | undefined;
  readonly sentAt: number;
  readonly now: number;
}

/**
 * Finds whether a window may have refused a call, and whether its state explains the refusal. A second that begins late
 * explains it for the other windows alone: seconds begin too often to refuse a burst each time.
 */
const findingOf = (
  gauge: LimitWindow,
  part: WindowTicket,
  { fresh, isRepeated, sole, sentAt, now }: RefusedCall,
): { readonly isSuspect: boolean; readonly isExplained: boolean; readonly isLateSecond: boolean } => {
  const isFull = gauge.used(now) >= gauge.capacity * 0.97;
  const isNear = isFull || gauge.isRisky(part.units, now);
  // A single refusal may come from any machine on the way. The limit has changed if the call that leaves alone after it
  // is refused, too.
  const isConfirmed = isRepeated || gauge.capacity < gauge.spec.capacity;
  const hasMoved = isConfirmed && (isNear || gauge === sole) && gauge.learnRefusal(sentAt, now);
  const isLate = fresh && gauge.learnLate(part, sentAt);
  const isLongLate = isLate && isLong(gauge.spec.windowMs);
  return {
    isSuspect: isNear || hasMoved,
    isExplained: hasMoved || isLongLate || isOthersDoing(gauge, isFull, now),
    isLateSecond: isLate && !isLongLate,
  };
};

/** Returns true if use by others explains a refusal. A key has no other users. */
const isOthersDoing = (gauge: LimitWindow, isFull: boolean, now: number): boolean => {
  if (gauge.spec.scope === "key") return false;
  const isShared = gauge.foreign(now) > 0 || gauge.missing > 0;
  return isFull || (isShared && gauge.used(now) >= gauge.capacity * nearlyFull);
};

/**
 * Use of the windows that may have refused a call, as parts of the capacity. Near the end of a window this may be that
 * window or the next.
 */
const mostOf = (gauge: LimitWindow, { first }: WindowTicket, sentAt: number, now: number): number =>
  Math.max(gauge.used(sentAt), gauge.used(now), gauge instanceof FixedWindow ? gauge.usedIn(first) : 0) /
  gauge.capacity;

/** Units that count, or that were spent within a window's length if these are more, as a part of the capacity. */
const latelyOf = (gauge: LimitWindow, now: number): number =>
  Math.max(gauge.used(now), gauge instanceof FixedWindow ? gauge.floor.spending.landed(now) : 0) / gauge.capacity;

/** Same, with the window before: one that is entered may not have begun. */
const mostAround = (gauge: LimitWindow, part: WindowTicket, sentAt: number, now: number): number =>
  Math.max(
    mostOf(gauge, part, sentAt, now),
    gauge instanceof FixedWindow ? gauge.usedIn(part.first - 1) / gauge.capacity : 0,
  );

/**
 * The layer that must have refused, because each other one is not half full and would have reported a change of its
 * limit. One that is on its floor may have refused at any use.
 */
const soleSuspect = (
  windows: readonly LimitWindow[],
  parts: readonly WindowTicket[],
  sentAt: number,
  now: number,
): LimitWindow | undefined => {
  const isFree = (gauge: LimitWindow, part: WindowTicket): boolean =>
    gauge.mode === "measured" &&
    gauge.spec.header?.kind === "remaining" &&
    mostOf(gauge, part, sentAt, now) <= halfFull;
  const suspects = windows.filter((gauge, index) => !isFree(gauge, parts[index] as WindowTicket));
  return suspects.length === 1 ? suspects[0] : undefined;
};

/** Counts a lost call in the windows in which it may have landed by `now`. */
export const loseCall = (ticket: Ticket, now: number): void => {
  for (const [index, gauge] of ticket.route.windows.entries()) gauge.lose(ticket.parts[index] as WindowTicket, now);
  endCall(ticket);
};

/** Takes back a call that never left. */
export const undoCall = (ticket: Ticket): void => {
  for (const [index, gauge] of ticket.route.windows.entries()) gauge.undo(ticket.parts[index] as WindowTicket);
  endCall(ticket);
};

const endCall = (ticket: Ticket): void => {
  if (--ticket.calls === 0) ticket.route.spare.push(ticket.parts);
};

interface HeldPart {
  readonly gauge: LimitWindow;
  readonly part: WindowTicket;
  readonly until: number;
}

/**
 * Requests of an address without readable answers, from before the service's time was known. A window of the calendar
 * has no number then. So they count in the current window until it has a number, and at most for its length. A window
 * that begins anywhere needs no number.
 */
export class UnplacedCalls {
  /** Number of parts of calls that wait. */
  count = 0;
  #held: HeldPart[] = [];

  keep({ route, parts }: Ticket, now: number): void {
    for (const [index, gauge] of route.windows.entries()) {
      const part = parts[index] as WindowTicket;
      if (gauge instanceof FixedWindow) this.#held.push({ gauge, part, until: now + gauge.spec.windowMs });
      else gauge.lose(part, now);
    }
    this.count = this.#held.length;
  }

  /** Places the calls whose window has certainly passed, or all of them if windows have numbers now. */
  place(now: number, isNumbered: boolean): void {
    const rest: HeldPart[] = [];
    for (const one of this.#held) {
      if (isNumbered || one.until <= now) one.gauge.lose(one.part, now);
      else rest.push(one);
    }
    this.#held = rest;
    this.count = rest.length;
  }
}
