/**
 * Live service: `live(…)` in a config, trading over the network.
 *
 * Invariants: nothing is loaded or opened before `load` and `start`, and nothing is left when `stop` has resolved; on
 * mainnet no order is sent before the unit of `sz` was stated or confirmed; orders are pushed while the private channel
 * works and polled otherwise.
 * Not here: the connection (live-connection.ts).
 */

import { EMPTY, Observable, type Subscriber, skip } from "rxjs";
import type { Clock } from "../../clock/clock.ts";
import { createSystemClock } from "../../clock/system-clock.ts";
import type { Assumption } from "../../contract/assumption.ts";
import type { Contract } from "../../contract/contract.ts";
import type { Environment } from "../../contract/limits.ts";
import { szUnitWords } from "../../contract/profile.ts";
import type { OrderRecord } from "../../contract/schemas.ts";
import { parseHuman } from "../../contract/validate.ts";
import { SluiceError } from "../../errors.ts";
import type { OpenCounts, OpenService, ServiceEnv, ServiceSpec, ServiceUser } from "../service-port.ts";
import type { Dialect } from "../transport/dialect.ts";
import { checkSocketUrl, readBaseUrl } from "../transport/service-address.ts";
import type { OpenSocket } from "../transport/socket.ts";
import { type KnownUser, type LiveKey, type LiveUsers, readUsers } from "./key-material.ts";
import type { LiveConnection } from "./live-connection.ts";

/** Options of the live service. Times are milliseconds. */
export interface LiveOptions {
  /** `testnet` or `mainnet`. On mainnet orders need `--mainnet` and a confirmed meaning of `sz`. */
  readonly environment: Environment;
  /** Scheme and host, such as "https://api.example.com". */
  readonly baseUrl: string;
  /**
   * The WebSocket, when it is not at the profile's path of the same host. A host alone is followed by the usual path.
   */
  readonly wsUrl?: string;
  /** The exchange's dialect, where it is not the described service. */
  readonly dialect?: Dialect;
  /**
   * Confirms that you have traded at this exchange in this dialect yourself. Without it, an `untried` dialect sends no
   * order on mainnet.
   */
  readonly iTestedThis?: boolean;
  /** Keys of the one user, called "main". */
  readonly keys?: readonly LiveKey[];
  /** Keys of several users by a label of your choice; instead of `keys`. */
  readonly users?: LiveUsers;
  /** Longest wait for an answer, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number;
  /** Order records are taken from the private channel; otherwise they are polled. Default true. */
  readonly push?: boolean;
  /** The file in which `sluice doctor` stores its finding about `sz`. Default ".sluice/confirmed.json". */
  readonly confirmation?: string;
  /** Clock to use instead of the machine's, for tests. */
  readonly clock?: Clock;
  /** Opens a socket instead of the network, for tests. */
  readonly openSocket?: OpenSocket;
}

/** The service over the network, as a config names it: what `live` returns. */
export interface LiveSpec extends ServiceSpec {
  readonly kind: "live";
  readonly environment: Environment;
  readonly baseUrl: string;
  /** Path of the file that confirms the unit of `sz`, where it is not the default. */
  readonly confirmation?: string;
  /**
   * Name of the dialect, where it has not been tried at the exchange itself and the config does not state that it was
   * tested.
   */
  readonly untried?: string;
  /** Dialect of the service, where it is not the described one. */
  readonly dialect?: Dialect;
  open(env: ServiceEnv): OpenLive;
}

/** The service over the network while an engine runs on it. */
export interface OpenLive extends OpenService {
  /** Number of anomalies on the wire, by kind. */
  readonly anomalies: ReadonlyMap<string, number>;
  readonly counts: () => OpenCounts;
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
    iTestedThis: { type: "boolean" },
  },
} as const;

type Checked = Omit<LiveOptions, "keys" | "users" | "clock" | "openSocket"> & Pick<LiveSpec, "untried">;

/** The one address that this machine calls from. The service counts requests by it. */
const ip = "local";

/**
 * The service over the network: real orders.
 *
 * @param options - environment, address and keys; see `LiveOptions`
 * @returns a service for a config
 * @throws CONFIG_INVALID with every mistake in the options
 */
export const live = ({ keys, users: given, clock, openSocket, dialect, ...options }: LiveOptions): LiveSpec => {
  const checked = { ...parseHuman<Checked>(liveSchema, options, "live options"), ...(dialect && { dialect }) };
  readBaseUrl(checked.baseUrl);
  if (checked.wsUrl !== undefined) checkSocketUrl(checked.wsUrl);
  const users = readUsers(keys, given, "live options");
  const { environment, baseUrl, confirmation, iTestedThis = false } = checked;
  const untried = dialect === undefined || dialect.tried === true || iTestedThis ? undefined : dialect.name;
  return {
    kind: "live",
    environment,
    baseUrl,
    ...(confirmation === undefined ? {} : { confirmation }),
    ...(untried !== undefined && { untried }),
    ...(dialect?.profile && { profile: dialect.profile }),
    ...(dialect?.layers && { layers: dialect.layers }),
    ...(dialect && { dialect }),
    open: (env) => {
      const unsaid = env.iTestedThis === true ? undefined : untried;
      return open(
        { ...checked, ...(unsaid !== undefined && { untried: unsaid }) },
        users,
        env,
        clock ?? createSystemClock(),
        openSocket,
      );
    },
  };
};

const open = (
  options: Checked,
  known: readonly KnownUser[],
  env: ServiceEnv,
  clock: Clock,
  openSocket: OpenSocket | undefined,
): OpenLive => {
  const { contract } = env;
  const anomalies = new Map<string, number>();
  const users = known.map((user) => new PushedUser(user));
  let connection: LiveConnection | undefined;
  const connected = (): LiveConnection => {
    if (connection !== undefined) return connection;
    throw new SluiceError("ENGINE_STATE", unloaded);
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
      candles: (instId, length, options) => connected().market.candles(instId, length, options),
      lastPx: (instId) => connected().market.lastPx(instId),
    },
    users,
    ...(options.dialect?.split && { inParts: (endpoint, input, read) => connected().inParts(endpoint, input, read) }),
    ordersRefused: () => (connection === undefined ? unloaded : connection.refusal),
    watchful: true,
    realTime: true,
    assumptions: assumptionsOf(options, contract),
    anomalies,
    counts: () => connection?.counts() ?? { requests: 0, sockets: 0, subscriptions: 0 },
    load: async () => {
      // Code that only defines a service, such as a test of its strategies, does not load sockets and signatures.
      const { connect } = await import("./live-connection.ts");
      if (connection !== undefined) return;
      const made = connect({ ...options, clock, users: known, ip, env, anomalies, openSocket });
      users.forEach((user, index) => {
        user.begin(made.pushes[index] as PushedStreams);
      });
      connection = made;
    },
    start: () => {
      connected().start();
    },
    stop: async () => {
      await connection?.stop();
      for (const user of users) user.end();
    },
  };
};

const unloaded = "The service is not loaded. Await its load() before anything is asked of it.";

type PushedStreams = Pick<ServiceUser, "pushes$" | "pushing$">;

/** A user, with the streams of what will be pushed to it. */
class PushedUser implements ServiceUser {
  readonly uid: string;
  readonly ip = ip;
  readonly keys: ServiceUser["keys"];
  readonly #pushes = new LateStream<OrderRecord>();
  readonly #pushing = new LateStream<boolean>(false);
  readonly pushes$ = this.#pushes.stream;
  readonly pushing$ = this.#pushing.stream;

  constructor({ uid, keys }: KnownUser) {
    this.uid = uid;
    this.keys = keys.map(({ name, permissions }) => ({ name, permissions }));
  }

  begin({ pushes$, pushing$ }: PushedStreams): void {
    this.#pushes.begin(pushes$);
    this.#pushing.begin(pushing$);
  }

  end(): void {
    this.#pushes.begin(EMPTY);
    this.#pushing.begin(EMPTY);
  }
}

/**
 * A stream that exists before its source: an early subscriber receives the first value and is then connected to the
 * source.
 */
class LateStream<T> {
  readonly #waiting = new Set<Subscriber<T>>();
  readonly stream: Observable<T>;
  #source: Observable<T> | undefined;

  /** `first` is the first value of the source, if it has one. */
  constructor(first?: T) {
    this.stream = new Observable((subscriber) => {
      if (this.#source !== undefined) return this.#source.subscribe(subscriber);
      if (first !== undefined) subscriber.next(first);
      this.#waiting.add(subscriber);
      return () => this.#waiting.delete(subscriber);
    });
    this.begin = (source) => {
      if (this.#source !== undefined) return;
      this.#source = source;
      const rest = first === undefined ? source : source.pipe(skip(1));
      for (const subscriber of this.#waiting) subscriber.add(rest.subscribe(subscriber));
      this.#waiting.clear();
    };
  }

  readonly begin: (source: Observable<T>) => void;
}

const assumptionsOf = ({ environment, push = true }: Checked, contract: Contract): readonly Assumption[] => {
  const { order, websocket } = contract.profile;
  const origin = contract.stated("order.szUnit") ? "as the config states" : "assumed, not stated";
  return [
    { what: "Orders", value: `real, at the ${environment}`, consequence: "" },
    {
      what: "Unit of sz",
      value: `${szUnitWords(order.szUnit)}, ${origin}; fee sign: ${order.feeSign.replaceAll("_", " ")}`,
      consequence: "a service that counts otherwise trades other sizes",
    },
    {
      what: "Unit of market data",
      value: websocket.szUnit.replace("_", " "),
      consequence: "the volume of whole minutes is that of the service",
    },
    push
      ? { what: "Order records", value: "pushed", consequence: "polled while the private channel is not whole" }
      : { what: "Order records", value: "polled", consequence: "a fill is known after the next poll" },
    {
      what: "Fields and channels",
      value: "those of the profile, where the description shows none",
      consequence: "`sluice doctor` finds those that differ",
    },
  ];
};
