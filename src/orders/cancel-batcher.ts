/**
 * Cancel batching: packs cancels into as few calls as possible at the moment they leave.
 *
 * Invariants: an order is in at most one cancel call at a time; what became unnecessary while waiting is left out; every element
 * of a response is read by itself, whatever the envelope says; an order whose call was rejected as a whole goes alone next time,
 * so that one bad element does not hold up the others.
 * Not here: what follows from a result (cancellation.ts).
 */

import type { Gateway } from "../client/gateway.ts";
import { isTurnedDown, type Outcome, whyNot } from "../client/outcome.ts";
import type { Clock } from "../clock/clock.ts";
import type { Profile } from "../contract/profile.ts";
import { elementVerdict } from "../contract/rejections.ts";
import type { CancelBody, ElementResult } from "../contract/schemas.ts";
import { isSluiceError } from "../errors.ts";
import type { ActionClass } from "../journal/events.ts";
import { isResting, type TrackedOrder } from "./tracked-order.ts";

export type CancelEnd =
  /** The service accepted it; the order's record will show when it is gone. */
  | { readonly kind: "accepted" }
  /** The service says, by a code known to mean it, that this order cannot be canceled: the record must be read. */
  | { readonly kind: "denied"; readonly reason: string }
  /** It was certainly not executed. */
  | { readonly kind: "undone"; readonly reason: string }
  /** It may have been executed. */
  | { readonly kind: "unsure"; readonly reason: string };

interface CancelBatcher {
  /** Sees to it that a cancel call for `order` leaves with the urgency of its `cancelClass`. */
  request(order: TrackedOrder): void;
}

interface CancelBatcherOptions {
  readonly clock: Clock;
  readonly gateway: Gateway;
  readonly profile: Profile;
  /** Told before an order is chosen: the latest wish may want it after all. */
  readonly weigh: (order: TrackedOrder) => void;
  readonly onSent: (order: TrackedOrder) => void;
  readonly onEnd: (order: TrackedOrder, end: CancelEnd) => void;
}

interface Lane {
  readonly class: ActionClass;
  readonly orders: Set<TrackedOrder>;
  /** A call waits in the scheduler. */
  queued: boolean;
  /** The turn in which requests are gathered has not ended. */
  gathering: boolean;
}

export const createCancelBatcher = ({ clock, gateway, profile, weigh, onSent, onEnd }: CancelBatcherOptions): CancelBatcher => {
  const { elementsMax } = profile.cancelBatch;
  const lanes = new Map<ActionClass, Lane>();
  const alone = new WeakSet<TrackedOrder>();

  const laneOf = (kind: ActionClass): Lane => {
    let lane = lanes.get(kind);
    if (lane === undefined) {
      lane = { class: kind, orders: new Set(), queued: false, gathering: false };
      lanes.set(kind, lane);
    }
    return lane;
  };

  const isNeeded = (order: TrackedOrder): boolean => {
    if (order.canceling || !isResting(order)) return false;
    weigh(order);
    return order.cancelClass !== undefined;
  };

  /** The next batch: one kind of id throughout, since some services refuse a mixture. */
  const choose = (orders: ReadonlySet<TrackedOrder>, most: number, pass: (order: TrackedOrder) => void): TrackedOrder[] => {
    const batch: TrackedOrder[] = [];
    for (const order of orders) {
      if (!isNeeded(order)) {
        pass(order);
        continue;
      }
      const [first] = batch;
      if (first !== undefined && ((first.ordId === "") !== (order.ordId === "") || alone.has(order))) continue;
      batch.push(order);
      if (batch.length === most || alone.has(order)) break;
    }
    return batch;
  };

  const finish = (lane: Lane, batch: readonly TrackedOrder[], outcome: Outcome<ElementResult>): void => {
    if (batch.length === 0) {
      // Nothing left: there was no need any more, or the call is refused here before it is built.
      lane.queued = false;
      if (outcome.kind === "dropped" && outcome.reason === "withdrawn") return;
      const orders = [...lane.orders];
      lane.orders.clear();
      for (const order of orders) onEnd(order, { kind: "undone", reason: reasonOf(outcome) });
      return;
    }
    for (const order of batch) {
      order.canceling = false;
      if (isTurnedDown(outcome)) alone.add(order);
      else alone.delete(order);
    }
    batch.forEach((order, index) => {
      onEnd(order, endOf(outcome, batch, index, profile));
    });
  };

  const queue = (lane: Lane): void => {
    if (lane.queued || lane.orders.size === 0) return;
    lane.queued = true;
    let batch: TrackedOrder[] = [];
    const late = (most: number): CancelBody | undefined => {
      lane.queued = false;
      batch = choose(lane.orders, Math.min(most, elementsMax), (order) => lane.orders.delete(order));
      for (const order of batch) lane.orders.delete(order);
      if (batch.length === 0) return undefined;
      for (const order of batch) order.canceling = true;
      for (const order of batch) onSent(order);
      queue(lane);
      return batch.map(({ spec, ordId, clOrdId }) => (ordId === "" ? { instId: spec.instId, clOrdId } : { instId: spec.instId, ordId }));
    };
    const elementsNow = (): number => choose(lane.orders, elementsMax, () => undefined).length;
    const done = (outcome: Outcome<ElementResult>): void => {
      finish(lane, batch, outcome);
    };
    try {
      gateway.submit({ endpoint: "cancelBatch", class: lane.class, owner: "engine", elementsNow, input: late, done });
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      done({ kind: "dropped", reason: error.message });
    }
  };

  return {
    request: (order) => {
      if (order.cancelClass === undefined || order.canceling) return;
      const lane = laneOf(order.cancelClass);
      lane.orders.add(order);
      if (lane.queued || lane.gathering) return;
      // With quota to spare the first call would leave at once and with one order: the whole turn is gathered first.
      lane.gathering = true;
      clock.setTimer(clock.now(), () => {
        lane.gathering = false;
        queue(lane);
      });
    },
  };
};

const reasonOf = (outcome: Outcome<ElementResult>): string =>
  outcome.kind === "done" ? "the answer has no element for this order" : whyNot(outcome);

const endOf = (outcome: Outcome<ElementResult>, batch: readonly TrackedOrder[], index: number, profile: Profile): CancelEnd => {
  if (outcome.kind !== "done") return { kind: outcome.kind === "unknown" ? "unsure" : "undone", reason: reasonOf(outcome) };
  const order = batch[index] as TrackedOrder;
  // With one unreadable or missing element positions prove nothing; an id that matches still does.
  const whole = outcome.records.length === batch.length && outcome.problems.length === 0;
  const here = outcome.records[index];
  const element =
    outcome.records.find(({ ordId, clOrdId }) => isSame(ordId, order.ordId) || isSame(clOrdId, order.clOrdId)) ??
    (whole && here !== undefined && !namesAnother(here, order) ? here : undefined);
  if (element === undefined) return { kind: "unsure", reason: reasonOf(outcome) };
  if (element.sCode === "0") return { kind: "accepted" };
  const reason = `${element.sCode} ${element.sMsg}`.trim();
  return { kind: elementVerdict(profile, element.sCode) === "rejected" ? "denied" : "unsure", reason };
};

const isSame = (id: string, ours: string): boolean => id !== "" && id === ours;

const namesAnother = ({ ordId, clOrdId }: ElementResult, order: TrackedOrder): boolean =>
  (ordId !== "" && order.ordId !== "" && ordId !== order.ordId) || (clOrdId !== "" && clOrdId !== order.clOrdId);
