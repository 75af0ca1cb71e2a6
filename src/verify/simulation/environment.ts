/**
 * Everything outside the simulated process: time, the service, its market, its other users, the network and the disk.
 *
 * Invariants: one clock moves it all; nothing in it knows the engine; a world is used for one story.
 * Not here: the processes that live in it (simulated-process.ts, process-supervisor.ts), what happens to it (fault-handlers.ts).
 */

import type { BacktestSpec, EmbeddedOptions } from "../../backtest/backtest-service.ts";
import { lognormal } from "../../backtest/latency.ts";
import { type SimulatedUser, userOf } from "../../backtest/simulated-service.ts";
import type { Clock } from "../../clock/clock.ts";
import { createVirtualClock, type VirtualClock } from "../../clock/virtual-clock.ts";
import { type Contract, createContract } from "../../contract/contract.ts";
import { limitHeaders } from "../../contract/limits.ts";
import type { OrderRecord } from "../../contract/schemas.ts";
import type { WireRequest, WireResponse } from "../../contract/transport.ts";
import { div, mul } from "../../decimal.ts";
import type { CheckedConfig } from "../../host/config.ts";
import type { Tape } from "../../market/tape/tape.ts";
import { type ClientOrderIds, createClientOrderIds } from "../../orders/client-order-id.ts";
import { createRandom, type Random } from "../../random.ts";
import { lateListings } from "../../venue/server/late-listings.ts";
import { createServiceClock } from "../../venue/server/service-clock.ts";
import { createVenue, type Venue } from "../../venue/venue.ts";
import type { CoverageMarks } from "./coverage-marks.ts";
import { type Fault, signOf } from "./fault.ts";
import { createSimulatedDisk, type SimulatedDisk } from "./faulty-disk.ts";
import type { Invariant, Violation } from "./invariants.ts";
import { createNetwork, type Network } from "./network.ts";
import { createOracle, type Oracle } from "./oracle.ts";
import { createPushes, type Pushes } from "./pushes.ts";
import { createQuotaInvariants, type QuotaInvariants } from "./quota-invariants.ts";

export interface Environment {
  readonly time: VirtualClock;
  /** The service's own time. */
  readonly service: Clock;
  readonly startAt: number;
  readonly contract: Contract;
  readonly config: CheckedConfig;
  readonly tape: Tape;
  readonly venue: Venue;
  readonly users: readonly SimulatedUser[];
  readonly uidOf: (key: string | undefined) => string;
  readonly ids: ClientOrderIds;
  readonly random: Random;
  readonly network: Network;
  readonly pushes: ReadonlyMap<string, Pushes>;
  readonly disk: SimulatedDisk;
  readonly oracle: Oracle;
  readonly quota: QuotaInvariants;
  readonly marks: CoverageMarks;
  /** The machine's calendar against the steady scale. */
  readonly calendar: { offsetMs: number };
  /** Faults in force that change what listings show, by endpoint. */
  readonly lags: { pendingOrders: Fault | undefined; orderHistory: Fault | undefined };
  /** Why the port to the service refuses orders. */
  refusal: string | undefined;
  /** Products whose steps were changed. */
  readonly coarser: Set<string>;
  /** A journal was taken away. */
  amnesia: boolean;
  readonly violations: Violation[];
  readonly fail: (invariant: Invariant, text: string) => void;
  readonly tell: (line: string) => void;
}

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
  return createServiceClock(time, { offsetMs: skew === undefined ? 0 : signOf(skew) * skew.size, steps });
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

type Handle = (request: WireRequest, uncalled: boolean) => WireResponse;

/** Listings of a while ago, where a fault says so. */
const listingsOf = (environment: Pick<Environment, "venue" | "contract" | "service" | "lags">, faults: readonly Fault[]) => {
  const { venue, contract, service, lags } = environment;
  const late = new Map(
    faults.filter(({ kind }) => kind.endsWith("-lag")).map((fault) => [fault, lateListings(venue, contract, service, fault.size)]),
  );
  return (request: WireRequest, uid: string, answer: WireResponse): WireResponse => {
    const { endpoint, query } = request;
    const fault = endpoint === "pendingOrders" || endpoint === "orderHistory" ? lags[endpoint] : undefined;
    const views = fault === undefined ? undefined : late.get(fault);
    return views === undefined ? answer : views.asOf(endpoint, uid, query, answer);
  };
};

export const createEnvironment = ({ config, tape, startAt, seed, faults, marks, tell: tellAt }: EnvironmentOptions): Environment => {
  const contract = createContract(config.profile);
  const forgetful = faults.some(({ kind }) => kind === "forgetful");
  // Only the service's side of it: the engine goes by what it was told of the service.
  const kept = forgetful
    ? createContract({ ...config.profile, history: { ...config.profile.history, unfilledCanceledVanish: true } })
    : contract;
  const time = createVirtualClock(startAt - leadMs);
  const service = serviceClockOf(time, startAt, faults);
  const users = usersOf(config);
  const venue = venueOf(kept, config, tape, users);
  const random = createRandom(seed);
  const ids = createClientOrderIds(config.instance);
  const disk = createSimulatedDisk();
  const violations: Violation[] = [];
  const { latency = lognormal({ medianMs: 25 }), timeoutMs = 10_000 } = optionsOf(config);
  const ways = latency.make(random.fork("latency"));
  const uids = new Map(users.flatMap(({ uid, keys }) => keys.map(({ name }) => [name, uid] as const)));
  const uidOf = (key: string | undefined): string => uids.get(key ?? "") ?? "";
  const tell = (line: string): void => {
    tellAt(time.now() - startAt, line);
  };
  const fail = (invariant: Invariant, text: string): void => {
    violations.push({ invariant, at: time.now() - startAt, text });
    tell(`VIOLATION ${invariant}: ${text}`);
  };
  const quota = createQuotaInvariants(contract, () => service.now(), fail);
  const lags = { pendingOrders: undefined, orderHistory: undefined };
  const shown = listingsOf({ venue, contract: kept, service, lags }, faults);
  const handle: Handle = (request, uncalled) => {
    const { endpoint, method, path, query, body, key } = request;
    if (uncalled) quota.excuse();
    const answer = venue.handle({ method, path, query, body, key, ip: address }, service.now());
    tell(
      `the service answers ${endpoint} with ${answer.status} ${codeOf(answer)}, weight used ${answer.headers[limitHeaders.uidUsed] ?? "?"}`,
    );
    quota.arrived(request, answer, environment.oracle.live.size);
    return shown(request, uidOf(key), answer);
  };
  const { mark } = marks;
  const date = (): string => new Date(service.now()).toUTCString();
  const network = createNetwork({
    date,
    time,
    latency: ways,
    timeoutMs,
    handle,
    mark,
    unavailableCode: contract.profile.answers.unavailableCode,
    hush: (request) => {
      pushes.get(uidOf(request.key))?.arm(silence);
    },
    nibble: (request) => {
      const named = [request.body].flat() as readonly CancelElement[];
      const order = [...oracle.live.values()].find((live) =>
        named.some(({ ordId, clOrdId }) => live.ordId === ordId || live.clOrdId === clOrdId),
      );
      if (order !== undefined) nibble(environment, order);
    },
  });
  const pushes = new Map(users.map(({ uid }) => [uid, createPushes(time, venue, uid, () => ways.responseMs(), mark)] as const));
  const amnesia = (): boolean => environment.amnesia;
  const now = (): number => time.now();
  const calendar = { offsetMs: 0 };
  const wallNow = (): number => time.now() + calendar.offsetMs;
  const halted = (): boolean => disk.halted;
  const oracle = createOracle({ contract, ids, now, wallNow, durable: disk.durable, amnesia, forgetful, halted, fail });
  venue.onOrder((uid, record) => {
    tell(`at the service ${record.clOrdId || record.ordId} is ${record.state}, filled ${record.accFillSz || "0"} of ${record.sz}`);
    oracle.order(uid, record);
  });
  const parts = { time, service, startAt, contract, config, tape, venue, users, uidOf, ids, random, network, pushes, disk, oracle };
  const environment: Environment = {
    ...parts,
    quota,
    marks,
    calendar,
    lags,
    refusal: undefined,
    coarser: new Set(),
    amnesia: false,
    violations,
    fail,
    tell,
  };
  return environment;
};

type CancelElement = { readonly clOrdId?: string; readonly ordId?: string };

const silence: Fault = { kind: "push-silent", at: 0, size: 0, forMs: 15_000, pick: 0 };

/** The market comes to a resting order of ours, shows one lot before it and takes that and half of the order. */
const nibble = ({ tape, venue, service, tell }: Environment, { instId, clOrdId, side, px, sz }: OrderRecord): void => {
  const { tickSize = "1", lotSize = "1" } = tape.instruments.find((instrument) => instrument.instId === instId) ?? {};
  const half = Math.floor(Number(div(sz, mul(px, lotSize), 0)) / 2);
  const ticks = Number(div(px, tickSize, 0));
  const [bid, ask, taker] = side === "buy" ? ([ticks, ticks + 1, "sell"] as const) : ([ticks - 1, ticks, "buy"] as const);
  tell(`somebody takes a part of ${clOrdId}`);
  venue.quote(instId, bid, 1, ask, 1, service.now());
  venue.trade(instId, taker, ticks, 1 + half, service.now());
};

const codeOf = ({ body }: WireResponse): string => {
  const { code = "", msg = "" } = (body ?? {}) as { readonly code?: string; readonly msg?: string };
  return `${code} ${msg}`.trim();
};
