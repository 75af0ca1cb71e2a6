/**
 * Service port: everything an engine needs from its environment, in one value.
 *
 * Invariants: live, paper, backtest, simulation and replay differ only in this value; nothing above depends on which
 * one it is.
 */

import type { Observable } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { Assumption } from "../contract/assumption.ts";
import type { Contract } from "../contract/contract.ts";
import type { LayerSpec } from "../contract/layer-spec.ts";
import type { ProfileOverrides, Side } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { Transport, WireRequest } from "../contract/transport.ts";
import type { HistorySource } from "../market/history.ts";
import type { Market } from "../market/market-data.ts";
import type { Random } from "../random.ts";
import type { User } from "./gateway.ts";
import type { ReadInParts } from "./split-read.ts";

/** Environment that an engine gives to a service that it opens. */
export interface ServiceEnv {
  readonly contract: Contract;
  readonly random: Random;
  /** Reports an error that a user's callback threw. */
  readonly onError: (error: unknown) => void;
  /** Reports an anomaly at the service or on the way, for the journal: a short name and a sentence. */
  readonly onAnomaly: (what: string, detail: string) => void;
  /**
   * Called when market data may have been missed, as after a lost connection, for recorders; each time, unlike an
   * anomaly.
   */
  readonly onBreak?: (why: string) => void;
  /**
   * Permission for one unsigned request of an address that no gateway sends, such as opening a socket. Undefined if it
   * may be made now and has been charged, otherwise the instant to ask again.
   */
  readonly leave: (ip: string) => number | undefined;
  /**
   * Returns the reason why a request must not be sent after all; called just before its bytes are written. It then
   * fails with NOT_LEADING. Only a service over a network calls it.
   */
  readonly mayNot?: (request: WireRequest) => string | undefined;
  /**
   * Names of answer headers that the engine reads, in lower case; a service passes these on, even if it leaves out
   * others.
   */
  readonly headers?: readonly string[];
  /**
   * True if the service also takes requests of each key's faulty twins (`faultyName`), to see whether it checks
   * credentials.
   */
  readonly faultyKeys?: boolean;
  /** True if the user confirms having tested the config's dialect at the exchange. */
  readonly iTestedThis?: boolean;
}

/** A user of the service with its keys, and what the service pushes to it. */
export interface ServiceUser extends User {
  /** Order records pushed by the service; never errors, ends with the service. */
  readonly pushes$: Observable<OrderRecord>;
  /**
   * True while every change of this user's orders is pushed, false while some may be missed; emits the current value
   * first. After each change to true the state has to be read once, as changes in between were not pushed.
   */
  readonly pushing$: Observable<boolean>;
}

/** Follower of an instrument's prices inside its bars. */
export interface PathFollower {
  /** A price was reached. Decimal text. */
  passed(px: string): void;
  /** The prices at which it acts, decimal text: on its way through a bar the market stops at each. */
  levels(): readonly string[];
  /** Positions that its levels close. A pessimistic path through a bar takes the worse end for them first. */
  exits(): readonly PathExit[];
}

/** Position, or part of one, that a stop or a take-profit closes. Decimal text. */
export interface PathExit {
  /** Side of the closing order. */
  readonly side: Side;
  /** Quantity in base currency. */
  readonly qty: string;
  /** Current level of the nearer of the fixed and the trailing stop. */
  readonly stopPx?: string | undefined;
  readonly takeProfitPx?: string | undefined;
  /**
   * Returns the price at which it is closed on straight lines between these prices, or undefined if none of its levels
   * is reached.
   */
  readonly exitOn: (path: readonly string[]) => string | undefined;
}

export interface FollowedPath {
  /** Call it when the levels have changed. */
  readonly changed: () => void;
  readonly end: () => void;
}

/** Open connections and requests between an engine and its service. */
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
  /** History of market data, where the service has its own: synchronous and in virtual time. */
  readonly history?: HistorySource;
  /**
   * Follows the prices inside the bars of an instrument. Undefined if the service plays no bars of it. Only a service
   * that plays recorded bars has this: its market contains only finished ones.
   */
  readonly followBars?: (instId: string, follower: PathFollower) => FollowedPath | undefined;
  /** At least one; strategies that name none use the first. Key names are unique over all users. */
  readonly users: readonly ServiceUser[];
  /** Splits a read into the separate requests that the service needs for it; by default every read is one request. */
  readonly inParts?: ReadInParts;
  /** Reason why no order may be sent now; undefined when orders may be sent. Cancels and reads always may. */
  readonly ordersRefused?: () => string | undefined;
  /** True for real-time trading, where a blocked process must be detected. */
  readonly watchful?: boolean;
  /** True where the clock is the machine's own: other threads and processes may then take part. */
  readonly realTime?: boolean;
  /** True where the list of products cannot change while the engine runs: it is read once instead of every hour. */
  readonly listFixed?: boolean;
  /**
   * Age in milliseconds up to which a pushed list of pending orders needs no read, where pushes cannot be lost; 30,000
   * when left out. A value of the config wins.
   */
  readonly pendingPushedMs?: number | undefined;
  /** Current number of open connections and requests, where there is a network. */
  readonly counts?: () => OpenCounts;
  /** Assumptions of the run, for reports. */
  readonly assumptions: readonly Assumption[];
  /** Loads code that only a running service needs. Called and awaited before `start`, where there is any to load. */
  readonly load?: () => Promise<void>;
  /** Called once, before any request. */
  start(): void;
  /** Called once; nothing may be left afterwards: no timer, no socket. Resolves when all is closed. */
  stop(): void | Promise<void>;
}

/**
 * Service of a config, as `backtest`, `paper` and `live` return it. Nothing is opened before the engine
 * starts.
 */
export interface ServiceSpec {
  readonly kind: string;
  /** Address of the service, if it has one. */
  readonly baseUrl?: string;
  /** `testnet` or `mainnet`, where orders leave this machine. */
  readonly environment?: string;
  /** Facts about the service beyond its description. A config's own rows win. */
  readonly profile?: ProfileOverrides;
  /** Its rate-limit layers, where they are not the three described. Those of a config win. */
  readonly layers?: readonly LayerSpec[];
  open(env: ServiceEnv): OpenService;
}
