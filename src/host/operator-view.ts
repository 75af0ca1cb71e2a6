/**
 * What those see who watch and steer an engine, and what they can do: strategies as they stand, open orders, health.
 *
 * Not here: what a plugin gets besides (context.ts), how it is done (engine/steering.ts).
 */
import type { Observable } from "rxjs";
import type { OpenCounts } from "../client/service-port.ts";
import type { CancelResult, OrderFilter } from "../orders/manual-orders.ts";
import type { Position } from "../orders/positions.ts";
import type { OrderUpdate } from "../orders/tracked-order.ts";

/** A strategy as it stands, for those who watch and steer an engine. */
export interface StrategyView {
  /** Name in the config. */
  readonly name: string;
  /** uid of the user it trades for. */
  readonly user: string;
  /** `starting` until the engine has read the service's state. One that waits for its restart is `failed`. */
  readonly state: "starting" | "running" | "completed" | "failed";
  /** What it failed with, in words. */
  readonly error?: string;
  /** What it may trade now: its own mode or that of all, whichever is stricter. */
  readonly mode: "active" | "reducing" | "halted";
  /** Why it is not active; empty when it is. */
  readonly reason: string;
  /** Its options as they are in force. */
  readonly options: unknown;
  /** JSON Schema of the options. */
  readonly schema?: object;
  /** Own positions by instrument, marked now. */
  readonly positions: ReadonlyMap<string, Position>;
}

/** Which orders of an engine: every field given must match; nothing given matches all. */
export interface OrdersOfEngine extends OrderFilter {
  /** Of the strategy of this name. */
  readonly strategy?: string;
  /** The one with this client order id. */
  readonly clOrdId?: string;
}

/** How long the answers of one endpoint took, in milliseconds; a percentile is at most a fifth above the true one. */
export interface EndpointLatency {
  readonly endpoint: string;
  /** Answers so far. */
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** A part of a user's state at the service, and how old what is known of it is. */
export interface ResourceHealth {
  /** uid of the user. */
  readonly user: string;
  readonly name: "instruments" | "pending" | "history" | "balances" | "positions";
  /** Milliseconds since the service is known to have held it; undefined before it was read. Nobody reads what nobody needs. */
  readonly ageMs: number | undefined;
  readonly stale: boolean;
  /** Why it is stale; empty when it is not. */
  readonly problem: string;
}

/** Another process of the same engine. */
interface StandbyProcess {
  readonly name: string;
  /** Milliseconds since it was last heard. */
  readonly heardMs: number;
}

/** What an engine is among the processes of which one leads. */
export interface StandbyHealth {
  /**
   * `none` where the config has no standby. `waiting`: another process leads. `settling`: it takes over. `leading`. `alone`: the store does
   * not answer, cancels and exits only. `mute`: it was stopped for longer than its lease, nothing is sent. `over`: it has given up the lead.
   */
  readonly state: "none" | "waiting" | "settling" | "leading" | "alone" | "mute" | "over";
  /** Who leads, for one that waits; undefined where nobody is known to. */
  readonly leader: StandbyProcess | undefined;
  /** Who would go on, for one that leads. */
  readonly standbys: readonly StandbyProcess[];
  /** The store lacks something of the journal. */
  readonly copyBehind: boolean;
  /** Why the store did not answer when it was last asked; left out where it did. */
  readonly storeError?: string;
}

/** How an engine does, as plain data. Asking costs no request. */
export interface EngineHealth {
  /** Milliseconds on the engine's clock. */
  readonly at: number;
  /**
   * Where the service's calendar stands against this machine's, in milliseconds, positive where it is ahead, and how far off that may be;
   * undefined before the first answer.
   */
  readonly clock: { readonly offsetMs: number; readonly toleranceMs: number } | undefined;
  /** What stands open to the service; undefined where there is no network. */
  readonly open: OpenCounts | undefined;
  /** By uid, whether every change of the user's orders is pushed now; polled otherwise. */
  readonly pushing: Readonly<Record<string, boolean>>;
  /** How late timers ran, in milliseconds: at most within the last minute, and at most ever; undefined where time is virtual. */
  readonly eventLoop: { readonly lateMs: number; readonly lateMsMax: number } | undefined;
  /** `none` where the config has no journal; `failed` with the reason why no order may leave any more. */
  readonly journal: {
    readonly state: "none" | "opening" | "open" | "failed";
    /** Number of this run on the journal. */
    readonly run?: number;
    readonly reason: string;
  };
  /** `none` where the config has no watchdog. */
  readonly watchdog: { readonly state: "none" | "waiting" | "armed" | "lost" | "tripped"; readonly reason: string };
  readonly standby: StandbyHealth;
  readonly resources: readonly ResourceHealth[];
  /** Anomalies so far, stalls of the event loop included. */
  readonly anomalies: number;
  /** By endpoint; empty where time is virtual. */
  readonly latency: readonly EndpointLatency[];
}

/** What those can do who watch and steer an engine, besides halting and resuming it. */
export interface Steering {
  /** Every strategy of the config as it stands, in the config's order. */
  readonly strategies: () => readonly StrategyView[];
  /** Orders of this engine that are not over, of all strategies and users. */
  readonly openOrders: () => readonly OrderUpdate[];
  /**
   * Cancels matching orders of all strategies and users in as few calls as possible, whether or not anybody subscribes. Emits each result and
   * completes. What is canceled is not placed again until its strategy wants something else; what protects a position stays. An unknown
   * strategy or condition is refused by name.
   */
  readonly cancel: (where?: OrdersOfEngine) => Observable<CancelResult>;
  /**
   * Ends a strategy and starts it with some options replaced, also one that has failed or completed; one that is halted stays so. Its orders
   * stay until its first set. CONFIG_INVALID when they do not fit its schema, and nothing has changed; ENGINE_STATE while it does not run.
   * The next run of the program takes the options of the config again.
   */
  readonly changeOptions: (strategy: string, changes: object) => void;
  /** Notes in the journal of events what a person or program at a control port asked for: event `operator.acted`. It does nothing else. */
  readonly operatorActed: (act: { readonly action: string; readonly target: string; readonly by: string; readonly reason: string }) => void;
  /** How the engine does, as plain data. */
  readonly health: () => EngineHealth;
}
