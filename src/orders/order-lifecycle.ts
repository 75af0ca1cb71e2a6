/**
 * Order lifecycle: each transition is journalled, then published, then frees its slot.
 *
 * Invariants: every change is journalled with its reason before it is published; a final phase stays final; a wanted order whose order
 * was completed or rejected is settled, one whose order was canceled by us or never executed is not.
 * Not here: why an order changes (placement.ts, cancellation.ts, unknown-orders.ts), what its slot does next (order-manager.ts).
 */
import { type Observable, Subject } from "rxjs";
import type { EventLog } from "../journal/event-log.ts";
import type { OrderPhase } from "../journal/events.ts";
import type { Slot, Slots } from "./slots.ts";
import { isOver, type TrackedOrder } from "./tracked-order.ts";

export interface OrderLifecycle {
  transition(order: TrackedOrder, phase: OrderPhase, reason: string): void;
  /** Tells the order as it is. */
  publish(order: TrackedOrder): void;
  end(order: TrackedOrder, phase: OrderPhase, reason: string): void;
  /** A rate limit refused it: it was not executed, and the wish is as new as before. */
  requeue(order: TrackedOrder, reason: string): void;
  readonly updates$: Observable<TrackedOrder>;
}

interface OrderLifecycleOptions {
  readonly journal: EventLog;
  readonly slots: Slots;
  readonly onOpenOrders: (count: number) => void;
  /** The slot holds no order any more, or another one. */
  readonly onFree: (slot: Slot) => void;
  readonly onOver: (order: TrackedOrder) => void;
}

export const createOrderLifecycle = ({ journal, slots, onOpenOrders, onFree, onOver }: OrderLifecycleOptions): OrderLifecycle => {
  const updates$ = new Subject<TrackedOrder>();

  const tell = (order: TrackedOrder): void => {
    const { strategy, slot, spec, clOrdId, phase, record, reason } = order;
    journal.append({ type: "order.changed", strategy, slot, instId: spec.instId, clOrdId, phase, record, reason });
    if (isOver(order)) slots.close(order);
    onOpenOrders(slots.openCount());
    updates$.next(order);
  };
  const free = (order: TrackedOrder): void => {
    const slot = slots.of(order);
    if (slot === undefined || slot.order !== order) return;
    slots.vacate(slot);
    const ours = order.cancelClass !== undefined || order.cancelSent || order.mayBeCut;
    // One that the service took did exist: it may have been executed, and is not placed again for having been forgotten.
    const neverWas = order.phase === "absent" && order.ordId === "";
    const cut = neverWas || ((order.phase === "canceled" || order.phase === "absent") && ours);
    if (!cut && !order.goesOn) slot.settledMark = order.mark;
    onFree(slot);
  };
  const announce = (order: TrackedOrder): void => {
    tell(order);
    if (!isOver(order)) return;
    free(order);
    onOver(order);
  };
  const move = (order: TrackedOrder, phase: OrderPhase, reason: string): void => {
    order.phase = phase;
    order.reason = reason;
    announce(order);
  };

  return {
    updates$,
    transition: move,
    publish: announce,
    end: (order, phase, reason) => {
      if (!isOver(order)) move(order, phase, reason);
    },
    requeue: (order, reason) => {
      if (isOver(order)) return;
      slots.close(order);
      const slot = slots.of(order);
      if (slot !== undefined && slot.order === order) {
        slots.vacate(slot);
        slot.spare = order;
      }
      move(order, "planned", reason);
      if (slot?.spare === order) onFree(slot);
    },
  };
};
