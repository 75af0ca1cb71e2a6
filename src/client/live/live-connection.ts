/**
 * The connection to the service over the network: requests, channels and market data, wired together.
 *
 * Invariants: nothing is opened before `start`, and nothing is left when `close` has resolved.
 * Not here: requests (client/transport/http.ts), channels (client/transport/socket-pool.ts), market data (live-market.ts), the service
 * as an engine sees it (live-service.ts), which loads this file when it is going to be used.
 */
import type { Clock } from "../../clock/clock.ts";
import type { Contract } from "../../contract/contract.ts";
import { websocketLimits } from "../../contract/limits.ts";
import type { Transport } from "../../contract/transport.ts";
import type { ServiceEnv } from "../service-port.ts";
import { HttpTransport } from "../transport/http.ts";
import { socketUrlOf } from "../transport/service-address.ts";
import { createServiceTime } from "../transport/service-time.ts";
import { createFaultySigner, createSigner, faultyName, keyFaults, type Signer } from "../transport/sign.ts";
import { type OpenSocket, openWebSocket } from "../transport/socket.ts";
import { type Login, SocketPool } from "../transport/socket-pool.ts";
import type { Anomalies } from "./anomalies.ts";
import { noteEndings } from "./endpoint-endings.ts";
import { createInstrumentCache } from "./instrument-cache.ts";
import type { KnownUser } from "./key-material.ts";
import { createLiveMarket, type LiveMarket } from "./live-market.ts";
import type { OrderPushes } from "./order-pushes.ts";
import { toBaseFor } from "./quantities.ts";

interface ConnectionOptions {
  readonly baseUrl: string;
  readonly wsUrl?: string;
  readonly timeoutMs?: number;
  readonly clock: Clock;
  readonly users: readonly KnownUser[];
  /** The address this machine calls from. */
  readonly ip: string;
  readonly env: ServiceEnv;
  readonly anomalies: Anomalies;
  /** What opens a socket instead of the network. */
  readonly openSocket: OpenSocket | undefined;
}

/** Whose orders are pushed, over which of its keys; polled where there is none. */
interface PushedUser {
  readonly uid: string;
  readonly reader: string | undefined;
  readonly pushes: OrderPushes;
}

export interface LiveConnection {
  readonly transport: Transport;
  readonly market: LiveMarket;
  readonly counts: () => { readonly requests: number; readonly sockets: number; readonly subscriptions: number };
  start(pushed: readonly PushedUser[]): void;
  close(): Promise<void>;
}

export const connect = (options: ConnectionOptions): LiveConnection => {
  const { baseUrl, timeoutMs, clock, users, env, anomalies } = options;
  const { contract, onError } = env;
  const { profile } = contract;
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
    open: options.openSocket ?? openWebSocket,
    clock,
    random: env.random.fork("sockets"),
    websocket: profile.websocket,
    limits: websocketLimits,
    leave: () => env.leave(options.ip),
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
  const loginOf = (uid: string, signer: Signer): Login => ({ name: uid, arg: () => signer.login(time.wallNow()) });
  return {
    transport: listed.watch(noteEndings(anomalies.note)(http.transport)),
    market,
    counts: () => ({ requests: http.open(), sockets: pool.counts().sockets, subscriptions: pool.counts().subscriptions }),
    start: (pushed) => {
      for (const { uid, reader, pushes } of pushed) {
        const signer = reader === undefined ? undefined : signers.get(reader);
        if (signer !== undefined) pushes.start(pool, loginOf(uid, signer));
      }
      pool.start();
    },
    close: async () => {
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
