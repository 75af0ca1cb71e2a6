/**
 * The port to a service: everything an engine needs from the world outside, in one value.
 *
 * Invariants: live, paper, backtest, simulation and replay differ only in what they put here; nothing above asks which one it is.
 */
import type { Observable } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { LayerSpec } from "../contract/layer-spec.ts";
import type { ProfileOverrides } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { Transport, WireRequest } from "../contract/transport.ts";
import type { HistorySource } from "../market/history.ts";
import type { Market } from "../market/market-data.ts";
import type { Random } from "../random.ts";
import type { User } from "./gateway.ts";
import type { ReadInParts } from "./split-read.ts";

export interface ServiceEnv {
  readonly contract: Contract;
  readonly random: Random;
  /** What a user's callback threw, for reporting. */
  readonly onError: (error: unknown) => void;
  /** What should not have happened at the service or on the way, for the journal: a short name and a sentence. */
  readonly onAnomaly: (what: string, detail: string) => void;
  /** Market data may be missing from now on, as after a lost connection, for who records it; told each time, unlike an anomaly. */
  readonly onBreak?: (why: string) => void;
  /**
   * Leave for one unsigned request of an address that no gateway sends, such as opening a socket: undefined when it may be made
   * now and has been charged, otherwise the instant to ask again.
   */
  readonly leave: (ip: string) => number | undefined;
  /**
   * Why a request must not leave after all, asked at the last moment: when its bytes are about to. It then fails with NOT_LEADING. Only a
   * service over a network asks.
   */
  readonly mayNot?: (request: WireRequest) => string | undefined;
  /** Names of answer headers that the engine reads, in lower case; a service hands them on, whatever else it leaves out. */
  readonly headers?: readonly string[];
  /** Besides each key, the service also takes requests of its faulty twins (`faultyName`), to see whether it checks credentials. */
  readonly faultyKeys?: boolean;
  /** Its user says to have traded there in the dialect of the config. */
  readonly iTestedThis?: boolean;
}

/** A user of the service with its keys, and what the service pushes to it. */
export interface ServiceUser extends User {
  /** Order records pushed by the service; never errors, ends with the service. */
  readonly pushes$: Observable<OrderRecord>;
  /**
   * True while every change of this user's orders is pushed, false while some may be missed; the present state comes first.
   * Each turn to true asks for the state to be read once: what happened in between was not told.
   */
  readonly pushing$: Observable<boolean>;
}

/** What stands open between an engine and its service. */
export interface OpenCounts {
  /** Requests without an answer. */
  readonly requests: number;
  readonly sockets: number;
  /** Channels that are subscribed, over all sockets. */
  readonly subscriptions: number;
}

/** A service while an engine runs on it: its clock, its requests, its market and its users. */
export interface OpenService {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly market: Market;
  /** What came before, where the service itself knows it, at once and in virtual time. */
  readonly history?: HistorySource;
  /** At least one; the first is meant where a strategy names none. Key names are unique over all of them. */
  readonly users: readonly ServiceUser[];
  /** Asks for a read in the parts that the service answers it in, each a request of its own; every read is one request when left out. */
  readonly inParts?: ReadInParts;
  /** Why no order may be sent now, in words; undefined when orders may. Cancels and reads always may. */
  readonly ordersRefused?: () => string | undefined;
  /** True where time passes by itself and other people's money waits: a process that stands still is then noticed. */
  readonly watchful?: boolean;
  /** True where the clock is the machine's own and nothing else is: other threads and processes may then take part. */
  readonly realTime?: boolean;
  /** True where the list of products cannot change while the engine runs: it is read once, and not again by the hour. */
  readonly listFixed?: boolean;
  /** What stands open now, where there is a network. */
  readonly counts?: () => OpenCounts;
  /** What the run assumes about the world, in sentences, for reports. */
  readonly assumptions: readonly string[];
  /** Loads code that only a running service needs. Called and awaited before `start`, where there is any to load. */
  readonly load?: () => Promise<void>;
  /** Called once, before anything is asked. */
  start(): void;
  /** Called once; nothing may be left afterwards: no timer, no socket. Resolves when all is closed. */
  stop(): void | Promise<void>;
}

/** Where to trade, as a config names it: what `backtest`, `paper` and `live` return. Nothing is opened before the engine starts. */
export interface ServiceSpec {
  readonly kind: string;
  /** Where the service is, where it is somewhere. */
  readonly baseUrl?: string;
  /** `testnet` or `mainnet`, where orders leave this machine. */
  readonly environment?: string;
  /** What is known of the service beyond its description. A config's own rows win. */
  readonly profile?: ProfileOverrides;
  /** Its rate-limit layers, where they are not the three described. Those of a config win. */
  readonly layers?: readonly LayerSpec[];
  open(env: ServiceEnv): OpenService;
}
