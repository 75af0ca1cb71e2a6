/**
 * Placement of orders: queued without content, decided when quota is granted, read when answered.
 *
 * Invariants: a placement sends the wanted order as it is at that moment, by the instruments as they are at that
 * moment; a placement is sent only once, even if its response is lost; it counts as rejected only by a code that is
 * known to mean so; a refusal costs no request; an order is checked once per decision: a placement that leaves at once
 * is not checked again unless an order has changed meanwhile.
 * Not here: whether there should be one (plan.ts), what may be sent (risk/pre-trade-checks.ts).
 */
import type { Call, Gateway } from "../client/gateway.ts";
import type { Outcome } from "../client/outcome.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import { elementVerdict } from "../contract/rejections.ts";
import type { ElementResult, PlaceBody } from "../contract/schemas.ts";
import { isSluiceError } from "../errors.ts";
import type { ActionClass } from "../journal/events.ts";
import { type Effect, type Effects, noEffects, publish, type Run } from "./effects.ts";
import type { ManagerState } from "./manager-state.ts";
import { doubt } from "./order-search.ts";
import { advance, isClosed, type Order } from "./order-state.ts";
import type { Approval } from "./risk/pre-trade-checks.ts";
import type { QueuedPlacement, Slot } from "./slot.ts";
import { sameWanted, type WantedOrder } from "./wanted-order.ts";

const nothing = (): void => undefined;

/** A placement that was approved. */
type Asked = Pick<Extract<Effect, { readonly kind: "place" }>, "slot" | "wanted" | "approval">;

/** Callbacks of a placement: one decides what to send when its quota is granted, one takes its result. */
interface Decider {
  decide(placement: Placement, now: number): Order | undefined;
  end(placement: Placement, outcome: Outcome<ElementResult>): void;
}

/** One placement, from its approval to the outcome of its request, and the call that carries it. */
class Placement implements QueuedPlacement, Call<"placeOrder"> {
  readonly endpoint = "placeOrder";
  readonly class: ActionClass;
  readonly owner: string;
  readonly permission: string;
  readonly instId: string;
  readonly slot: Slot;
  readonly wanted: WantedOrder;
  /** Approval of this turn, and the number of order changes at that time; undefined after the turn. */
  approval: Approval | undefined;
  readonly changes: number;
  order: Order | undefined = undefined;
  isEnded = false;
  withdraw: () => void = nothing;
  readonly #decider: Decider;

  constructor(decider: Decider, { slot, wanted, approval }: Asked, permission: string, changes: number) {
    this.#decider = decider;
    this.class = wanted.reduceOnly === true ? "close" : "place";
    this.owner = slot.strategy;
    this.permission = permission;
    this.instId = wanted.instId;
    this.slot = slot;
    this.wanted = wanted;
    this.approval = approval;
    this.changes = changes;
  }

  input(_: number, now: number): PlaceBody | undefined {
    const order = this.#decider.decide(this, now);
    return order === undefined ? undefined : bodyOf(order);
  }

  done(outcome: Outcome<ElementResult>): void {
    this.#decider.end(this, outcome);
  }
}

export class Placements {
  readonly #state: ManagerState;
  readonly #gateway: Gateway;
  readonly #byProduct: boolean;
  readonly #accept: (order: Order, ordId: string) => Effects;
  readonly #run: Run;

  /** `accept` is called when the service accepted an order. */
  constructor(state: ManagerState, accept: (order: Order, ordId: string) => Effects, run: Run) {
    const { gateway } = state.options;
    this.#state = state;
    this.#gateway = gateway;
    this.#byProduct = gateway.byProduct("placeOrder");
    this.#accept = accept;
    this.#run = run;
  }

  /**
   * Returns whether a waiting placement is in the queue that this wanted order belongs to. Queues differ in urgency and
   * permission, and in the product if quota is counted by product.
   */
  isInQueue({ wanted: queued }: QueuedPlacement, wanted: WantedOrder): boolean {
    if ((queued.reduceOnly === true) !== (wanted.reduceOnly === true)) return false;
    if (queued.instId === wanted.instId) return true;
    return !this.#byProduct && this.#permissionOf(queued) === this.#permissionOf(wanted);
  }

  #permissionOf({ instId }: WantedOrder): string {
    const { permissions } = this.#state.options.contract.profile;
    return instTypeOf(instId) === "SPOT" ? permissions.placeSpot : permissions.placeSwap;
  }

  /** Queues a placement that was approved. */
  submit(asked: Asked): void {
    const { slot, wanted } = asked;
    const placement = new Placement(this, asked, this.#permissionOf(wanted), this.#state.changes);
    const failures = slot.followUp?.failures ?? 0;
    const isClose = slot.isLate && failures % 2 === 1 && this.#state.closesAll(slot, wanted);
    try {
      placement.withdraw = isClose ? this.#gateway.submit(this.#closeCall(placement)) : this.#gateway.submit(placement);
      placement.approval = undefined;
      if (placement.order === undefined && !placement.isEnded) slot.queued = placement;
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      this.#run(this.#fail(placement, error.message));
    }
  }

  /**
   * Builds a close call in place of a market order. The service rejected the market order because a take-profit that
   * cannot be canceled already takes up the position. The order that the service makes for the close call carries the
   * slot's client order id.
   */
  #closeCall(placement: Placement): Call<"closePosition"> {
    const { slot, wanted } = placement;
    const { instId } = wanted;
    return {
      endpoint: "closePosition",
      class: "close",
      owner: slot.strategy,
      instId,
      input: (_, now) => {
        const order = this.decide(placement, now);
        return order === undefined ? undefined : { instId, clOrdId: order.clOrdId };
      },
      done: (outcome) => {
        if (outcome.kind !== "done") this.end(placement, outcome);
        // The answer names no order, so the order is searched by its client order id.
        else if (placement.order !== undefined)
          this.#run(doubt(placement.order, "the answer to a close call names no order"));
      },
    };
  }

  /** Decides what to send when the placement may leave. */
  decide(placement: Placement, now: number): Order | undefined {
    const { slot, approval, changes } = placement;
    const state = this.#state;
    const { wanted } = slot;
    slot.queued = undefined;
    if (wanted === undefined || slot.order !== undefined) return undefined;
    const holds = wanted === placement.wanted && changes === state.changes;
    const verdict = holds && approval !== undefined ? approval : this.#ruleAnew(slot, wanted);
    if (verdict === undefined) return undefined;
    const { spec, baseQty: qty, exit } = verdict;
    const terms = { spec, qty, wanted, wantedQty: exit?.wantedQty, withoutFlag: exit?.withoutFlag ?? false };
    const order = state.slots.open(slot, terms, now);
    placement.order = order;
    this.#run([publish(order, now)]);
    return order;
  }

  end(placement: Placement, outcome: Outcome<ElementResult>): void {
    const { order, slot } = placement;
    placement.isEnded = true;
    if (order !== undefined) this.#run(this.#read(order, outcome));
    else if (outcome.kind === "rejected") this.#run(this.#fail(placement, outcome.msg));
    else slot.queued = undefined;
  }

  #ruleAnew(slot: Slot, wanted: WantedOrder): Approval | undefined {
    const state = this.#state;
    if (sameWanted(wanted, slot.settled) || !state.mayPlace(slot, wanted)) return undefined;
    const hold = state.holdOf(slot, wanted);
    this.#run(hold.effects);
    if (hold.isHeld) return undefined;
    const ruling = state.rule(slot, wanted);
    if (ruling.approved) return ruling;
    this.#run(state.refuse(slot, wanted, ruling));
    return undefined;
  }

  #fail({ slot, wanted }: Pick<Placement, "slot" | "wanted">, reason: string): Effects {
    slot.queued = undefined;
    return this.#state.refuse(slot, wanted, { approved: false, reason });
  }

  #read(order: Order, outcome: Outcome<ElementResult>): Effects {
    switch (outcome.kind) {
      case "done":
        return this.#readElement(order, outcome.records[0] ?? noElement);
      case "rejected":
        return reject(order, wordsOf(outcome.code, outcome.msg));
      case "limited":
        return this.#state.notExecuted(order, "refused by a rate limit");
      case "dropped":
        return this.#state.notExecuted(order, outcome.reason);
      case "unknown": {
        const { message, unlisted } = outcome;
        return doubt(order, message, unlisted === undefined ? "" : wordsOf(unlisted.code, unlisted.msg));
      }
    }
  }

  #readElement(order: Order, { sCode, sMsg, ordId, clOrdId }: ElementResult): Effects {
    // The answer belongs to another order.
    if (clOrdId !== "" && clOrdId !== order.clOrdId)
      return doubt(order, `the answer to the placement names another order (${clOrdId})`);
    // An order with an id of the service exists. Our client ids are never used twice, so if one is taken, this very
    // order has taken it.
    const { profile } = this.#state.options.contract;
    const verdict = sCode === "0" || ordId !== "" ? "unproven" : elementVerdict(profile, sCode);
    const words = wordsOf(sCode, sMsg);
    if (verdict === "rejected") return reject(order, words);
    if (sCode !== "0") return doubt(order, words, verdict === "unlisted" ? words : "");
    if (ordId === "") return doubt(order, "the answer to the placement cannot be read");
    return isClosed(order) ? noEffects : this.#accept(order, ordId);
  }
}

/** A record outranks an answer: an order that was seen exists, even if the answer denies it. */
const reject = (order: Order, reason: string): Effects =>
  advance(order, { type: "rejected", reason }) ? [publish(order)] : noEffects;

const noElement = { sCode: "0", sMsg: "", ordId: "", clOrdId: "" } as const;

const wordsOf = (code: string, msg: string): string => `${code} ${msg}`.trim();

const bodyOf = ({ terms: { spec, withoutFlag }, clOrdId }: Order): PlaceBody => {
  const { instId, side, ordType, sz, px, reduceOnly } = spec;
  if (reduceOnly && !withoutFlag)
    return { instId, side, ordType, sz, ...(px === "" ? {} : { px }), clOrdId, reduceOnly: true };
  return px === "" ? { instId, side, ordType, sz, clOrdId } : { instId, side, ordType, sz, px, clOrdId };
};
