/**
 * Placement of orders: queued without content, decided when quota is granted, read when answered.
 *
 * Invariants: what is sent is the wanted order as it is then, by the instruments as they are then; a placement is sent
 * once whatever becomes of its response; it was rejected only by a code that is known to mean so; a refusal costs no
 * request; one ruling a decision: a placement that leaves at once is not ruled on again unless an order has changed
 * meanwhile.
 * Not here: whether there should be one (plan.ts), what may be sent (risk/pre-trade-checks.ts).
 */
import type { Call, Gateway } from "../client/gateway.ts";
import type { Outcome } from "../client/outcome.ts";
import type { InputOf } from "../contract/endpoints.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import { elementVerdict } from "../contract/rejections.ts";
import type { ElementResult, PlaceBody } from "../contract/schemas.ts";
import { isSluiceError } from "../errors.ts";
import type { ActionClass } from "../journal/events.ts";
import { type Effects, noEffects, publish, type Run } from "./effects.ts";
import type { ManagerState } from "./manager-state.ts";
import { advance, isClosed, type Order } from "./order-state.ts";
import type { Approval } from "./risk/pre-trade-checks.ts";
import type { QueuedPlacement, Slot } from "./slot.ts";
import { doubt } from "./unknown-orders.ts";
import { sameWanted, type WantedOrder } from "./wanted-order.ts";

/** How placements of one product leave: the permission they need, and the queues of entries and of exits. */
interface Way {
  readonly permission: string;
  readonly place: string;
  readonly close: string;
}

const nothing = (): void => undefined;

/** One placement, from its ruling to the outcome of its request. */
class Placement implements Call<"placeOrder">, QueuedPlacement {
  // Declared only: fields of their own would cost each placement another call.
  declare readonly endpoint: "placeOrder";
  declare readonly slot: Slot;
  declare readonly wanted: WantedOrder;
  declare readonly class: ActionClass;
  declare readonly owner: string;
  declare readonly permission: string;
  declare readonly instId: string;
  /** Of the queue it waits in. */
  declare readonly lane: string;
  /** The approval of this turn and the number of order changes it counted; undefined once the turn has ended. */
  declare approval: Approval | undefined;
  declare readonly changes: number;
  declare order: Order | undefined;
  declare ended: boolean;
  declare withdraw: () => void;
  declare private readonly placements: Placements;

  constructor(placements: Placements, slot: Slot, wanted: WantedOrder, way: Way, approval: Approval, changes: number) {
    const isExit = wanted.reduceOnly === true;
    this.placements = placements;
    this.endpoint = "placeOrder";
    this.slot = slot;
    this.wanted = wanted;
    this.class = isExit ? "close" : "place";
    this.owner = slot.strategy;
    this.permission = way.permission;
    this.instId = wanted.instId;
    this.lane = isExit ? way.close : way.place;
    this.approval = approval;
    this.changes = changes;
    this.order = undefined;
    this.ended = false;
    this.withdraw = nothing;
  }

  input(_: number, now: number): PlaceBody | undefined {
    this.order = this.placements.decide(this, now);
    return this.order === undefined ? undefined : bodyOf(this.order);
  }

  done(outcome: Outcome<ElementResult>): void {
    this.ended = true;
    this.placements.end(this, outcome);
  }
}

/** Input of the decision about a placement. */
type Decision = Pick<Placement, "slot" | "wanted" | "approval" | "changes">;

/**
 * A close call in place of a market order that the service rejected, as a take-profit that cannot be canceled promises
 * what it would reduce. The order that the service makes of it carries the slot's client order id.
 */
class PositionClose implements Call<"closePosition">, QueuedPlacement {
  readonly endpoint = "closePosition";
  readonly class = "close";
  readonly slot: Slot;
  readonly wanted: WantedOrder;
  readonly owner: string;
  readonly instId: string;
  readonly lane: string;
  readonly changes: number;
  approval: Approval | undefined;
  order: Order | undefined = undefined;
  ended = false;
  withdraw: () => void = nothing;
  readonly #placements: Placements;

  constructor(placements: Placements, slot: Slot, wanted: WantedOrder, way: Way, approval: Approval, changes: number) {
    this.#placements = placements;
    this.slot = slot;
    this.wanted = wanted;
    this.owner = slot.strategy;
    this.instId = wanted.instId;
    this.lane = way.close;
    this.approval = approval;
    this.changes = changes;
  }

  input(_: number, now: number): InputOf<"closePosition"> | undefined {
    this.order = this.#placements.decide(this, now);
    return this.order === undefined ? undefined : { instId: this.instId, clOrdId: this.order.clOrdId };
  }

  done(outcome: Outcome<unknown>): void {
    this.ended = true;
    this.#placements.endClose(this, outcome);
  }
}

export class Placements {
  readonly #state: ManagerState;
  readonly #gateway: Gateway;
  readonly #byProduct: boolean;
  readonly #accept: (order: Order, ordId: string) => Effects;
  readonly #run: Run;
  /** Of products in which something was approved, which are those the service lists. */
  readonly #ways = new Map<string, Way>();

  /** `accept`: the service took an order. */
  constructor(state: ManagerState, accept: (order: Order, ordId: string) => Effects, run: Run) {
    const { gateway } = state.options;
    this.#state = state;
    this.#gateway = gateway;
    this.#byProduct = gateway.byProduct("placeOrder");
    this.#accept = accept;
    this.#run = run;
  }

  /** The queue a placement of this wanted order belongs to. */
  laneOf({ instId, reduceOnly }: WantedOrder): string {
    const { place, close } = this.#wayOf(instId);
    return reduceOnly === true ? close : place;
  }

  /** Queues differ in urgency and permission, and in the product where each is counted. */
  #wayOf(instId: string): Way {
    const known = this.#ways.get(instId);
    if (known !== undefined) return known;
    const { permissions } = this.#state.options.contract.profile;
    const permission = instTypeOf(instId) === "SPOT" ? permissions.placeSpot : permissions.placeSwap;
    const lane = this.#byProduct ? `${permission} ${instId}` : permission;
    return { permission, place: `place ${lane}`, close: `close ${lane}` };
  }

  /** Queues a placement that was approved. */
  submit(slot: Slot, wanted: WantedOrder, approval: Approval): void {
    const way = this.#wayOf(wanted.instId);
    this.#ways.set(wanted.instId, way);
    const isClose = slot.isLate && (slot.followUp?.failures ?? 0) % 2 === 1 && this.#state.closesAll(slot, wanted);
    const make = isClose ? PositionClose : Placement;
    const placement = new make(this, slot, wanted, way, approval, this.#state.changes);
    try {
      placement.withdraw =
        placement.endpoint === "placeOrder" ? this.#gateway.submit(placement) : this.#gateway.submit(placement);
      placement.approval = undefined;
      if (placement.order === undefined && !placement.ended) slot.queued = placement;
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      this.#run(this.#fail(placement, error.message));
    }
  }

  /** What to send now that the placement may leave. */
  decide({ slot, wanted: ruledOn, approval, changes }: Decision, now: number): Order | undefined {
    slot.queued = undefined;
    const { wanted } = slot;
    if (wanted === undefined || slot.order !== undefined) return undefined;
    const holds = wanted === ruledOn && changes === this.#state.changes;
    const verdict = holds && approval !== undefined ? approval : this.#ruleAnew(slot, wanted);
    if (verdict === undefined) return undefined;
    const { spec, baseQty: qty, exit } = verdict;
    const terms = { spec, qty, wanted, wantedQty: exit?.wantedQty, withoutFlag: exit?.withoutFlag ?? false };
    const order = this.#state.slots.open(slot, terms, now);
    this.#run([publish(order, now)]);
    return order;
  }

  end(placement: Placement | PositionClose, outcome: Outcome<ElementResult>): void {
    const { order } = placement;
    if (order !== undefined) this.#run(this.#read(order, outcome));
    else if (outcome.kind === "rejected") this.#run(this.#fail(placement, outcome.msg));
    else placement.slot.queued = undefined;
  }

  endClose(placement: PositionClose, outcome: Outcome<unknown>): void {
    const { order } = placement;
    if (outcome.kind !== "done") this.end(placement, outcome);
    // The answer names no order: it is looked for by its client order id.
    else if (order !== undefined) this.#run(doubt(order, "the answer to a close call names no order"));
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

  #fail({ slot, wanted }: Decision, reason: string): Effects {
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
    // Whatever it says, it says it of another order.
    if (clOrdId !== "" && clOrdId !== order.clOrdId)
      return doubt(order, `the answer to the placement names another order (${clOrdId})`);
    // An order that was given an id exists, and ids of ours are never used twice: one that is taken was taken by this
    // very order.
    const { profile } = this.#state.options.contract;
    const verdict = sCode === "0" || ordId !== "" ? "unproven" : elementVerdict(profile, sCode);
    const words = wordsOf(sCode, sMsg);
    if (verdict === "rejected") return reject(order, words);
    if (sCode !== "0") return doubt(order, words, verdict === "unlisted" ? words : "");
    if (ordId === "") return doubt(order, "the answer to the placement cannot be read");
    return isClosed(order) ? noEffects : this.#accept(order, ordId);
  }
}

/** A record outranks a reply: an order that was seen exists, whatever the answer says. */
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
