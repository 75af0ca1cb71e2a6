/**
 * What can happen to orders and positions.
 *
 * Invariants: those of events.ts.
 */
import type { Side } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { ProtectionKind } from "./protection-records.ts";

/** Where an order stands in its life, as the engine knows it. The last four are final, `unknown` is not. */
export type OrderPhase =
  /** Decided, and waiting for quota; again so after a placement that a rate limit turned away. */
  | "planned"
  /** The placement has left; no answer yet. */
  | "sent"
  /** The service took the placement; no record of the order yet. */
  | "acked"
  /** It rests in the book, nothing executed. */
  | "live"
  /** It rests, and a part was executed. */
  | "partially_filled"
  /** A cancel has left; it may still be filled. */
  | "canceling"
  /** Its fate is not known, as the placement was not answered: it keeps its slot and its exposure, and is looked for. */
  | "unknown"
  /** Executed completely. */
  | "filled"
  /** Canceled; a part may have been executed before. */
  | "canceled"
  /** The service did not take it. */
  | "rejected"
  /** Proven never to have been placed, or no longer known to the service. */
  | "absent";

interface ProtectionLevels {
  readonly strategy: string;
  /** Slot of the entry, or the instrument where the whole position is protected. */
  readonly name: string;
  readonly instId: string;
  readonly side: Side;
  readonly qty: string;
  /** Average price at which it was bought or sold. */
  readonly avgPx: string;
  /** Where the stop lies now; undefined without one. */
  readonly stopPx: string | undefined;
  /** Where the take-profit lies; undefined without one. */
  readonly takeProfitPx: string | undefined;
  /** Which price triggers: the best one, the last trade, or the mark. */
  readonly trigger: "best" | "last" | "mark";
}

/** Part of `EventBody`. */
export type OrderEventBody =
  /** An order of this engine has entered another phase. Listen to `order.<phase>` for one of them. */
  | {
      readonly type: "order.changed";
      /** Name of the strategy in the config. */
      readonly strategy: string;
      /** Slot of the wanted order. */
      readonly slot: string;
      /** Instrument id. */
      readonly instId: string;
      /** Client order id, given by Sluice. */
      readonly clOrdId: string;
      /** The phase that it has entered. */
      readonly phase: OrderPhase;
      /** The service's record as last seen; undefined before any. */
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
      /** The service's id; empty until it gave one. */
      readonly ordId: string;
      /** `buy` or `sell`. */
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
      /** Rejections in a row. */
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
      /** Executed, in base currency. */
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
      /** What was reached. */
      readonly kind: ProtectionKind;
      readonly trigger: "best" | "last" | "mark";
      /** Price that was to be reached. */
      readonly triggerPx: string;
      /** That reached it. */
      readonly px: string;
      /** It was reached while no engine ran. */
      readonly late: boolean;
    }
  /** A protection is over, and `reason` says why: nothing is left of what it covered, or it was withdrawn. */
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
  | {
      readonly type: "history.external";
      /** How many. */
      readonly orders: number;
    }
  /** A position is being closed: the account's, or what one strategy holds. `pos` is positive long. */
  | {
      readonly type: "position.closing";
      /** User of the service. */
      readonly uid: string;
      readonly instId: string;
      /** As the service lists it, or as the strategy holds it; positive long. */
      readonly pos: string;
      /** The strategy whose holding it is; left out for a position of the account. */
      readonly strategy?: string;
    }
  /** A later reading no longer shows it, or the strategy holds nothing of it any more by its own fills. */
  | {
      readonly type: "position.closed";
      readonly uid: string;
      readonly instId: string;
      readonly pos: string;
      readonly strategy?: string;
    }
  /** A position could not be closed, and `reason` says why. */
  | {
      readonly type: "position.left";
      readonly uid: string;
      readonly instId: string;
      readonly pos: string;
      readonly reason: string;
      readonly strategy?: string;
    };
