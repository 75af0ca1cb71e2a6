/**
 * Resolution of orders in phase `unknown`: the service is queried until their state is proved.
 *
 * Invariants: nothing is placed to find out; at most one search for an order; a search ends with evidence, its own or
 * any other, and its remaining queries are not sent.
 * Not here: what counts as evidence (order-resolver.ts).
 */
import { finalize } from "rxjs";
import { type Clock, DelayQueue } from "../clock/clock.ts";
import { type Effects, noEffects, publish, type Run } from "./effects.ts";
import type { OrderResolver } from "./order-resolver.ts";
import { advance, isClosed, type Order } from "./order-state.ts";
import type { OrderStore } from "./state/order-store.ts";

/** An accepted order or cancel whose record does not show up for so long is asked about. */
const recordMs = 1_500;

const isCanceling = ({ phase }: Order): boolean => phase === "canceling";

/**
 * Orders that are being canceled and asked about at once with the rank of exits: a question weighs 5, the cancel that
 * it may save 15.
 */
const exitLooksMax = 2;

/** What a stop covers, and what an exit may still close, depends on these. */
const isUrgent = ({ wanted, spec }: Order): boolean =>
  wanted?.protect !== undefined || wanted?.reduceOnly === true || spec.reduceOnly === true;

/** Whoever wants it canceled spends the reserve for exits on it. */
const isExitOf = ({ unwanted }: Order): boolean => unwanted?.urgency === "cancel" || unwanted?.urgency === "emergency";

const soughtOf = (order: Order, isExit = false) => ({
  clOrdId: order.clOrdId,
  instId: order.spec.instId,
  sentAt: order.sentAt,
  isUrgent: isExit || isUrgent(order),
  isAccepted: order.ordId !== "",
});

export class UnknownOrders {
  readonly #store: OrderStore;
  readonly #resolver: OrderResolver;
  readonly #doubtLists: (needed: () => boolean) => void;
  readonly #reconcile: (order: Order) => Effects;
  readonly #run: Run;
  /** How to give each search up. */
  readonly #searches = new Map<Order, () => void>();
  /** Accepted, and their record has not shown up. */
  readonly #expected: DelayQueue<Order>;
  #exitLooks = 0;

  /**
   * `reconcile` takes what the store knows of an order. `doubtLists`: the record of an accepted change has not shown
   * up, so that the lists should be read, unless it has by then.
   */
  constructor(
    clock: Clock,
    store: OrderStore,
    resolver: OrderResolver,
    doubtLists: (needed: () => boolean) => void,
    reconcile: (order: Order) => Effects,
    run: Run,
  ) {
    this.#expected = new DelayQueue(clock, {
      delayMs: recordMs,
      isSettled: isClosed,
      due: (order) => this.#lookFor(order),
    });
    this.#store = store;
    this.#resolver = resolver;
    this.#doubtLists = doubtLists;
    this.#reconcile = reconcile;
    this.#run = run;
  }

  /** The service took the order or its cancel: looks when the record that must follow does not come. */
  expect(order: Order): void {
    this.#foretell(order);
    this.#expected.add(order);
  }

  /** Looks once, and goes on looking when nothing was found. */
  look(order: Order): void {
    if (this.#searches.has(order)) return;
    const unseen = order.record === undefined;
    // Where a record was known only its end says more than the question.
    const needed = (): boolean => !isClosed(order) && (!unseen || order.record === undefined);
    const isExit = isExitOf(order) && this.#exitLooks < exitLooksMax;
    if (isExit) this.#exitLooks++;
    const ended = (): void => {
      if (isExit) this.#exitLooks--;
    };
    this.#resolver
      .look(soughtOf(order, isExit), needed)
      .pipe(finalize(ended))
      .subscribe((answer) => {
        if (isClosed(order)) return;
        if (answer.kind === "found") {
          this.#store.merge(answer.record);
          this.#run(this.#reconcile(order));
        } else if (needed()) this.search(order);
      });
  }

  search(order: Order): void {
    if (isClosed(order) || this.#searches.has(order)) return;
    const giveUp = this.#resolver.pursue(soughtOf(order), (evidence) => {
      this.#searches.delete(order);
      if (evidence.kind === "absent") {
        this.#endAbsent(order);
        return;
      }
      this.#store.merge(evidence.record);
      this.#run(this.#reconcile(order));
    });
    this.#searches.set(order, giveUp);
  }

  /** Evidence came by another way. */
  settle(order: Order): void {
    if (this.#searches.size === 0) return;
    this.#searches.get(order)?.();
    this.#searches.delete(order);
  }

  #lookFor(order: Order): void {
    if (order.record === undefined) this.look(order);
    else if (this.#foretell(order)) this.#doubtLists(() => isCanceling(order));
  }

  #endAbsent(order: Order): void {
    if (order.ordId !== "") this.#store.forget(order.ordId);
    if (advance(order, { type: "provedAbsent" })) this.#run([publish(order)]);
  }

  /** A canceled order that is in no list of open orders is not young but gone: the lists look for its end. */
  #foretell(order: Order): boolean {
    if (!isCanceling(order)) return false;
    if (order.record !== undefined) this.#store.ending(order.record.ordId);
    return true;
  }
}

/**
 * The placement was not answered, or not so that it can be read. `verdict`: a refusal by the service in words that
 * alone prove nothing.
 * A record outranks a reply: an order that was seen needs no search.
 */
export const doubt = (order: Order, reason: string, verdict = ""): Effects =>
  advance(order, { type: "doubted", reason, verdict })
    ? [publish(order), { kind: "query", order, how: "search" }]
    : noEffects;
