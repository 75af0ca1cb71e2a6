/**
 * Order update: an order as strategies and other listeners see it.
 *
 * Not here: its state and what moves it (order-state.ts).
 */
import type { OrderRecord } from "../contract/schemas.ts";
import { type Decimal, isZero, spell } from "../decimal-value.ts";
import type { OrderPhase } from "../journal/events.ts";
import { isClosed, type Order } from "./order-state.ts";
import type { OrderSpec } from "./wanted-order.ts";

/** Phases of orders that are over. */
export const finalPhases: readonly OrderPhase[] = ["filled", "canceled", "rejected", "absent"];

/**
 * One order of a strategy at one moment, frozen and made once for all who listen: its phase, and what was executed so
 * far.
 */
export interface OrderUpdate {
  /** Name of the strategy in the config. */
  readonly strategy: string;
  /** Slot of the wanted order. */
  readonly slot: string;
  /** Client order id, given by Sluice. */
  readonly clOrdId: string;
  /** Empty until the service gave it. */
  readonly ordId: string;
  /** Where the order stands in its life; `refused` when it was never sent. */
  readonly phase: OrderPhase | "refused";
  /** What was sent, in the service's words; undefined when nothing was. */
  readonly spec: OrderSpec | undefined;
  /**
   * It is over: filled, canceled, rejected, absent or refused. One that was canceled may have executed a part before
   * (`filledQty`).
   */
  readonly isFinal: boolean;
  /**
   * Wanted quantity in base currency, whatever the service's sizes count; empty where it is not known and where nothing
   * was sent.
   */
  readonly qty: string;
  /** Executed so far, in base currency whatever the service's sizes count; "0" while nothing was. */
  readonly filledQty: string;
  /** Price of that on average, as the service tells it; empty while nothing was executed. */
  readonly avgPx: string;
  /** The service's record as last seen. */
  readonly record: OrderRecord | undefined;
  /** Why it ended or was refused, in words; empty where there is nothing to say. */
  readonly reason: string;
}

export const updateOf = (order: Order, filled: Decimal): OrderUpdate => {
  const { strategy, slot, clOrdId, ordId, phase, qty, spec, record, reason } = order;
  const filledQty = spell(filled);
  const avgPx = isZero(filled) ? "" : (record?.avgPx ?? "");
  return Object.freeze({
    strategy,
    slot,
    clOrdId,
    ordId,
    phase,
    isFinal: isClosed(order),
    qty: qty === undefined ? "" : spell(qty),
    filledQty,
    avgPx,
    // The engine goes on with the same object.
    spec: Object.freeze(spec),
    record,
    reason,
  });
};
