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
import { advance, isClosed, isMoreUrgent, isResting, type Order } from "./order-state.ts";
import type { UnknownOrders } from "./unknown-orders.ts";

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
  readonly #weigh: (order: Order) => void;
  readonly #batcher: CancelBatcher;
  /** Their cancel was accepted, and its effect has not shown. */
  readonly #accepted: DelayQueue<Order>;

  /** `weigh` compares an order with the latest wanted order of its slot: one that suits it after all may stay. */
  constructor(
    { clock, contract, gateway }: { readonly clock: Clock; readonly contract: Contract; readonly gateway: Gateway },
    lifecycle: OrderLifecycle,
    unknownOrders: UnknownOrders,
    weigh: (order: Order) => void,
  ) {
    this.#clock = clock;
    this.#contract = contract;
    this.#lifecycle = lifecycle;
    this.#unknownOrders = unknownOrders;
    this.#weigh = weigh;
    this.#accepted = new DelayQueue(clock, {
      delayMs: effectMs,
      isSettled: isClosed,
      due: (order) => this.#doubt(order),
    });
    this.#batcher = new CancelBatcher(clock, gateway, contract.profile, {
      weigh,
      sent: (order, now) => lifecycle.move(order, { type: "cancelSent" }, now),
      end: (order, end) => {
        if (!isClosed(order)) this.#read(order, end);
      },
    });
  }

  request(order: Order, urgency: ActionClass, reason: string): void {
    if (isClosed(order)) return;
    this.#weigh(order);
    if (!this.cancelable(order)) {
      // The service describes no way: asking would cost quota and change nothing. The order stays until it trades.
      if (order.reason !== uncancellable) this.#lifecycle.move(order, { type: "noted", reason: uncancellable });
      return;
    }
    // An order whose last cancels failed is on its own timetable, unless it became more urgent.
    const more = isMoreUrgent(urgency, order.unwanted?.urgency);
    const waits = order.unwanted !== undefined && order.cancel.failures > 0;
    advance(order, { type: "cancelAsked", urgency, reason });
    if (more) this.#send(order);
    else if (!waits) this.resume(order);
  }

  /** The order is wanted again: a cancel that still waits is not sent. */
  recall(order: Order): void {
    advance(order, { type: "cancelRecalled" });
  }

  /**
   * The order can be canceled now, if it is not wanted. While a cancel that was not denied may still show its effect, asking again
   * is left to its timetable.
   */
  resume(order: Order): void {
    if (order.cancel.kind === "none") this.#send(order);
  }

  /** False where the service describes no way to cancel. */
  cancelable({ spec }: Order): boolean {
    return isCancelable(spec.instId, this.#contract.profile);
  }

  #send(order: Order): void {
    if (order.unwanted !== undefined && isResting(order)) this.#batcher.request(order);
  }

  #resumeIn(ms: number, order: Order): void {
    this.#clock.setTimer(this.#clock.now() + ms, () => {
      if (!isClosed(order)) this.#send(order);
    });
  }

  /** The cancel may have taken effect where no list has told of it yet: one question costs less than one more cancel. */
  #doubt(order: Order): void {
    if (order.cancel.kind !== "none") this.#unknownOrders.ask(order);
    this.#resumeIn(answerMs, order);
  }

  /** Longer after each failure. */
  #again(order: Order): void {
    this.#resumeIn(Math.min(repeatMs * 2 ** (order.cancel.failures - 1), repeatMsMax), order);
  }

  #read(order: Order, end: CancelEnd): void {
    switch (end.kind) {
      case "accepted":
        advance(order, { type: "cancelEnded", end: "accepted", reason: "" });
        this.#unknownOrders.expect(order);
        this.#accepted.add(order);
        return;
      case "denied":
        // Filled or canceled meanwhile, or something else: the record says which.
        this.#lifecycle.move(order, { type: "cancelEnded", end: "failed", reason: end.reason });
        this.#unknownOrders.ask(order);
        this.#again(order);
        return;
      case "undone":
        this.#lifecycle.move(order, { type: "cancelEnded", end: "failed", reason: end.reason });
        this.#again(order);
        return;
      case "unsure":
        // It may have been executed, and it does no harm twice.
        advance(order, { type: "cancelEnded", end: "unsure", reason: end.reason });
        this.#unknownOrders.expect(order);
        this.#again(order);
    }
  }
}
