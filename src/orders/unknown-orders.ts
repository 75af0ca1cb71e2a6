/**
 * Resolution of orders in phase `unknown`: the service is queried until their state is proved.
 *
 * Invariants: nothing is placed to find out; at most one search for an order; a search ends with evidence, its own or any other,
 * and its remaining queries are not sent.
 * Not here: what counts as evidence (order-resolver.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { OrderLifecycle } from "./order-lifecycle.ts";
import type { OrderResolver } from "./order-resolver.ts";
import type { OrderStore } from "./state/order-store.ts";
import { isOver, type TrackedOrder } from "./tracked-order.ts";

export interface UnknownOrders {
  /** The service took the order or its cancel: looks when the record that must follow does not come. */
  expect(order: TrackedOrder): void;
  /** Looks once, and goes on looking when nothing was found. */
  ask(order: TrackedOrder): void;
  /** The placement was not answered, or not so that it can be read. */
  doubt(order: TrackedOrder, reason: string): void;
  pursue(order: TrackedOrder): void;
  /** Evidence came by another way. */
  settle(order: TrackedOrder): void;
  readonly pursued: (order: TrackedOrder) => boolean;
}

interface UnknownOrdersOptions {
  readonly clock: Clock;
  readonly store: OrderStore;
  readonly resolver: OrderResolver;
  readonly lifecycle: () => OrderLifecycle;
  readonly onEvidence: (order: TrackedOrder) => void;
  /** The record of an accepted change has not shown up: the lists should be read, unless it has by then. */
  readonly onDoubt: (needed: () => boolean) => void;
}

/** An accepted order or cancel whose record does not show up for so long is asked about. */
const recordMs = 1_500;

const isCanceling = ({ phase }: TrackedOrder): boolean => phase === "canceling";

export const createUnknownOrders = ({ clock, store, resolver, lifecycle, onEvidence, onDoubt }: UnknownOrdersOptions): UnknownOrders => {
  const pursuits = new Map<TrackedOrder, () => void>();

  const settle = (order: TrackedOrder): void => {
    pursuits.get(order)?.();
    pursuits.delete(order);
  };
  const pursue = (order: TrackedOrder): void => {
    if (isOver(order) || pursuits.has(order)) return;
    const giveUp = resolver.pursue({ clOrdId: order.clOrdId, instId: order.spec.instId, sentAt: order.sentAt }, (evidence) => {
      pursuits.delete(order);
      if (evidence.kind === "absent") {
        if (order.ordId !== "") store.forget(order.ordId);
        // The service said no, and there is nothing: two signs of the same.
        if (order.verdict !== "") lifecycle().end(order, "rejected", `${order.verdict} (and proved not to exist at the service)`);
        else if (order.ordId !== "")
          lifecycle().end(order, "absent", "accepted, and not known to the service any more: how it ended is not known");
        else lifecycle().end(order, "absent", "proved not to exist at the service");
        return;
      }
      store.merge(evidence.record);
      onEvidence(order);
    });
    pursuits.set(order, giveUp);
  };
  const ask = (order: TrackedOrder): void => {
    if (pursuits.has(order)) return;
    const unseen = order.record === undefined;
    // Where a record was known only its end says more than the question.
    const needed = (): boolean => !isOver(order) && (!unseen || order.record === undefined);
    resolver.look(order.clOrdId, order.spec.instId, needed).subscribe((answer) => {
      if (isOver(order)) return;
      if (answer.kind === "found") {
        store.merge(answer.record);
        onEvidence(order);
      } else if (needed()) pursue(order);
    });
  };

  /** A cancelled order that is in no list of open orders is not young but gone: the lists look for its end. */
  const foretell = (order: TrackedOrder): boolean => {
    if (!isCanceling(order)) return false;
    if (order.record !== undefined) store.ending(order.record.ordId);
    return true;
  };

  return {
    ask,
    pursue,
    settle,
    pursued: (order) => pursuits.has(order),
    expect: (order) => {
      foretell(order);
      clock.setTimer(clock.now() + recordMs, () => {
        if (isOver(order)) return;
        if (order.record === undefined) ask(order);
        else if (foretell(order)) onDoubt(() => isCanceling(order));
      });
    },
    doubt: (order, reason) => {
      // A record outranks a reply: what was seen needs no search.
      if (isOver(order) || order.record !== undefined) return;
      lifecycle().transition(order, "unknown", reason);
      pursue(order);
    },
  };
};
