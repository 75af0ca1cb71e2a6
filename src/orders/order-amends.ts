/**
 * Amends resting orders at services that can change one: the order keeps its id and, with a smaller size, its place in
 * the queue.
 *
 * Invariants: at most one amend of an order at a time; its content is decided when the call leaves; an amend counts as
 * made when the order's record shows it, not when it is answered; an amend that was refused, or that no record shows in
 * time, is not repeated: the order is canceled and placed again; meanwhile the order counts as the larger of both
 * versions.
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

/** An amend is given up if no record shows it within this time after its answer or its loss. */
const recordMs = 3_000;
/** A pushed record arrives within this time after the answer. Otherwise the record is queried. */
const pushMs = 1_000;

export class OrderAmends {
  readonly #state: ManagerState;
  readonly #run: Run;

  constructor(state: ManagerState, run: Run) {
    this.#state = state;
    this.#run = run;
  }

  /**
   * Returns whether the order may be changed into this wanted order. Product, side and type have to be the same,
   * neither may be an exit or protected, and nothing may be executed yet, because a new size would count executions
   * too.
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
      // The amend may find no room while the old order still counts. Its replacement is placed when the order is gone.
      advance(order, { type: "change", move: "ended", end: "barred" });
      return undefined;
    }
    const { spec, baseQty: qty } = ruling;
    advance(order, { type: "change", move: "sent", to: { ...order.terms, spec, qty, wanted } });
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
      advance(order, { type: "change", move: "ended", end: "notSent" });
      return this.#settle(slot, order);
    }
    // A journal that cannot be written to keeps changes from leaving as well.
    if (this.#isRefused(outcome)) return this.#giveUp(slot, order, "refused");
    // The amend was accepted or is in doubt: only the record shows the result. The record of an accepted amend will be
    // pushed soon.
    const isTaken = outcome.kind === "done" && outcome.records[0]?.sCode === "0";
    return [
      this.#unless(change, order, isTaken ? pushMs : 0, () => [{ kind: "query", order, how: "look" }]),
      this.#unless(change, order, recordMs, () => this.#giveUp(slot, order, "doubtful")),
    ];
  }

  /** Runs `then` if the amend is still open after `ms`. */
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
   * Gives the amend up. It is not repeated, and the following cancel ends the order whether or not the amend was made.
   */
  #giveUp(slot: Slot, order: Order, end: "refused" | "doubtful"): Effects {
    const told = advance(order, { type: "change", move: "ended", end }) ? [publish(order)] : noEffects;
    return joined(told, this.#settle(slot, order));
  }

  #settle(slot: Slot, order: Order): Effects {
    const counted = isResting(order) ? this.#count(order) : noEffects;
    // A closed order has given its slot back. Another slot may have the same name by now.
    return slot.order === order ? [...counted, evaluate(slot)] : counted;
  }

  /** Counts the order again, because it counts for more or less than before. */
  #count(order: Order): Effects {
    const state = this.#state;
    const executed = state.executed(order);
    return joined(state.risk.take(order, executed), state.follow(order, executed, state.slotOf(order)));
  }
}

/** Returns true if the wanted order is neither an exit nor protected. */
const isPlain = ({ reduceOnly, protect }: WantedOrder): boolean => reduceOnly !== true && protect === undefined;

/** The same product, side and resting type. */
const isAlike = ({ instId, side, ordType }: OrderSpec, wanted: WantedOrder): boolean =>
  instId === wanted.instId &&
  side === wanted.side &&
  ordType === (wanted.ordType ?? "limit") &&
  canRest(ordType) &&
  wanted.cross === undefined;
