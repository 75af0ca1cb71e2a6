/**
 * Cancellation of orders: which cancel is how urgent, and what follows from each result.
 *
 * Invariants: the result of a cancel is a hint and the record decides; a cancel without effect is repeated, after longer and longer
 * pauses, as long as the order is unwanted; an order that cannot be canceled costs no request.
 * Not here: packing of calls (cancel-batcher.ts).
 */
import type { Gateway } from "../client/gateway.ts";
import { type Clock, DelayQueue } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import { isCancelable } from "../contract/profile.ts";
import type { ActionClass } from "../journal/events.ts";
import { CancelBatcher, type CancelEnd } from "./cancel-batcher.ts";
import type { OrderLifecycle } from "./order-lifecycle.ts";
import { isOver, overIn, restsIn, type TrackedOrder } from "./tracked-order.ts";
import type { UnknownOrders } from "./unknown-orders.ts";

const urgencies: readonly (ActionClass | undefined)[] = [undefined, "place", "cancel", "emergency"];
const repeatMs = 1_000;
const repeatMsMax = 60_000;
/** An accepted cancel that shows no effect for so long is asked about, and asked for again so long after that. */
const effectMs = 8_000;
const answerMs = 2_000;
const uncancellable = "not wanted any more, but the service cannot cancel spot orders";

export class Cancellation {
  readonly #clock: Clock;
  readonly #contract: Contract;
  readonly #lifecycle: OrderLifecycle;
  readonly #unknownOrders: UnknownOrders;
  readonly #weigh: (order: TrackedOrder) => void;
  readonly #batcher: CancelBatcher;
  /** Their cancel was accepted, and its effect has not shown. */
  readonly #accepted: DelayQueue<TrackedOrder>;

  /** `weigh` compares an order with the latest wanted order of its slot: one that suits it after all may stay. */
  constructor(
    { clock, contract, gateway }: { readonly clock: Clock; readonly contract: Contract; readonly gateway: Gateway },
    lifecycle: OrderLifecycle,
    unknownOrders: UnknownOrders,
    weigh: (order: TrackedOrder) => void,
  ) {
    this.#clock = clock;
    this.#contract = contract;
    this.#lifecycle = lifecycle;
    this.#unknownOrders = unknownOrders;
    this.#weigh = weigh;
    this.#accepted = new DelayQueue(clock, {
      delayMs: effectMs,
      isSettled: isOver,
      due: (order) => this.#doubt(order),
    });
    this.#batcher = new CancelBatcher(clock, gateway, contract.profile, {
      weigh,
      sent: (order, now) => {
        order.cancelSent = true;
        lifecycle.transition(order, "canceling", order.reason, now);
      },
      end: (order, end) => {
        if (!overIn[order.phase]) this.#read(order, end);
      },
    });
  }

  request(order: TrackedOrder, urgency: ActionClass, reason: string): void {
    if (overIn[order.phase]) return;
    if (order.unweighed) this.#weigh(order);
    if (!this.cancelable(order)) {
      // The service describes no way: asking would cost quota and change nothing. The order stays until it trades.
      if (order.reason !== uncancellable) this.#lifecycle.transition(order, order.phase, uncancellable);
      return;
    }
    // An order whose last cancels failed is on its own timetable, unless it became more urgent.
    const more = urgencies.indexOf(urgency) > urgencies.indexOf(order.cancelClass);
    const waits = order.cancelClass !== undefined && order.denials > 0;
    if (more) order.cancelClass = urgency;
    order.reason = reason;
    if (more) this.#send(order);
    else if (!waits) this.resume(order);
  }

  /** The order is wanted again: a cancel that still waits is not sent. */
  recall(order: TrackedOrder): void {
    order.cancelClass = undefined;
  }

  /**
   * The order can be canceled now, if it is not wanted. While a cancel that was not denied may still show its effect, asking again
   * is left to its timetable.
   */
  resume(order: TrackedOrder): void {
    if (!order.cancelSent) this.#send(order);
  }

  /** False where the service describes no way to cancel. */
  cancelable({ spec }: TrackedOrder): boolean {
    return isCancelable(spec.instId, this.#contract.profile);
  }

  #send(order: TrackedOrder): void {
    if (order.cancelClass !== undefined && restsIn[order.phase]) this.#batcher.request(order);
  }

  #resumeIn(ms: number, order: TrackedOrder): void {
    this.#clock.setTimer(this.#clock.now() + ms, () => {
      if (!isOver(order)) this.#send(order);
    });
  }

  /** The cancel may have taken effect where no list has told of it yet: one question costs less than one more cancel. */
  #doubt(order: TrackedOrder): void {
    if (order.cancelSent) this.#unknownOrders.ask(order);
    this.#resumeIn(answerMs, order);
  }

  #again(order: TrackedOrder): void {
    this.#resumeIn(Math.min(repeatMs * 2 ** order.denials, repeatMsMax), order);
    order.denials++;
  }

  /** Back to what the record says: the cancel did not take. */
  #rest(order: TrackedOrder, reason: string): void {
    order.cancelSent = false;
    const phase = order.record?.state ?? "acked";
    if (order.phase !== phase) this.#lifecycle.transition(order, phase, reason);
  }

  #read(order: TrackedOrder, end: CancelEnd): void {
    switch (end.kind) {
      case "accepted":
        order.denials = 0;
        order.mayBeCut = true;
        this.#unknownOrders.expect(order);
        this.#accepted.add(order);
        return;
      case "denied":
        // Filled or canceled meanwhile, or something else: the record says which.
        this.#rest(order, end.reason);
        this.#unknownOrders.ask(order);
        this.#again(order);
        return;
      case "undone":
        this.#rest(order, end.reason);
        this.#again(order);
        return;
      case "unsure":
        // It may have been executed, and it does no harm twice.
        order.mayBeCut = true;
        this.#unknownOrders.expect(order);
        this.#again(order);
    }
  }
}
