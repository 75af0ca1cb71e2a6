/**
 * What has been spent in every window of every layer, and whether one more call may leave.
 *
 * Invariants: a call is granted on all its layers or on none; whatever the latency, no window's granted calls exceed its
 * capacity; a refusal by the service shuts its layer at once and lets one call probe the next window; after a start or a
 * disturbed clock nothing but one light call leaves until the service has told the use of the current window.
 * Not here: waiting (scheduler/), the service's own opinion (headers.ts), the numbers (contract/limits.ts).
 */
import { createForeignUse, type ForeignUse } from "./foreign.ts";
import { type Ceiling, fixedGauge, type Gauge, type GaugeTicket, rollingGauge } from "./gauge.ts";
import { dateOf, usedOf } from "./headers.ts";
import { type Charge, type LayerSpec, scopeOf, unitsOf } from "./layers.ts";
import { defaultReserve, exitReserve, pacedShare, type ReservePolicy } from "./reserve.ts";
import { createRoundTrips } from "./round-trips.ts";
import { createServerClock, type ServerClock, type ServerClockOptions } from "./server-clock.ts";

/** Exits may use everything; ordinary actions leave the reserve. */
export type Rank = "exit" | "ordinary";

export type Verdict =
  | { readonly granted: true }
  | {
      readonly granted: false;
      readonly layer: LayerSpec["name"];
      readonly until: number;
      readonly why: "used" | "reserved" | "shut" | "start";
    };

export interface Ticket {
  readonly charge: Charge;
  readonly sentAt: number;
  readonly parts: readonly { readonly gauge: Gauge; readonly ticket: GaugeTicket }[];
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
}

export interface LedgerOptions {
  readonly layers: readonly LayerSpec[];
  readonly reserve?: Partial<ReservePolicy>;
  readonly clock?: ServerClockOptions;
  /** Nothing leaves for so long after a start: calls of an earlier life may still be landing. */
  readonly quietMs?: number;
  readonly startedAt: number;
}

interface Account {
  warm: boolean;
  quietUntil: number;
  probes: number;
  strikes: number;
  struckAt: number;
}

const limited = 429;
/** Wider than this, one call a second is spent on narrowing the clock. */
const clockWidthMs = 45;
/** Chance, a minute, that others' use still to come exceeds what is left free for it. */
const foreignRisk = 0.002;

export const createLedger = (options: LedgerOptions): Ledger => {
  const { layers } = options;
  const policy: ReservePolicy = { ...defaultReserve, ...options.reserve };
  const quietMs = options.quietMs ?? 1_050;
  const clock = createServerClock(options.clock);
  const gauges = new Map<string, Gauge>();
  const accounts = new Map<string, Account>();
  const foreign = new Map<string, ForeignUse>();
  const heardAt = new Map<string, number>();
  const openOrders = new Map<string, number>();
  const trips = createRoundTrips();
  let dateless = false;
  let weightMean = 10;
  let exitRate = 0;
  let lastExitAt = options.startedAt;
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
  const gaugesOf = (charge: Charge): Gauge[] => {
    const found: Gauge[] = [];
    for (const spec of layers) {
      const scope = scopeOf(spec, charge);
      if (scope === undefined || (spec.endpoints !== undefined && !spec.endpoints.includes(charge.endpoint))) continue;
      found.push(gaugeOf(spec, scope));
    }
    return found;
  };
  const accountOf = (charge: Charge): Account => {
    const name = charge.uid ?? `ip:${charge.ip}`;
    let account = accounts.get(name);
    if (account === undefined) {
      account = { warm: false, quietUntil: disturbedAt + quietMs, probes: 0, strikes: 0, struckAt: Number.NEGATIVE_INFINITY };
      accounts.set(name, account);
    }
    return account;
  };

  /** Urgent calls per millisecond: a forecast that rises with each and fades over minutes, never quite to nothing. */
  const exitRateAt = (now: number): number => Math.max(exitRate * Math.exp(-(now - lastExitAt) / 300_000), 1 / 120_000);

  const weightCeiling = (gauge: Gauge, at: number, endAt: number, startAt: number): number => {
    const { capacity, windowMs } = gauge.spec;
    const remMs = Math.max(0, Math.min(endAt - at, windowMs));
    const others = foreign.get(gauge.scope);
    const silentMs = Math.min(windowMs, Math.max(0, at - (heardAt.get(gauge.scope) ?? at)));
    // Half is never left to others: what is only left free is never measured again, and would be left free for ever.
    const margin = others === undefined || remMs <= 0 ? 0 : Math.min(capacity / 2, others.margin(remMs + silentMs, foreignRisk));
    const reserve = exitReserve(policy, remMs, openOrders.get(gauge.scope) ?? 0, exitRateAt(at));
    const free = capacity - reserve - margin - policy.probeUnits;
    return policy.spending === "paced" && at >= startAt ? Math.min(free, pacedShare(capacity, remMs, windowMs)) : free;
  };

  const keyCeiling = (gauge: Gauge, charge: Charge, at: number, endAt: number): number => {
    const { capacity } = gauge.spec;
    const user = charge.uid === undefined ? undefined : gauges.get(`uid:${charge.uid}`);
    if (user !== undefined) {
      const minute = user.state(at);
      const calls = (user.spec.capacity - minute.used) / weightMean;
      // Weight runs out first: the kept slots cost nothing and stay free for exits.
      if (calls < ((minute.windowEndsAt - at) / 1_000) * (capacity - policy.keySlots)) return capacity - policy.keySlots;
    }
    const width = clock.hi(at) - clock.lo(at);
    const lendAt = endAt - width - trips.high;
    if (at < lendAt) return capacity - policy.keySlots;
    // The last slot is sent into the doubtful stretch, where its landing tells most about the boundary.
    return width > clockWidthMs && at < endAt - width / 2 - trips.low / 2 ? capacity - 1 : capacity;
  };

  const ceilingOf = (gauge: Gauge, charge: Charge, rank: Rank, at: number): Ceiling =>
    rank === "exit"
      ? () => gauge.spec.capacity
      : (endAt, startAt) =>
          gauge.spec.scope === "key"
            ? keyCeiling(gauge, charge, at, endAt)
            : gauge.spec.unit === "weight"
              ? weightCeiling(gauge, at, endAt, startAt)
              : gauge.spec.capacity - policy.keySlots;

  /** When a ceiling that rises towards the window's end will let the call through. */
  const relaxedAt = (gauge: Gauge, charge: Charge, now: number, end: number): number => {
    const units = unitsOf(gauge.spec, charge);
    if (gauge.blockedUntil(units, now, () => gauge.spec.capacity) !== undefined) return end;
    let from = now;
    let to = Math.min(end, now + gauge.spec.windowMs);
    while (to - from > 1) {
      const middle = (from + to) / 2;
      if (gauge.blockedUntil(units, middle, ceilingOf(gauge, charge, "ordinary", middle)) === undefined) to = middle;
      else from = middle;
    }
    return Math.max(to, now + 1);
  };

  const askStart = (account: Account, now: number): Verdict | undefined => {
    if (account.warm) return undefined;
    if (now < account.quietUntil) return { granted: false, layer: "start", until: account.quietUntil, why: "start" };
    // One at a time: the next question is asked when this one is answered.
    return account.probes > 0 ? { granted: false, layer: "start", until: now + 60_000, why: "start" } : undefined;
  };

  return {
    clock,
    ask: (charge, rank, now) => {
      const early = askStart(accountOf(charge), now);
      if (early !== undefined) return early;
      for (const gauge of gaugesOf(charge)) {
        const until = gauge.blockedUntil(unitsOf(gauge.spec, charge), now, ceilingOf(gauge, charge, rank, now));
        if (until === undefined) continue;
        const layer = gauge.spec.name;
        if (rank === "exit") return { granted: false, layer, until, why: "used" };
        const relaxed = relaxedAt(gauge, charge, now, until);
        return { granted: false, layer, until: relaxed, why: relaxed < until ? "reserved" : "used" };
      }
      return { granted: true };
    },
    spend: (charge, now) => {
      const account = accountOf(charge);
      const parts = gaugesOf(charge).map((gauge) => ({ gauge, ticket: gauge.begin(unitsOf(gauge.spec, charge), now) }));
      if (!account.warm) account.probes++;
      if (charge.uid !== undefined) weightMean += (charge.weight - weightMean) / 32;
      return { charge, sentAt: now, parts, probe: !account.warm };
    },
    settle: (ticket, answer, receivedAt) => {
      // It left before the clock was disturbed: its instants cannot be compared, so it tells nothing and warms nobody.
      if (ticket.sentAt < disturbedAt) {
        lose(ticket, receivedAt);
        return undefined;
      }
      const account = accountOf(ticket.charge);
      const dateMs = dateOf(answer.headers);
      if (dateMs !== undefined) clock.observeDate(ticket.sentAt, receivedAt, dateMs);
      else if (!clock.known && !dateless) {
        dateless = true;
        gauges.clear();
      }
      trips.observe(receivedAt - ticket.sentAt);
      let told = false;
      for (const { gauge, ticket: part } of ticket.parts) {
        const used = usedOf(gauge.spec, answer.headers);
        const fresh = gauge.end(part, ticket.sentAt, receivedAt, used, answer.status < 400);
        if (used === undefined) continue;
        if (gauge.spec.scope === "uid") {
          told = true;
          heardAt.set(gauge.scope, receivedAt);
          noteForeign(gauge.scope, receivedAt, ticket.probe ? 0 : fresh);
        }
      }
      if (ticket.probe) account.probes = Math.max(0, account.probes - 1);
      if (answer.status === limited) return strike(ticket, account, receivedAt);
      account.strikes = 0;
      const doubtful = clock.known && minutesPossible(ticket, receivedAt) > 1;
      if (!account.warm && !(told && doubtful)) account.warm = true;
      return undefined;
    },
    lose,
    noteExit: (now) => {
      exitRate = exitRateAt(now) * Math.exp(-1 / 20) + (1 - Math.exp(-1 / 20)) / Math.max(now - lastExitAt, 1_000);
      lastExitAt = now;
    },
    noteOpen: (uid, orders) => {
      openOrders.set(uid, orders);
    },
    disturb: (now) => {
      clock.forget();
      disturbedAt = now;
      for (const gauge of gauges.values()) gauge.reset();
      for (const account of accounts.values()) {
        account.warm = false;
        account.probes = 0;
        account.quietUntil = now + quietMs;
      }
      heardAt.clear();
    },
    probing: (charge) => !accountOf(charge).warm,
    state: (now) =>
      [...gauges.values()].map((gauge) => {
        const { used, foreign: others, windowEndsAt } = gauge.state(now);
        const { capacity, name, unit } = gauge.spec;
        const ceiling = unit === "weight" ? weightCeiling(gauge, now, windowEndsAt, now) : capacity - policy.keySlots;
        const reserved = Math.max(0, Math.round(capacity - ceiling));
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

  function lose(ticket: Ticket, now: number): void {
    for (const { gauge, ticket: part } of ticket.parts) gauge.lose(part, now);
    const account = accountOf(ticket.charge);
    if (ticket.probe && ticket.sentAt >= disturbedAt) account.probes = Math.max(0, account.probes - 1);
  }

  function noteForeign(uid: string, at: number, units: number): void {
    let use = foreign.get(uid);
    if (use === undefined) {
      use = createForeignUse();
      foreign.set(uid, use);
    }
    use.observe(at, units);
  }

  function minutesPossible(ticket: Ticket, receivedAt: number): number {
    const windowMs = Math.max(...ticket.parts.map(({ gauge }) => gauge.spec.windowMs));
    const first = Math.floor((ticket.sentAt + clock.lo(receivedAt)) / windowMs);
    return Math.floor((receivedAt + clock.hi(receivedAt)) / windowMs) - first + 1;
  }

  /** Which layer refused is not said: the key's second first; the user's minute when near it, starting, or struck again. */
  function strike(ticket: Ticket, account: Account, now: number): number {
    const fresh = ticket.sentAt > account.struckAt;
    if (fresh) account.strikes++;
    account.struckAt = Math.max(account.struckAt, now);
    let until = now;
    for (const { gauge } of ticket.parts) {
      const { used } = gauge.state(now);
      const near = used >= gauge.spec.capacity * 0.97;
      const whole = account.strikes > 1 || ticket.probe || near;
      if (gauge.spec.scope === "key" || whole) until = Math.max(until, gauge.shut(now));
    }
    // The next window is entered with one call, not with all that wait.
    account.warm = false;
    account.quietUntil = until;
    return until;
  }
};
