/**
 * State of one of our orders, from the decision to place it to its final phase.
 *
 * Invariants: a final phase stays final; a record outranks a response; an order whose placement was not answered is `unknown` and
 * counts as open until there is evidence.
 */
import type { Clock } from "../clock/clock.ts";
import type { OrdType, Profile, Side } from "../contract/profile.ts";
import { activeIn, type OrderRecord } from "../contract/schemas.ts";
import { equal, isZero } from "../decimal.ts";
import type { ActionClass, OrderPhase } from "../journal/events.ts";
import type { OrderSpec, WantedOrder } from "./wanted-order.ts";

/** What an order is being changed to. */
export interface Amendment {
  readonly spec: OrderSpec;
  /** Base quantity. */
  readonly qty: string;
  readonly wanted: WantedOrder;
  /** It left: the service may have made the change. */
  sent: boolean;
}

export interface TrackedOrder {
  /** Empty while nobody wants an order that a previous run of this instance left behind. */
  strategy: string;
  slot: string;
  readonly clOrdId: string;
  /** What it is at the service; another one once a change of it is known to have been made. */
  spec: OrderSpec;
  wanted: WantedOrder | undefined;
  /** A change of it that waits, is under way or is in doubt (amendment.ts). */
  amendment: Amendment | undefined;
  /** A change that was given up and may have been made all the same. */
  doubted: Amendment | undefined;
  /** A change of it was refused, or its outcome stayed in doubt: it is canceled and placed anew instead. */
  isFixed: boolean;
  /** Rises whenever its size or price is known better, in whichever direction. */
  revision: number;
  /** Base quantity it should execute; empty where that is not known. */
  qty: string;
  /** Of an exit that was sized by what its strategy holds: base quantity that was wanted, which may be more; else empty. */
  wantedQty: string;
  /** An exit sent without the service's reduce-only flag, since other strategies hold the opposite. */
  nets: boolean;
  /** It is over, and its slot will place another order for what is left of the wanted quantity. */
  goesOn: boolean;
  /**
   * The wanted order it serves, which may have changed without need to replace the order; undefined of an order of a previous run until a
   * wanted order has taken it for its own.
   */
  serves: WantedOrder | undefined;
  /** When its last request left, as far as known: after it was decided, where its record took long. */
  sentAt: number;
  ordId: string;
  phase: OrderPhase;
  record: OrderRecord | undefined;
  /** The wanted order of its slot has changed since it was last compared with this order (conflation.ts). */
  unweighed: boolean;
  /** Someone wants it gone, this urgently. */
  cancelClass: ActionClass | undefined;
  /** A cancel is under way; the next one waits for its answer. */
  canceling: boolean;
  /** A cancel of ours left and was not denied: should the order end as canceled, that was our doing. */
  cancelSent: boolean;
  /** Some cancel of ours was taken, or may have been: what a later one is answered does not undo it. */
  mayBeCut: boolean;
  /** Cancel calls in a row that changed nothing. */
  denials: number;
  /** What the service answered to the placement, where it said no in words that alone prove nothing; else empty. */
  verdict: string;
  reason: string;
}

export const finalPhases: readonly OrderPhase[] = ["filled", "canceled", "rejected", "absent"];

// Tables, because a change of an order asks for its phase some ten times.
const none = {
  planned: false,
  sent: false,
  acked: false,
  live: false,
  partially_filled: false,
  canceling: false,
  unknown: false,
  filled: false,
  canceled: false,
  rejected: false,
  absent: false,
} as const satisfies Record<OrderPhase, boolean>;
type InPhase = Readonly<Record<OrderPhase, boolean>>;

/** Whether an order in this phase is over. */
export const overIn: InPhase = { ...none, filled: true, canceled: true, rejected: true, absent: true };
/** Whether it rests at the service as far as we know, so that it can be canceled. */
export const restsIn: InPhase = { ...none, acked: true, live: true, partially_filled: true, canceling: true };

export const isOver = ({ phase }: TrackedOrder): boolean => overIn[phase];
/** Whether the service's record tells of an execution. */
export const hasExecuted = ({ record }: TrackedOrder): boolean =>
  record !== undefined && record.accFillSz !== "" && !isZero(record.accFillSz);
export const isResting = ({ phase }: TrackedOrder): boolean => restsIn[phase];

/** The phase after a record was seen. True when anything changed. */
export const applyRecord = (order: TrackedOrder, record: OrderRecord): boolean => {
  const { record: known, phase } = order;
  if (overIn[phase]) return false;
  order.record = record;
  order.ordId = record.ordId;
  const isChanged = takeChange(order, record);
  if (!activeIn[record.state]) order.phase = record.state;
  else order.phase = order.cancelSent ? "canceling" : record.state;
  return (
    isChanged ||
    phase !== order.phase ||
    known === undefined ||
    known.state !== record.state ||
    known.accFillSz !== record.accFillSz
  );
};

/** The record shows what the order was to be changed to, or what a previous run had made of it. */
const takeChange = (order: TrackedOrder, { px, sz }: OrderRecord): boolean => {
  const amendment = order.amendment ?? order.doubted;
  if (amendment === undefined && order.serves === undefined && order.spec.px !== "") {
    if (px === "" || (equal(px, order.spec.px) && equal(sz, order.spec.sz))) return false;
    order.spec = { ...order.spec, px, sz };
    order.revision++;
    return true;
  }
  if (amendment?.sent !== true || !equal(px === "" ? "0" : px, amendment.spec.px) || !equal(sz, amendment.spec.sz))
    return false;
  const { spec, qty, wanted } = amendment;
  Object.assign(order, { spec, qty, wanted, serves: wanted, amendment: undefined, doubted: undefined });
  order.revision++;
  return true;
};

/** An order about to leave. Written out field by field: put together from parts it would cost more than sending it. */
export const newOrder = (
  strategy: string,
  slot: string,
  clOrdId: string,
  wanted: WantedOrder | undefined,
  spec: OrderSpec,
  now: number,
): TrackedOrder => ({
  strategy,
  slot,
  clOrdId,
  spec,
  wanted,
  amendment: undefined,
  doubted: undefined,
  isFixed: false,
  revision: 0,
  qty: "",
  wantedQty: "",
  nets: false,
  goesOn: false,
  serves: wanted,
  sentAt: now,
  ordId: "",
  phase: "planned",
  record: undefined,
  unweighed: false,
  cancelClass: undefined,
  canceling: false,
  cancelSent: false,
  mayBeCut: false,
  denials: 0,
  verdict: "",
  reason: "",
});

/** An order that a previous run sent and has no answer to. */
export const recalledOrder = (clOrdId: string, spec: OrderSpec, sentAt: number): TrackedOrder => {
  const order = newOrder("", "", clOrdId, undefined, spec, sentAt);
  order.phase = "sent";
  order.reason = "sent by a previous run";
  return order;
};

const msPerUnit = { ms: 1, s: 1_000, us: 0.001 } as const;

/** An order of ours that was found resting at the service; its record is stamped by the service's calendar, ours serves where that is not known. */
export const foundOrder = (record: OrderRecord, clock: Clock, profile: Profile, serviceNow?: number): TrackedOrder => {
  const { instId, px, sz, createdAt } = record;
  const spec: OrderSpec = {
    instId,
    side: record.side as Side,
    ordType: record.ordType as OrdType,
    px,
    sz,
    reduceOnly: false,
  };
  const sentAt =
    clock.now() - Math.max(0, (serviceNow ?? clock.wallNow()) - Number(createdAt) * msPerUnit[profile.order.timeUnit]);
  const order = newOrder("", "", record.clOrdId, undefined, spec, sentAt);
  order.ordId = record.ordId;
  order.phase = record.state;
  order.record = record;
  order.reason = "adopted";
  return order;
};

/** One order of a strategy at one moment, frozen and made once for all who listen: its phase, and what was executed so far. */
export interface OrderUpdate {
  /** Name of the strategy in the config. */
  readonly strategy: string;
  /** Slot of the wanted order. */
  readonly slot: string;
  /** Client order id, given by Sluice. */
  readonly clOrdId: string;
  /** Empty until the service gave it. */
  readonly ordId: string;
  /** Where the order stands in its life; `refused` when it was never sent. */
  readonly phase: OrderPhase | "refused";
  /** What was sent, in the service's words; undefined when nothing was. */
  readonly spec: OrderSpec | undefined;
  /** It is over: filled, canceled, rejected, absent or refused. One that was canceled may have executed a part before (`filledQty`). */
  readonly isFinal: boolean;
  /** Wanted quantity in base currency, whatever the service's sizes count; empty where it is not known and where nothing was sent. */
  readonly qty: string;
  /** Executed so far, in base currency whatever the service's sizes count; "0" while nothing was. */
  readonly filledQty: string;
  /** Price of that on average, as the service tells it; empty while nothing was executed. */
  readonly avgPx: string;
  /** The service's record as last seen. */
  readonly record: OrderRecord | undefined;
  /** Why it ended or was refused, in words; empty where there is nothing to say. */
  readonly reason: string;
}

export const updateOf = (order: TrackedOrder, filledQty: string): OrderUpdate => {
  const { strategy, slot, clOrdId, ordId, phase, qty, spec, record, reason } = order;
  const avgPx = filledQty === "0" ? "" : (record?.avgPx ?? "");
  return Object.freeze({
    strategy,
    slot,
    clOrdId,
    ordId,
    phase,
    isFinal: overIn[phase],
    qty,
    filledQty,
    avgPx,
    spec,
    record,
    reason,
  });
};
