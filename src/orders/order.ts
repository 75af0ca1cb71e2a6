/**
 * One order of ours from the moment it was decided until it is final.
 *
 * Invariants: a final phase stays final; a record outranks a reply; an order whose placement was not answered is `unknown` and
 * counts as open until evidence says otherwise.
 */
import { isActive } from "../contract/order-states.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { ActionClass, OrderPhase } from "../journal/events.ts";
import type { OrderSpec, WantedOrder } from "./wanted.ts";

export interface TrackedOrder {
  readonly strategy: string;
  readonly slot: string;
  readonly clOrdId: string;
  readonly spec: OrderSpec;
  readonly wish: WantedOrder | undefined;
  readonly mark: string;
  readonly sentAt: number;
  ordId: string;
  phase: OrderPhase;
  record: OrderRecord | undefined;
  /** Someone wants it gone, this urgently. */
  cancelClass: ActionClass | undefined;
  /** A cancel is under way; the next one waits for its answer. */
  canceling: boolean;
  reason: string;
}

export const finalPhases: readonly OrderPhase[] = ["filled", "canceled", "rejected", "absent"];

export const isOver = (order: TrackedOrder): boolean => finalPhases.includes(order.phase);

/** Rests at the service as far as we know, so that it can be cancelled. */
export const isResting = (order: TrackedOrder): boolean =>
  !isOver(order) && order.phase !== "sent" && order.phase !== "unknown" && order.phase !== "planned";

/** The phase after a record was seen. True when anything changed. */
export const applyRecord = (order: TrackedOrder, record: OrderRecord): boolean => {
  if (isOver(order)) return false;
  const changed = order.record === undefined || order.record.state !== record.state || order.record.accFillSz !== record.accFillSz;
  order.record = record;
  order.ordId = record.ordId;
  if (!isActive(record.state)) order.phase = record.state;
  else if (order.phase === "canceling" && !changed) return false;
  else order.phase = order.canceling ? "canceling" : record.state;
  return changed;
};
