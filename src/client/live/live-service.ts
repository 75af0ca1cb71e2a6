/**
 * `live(…)`: the service itself, as a config names it.
 *
 * Invariants: nothing is opened before `start`, and nothing is left when `stop` has resolved; on mainnet no order may be sent
 * before the unit of `sz` was stated or confirmed; orders are pushed where the private channel works and polled where not.
 * Not here: requests (client/transport/http.ts), channels (client/transport/socket-pool.ts), market data (live-market.ts), pushes (order-pushes.ts).
 */
import { resolve } from "node:path";
import type { Clock } from "../../clock/clock.ts";
import { afterArrivals, createSystemClock } from "../../clock/system-clock.ts";
import type { Contract } from "../../contract/contract.ts";
import { type Environment, websocketLimits } from "../../contract/limits.ts";
import { parseHuman } from "../../contract/validate.ts";
import type { OpenService, ServiceEnv, ServiceSpec, ServiceUser } from "../service-port.ts";
import { readBaseUrl } from "../transport/base-url.ts";
import { HttpTransport } from "../transport/http.ts";
import { createServiceTime, type ServiceTime } from "../transport/service-time.ts";
import { createFaultySigner, createSigner, faultyName, keyFaults, type Signer } from "../transport/sign.ts";
import { type OpenSocket, openWebSocket } from "../transport/socket.ts";
import { type Login, SocketPool } from "../transport/socket-pool.ts";
import { type Anomalies, createAnomalies } from "./anomalies.ts";
import { noteEndings } from "./endpoint-endings.ts";
import { createInstrumentCache } from "./instrument-cache.ts";
import { type KnownUser, type LiveKey, type LiveUsers, readUsers } from "./key-material.ts";
import { createLiveMarket } from "./live-market.ts";
import { createOrderPushes, type OrderPushes } from "./order-pushes.ts";
import { toBaseFor } from "./quantities.ts";
import { confirmationPath, confirms, readConfirmation } from "./size-unit-confirmation.ts";
import { checkSocketUrl, socketUrlOf } from "./socket-url.ts";

/** Options of the live service. Times are milliseconds. */
export interface LiveOptions {
  readonly environment: Environment;
  /** Scheme and host, such as "https://api.example.com". */
  readonly baseUrl: string;
  /** The WebSocket, when it is not at the profile's path of the same host. */
  readonly wsUrl?: string;
  /** Keys of the one user, called "main". */
  readonly keys?: readonly LiveKey[];
  /** Keys of several users by a label of your choice; instead of `keys`. */
  readonly users?: LiveUsers;
  /** How long an answer may take. Default 10 000. */
  readonly timeoutMs?: number;
  /** Whether order records are taken from the private channel; otherwise they are polled. Default true. */
  readonly push?: boolean;
  /** The file in which `sluice doctor` keeps what it found out about `sz`. Default ".sluice/confirmed.json". */
  readonly confirmation?: string;
  /** The time to trade on instead of the machine's, for tests. */
  readonly clock?: Clock;
  /** What opens a socket instead of the network, for tests. */
  readonly openSocket?: OpenSocket;
}

export interface LiveSpec extends ServiceSpec {
  readonly kind: "live";
  readonly environment: Environment;
  readonly baseUrl: string;
  /** The file that tells what `sz` counts, where it is not the usual one. */
  readonly confirmation?: string;
  open(env: ServiceEnv): OpenLive;
}

export interface OpenLive extends OpenService {
  /** What should not have happened on the wire, by kind. */
  readonly anomalies: ReadonlyMap<string, number>;
  /** What stands open now. */
  readonly counts: () => { readonly requests: number; readonly sockets: number; readonly subscriptions: number };
  stop(): Promise<void>;
}

const optionsSchema = {
  type: "object",
  additionalProperties: false,
  required: ["environment", "baseUrl"],
  properties: {
    environment: { type: "string", enum: ["testnet", "mainnet"] },
    baseUrl: { type: "string", minLength: 1 },
    wsUrl: { type: "string", minLength: 1 },
    timeoutMs: { type: "number", exclusiveMinimum: 0 },
    push: { type: "boolean" },
    confirmation: { type: "string", minLength: 1 },
  },
} as const;

type Checked = Omit<LiveOptions, "keys" | "users" | "clock" | "openSocket">;

/** The one address this machine calls from; the service counts requests by it. */
const ip = "local";

/** The service over the network: real orders. */
export const live = ({ keys, users: given, clock, openSocket = openWebSocket, ...options }: LiveOptions): LiveSpec => {
  const checked = parseHuman<Checked>(optionsSchema, options, "live options");
  readBaseUrl(checked.baseUrl);
  if (checked.wsUrl !== undefined) checkSocketUrl(checked.wsUrl);
  const users = readUsers(keys, given, "live options");
  const { environment, baseUrl, confirmation } = checked;
  return {
    kind: "live",
    environment,
    baseUrl,
    ...(confirmation === undefined ? {} : { confirmation }),
    open: (env) => open(checked, users, env, clock ?? createSystemClock(), openSocket),
  };
};

const open = (options: Checked, users: readonly KnownUser[], env: ServiceEnv, clock: Clock, openSocket: OpenSocket): OpenLive => {
  const { baseUrl, push = true, timeoutMs } = options;
  const { contract, onError } = env;
  const { profile } = contract;
  const anomalies = createAnomalies(env.onAnomaly);
  const time = createServiceTime(clock);
  const signers = signersOf(contract, users, env.faultyKeys === true);
  const http = new HttpTransport({
    baseUrl,
    profile,
    signers,
    clock,
    time,
    headers: env.headers ?? [],
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const listed = createInstrumentCache(contract);
  const pool = new SocketPool({
    url: options.wsUrl ?? socketUrlOf(baseUrl, profile.websocket.path),
    open: openSocket,
    clock,
    random: env.random.fork("sockets"),
    websocket: profile.websocket,
    limits: websocketLimits,
    leave: () => env.leave(ip),
    onAnomaly: anomalies.note,
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
  const pushed = users.map((user) => pushesOf(user, push, env, signers, time, anomalies));
  const refusal = refusalOf(options, contract);
  return {
    clock,
    transport: listed.watch(noteEndings(anomalies.note)(http.transport)),
    market,
    users: pushed.map(({ user }) => user),
    ordersRefused: () => refusal,
    watchful: true,
    realTime: true,
    assumptions: assumptionsOf(options, contract),
    anomalies: anomalies.counts,
    counts: () => ({ requests: http.open(), sockets: pool.counts().sockets, subscriptions: pool.counts().subscriptions }),
    start: () => {
      for (const { pushes } of pushed) pushes.start(pool);
      pool.start();
    },
    stop: async () => {
      market.stop();
      for (const { pushes } of pushed) pushes.stop();
      await Promise.all([pool.close(), http.close()]);
    },
  };
};

const signersOf = ({ profile }: Contract, users: readonly KnownUser[], faulty: boolean): ReadonlyMap<string, Signer> => {
  const signers = new Map<string, Signer>();
  for (const { name, credentials } of users.flatMap(({ keys }) => keys)) {
    signers.set(name, createSigner(profile, credentials));
    for (const fault of faulty ? keyFaults : []) signers.set(faultyName(name, fault), createFaultySigner(profile, credentials, fault));
  }
  return signers;
};

/** A user and what is pushed to it: over the first key that may read orders. */
const pushesOf = (
  { uid, keys }: KnownUser,
  push: boolean,
  { contract, onError }: ServiceEnv,
  signers: ReadonlyMap<string, Signer>,
  time: ServiceTime,
  anomalies: Anomalies,
): { readonly user: ServiceUser; readonly pushes: OrderPushes } => {
  const reader = keys.find(({ permissions }) => permissions.includes(contract.endpoints.pendingOrders.permission));
  const signer = push && reader !== undefined ? signers.get(reader.name) : undefined;
  const login: Login | undefined = signer && { name: uid, arg: () => signer.login(time.wallNow()) };
  const pushes = createOrderPushes({ contract, login, onAnomaly: anomalies.note, onError, afterArrivals });
  const grants = keys.map(({ name, permissions }) => ({ name, permissions }));
  return { user: { uid, ip, keys: grants, pushes$: pushes.pushes$, pushing$: pushes.pushing$ }, pushes };
};

/** Why no order may be sent on mainnet, if so: the meaning of `sz` decides how much money an order is. */
const refusalOf = ({ environment, baseUrl, confirmation = confirmationPath }: Checked, contract: Contract): string | undefined => {
  if (environment !== "mainnet" || contract.stated("order.szUnit")) return undefined;
  const { szUnit } = contract.profile.order;
  const path = resolve(confirmation);
  if (confirms({ baseUrl, szUnit }, readConfirmation(path))) return undefined;
  return `On mainnet no order is sent before it is known what sz counts: it is assumed to be ${spelled(szUnit)}. Run \`sluice doctor\` against the testnet, which writes ${confirmation}, or state it: profile: { order: { szUnit: { SPOT: "${szUnit.SPOT}", SWAP: "${szUnit.SWAP}" } } }.`;
};

const spelled = ({ SPOT, SWAP }: { readonly SPOT: string; readonly SWAP: string }): string =>
  `${SPOT.replace("_", " ")} for spot and ${SWAP.replace("_", " ")} for swaps`;

const assumptionsOf = ({ environment, push = true }: Checked, contract: Contract): readonly string[] => {
  const { order, websocket } = contract.profile;
  return [
    `${environment}: real orders over the network`,
    `sz counts ${spelled(order.szUnit)} (${contract.stated("order.szUnit") ? "stated" : "assumed"}); fee sign: ${order.feeSign.replaceAll("_", " ")}`,
    `quantities of market data count ${websocket.szUnit.replace("_", " ")}; the volume of whole minutes is as the service tells it`,
    push ? "order records are pushed while the private channel is whole, and polled otherwise" : "order records are polled",
    "fields, channels and messages the description does not show are those of the profile",
  ];
};
