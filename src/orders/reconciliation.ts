/**
 * Reconciliation: brings our orders into agreement with the service's records, and takes in orders of previous runs.
 *
 * Invariants: a record of ours always has an effect: it belongs to a known order, is adopted by its slot, or waits for one; an
 * order more than a slot can hold is canceled; orders of other clients are reported (foreign-orders.ts) and left alone.
 * Not here: reading records (orders/state/), telling ids apart (client-order-id.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import { isActive } from "../contract/order-states.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Cancellation } from "./cancellation.ts";
import type { ClientOrderIds } from "./client-order-id.ts";
import { createForeignOrders } from "./foreign-orders.ts";
import type { OrderLifecycle } from "./order-lifecycle.ts";
import type { Slot, Slots } from "./slots.ts";
import type { OrderStore } from "./state/order-store.ts";
import { applyRecord, foundOrder, isOver, recalledOrder, type TrackedOrder } from "./tracked-order.ts";
import type { UnknownOrders } from "./unknown-orders.ts";
import type { OrderSpec } from "./wanted-order.ts";

interface Reconciliation {
  /** Applies what the store knows of an order. */
  take(order: TrackedOrder): void;
  /** The service took the order under this id. */
  accept(order: TrackedOrder, ordId: string): void;
  /** An order that an earlier life sent and did not see the end of, unless the service has told of it already. */
  readonly recall: (clOrdId: string, spec: OrderSpec, sentAt: number, strategy: string) => void;
  /** Orders found at the service got a home: the slot's own is weighed against its wish, a surplus one has to go. */
  settleIn(): void;
}

interface ReconciliationOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly journal: EventLog;
  readonly store: OrderStore;
  readonly ids: ClientOrderIds;
  readonly slots: Slots;
  readonly lifecycle: OrderLifecycle;
  readonly unknownOrders: UnknownOrders;
  readonly cancellation: Cancellation;
  readonly weigh: (order: TrackedOrder) => void;
  readonly consider: (slot: Slot) => void;
  /** The slot's order turned up: one that waits to be placed is not needed. */
  readonly unqueue: (slot: Slot) => void;
  readonly isHalted: () => boolean;
  /** Whose wish an order of an earlier life was. */
  readonly onOwner: (clOrdId: string, strategy: string) => void;
  /** Counts what an order did and may do, by whoever's wish it is known to be now. */
  readonly recount: (order: TrackedOrder) => void;
  readonly onOpenOrders: (count: number) => void;
  readonly serviceNow: (() => number | undefined) | undefined;
}

export const createReconciliation = (options: ReconciliationOptions): Reconciliation => {
  const { clock, contract, journal, store, ids, slots, lifecycle, unknownOrders, cancellation, weigh, consider } = options;

  const wake = (order: TrackedOrder): void => {
    const slot = slots.of(order);
    if (slot?.order === order) consider(slot);
    cancellation.resume(order);
  };
  const onRecord = (order: TrackedOrder, record: OrderRecord): void => {
    // Whatever else it says, a record says that the order exists.
    unknownOrders.settle(order);
    weigh(order);
    if (!applyRecord(order, record)) return;
    lifecycle.publish(order);
    if (!isOver(order)) wake(order);
  };
  const settle = (order: TrackedOrder): void => {
    lifecycle.publish(order);
    const slot = slots.of(order);
    if (slot === undefined) return;
    if (slot.order !== order) {
      cancellation.request(order, "cancel", "an older order of the same slot");
      return;
    }
    options.unqueue(slot);
    consider(slot);
  };
  const settleIn = (): void => {
    for (const order of slots.housed()) if (!isOver(order)) settle(order);
  };
  const adopt = (record: OrderRecord): void => {
    const found = slots.adopt(foundOrder(record, clock, contract.profile, options.serviceNow?.()));
    if (found === undefined) return;
    options.onOpenOrders(slots.openCount());
    settleIn();
    if (options.isHalted()) cancellation.request(found, "emergency", "found while halted");
  };
  const foreign = createForeignOrders(journal);
  const onChange = (record: OrderRecord, previous: OrderRecord | undefined): void => {
    const order = slots.byClientId(record.clOrdId);
    if (order !== undefined) {
      onRecord(order, record);
      return;
    }
    const own = ids.read(record.clOrdId);
    if (own !== undefined) {
      slots.skip(own.generation);
      if (isActive(record.state)) adopt(record);
    } else foreign.take(record, previous);
  };

  store.onChange(onChange);
  store.onForgotten(({ clOrdId }) => {
    const order = slots.byClientId(clOrdId);
    if (order !== undefined) unknownOrders.pursue(order);
  });

  const recall = (clOrdId: string, spec: OrderSpec, sentAt: number, strategy: string): void => {
    const own = ids.read(clOrdId);
    if (own === undefined) return;
    slots.skip(own.generation);
    options.onOwner(clOrdId, strategy);
    const known = store.find({ clOrdId });
    if (known !== undefined && !isActive(known.state)) {
      // It came to its end while nobody was there: told once, for the journal's sake.
      const { state } = known;
      const ended = recalledOrder(clOrdId, spec, sentAt);
      applyRecord(ended, known);
      options.recount(ended);
      journal.append({
        type: "order.changed",
        strategy,
        slot: "",
        instId: known.instId,
        clOrdId,
        phase: state,
        record: known,
        reason: "ended meanwhile",
      });
      return;
    }
    const resting = slots.byClientId(clOrdId);
    if (resting !== undefined) options.recount(resting);
    const order = slots.adopt(recalledOrder(clOrdId, spec, sentAt));
    if (order === undefined) return;
    unknownOrders.doubt(order, "sent by a previous run, without a recorded answer");
    options.onOpenOrders(slots.openCount());
  };

  return {
    settleIn,
    recall,
    take: (order) => {
      const record = store.find({ clOrdId: order.clOrdId });
      if (record !== undefined) onRecord(order, record);
    },
    accept: (order, ordId) => {
      order.ordId = ordId;
      // The record may have come before the reply.
      const known = order.record ?? store.find({ ordId });
      if (known === undefined) lifecycle.transition(order, "acked", "accepted");
      else if (order.record === undefined) onRecord(order, known);
      if (isOver(order) || order.record !== undefined) return;
      unknownOrders.expect(order);
      wake(order);
    },
  };
};
