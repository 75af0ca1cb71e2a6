/**
 * Cancellation of orders: which cancel is how urgent, and what follows from each result.
 *
 * Invariants: the result of a cancel is a hint and the record decides; a cancel without effect is repeated, after longer and longer
 * pauses, as long as the order is unwanted; an order that cannot be canceled costs no request.
 * Not here: packing of calls (cancel-batcher.ts).
 */

import type { Gateway } from "../client/gateway.ts";
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import type { ActionClass } from "../journal/events.ts";
import { type CancelEnd, createCancelBatcher } from "./cancel-batcher.ts";
import type { OrderLifecycle } from "./order-lifecycle.ts";
import { isOver, isResting, type TrackedOrder } from "./tracked-order.ts";
import type { UnknownOrders } from "./unknown-orders.ts";

export interface Cancellation {
  request(order: TrackedOrder, urgency: ActionClass, reason: string): void;
  /** Nobody wants the order gone any more: a cancel that still waits is not sent. */
  recall(order: TrackedOrder): void;
  /** The order can be cancelled now, if somebody wants it gone. */
  resume(order: TrackedOrder): void;
  /** False where the service describes no way to cancel. */
  readonly cancelable: (order: TrackedOrder) => boolean;
}

interface CancellationOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly gateway: Gateway;
  readonly lifecycle: () => OrderLifecycle;
  readonly unknownOrders: UnknownOrders;
  readonly weigh: (order: TrackedOrder) => void;
}

const urgencies: readonly (ActionClass | undefined)[] = [undefined, "place", "cancel", "emergency"];
const repeatMs = 1_000;
const repeatMsMax = 60_000;
/** An accepted cancel that shows no effect for so long is asked for again. */
const effectMs = 10_000;
const uncancellable = "not wanted any more, but the service cannot cancel spot orders";

export const createCancellation = ({ clock, contract, gateway, lifecycle, unknownOrders, weigh }: CancellationOptions): Cancellation => {
  const cancels = createCancelBatcher({
    clock,
    gateway,
    profile: contract.profile,
    weigh,
    onSent: (order) => {
      order.cancelSent = true;
      lifecycle().transition(order, "canceling", order.reason);
    },
    onEnd: (order, end) => {
      if (!isOver(order)) read(order, end);
    },
  });

  const send = (order: TrackedOrder): void => {
    if (order.cancelClass !== undefined && isResting(order)) cancels.request(order);
  };
  // While one that was not denied may still show its effect, asking again is left to its timetable.
  const resume = (order: TrackedOrder): void => {
    if (!order.cancelSent) send(order);
  };
  const resumeIn = (ms: number, order: TrackedOrder): void => {
    clock.setTimer(clock.now() + ms, () => {
      if (!isOver(order)) send(order);
    });
  };
  const again = (order: TrackedOrder): void => {
    resumeIn(Math.min(repeatMs * 2 ** order.denials, repeatMsMax), order);
    order.denials++;
  };
  /** Back to what the record says: the cancel did not take. */
  const rest = (order: TrackedOrder, reason: string): void => {
    order.cancelSent = false;
    const phase = order.record?.state ?? "acked";
    if (order.phase !== phase) lifecycle().transition(order, phase, reason);
  };

  const read = (order: TrackedOrder, end: CancelEnd): void => {
    switch (end.kind) {
      case "accepted":
        order.denials = 0;
        order.mayBeCut = true;
        unknownOrders.expect(order);
        resumeIn(effectMs, order);
        return;
      case "denied":
        // Filled or cancelled meanwhile, or something else: the record says which.
        rest(order, end.reason);
        unknownOrders.ask(order);
        again(order);
        return;
      case "undone":
        rest(order, end.reason);
        again(order);
        return;
      case "unsure":
        // It may have been executed, and it does no harm twice.
        order.mayBeCut = true;
        unknownOrders.expect(order);
        again(order);
    }
  };

  const cancelable = ({ spec }: TrackedOrder): boolean => contract.profile.capabilities.cancelSpot || instTypeOf(spec.instId) !== "SPOT";

  return {
    resume,
    cancelable,
    recall: (order) => {
      order.cancelClass = undefined;
    },
    request: (order, urgency, reason) => {
      if (isOver(order)) return;
      weigh(order);
      if (!cancelable(order)) {
        // The service describes no way: asking would cost quota and change nothing. The order stays until it trades.
        if (order.reason !== uncancellable) lifecycle().transition(order, order.phase, uncancellable);
        return;
      }
      // An order whose last cancels failed is on its own timetable, unless it became more urgent.
      const more = urgencies.indexOf(urgency) > urgencies.indexOf(order.cancelClass);
      const waits = order.cancelClass !== undefined && order.denials > 0;
      if (more) order.cancelClass = urgency;
      order.reason = reason;
      if (more) send(order);
      else if (!waits) resume(order);
    },
  };
};
