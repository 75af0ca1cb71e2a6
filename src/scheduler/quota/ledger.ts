/**
 * What has been spent in every window of every layer, and whether one more call may leave.
 *
 * Invariants: a call is granted on all its layers or on none; whatever the latency, no window's granted calls exceed its
 * capacity; a refusal by the service shuts its layer at once and lets one call probe the next window; after a start or a
 * disturbed clock nothing but one light call leaves until the service has told the use of the current window.
 * Not here: waiting (scheduler/), the service's own opinion (headers.ts), the numbers (contract/limits.ts).
 */
import type { EndpointName } from "../../contract/endpoints.ts";
import { createAllowances, type Rank } from "./allowance.ts";
import { createChargeCache, type Measure, type Room, type Route, type Ticket } from "./charge-cache.ts";
import { dateOf, holdMsOf, usedOf, withArrivingName } from "./headers.ts";
import { type Charge, extraOf, type LayerSpec, touchedBy, unitsOf } from "./layers.ts";
import { fixedWindow, type LimitWindow, rollingWindow, type WindowTicket } from "./limit-window.ts";
import { createProbeState, type ProbeState } from "./probe-state.ts";
import { type LayerState, layerStates } from "./quota-state.ts";
import { defaultReserve, type ReservePolicy } from "./reserve.ts";
import { type RetryAt, retryAtOf } from "./retry-at.ts";
import { createRoundTripTime } from "./round-trip-time.ts";
import { createServerClock, driftPpmMost, type ServerClock, type ServerClockOptions } from "./server-clock.ts";
import { createWeights } from "./weights.ts";

export type { LayerState, Rank, RetryAt as Refusal, Ticket };

type Verdict = { readonly granted: true; readonly elements: number } | RetryAt;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Ledger {
  /** `offered` is how many elements a batch could carry; it is granted with as many of them as there is room for. */
  ask(charge: Charge, rank: Rank, now: number, offered?: number): Verdict;
  spend(charge: Charge, now: number, elements?: number): Ticket;
  /** An answer was read. Returns the instant until which a layer is shut, when the service refused or asked to be left alone. */
  settle(ticket: Ticket, answer: Answer, receivedAt: number): number | undefined;
  /** No answer was read. */
  lose(ticket: Ticket, now: number): void;
  /** The call never left: as if it had not been granted. */
  release(ticket: Ticket): void;
  /** An exit was submitted: keeps the forecast of urgent demand. */
  noteExit(now: number): void;
  /** So many orders rest at the service; the reserve can cancel them all. */
  noteOpen(uid: string, orders: number): void;
  /** Our clock stepped or stood still: what was learned of the service's windows no longer holds. */
  disturb(now: number): void;
  /** True while only one light call may leave to learn where the quota stands. */
  probing(charge: Charge): boolean;
  /** Rises whenever anybody may have begun or ended to probe. */
  readonly turns: number;
  state(now: number): readonly LayerState[];
  readonly clock: ServerClock;
  /** Weights learned from the service's own count, by endpoint. */
  readonly learned: ReadonlyMap<EndpointName, number>;
}

export interface LedgerOptions {
  readonly layers: readonly LayerSpec[];
  readonly reserve?: Partial<ReservePolicy>;
  readonly clock?: ServerClockOptions;
  /** Nothing leaves for so long after a start: calls of an earlier life may still be landing. */
  readonly quietMs?: number;
  readonly startedAt: number;
}

const single: Verdict = { granted: true, elements: 1 };
const limited = 429;
/** Answers that a machine in front of the service may have given by itself: by their status, or failures that do not tell the time. */
const isSilent = ({ status, headers }: Answer): boolean =>
  status >= 500 || status === 408 || (status >= 400 && status !== limited && dateOf(headers) === undefined);

export const createLedger = (options: LedgerOptions): Ledger => {
  const layers = options.layers.map(withArrivingName);
  const policy: ReservePolicy = { ...defaultReserve, ...options.reserve };
  const quietMs = options.quietMs ?? 1_050;
  const clock = createServerClock(options.clock);
  const { driftPpm = driftPpmMost } = options.clock ?? {};
  const windows = new Map<string, LimitWindow>();
  const standings = new Map<string, ProbeState>();
  const trips = createRoundTripTime();
  const weights = createWeights();
  const allowances = createAllowances({ policy, clock, trips, startedAt: options.startedAt, weightOf: (uid) => windows.get(`uid:${uid}`) });
  let dateless = false;
  let turns = 0;
  /** Rises with everything that happens to the ledger, but for calls that leave. */
  let epoch = 0;
  let disturbedAt = options.startedAt;

  const gaugeOf = (spec: LayerSpec, scope: string): LimitWindow => {
    const name = `${spec.name}:${scope}`;
    let gauge = windows.get(name);
    if (gauge === undefined) {
      gauge = spec.anchor === "wall_clock" && !dateless ? fixedWindow(spec, scope, clock) : rollingWindow(spec, scope, driftPpm);
      windows.set(name, gauge);
    }
    return gauge;
  };
  const openRoute = (charge: Charge): Route => {
    const touched = touchedBy(layers, charge).map(({ spec, scope }) => gaugeOf(spec, scope));
    const of = (rank: Rank): Measure[] =>
      touched.map((gauge) => ({
        gauge,
        ceiling: allowances.of(gauge, charge, rank),
        floor: allowances.floorOf(gauge, charge, rank),
        room: { at: Number.NaN, epoch: 0, most: Number.NaN, units: 0 },
      }));
    return {
      windows: touched,
      measures: { emergency: of("emergency"), exit: of("exit"), ordinary: of("ordinary") },
      standing: standingOf(charge),
      last: undefined,
      lastEpoch: epoch,
    };
  };
  const routes = createChargeCache(openRoute);
  const unitsIn = (gauge: LimitWindow, charge: Charge, elements: number): number =>
    unitsOf(gauge.spec, charge, weights.charged(charge.endpoint, charge.weight), elements);
  /** What surely fits now. What does not, has to be looked at more closely. */
  const surveyed = ({ gauge, floor, room }: Measure, charge: Charge, now: number): Room => {
    if (room.at === now && room.epoch === epoch) return room;
    room.at = now;
    room.epoch = epoch;
    room.most = gauge.begun() + gauge.room(now, floor);
    room.units = unitsIn(gauge, charge, charge.elements);
    return room;
  };
  const begin = (route: Route, charge: Charge, now: number, probe: boolean, elements: number): Ticket => {
    if (charge.uid !== undefined) weights.noteSent(charge.uid);
    const { windows: touched, last } = route;
    if (last !== undefined && route.lastEpoch === epoch && last.sentAt === now && last.elements === elements && last.probe === probe) {
      for (let index = 0; index < touched.length; index++) (touched[index] as LimitWindow).again(last.parts[index] as WindowTicket);
      return last;
    }
    const parts = touched.map((gauge) => gauge.begin(unitsIn(gauge, charge, elements), now));
    route.last = { granted: true, charge, expiresAt: Number.POSITIVE_INFINITY, elements, sentAt: now, route, parts, probe };
    route.lastEpoch = epoch;
    return route.last;
  };
  const standingOf = (charge: Charge): ProbeState => {
    const name = charge.uid ?? `ip:${charge.ip}`;
    let standing = standings.get(name);
    if (standing === undefined) {
      standing = createProbeState(disturbedAt + quietMs);
      standings.set(name, standing);
    }
    return standing;
  };
  const probeBack = (ticket: Ticket): void => {
    if (ticket.probe) ticket.route.standing.back();
  };

  return {
    clock,
    learned: weights.learned,
    ask: (charge, rank, now, offered = charge.elements) => {
      const route = routes.of(charge);
      const early = route.standing.blockedUntil(now);
      if (early !== undefined) return { granted: false, layer: "start", until: early, why: "start", lighterThan: 0 };
      let elements = offered;
      for (const measure of route.measures[rank]) {
        const { gauge, ceiling } = measure;
        const units = surveyed(measure, charge, now).units;
        const until = gauge.begun() + units <= measure.room.most ? undefined : gauge.blockedUntil(units, now, ceiling);
        if (until === undefined) {
          // There is room for one; as many of the others go along as fit.
          while (elements > charge.elements && gauge.blockedUntil(unitsIn(gauge, charge, elements), now, ceiling) !== undefined) elements--;
          continue;
        }
        if (rank === "ordinary") return retryAtOf(gauge, charge, units, ceiling, allowances, now, until);
        return { granted: false, layer: gauge.spec.name, until, why: "used", lighterThan: charge.weight };
      }
      return elements === 1 ? single : { granted: true, elements };
    },
    spend: (charge, now, elements = charge.elements) => {
      if (charge.uid !== undefined) allowances.noteWeight(charge.weight + extraOf(charge, elements));
      const route = routes.of(charge);
      return begin(route, charge, now, route.standing.leave(), elements);
    },
    settle,
    lose,
    release: (ticket) => {
      epoch++;
      ticket.route.windows.forEach((gauge, index) => {
        gauge.undo(ticket.parts[index] as WindowTicket);
      });
      probeBack(ticket);
    },
    noteExit: (now) => {
      epoch++;
      allowances.noteExit(now);
    },
    noteOpen: (uid, orders) => {
      epoch++;
      allowances.noteOpen(uid, orders);
    },
    disturb: (now) => {
      turns++;
      clock.forget();
      disturbedAt = now;
      for (const gauge of windows.values()) gauge.reset();
      standings.clear();
      routes.forget();
      allowances.forget();
    },
    probing: (charge) => !routes.of(charge).standing.warm,
    get turns() {
      return turns;
    },
    state: (now) => layerStates(windows.values(), allowances, now),
  };

  function settle(ticket: Ticket, answer: Answer, receivedAt: number): number | undefined {
    epoch++;
    // It left before the clock was disturbed: its instants cannot be compared, so it tells nothing and warms nobody.
    if (ticket.sentAt < disturbedAt) {
      lose(ticket, receivedAt);
      return undefined;
    }
    const { standing, windows: touched } = ticket.route;
    const holdMs = holdMsOf(answer.status, answer.headers);
    // A page of something in between says nothing of the quota, nor that the service counted the call.
    if (isSilent(answer) && touched.every(({ spec }) => usedOf(spec, answer.headers) === undefined)) {
      lose(ticket, receivedAt);
      return holdMs === undefined ? undefined : hold(standing, receivedAt + holdMs);
    }
    const dateMs = dateOf(answer.headers);
    if (dateMs !== undefined) clock.observeDate(ticket.sentAt, receivedAt, dateMs);
    else if (!clock.known && !dateless) {
      dateless = true;
      windows.clear();
      routes.forget();
      const { charge, sentAt, probe, elements } = ticket;
      return settle(begin(routes.of(charge), charge, sentAt, probe, elements), answer, receivedAt);
    }
    trips.observe(receivedAt - ticket.sentAt);
    let told = false;
    for (let index = 0; index < touched.length; index++) {
      const gauge = touched[index] as LimitWindow;
      const used = usedOf(gauge.spec, answer.headers);
      const fresh = gauge.end(ticket.parts[index] as WindowTicket, ticket.sentAt, receivedAt, used, answer.status < 400);
      if (used === undefined) continue;
      if (gauge.spec.scope === "uid") {
        told = true;
        allowances.noteUse(gauge.scope, receivedAt, ticket.probe ? 0 : fresh);
        const window = Math.round(gauge.windowEndsAt(receivedAt) / gauge.spec.windowMs);
        const { charge, elements } = ticket;
        weights.noteUsed(gauge.scope, charge.endpoint, used, window, gauge.open() === 0, extraOf(charge, elements));
      }
    }
    probeBack(ticket);
    if (answer.status === limited) return hold(standing, Math.max(strike(ticket, standing, receivedAt), receivedAt + (holdMs ?? 0)));
    if (holdMs !== undefined) return hold(standing, receivedAt + holdMs);
    standing.succeed();
    // An answer that may be of two minutes does not tell where the current one stands.
    if (!standing.warm && !(told && clock.known && minutesPossible(ticket, receivedAt) > 1)) {
      standing.settle();
      turns++;
    }
    return undefined;
  }

  function lose(ticket: Ticket, now: number): void {
    epoch++;
    ticket.route.windows.forEach((gauge, index) => {
      gauge.lose(ticket.parts[index] as WindowTicket, now);
    });
    probeBack(ticket);
  }

  function minutesPossible(ticket: Ticket, receivedAt: number): number {
    // Layers the service does not tell the use of have no part in it.
    const windowMs = Math.max(...ticket.route.windows.map(({ spec }) => (spec.header === undefined ? 0 : spec.windowMs)));
    const first = Math.floor((ticket.sentAt + clock.lo(receivedAt)) / windowMs);
    return Math.floor((receivedAt + clock.hi(receivedAt)) / windowMs) - first + 1;
  }

  /** Which layer refused is not said: the key's second first; the user's minute when near it, starting, or struck again. */
  function strike(ticket: Ticket, standing: ProbeState, now: number): number {
    const { charge } = ticket;
    if (standing.strike(ticket.sentAt, now) && charge.uid !== undefined) allowances.noteRefusal(charge.uid, now);
    let until = now;
    const shortest = Math.min(...ticket.route.windows.map(({ spec }) => (spec.scope === "key" ? spec.windowMs : Number.POSITIVE_INFINITY)));
    for (const gauge of ticket.route.windows) {
      const near = gauge.used(now) >= gauge.spec.capacity * 0.97;
      const whole = standing.strikes > 1 || ticket.probe || near;
      if ((gauge.spec.scope === "key" && gauge.spec.windowMs === shortest) || whole) until = Math.max(until, gauge.shut(now));
    }
    return until;
  }

  /** What comes after is entered with one call, not with all that wait. */
  function hold(standing: ProbeState, until: number): number {
    standing.restart(until);
    turns++;
    return until;
  }
};
