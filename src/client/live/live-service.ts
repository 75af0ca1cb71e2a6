/**
 * `live(…)`: the service itself, as a config names it.
 *
 * Invariants: nothing is loaded or opened before `load` and `start`, and nothing is left when `stop` has resolved; on mainnet no order
 * may be sent before the unit of `sz` was stated or confirmed; orders are pushed where the private channel works and polled where not.
 * Not here: what is opened (live-connection.ts), pushes (order-pushes.ts).
 */
import { resolve } from "node:path";
import type { Clock } from "../../clock/clock.ts";
import { afterArrivals, createSystemClock } from "../../clock/system-clock.ts";
import type { Contract } from "../../contract/contract.ts";
import type { Environment } from "../../contract/limits.ts";
import { parseHuman } from "../../contract/validate.ts";
import { SluiceError } from "../../errors.ts";
import type { OpenService, ServiceEnv, ServiceSpec, ServiceUser } from "../service-port.ts";
import { checkSocketUrl, readBaseUrl } from "../transport/service-address.ts";
import type { OpenSocket } from "../transport/socket.ts";
import { type Anomalies, createAnomalies } from "./anomalies.ts";
import { type KnownUser, type LiveKey, type LiveUsers, readUsers } from "./key-material.ts";
import type { LiveConnection } from "./live-connection.ts";
import { createOrderPushes, type OrderPushes } from "./order-pushes.ts";
import { confirmationPath, confirms, readConfirmation } from "./size-unit-confirmation.ts";

/** Options of the live service. Times are milliseconds. */
export interface LiveOptions {
  /** `testnet` or `mainnet`. On mainnet orders need `--mainnet` and a confirmed meaning of `sz`. */
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

/** The service over the network, as a config names it: what `live` returns. */
export interface LiveSpec extends ServiceSpec {
  readonly kind: "live";
  readonly environment: Environment;
  readonly baseUrl: string;
  /** The file that tells what `sz` counts, where it is not the usual one. */
  readonly confirmation?: string;
  open(env: ServiceEnv): OpenLive;
}

/** The service over the network while an engine runs on it. */
export interface OpenLive extends OpenService {
  /** What should not have happened on the wire, by kind. */
  readonly anomalies: ReadonlyMap<string, number>;
  /** What stands open now. */
  readonly counts: () => { readonly requests: number; readonly sockets: number; readonly subscriptions: number };
  stop(): Promise<void>;
}

export const liveSchema = {
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
export const live = ({ keys, users: given, clock, openSocket, ...options }: LiveOptions): LiveSpec => {
  const checked = parseHuman<Checked>(liveSchema, options, "live options");
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

const open = (
  options: Checked,
  users: readonly KnownUser[],
  env: ServiceEnv,
  clock: Clock,
  openSocket: OpenSocket | undefined,
): OpenLive => {
  const { push = true } = options;
  const { contract } = env;
  const anomalies = createAnomalies(env.onAnomaly);
  const pushed = users.map((user) => pushesOf(user, push, env, anomalies));
  const refusal = refusalOf(options, contract);
  let connection: LiveConnection | undefined;
  const connected = (): LiveConnection => {
    if (connection !== undefined) return connection;
    throw new SluiceError("ENGINE_STATE", "The service is not loaded. Await its load() before anything is asked of it.");
  };
  return {
    clock,
    transport: (request, sink) => {
      connected().transport(request, sink);
    },
    market: {
      trades: (instId) => connected().market.trades(instId),
      quotes: (instId) => connected().market.quotes(instId),
      books: (instId) => connected().market.books(instId),
      candles: (instId, barMs) => connected().market.candles(instId, barMs),
      lastPx: (instId) => connected().market.lastPx(instId),
    },
    users: pushed.map(({ user }) => user),
    ordersRefused: () => refusal,
    watchful: true,
    realTime: true,
    assumptions: assumptionsOf(options, contract),
    anomalies: anomalies.counts,
    counts: () => connection?.counts() ?? { requests: 0, sockets: 0, subscriptions: 0 },
    load: async () => {
      // What only defines a service, such as a test of its strategies, does not pay for sockets and signatures.
      const { connect } = await import("./live-connection.ts");
      connection ??= connect({ ...options, clock, users, ip, env, anomalies, openSocket });
    },
    start: () => {
      connected().start(pushed);
    },
    stop: async () => {
      connection?.market.stop();
      for (const { pushes } of pushed) pushes.stop();
      await connection?.close();
    },
  };
};

/** A user and what is pushed to it: over the first key that may read orders. */
const pushesOf = (
  { uid, keys }: KnownUser,
  push: boolean,
  { contract, onError }: ServiceEnv,
  anomalies: Anomalies,
): { readonly user: ServiceUser; readonly uid: string; readonly reader: string | undefined; readonly pushes: OrderPushes } => {
  const reader = keys.find(({ permissions }) => permissions.includes(contract.endpoints.pendingOrders.permission));
  const pushes = createOrderPushes({ contract, onAnomaly: anomalies.note, onError, afterArrivals });
  const grants = keys.map(({ name, permissions }) => ({ name, permissions }));
  const user = { uid, ip, keys: grants, pushes$: pushes.pushes$, pushing$: pushes.pushing$ };
  return { user, uid, reader: push ? reader?.name : undefined, pushes };
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
