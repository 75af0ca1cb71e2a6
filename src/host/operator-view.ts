/**
 * Operator interface of an engine: strategies and their state, open orders, health, and the actions available.
 *
 * Not here: the rest of a plugin's context (context.ts), the implementation (engine/steering.ts).
 */
import type { Observable } from "rxjs";
import type { OpenCounts } from "../client/service-port.ts";
import type { CancelResult, OrderFilter } from "../orders/manual-orders.ts";
import type { OrderUpdate } from "../orders/order-update.ts";
import type { Position } from "../orders/positions.ts";

/** Prefix of the reason of a halt that all engines of a group have received. */
export const groupHaltPrefix = "everywhere: ";

/** Current state of a strategy. */
export interface StrategyView {
  /** Name in the config. */
  readonly name: string;
  /** uid of the user it trades for. */
  readonly user: string;
  /** `starting` until the engine has read the service's state. One that waits for its restart is `failed`. */
  readonly state: "starting" | "running" | "completed" | "failed";
  /** Message of the error it failed with. */
  readonly error?: string;
  /** Its present mode of trading: the stricter of its own mode and that of all. */
  readonly mode: "active" | "reducing" | "halted";
  /** Present in a full stop: exits are canceled too, and stops and targets are suspended. */
  readonly full?: true;
  /** Why it is not active; empty when it is. */
  readonly reason: string;
  /** Its options as they are in force. */
  readonly options: unknown;
  /** JSON Schema of the options. */
  readonly schema?: object;
  /** Own positions by instrument, marked now. */
  readonly positions: ReadonlyMap<string, Position>;
}

/** Selects orders of an engine: every field given must match; nothing given matches all. */
export interface OrdersOfEngine extends OrderFilter {
  /** Only orders of the strategy of this name. */
  readonly strategy?: string;
  /** The one with this client order id. */
  readonly clOrdId?: string;
}

/** Times that the answers of one endpoint took, in milliseconds; a percentile is at most a fifth above the true one. */
export interface EndpointLatency {
  readonly endpoint: string;
  /** Answers so far. */
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** A part of a user's state at the service, with the age of the engine's knowledge of it. */
export interface ResourceHealth {
  /** uid of the user. */
  readonly user: string;
  readonly name: "instruments" | "pending" | "history" | "balances" | "positions";
  /**
   * Milliseconds since the service was known to be in this state; undefined before the first read. A resource without a
   * subscriber is not read.
   */
  readonly ageMs: number | undefined;
  readonly stale: boolean;
  /** Why it is stale; empty when it is not. */
  readonly problem: string;
}

/** Another process of the same engine. */
interface StandbyProcess {
  readonly name: string;
  /** Milliseconds since its last heartbeat. */
  readonly heardMs: number;
}

/**
 * A product of which the account holds another quantity than strategies hold together by their own fills. Base
 * currency, negative when short.
 */
export interface PositionDifference {
  /** uid of the user. */
  readonly user: string;
  readonly instId: string;
  /** As the service lists it. */
  readonly account: string;
  /** Net of all strategies. */
  readonly held: string;
  /** The strategies that hold it. */
  readonly holders: readonly { readonly strategy: string; readonly qty: string }[];
}

/** The holders and what each holds, in brackets; empty without a holder. */
export const holdersText = (holders: PositionDifference["holders"]): string => {
  const parts = holders.map(({ strategy, qty }) => `${strategy} ${qty}`).join(", ");
  return parts === "" ? "" : ` (${parts})`;
};

/** Role of this process in a standby group, of which one process leads. */
export interface StandbyHealth {
  /**
   * `none`: the config has no standby. `waiting`: another process leads. `settling`: taking over. `leading`. `alone`:
   * the store does not answer, only cancels and exits are sent. `mute`: paused for longer than its lease, nothing is
   * sent. `over`: it gave up the lead.
   */
  readonly state: "none" | "waiting" | "settling" | "leading" | "alone" | "mute" | "over";
  /** The leader, as seen by a waiting process; undefined while no leader is known. */
  readonly leader: StandbyProcess | undefined;
  /** The waiting processes, as seen by the leader. */
  readonly standbys: readonly StandbyProcess[];
  /** The copy of the journal in the store is not up to date. */
  readonly copyBehind: boolean;
  /** The role in one line, for people; undefined where there is none. */
  readonly text?: string;
  /** Error of the last call to the store; left out where it succeeded. */
  readonly storeError?: string;
}

/** State of a group of engines that halt and resume together. */
export interface GroupHealth {
  /** Reason why all of them are halted; undefined while they may trade. */
  readonly halted: string | undefined;
  /** Command line that resumes all of them. */
  readonly resumeWith: string;
}

/** Health of an engine, as plain data. Reading it costs no request. */
export interface EngineHealth {
  /** Milliseconds on the engine's clock. */
  readonly at: number;
  /**
   * Offset of the service's calendar to this machine's in milliseconds, positive where the service is ahead, and its
   * tolerance; undefined before the first answer.
   */
  readonly clock: { readonly offsetMs: number; readonly toleranceMs: number } | undefined;
  /** Open connections and requests to the service; undefined where there is no network. */
  readonly open: OpenCounts | undefined;
  /** By uid: true while every change of the user's orders is pushed; otherwise they are polled. */
  readonly pushing: Readonly<Record<string, boolean>>;
  /**
   * Lateness of timers, in milliseconds: at most within the last minute, and at most ever; undefined where time is
   * virtual.
   */
  readonly eventLoop: { readonly lateMs: number; readonly lateMsMax: number } | undefined;
  /**
   * `none` where the config has no journal; `failed`, with the reason, while it cannot be written and only exits and
   * cancels leave.
   */
  readonly journal: {
    readonly state: "none" | "opening" | "open" | "failed";
    /** Number of this run on the journal. */
    readonly run?: number;
    readonly reason: string;
  };
  /** `none` where the config has no watchdog. */
  readonly watchdog: { readonly state: "none" | "waiting" | "armed" | "lost" | "tripped"; readonly reason: string };
  readonly standby: StandbyHealth;
  /** Left out where the engine shares its quota with no other. */
  readonly group?: GroupHealth;
  /** Report of each plugin with a state of its own, by its name in the config. */
  readonly plugins: Readonly<Record<string, object>>;
  readonly resources: readonly ResourceHealth[];
  /** Reported as the anomaly `position.differs`, and not in agreement since. */
  readonly differences: readonly PositionDifference[];
  /** Anomalies so far, stalls of the event loop included. */
  readonly anomalies: number;
  /** By endpoint; empty where time is virtual. */
  readonly latency: readonly EndpointLatency[];
}

/** Operator actions on an engine, besides halting and resuming it. */
export interface Steering {
  /** Current state of every strategy, in the config's order. */
  readonly strategies: () => readonly StrategyView[];
  /** Orders of this engine that are not over, of all strategies and users. */
  readonly openOrders: () => readonly OrderUpdate[];
  /**
   * Cancels matching orders of all strategies and users at once, with or without a subscriber, in as few calls as
   * possible. Emits each result, also to a later subscriber, and completes, as `orders.cancel` of a strategy does. A
   * canceled order is not placed again until its strategy wants something else; orders that protect a position stay. An
   * unknown strategy or condition throws an error that names it, and nothing is canceled.
   */
  readonly cancel: (where?: OrdersOfEngine) => Observable<CancelResult>;
  /**
   * Ends a strategy and starts it with some options replaced. Works for failed and completed strategies too; a halted
   * strategy stays halted. Its orders stay until its first set. CONFIG_INVALID when they do not fit its schema, and
   * nothing has changed; ENGINE_STATE while it does not run. The next run of the program takes the options of the
   * config again.
   */
  readonly changeOptions: (strategy: string, changes: object) => void;
  /**
   * Logs the event `operator.acted`: a request of a person or program at a control port. It has no other effect. With
   * an unknown `strategy` nothing is logged, and an error names it.
   */
  readonly operatorActed: (act: {
    readonly action: string;
    readonly target: string;
    readonly by: string;
    readonly reason: string;
    readonly strategy?: string;
  }) => void;
  /** State of the engine as plain data. */
  readonly health: () => EngineHealth;
}
