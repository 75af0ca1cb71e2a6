/**
 * Event types of the engine: facts in the past tense.
 *
 * Invariants: events are frozen and numbered without holes by the journal; they hold no machine facts (no wall time, no
 * host, no path), so equal inputs give equal bytes.
 * Not here: events of orders and positions (order-events.ts); market data, which has its own recordings.
 */
import type { EndpointName } from "../contract/endpoints.ts";
import type { OrderEventBody } from "./order-events.ts";

export type { OrderPhase } from "./order-events.ts";

/** Purpose of a request. The scheduler sends in the order of these classes. */
export type ActionClass = "emergency" | "cancel" | "close" | "resolve" | "place" | "read" | "backfill";

type OutcomeKind = "done" | "rejected" | "limited" | "unknown" | "dropped";

type CoreEventBody =
  | OrderEventBody
  /** The service's state was read, and strategies and plugins are being started. */
  | {
      readonly type: "engine.started";
      /** Names of the strategies in the config's order. */
      readonly strategies: readonly string[];
      /** Names of the plugins in the config's order. */
      readonly plugins: readonly string[];
    }
  /** The engine has not started yet, for this reason. */
  | {
      readonly type: "start.waiting";
      /** Text for people; empty where the start waits for nothing any more. */
      readonly reason: string;
    }
  /**
   * The engine has stopped; strategies have ended, and `reason` states whether resting orders were kept or canceled.
   */
  | { readonly type: "engine.stopped"; readonly reason: string }
  /** A journal was opened: number of this run on it, and how many orders of previous runs are being resolved. */
  | {
      readonly type: "journal.opened";
      /** Runs on this journal so far, this one included. */
      readonly run: number;
      /** Orders of previous runs that may exist and are being looked for. */
      readonly unresolved: number;
      /** Description of what was repaired in the files; undefined where nothing was. */
      readonly repaired: string | undefined;
    }
  /** The journal cannot be written: until it can, exits and cancels leave without a record, and nothing else does. */
  | { readonly type: "journal.failed"; readonly reason: string }
  /** The journal is written again, with what was missed. */
  | {
      readonly type: "journal.restored";
      /** Exits that left without a record meanwhile; they are on record now. */
      readonly unrecorded: number;
    }
  /** An action waits for quota. */
  | {
      readonly type: "action.held";
      /** Number of the action within the run. */
      readonly action: number;
      /** Endpoint of the service, such as `placeOrder`. */
      readonly endpoint: EndpointName;
      /** Priority of the action. */
      readonly class: ActionClass;
      /** Limit layer that is concerned: `ip`, `uid`, `key`, or one of the config. */
      readonly layer: string;
      /** Instant at which it may continue: milliseconds on the engine's clock. */
      readonly until: number;
    }
  /** A request has left. */
  | {
      readonly type: "action.sent";
      readonly action: number;
      readonly endpoint: EndpointName;
      readonly class: ActionClass;
      /** Strategy that requested it; `engine` for the engine's own calls and for batch cancels. */
      readonly owner: string;
      /** Weight charged to the user's minute. */
      readonly weight: number;
      /** Name of the key that signed it; undefined for an unsigned one. */
      readonly key: string | undefined;
      /** Milliseconds from the request of the action to its sending. */
      readonly waitedMs: number;
    }
  /** A request was answered, or its time ran out. */
  | {
      readonly type: "action.answered";
      readonly endpoint: EndpointName;
      /** Outcome that the answer proves; `unknown` where it proves nothing. */
      readonly outcome: OutcomeKind;
      /** HTTP status; 0 without an answer. */
      readonly status: number;
      /** Code of the service where it rejected the call; empty otherwise. */
      readonly code: string;
      /** Milliseconds since it was sent; 0 without an answer. */
      readonly elapsedMs: number;
    }
  /** An action was given up before it was sent. */
  | {
      readonly type: "action.dropped";
      readonly action: number;
      readonly endpoint: EndpointName;
      readonly reason: string;
    }
  /** The service answered 429. */
  | { readonly type: "quota.rejected"; readonly layer: string; readonly until: number }
  /** Other clients of the user or the address used `used` of the current window. */
  | {
      readonly type: "quota.otherClients";
      readonly layer: string;
      /** Requests or weight of the current window. */
      readonly used: number;
    }
  /**
   * A rate-limit layer falls to its floor (`floor`): counts and refusals contradict what is known, so that they are
   * disregarded and 95 % of the limit is spent evenly. Or counts are used again (`measured`).
   */
  | {
      readonly type: "quota.mode";
      readonly layer: string;
      /** The address, user or key that the layer counts. */
      readonly scope: string;
      readonly mode: "measured" | "floor";
      /** Reason, in words. */
      readonly why: string;
    }
  /** A strategy threw, or a stream of it failed: its orders are canceled. */
  | {
      readonly type: "strategy.failed";
      readonly strategy: string;
      /** Message of the error. */
      readonly message: string;
    }
  /** A restart is scheduled: `failures` within the restart policy's window, next start in `inMs`. */
  | {
      readonly type: "strategy.restarting";
      readonly strategy: string;
      /** Failures within the window. */
      readonly failures: number;
      /** Milliseconds until then. */
      readonly inMs: number;
    }
  /** A strategy runs again after a failure. */
  | { readonly type: "strategy.restarted"; readonly strategy: string; readonly failures: number }
  /** It failed too often: its orders are canceled and it is not started again. */
  | {
      readonly type: "strategy.quarantined";
      readonly strategy: string;
      readonly failures: number;
      /** Length of the window, in milliseconds. */
      readonly withinMs: number;
    }
  /** A strategy has reached its loss limit: it may only reduce its positions. */
  | { readonly type: "strategy.reducing"; readonly strategy: string; readonly reason: string }
  /** A strategy places nothing more, and its orders are canceled. */
  | { readonly type: "strategy.halted"; readonly strategy: string; readonly reason: string; readonly full?: true }
  /** A strategy may place again. */
  | { readonly type: "strategy.resumed"; readonly strategy: string; readonly reason: string }
  /**
   * Options of a strategy were replaced while the engine runs, and it is restarted with them. Its orders stay until its
   * first set.
   */
  | {
      readonly type: "strategy.changed";
      readonly strategy: string;
      /** The new options, as plain data; the others are unchanged. Options with secret-looking names are `(hidden)`. */
      readonly changes: object;
    }
  /** A person or program requested an action at a control port of the engine. Other events report its result. */
  | {
      readonly type: "operator.acted";
      /** Name of the action, such as `halt`. */
      readonly action: string;
      /** Target, such as the name of a strategy; empty for everything. */
      readonly target: string;
      /** Identity of the requester at the control port. */
      readonly by: string;
      /** Reason given by the requester; empty without one. */
      readonly reason: string;
    }
  /** A plugin threw: it is stopped, and the others run on. */
  | {
      readonly type: "plugin.failed";
      /** Name of the plugin in the config. */
      readonly plugin: string;
      readonly message: string;
    }
  /** The event loop of the process was blocked for `lateMs`. */
  | {
      readonly type: "engine.stalled";
      /** Milliseconds that a timer was late. */
      readonly lateMs: number;
    }
  /** Another process leads now: this one sends nothing more, and its engine ends. */
  | {
      readonly type: "standby.lost";
      /** Name of the process that leads now. */
      readonly leader: string;
    }
  /** The trading mode has changed, for all strategies. */
  | {
      readonly type: "mode.changed";
      /** `active`: everything; `reducing`: exits only; `halted`: exits only, and resting entries are canceled. */
      readonly mode: "active" | "reducing" | "halted";
      readonly reason: string;
      /** A halt that is a full stop: exits, stops and targets are suspended as well. */
      readonly full?: true;
    }
  /** Something that should not happen at the service, on the way or on this machine was noticed and dealt with. */
  | {
      readonly type: "anomaly";
      /** Short name of the kind, such as `clock.apart` or `history.gap`. */
      readonly what: string;
      /** A sentence for people. */
      readonly detail: string;
    };

/**
 * Events of plugins: their fields by type. A plugin declares its own in its types, and names them in `events` of its
 * definition.
 *
 * @example
 * declare module "sluice" {
 *   interface PluginEvents {
 *     "acme.lost": { readonly reason: string };
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: plugins add to it.
export interface PluginEvents {}

type PluginEventBody = { [T in keyof PluginEvents]: { readonly type: T } & PluginEvents[T] }[keyof PluginEvents];

export type EventBody = CoreEventBody | PluginEventBody;

/** Severity and one line of text of an event. */
export type EventText = readonly [severity: "info" | "warn" | "bad", text: string];

/** Text of each event that a plugin declares in `PluginEvents`. */
export type EventTexts = { readonly [T in keyof PluginEvents]?: (event: EventOf<T>) => EventText };

/**
 * An event whose header is still to be written, for events that happen with every order, so that `append` need not copy
 * it. `at` is 0, or the present instant if it was already read.
 */
export type EventDraft = EventBody & { seq: number; at: number };
/** A numbered fact. `at` is milliseconds on the engine's clock. */
export type Event = EventBody & { readonly seq: number; readonly at: number };
/** Type of an event, such as `fill` or `order.refused`. */
export type EventType = Event["type"];
/** The member of the union with this type. */
export type EventOf<T extends EventType> = Extract<Event, { readonly type: T }>;
