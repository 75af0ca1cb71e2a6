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
 * One order of a strategy at one moment: its phase and its execution so far. Frozen, and shared by all listeners.
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
  /** Phase of the order's lifecycle; `refused` when it was never sent. */
  readonly phase: OrderPhase | "refused";
  /** The order in the service's terms; undefined when nothing was sent. */
  readonly spec: OrderSpec | undefined;
  /**
   * True if the order is over: filled, canceled, rejected, absent or refused. A canceled order may have executed a part
   * (`filledQty`).
   */
  readonly isFinal: boolean;
  /**
   * Wanted quantity in base currency for every unit of the service's sizes; empty if it is not known or nothing was
   * sent.
   */
  readonly qty: string;
  /** Executed quantity in base currency; "0" while nothing was executed. */
  readonly filledQty: string;
  /** Average price of the execution by the service's record; empty while nothing was executed. */
  readonly avgPx: string;
  /** The service's record as last seen. */
  readonly record: OrderRecord | undefined;
  /** Reason of its end or refusal; empty where there is none. */
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
    // The engine continues to use the same object.
    spec: Object.freeze(spec),
    record,
    reason,
  });
};
