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
import type { ProtectionKind } from "./protection-records.ts";

export type ActionClass = "emergency" | "cancel" | "close" | "resolve" | "place" | "read" | "backfill";

type OutcomeKind = "done" | "rejected" | "limited" | "unknown" | "dropped";

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

interface ProtectionLevels {
  readonly strategy: string;
  readonly name: string;
  readonly instId: string;
  readonly side: Side;
  readonly qty: string;
  /** Average price at which it was bought or sold. */
  readonly avgPx: string;
  readonly stopPx: string | undefined;
  readonly takeProfitPx: string | undefined;
  readonly trigger: "best" | "last" | "mark";
}

export type EventBody =
  | { readonly type: "engine.started"; readonly strategies: readonly string[]; readonly plugins: readonly string[] }
  /** The engine has not started yet, and why. */
  | { readonly type: "start.waiting"; readonly reason: string }
  | { readonly type: "engine.stopped"; readonly reason: string }
  /** A journal was opened: number of this run on it, and how many orders of previous runs are being resolved. */
  | { readonly type: "journal.opened"; readonly run: number; readonly unresolved: number; readonly repaired: string | undefined }
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
  /** The service answered 429. */
  | { readonly type: "quota.rejected"; readonly layer: string; readonly until: number }
  /** Other clients of the user or the address used so much of the current window. */
  | { readonly type: "quota.otherClients"; readonly layer: string; readonly used: number }
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
  /**
   * An order executed more than before, at one price as far as its record tells. Sums of fills are the strategy's position and fees;
   * a fee that the service tells later than the fill is in the position and in no fill.
   */
  | {
      readonly type: "fill";
      readonly strategy: string;
      readonly slot: string;
      readonly instId: string;
      readonly clOrdId: string;
      readonly ordId: string;
      readonly side: Side;
      /** By the increase of `accFillSz` times `avgPx`, on the tick or to 12 fraction digits; the mean of what came in one record. */
      readonly px: string;
      /** In base currency. */
      readonly qty: string;
      /** As the service's record says it, in the sign of the profile (`order.feeSign`). */
      readonly fee: string;
      /** The fee as a positive cost; a rebate is negative. */
      readonly cost: string;
      /** Of the fee: the settle currency, which is the quote currency of the instrument. */
      readonly currency: string;
      /** Undefined for limit orders, whose record does not tell. */
      readonly liquidity: "maker" | "taker" | undefined;
      /** Of the strategy in the instrument afterwards: base currency, negative short. */
      readonly position: string;
      /** An order of a previous run was met with this much executed: that run may have told of it. */
      readonly recovered: boolean;
    }
  /** A wanted order was not sent: a check before sending failed. */
  | { readonly type: "order.refused"; readonly strategy: string; readonly slot: string; readonly reason: string }
  /** So many post-only orders of a slot in a row were rejected because they would have taken: its next ones wait, later each time. */
  | {
      readonly type: "order.slowed";
      readonly strategy: string;
      readonly slot: string;
      readonly instId: string;
      readonly rejections: number;
      readonly reason: string;
    }
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
  /**
   * What a strategy holds is protected from here on: `name` is the slot of the entry, or the instrument where the whole position is
   * protected; `side` is that of the order that would close it, `qty` in base currency, prices as they are now.
   */
  | ({ readonly type: "protection.armed" | "protection.changed" } & ProtectionLevels)
  /** A price was reached, and what is covered is closed. `late`: it lay beyond when this run first saw it, and was reached while no engine ran. */
  | {
      readonly type: "protection.triggered";
      readonly strategy: string;
      readonly name: string;
      readonly instId: string;
      readonly side: Side;
      readonly qty: string;
      readonly kind: ProtectionKind;
      readonly trigger: "best" | "last" | "mark";
      readonly triggerPx: string;
      /** That reached it. */
      readonly px: string;
      readonly late: boolean;
    }
  | {
      readonly type: "protection.ended";
      readonly strategy: string;
      readonly name: string;
      readonly instId: string;
      readonly reason: string;
    }
  /** An order that this instance did not place is open, or was and has changed to `state`. */
  | ({ readonly type: "order.external" } & Pick<OrderRecord, "ordId" | "clOrdId" | "instId" | "side" | "px" | "sz" | "state">)
  /** Number of orders that this instance did not place and that had ended before it traded. */
  | { readonly type: "history.external"; readonly orders: number }
  /** The account's position is being closed; `pos` is positive long. */
  | { readonly type: "position.closing"; readonly uid: string; readonly instId: string; readonly pos: string }
  /** A later reading no longer shows it. */
  | { readonly type: "position.closed"; readonly uid: string; readonly instId: string; readonly pos: string }
  | { readonly type: "position.left"; readonly uid: string; readonly instId: string; readonly pos: string; readonly reason: string }
  | { readonly type: "strategy.failed"; readonly strategy: string; readonly message: string }
  /** A restart is scheduled: `failures` within the window that counts, next start in `inMs`. */
  | { readonly type: "strategy.restarting"; readonly strategy: string; readonly failures: number; readonly inMs: number }
  | { readonly type: "strategy.restarted"; readonly strategy: string; readonly failures: number }
  /** It failed too often: its orders are canceled and it is not started again. */
  | { readonly type: "strategy.quarantined"; readonly strategy: string; readonly failures: number; readonly withinMs: number }
  | { readonly type: "strategy.reducing"; readonly strategy: string; readonly reason: string }
  | { readonly type: "strategy.halted"; readonly strategy: string; readonly reason: string }
  | { readonly type: "strategy.resumed"; readonly strategy: string; readonly reason: string }
  | { readonly type: "plugin.failed"; readonly plugin: string; readonly message: string }
  /** The event loop of the process was blocked for so long. */
  | { readonly type: "engine.stalled"; readonly lateMs: number }
  /** A watchdog is connected: it cancels everything after `silenceMs` without a heartbeat. `before`: why it last tripped, if it did. */
  | { readonly type: "watchdog.armed"; readonly silenceMs: number; readonly before: string | undefined }
  /** No watchdog receives the heartbeat: if this process dies now, its orders stay. */
  | { readonly type: "watchdog.lost"; readonly reason: string }
  /** The watchdog's timeout elapsed without a heartbeat, and it cancels. */
  | { readonly type: "watchdog.tripped"; readonly reason: string }
  | { readonly type: "mode.changed"; readonly mode: "active" | "reducing" | "halted"; readonly reason: string }
  | { readonly type: "anomaly"; readonly what: string; readonly detail: string };

/** A numbered fact. `at` is milliseconds on the engine's clock. */
export type Event = EventBody & { readonly seq: number; readonly at: number };
/** Type of an event, such as `fill` or `order.refused`. */
export type EventType = Event["type"];
/** The member of the union with this type. */
export type EventOf<T extends EventType> = Extract<Event, { readonly type: T }>;
