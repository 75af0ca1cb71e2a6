/**
 * Engine extension: parts and steps that a plugin adds to an engine, below strategies.
 *
 * Invariants: steps run in the order of the config's plugins, at the stop in reverse order; a step that is left out
 * costs no turn of the event loop; heavy code is imported by `load` and not before.
 * Not here: what a plugin observes and steers (context.ts), the calls (engine/extensions.ts).
 */
import type { OpenService, ServiceSpec } from "../client/service-port.ts";
import type { Contract } from "../contract/contract.ts";
import type { Interceptor, WireRequest } from "../contract/transport.ts";
import type { Disk } from "../journal/disk.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ShareRead } from "../orders/state/read-sharing.ts";
import type { WatchdogStanding } from "../orders/watchdog-cancels.ts";
import type { Division } from "../scheduler/quota/division.ts";

/** The manner in which an engine stops. */
export interface StopHow {
  /** Resting orders were canceled; otherwise they stay. */
  readonly cancel: boolean;
  /** Number of orders of this engine that are not over. */
  readonly open: number;
}

/** Other engines that halt and resume with this one. */
export interface EngineGroup {
  /** Reason why all of them are halted; undefined while they may trade. */
  readonly halted: string | undefined;
  /** Halts every engine of the group, or resumes all with undefined. */
  haltAll(reason: string | undefined): void;
}

/** Findings of a plugin that waited until it may trade. */
export interface Acquired {
  /** True if another process was seen trading before; this one continues from its state. */
  readonly continues: boolean;
  /** True if that process gave up in order. */
  readonly inOrder: boolean;
}

/** Parts and steps that a plugin adds to an engine. Every member is optional. */
export interface EngineExtension {
  /** Imports code and opens connections. Called once, before every other step; a rejection fails the start. */
  readonly load?: () => Promise<void>;
  /** Waits until this process may trade. The journal opens afterwards; a rejection fails the start. */
  readonly acquire?: () => Promise<Acquired>;
  /** The journal is open, and no request has been sent. A rejection fails the start. */
  readonly join?: () => Promise<void> | undefined;
  /** The service's state was read; plugins and strategies start afterwards. A rejection fails the start. */
  readonly synced?: () => Promise<void> | undefined;
  /** Plugins and strategies have started. */
  readonly started?: () => void;
  /** Strategies have ended, and resting orders are canceled or kept; requests can still be sent. */
  readonly stopping?: (how: StopHow) => Promise<void>;
  /** The last step, also of a start that failed. The service and the journal are closed. */
  readonly closed?: () => Promise<void> | undefined;

  /**
   * Wraps the transport of every request. The first plugin of the config is the outermost, the journal the innermost.
   */
  readonly interceptor?: Interceptor;
  /**
   * Reason why this request must not leave. Asked last, right before its bytes are written. If it throws, the request
   * is not sent.
   */
  readonly blocks?: (request: WireRequest) => string | undefined;
  /** Reason why no order may be sent now; exits may pass where entries may not. If it throws, the order is refused. */
  readonly refuses?: (isExit: boolean) => string | undefined;
  /**
   * Reason why exits may leave only with the service's reduce-only flag, such as another process that may send the same
   * exit.
   */
  readonly flagOnly?: () => string | undefined;
  /**
   * Milliseconds for which an exit waits, so that another process that may send the same exit goes first; 0 if there is
   * none.
   */
  readonly yieldMs?: () => number;
  /** Opens the folder of the journal. One extension of an engine may have it. */
  readonly openDisk?: (dir: string) => Promise<Disk>;
  /** Answers reads of a user's state from what other engines have read. */
  readonly readsOf?: (uid: string) => ShareRead | undefined;
  /** Engines that halt and resume together. */
  readonly group?: () => EngineGroup | undefined;
  /** State of this part in `health().plugins`, under the plugin's name in the config. */
  readonly health?: () => object;
}

/** The parts of a config that a plugin may build on. */
export interface EngineFacts {
  readonly instance: string;
  readonly service: Pick<ServiceSpec, "kind" | "baseUrl">;
  readonly journal?: { readonly dir: string } | undefined;
  readonly plugins: readonly { readonly name: string; readonly definition?: string; readonly options: unknown }[];
}

/** One user of the service, as an extension sees it. */
export interface ExtensionAccount {
  readonly uid: string;
  /** Number of orders of this engine that are not over. */
  readonly openOrders: () => number;
  /** True for an order of this engine that reduces a position. */
  readonly isExit: (clOrdId: string) => boolean;
  /** True for an exit that is sent without the service's reduce-only flag. */
  readonly isUnflaggedExit: (clOrdId: string) => boolean;
  /** Evaluates again every order that was refused or held back. */
  readonly reconsider: () => void;
  /**
   * A watchdog cancels orders of this user when the engine is silent. Call `reconsider` when the result of `standing`
   * has changed.
   */
  readonly watchedBy: (standing: () => WatchdogStanding) => void;
}

/** The parts of an engine that an extension may use. Nothing is open yet. */
export interface ExtensionContext<O> {
  /** Name of the plugin in the config. */
  readonly name: string;
  /** Its options, checked and completed with defaults. */
  readonly options: O;
  readonly config: EngineFacts;
  readonly contract: Contract;
  /** `close`: the engine only closes positions, as `sluice close` does. */
  readonly purpose: "trade" | "close";
  /** `watchful`: real orders over a network; `realTime`: on the machine's clock. A backtest is neither. */
  readonly service: Pick<OpenService, "clock" | "users" | "watchful" | "realTime">;
  /** Appends events, and calls back for events by type. */
  readonly events: Pick<EventLog, "append" | "on">;
  /** Users of the service. Call it only from `load` on. */
  readonly accounts: () => readonly ExtensionAccount[];
  /** The rate limiter. */
  readonly quota: {
    /** Spends only what the division grants. */
    readonly divide: (division: Division) => void;
    /** Called when quota may have become available. */
    readonly wake: () => void;
  };
  /** Halts all trading: no entries, and every resting entry is canceled. */
  readonly halt: (reason: string) => void;
  /** Ends this extension's halt, unless anything else has halted or resumed the engine since: then it returns false. */
  readonly resume: (reason: string) => boolean;
  /** Records a halt or its end for the next run, if the config has a journal. */
  readonly decide: (mode: "active" | "halted", reason: string) => void;
  /** True if `acquire` found that another process traded before this one and gave up in order. */
  readonly isHandedOver: () => boolean;
  /** Stops the engine, because another process has taken over. */
  readonly depose: (leader: string) => void;
}
