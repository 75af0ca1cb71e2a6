/**
 * Reconciliation: brings our orders into agreement with the service's records, and takes in orders of previous runs.
 *
 * Invariants: a record of ours always has an effect: it belongs to a known order, is adopted by its slot, or waits for one; an
 * order more than a slot can hold is canceled; orders of other clients are reported (foreign-orders.ts) and left alone.
 * Not here: reading records (orders/state/), telling ids apart (client-order-id.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { isActive } from "../contract/schemas.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Cancellation } from "./cancellation.ts";
import type { ClientOrderIds } from "./client-order-id.ts";
import { createForeignOrders, type ForeignOrders } from "./foreign-orders.ts";
import type { OrderLifecycle } from "./order-lifecycle.ts";
import { advance, foundOrder, hasExecuted, isClosed, type Order, recalledOrder } from "./order-state.ts";
import type { Slot } from "./slot.ts";
import type { Slots } from "./slots.ts";
import type { OrderStore } from "./state/order-store.ts";
import { numberedSlots } from "./unclaimed-orders.ts";
import type { UnknownOrders } from "./unknown-orders.ts";
import { UnrecordedOrders } from "./unrecorded-orders.ts";
import type { OrderSpec } from "./wanted-order.ts";

interface ReconciliationOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly journal: EventLog;
  readonly store: OrderStore;
  /** The service's calendar, at the earliest, by which records are stamped; undefined while its answers have not told. */
  readonly serviceNow?: () => number | undefined;
  /** An order that the journal may lack was found at the service. */
  readonly onFound?: (order: Order) => void;
  readonly strategies?: readonly string[];
}

interface ReconciliationOwner {
  weigh(order: Order): void;
  consider(slot: Slot): void;
  isHalted(): boolean;
  /** The strategy that wanted an order of a previous run. */
  own(clOrdId: string, strategy: string): void;
  /** Counts what an order did and may do, by the strategy whose wanted order it is known to be now. */
  recount(order: Order): void;
  /** Orders found at the service are counted before they have a slot, and published only then. */
  recountAll(): void;
  /** Protections claim executed orders of previous runs that closed what they cover. */
  claimClosings(): void;
}

export class Reconciliation {
  readonly #options: ReconciliationOptions;
  readonly #ids: ClientOrderIds;
  readonly #slots: Slots;
  readonly #lifecycle: OrderLifecycle;
  readonly #unknownOrders: UnknownOrders;
  readonly #cancellation: Cancellation;
  readonly #owner: ReconciliationOwner;
  readonly #foreign: ForeignOrders;
  /** Orders that are over and that the journal does not have. */
  readonly unrecorded: UnrecordedOrders;

  constructor(
    options: ReconciliationOptions,
    ids: ClientOrderIds,
    slots: Slots,
    lifecycle: OrderLifecycle,
    unknownOrders: UnknownOrders,
    cancellation: Cancellation,
    owner: ReconciliationOwner,
  ) {
    this.#options = options;
    this.#ids = ids;
    this.#slots = slots;
    this.#lifecycle = lifecycle;
    this.#unknownOrders = unknownOrders;
    this.#cancellation = cancellation;
    this.#owner = owner;
    this.#foreign = createForeignOrders(options.journal);
    this.unrecorded = new UnrecordedOrders(options, ids, slots, owner);
    options.store.onChange(this.#onChange);
    options.store.onForgotten(({ clOrdId }) => {
      const order = slots.byClientId(clOrdId);
      if (order !== undefined) unknownOrders.pursue(order);
    });
  }

  /** Applies what the store knows of an order. */
  take(order: Order): void {
    const record = this.#options.store.find({ clOrdId: order.clOrdId });
    if (record !== undefined) this.#onRecord(order, record);
  }

  /** The service took the order under this id. */
  accept(order: Order, ordId: string): void {
    // The record may have come before the reply.
    const known = order.record ?? this.#options.store.find({ ordId });
    if (known === undefined) this.#lifecycle.move(order, { type: "acknowledged", ordId });
    else if (order.record === undefined) this.#onRecord(order, known);
    if (isClosed(order) || order.record !== undefined) return;
    this.#unknownOrders.expect(order);
    this.#wake(order);
  }

  /** An order that a previous run sent and did not see the end of, unless the service has told of it already. */
  recall(clOrdId: string, spec: OrderSpec, sentAt: number, strategy: string): void {
    const { journal, store } = this.#options;
    const own = this.#ids.read(clOrdId);
    if (own === undefined) return;
    this.#slots.skip(own.generation);
    this.#owner.own(clOrdId, strategy);
    this.#slots.unclaimed.drop(clOrdId);
    const known = store.find({ clOrdId });
    if (known !== undefined && !isActive(known.state)) {
      // It came to its end between two runs: reported once, for the journal's sake.
      const { state: phase, instId } = known;
      const ended = recalledOrder(clOrdId, spec, sentAt);
      advance(ended, { type: "recorded", record: known });
      if (strategy === "" && hasExecuted(ended)) {
        this.unrecorded.keep(ended);
        return;
      }
      this.#owner.recount(ended);
      const slot = this.#slots.inherit(ended, own.slotHash);
      journal.append({
        type: "order.changed",
        strategy,
        slot: "",
        instId,
        clOrdId,
        phase,
        record: known,
        reason: "ended meanwhile",
      });
      if (slot !== undefined) this.#owner.consider(slot);
      return;
    }
    const resting = this.#slots.byClientId(clOrdId);
    if (resting !== undefined) this.#owner.recount(resting);
    const order = this.#slots.adopt(recalledOrder(clOrdId, spec, sentAt));
    if (order === undefined) return;
    this.#unknownOrders.doubt(order, "sent by a previous run, without a recorded answer");
    this.#cancelSuperseded(own.slotHash);
    this.#owner.recountAll();
  }

  /** Orders found at the service got a slot: the slot's own is weighed against its wanted order, a surplus one has to go. */
  settleIn(): void {
    this.unrecorded.settle();
    for (const order of this.#slots.housed()) if (!isClosed(order)) this.#settle(order);
  }

  #settle(order: Order): void {
    this.#lifecycle.publish(order);
    const slot = this.#slots.of(order);
    if (slot === undefined) return;
    if (slot.order !== order) {
      this.#cancelOlder(order);
      return;
    }
    // One that waits to be placed is not needed.
    slot.unqueue();
    this.#owner.consider(slot);
  }

  #wake(order: Order): void {
    const slot = this.#slots.of(order);
    if (slot?.order === order) this.#owner.consider(slot);
    this.#cancellation.resume(order);
  }

  #onRecord(order: Order, record: OrderRecord): void {
    // Whatever else it says, a record says that the order exists.
    if (this.#unknownOrders.searched.size > 0) this.#unknownOrders.settle(order);
    this.#owner.weigh(order);
    if (!advance(order, { type: "recorded", record })) return;
    this.#lifecycle.publish(order);
    if (!isClosed(order)) this.#wake(order);
  }

  readonly #onChange = (record: OrderRecord, previous: OrderRecord | undefined): void => {
    const order = this.#slots.byClientId(record.clOrdId);
    if (order !== undefined) {
      this.#onRecord(order, record);
      return;
    }
    const own = this.#ids.read(record.clOrdId);
    if (own !== undefined) {
      this.#slots.skip(own.generation);
      if (isActive(record.state)) this.#adopt(record);
      else this.unrecorded.take(record);
    } else this.#foreign.take(record, previous);
  };

  /** A slot holds one order, also while no strategy names it: the older ones go. */
  #cancelSuperseded(slotHash: string): void {
    const older = this.#slots.superseded(slotHash);
    if (older.length === 0 || this.#isNumbered(slotHash)) return;
    for (const order of older) this.#cancelOlder(order);
  }

  #cancelOlder(order: Order): void {
    this.#cancellation.request(order, "cancel", "an older order of the same slot");
  }

  #isNumbered(slotHash: string): boolean {
    const { strategies = [] } = this.#options;
    return strategies.some((strategy) => numberedSlots.some((name) => this.#ids.slotHash(strategy, name) === slotHash));
  }

  #adopt(record: OrderRecord): void {
    const { clock, contract, serviceNow } = this.#options;
    const found = this.#slots.adopt(foundOrder(record, clock, contract.profile, serviceNow?.()));
    if (found === undefined) return;
    this.unrecorded.adopted(found);
    this.#owner.recountAll();
    this.settleIn();
    this.#cancelSuperseded(this.#ids.read(record.clOrdId)?.slotHash ?? "");
    if (this.#owner.isHalted() && !this.#isExit(found))
      this.#cancellation.request(found, "emergency", "found while halted");
  }

  /** It carries the service's flag, or is in a slot that closes what is protected. */
  #isExit(order: Order): boolean {
    return order.spec.reduceOnly || this.#slots.of(order)?.reserved === true;
  }
}
