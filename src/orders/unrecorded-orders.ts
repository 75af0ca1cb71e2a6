/**
 * Unrecorded orders: executions of this instance's orders that the journal does not contain, booked from the service's
 * records.
 *
 * A journal may lack its last orders: another process sent them after its copy was made, the disk was full, or a file
 * lost its end. Their client order ids identify the slot, and so the strategy, whose position they changed.
 *
 * Invariants: an order that the journal accounts for, or that this run sent, is never booked here, and no other one
 * twice; an order is recorded in the journal before it is booked; one whose strategy is not known waits for its slot
 * and is reported.
 * Not here: how far back the history is read (engine/history-read-back.ts), orders that are not over
 * (reconciliation.ts).
 */
import { isActive, type OrderRecord } from "../contract/schemas.ts";
import { isLater } from "./client-order-id.ts";
import { type Effect, type Effects, evaluate, next, noEffects, record as recordEvent } from "./effects.ts";
import type { ManagerState } from "./manager-state.ts";
import { advance, foundOrder, hasExecuted, type Order } from "./order-state.ts";

/** End of the journal of previous runs, for one user. */
export interface JournalEnd {
  /**
   * Generation of the last order that it contains. Undefined if it contains none; every own order then came after it.
   */
  readonly after: number | undefined;
  /** Time of its last record on the machine's calendar, in milliseconds. */
  readonly at: number;
  /** Strategies by the slot hashes of orders in it. */
  readonly owners: ReadonlyMap<string, string>;
}

/** Time after which strategies have declared their slots, or are waiting for a market. */
const unclaimedMs = 15_000;
const lateReason = "executed before, and missing in the journal";

export class UnrecordedOrders {
  readonly #state: ManagerState;
  /** Orders that were booked here or are tracked elsewhere. */
  readonly #taken = new Set<string>();
  readonly #reported = new Set<string>();
  #end: JournalEnd | undefined;
  #isReading = false;
  #hasBegun = false;

  constructor(state: ManagerState) {
    this.#state = state;
  }

  /**
   * Called when the journal of previous runs was read, and the service's history back to the journal's end. Without an
   * end, for example with a new journal, only open orders are recorded.
   */
  begin(records: readonly OrderRecord[], end: JournalEnd | undefined): Effects {
    const { slots, options } = this.#state;
    this.#end = end;
    this.#hasBegun = true;
    const found = slots.orders().flatMap((order) => this.adopted(order));
    this.#isReading = true;
    const taken = [...records].reverse().flatMap((record) => this.take(record));
    this.#isReading = false;
    return [
      ...found,
      ...taken,
      next(() => this.#claimByJournal(slots.unclaimed.all())),
      next(() => {
        this.#state.protections.claimClosings();
        for (const strategy of options.strategies ?? []) slots.unclaimed.claimNamed(strategy);
        return this.settle();
      }),
      next(() => this.#reportLater()),
    ];
  }

  /** An open order was found at the service. */
  adopted(order: Order): Effects {
    if (!this.#hasBegun) return noEffects;
    this.#taken.add(order.clOrdId);
    return [{ kind: "outside", what: "keep", order }];
  }

  /** Takes a record of ours that belongs to no open order. */
  take(record: OrderRecord): Effects {
    const { clOrdId } = record;
    const { ids, slots, options } = this.#state;
    const own = ids.read(clOrdId);
    if (own === undefined || !this.#hasBegun || isActive(record.state) || slots.byClientId(clOrdId) !== undefined)
      return noEffects;
    if (this.#taken.has(clOrdId) || !this.#isMissing(own.generation)) return noEffects;
    const order = foundOrder(record, options.clock, options.contract.profile, options.serviceNow?.());
    this.#taken.add(clOrdId);
    if (!hasExecuted(order)) return noEffects;
    slots.unclaimed.keep(order, own.slotHash, own.generation);
    if (this.#isReading) return noEffects;
    return [
      ...this.#claimByJournal([order]),
      next(() => {
        this.#state.protections.claimClosings();
        return this.settle();
      }),
      next(() => this.#reportLater()),
    ];
  }

  /** Keeps a finished order of a previous run whose strategy is not in the journal. */
  keep(order: Order): void {
    const own = this.#state.ids.read(order.clOrdId);
    if (own !== undefined) this.#state.slots.unclaimed.keep(order, own.slotHash, own.generation);
  }

  /** Books orders whose slot has become known. Their consequences may make further slots known. */
  settle(): Effects {
    const claimed = this.#state.slots.unclaimed.takeClaimed();
    if (claimed.length === 0) return noEffects;
    return [
      ...claimed.map(({ order, strategy, slot, slotHash }) => next(() => this.#book(order, strategy, slot, slotHash))),
      next(() => this.settle()),
    ];
  }

  #isMissing(generation: number): boolean {
    const end = this.#end;
    if (end === undefined || this.#state.slots.isGiven(generation)) return false;
    return end.after === undefined || isLater(generation, end.after);
  }

  /**
   * Books orders for the strategy of their slot, or of an order in the journal with the same slot. All owners are found
   * before the first order is booked, because booking it may end the slot that the next one belongs to.
   */
  #claimByJournal(orders: readonly Order[]): Effects {
    const { ids, slots } = this.#state;
    const owned = orders.map((order) => {
      const { slotHash = "" } = ids.read(order.clOrdId) ?? {};
      const slot = slots.byHash(slotHash);
      return { order, slotHash, name: slot?.name ?? "", strategy: slot?.strategy ?? this.#end?.owners.get(slotHash) };
    });
    return owned.map(({ order, slotHash, name, strategy }) =>
      next(() => {
        // The consequences of the previous order may have booked this one.
        if (strategy === undefined || !slots.unclaimed.drop(order.clOrdId)) return noEffects;
        return this.#book(order, strategy, name, slotHash);
      }),
    );
  }

  #book(order: Order, strategy: string, name: string, slotHash: string): Effects {
    const { clOrdId, spec, record, phase } = order;
    const { instId, side } = spec;
    advance(order, { type: "claimed", strategy, slot: name });
    const detail = `${clOrdId}: the service executed ${record?.accFillSz ?? ""} (${side} ${instId}) for ${strategy}, which the journal does not have. It is booked by the service's record.`;
    const change = { strategy, slot: name, instId, clOrdId, phase, record, reason: lateReason };
    return [
      { kind: "outside", what: "keep", order },
      recordEvent({ type: "anomaly", what: "order.unrecorded", detail }),
      next(() => this.#state.recount(order)),
      next(() => {
        const slot = this.#state.slots.inherit(order, slotHash);
        const told = recordEvent({ type: "order.changed", ...change });
        return slot === undefined ? [told] : [told, evaluate(slot)];
      }),
    ];
  }

  #reportLater(): Effects {
    const { slots, options } = this.#state;
    const waiting = slots.unclaimed.all();
    if (waiting.length === 0) return noEffects;
    const due = (): Effects => slots.unclaimed.all().flatMap((order) => this.#report(order));
    // The journal keeps them as open orders, so that a later run looks for their strategy as well.
    return [
      ...waiting.map((order): Effect => ({ kind: "outside", what: "keep", order })),
      { kind: "schedule", at: options.clock.now() + unclaimedMs, due },
    ];
  }

  #report({ clOrdId, spec: { instId, side }, record }: Order): Effects {
    if (this.#reported.has(clOrdId)) return noEffects;
    this.#reported.add(clOrdId);
    const detail = `${clOrdId}: the service executed ${record?.accFillSz ?? ""} (${side} ${instId}), and no strategy has its slot. It is in no strategy's position; while it is not, exits of ${instId} leave with the reduce-only flag only. Start with a config whose strategy has the slot, or reset the counters when the position is settled.`;
    return [recordEvent({ type: "anomaly", what: "order.unattributed", detail })];
  }
}
