/**
 * Reconciliation: brings our orders into agreement with the service's records, and takes in orders of previous runs.
 *
 * Invariants: a record of ours always has an effect: it belongs to a known order, is adopted by its slot, or waits for
 * a slot; an order beyond the one that a slot can hold is canceled; orders of other clients are reported
 * (foreign-orders.ts) and left alone.
 * Not here: reading records (orders/state/), reading ids (client-order-id.ts).
 */
import { isActive, type OrderRecord } from "../contract/schemas.ts";
import type { Cancellation } from "./cancellation.ts";
import { type Effects, evaluate, next, noEffects, publish, record as recordEvent } from "./effects.ts";
import type { ForeignOrders } from "./foreign-orders.ts";
import type { ManagerState } from "./manager-state.ts";
import { doubt, type OrderSearch } from "./order-search.ts";
import { advance, foundOrder, hasExecuted, isClosed, type Order, recalledOrder } from "./order-state.ts";
import { isHalt } from "./risk/trading-mode.ts";
import { numberedSlots } from "./unclaimed-orders.ts";
import type { UnrecordedOrders } from "./unrecorded-orders.ts";
import type { OrderSpec } from "./wanted-order.ts";

export class Reconciliation {
  readonly #state: ManagerState;
  readonly #search: OrderSearch;
  readonly #cancellation: Cancellation;
  readonly #foreign: ForeignOrders;
  readonly #unrecorded: UnrecordedOrders;

  constructor(
    state: ManagerState,
    search: OrderSearch,
    cancellation: Cancellation,
    unrecorded: UnrecordedOrders,
    foreign: ForeignOrders,
  ) {
    this.#state = state;
    this.#search = search;
    this.#cancellation = cancellation;
    this.#unrecorded = unrecorded;
    this.#foreign = foreign;
  }

  /** Applies the store's knowledge of an order. */
  take(order: Order): Effects {
    const record = this.#state.options.store.find({ clOrdId: order.clOrdId });
    return record === undefined ? noEffects : this.#onRecord(order, record);
  }

  /** Called when the service accepted the order under this id. */
  accept(order: Order, ordId: string): Effects {
    // The record may have come before the reply.
    const known = order.record ?? this.#state.options.store.find({ ordId });
    if (known !== undefined) return order.record === undefined ? this.#onRecord(order, known) : noEffects;
    if (!advance(order, { type: "acknowledged", ordId })) return noEffects;
    return [publish(order), { kind: "query", order, how: "expect" }, { kind: "resume", order }];
  }

  /** Registers an order that a previous run sent without seeing its end, unless the service has reported its end. */
  recall(clOrdId: string, spec: OrderSpec, sentAt: number, strategy: string): Effects {
    const state = this.#state;
    const own = state.ids.read(clOrdId);
    if (own === undefined) return noEffects;
    state.slots.skip(own.generation);
    state.own(clOrdId, strategy);
    state.slots.unclaimed.drop(clOrdId);
    const known = state.options.store.find({ clOrdId });
    const recalled = recalledOrder(clOrdId, spec, sentAt);
    if (known !== undefined && !isActive(known.state)) {
      advance(recalled, { type: "recorded", record: known });
      return this.#endedMeanwhile(recalled, known, strategy, own.slotHash);
    }
    const resting = state.slots.byClientId(clOrdId);
    const counted = resting === undefined ? noEffects : state.recount(resting);
    const order = state.slots.adopt(recalled);
    if (order === undefined) return counted;
    return [
      ...counted,
      ...doubt(order, "sent by a previous run, without a recorded answer"),
      ...this.#cancelSuperseded(own.slotHash),
      next(() => this.#state.recountAll()),
    ];
  }

  /** Reports an order that ended between two runs, once, so that the journal contains its end. */
  #endedMeanwhile(ended: Order, record: OrderRecord, strategy: string, slotHash: string): Effects {
    if (strategy === "" && hasExecuted(ended)) {
      this.#unrecorded.keep(ended);
      return noEffects;
    }
    const counted = this.#state.recount(ended);
    const slot = this.#state.slots.inherit(ended, slotHash);
    const { clOrdId, phase, spec } = ended;
    const { instId } = spec;
    const change = { strategy, slot: "", instId, clOrdId, phase, record, reason: "ended meanwhile" };
    const told: Effects = [...counted, recordEvent({ type: "order.changed", ...change })];
    return slot === undefined ? told : [...told, evaluate(slot)];
  }

  /**
   * Called when orders found at the service got a slot. The slot's own order is compared with its wanted order; a
   * surplus order is canceled.
   */
  settleIn(): Effects {
    const settled = this.#unrecorded.settle();
    const claimed = this.#state.slots.claimed();
    if (claimed.length === 0) return settled;
    return [...settled, ...claimed.map((order) => next(() => this.#settle(order)))];
  }

  /** Called when an order got a slot. */
  #settle(order: Order): Effects {
    return isClosed(order) ? noEffects : [publish(order), next(() => this.#compare(order))];
  }

  /** Called after an order with a slot was published. */
  #compare(order: Order): Effects {
    const slot = this.#state.slots.of(order);
    if (slot === undefined) return noEffects;
    if (slot.order !== order) return this.#cancelOlder(order);
    // A placement that waits in the queue is not needed.
    return [{ kind: "withdraw", slot }, evaluate(slot)];
  }

  /** Called when a record of the store is new or has changed. */
  changed(record: OrderRecord, previous: OrderRecord | undefined): Effects {
    const { slots, ids } = this.#state;
    const order = slots.byClientId(record.clOrdId);
    if (order !== undefined) return this.#onRecord(order, record);
    const own = ids.read(record.clOrdId);
    if (own === undefined) return this.#foreign.take(record, previous);
    slots.skip(own.generation);
    return isActive(record.state) ? this.#adopt(record) : this.#unrecorded.take(record);
  }

  #onRecord(order: Order, record: OrderRecord): Effects {
    // Every record proves that the order exists.
    this.#search.settle(order);
    this.#state.compare(order);
    if (!advance(order, { type: "recorded", record })) return noEffects;
    return isClosed(order) ? [publish(order)] : [publish(order), { kind: "resume", order }];
  }

  /** Cancels the older orders of a slot, because a slot holds one order even while no strategy names it. */
  #cancelSuperseded(slotHash: string): Effects {
    const older = this.#state.slots.superseded(slotHash);
    if (older.length === 0 || this.#isNumbered(slotHash)) return noEffects;
    return older.flatMap((order) => this.#cancelOlder(order));
  }

  #cancelOlder(order: Order): Effects {
    return this.#cancellation.ask(order, "cancel", "an older order of the same slot");
  }

  #isNumbered(slotHash: string): boolean {
    const { strategies = [] } = this.#state.options;
    const { ids } = this.#state;
    return strategies.some((strategy) => numberedSlots.some((name) => ids.slotHash(strategy, name) === slotHash));
  }

  #adopt(record: OrderRecord): Effects {
    const { slots, options, ids } = this.#state;
    const found = slots.adopt(foundOrder(record, options.clock, options.contract.profile, options.serviceNow?.()));
    if (found === undefined) return noEffects;
    return [
      ...this.#unrecorded.adopted(found),
      ...this.#state.recountAll(),
      next(() => this.settleIn()),
      next(() => this.#supersede(ids.read(record.clOrdId)?.slotHash ?? "", found)),
    ];
  }

  /** Called when an order was adopted and its slot has compared it. */
  #supersede(slotHash: string, found: Order): Effects {
    const older = this.#cancelSuperseded(slotHash);
    const isMeant = isHalt(this.#state.modes.mode) && !this.#isExit(found);
    return isMeant ? [...older, ...this.#cancellation.ask(found, "emergency", "found while halted")] : older;
  }

  /** Returns true if the order carries the service's flag, or is in a slot that closes a protected position. */
  #isExit(order: Order): boolean {
    return order.spec.reduceOnly || this.#state.slots.of(order)?.reserved === true;
  }
}
