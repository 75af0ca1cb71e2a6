/**
 * Order lifecycle: each transition is journalled, then published, then frees its slot.
 *
 * Invariants: every change is journalled with its reason before it is published; one update for all who listen; a final phase stays
 * final; a wanted order whose order was completed or rejected is settled, one whose order was canceled by us or never executed is not.
 * Not here: why an order changes (placement.ts, cancellation.ts, unknown-orders.ts), what its slot does next (order-manager.ts).
 */
import type { EventLog } from "../journal/event-log.ts";
import type { EventDraft } from "../journal/events.ts";
import { advance, endingOf, isClosed, isCutByUs, type Order, type OrderEvent } from "./order-state.ts";
import { type OrderUpdate, updateOf } from "./order-update.ts";
import { isSettledBy } from "./plan.ts";
import type { FillBody } from "./positions.ts";
import { type EntrySource, type Execution, executionOf, noExecution } from "./risk/exposure-entry.ts";
import type { Slot } from "./slot.ts";
import type { Slots } from "./slots.ts";
import type { Specified, WantedOrder } from "./wanted-order.ts";

/** What follows from transitions besides publication. */
interface LifecycleOwner {
  /** Books what was executed, before the change is journalled. */
  book(order: Order, executed: Execution): FillBody | undefined;
  /**
   * Counts a change before anything else learns of it, because what is decided then depends on it. Returns true where another order follows
   * one that is over.
   */
  count(order: Order, executed: Execution, isOver: boolean): boolean;
  /** The slot holds no order any more, or another one. */
  consider(slot: Slot): void;
  /** A fill was journalled and the order published. */
  filled(fill: FillBody): void;
  /** The order is over and its slot was considered. */
  over(order: Order): void;
}

/** `isFollowed`: the order is over, and its slot places another one for what is left of the wanted quantity. */
export type UpdateListener = (update: OrderUpdate, order: Order, isFollowed: boolean) => void;

export class OrderLifecycle {
  readonly #journal: EventLog;
  readonly #slots: Slots;
  readonly #source: EntrySource;
  readonly #owner: LifecycleOwner;
  #listeners: readonly UpdateListener[] = [];
  /** So many changes were published: while it stays the same, what was decided of orders holds. */
  changes = 0;

  constructor(journal: EventLog, slots: Slots, source: EntrySource, owner: LifecycleOwner) {
    this.#source = source;
    this.#journal = journal;
    this.#slots = slots;
    this.#owner = owner;
  }

  /** Calls `listener` with every change; the returned function ends that. */
  listen(listener: UpdateListener): () => void {
    // Each call counts by itself, whatever function it brings.
    const own: UpdateListener = (update, order, isFollowed) => {
      listener(update, order, isFollowed);
    };
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  /** Moves the order, and publishes it where others can see a difference. `now` is for callers that have read the clock. */
  move(order: Order, event: OrderEvent, now?: number): void {
    if (advance(order, event)) this.publish(order, now);
  }

  /** Publishes the order as it is. */
  publish(order: Order, now = 0): void {
    const { strategy, slot, spec, clOrdId, phase, record, reason } = order;
    const { instId } = spec;
    this.changes++;
    const executed = record === undefined ? noExecution : executionOf(order, this.#source);
    const fill = this.#owner.book(order, executed);
    const change: EventDraft = {
      seq: 0,
      at: now,
      type: "order.changed",
      strategy,
      slot,
      instId,
      clOrdId,
      phase,
      record,
      reason,
    };
    this.#journal.append(change);
    const ended = isClosed(order);
    if (ended) this.#slots.close(order);
    const isFollowed = this.#owner.count(order, executed, ended);
    if (fill !== undefined) {
      fill.at = change.at;
      this.#journal.append(fill);
    }
    if (this.#listeners.length > 0) {
      const update = updateOf(order, executed.filled);
      const listeners = this.#listeners;
      for (let index = 0; index < listeners.length; index++)
        (listeners[index] as UpdateListener)(update, order, isFollowed);
    }
    if (fill !== undefined) this.#owner.filled(fill);
    if (!ended) return;
    this.#free(order, isFollowed);
    this.#owner.over(order);
  }

  /** A rate limit refused it: it was not executed, and the wanted order is as new as before. */
  notExecuted(order: Order, reason: string): void {
    const slot = this.#slots.of(order);
    if (!advance(order, { type: "notExecuted", reason })) return;
    this.#slots.close(order);
    const isOwn = slot?.order === order;
    if (isOwn) {
      this.#slots.vacate(slot);
      if (!isClosed(order)) slot.spare = order;
    }
    this.publish(order);
    if (isOwn) this.#owner.consider(slot);
  }

  /** An order that a rate limit turned away will not be sent after all. */
  dropSpare(slot: Slot): void {
    const { spare } = slot;
    slot.spare = undefined;
    if (spare !== undefined) this.move(spare, { type: "withdrawn" });
  }

  /** The slot's wanted order is compared with what a previous run had filled for it: it is not placed once more. */
  recognise(slot: Slot, wanted: WantedOrder, specify: (wanted: WantedOrder) => Specified): void {
    const { inherited } = slot;
    slot.inherited = undefined;
    if (inherited !== undefined && isSettledBy(wanted, inherited, executionOf(inherited, this.#source), specify))
      slot.settled = wanted;
  }

  #free(order: Order, isFollowed: boolean): void {
    const slot = this.#slots.of(order);
    if (slot?.order !== order) return;
    this.#slots.vacate(slot);
    const ending = endingOf(order);
    // One that the service took did exist: it may have been executed, and is not placed again for having been forgotten.
    const cut = ending === "neverExisted" || ((ending === "canceled" || ending === "lost") && isCutByUs(order));
    if (!cut && !isFollowed) slot.settled = order.serves;
    // Of a previous run, and no wanted order has taken it for its own.
    if (order.serves === undefined) this.#slots.inherit(order, slot.hash);
    this.#owner.consider(slot);
  }
}
