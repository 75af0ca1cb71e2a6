/**
 * Network connection to the service: requests, channels and market data, wired together.
 *
 * Invariants: nothing is opened before `start`, and nothing is left when `stop` has resolved.
 * Not here: requests (client/transport/http.ts), channels (client/transport/socket-pool.ts), market data
 * (live-market.ts), pushes (order-pushes.ts), the service as an engine sees it (live-service.ts), which loads this file
 * when it is going to be used.
 */
import { resolve } from "node:path";
import type { Clock } from "../../clock/clock.ts";
import { afterArrivals } from "../../clock/system-clock.ts";
import type { Contract } from "../../contract/contract.ts";
import type { Environment } from "../../contract/limits.ts";
import { szUnitWords } from "../../contract/profile.ts";
import type { Transport } from "../../contract/transport.ts";
import type { ServiceEnv } from "../service-port.ts";
import { inPartsOf, type ReadInParts } from "../split-read.ts";
import { type Dialect, type WholeDialect, wholeDialect } from "../transport/dialect.ts";
import { HttpTransport } from "../transport/http.ts";
import { socketUrlOf } from "../transport/service-address.ts";
import { createServiceTime } from "../transport/service-time.ts";
import {
  createFaultySigner,
  createSigner,
  faultyName,
  type KeySigner,
  keyFaults,
  type Signer,
} from "../transport/sign.ts";
import { type OpenSocket, openWebSocket } from "../transport/socket.ts";
import { type Login, SocketPool } from "../transport/socket-pool.ts";
import { AccountCheck } from "./account-check.ts";
import { createAnomalies } from "./anomalies.ts";
import { noteEndings } from "./endpoint-endings.ts";
import { createInstrumentCache } from "./instrument-cache.ts";
import type { KnownUser } from "./key-material.ts";
import { createLiveMarket, type LiveMarket } from "./live-market.ts";
import { createOrderPushes, type OrderPushes } from "./order-pushes.ts";
import { toBaseFor } from "./quantities.ts";
import { confirmationPath, confirms, readConfirmation } from "./size-unit-confirmation.ts";

/** Facts about a service that decide whether orders may leave. */
interface Placed {
  readonly environment: Environment;
  readonly baseUrl: string;
  /** The confirmation file, if it is not the usual one. */
  readonly confirmation?: string;
  /** Name of the dialect, if it has not been tested at the exchange itself. */
  readonly untried?: string;
}

interface ConnectionOptions extends Placed {
  readonly wsUrl?: string;
  readonly timeoutMs?: number;
  readonly push?: boolean;
  readonly dialect?: Dialect | undefined;
  readonly clock: Clock;
  readonly users: readonly KnownUser[];
  /** The address this machine calls from. */
  readonly ip: string;
  readonly env: ServiceEnv;
  /** Number of anomalies of each kind. */
  readonly anomalies: Map<string, number>;
  /** Opens a socket in place of the network. */
  readonly openSocket: OpenSocket | undefined;
}

export interface LiveConnection {
  readonly inParts: ReadInParts;
  readonly transport: Transport;
  readonly market: LiveMarket;
  /** Pushes of each user, in the order given. */
  readonly pushes: readonly Pick<OrderPushes, "pushes$" | "pushing$">[];
  /** Reason why no order may be sent. */
  readonly refusal: string | undefined;
  readonly counts: () => { readonly requests: number; readonly sockets: number; readonly subscriptions: number };
  start(): void;
  stop(): Promise<void>;
}

export const connect = (options: ConnectionOptions): LiveConnection => {
  const { baseUrl, timeoutMs, clock, users, env, push = true } = options;
  const { contract, onError } = env;
  const { profile } = contract;
  const anomalies = createAnomalies(env.onAnomaly, options.anomalies);
  const time = createServiceTime(clock);
  const dialect = wholeDialect(options.dialect);
  const signers = signersOf(contract, users, dialect, env.faultyKeys === true);
  const way = {
    baseUrl,
    profile,
    signers,
    clock,
    time,
    headers: env.headers ?? [],
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  const http = new HttpTransport({ ...way, dialect, mayNot: env.mayNot });
  const uidOf = new Map(users.flatMap(({ uid, keys }) => keys.map(({ name }) => [name, uid] as const)));
  const accounts = new AccountCheck({ setup: dialect.account, http: way, uidOf, onAnomaly: anomalies.note });
  const listed = createInstrumentCache(contract);
  const pool = new SocketPool({
    url: (arg) => socketUrlOf(baseUrl, options.wsUrl, dialect.socketPath(arg, profile)),
    open: options.openSocket ?? openWebSocket,
    clock,
    random: env.random.fork("sockets"),
    websocket: profile.websocket,
    dialect,
    leave: () => env.leave(options.ip),
    redact: (said, sent) => [...signers.values()].reduce((clean, { redact }) => redact(clean, sent), said),
    onAnomaly: (what, detail) => {
      if (isBreak(what)) env.onBreak?.(`${what}: ${detail}`);
      anomalies.note(what, detail);
    },
  });
  const market = createLiveMarket({
    clock,
    serviceNow: () => time.wallNow(),
    subscribe: (arg, listener) => pool.subscribe(arg, listener),
    channels: profile.websocket.publicChannels,
    toBase: toBaseFor(profile.websocket.szUnit, listed.contractValue),
    isListed: listed.isListed,
    onAnomaly: anomalies.note,
    onError,
  });
  const loginOf = (uid: string, signer: Signer): Login => ({ name: uid, arg: () => signer.login(time.wallNow()) });
  const pushes = users.map(() => createOrderPushes({ contract, onAnomaly: anomalies.note, onError, afterArrivals }));
  const unit = unitRefusal(options, contract);
  return {
    inParts: inPartsOf(dialect.split),
    transport: listed.watch(noteEndings(anomalies.note)(accounts.interceptor(http.transport))),
    market,
    pushes,
    get refusal() {
      return untriedRefusal(options) ?? unit ?? accounts.problem;
    },
    counts: () => ({
      requests: http.open(),
      sockets: pool.counts().sockets,
      subscriptions: pool.counts().subscriptions,
    }),
    start: () => {
      if (options.untried !== undefined)
        anomalies.note(
          "dialect.untried",
          `${options.untried} has not traded at the exchange itself yet: watch it closely`,
        );
      users.forEach(({ uid, keys }, index) => {
        // Subscribed with the first key that may read orders.
        const reader = keys.find(({ permissions }) =>
          permissions.includes(contract.endpoints.pendingOrders.permission),
        );
        const signer = push && reader !== undefined ? signers.get(reader.name) : undefined;
        if (signer !== undefined) pushes[index]?.start(pool, loginOf(uid, signer));
      });
      pool.start();
    },
    stop: async () => {
      market.stop();
      for (const one of pushes) one.stop();
      await Promise.all([pool.close(), http.close(), accounts.close()]);
    },
  };
};

/** True if market data may be missing between the messages before and after this anomaly. */
const isBreak = (what: string): boolean => breaks.has(what);

const breaks: ReadonlySet<string> = new Set(["socket.lost", "channel.repaired", "channel.gap", "channel.refused"]);

const signersOf = (
  { profile }: Contract,
  users: readonly KnownUser[],
  { signer }: WholeDialect,
  faulty: boolean,
): ReadonlyMap<string, KeySigner> => {
  const signers = new Map<string, KeySigner>();
  for (const { name, credentials } of users.flatMap(({ keys }) => keys)) {
    signers.set(name, createSigner(profile, credentials, signer));
    for (const fault of faulty ? keyFaults : [])
      signers.set(faultyName(name, fault), createFaultySigner(profile, credentials, fault, signer));
  }
  return signers;
};

/**
 * Reason why no order may be sent on mainnet, if there is one: a dialect that was only tested with a copy of the
 * exchange may not match the exchange.
 */
const untriedRefusal = ({ environment, untried }: Placed): string | undefined =>
  environment === "mainnet" && untried !== undefined
    ? `On mainnet no order is sent in the dialect ${untried}, which has not traded at the exchange itself. Trade with it on the exchange's demo first, then confirm it: --i-tested-this, or iTestedThis: true in the service's options.`
    : undefined;

/**
 * Reason why no order may be sent on mainnet, if there is one: the meaning of `sz` decides how much money an order is.
 */
const unitRefusal = (
  { environment, baseUrl, confirmation = confirmationPath }: Placed,
  contract: Contract,
): string | undefined => {
  if (environment !== "mainnet" || contract.stated("order.szUnit")) return undefined;
  const { szUnit } = contract.profile.order;
  if (confirms({ baseUrl, szUnit }, readConfirmation(resolve(confirmation)))) return undefined;
  return `On mainnet no order is sent before it is known what sz counts: it is assumed to be ${szUnitWords(szUnit)}. Run \`sluice doctor\` against the testnet, which writes ${confirmation}, or state it: profile: { order: { szUnit: { SPOT: "${szUnit.SPOT}", SWAP: "${szUnit.SWAP}" } } }.`;
};
