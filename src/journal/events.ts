/**
 * What can happen inside the engine, as facts in the past tense.
 *
 * Invariants: events are frozen and numbered without holes by the journal; they hold no machine facts (no wall time, no host,
 * no path), so equal inputs give equal bytes.
 * Not here: market data, which has its own recordings.
 */
import type { EndpointName } from "../contract/endpoints.ts";
import type { Side } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";

export type ActionClass = "emergency" | "cancel" | "close" | "resolve" | "place" | "read" | "backfill";

type OutcomeKind = "done" | "refused" | "limited" | "unknown" | "dropped";

export type OrderPhase =
  | "planned"
  | "sent"
  | "acked"
  | "live"
  | "partially_filled"
  | "canceling"
  | "filled"
  | "canceled"
  | "rejected"
  | "unknown"
  | "absent";

export type EventBody =
  | { readonly type: "engine.started"; readonly strategies: readonly string[]; readonly plugins: readonly string[] }
  /** The engine has not started yet, and why. */
  | { readonly type: "start.waiting"; readonly reason: string }
  | { readonly type: "engine.stopped"; readonly reason: string }
  /** A journal was found or begun: which life of it this is, and how many orders of earlier ones are looked for. */
  | { readonly type: "journal.opened"; readonly life: number; readonly unresolved: number; readonly repaired: string | undefined }
  | {
      readonly type: "action.held";
      readonly action: number;
      readonly endpoint: EndpointName;
      readonly class: ActionClass;
      readonly layer: string;
      readonly until: number;
    }
  | {
      readonly type: "action.sent";
      readonly action: number;
      readonly endpoint: EndpointName;
      readonly class: ActionClass;
      readonly owner: string;
      readonly weight: number;
      readonly key: string | undefined;
      readonly waitedMs: number;
    }
  | {
      readonly type: "action.answered";
      readonly endpoint: EndpointName;
      readonly outcome: OutcomeKind;
      readonly status: number;
      readonly code: string;
      readonly elapsedMs: number;
    }
  | { readonly type: "action.dropped"; readonly action: number; readonly endpoint: EndpointName; readonly reason: string }
  | { readonly type: "quota.refused"; readonly layer: string; readonly until: number }
  | { readonly type: "quota.foreign"; readonly layer: string; readonly used: number }
  | {
      readonly type: "order.changed";
      readonly strategy: string;
      readonly slot: string;
      readonly instId: string;
      readonly clOrdId: string;
      readonly phase: OrderPhase;
      readonly record: OrderRecord | undefined;
      readonly reason: string;
    }
  | { readonly type: "order.refused"; readonly strategy: string; readonly slot: string; readonly reason: string }
  /** An order is complete and executed another base quantity than was wanted, for good. */
  | {
      readonly type: "order.inexact";
      readonly strategy: string;
      readonly slot: string;
      readonly instId: string;
      readonly clOrdId: string;
      readonly qty: string;
      readonly filledQty: string;
      readonly reason: string;
    }
  /** A strategy holds a position and the exit it wants is not in place; `side` of the exit, `qty` in base currency. */
  | {
      readonly type: "position.unprotected";
      readonly strategy: string;
      readonly slot: string;
      readonly instId: string;
      readonly side: Side;
      readonly qty: string;
      readonly reason: string;
    }
  /** The exit is in place, or there is nothing to reduce any more. */
  | { readonly type: "position.protected"; readonly strategy: string; readonly slot: string; readonly instId: string }
  /** An order of the account that this instance did not place is open, or it was and has changed: `state` says how it stands. */
  | ({ readonly type: "order.foreign" } & Pick<OrderRecord, "ordId" | "clOrdId" | "instId" | "side" | "px" | "sz" | "state">)
  /** So many orders that this instance did not place had ended before it traded. */
  | { readonly type: "history.foreign"; readonly orders: number }
  /** The account's position is being closed; `pos` is positive long. */
  | { readonly type: "position.closing"; readonly uid: string; readonly instId: string; readonly pos: string }
  /** A reading afterwards does not show it any more. */
  | { readonly type: "position.closed"; readonly uid: string; readonly instId: string; readonly pos: string }
  | { readonly type: "position.left"; readonly uid: string; readonly instId: string; readonly pos: string; readonly reason: string }
  | { readonly type: "strategy.failed"; readonly strategy: string; readonly message: string }
  /** A restart is scheduled: `failures` within the window that counts, next start in `inMs`. */
  | { readonly type: "strategy.restarting"; readonly strategy: string; readonly failures: number; readonly inMs: number }
  | { readonly type: "strategy.restarted"; readonly strategy: string; readonly failures: number }
  /** It failed too often: its orders are taken back and it is not started again. */
  | { readonly type: "strategy.quarantined"; readonly strategy: string; readonly failures: number; readonly withinMs: number }
  | { readonly type: "strategy.reducing"; readonly strategy: string; readonly reason: string }
  | { readonly type: "strategy.halted"; readonly strategy: string; readonly reason: string }
  | { readonly type: "strategy.resumed"; readonly strategy: string; readonly reason: string }
  | { readonly type: "plugin.failed"; readonly plugin: string; readonly message: string }
  /** The process stood still for so long; nothing of it could run meanwhile. */
  | { readonly type: "engine.stalled"; readonly lateMs: number }
  /** A watchdog listens: it cancels everything after so long without a beat. `before`: why it did so last, if it did. */
  | { readonly type: "watchdog.armed"; readonly silenceMs: number; readonly before: string | undefined }
  /** Nobody hears the beats: should this process die now, its orders stay. */
  | { readonly type: "watchdog.lost"; readonly reason: string }
  /** The watchdog takes this engine for dead, and cancels. */
  | { readonly type: "watchdog.tripped"; readonly reason: string }
  | { readonly type: "mode.changed"; readonly mode: "active" | "reducing" | "halted"; readonly reason: string }
  | { readonly type: "anomaly"; readonly what: string; readonly detail: string };

/** A numbered fact. `at` is milliseconds on the engine's clock. */
export type Event = EventBody & { readonly seq: number; readonly at: number };
export type EventType = Event["type"];
