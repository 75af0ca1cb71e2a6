/**
 * Order lifecycle: each transition is journalled, then published, then frees its slot.
 *
 * Invariants: every change is journalled with its reason before it is published; one update for all who listen; a final phase stays
 * final; a wanted order whose order was completed or rejected is settled, one whose order was canceled by us or never executed is not.
 * Not here: why an order changes (placement.ts, cancellation.ts, unknown-orders.ts), what its slot does next (order-manager.ts).
 */
import type { EventLog } from "../journal/event-log.ts";
import type { EventDraft, OrderPhase } from "../journal/events.ts";
import { isSettledBy } from "./plan.ts";
import type { FillBody } from "./positions.ts";
import { type EntrySource, type Execution, executionOf, noExecution } from "./risk/exposure-entry.ts";
import type { Slot } from "./slot.ts";
import type { Slots } from "./slots.ts";
import { isOver, type OrderUpdate, overIn, type TrackedOrder, updateOf } from "./tracked-order.ts";
import type { Specified, WantedOrder } from "./wanted-order.ts";

/** What follows from transitions besides publication. */
interface LifecycleOwner {
  /** Books what was executed, before the change is journalled. */
  book(order: TrackedOrder, executed: Execution): FillBody | undefined;
  /** Before anything else learns of it: what is decided because of a change must count it. */
  count(order: TrackedOrder, executed: Execution, isOver: boolean): void;
  /** The slot holds no order any more, or another one. */
  consider(slot: Slot): void;
  /** A fill was journalled and the order published. */
  filled(fill: FillBody): void;
  /** The order is over and its slot was considered. */
  over(order: TrackedOrder): void;
}

export type UpdateListener = (update: OrderUpdate, order: TrackedOrder) => void;

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
    const own: UpdateListener = (update, order) => {
      listener(update, order);
    };
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  /** `now` is for those who have read the clock already. */
  transition(order: TrackedOrder, phase: OrderPhase, reason: string, now?: number): void {
    order.phase = phase;
    order.reason = reason;
    this.publish(order, now);
  }

  /** The order as it is. */
  publish(order: TrackedOrder, now = 0): void {
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
    const ended = overIn[order.phase];
    if (ended) this.#slots.close(order);
    this.#owner.count(order, executed, ended);
    if (fill !== undefined) {
      fill.at = change.at;
      this.#journal.append(fill);
    }
    if (this.#listeners.length > 0) {
      const update = updateOf(order, executed.filled);
      const listeners = this.#listeners;
      for (let index = 0; index < listeners.length; index++) (listeners[index] as UpdateListener)(update, order);
    }
    if (fill !== undefined) this.#owner.filled(fill);
    if (!ended) return;
    this.#free(order);
    this.#owner.over(order);
  }

  end(order: TrackedOrder, phase: OrderPhase, reason: string): void {
    if (!isOver(order)) this.transition(order, phase, reason);
  }

  /** A rate limit refused it: it was not executed, and the wanted order is as new as before. */
  requeue(order: TrackedOrder, reason: string): void {
    if (isOver(order)) return;
    this.#slots.close(order);
    const slot = this.#slots.of(order);
    if (slot?.order === order) {
      this.#slots.vacate(slot);
      slot.spare = order;
      // Canceled while it was under way: it is over, and what waits for that hears it.
      if (order.cancelClass !== undefined) {
        this.dropSpare(slot);
        this.#owner.consider(slot);
        return;
      }
    }
    this.transition(order, "planned", reason);
    if (slot?.spare === order) this.#owner.consider(slot);
  }

  /** An order that a rate limit turned away will not be sent after all. */
  dropSpare(slot: Slot): void {
    const { spare } = slot;
    slot.spare = undefined;
    if (spare !== undefined) this.transition(spare, "canceled", "withdrawn before it was executed");
  }

  /** The slot's wanted order is compared with what a previous run had filled for it: it is not placed once more. */
  recognise(slot: Slot, wanted: WantedOrder, specify: (wanted: WantedOrder) => Specified): void {
    const { inherited } = slot;
    slot.inherited = undefined;
    if (inherited !== undefined && isSettledBy(wanted, inherited, executionOf(inherited, this.#source), specify))
      slot.settled = wanted;
  }

  #free(order: TrackedOrder): void {
    const slot = this.#slots.of(order);
    if (slot?.order !== order) return;
    this.#slots.vacate(slot);
    const ours = order.cancelClass !== undefined || order.cancelSent || order.mayBeCut;
    // One that the service took did exist: it may have been executed, and is not placed again for having been forgotten.
    const neverWas = order.phase === "absent" && order.ordId === "";
    const cut = neverWas || ((order.phase === "canceled" || order.phase === "absent") && ours);
    if (!cut && !order.goesOn) slot.settled = order.serves;
    // Of a previous run, and no wanted order has taken it for its own.
    if (order.serves === undefined) this.#slots.inherit(order, slot.hash);
    this.#owner.consider(slot);
  }
}
