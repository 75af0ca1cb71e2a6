/**
 * Cancel batching: packs cancels into as few calls as possible at the moment they leave.
 *
 * Invariants: an order is in at most one cancel call at a time; what became unnecessary while waiting is left out;
 * every element of a response is read by itself, whatever the envelope says; an order whose call was rejected as a
 * whole goes alone next time, so that one bad element does not hold up the others.
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
  /** The service says, by a code known to mean it, that this order cannot be canceled: the record must be read. */
  | { readonly kind: "denied"; readonly reason: string }
  /** It was certainly not executed. */
  | { readonly kind: "undone"; readonly reason: string }
  /** It may have been executed. */
  | { readonly kind: "unsure"; readonly reason: string };

/** What happens as a call leaves, and when it has ended. */
interface CancelCalls {
  /** Called before an order is chosen: the latest wanted order may want it after all. */
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

const noOrders: readonly Order[] = [];

/** One call, put together as it leaves. */
class CancelCall implements Call<"cancelBatch"> {
  // Declared only: fields of their own would cost each call another one.
  declare readonly endpoint: "cancelBatch";
  declare readonly class: ActionClass;
  declare readonly owner: string;
  declare readonly lane: Lane;
  declare batch: readonly Order[];
  declare private readonly batcher: CancelBatcher;

  constructor(batcher: CancelBatcher, lane: Lane) {
    this.batcher = batcher;
    this.endpoint = "cancelBatch";
    this.class = lane.class;
    this.owner = "engine";
    this.lane = lane;
    this.batch = noOrders;
  }

  elementsNow(): number {
    return this.batcher.elementsNow(this.lane);
  }

  input(elementsMax: number, now: number): CancelBody | undefined {
    return this.batcher.fill(this, elementsMax, now);
  }

  done(outcome: Outcome<ElementResult>): void {
    this.batcher.finish(this, outcome);
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

  /** Sees to it that a cancel call for `order` leaves with the urgency of its `unwanted.urgency`. */
  request(order: Order): void {
    if (order.unwanted === undefined || order.cancel.kind === "sent") return;
    const lane = this.#laneOf(order.unwanted.urgency);
    lane.orders.add(order);
    if (lane.queued || lane.gathering) return;
    // With quota to spare the first call would leave at once and with one order: the whole turn is gathered first.
    lane.gathering = true;
    this.#clock.setTimer(this.#clock.now(), () => {
      lane.gathering = false;
      this.#queue(lane);
    });
  }

  elementsNow({ orders }: Lane): number {
    // Whether one is still needed is asked when it leaves.
    if (orders.size < 2) return 1;
    return this.#choose(orders, this.#profile.cancelBatch.elementsMax, undefined).length;
  }

  /** What a call cancels as it leaves. */
  fill(call: CancelCall, elementsMax: number, now: number): CancelBody | undefined {
    const { lane } = call;
    lane.queued = false;
    const batch = this.#choose(lane.orders, Math.min(elementsMax, this.#profile.cancelBatch.elementsMax), lane.orders);
    call.batch = batch;
    if (batch.length === 0) return undefined;
    for (const order of batch) lane.orders.delete(order);
    for (let index = 0; index < batch.length; index++) this.#calls.sent(batch[index] as Order, now);
    this.#queue(lane);
    return batch.map(({ spec, ordId, clOrdId }) =>
      ordId === "" ? { instId: spec.instId, clOrdId } : { instId: spec.instId, ordId },
    );
  }

  finish({ lane, batch }: CancelCall, outcome: Outcome<ElementResult>): void {
    if (batch.length === 0) {
      // Nothing left: there was no need any more, or the call is refused here before it is built.
      lane.queued = false;
      if (outcome.kind === "dropped" && outcome.reason === "withdrawn") return;
      const orders = [...lane.orders];
      lane.orders.clear();
      for (const order of orders) this.#calls.end(order, { kind: "undone", reason: reasonOf(outcome) });
      return;
    }
    const isWhole = isTurnedDown(outcome);
    for (let index = 0; index < batch.length; index++) {
      const order = batch[index] as Order;
      if (isWhole) this.#alone.add(order);
      else this.#alone.delete(order);
    }
    for (let index = 0; index < batch.length; index++)
      this.#calls.end(batch[index] as Order, endOf(outcome, batch, index, this.#profile));
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
    const call = new CancelCall(this, lane);
    try {
      this.#gateway.submit(call);
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      call.done({ kind: "dropped", reason: error.message });
    }
  }

  /**
   * The next batch, of one kind of id throughout, since some services refuse a mixture; what is not needed leaves
   * `orders`.
   */
  #choose(orders: ReadonlySet<Order>, most: number, left: Set<Order> | undefined): readonly Order[] {
    let batch: Order[] | undefined;
    for (const order of orders) {
      const mayCancel = order.cancel.kind !== "sent" && isResting(order);
      if (mayCancel) this.#calls.compare(order);
      if (!mayCancel || order.unwanted === undefined) {
        left?.delete(order);
        continue;
      }
      const first = batch?.[0];
      if (first !== undefined && ((first.ordId === "") !== (order.ordId === "") || this.#alone.has(order))) continue;
      // Most batches are of one: an array that grows makes room for many.
      if (batch === undefined) batch = [order];
      else batch.push(order);
      if (batch.length === most || this.#alone.has(order)) break;
    }
    return batch ?? noOrders;
  }
}

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
  // With one unreadable or missing element positions prove nothing; an id that matches still does.
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
