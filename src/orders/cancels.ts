/**
 * Cancels, packed into as few calls as possible at the moment they leave.
 *
 * Invariants: an order is in at most one cancel call at a time; what became unnecessary while waiting is left out; every element
 * of an answer is read by itself, whatever the envelope says; a cancel that was not answered is simply asked for again.
 */
import type { CancelBody, ElementResult } from "../contract/schemas.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Outcome } from "../gateway/outcome.ts";
import type { ActionClass } from "../journal/events.ts";
import { isResting, type TrackedOrder } from "./order.ts";

export type CancelEnd =
  /** The service accepted it; the order's record will show when it is gone. */
  | { readonly kind: "accepted" }
  /** The service says there is nothing to cancel: the record must be read. */
  | { readonly kind: "gone"; readonly code: string; readonly msg: string }
  /** Nothing is known; it may be asked again. */
  | { readonly kind: "open"; readonly reason: string }
  /** The service will not do it. */
  | { readonly kind: "refused"; readonly reason: string };

export interface Cancels {
  /** Sees to it that a cancel call for `order` leaves with the urgency of its `cancelClass`. */
  request(order: TrackedOrder): void;
  readonly waiting: number;
}

export interface CancelsOptions {
  readonly gateway: Gateway;
  readonly elementsMax: number;
  readonly onSent: (order: TrackedOrder) => void;
  readonly onEnd: (order: TrackedOrder, end: CancelEnd) => void;
}

export const createCancels = ({ gateway, elementsMax, onSent, onEnd }: CancelsOptions): Cancels => {
  const lanes = new Map<ActionClass, { readonly orders: Set<TrackedOrder>; queued: boolean }>();

  const laneOf = (kind: ActionClass): { readonly orders: Set<TrackedOrder>; queued: boolean } => {
    let lane = lanes.get(kind);
    if (lane === undefined) {
      lane = { orders: new Set(), queued: false };
      lanes.set(kind, lane);
    }
    return lane;
  };

  /** The next batch: one kind of id throughout, since some services refuse a mixture. */
  const pack = (orders: Set<TrackedOrder>): TrackedOrder[] => {
    const batch: TrackedOrder[] = [];
    for (const order of orders) {
      if (order.cancelClass === undefined || order.canceling || !isResting(order)) {
        orders.delete(order);
        continue;
      }
      const first = batch[0];
      if (first !== undefined && (first.ordId === "") !== (order.ordId === "")) continue;
      orders.delete(order);
      batch.push(order);
      if (batch.length === elementsMax) break;
    }
    return batch;
  };

  const read = (outcome: Outcome<ElementResult>, batch: readonly TrackedOrder[]): void => {
    batch.forEach((order, index) => {
      order.canceling = false;
      onEnd(order, endOf(outcome, order, index, batch.length));
    });
  };

  const queue = (kind: ActionClass): void => {
    const lane = laneOf(kind);
    if (lane.queued || lane.orders.size === 0) return;
    lane.queued = true;
    let batch: TrackedOrder[] = [];
    const late = (): CancelBody | undefined => {
      lane.queued = false;
      batch = pack(lane.orders);
      if (batch.length === 0) return undefined;
      for (const order of batch) {
        order.canceling = true;
        onSent(order);
      }
      queue(kind);
      return batch.map(({ spec, ordId, clOrdId }) => (ordId === "" ? { instId: spec.instId, clOrdId } : { instId: spec.instId, ordId }));
    };
    gateway.call("cancelBatch", late, { class: kind, owner: "engine" }).subscribe((outcome) => {
      if (outcome.kind === "dropped") lane.queued = false;
      read(outcome, batch);
    });
  };

  return {
    request: (order) => {
      if (order.cancelClass === undefined || order.canceling) return;
      laneOf(order.cancelClass).orders.add(order);
      queue(order.cancelClass);
    },
    get waiting() {
      let count = 0;
      for (const { orders } of lanes.values()) count += orders.size;
      return count;
    },
  };
};

const endOf = (outcome: Outcome<ElementResult>, order: TrackedOrder, index: number, length: number): CancelEnd => {
  switch (outcome.kind) {
    case "done": {
      // With one unreadable or missing element positions prove nothing; an id that matches still does.
      const whole = outcome.records.length === length && outcome.problems.length === 0;
      const named = outcome.records.find(
        ({ ordId, clOrdId }) => (ordId !== "" && ordId === order.ordId) || (clOrdId !== "" && clOrdId === order.clOrdId),
      );
      const element = named ?? (whole ? outcome.records[index] : undefined);
      if (element === undefined) return { kind: "open", reason: "the answer has no element for this order" };
      return element.sCode === "0" ? { kind: "accepted" } : { kind: "gone", code: element.sCode, msg: element.sMsg };
    }
    case "refused":
      return { kind: "refused", reason: `${outcome.code} ${outcome.msg}`.trim() };
    case "unknown":
      return { kind: "open", reason: outcome.message };
    case "limited":
      return { kind: "open", reason: "refused by a rate limit" };
    case "dropped":
      return { kind: "open", reason: outcome.reason };
  }
};
