/**
 * Cancellation of orders: which cancel is how urgent, and what follows from each result.
 *
 * Invariants: the result of a cancel is a hint and the record decides; a cancel without effect is repeated, after
 * longer and longer pauses, as long as the order is unwanted; an order that cannot be canceled costs no request.
 * Not here: packing of calls (cancel-batcher.ts).
 */
import type { Gateway } from "../client/gateway.ts";
import { type Clock, DelayQueue } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import { isCancelable } from "../contract/profile.ts";
import type { ActionClass } from "../journal/events.ts";
import { CancelBatcher, type CancelEnd } from "./cancel-batcher.ts";
import { type Effect, type Effects, noEffects, publish, type Run } from "./effects.ts";
import { advance, isClosed, isMoreUrgent, isResting, type Order } from "./order-state.ts";

const repeatMs = 1_000;
const repeatMsMax = 60_000;
/** An accepted cancel that shows no effect for so long is asked about, and asked for again so long after that. */
const effectMs = 8_000;
const answerMs = 2_000;
const uncancelable = "not wanted any more, but the service cannot cancel spot orders";

export class Cancellation {
  readonly #clock: Clock;
  readonly #contract: Contract;
  readonly #compare: (order: Order) => void;
  readonly #batcher: CancelBatcher;
  /** Their cancel was accepted, and its effect has not shown. */
  readonly #accepted: DelayQueue<Order>;

  /** `compare` compares an order with the latest wanted order of its slot: one that suits it after all may stay. */
  constructor(
    { clock, contract, gateway }: { readonly clock: Clock; readonly contract: Contract; readonly gateway: Gateway },
    compare: (order: Order) => void,
    run: Run,
  ) {
    this.#clock = clock;
    this.#contract = contract;
    this.#compare = compare;
    this.#accepted = new DelayQueue(clock, {
      delayMs: effectMs,
      isSettled: isClosed,
      due: (order) => run(this.#doubt(order)),
    });
    this.#batcher = new CancelBatcher(clock, gateway, contract.profile, {
      compare,
      sent: (order, now) => {
        if (advance(order, { type: "cancelSent" })) run([publish(order, now)]);
      },
      end: (order, end) => {
        if (!isClosed(order)) run(this.#read(order, end));
      },
    });
  }

  /** The order should go. */
  ask(order: Order, urgency: ActionClass, reason: string): Effects {
    if (isClosed(order)) return noEffects;
    this.#compare(order);
    if (!this.cancelable(order)) {
      // The service describes no way: asking would cost quota and change nothing. The order stays until it trades.
      if (order.reason === uncancelable) return noEffects;
      advance(order, { type: "noted", reason: uncancelable });
      return [publish(order)];
    }
    // An order whose last cancels failed is on its own timetable, unless it became more urgent.
    const more = isMoreUrgent(urgency, order.unwanted?.urgency);
    const waits = order.unwanted !== undefined && order.cancel.failures > 0;
    advance(order, { type: "cancelAsked", urgency, reason });
    if (more) return send(order);
    return waits ? noEffects : this.resume(order);
  }

  /**
   * The order can be canceled now, if it is not wanted. While a cancel that was not denied may still show its effect,
   * asking again is left to its timetable.
   */
  resume(order: Order): Effects {
    return order.cancel.kind === "none" ? send(order) : noEffects;
  }

  /** False where the service describes no way to cancel. */
  cancelable({ spec }: Order): boolean {
    return isCancelable(spec.instId, this.#contract.profile);
  }

  /** Packs a cancel of the order into the next call of its urgency. */
  pack(order: Order): void {
    this.#batcher.request(order);
  }

  #resumeIn(ms: number, order: Order): Effect {
    const due = (): Effects => (isClosed(order) ? noEffects : send(order));
    return { kind: "schedule", at: this.#clock.now() + ms, due };
  }

  /**
   * The cancel may have taken effect before any list shows it: one question costs less than one more cancel.
   */
  #doubt(order: Order): Effects {
    const resume = this.#resumeIn(answerMs, order);
    return order.cancel.kind === "none" ? [resume] : [{ kind: "query", order, how: "look" }, resume];
  }

  /** Longer after each failure. */
  #again(order: Order): Effect {
    return this.#resumeIn(Math.min(repeatMs * 2 ** (order.cancel.failures - 1), repeatMsMax), order);
  }

  #read(order: Order, end: CancelEnd): Effects {
    switch (end.kind) {
      case "accepted":
        advance(order, { type: "cancelEnded", end: "accepted", reason: "" });
        this.#accepted.add(order);
        return [{ kind: "query", order, how: "expect" }];
      case "denied":
        // Filled or canceled meanwhile, or another reason: the record shows which.
        return [...this.#fail(order, end.reason), { kind: "query", order, how: "look" }, this.#again(order)];
      case "undone":
        return [...this.#fail(order, end.reason), this.#again(order)];
      case "unsure":
        // It may have been executed, and it does no harm twice.
        advance(order, { type: "cancelEnded", end: "unsure", reason: end.reason });
        return [{ kind: "query", order, how: "expect" }, this.#again(order)];
    }
  }

  #fail(order: Order, reason: string): Effects {
    return advance(order, { type: "cancelEnded", end: "failed", reason }) ? [publish(order)] : noEffects;
  }
}

const send = (order: Order): Effects =>
  order.unwanted !== undefined && isResting(order) ? [{ kind: "cancel", order }] : noEffects;
