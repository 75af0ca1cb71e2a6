/**
 * Orders of one strategy as streams.
 *
 * Invariants: a subscriber receives the open orders at once, then again after each change; an order that is over has
 * left the list by then.
 * Not here: orders and cancels by hand (manual-orders.ts).
 */
import { defer, map, Observable, startWith } from "rxjs";
import type { OrderManager } from "./order-manager.ts";
import type { OrderUpdate } from "./order-update.ts";

/** Open orders of a strategy, and every change of its orders. */
export const ownOrders = (
  orderManager: OrderManager,
  strategy: string,
): { readonly orders$: Observable<readonly OrderUpdate[]>; readonly updates$: Observable<OrderUpdate> } => {
  const updates$ = new Observable<OrderUpdate>((subscriber) =>
    orderManager.listen((update) => {
      if (update.strategy === strategy) subscriber.next(update);
    }),
  );
  const open = (): readonly OrderUpdate[] =>
    orderManager
      .orders()
      .filter((order) => order.strategy === strategy)
      .map((order) => orderManager.updateOf(order));
  return { updates$, orders$: defer(() => updates$.pipe(map(open), startWith(open()))) };
};
