/**
 * Cancellation of orders: the urgency of each cancel, and the consequences of each result.
 *
 * Invariants: the result of a cancel is only a hint, and the record of the order decides; a cancel without effect is
 * repeated, after longer and longer pauses, as long as the order is unwanted; an order that cannot be canceled costs no
 * request.
 * Not here: packing of calls (cancel-batcher.ts).
 */
import { type Clock, DelayQueue } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import { isCancelable } from "../contract/profile.ts";
import type { ActionClass } from "../journal/events.ts";
import { CancelBatcher, type CancelEnd } from "./cancel-batcher.ts";
import { type Effect, type Effects, noEffects, publish, type Run } from "./effects.ts";
import type { OrderManagerOptions } from "./order-manager-options.ts";
import { advance, isClosed, isMoreUrgent, isResting, type Order } from "./order-state.ts";

const repeatMs = 1_000;
const repeatMsMax = 60_000;
/**
 * If an accepted cancel shows no effect for this long, the order is queried. After the same time again, the cancel is
 * repeated.
 */
const effectMs = 8_000;
const answerMs = 2_000;
const uncancelable = "not wanted any more, but the service cannot cancel spot orders";

export class Cancellation {
  readonly #clock: Clock;
  readonly #contract: Contract;
  readonly #compare: (order: Order) => void;
  readonly #batcher: CancelBatcher;
  /** Orders whose cancel was accepted and has shown no effect yet. */
  readonly #accepted: DelayQueue<Order>;

  /** `compare` compares an order with the latest wanted order of its slot, because the order may suit it after all. */
  constructor(
    { clock, contract, gateway }: Pick<OrderManagerOptions, "clock" | "contract" | "gateway">,
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
        if (advance(order, { type: "cancel", move: "sent" })) run([publish(order, now)]);
      },
      end: (order, end) => {
        if (!isClosed(order)) run(this.#read(order, end));
      },
    });
  }

  /** Marks the order as unwanted and cancels it as soon as it can be canceled. */
  ask(order: Order, urgency: ActionClass, reason: string): Effects {
    if (isClosed(order)) return noEffects;
    this.#compare(order);
    if (!this.cancelable(order)) {
      // The service has no call that cancels this order, so a request would only cost quota. The order stays until it
      // trades.
      if (order.reason === uncancelable) return noEffects;
      advance(order, { type: "noted", reason: uncancelable });
      return [publish(order)];
    }
    // An order whose last cancels failed follows its own timetable, unless it became more urgent.
    const more = isMoreUrgent(urgency, order.unwanted?.urgency);
    const waits = order.unwanted !== undefined && order.cancel.failures > 0;
    advance(order, { type: "cancel", move: "asked", urgency, reason });
    if (more) return send(order);
    return waits ? noEffects : this.resume(order);
  }

  /**
   * Called when the order can be canceled. Asks for the cancel if the order is unwanted. While a cancel that was not
   * denied may still take effect, its timetable decides when to ask again.
   */
  resume(order: Order): Effects {
    return order.cancel.kind === "none" ? send(order) : noEffects;
  }

  /** Returns false where the service has no call that cancels the order. */
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
   * The cancel may have taken effect before any list shows it. One query costs less than another cancel.
   */
  #doubt(order: Order): Effects {
    const resume = this.#resumeIn(answerMs, order);
    return order.cancel.kind === "none" ? [resume] : [{ kind: "query", order, how: "look" }, resume];
  }

  /** Asks for the cancel again, after a pause that grows with each failure. */
  #again(order: Order): Effect {
    return this.#resumeIn(Math.min(repeatMs * 2 ** (order.cancel.failures - 1), repeatMsMax), order);
  }

  #read(order: Order, end: CancelEnd): Effects {
    switch (end.kind) {
      case "accepted":
        advance(order, { type: "cancel", move: "ended", end: "accepted", reason: "" });
        this.#accepted.add(order);
        return [{ kind: "query", order, how: "expect" }];
      case "denied":
        // The order was filled or canceled meanwhile, or there is another reason. The record shows which.
        return [...this.#fail(order, end.reason), { kind: "query", order, how: "look" }, this.#again(order)];
      case "undone":
        return [...this.#fail(order, end.reason), this.#again(order)];
      case "unsure":
        // It may have been executed, and it does no harm twice.
        advance(order, { type: "cancel", move: "ended", end: "unsure", reason: end.reason });
        return [{ kind: "query", order, how: "expect" }, this.#again(order)];
    }
  }

  #fail(order: Order, reason: string): Effects {
    return advance(order, { type: "cancel", move: "ended", end: "failed", reason }) ? [publish(order)] : noEffects;
  }
}

const send = (order: Order): Effects =>
  order.unwanted !== undefined && isResting(order) ? [{ kind: "cancel", order }] : noEffects;
