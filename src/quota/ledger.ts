/**
 * What has been spent in every window of every layer, and whether one more call may leave.
 *
 * Invariants: a call is granted on all its layers or on none; whatever the latency, no window's granted calls exceed its
 * capacity; a refusal by the service shuts its layer at once and lets one call probe the next window; after a start or a
 * disturbed clock nothing but one light call leaves until the service has told the use of the current window.
 * Not here: waiting (scheduler/), the service's own opinion (headers.ts), the numbers (contract/limits.ts).
 */
import type { EndpointName } from "../contract/endpoints.ts";
import { createCeilings, earliestFit, newsWeight, type Rank } from "./ceilings.ts";
import { type Ceiling, fixedGauge, type Gauge, type GaugeTicket, rollingGauge } from "./gauge.ts";
import { dateOf, usedOf } from "./headers.ts";
import { type LayerState, layerStates } from "./layer-state.ts";
import { type Charge, type LayerSpec, touchedBy, unitsOf } from "./layers.ts";
import { defaultReserve, type ReservePolicy } from "./reserve.ts";
import { createRoundTrips } from "./round-trips.ts";
import { createRoutes, type Route } from "./routes.ts";
import { createServerClock, driftPpmMost, type ServerClock, type ServerClockOptions } from "./server-clock.ts";
import { createStanding, type Standing } from "./standing.ts";
import { createWeights } from "./weights.ts";

export type { LayerState, Rank };

export type Verdict = { readonly granted: true; readonly elements: number } | Refusal;

/** Not now: which layer says so, when to ask again, and who may go meanwhile. */
export interface Refusal {
  readonly granted: false;
  readonly layer: LayerSpec["name"];
  readonly until: number;
  readonly why: "used" | "reserved" | "start";
  /** Calls lighter than this may pass it. */
  readonly lighterThan: number;
}

/** What was spent on one call. It is leave to send as well, and does not expire. */
export interface Ticket {
  readonly granted: true;
  readonly charge: Charge;
  readonly expiresAt: number;
  /** Elements that were charged for, and the most the call may carry. */
  readonly elements: number;
  readonly sentAt: number;
  readonly route: Route;
  /** One per gauge of the route. */
  readonly parts: readonly GaugeTicket[];
  readonly probe: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Ledger {
  /** `offered` is how many elements a batch could carry; it is granted with as many of them as there is room for. */
  ask(charge: Charge, rank: Rank, now: number, offered?: number): Verdict;
  spend(charge: Charge, now: number, elements?: number): Ticket;
  /** An answer was read. Returns the instant until which a layer is shut, when the service refused. */
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
/** Statuses that a machine in front of the service answers with by itself. */
const isSilent = (status: number): boolean => status >= 500 || status === 408;
/** So near to a window's end what does not fit now is taken for not fitting at all. */
const endingMs = 400;

export const createLedger = (options: LedgerOptions): Ledger => {
  const { layers } = options;
  const policy: ReservePolicy = { ...defaultReserve, ...options.reserve };
  const quietMs = options.quietMs ?? 1_050;
  const clock = createServerClock(options.clock);
  const { driftPpm = driftPpmMost } = options.clock ?? {};
  const gauges = new Map<string, Gauge>();
  const standings = new Map<string, Standing>();
  const trips = createRoundTrips();
  const weights = createWeights();
  const ceilings = createCeilings({ policy, clock, trips, startedAt: options.startedAt, weightOf: (uid) => gauges.get(`uid:${uid}`) });
  let dateless = false;
  let disturbedAt = options.startedAt;

  const gaugeOf = (spec: LayerSpec, scope: string): Gauge => {
    const name = `${spec.name}:${scope}`;
    let gauge = gauges.get(name);
    if (gauge === undefined) {
      gauge = spec.anchor === "wall_clock" && !dateless ? fixedGauge(spec, scope, clock) : rollingGauge(spec, scope, driftPpm);
      gauges.set(name, gauge);
    }
    return gauge;
  };
  const openRoute = (charge: Charge): Route => {
    const touched = touchedBy(layers, charge).map(({ spec, scope }) => gaugeOf(spec, scope));
    const of = (rank: Rank): Ceiling[] => touched.map((gauge) => ceilings.of(gauge, charge, rank));
    return {
      gauges: touched,
      ceilings: { emergency: of("emergency"), exit: of("exit"), ordinary: of("ordinary") },
      standing: standingOf(charge),
    };
  };
  const routes = createRoutes(openRoute);
  const unitsIn = (gauge: Gauge, charge: Charge, elements = charge.elements): number => {
    const units = unitsOf(gauge.spec, charge, elements);
    return gauge.spec.unit === "weight" ? weights.charged(charge.endpoint, units) : units;
  };
  const begin = (charge: Charge, now: number, probe: boolean, elements: number): Ticket => {
    const route = routes.of(charge);
    if (charge.uid !== undefined) weights.noteSent(charge.uid);
    const parts: GaugeTicket[] = [];
    for (const gauge of route.gauges) parts.push(gauge.begin(unitsIn(gauge, charge, elements), now));
    return { granted: true, charge, expiresAt: Number.POSITIVE_INFINITY, elements, sentAt: now, route, parts, probe };
  };
  const standingOf = (charge: Charge): Standing => {
    const name = charge.uid ?? `ip:${charge.ip}`;
    let standing = standings.get(name);
    if (standing === undefined) {
      standing = createStanding(disturbedAt + quietMs);
      standings.set(name, standing);
    }
    return standing;
  };
  const probeBack = (ticket: Ticket): void => {
    if (ticket.probe && ticket.sentAt >= disturbedAt) ticket.route.standing.back();
  };

  /** When a ceiling that rises towards the window's end will let the call through. */
  const relaxedAt = (gauge: Gauge, charge: Charge, ceiling: Ceiling, now: number, end: number): number => {
    const units = unitsIn(gauge, charge);
    if (gauge.blockedUntil(units, now, () => gauge.spec.capacity) !== undefined) return end;
    const to = earliestFit(now, Math.min(end, now + gauge.spec.windowMs), (at) => gauge.blockedUntil(units, at, ceiling) === undefined);
    return Math.max(to, now + 1);
  };

  /** What a call that does not fit by policy waits for, and who may pass it meanwhile. */
  const reserved = (charge: Charge, now: number, end: number, relaxed: number): Pick<Refusal, "until" | "why" | "lighterThan"> => {
    // The window cannot hold it any more: lighter calls use what is left.
    if (relaxed >= end || end - now <= endingMs) return { until: relaxed, why: "used", lighterThan: charge.weight };
    const newsAt = charge.uid === undefined ? Number.POSITIVE_INFINITY : ceilings.newsAt(charge.uid, now, end);
    const lighterThan = newsAt <= now ? Math.min(charge.weight, newsWeight + 1) : 0;
    return { until: newsAt <= now ? relaxed : Math.min(relaxed, newsAt), why: "reserved", lighterThan };
  };

  return {
    clock,
    learned: weights.learned,
    ask: (charge, rank, now, offered = charge.elements) => {
      const route = routes.of(charge);
      const early = route.standing.blockedUntil(now);
      if (early !== undefined) return { granted: false, layer: "start", until: early, why: "start", lighterThan: 0 };
      const most = route.ceilings[rank];
      let elements = offered;
      for (let index = 0; index < route.gauges.length; index++) {
        const gauge = route.gauges[index] as Gauge;
        const ceiling = most[index] as Ceiling;
        const until = gauge.blockedUntil(unitsIn(gauge, charge), now, ceiling);
        if (until === undefined) {
          if (gauge.spec.unit !== "elements") continue;
          // There is room for one; as many of the others go along as fit.
          while (elements > charge.elements && gauge.blockedUntil(elements, now, ceiling) !== undefined) elements--;
          continue;
        }
        const layer = gauge.spec.name;
        if (rank !== "ordinary") return { granted: false, layer, until, why: "used", lighterThan: charge.weight };
        const relaxed = relaxedAt(gauge, charge, ceiling, now, until);
        return { granted: false, layer, ...reserved(charge, now, until, relaxed) };
      }
      return elements === 1 ? single : { granted: true, elements };
    },
    spend: (charge, now, elements = charge.elements) => {
      if (charge.uid !== undefined) ceilings.noteWeight(charge.weight);
      return begin(charge, now, routes.of(charge).standing.leave(), elements);
    },
    settle,
    lose,
    release: (ticket) => {
      ticket.route.gauges.forEach((gauge, index) => {
        gauge.undo(ticket.parts[index] as GaugeTicket);
      });
      probeBack(ticket);
    },
    noteExit: (now) => {
      ceilings.noteExit(now);
    },
    noteOpen: (uid, orders) => {
      ceilings.noteOpen(uid, orders);
    },
    disturb: (now) => {
      clock.forget();
      disturbedAt = now;
      for (const gauge of gauges.values()) gauge.reset();
      standings.clear();
      routes.forget();
      ceilings.forget();
    },
    probing: (charge) => !routes.of(charge).standing.warm,
    state: (now) => layerStates(gauges.values(), ceilings, now),
  };

  function settle(ticket: Ticket, answer: Answer, receivedAt: number): number | undefined {
    // It left before the clock was disturbed: its instants cannot be compared, so it tells nothing and warms nobody.
    if (ticket.sentAt < disturbedAt) {
      lose(ticket, receivedAt);
      return undefined;
    }
    const { standing, gauges: touched } = ticket.route;
    // A page of something in between says nothing of the quota, nor that the service counted the call.
    if (isSilent(answer.status) && touched.every(({ spec }) => usedOf(spec, answer.headers) === undefined)) {
      lose(ticket, receivedAt);
      return undefined;
    }
    const dateMs = dateOf(answer.headers);
    if (dateMs !== undefined) clock.observeDate(ticket.sentAt, receivedAt, dateMs);
    else if (!clock.known && !dateless) {
      dateless = true;
      gauges.clear();
      routes.forget();
      return settle(begin(ticket.charge, ticket.sentAt, ticket.probe, ticket.elements), answer, receivedAt);
    }
    trips.observe(receivedAt - ticket.sentAt);
    let told = false;
    for (let index = 0; index < touched.length; index++) {
      const gauge = touched[index] as Gauge;
      const used = usedOf(gauge.spec, answer.headers);
      const fresh = gauge.end(ticket.parts[index] as GaugeTicket, ticket.sentAt, receivedAt, used, answer.status < 400);
      if (used === undefined) continue;
      if (gauge.spec.scope === "uid") {
        told = true;
        ceilings.noteUse(gauge.scope, receivedAt, ticket.probe ? 0 : fresh);
        const { open, windowEndsAt } = gauge.state(receivedAt);
        weights.noteUsed(gauge.scope, ticket.charge.endpoint, used, Math.round(windowEndsAt / gauge.spec.windowMs), open === 0);
      }
    }
    probeBack(ticket);
    if (answer.status === limited) return strike(ticket, standing, receivedAt);
    standing.succeed();
    // An answer that may be of two minutes does not tell where the current one stands.
    if (!standing.warm && !(told && clock.known && minutesPossible(ticket, receivedAt) > 1)) standing.settle();
    return undefined;
  }

  function lose(ticket: Ticket, now: number): void {
    ticket.route.gauges.forEach((gauge, index) => {
      gauge.lose(ticket.parts[index] as GaugeTicket, now);
    });
    probeBack(ticket);
  }

  function minutesPossible(ticket: Ticket, receivedAt: number): number {
    // Layers the service does not tell the use of have no part in it.
    const windowMs = Math.max(...ticket.route.gauges.map(({ spec }) => (spec.header === undefined ? 0 : spec.windowMs)));
    const first = Math.floor((ticket.sentAt + clock.lo(receivedAt)) / windowMs);
    return Math.floor((receivedAt + clock.hi(receivedAt)) / windowMs) - first + 1;
  }

  /** Which layer refused is not said: the key's second first; the user's minute when near it, starting, or struck again. */
  function strike(ticket: Ticket, standing: Standing, now: number): number {
    const { charge } = ticket;
    if (standing.strike(ticket.sentAt, now) && charge.uid !== undefined) ceilings.noteRefusal(charge.uid, now);
    let until = now;
    const shortest = Math.min(...ticket.route.gauges.map(({ spec }) => (spec.scope === "key" ? spec.windowMs : Number.POSITIVE_INFINITY)));
    for (const gauge of ticket.route.gauges) {
      const near = gauge.state(now).used >= gauge.spec.capacity * 0.97;
      const whole = standing.strikes > 1 || ticket.probe || near;
      if ((gauge.spec.scope === "key" && gauge.spec.windowMs === shortest) || whole) until = Math.max(until, gauge.shut(now));
    }
    // The next window is entered with one call, not with all that wait.
    standing.restart(until);
    return until;
  }
};
