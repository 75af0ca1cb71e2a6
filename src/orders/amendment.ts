/**
 * Changes of resting orders, where the service can change one: the id stays, and with a smaller size the place in the queue.
 *
 * Invariants: at most one change of an order at a time; what it is changed to is decided when the call leaves; a change is made when the
 * order's record shows it, whatever the answer says; one that was refused, or that no record shows in time, is not asked for again: the
 * order is canceled and placed anew; meanwhile the order counts as the larger of both.
 * Not here: which step is next (plan.ts), what an order counts as (risk/exposure-entry.ts).
 */
import type { Call } from "../client/gateway.ts";
import type { Outcome } from "../client/outcome.ts";
import { elementVerdict } from "../contract/rejections.ts";
import type { AmendBody, ElementResult } from "../contract/schemas.ts";
import { isZero } from "../decimal.ts";
import { isSluiceError } from "../errors.ts";
import type { OrderFlowOptions } from "./order-flow-options.ts";
import type { OrderLifecycle } from "./order-lifecycle.ts";
import { advance, type ChangeRequest, isResting, type Order } from "./order-state.ts";
import { suits } from "./plan.ts";
import type { Ruling } from "./risk/pre-trade-checks.ts";
import type { Slot } from "./slot.ts";
import type { UnknownOrders } from "./unknown-orders.ts";
import { canRest, type Specified, type WantedOrder } from "./wanted-order.ts";

interface AmendmentOwner {
  readonly specified: (wanted: WantedOrder) => Specified;
  rule(slot: Slot, wanted: WantedOrder): Ruling;
  mayPlace(slot: Slot, wanted: WantedOrder): boolean;
  /** What the slot wants as far as it counts now. */
  countedOf(slot: Slot): WantedOrder | undefined;
  /** The order counts for more or less than before. */
  count(order: Order): void;
  consider(slot: Slot): void;
}

/** A change that no record shows so long after its answer, or after it was lost, is given up. */
const recordMs = 3_000;
/** A record that is pushed shows itself within this time of the answer; otherwise it is asked for. */
const pushMs = 1_000;

export class Amendments {
  readonly #options: Pick<OrderFlowOptions, "clock" | "contract" | "gateway">;
  readonly #lifecycle: OrderLifecycle;
  readonly #unknownOrders: UnknownOrders;
  readonly #owner: AmendmentOwner;

  constructor(
    options: Pick<OrderFlowOptions, "clock" | "contract" | "gateway">,
    lifecycle: OrderLifecycle,
    unknownOrders: UnknownOrders,
    owner: AmendmentOwner,
  ) {
    this.#options = options;
    this.#lifecycle = lifecycle;
    this.#unknownOrders = unknownOrders;
    this.#owner = owner;
  }

  /**
   * Whether the order may be changed into this wanted order: both of one product, side and type, neither an exit nor protected, and nothing
   * executed yet, as a size would count that as well.
   */
  mayChange(order: Order, wanted: WantedOrder | undefined): boolean {
    if (!this.#options.contract.profile.capabilities.amend || wanted === undefined) return false;
    if (order.change.kind === "barred" || order.change.kind === "doubtful") return false;
    const { spec, record, wanted: was } = order;
    if (
      was === undefined ||
      record?.state !== "live" ||
      !isZero(record.accFillSz || "0") ||
      order.unwanted !== undefined
    )
      return false;
    if (spec.reduceOnly || wanted.reduceOnly === true || was.protect !== undefined || wanted.protect !== undefined)
      return false;
    const { ordType = "limit" } = wanted;
    return (
      spec.instId === wanted.instId &&
      spec.side === wanted.side &&
      spec.ordType === ordType &&
      canRest(ordType) &&
      wanted.cross === undefined
    );
  }

  /** Queues the change. */
  request(slot: Slot, order: Order): void {
    advance(order, { type: "changeAsked" });
    try {
      this.#options.gateway.submit(this.#callOf(slot, order));
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      this.#giveUp(slot, order, "refused");
    }
  }

  #callOf(slot: Slot, order: Order): Call<"amendOrder"> {
    return {
      endpoint: "amendOrder",
      class: "place",
      owner: slot.strategy,
      instId: order.spec.instId,
      input: () => this.#decide(slot, order),
      done: (outcome) => this.#read(slot, order, outcome),
    };
  }

  /** What to send now that the change may leave; nothing where there is nothing to change any more. */
  #decide(slot: Slot, order: Order): AmendBody | undefined {
    const wanted = this.#owner.countedOf(slot);
    if (slot.order !== order || !isResting(order) || !this.mayChange(order, wanted) || wanted === undefined)
      return undefined;
    if (suits(wanted, order, this.#owner.specified)) return undefined;
    const ruling = this.#owner.mayPlace(slot, wanted) ? this.#owner.rule(slot, wanted) : undefined;
    if (ruling?.approved !== true) {
      // Counted beside what it is now, it may find no room: it is placed when that is gone, if it may be then.
      advance(order, { type: "changeEnded", end: "barred" });
      return undefined;
    }
    const { spec, baseQty: qty } = ruling;
    advance(order, { type: "changeSent", to: { ...order.terms, spec, qty, wanted } });
    this.#owner.count(order);
    const { instId, px, sz } = spec;
    return { instId, ordId: order.ordId, clOrdId: order.clOrdId, px, sz };
  }

  #read(slot: Slot, order: Order, outcome: Outcome<ElementResult>): void {
    const { change } = order;
    if (change.kind === "none" || change.kind === "doubtful") return;
    const isUnwritten = outcome.kind === "dropped" && outcome.reason === "unwritten";
    const isLate = outcome.kind === "limited" || (outcome.kind === "dropped" && !isUnwritten);
    if (change.kind !== "sent" || isLate) {
      advance(order, { type: "changeEnded", end: "notSent" });
      this.#settle(slot, order);
      return;
    }
    // A journal that cannot be written to keeps changes from leaving as well.
    if (this.#isRefused(outcome)) {
      this.#giveUp(slot, order, "refused");
      return;
    }
    // Taken or in doubt: only the record says what it is. That of a change that was taken is about to be pushed.
    const isTaken = outcome.kind === "done" && outcome.records[0]?.sCode === "0";
    this.#unless(change, order, isTaken ? pushMs : 0, () => this.#unknownOrders.ask(order));
    this.#unless(change, order, recordMs, () => this.#giveUp(slot, order, "doubtful"));
  }

  /** Does so when the change is still open after so long. */
  #unless(change: ChangeRequest, order: Order, ms: number, run: () => void): void {
    const { clock } = this.#options;
    clock.setTimer(clock.now() + ms, () => {
      if (order.change === change) run();
    });
  }

  #isRefused(outcome: Outcome<ElementResult>): boolean {
    if (outcome.kind !== "done") return outcome.kind === "rejected" || outcome.kind === "dropped";
    const code = outcome.records[0]?.sCode ?? "0";
    return code !== "0" && elementVerdict(this.#options.contract.profile, code) === "rejected";
  }

  /** It is not asked for again; where it may have been made after all, the cancel that follows ends the order whatever it is. */
  #giveUp(slot: Slot, order: Order, end: "refused" | "doubtful"): void {
    this.#lifecycle.move(order, { type: "changeEnded", end });
    this.#settle(slot, order);
  }

  #settle(slot: Slot, order: Order): void {
    if (isResting(order)) this.#owner.count(order);
    // An order that is over has given its slot back, and another slot may go by that name by now.
    if (slot.order === order) this.#owner.consider(slot);
  }
}
