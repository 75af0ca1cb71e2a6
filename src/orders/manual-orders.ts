/**
 * Orders by hand, in addition to the declared ones: places one and emits its updates, cancels some and emits the
 * results.
 *
 * Invariants: the stream of a placed order ends when the order is over; subscribing places the order; unsubscribing
 * withdraws it if it was not sent yet, and otherwise only ends the updates; a refusal is a last value, not an error; a
 * cancel acts when it is called, with or without a subscriber to its results.
 */
import { merge, Observable, ReplaySubject } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { didYouMean, SluiceError } from "../errors.ts";
import type { OrderPhase } from "../journal/events.ts";
import type { Refusal } from "./effects.ts";
import type { OrderManager } from "./order-manager.ts";
import { isClosed, type Order } from "./order-state.ts";
import type { OrderUpdate } from "./order-update.ts";
import type { WantedOrder } from "./wanted-order.ts";
import { takePlaced } from "./wanted-set.ts";

/** Conditions that all must match; without any, all orders of the strategy match. */
export interface OrderFilter {
  /** Instrument of the orders. */
  readonly instId?: string;
  /** Side of the orders. */
  readonly side?: "buy" | "sell";
  /** Slot of the orders. */
  readonly slot?: string;
  /** Tag of their wanted orders. */
  readonly tag?: string;
  /** Minimum time since the order was sent, in milliseconds. */
  readonly olderThanMs?: number;
}

/** End of one order of a cancellation. */
export interface CancelResult {
  /** Slot of the wanted order. */
  readonly slot: string;
  /** Client order id. */
  readonly clOrdId: string;
  /** The service's id; empty where it gave none. */
  readonly ordId: string;
  /** Final phase: `canceled`, `filled` when the market was faster, `rejected` or `absent` when there was nothing. */
  readonly phase: OrderPhase;
  /** The service's record as last seen. */
  readonly record: OrderRecord | undefined;
}

/** Operations of a strategy on orders, in addition to the declared set. */
export interface Orders {
  /**
   * Places one order when it is subscribed to; without a subscriber nothing is sent. Emits updates of the order and
   * completes when it is over. A refusal, including one for a misspelt field, is the last value.
   */
  place(order: Omit<WantedOrder, "slot"> & { readonly slot?: string }): Observable<OrderUpdate>;
  /**
   * Cancels matching orders at once, with or without a subscriber, in as few calls as possible. Emits each result, also
   * to a later subscriber, and completes; nothing to cancel completes at once. Unsubscribing does not undo the cancels.
   * An order that is under way is canceled as soon as it rests. A wanted order that still waits for quota is not an
   * order yet and is not affected. A take-profit that rests for a protected position stays: it goes with the position
   * or with its `protect`.
   *
   * @throws ORDER_REFUSED for an unknown condition; nothing is canceled then.
   */
  cancel(where?: OrderFilter): Observable<CancelResult>;
}

const refusedUpdate = ({ strategy, slot, reason }: Refusal): OrderUpdate => ({
  strategy,
  slot,
  clOrdId: "",
  ordId: "",
  phase: "refused",
  isFinal: true,
  qty: "",
  filledQty: "0",
  avgPx: "",
  spec: undefined,
  record: undefined,
  reason,
});

const filterFields = ["instId", "side", "slot", "tag", "olderThanMs"] as const;

/**
 * Rejects unknown conditions: if a misspelt condition were ignored, the call would cancel everything. `more` names
 * conditions that are allowed besides those of a strategy.
 */
export const checkFilter = (where: OrderFilter, call = "orders.cancel", more: readonly string[] = []): void => {
  const fields = [...filterFields, ...more];
  for (const field of Object.keys(where)) {
    if (fields.includes(field)) continue;
    throw new SluiceError(
      "ORDER_REFUSED",
      `${call}: unknown condition "${field}".${didYouMean(field, fields)} Nothing was cancelled.`,
    );
  }
  if (where.side !== undefined && where.side !== "buy" && where.side !== "sell") {
    throw new SluiceError(
      "ORDER_REFUSED",
      `${call}: side ${JSON.stringify(where.side)} is neither "buy" nor "sell". Nothing was cancelled.`,
    );
  }
};

/**
 * Returns whether an order may be canceled by hand and meets every condition. An order that is under way, or whose
 * answer was lost, is canceled as soon as it is known to rest.
 */
export const isChosen = (orderManager: OrderManager, order: Order, where: OrderFilter, now: number): boolean =>
  !isClosed(order) &&
  order.state.kind !== "notExecuted" &&
  !orderManager.isReserved(order) &&
  matches(order, where, now);

const matches = (order: Order, where: OrderFilter, now: number): boolean =>
  (where.instId === undefined || order.spec.instId === where.instId) &&
  (where.side === undefined || order.spec.side === where.side) &&
  (where.slot === undefined || order.slot === where.slot) &&
  (where.tag === undefined || order.wanted?.tag === where.tag) &&
  (where.olderThanMs === undefined || now - order.sentAt >= where.olderThanMs);

/** Cancels the matching orders of every strategy. Emits each order as it ends. */
export const cancelAll = (
  orderManager: OrderManager,
  chosen: readonly Order[],
  urgency: "cancel" | "emergency",
): Observable<CancelResult> =>
  new Observable((subscriber) => {
    const left = new Set(chosen.filter((order) => !isClosed(order) && orderManager.cancelable(order)));
    const stop = orderManager.listen((_, order) => {
      if (!isClosed(order) || !left.delete(order)) return;
      const { slot, clOrdId, ordId, phase, record } = order;
      subscriber.next({ slot, clOrdId, ordId, phase, record });
      if (left.size === 0) subscriber.complete();
    });
    subscriber.add(stop);
    if (left.size === 0) subscriber.complete();
    else orderManager.cancel([...left], urgency);
  });

/** Cancels now, and keeps the results for later subscribers. */
export const cancelNow = (...cancels: readonly Observable<CancelResult>[]): Observable<CancelResult> => {
  const results = new ReplaySubject<CancelResult>();
  merge(...cancels).subscribe(results);
  return results.asObservable();
};

export const createOrders = (orderManager: OrderManager, strategy: string, clock: Clock): Orders => {
  let count = 0;
  const own = (): readonly Order[] => orderManager.orders().filter((order) => order.strategy === strategy);

  return {
    place: (order) =>
      new Observable((subscriber) => {
        const given = order as typeof order | null | undefined;
        const name: unknown = given?.slot ?? `#${count++}`;
        const wanted = takePlaced(typeof given === "object" && given !== null ? { ...given, slot: name } : given);
        const slot = String(name);
        const refuse = (reason: string): void => {
          subscriber.next(refusedUpdate({ strategy, slot, reason }));
          subscriber.complete();
        };
        if (typeof wanted === "string") {
          orderManager.noteRefusal({ strategy, slot, reason: wanted });
          refuse(wanted);
          return;
        }
        let sent = false;
        subscriber.add(
          orderManager.listen((update, order, isFollowed) => {
            if (update.strategy !== strategy || update.slot !== slot) return;
            // A placement that a rate limit turned away is waiting again.
            sent = update.phase !== "planned";
            subscriber.next(update);
            if (!isClosed(order) || isFollowed) return;
            orderManager.wantOne(strategy, slot, undefined);
            subscriber.complete();
          }),
        );
        subscriber.add(
          orderManager.refusals$.subscribe((refusal) => {
            if (refusal.strategy !== strategy || refusal.slot !== slot) return;
            subscriber.next(refusedUpdate(refusal));
            orderManager.wantOne(strategy, slot, undefined);
            subscriber.complete();
          }),
        );
        const taken = orderManager.wantOne(strategy, slot, wanted);
        if (taken !== undefined) {
          refuse(taken);
          return;
        }
        subscriber.add(() => {
          if (!sent) orderManager.wantOne(strategy, slot, undefined);
        });
      }),
    cancel: (where = {}) => {
      checkFilter(where);
      const chosen = own().filter((order) => isChosen(orderManager, order, where, clock.now()));
      return cancelNow(cancelAll(orderManager, chosen, "cancel"));
    },
  };
};
