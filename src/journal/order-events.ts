/**
 * Event types of orders and positions.
 *
 * Invariants: those of events.ts.
 */
import type { Side } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { ProtectionKind } from "./protection-records.ts";

/** Phase of an order's lifecycle, as the engine knows it. The last four are final, `unknown` is not. */
export type OrderPhase =
  /** Queued, waiting for quota; also after a placement that a rate limit rejected. */
  | "planned"
  /** The placement was sent; no answer yet. */
  | "sent"
  /** The service accepted the placement; no record of the order yet. */
  | "acked"
  /** It rests in the book, nothing executed. */
  | "live"
  /** It rests, and a part was executed. */
  | "partially_filled"
  /** A cancel was sent; the order may still be filled. */
  | "canceling"
  /**
   * The placement was not answered, so the order may exist: it keeps its slot and its exposure while it is resolved.
   */
  | "unknown"
  /** Executed completely. */
  | "filled"
  /** Canceled; a part may have been executed before. */
  | "canceled"
  /** The service rejected it. */
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
  /** Current level of the stop; undefined without one. */
  readonly stopPx: string | undefined;
  /** Level of the take-profit; undefined without one. */
  readonly takeProfitPx: string | undefined;
  /** Price that triggers: the best one, the last trade, or the mark. */
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
   * A fill: an order's executed quantity rose, at one price as far as its record shows. Sums of fills are the
   * strategy's position and fees; a fee that the service reports later than the fill is in the position and in no fill.
   */
  | {
      readonly type: "fill";
      readonly strategy: string;
      readonly slot: string;
      readonly instId: string;
      readonly clOrdId: string;
      /** The service's order id; empty until it is known. */
      readonly ordId: string;
      /** `buy` or `sell`. */
      readonly side: Side;
      /**
       * From the increase of `accFillSz` times `avgPx`, on the tick or to 12 decimals; the mean price where one record
       * reports several fills.
       */
      readonly px: string;
      /** In base currency, without a fee that was taken in it: what the position changed by. */
      readonly qty: string;
      /**
       * In `currency`, with the sign of the profile (`order.feeSign`); one that was taken in base currency at the price
       * of the fill.
       */
      readonly fee: string;
      /** The fee as a positive cost; a rebate is negative. */
      readonly cost: string;
      /**
       * Base currency that the service took as the fee, negative for a rebate; undefined where the fee was taken in
       * `currency`.
       */
      readonly feeQty?: string | undefined;
      /** Currency of the fee: the settle currency, which is the instrument's quote currency. */
      readonly currency: string;
      /** Undefined for limit orders, as the service's record does not report it. */
      readonly liquidity: "maker" | "taker" | undefined;
      /** The strategy's position in the instrument after the fill: base currency, negative when short. */
      readonly position: string;
      /** The fill was found on an order of a previous run, which may have emitted it already. */
      readonly recovered: boolean;
    }
  /** A wanted order was not sent: a check before sending failed. */
  | { readonly type: "order.refused"; readonly strategy: string; readonly slot: string; readonly reason: string }
  /**
   * `rejections` post-only orders of a slot in a row were rejected because they would have taken liquidity: the next
   * ones are delayed, longer each time.
   */
  | {
      readonly type: "order.slowed";
      readonly strategy: string;
      readonly slot: string;
      readonly instId: string;
      /** Rejections in a row. */
      readonly rejections: number;
      readonly reason: string;
    }
  /** An order is complete, and its executed base quantity differs from the wanted one; no further order follows. */
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
  /**
   * A strategy holds a position and its wanted exit does not rest at the service; `side` is the exit's, `qty` in base
   * currency.
   */
  | {
      readonly type: "position.unprotected";
      readonly strategy: string;
      readonly slot: string;
      readonly instId: string;
      readonly side: Side;
      readonly qty: string;
      readonly reason: string;
    }
  /** The exit rests at the service, or the position is closed. */
  | {
      readonly type: "position.protected";
      readonly strategy: string;
      readonly slot: string;
      readonly instId: string;
      /** Nothing is held any more that the exit would reduce; left out where the exit is in force. */
      readonly closed?: true;
    }
  /**
   * A strategy's position is protected from here on: `name` is the slot of the entry, its client order id where it was
   * placed by hand without a slot, or the instrument where the whole position is protected; `side` is that of the order
   * that would close it, `qty` in base currency, prices as of now.
   */
  | ({ readonly type: "protection.armed" | "protection.changed" } & ProtectionLevels)
  /** A trigger price was reached, and the protected position is closed. `late`: it was reached while no engine ran. */
  | {
      readonly type: "protection.triggered";
      readonly strategy: string;
      readonly name: string;
      readonly instId: string;
      readonly side: Side;
      readonly qty: string;
      /** Kind of the protection that was triggered. */
      readonly kind: ProtectionKind;
      readonly trigger: "best" | "last" | "mark";
      /** The trigger price. */
      readonly triggerPx: string;
      /** The price that reached it. */
      readonly px: string;
      /** It was reached while no engine ran. */
      readonly late: boolean;
    }
  /** A protection has ended for `reason`: the position it covered is closed, or it was removed. */
  | {
      readonly type: "protection.ended";
      readonly strategy: string;
      readonly name: string;
      readonly instId: string;
      readonly reason: string;
    }
  /** An order that this instance did not place is open, or was and has changed to `state`. */
  | ({ readonly type: "order.external" } & Pick<
      OrderRecord,
      "ordId" | "clOrdId" | "instId" | "side" | "px" | "sz" | "state"
    >)
  /** Number of orders that this instance did not place and that had ended before it traded. */
  | {
      readonly type: "history.external";
      /** Number of orders. */
      readonly orders: number;
    }
  /**
   * A position is being closed: the account's, or that of one strategy. `pos` is in base currency, positive when long.
   */
  | {
      readonly type: "position.closing";
      /** User of the service. */
      readonly uid: string;
      readonly instId: string;
      /** By the service's list, or by the strategy's fills. */
      readonly pos: string;
      /** The strategy whose position it is; left out for a position of the account. */
      readonly strategy?: string;
      /** Client order id of the order that the call makes, for a position of the account. */
      readonly clOrdId?: string;
    }
  /**
   * The position is closed: a later read no longer shows it, or the strategy's fills add up to zero. `pos` is in base
   * currency.
   */
  | {
      readonly type: "position.closed";
      readonly uid: string;
      readonly instId: string;
      readonly pos: string;
      readonly strategy?: string;
    }
  /** A position could not be closed, for `reason`. `pos` is what is left of it, in base currency. */
  | {
      readonly type: "position.left";
      readonly uid: string;
      readonly instId: string;
      readonly pos: string;
      readonly reason: string;
      readonly strategy?: string;
    }
  /**
   * The account's position equals the strategies' positions together again, after the anomaly `position.differs`.
   */
  | {
      readonly type: "position.agreed";
      readonly uid: string;
      readonly instId: string;
      /** Signed quantity in base currency: positive when long. */
      readonly pos: string;
    };
