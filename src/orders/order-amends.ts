/**
 * Changes of resting orders, where the service can change one: the id stays, and with a smaller size the place in the
 * queue.
 *
 * Invariants: at most one change of an order at a time; what it is changed to is decided when the call leaves; a change
 * is made when the order's record shows it, not when the answer does; one that was refused, or that no record shows in
 * time, is not asked for again: the order is canceled and placed again; meanwhile the order counts as the larger of
 * both.
 * Not here: which step is next (plan.ts), what an order counts as (risk/exposure.ts).
 */
import type { Call } from "../client/gateway.ts";
import type { Outcome } from "../client/outcome.ts";
import { elementVerdict } from "../contract/rejections.ts";
import type { AmendBody, ElementResult } from "../contract/schemas.ts";
import { isSluiceError } from "../errors.ts";
import { type Effect, type Effects, evaluate, joined, noEffects, publish, type Run } from "./effects.ts";
import type { ManagerState } from "./manager-state.ts";
import { advance, type ChangeRequest, hasExecuted, isResting, type Order } from "./order-state.ts";
import { suits } from "./plan.ts";
import type { Ruling } from "./risk/pre-trade-checks.ts";
import type { Slot } from "./slot.ts";
import { canRest, type OrderSpec, type WantedOrder } from "./wanted-order.ts";

/** A change that no record shows so long after its answer, or after it was lost, is given up. */
const recordMs = 3_000;
/** A record that is pushed shows itself within this time of the answer; otherwise it is asked for. */
const pushMs = 1_000;

export class OrderAmends {
  readonly #state: ManagerState;
  readonly #run: Run;

  constructor(state: ManagerState, run: Run) {
    this.#state = state;
    this.#run = run;
  }

  /**
   * Returns whether the order may be changed into this wanted order: both of one product, side and type, neither an
   * exit nor protected, and nothing executed yet, as a size would count that as well.
   */
  mayChange(order: Order, wanted: WantedOrder | undefined): boolean {
    if (!this.#state.options.contract.profile.capabilities.amend || wanted === undefined) return false;
    const { spec, record, change, unwanted, wanted: was } = order;
    if (change.kind === "barred" || change.kind === "doubtful" || unwanted !== undefined) return false;
    if (record?.state !== "live" || hasExecuted(order)) return false;
    return was !== undefined && isPlain(was) && isPlain(wanted) && !spec.reduceOnly && isAlike(spec, wanted);
  }

  /** Queues a change that was asked for. */
  submit(slot: Slot, order: Order): void {
    try {
      this.#state.options.gateway.submit(this.#callOf(slot, order));
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      this.#run(this.#giveUp(slot, order, "refused"));
    }
  }

  #callOf(slot: Slot, order: Order): Call<"amendOrder"> {
    return {
      endpoint: "amendOrder",
      class: "place",
      owner: slot.strategy,
      instId: order.spec.instId,
      input: () => this.#decide(slot, order),
      done: (outcome) => this.#run(this.#read(slot, order, outcome)),
    };
  }

  /** Decides what to send now that the change may leave; undefined where nothing is left to change. */
  #decide(slot: Slot, order: Order): AmendBody | undefined {
    const state = this.#state;
    const wanted = state.counted(slot);
    if (slot.order !== order || !isResting(order) || !this.mayChange(order, wanted) || wanted === undefined)
      return undefined;
    if (suits(wanted, order, state.specify)) return undefined;
    const ruling = this.#ruling(slot, wanted);
    if (ruling?.approved !== true) {
      // The change may find no room while the order counts as it is: it is placed when the order is gone.
      advance(order, { type: "changeEnded", end: "barred" });
      return undefined;
    }
    const { spec, baseQty: qty } = ruling;
    advance(order, { type: "changeSent", to: { ...order.terms, spec, qty, wanted } });
    this.#run(this.#count(order));
    const { instId, px, sz } = spec;
    return { instId, ordId: order.ordId, clOrdId: order.clOrdId, px, sz };
  }

  #ruling(slot: Slot, wanted: WantedOrder): Ruling | undefined {
    const state = this.#state;
    if (!state.mayPlace(slot, wanted)) return undefined;
    const hold = state.holdOf(slot, wanted);
    this.#run(hold.effects);
    return hold.isHeld ? undefined : state.rule(slot, wanted);
  }

  #read(slot: Slot, order: Order, outcome: Outcome<ElementResult>): Effects {
    const { change } = order;
    if (change.kind === "none" || change.kind === "doubtful") return noEffects;
    const isUnwritten = outcome.kind === "dropped" && outcome.reason === "unwritten";
    const isLate = outcome.kind === "limited" || (outcome.kind === "dropped" && !isUnwritten);
    if (change.kind !== "sent" || isLate) {
      advance(order, { type: "changeEnded", end: "notSent" });
      return this.#settle(slot, order);
    }
    // A journal that cannot be written to keeps changes from leaving as well.
    if (this.#isRefused(outcome)) return this.#giveUp(slot, order, "refused");
    // Accepted or in doubt: only the record shows the result. The record of an accepted change is about to be pushed.
    const isTaken = outcome.kind === "done" && outcome.records[0]?.sCode === "0";
    return [
      this.#unless(change, order, isTaken ? pushMs : 0, () => [{ kind: "query", order, how: "look" }]),
      this.#unless(change, order, recordMs, () => this.#giveUp(slot, order, "doubtful")),
    ];
  }

  /** Does so when the change is still open after so long. */
  #unless(change: ChangeRequest, order: Order, ms: number, then: () => Effects): Effect {
    const due = (): Effects => (order.change === change ? then() : noEffects);
    return { kind: "schedule", at: this.#state.options.clock.now() + ms, due };
  }

  #isRefused(outcome: Outcome<ElementResult>): boolean {
    if (outcome.kind !== "done") return outcome.kind === "rejected" || outcome.kind === "dropped";
    const code = outcome.records[0]?.sCode ?? "0";
    return code !== "0" && elementVerdict(this.#state.options.contract.profile, code) === "rejected";
  }

  /**
   * It is not asked for again; where it may have been made after all, the cancel that follows ends the order whatever
   * it is.
   */
  #giveUp(slot: Slot, order: Order, end: "refused" | "doubtful"): Effects {
    const told = advance(order, { type: "changeEnded", end }) ? [publish(order)] : noEffects;
    return joined(told, this.#settle(slot, order));
  }

  #settle(slot: Slot, order: Order): Effects {
    const counted = isResting(order) ? this.#count(order) : noEffects;
    // An order that is over has given its slot back, and another slot may go by that name by now.
    return slot.order === order ? [...counted, evaluate(slot)] : counted;
  }

  /** The order counts for more or less than before. */
  #count(order: Order): Effects {
    return this.#state.count(order, this.#state.executed(order), this.#state.slotOf(order));
  }
}

/** Neither an exit nor protected. */
const isPlain = ({ reduceOnly, protect }: WantedOrder): boolean => reduceOnly !== true && protect === undefined;

/** The same product, side and resting type. */
const isAlike = ({ instId, side, ordType }: OrderSpec, wanted: WantedOrder): boolean =>
  instId === wanted.instId &&
  side === wanted.side &&
  ordType === (wanted.ordType ?? "limit") &&
  canRest(ordType) &&
  wanted.cross === undefined;
