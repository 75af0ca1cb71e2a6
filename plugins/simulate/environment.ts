/**
 * Environment of simulated processes: time, the service, its market, its other users, the network and the disk.
 *
 * Invariants: one clock moves it all; nothing in it knows the engine; an environment is used for one scenario.
 * Not here: the processes (simulated-process.ts, process-supervisor.ts), what faults do to it (fault-handlers.ts).
 */

import { div, mul, type OrderRecord, type Random } from "sluice";
import {
  type BacktestSpec,
  createVenue,
  type EmbeddedOptions,
  lognormal,
  type Tape,
  type Venue,
} from "sluice/backtest";
import { type Contract, createContract, type WireRequest, type WireResponse } from "sluice/dialect";
import {
  type CheckedConfig,
  type ClientOrderIds,
  type Clock,
  createClientOrderIds,
  createRandom,
  createServiceClock,
  createVirtualClock,
  type Latency,
  lateListings,
  limitHeaders,
  type SimulatedUser,
  userOf,
  type VirtualClock,
} from "sluice/extension";
import type { CoverageMarks } from "./coverage-marks.ts";
import { type Fault, signOf } from "./fault.ts";
import { SimulatedDisk } from "./faulty-disk.ts";
import type { Invariant, Violation } from "./invariants.ts";
import { driftingTime, LimitQuirk } from "./limit-quirk.ts";
import { Network } from "./network.ts";
import { Oracle } from "./oracle.ts";
import { ProtectionOracle } from "./protection-oracle.ts";
import { Pushes } from "./pushes.ts";
import { QuotaInvariants } from "./quota-invariants.ts";

interface EnvironmentOptions {
  readonly config: CheckedConfig;
  readonly tape: Tape;
  readonly startAt: number;
  readonly seed: string;
  readonly faults: readonly Fault[];
  readonly marks: CoverageMarks;
  readonly tell: (at: number, line: string) => void;
}

/** Virtual time before the market begins, in which the first process starts. */
const leadMs = 5_000;
export const humanKey = (uid: string): string => `by-hand-${uid}`;
export const address = "home";

const optionsOf = ({ service }: CheckedConfig): EmbeddedOptions => (service as Partial<BacktestSpec>).options ?? {};

/** The users of the config's service where it names them, else those its strategies trade for. */
const usersOf = (config: CheckedConfig): readonly SimulatedUser[] => {
  const { users, balances = { USDT: "10000", USD: "10000", BTC: "1" } } = optionsOf(config);
  const named = config.strategies.flatMap(({ user }) => (user === undefined ? [] : [user]));
  const uids = users === undefined ? [...new Set(named.length > 0 ? named : ["main"])] : Object.keys(users);
  return uids.map((uid) => ({ ...userOf(uid, users?.[uid]?.balances ?? balances, users?.[uid]?.keys), ip: address }));
};

const serviceClockOf = (time: VirtualClock, startAt: number, faults: readonly Fault[]): Clock => {
  const skew = faults.find(({ kind }) => kind === "service-skew");
  const steps = faults
    .filter(({ kind }) => kind === "service-step")
    .map((fault) => ({ atMs: fault.at + startAt - time.now(), byMs: signOf(fault) * fault.size }));
  const quirk = faults.find(({ kind }) => kind === "limit-quirk");
  const counted = quirk === undefined ? time : driftingTime(time, quirk.pick);
  return createServiceClock(counted, { offsetMs: skew === undefined ? 0 : signOf(skew) * skew.size, steps });
};

const venueOf = (contract: Contract, config: CheckedConfig, tape: Tape, users: readonly SimulatedUser[]): Venue => {
  const { fees = { makerBps: "2", takerBps: "5" } } = optionsOf(config);
  return createVenue({
    contract,
    instruments: tape.instruments,
    users: users.map(({ uid, keys, balances }) => ({
      uid,
      balances,
      keys: [...keys, { name: humanKey(uid), permissions: ["read", "trade_spot", "trade_futures"] }],
    })),
    fees: "SPOT" in fees ? fees : { SPOT: fees, SWAP: fees },
    enforceLimits: true,
  });
};

/** Returns the listings, delayed where a fault requires it. */
const listingsOf = (
  environment: Pick<Environment, "venue" | "contract" | "service" | "lags">,
  faults: readonly Fault[],
) => {
  const { venue, contract, service, lags } = environment;
  const late = new Map(
    faults
      .filter(({ kind }) => kind.endsWith("-lag"))
      .map((fault) => [fault, lateListings(venue, contract, service, fault.size)]),
  );
  return (request: WireRequest, uid: string, answer: WireResponse): WireResponse => {
    const { endpoint, query } = request;
    const fault = endpoint === "pendingOrders" || endpoint === "orderHistory" ? lags[endpoint] : undefined;
    const views = fault === undefined ? undefined : late.get(fault);
    return views === undefined ? answer : views.asOf(endpoint, uid, query, answer);
  };
};

/** Returns the contract as the service keeps it; the engine keeps to the contract that it was given. */
const keptContract = (config: CheckedConfig, contract: Contract, forgetful: boolean): Contract =>
  forgetful
    ? createContract({ ...config.profile, history: { ...config.profile.history, unfilledCanceledVanish: true } })
    : contract;

export class Environment {
  readonly startAt: number;
  readonly config: CheckedConfig;
  readonly contract: Contract;
  readonly tape: Tape;
  readonly time: VirtualClock;
  /** The service's own time. */
  readonly service: Clock;
  readonly users: readonly SimulatedUser[];
  readonly venue: Venue;
  readonly ids: ClientOrderIds;
  readonly random: Random;
  readonly disk = new SimulatedDisk();
  readonly network: Network;
  readonly pushes: ReadonlyMap<string, Pushes>;
  readonly oracle: Oracle;
  readonly protections: ProtectionOracle;
  readonly quota: QuotaInvariants;
  readonly marks: CoverageMarks;
  readonly violations: Violation[] = [];
  /** The machine's calendar against the steady scale. */
  readonly calendar = { offsetMs: 0 };
  /** Faults in force that change what listings show, by endpoint. */
  readonly lags: { pendingOrders: Fault | undefined; orderHistory: Fault | undefined } = {
    pendingOrders: undefined,
    orderHistory: undefined,
  };
  /** Difference between the service's limits and their description. */
  readonly quirk: LimitQuirk | undefined;
  /** Instruments whose steps were changed. */
  readonly coarser = new Set<string>();
  /** Reason for which the port to the service refuses orders. */
  refusal: string | undefined;
  /** A journal was taken away. */
  amnesia = false;
  /** Exits that left while the journal could not be written, and are not on record yet. */
  readonly unrecorded = new Set<string>();
  readonly #uids: ReadonlyMap<string, string>;
  readonly #listed: ReturnType<typeof listingsOf>;
  readonly #tellAt: (at: number, line: string) => void;

  constructor({ config, tape, startAt, seed, faults, marks, tell }: EnvironmentOptions) {
    const { latency = lognormal({ medianMs: 25 }), timeoutMs = 10_000 } = optionsOf(config);
    const forgetful = faults.some(({ kind }) => kind === "forgetful");
    this.config = config;
    this.tape = tape;
    this.startAt = startAt;
    this.marks = marks;
    this.#tellAt = tell;
    this.contract = createContract(config.profile);
    const kept = keptContract(config, this.contract, forgetful);
    this.time = createVirtualClock(startAt - leadMs);
    this.service = serviceClockOf(this.time, startAt, faults);
    this.users = usersOf(config);
    this.venue = venueOf(kept, config, tape, this.users);
    this.random = createRandom(seed);
    this.ids = createClientOrderIds(config.instance);
    this.#uids = new Map(this.users.flatMap(({ uid, keys }) => keys.map(({ name }) => [name, uid] as const)));
    const quirk = faults.find(({ kind }) => kind === "limit-quirk");
    this.quirk = quirk && new LimitQuirk(quirk.pick, this.random.fork("limit-quirk"));
    this.quota = new QuotaInvariants(this.contract, () => this.service.now(), this.fail, this.quirk !== undefined);
    this.#listed = listingsOf({ venue: this.venue, contract: kept, service: this.service, lags: this.lags }, faults);
    const ways = latency.make(this.random.fork("latency"));
    this.network = this.#networkOver(ways, timeoutMs);
    const { time, venue } = this;
    const pushesOf = ({ uid }: SimulatedUser): Pushes =>
      new Pushes({ time, venue, uid, wayMs: () => ways.responseMs(), mark: marks.mark });
    this.pushes = new Map(this.users.map((user) => [user.uid, pushesOf(user)] as const));
    this.oracle = new Oracle({
      contract: this.contract,
      ids: this.ids,
      now: () => time.now(),
      wallNow: () => time.now() + this.calendar.offsetMs,
      isRecorded: (clOrdId) => this.disk.durable.has(clOrdId) || this.unrecorded.has(clOrdId),
      amnesia: () => this.amnesia,
      forgetful,
      isExit: (clOrdId) => this.protections.isExit(clOrdId),
      halted: () => this.disk.halted,
      fail: this.fail,
    });
    this.protections = this.#protectionOracle(faults);
    venue.onFill(this.protections.fill);
    venue.onOrder((uid, record) => {
      this.tell(
        `at the service ${record.clOrdId || record.ordId} is ${record.state}, filled ${record.accFillSz || "0"} of ${record.sz}`,
      );
      this.oracle.order(uid, record);
      this.protections.order(record);
    });
  }

  readonly uidOf = (key: string | undefined): string => this.#uids.get(key ?? "") ?? "";

  readonly tell = (line: string): void => {
    this.#tellAt(this.time.now() - this.startAt, line);
  };

  readonly fail = (invariant: Invariant, text: string): void => {
    this.violations.push({ invariant, at: this.time.now() - this.startAt, text });
    this.tell(`VIOLATION ${invariant}: ${text}`);
  };

  #protectionOracle(faults: readonly Fault[]): ProtectionOracle {
    const { ids, time, tape, marks, venue, coarser } = this;
    const stepOf = (instId: string, step: "tickSize" | "lotSize"): number =>
      Number(tape.instruments.find((instrument) => instrument.instId === instId)?.[step] ?? "0");
    return new ProtectionOracle({
      ids,
      now: () => time.now(),
      every: (ms, run) => {
        const again = (): void => {
          run();
          time.setTimer(time.now() + ms, again);
        };
        time.setTimer(time.now() + ms, again);
      },
      amnesia: () => this.amnesia,
      isCalm: faults.length === 0,
      closed: (instId) => this.refusal !== undefined || !venue.lists(instId),
      isCoarse: (instId) => coarser.has(instId),
      tickOf: (instId) => stepOf(instId, "tickSize"),
      lotOf: (instId) => stepOf(instId, "lotSize"),
      mark: marks.mark,
      fail: this.fail,
    });
  }

  #networkOver(latency: Latency, timeoutMs: number): Network {
    const { time, marks, service } = this;
    return new Network({
      time,
      latency,
      timeoutMs,
      mark: marks.mark,
      unavailableCode: this.contract.profile.answers.unavailableCode,
      date: () => {
        const date = this.quirk === undefined ? new Date(service.now()).toUTCString() : this.quirk.date(service.now());
        return date === undefined ? {} : { date };
      },
      handle: (request, uncalled) => this.#handle(request, uncalled),
      hush: (request) => {
        this.pushes.get(this.uidOf(request.key))?.arm(silence);
      },
      fillPart: (request) => {
        const named = [request.body].flat() as readonly CancelElement[];
        const order = [...this.oracle.live.values()].find((live) =>
          named.some(({ ordId, clOrdId }) => live.ordId === ordId || live.clOrdId === clOrdId),
        );
        if (order !== undefined) this.fillPart(order);
      },
    });
  }

  #handle(request: WireRequest, uncalled: boolean): WireResponse {
    const { endpoint, method, path, query, body, key } = request;
    if (uncalled) this.quota.excuse();
    const now = this.service.now();
    const answer = this.venue.handle({ method, path, query, body, key, ip: address }, now);
    const used = answer.headers[limitHeaders.uidUsed] ?? "?";
    this.tell(`the service answers ${endpoint} with ${answer.status} ${codeOf(answer)}, weight used ${used}`);
    this.quota.arrived(request, answer, this.oracle.live.size);
    const uid = this.uidOf(key);
    const headers = this.quirk === undefined ? answer.headers : this.quirk.headers(answer.headers, uid, now);
    return this.#listed(request, uid, { ...answer, headers });
  }

  /**
   * Lets the market reach a resting order of ours: shows one lot in front of it and takes that and half of the order.
   */
  fillPart({ instId, clOrdId, side, px, sz }: OrderRecord): void {
    const { tickSize = "1", lotSize = "1" } =
      this.tape.instruments.find((instrument) => instrument.instId === instId) ?? {};
    const half = Math.floor(Number(div(sz, mul(px, lotSize), 0)) / 2);
    const ticks = Number(div(px, tickSize, 0));
    const [bid, ask, taker] =
      side === "buy" ? ([ticks, ticks + 1, "sell"] as const) : ([ticks - 1, ticks, "buy"] as const);
    this.tell(`the market fills a part of ${clOrdId}`);
    this.venue.quote(instId, bid, 1, ask, 1, this.service.now());
    this.venue.trade(instId, taker, ticks, 1 + half, this.service.now());
  }
}

type CancelElement = { readonly clOrdId?: string; readonly ordId?: string };

const silence: Fault = { kind: "push-silent", at: 0, size: 0, forMs: 15_000, pick: 0 };

const codeOf = ({ body }: WireResponse): string => {
  const { code = "", msg = "" } = (body ?? {}) as { readonly code?: string; readonly msg?: string };
  return `${code} ${msg}`.trim();
};
