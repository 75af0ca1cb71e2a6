/**
 * Cancel batching: packs cancels into as few calls as possible at the moment they leave.
 *
 * Invariants: an order is in at most one cancel call at a time; a cancel that became unnecessary while it waited is
 * left out; every element of a response is read by itself, independent of the envelope; an order whose call was
 * rejected as a whole goes alone next time, so that one bad element does not hold up the others.
 * Not here: what follows from a result (cancellation.ts).
 */
import type { Call, Gateway } from "../client/gateway.ts";
import { isTurnedDown, type Outcome, whyNot } from "../client/outcome.ts";
import type { Clock } from "../clock/clock.ts";
import type { Profile } from "../contract/profile.ts";
import { elementVerdict } from "../contract/rejections.ts";
import type { CancelBody, ElementResult } from "../contract/schemas.ts";
import { isSluiceError } from "../errors.ts";
import type { ActionClass } from "../journal/events.ts";
import { isResting, type Order } from "./order-state.ts";

export type CancelEnd =
  /** The service accepted it; the order's record will show when it is gone. */
  | { readonly kind: "accepted" }
  /** The service reported, by a known code, that this order cannot be canceled: the record must be read. */
  | { readonly kind: "denied"; readonly reason: string }
  /** It was certainly not executed. */
  | { readonly kind: "undone"; readonly reason: string }
  /** It may have been executed. */
  | { readonly kind: "unsure"; readonly reason: string };

/** Callbacks for the moment a call leaves and for its end. */
interface CancelCalls {
  /** Called before an order is chosen: the latest wanted order of its slot may want to keep it. */
  readonly compare: (order: Order) => void;
  readonly sent: (order: Order, now: number) => void;
  readonly end: (order: Order, end: CancelEnd) => void;
}

/** Orders to cancel with the same urgency. */
interface Lane {
  readonly class: ActionClass;
  readonly orders: Set<Order>;
  /** A call waits in the scheduler. */
  queued: boolean;
  /** The turn in which requests are gathered has not ended. */
  gathering: boolean;
}

/** One call, and the orders that it cancels once it has left. */
class CancelCall implements Call<"cancelBatch"> {
  readonly endpoint = "cancelBatch";
  readonly class: ActionClass;
  readonly owner = "engine";
  readonly #lane: Lane;
  readonly #batcher: CancelBatcher;
  #batch: readonly Order[] = [];

  constructor(lane: Lane, batcher: CancelBatcher) {
    this.class = lane.class;
    this.#lane = lane;
    this.#batcher = batcher;
  }

  elementsNow(): number {
    return this.#batcher.elementsNow(this.#lane);
  }

  input(elementsMax: number, now: number): CancelBody | undefined {
    this.#batch = this.#batcher.take(this.#lane, elementsMax, now);
    return this.#batch.length === 0 ? undefined : this.#batch.map(bodyOf);
  }

  done(outcome: Outcome<ElementResult>): void {
    this.#batcher.finish(this.#lane, this.#batch, outcome);
  }
}

export class CancelBatcher {
  readonly #clock: Clock;
  readonly #gateway: Gateway;
  readonly #profile: Profile;
  readonly #calls: CancelCalls;
  readonly #lanes = new Map<ActionClass, Lane>();
  readonly #alone = new WeakSet<Order>();

  constructor(clock: Clock, gateway: Gateway, profile: Profile, calls: CancelCalls) {
    this.#clock = clock;
    this.#gateway = gateway;
    this.#profile = profile;
    this.#calls = calls;
  }

  /** Makes sure that a cancel call for `order` leaves with the urgency of its `unwanted.urgency`. */
  request(order: Order): void {
    if (order.unwanted === undefined || order.cancel.kind === "sent") return;
    const lane = this.#laneOf(order.unwanted.urgency);
    lane.orders.add(order);
    if (lane.queued || lane.gathering) return;
    // With quota to spare the first call would leave at once with a single order. Therefore all requests of the turn
    // are gathered first.
    lane.gathering = true;
    this.#clock.setTimer(this.#clock.now(), () => {
      lane.gathering = false;
      this.#queue(lane);
    });
  }

  elementsNow({ orders }: Lane): number {
    // Whether a cancel is still needed is decided when the call leaves.
    return orders.size < 2 ? 1 : this.#choose(orders, this.#profile.cancelBatch.elementsMax, undefined).length;
  }

  /** Orders that a call cancels, chosen as it leaves. */
  take(lane: Lane, elementsMax: number, now: number): readonly Order[] {
    lane.queued = false;
    const batch = this.#choose(lane.orders, Math.min(elementsMax, this.#profile.cancelBatch.elementsMax), lane.orders);
    for (const order of batch) lane.orders.delete(order);
    for (const order of batch) this.#calls.sent(order, now);
    if (batch.length > 0) this.#queue(lane);
    return batch;
  }

  finish(lane: Lane, batch: readonly Order[], outcome: Outcome<ElementResult>): void {
    if (batch.length === 0) {
      // No order was left to cancel, or the call was refused on our side before it was built.
      lane.queued = false;
      if (outcome.kind === "dropped" && outcome.reason === "withdrawn") return;
      const orders = [...lane.orders];
      lane.orders.clear();
      for (const order of orders) this.#calls.end(order, { kind: "undone", reason: reasonOf(outcome) });
      return;
    }
    const isWhole = isTurnedDown(outcome);
    for (const order of batch) this.#alone[isWhole ? "add" : "delete"](order);
    for (const [index, order] of batch.entries()) this.#calls.end(order, endOf(outcome, batch, index, this.#profile));
  }

  #laneOf(kind: ActionClass): Lane {
    let lane = this.#lanes.get(kind);
    if (lane === undefined) {
      lane = { class: kind, orders: new Set(), queued: false, gathering: false };
      this.#lanes.set(kind, lane);
    }
    return lane;
  }

  #queue(lane: Lane): void {
    if (lane.queued || lane.orders.size === 0) return;
    lane.queued = true;
    const call = new CancelCall(lane, this);
    try {
      this.#gateway.submit(call);
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      call.done({ kind: "dropped", reason: error.message });
    }
  }

  /**
   * Returns the next batch. All its ids are of one kind, because some services refuse a mixture. Orders that need no
   * cancel are removed from `orders`.
   */
  #choose(orders: ReadonlySet<Order>, most: number, left: Set<Order> | undefined): readonly Order[] {
    const batch: Order[] = [];
    for (const order of orders) {
      const mayCancel = order.cancel.kind !== "sent" && isResting(order);
      if (mayCancel) this.#calls.compare(order);
      if (!mayCancel || order.unwanted === undefined) {
        left?.delete(order);
        continue;
      }
      const first = batch[0];
      if (first !== undefined && ((first.ordId === "") !== (order.ordId === "") || this.#alone.has(order))) continue;
      batch.push(order);
      if (batch.length === most || this.#alone.has(order)) break;
    }
    return batch;
  }
}

const bodyOf = ({ spec: { instId }, ordId, clOrdId }: Order): CancelBody[number] =>
  ordId === "" ? { instId, clOrdId } : { instId, ordId };

const reasonOf = (outcome: Outcome<ElementResult>): string =>
  outcome.kind === "done" ? "the answer has no element for this order" : whyNot(outcome);

const endOf = (
  outcome: Outcome<ElementResult>,
  batch: readonly Order[],
  index: number,
  profile: Profile,
): CancelEnd => {
  if (outcome.kind !== "done")
    return { kind: outcome.kind === "unknown" ? "unsure" : "undone", reason: reasonOf(outcome) };
  const order = batch[index] as Order;
  // If an element is missing or unreadable, positions in the response prove nothing. A matching id still does.
  const whole = outcome.records.length === batch.length && outcome.problems.length === 0;
  const here = outcome.records[index];
  const element =
    outcome.records.find(({ ordId, clOrdId }) => isSame(ordId, order.ordId) || isSame(clOrdId, order.clOrdId)) ??
    (whole && here !== undefined && !namesAnother(here, order) ? here : undefined);
  if (element === undefined) return { kind: "unsure", reason: reasonOf(outcome) };
  if (element.sCode === "0") return { kind: "accepted" };
  const reason = `${element.sCode} ${element.sMsg}`.trim();
  return { kind: elementVerdict(profile, element.sCode) === "rejected" ? "denied" : "unsure", reason };
};

const isSame = (id: string, ours: string): boolean => id !== "" && id === ours;

const namesAnother = ({ ordId, clOrdId }: ElementResult, order: Order): boolean =>
  (ordId !== "" && order.ordId !== "" && ordId !== order.ordId) || (clOrdId !== "" && clOrdId !== order.clOrdId);
