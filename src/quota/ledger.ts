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
import { fixedGauge, type Gauge, type GaugeTicket, rollingGauge } from "./gauge.ts";
import { dateOf, usedOf } from "./headers.ts";
import { type Charge, type LayerSpec, scopeOf, unitsOf } from "./layers.ts";
import { defaultReserve, type ReservePolicy } from "./reserve.ts";
import { createRoundTrips } from "./round-trips.ts";
import { createServerClock, type ServerClock, type ServerClockOptions } from "./server-clock.ts";
import { createStanding, type Standing } from "./standing.ts";
import { createWeights } from "./weights.ts";

export type { Rank };

export type Verdict = { readonly granted: true } | Refusal;

/** Not now: which layer says so, when to ask again, and who may go meanwhile. */
export interface Refusal {
  readonly granted: false;
  readonly layer: LayerSpec["name"];
  readonly until: number;
  readonly why: "used" | "reserved" | "start";
  /** Calls lighter than this may pass it. */
  readonly lighterThan: number;
}

export interface Ticket {
  readonly charge: Charge;
  readonly sentAt: number;
  readonly gauges: readonly Gauge[];
  /** One per gauge. */
  readonly parts: readonly GaugeTicket[];
  readonly probe: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface LayerState {
  readonly layer: string;
  readonly scope: string;
  readonly capacity: number;
  readonly used: number;
  readonly reserved: number;
  readonly free: number;
  readonly foreign: number;
  readonly windowEndsAt: number;
}

export interface Ledger {
  ask(charge: Charge, rank: Rank, now: number): Verdict;
  spend(charge: Charge, now: number): Ticket;
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

const limited = 429;
/** So near to a window's end what does not fit now is taken for not fitting at all. */
const endingMs = 400;

export const createLedger = (options: LedgerOptions): Ledger => {
  const { layers } = options;
  const policy: ReservePolicy = { ...defaultReserve, ...options.reserve };
  const quietMs = options.quietMs ?? 1_050;
  const clock = createServerClock(options.clock);
  const gauges = new Map<string, Gauge>();
  const standings = new Map<string, Standing>();
  let routes = new WeakMap<Charge, readonly Gauge[]>();
  const trips = createRoundTrips();
  const weights = createWeights();
  const ceilings = createCeilings({ policy, clock, trips, startedAt: options.startedAt, weightOf: (uid) => gauges.get(`uid:${uid}`) });
  let dateless = false;
  let disturbedAt = options.startedAt;

  const gaugeOf = (spec: LayerSpec, scope: string): Gauge => {
    const name = `${spec.name}:${scope}`;
    let gauge = gauges.get(name);
    if (gauge === undefined) {
      gauge = spec.anchor === "wall_clock" && !dateless ? fixedGauge(spec, scope, clock) : rollingGauge(spec, scope);
      gauges.set(name, gauge);
    }
    return gauge;
  };
  /** The gauges a charge touches; charges are few and long-lived, so each is looked up once. */
  const gaugesOf = (charge: Charge): readonly Gauge[] => {
    const known = routes.get(charge);
    if (known !== undefined) return known;
    const found: Gauge[] = [];
    for (const spec of layers) {
      const scope = scopeOf(spec, charge);
      if (scope === undefined || (spec.endpoints !== undefined && !spec.endpoints.includes(charge.endpoint))) continue;
      found.push(gaugeOf(spec, scope));
    }
    routes.set(charge, found);
    return found;
  };
  const unitsIn = (gauge: Gauge, charge: Charge): number => {
    const units = unitsOf(gauge.spec, charge);
    return gauge.spec.unit === "weight" ? weights.charged(charge.endpoint, units) : units;
  };
  const begin = (charge: Charge, now: number, probe: boolean): Ticket => {
    const touched = gaugesOf(charge);
    if (charge.uid !== undefined) weights.noteSent(charge.uid);
    return { charge, sentAt: now, gauges: touched, parts: touched.map((gauge) => gauge.begin(unitsIn(gauge, charge), now)), probe };
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
    if (ticket.probe && ticket.sentAt >= disturbedAt) standingOf(ticket.charge).back();
  };

  /** When a ceiling that rises towards the window's end will let the call through. */
  const relaxedAt = (gauge: Gauge, charge: Charge, now: number, end: number): number => {
    const units = unitsIn(gauge, charge);
    if (gauge.blockedUntil(units, now, () => gauge.spec.capacity) !== undefined) return end;
    const fits = (at: number): boolean => gauge.blockedUntil(units, at, ceilings.of(gauge, charge, "ordinary", at)) === undefined;
    const to = earliestFit(now, Math.min(end, now + gauge.spec.windowMs), fits);
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
    ask: (charge, rank, now) => {
      const early = standingOf(charge).blockedUntil(now);
      if (early !== undefined) return { granted: false, layer: "start", until: early, why: "start", lighterThan: 0 };
      for (const gauge of gaugesOf(charge)) {
        const until = gauge.blockedUntil(unitsIn(gauge, charge), now, ceilings.of(gauge, charge, rank, now));
        if (until === undefined) continue;
        const layer = gauge.spec.name;
        if (rank !== "ordinary") return { granted: false, layer, until, why: "used", lighterThan: charge.weight };
        const relaxed = relaxedAt(gauge, charge, now, until);
        return { granted: false, layer, ...reserved(charge, now, until, relaxed) };
      }
      return { granted: true };
    },
    spend: (charge, now) => {
      if (charge.uid !== undefined) ceilings.noteWeight(charge.weight);
      return begin(charge, now, standingOf(charge).leave());
    },
    settle,
    lose,
    release: (ticket) => {
      ticket.gauges.forEach((gauge, index) => {
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
      ceilings.forget();
    },
    probing: (charge) => !standingOf(charge).warm,
    state: (now) =>
      [...gauges.values()].map((gauge) => {
        const { used, foreign: others, windowEndsAt } = gauge.state(now);
        const { capacity, name } = gauge.spec;
        const reserved = ceilings.reserved(gauge, now, windowEndsAt);
        return {
          layer: name,
          scope: gauge.scope,
          capacity,
          used,
          reserved,
          free: Math.max(0, capacity - used),
          foreign: others,
          windowEndsAt,
        };
      }),
  };

  function settle(ticket: Ticket, answer: Answer, receivedAt: number): number | undefined {
    // It left before the clock was disturbed: its instants cannot be compared, so it tells nothing and warms nobody.
    if (ticket.sentAt < disturbedAt) {
      lose(ticket, receivedAt);
      return undefined;
    }
    const standing = standingOf(ticket.charge);
    const dateMs = dateOf(answer.headers);
    if (dateMs !== undefined) clock.observeDate(ticket.sentAt, receivedAt, dateMs);
    else if (!clock.known && !dateless) {
      dateless = true;
      gauges.clear();
      routes = new WeakMap();
      return settle(begin(ticket.charge, ticket.sentAt, ticket.probe), answer, receivedAt);
    }
    trips.observe(receivedAt - ticket.sentAt);
    let told = false;
    for (let index = 0; index < ticket.gauges.length; index++) {
      const gauge = ticket.gauges[index] as Gauge;
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
    ticket.gauges.forEach((gauge, index) => {
      gauge.lose(ticket.parts[index] as GaugeTicket, now);
    });
    probeBack(ticket);
  }

  function minutesPossible(ticket: Ticket, receivedAt: number): number {
    const windowMs = Math.max(...ticket.gauges.map(({ spec }) => spec.windowMs));
    const first = Math.floor((ticket.sentAt + clock.lo(receivedAt)) / windowMs);
    return Math.floor((receivedAt + clock.hi(receivedAt)) / windowMs) - first + 1;
  }

  /** Which layer refused is not said: the key's second first; the user's minute when near it, starting, or struck again. */
  function strike(ticket: Ticket, standing: Standing, now: number): number {
    const { charge } = ticket;
    if (standing.strike(ticket.sentAt, now) && charge.uid !== undefined) ceilings.noteRefusal(charge.uid, now);
    let until = now;
    for (const gauge of ticket.gauges) {
      const near = gauge.state(now).used >= gauge.spec.capacity * 0.97;
      const whole = standing.strikes > 1 || ticket.probe || near;
      if (gauge.spec.scope === "key" || whole) until = Math.max(until, gauge.shut(now));
    }
    // The next window is entered with one call, not with all that wait.
    standing.restart(until);
    return until;
  }
};
