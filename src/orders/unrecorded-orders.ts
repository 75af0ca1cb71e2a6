/**
 * Unrecorded orders: what orders of this instance executed that the journal does not have, booked from the service's records.
 *
 * A journal may lack its last orders: another process sent them after its copy was made, the disk was full, or a file lost its end. Their
 * client order ids identify the slot, and so the strategy, whose position they changed.
 *
 * Invariants: an order that the journal accounts for, or that this run sent, is never booked here, and no other one twice; an order is
 * recorded in the journal before it is booked; one whose strategy is not known waits for its slot and is reported.
 * Not here: how far back the history is read (engine/history-read-back.ts), orders that are not over (reconciliation.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import { isActive, type OrderRecord } from "../contract/schemas.ts";
import type { EventLog } from "../journal/event-log.ts";
import { type ClientOrderIds, isLater } from "./client-order-id.ts";
import { advance, foundOrder, hasExecuted, type Order } from "./order-state.ts";
import type { Slot } from "./slot.ts";
import type { Slots } from "./slots.ts";

/** End of the journal of previous runs, for one user. */
export interface JournalEnd {
  /** Generation of the last order that it accounts for; undefined where it accounts for none, so that every own order came after it. */
  readonly after: number | undefined;
  /** Time of its last record on the machine's calendar, in milliseconds. */
  readonly at: number;
  /** Strategies by the slot hashes of orders in it. */
  readonly owners: ReadonlyMap<string, string>;
}

interface UnrecordedOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly journal: EventLog;
  readonly serviceNow?: () => number | undefined;
  readonly strategies?: readonly string[];
  /** An order that the journal may lack was found at the service: it is recorded before it is booked. */
  readonly onFound?: (order: Order) => void;
}

interface UnrecordedOwner {
  /** Books what the order executed, for its strategy. */
  recount(order: Order): void;
  consider(slot: Slot): void;
  /** Protections claim the orders that closed what they cover. */
  claimClosings(): void;
}

/** Strategies have declared their slots by then, or wait for a market. */
const unclaimedMs = 15_000;
const lateReason = "executed before, and missing in the journal";

export class UnrecordedOrders {
  readonly #options: UnrecordedOptions;
  readonly #ids: ClientOrderIds;
  readonly #slots: Slots;
  readonly #owner: UnrecordedOwner;
  /** Orders that were booked here, or are tracked. */
  readonly #taken = new Set<string>();
  readonly #reported = new Set<string>();
  #end: JournalEnd | undefined;
  #isReading = false;
  #hasBegun = false;

  constructor(options: UnrecordedOptions, ids: ClientOrderIds, slots: Slots, owner: UnrecordedOwner) {
    this.#options = options;
    this.#ids = ids;
    this.#slots = slots;
    this.#owner = owner;
  }

  /**
   * The journal of previous runs was read, and the service's history back to its end. Without an end, as of a journal that is new, only
   * orders that are open are recorded.
   */
  begin(records: readonly OrderRecord[], end: JournalEnd | undefined): void {
    this.#end = end;
    this.#hasBegun = true;
    for (const order of this.#slots.orders()) this.adopted(order);
    this.#isReading = true;
    for (const record of [...records].reverse()) this.take(record);
    this.#isReading = false;
    this.#claimByJournal(this.#slots.unclaimed.all());
    this.#owner.claimClosings();
    for (const strategy of this.#options.strategies ?? []) this.#slots.unclaimed.claimNamed(strategy);
    this.settle();
    this.#reportLater();
  }

  /** An open order was found at the service. */
  adopted(order: Order): void {
    if (!this.#hasBegun) return;
    this.#taken.add(order.clOrdId);
    this.#options.onFound?.(order);
  }

  /** A record of ours that belongs to no order that is open. */
  take(record: OrderRecord): void {
    const { clOrdId } = record;
    const own = this.#ids.read(clOrdId);
    if (own === undefined || !this.#hasBegun || isActive(record.state) || this.#slots.byClientId(clOrdId) !== undefined)
      return;
    if (this.#taken.has(clOrdId) || !this.#isMissing(own.generation)) return;
    const { clock, contract, serviceNow } = this.#options;
    const order = foundOrder(record, clock, contract.profile, serviceNow?.());
    this.#taken.add(clOrdId);
    if (!hasExecuted(order)) return;
    this.#slots.unclaimed.keep(order, own.slotHash, own.generation);
    if (this.#isReading) return;
    this.#claimByJournal([order]);
    this.#owner.claimClosings();
    this.settle();
    this.#reportLater();
  }

  /** Keeps a finished order of a previous run whose strategy is not in the journal. */
  keep(order: Order): void {
    const own = this.#ids.read(order.clOrdId);
    if (own !== undefined) this.#slots.unclaimed.keep(order, own.slotHash, own.generation);
  }

  /** Books orders whose slot has become known; what they did may make others known. */
  settle(): void {
    for (
      let claimed = this.#slots.unclaimed.takeClaimed();
      claimed.length > 0;
      claimed = this.#slots.unclaimed.takeClaimed()
    )
      for (const { order, strategy, slot, slotHash } of claimed) this.#book(order, strategy, slot, slotHash);
  }

  #isMissing(generation: number): boolean {
    const end = this.#end;
    if (end === undefined || this.#slots.isGiven(generation)) return false;
    return end.after === undefined || isLater(generation, end.after);
  }

  /**
   * Books orders for the strategy of their slot, or of an order in the journal with the same slot. All owners are found before the first
   * order is booked, because booking it may end the slot that the next one belongs to.
   */
  #claimByJournal(orders: readonly Order[]): void {
    const owned = orders.map((order) => {
      const { slotHash = "" } = this.#ids.read(order.clOrdId) ?? {};
      const slot = this.#slots.byHash(slotHash);
      return { order, slotHash, name: slot?.name ?? "", strategy: slot?.strategy ?? this.#end?.owners.get(slotHash) };
    });
    for (const { order, slotHash, name, strategy } of owned) {
      // What follows from the order before may have booked this one.
      if (strategy === undefined || !this.#slots.unclaimed.drop(order.clOrdId)) continue;
      this.#book(order, strategy, name, slotHash);
    }
  }

  #book(order: Order, strategy: string, name: string, slotHash: string): void {
    const { journal, onFound } = this.#options;
    const { clOrdId, spec, record, phase } = order;
    const { instId, side } = spec;
    advance(order, { type: "claimed", strategy, slot: name });
    onFound?.(order);
    const detail = `${clOrdId}: the service executed ${record?.accFillSz ?? ""} (${side} ${instId}) for ${strategy}, which the journal does not have. It is booked by the service's record.`;
    journal.append({ type: "anomaly", what: "order.unrecorded", detail });
    this.#owner.recount(order);
    const slot = this.#slots.inherit(order, slotHash);
    journal.append({ type: "order.changed", strategy, slot: name, instId, clOrdId, phase, record, reason: lateReason });
    if (slot !== undefined) this.#owner.consider(slot);
  }

  #reportLater(): void {
    const { clock, onFound } = this.#options;
    const waiting = this.#slots.unclaimed.all();
    if (waiting.length === 0) return;
    // The journal keeps them as open, so that a later run looks for their strategy as well.
    for (const order of waiting) onFound?.(order);
    clock.setTimer(clock.now() + unclaimedMs, () => {
      for (const order of this.#slots.unclaimed.all()) this.#report(order);
    });
  }

  #report({ clOrdId, spec: { instId, side }, record }: Order): void {
    if (this.#reported.has(clOrdId)) return;
    this.#reported.add(clOrdId);
    const detail = `${clOrdId}: the service executed ${record?.accFillSz ?? ""} (${side} ${instId}), and no strategy has its slot. It is in no strategy's position; while it is not, exits of ${instId} leave with the reduce-only flag only. Start with a config whose strategy has the slot, or reset the counters when the position is settled.`;
    this.#options.journal.append({ type: "anomaly", what: "order.unattributed", detail });
  }
}
