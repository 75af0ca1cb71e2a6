/**
 * State of one order of ours and of our requests to cancel and to change it, and how each event moves them.
 *
 * Three machines, one field each. Every move is made by `advance`, and nothing else writes an order.
 *
 *   state    submitted ──┬─ notExecuted ▶ notExecuted ── withdrawn ─────────▶ closed: withdrawn
 *                        ├─ rejected ───────────────────────────────────────▶ closed: rejected
 *                        ├─ doubted ────▶ unknown ──────┬─ provedAbsent ────▶ closed: neverExisted | rejected
 *                        ├─ acknowledged ▶ acknowledged ─┤─ provedAbsent ───▶ closed: lost
 *                        └─ recorded ────────────────────┴▶ open ─┬─ recorded ─▶ closed: filled | canceled
 *                                                                 └─ provedAbsent ▶ closed: lost
 *
 *   | state ↓ event →  | notExecuted            | rejected | acknowledged | doubted | recorded: active | recorded: final   | provedAbsent           | withdrawn |
 *   |------------------|------------------------|----------|--------------|---------|------------------|-------------------|------------------------|-----------|
 *   | submitted        | notExecuted, withdrawn | rejected | acknowledged | unknown | open             | filled, canceled  | –                      | –         |
 *   | notExecuted      | –                      | –        | –            | –       | –                | –                 | –                      | withdrawn |
 *   | unknown          | –                      | –        | –            | –       | open             | filled, canceled  | neverExisted, rejected | –         |
 *   | acknowledged     | –                      | –        | –            | –       | open             | filled, canceled  | lost                   | –         |
 *   | open             | –                      | –        | –            | –       | open             | filled, canceled  | lost                   | –         |
 *   | closed           | –                      | –        | –            | –       | –                | –                 | –                      | –         |
 *
 *   cancel   none ── sent ──▶ sent ──┬─ accepted ─▶ accepted ── sent ──▶ sent
 *              ▲                     ├─ unsure ───▶ unsure ──── sent ──▶ sent
 *              └────── failed ───────┘  (failed moves from every kind: also a call that never left fails)
 *
 *   change   none ── asked ──▶ queued ──┬─ sent ───▶ sent ──┬─ recorded as changed, not sent ─▶ none
 *                                       └─ barred ─▶ barred ├─ refused ─▶ barred
 *                                                           └─ doubtful ─▶ doubtful ── recorded as changed ─▶ barred
 *
 * Invariants: only evidence closes an order: a record, a code known to mean rejection, or a proof of absence; a closed
 * order stays closed; a record outranks an answer; a cancel of ours that may have been executed is never forgotten.
 * Not here: who raises events (callers of `advance`), the next step (plan.ts), what listeners see (order-update.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { OrdType, Profile, Side } from "../contract/profile.ts";
import { activeIn, type OrderRecord } from "../contract/schemas.ts";
import { type Decimal, equal, isZero, read } from "../decimal-value.ts";
import type { ActionClass, OrderPhase } from "../journal/events.ts";
import type { OrderSpec, WantedOrder } from "./wanted-order.ts";

/** End of an order, by a record, an answer or a proof. */
type Ending =
  | { readonly kind: "filled" | "canceled"; readonly record: OrderRecord }
  | { readonly kind: "rejected" }
  | { readonly kind: "neverExisted" }
  /** The service had accepted the order but does not know it any more. Whether it was executed is not known. */
  | { readonly kind: "lost"; readonly ordId: string; readonly record: OrderRecord | undefined }
  /** A rate limit kept the order from being executed, and it was not sent again. */
  | { readonly kind: "withdrawn" };

type OrderState =
  /** Its placement left, or is about to. */
  | { readonly kind: "submitted" }
  /** It was certainly not executed. Its id is used again. */
  | { readonly kind: "notExecuted" }
  /** It may exist. `verdict`: a refusal by the service in words that alone prove nothing; else empty. */
  | { readonly kind: "unknown"; readonly verdict: string }
  /** The service accepted it, and no record has come yet. */
  | { readonly kind: "acknowledged"; readonly ordId: string }
  | { readonly kind: "open"; readonly record: OrderRecord }
  | { readonly kind: "closed"; readonly ending: Ending };

/** `failures` counts calls in a row without effect. `mayHaveCut` is true if a call was accepted or may have been. */
interface CancelRequest {
  readonly kind: "none" | "sent" | "accepted" | "unsure";
  readonly failures: number;
  readonly mayHaveCut: boolean;
}

export type ChangeRequest =
  | { readonly kind: "none" }
  | { readonly kind: "queued" }
  /** `doubtful`: the change was given up, although it may have been made. */
  | { readonly kind: "sent" | "doubtful"; readonly to: Terms }
  /** The order is canceled and placed again instead. */
  | { readonly kind: "barred" };

/** An order as it was sent, or as it is to become. */
export interface Terms {
  readonly spec: OrderSpec;
  /** Base quantity it should execute; undefined where that is not known. */
  readonly qty: Decimal | undefined;
  /** The wanted order that it was made from; undefined for an order of a previous run. */
  readonly wanted: WantedOrder | undefined;
  /** Base quantity that was wanted, for an exit that was sized by the position of its strategy; otherwise undefined. */
  readonly wantedQty: Decimal | undefined;
  /** An exit without the service's reduce-only flag, because other strategies hold the opposite. */
  readonly withoutFlag: boolean;
}

/** Why an order should go. `isReplaced` is true if its slot wants another order instead. */
interface Unwanted {
  readonly urgency: ActionClass;
  readonly isReplaced: boolean;
}

type OrderEvent =
  | { readonly type: "notExecuted"; readonly reason: string }
  | { readonly type: "withdrawn" }
  | { readonly type: "rejected"; readonly reason: string }
  | { readonly type: "acknowledged"; readonly ordId: string }
  | { readonly type: "doubted"; readonly reason: string; readonly verdict: string }
  | { readonly type: "recorded"; readonly record: OrderRecord }
  /** A search got several complete answers and listings that do not contain the order. */
  | { readonly type: "provedAbsent" }
  | { readonly type: "noted"; readonly reason: string }
  /** Its request leaves at this instant. */
  | { readonly type: "left"; readonly at: number }
  /** A slot adopts the order as its own. */
  | { readonly type: "claimed"; readonly strategy: string; readonly slot: string }
  /** It suits this wanted order of its slot. */
  | { readonly type: "suited"; readonly wanted: WantedOrder }
  | CancelEvent
  | ChangeEvent;

/** Move of our request to cancel an order. */
type CancelEvent =
  | { readonly type: "cancel"; readonly move: "asked"; readonly urgency: ActionClass; readonly reason: string }
  | { readonly type: "cancel"; readonly move: "recalled" | "sent" }
  | CancelEnd;
interface CancelEnd {
  readonly type: "cancel";
  readonly move: "ended";
  readonly end: "accepted" | "failed" | "unsure";
  readonly reason: string;
}

/** Move of our request to change an order. */
type ChangeEvent =
  | { readonly type: "change"; readonly move: "asked" }
  | { readonly type: "change"; readonly move: "sent"; readonly to: Terms }
  | { readonly type: "change"; readonly move: "ended"; readonly end: ChangeEnd };
type ChangeEnd = "notSent" | "barred" | "refused" | "doubtful";

const submitted: OrderState = { kind: "submitted" };
const notExecuted: OrderState = { kind: "notExecuted" };
const rejected: OrderState = { kind: "closed", ending: { kind: "rejected" } };
const neverExisted: OrderState = { kind: "closed", ending: { kind: "neverExisted" } };
const withdrawn: OrderState = { kind: "closed", ending: { kind: "withdrawn" } };
const noCancel: CancelRequest = { kind: "none", failures: 0, mayHaveCut: false };
const noChange: ChangeRequest = { kind: "none" };
const queuedChange: ChangeRequest = { kind: "queued" };
const barredChange: ChangeRequest = { kind: "barred" };

const urgencies: readonly (ActionClass | undefined)[] = [undefined, "place", "cancel", "emergency"];

/** Reason of a cancel whose slot wants another order instead. */
export const replacedReason = "replaced";

export class Order {
  readonly clOrdId: string;
  /** Empty for an order of a previous run until a slot of this one claims it. */
  readonly strategy: string;
  readonly slot: string;
  readonly terms: Terms;
  readonly state: OrderState = submitted;
  /** Set while the order should go. */
  readonly unwanted: Unwanted | undefined = undefined;
  readonly cancel: CancelRequest = noCancel;
  readonly change: ChangeRequest = noChange;
  /**
   * The wanted order that this order serves. It may change without a replacement of the order. Undefined for an order
   * of a previous run until it suits a wanted order.
   */
  readonly serves: WantedOrder | undefined;
  /** Reason of the last change, in words. */
  readonly reason: string;
  /** Instant at which its last request left, as far as known. */
  readonly sentAt: number;

  constructor(strategy: string, slot: string, clOrdId: string, terms: Terms, reason: string, sentAt: number) {
    this.strategy = strategy;
    this.slot = slot;
    this.clOrdId = clOrdId;
    this.terms = terms;
    this.serves = terms.wanted;
    this.reason = reason;
    this.sentAt = sentAt;
  }

  /** The order as the service has it. */
  get spec(): OrderSpec {
    return this.terms.spec;
  }

  get qty(): Decimal | undefined {
    return this.terms.qty;
  }

  get wanted(): WantedOrder | undefined {
    return this.terms.wanted;
  }

  /** The record as last seen; undefined before any. */
  get record(): OrderRecord | undefined {
    const { state } = this;
    if (state.kind === "open") return state.record;
    if (state.kind !== "closed") return undefined;
    const { ending } = state;
    return ending.kind === "filled" || ending.kind === "canceled" || ending.kind === "lost" ? ending.record : undefined;
  }

  /** The service's id; empty until it gave one. */
  get ordId(): string {
    const { state } = this;
    if (state.kind === "acknowledged") return state.ordId;
    if (state.kind === "closed" && state.ending.kind === "lost") return state.ending.ordId;
    return this.record?.ordId ?? "";
  }

  /** The state as events and strategies name it. */
  get phase(): OrderPhase {
    return phaseOf(this);
  }
}

const phaseOf = ({ state, cancel }: Order): OrderPhase => {
  switch (state.kind) {
    case "submitted":
      return "sent";
    case "notExecuted":
      return "planned";
    case "unknown":
      return "unknown";
    case "acknowledged":
      return cancel.kind === "none" ? "acked" : "canceling";
    case "open":
      return cancel.kind === "none" ? state.record.state : "canceling";
    case "closed":
      return endPhases[state.ending.kind];
  }
};

const endPhases = {
  filled: "filled",
  canceled: "canceled",
  rejected: "rejected",
  neverExisted: "absent",
  lost: "absent",
  withdrawn: "canceled",
} as const satisfies Record<Ending["kind"], OrderPhase>;

type Writable = { -readonly [K in keyof Order]: Order[K] };

/**
 * Moves the order. Returns true if listeners can see a difference: in its phase, its record, its terms or the reason.
 */
export const advance = (order: Order, event: OrderEvent): boolean => {
  const { state } = order;
  if (event.type === "left") (order as Writable).sentAt = event.at;
  else if (event.type === "claimed") {
    (order as Writable).strategy = event.strategy;
    (order as Writable).slot = event.slot;
  } else if (state.kind !== "closed") return advanceOpen(order, state, event);
  return false;
};

type Unclosed = Exclude<OrderState, { readonly kind: "closed" }>;
type OpenEvent = Exclude<OrderEvent, { readonly type: "left" | "claimed" }>;
type AnswerEvent = Extract<OrderEvent, { readonly type: "notExecuted" | "rejected" | "acknowledged" | "doubted" }>;

const advanceOpen = (order: Order, state: Unclosed, event: OpenEvent): boolean => {
  switch (event.type) {
    case "notExecuted":
    case "rejected":
    case "acknowledged":
    case "doubted":
      return state.kind === "submitted" && takeAnswer(order, event);
    case "withdrawn":
      return state.kind === "notExecuted" && withdraw(order);
    case "recorded":
      return state.kind !== "notExecuted" && takeRecord(order, event.record);
    case "provedAbsent":
      return takeAbsence(order, state);
    case "noted":
      return move(order, state, event.reason);
    case "suited":
      (order as Writable).serves = event.wanted;
      return false;
    case "change":
      return moveChange(order, event);
    case "cancel":
      return moveCancel(order, event);
  }
};

/** Applies the answer to the placement. It counts only while nothing else is known. */
const takeAnswer = (order: Order, event: AnswerEvent): true => {
  switch (event.type) {
    case "notExecuted":
      // The order was canceled while it was under way, so it is not sent again.
      return order.unwanted === undefined ? move(order, notExecuted, event.reason) : withdraw(order);
    case "rejected":
      return move(order, rejected, event.reason);
    case "acknowledged":
      return move(order, { kind: "acknowledged", ordId: event.ordId }, "accepted");
    case "doubted":
      return move(order, { kind: "unknown", verdict: event.verdict }, event.reason);
  }
};

const move = (order: Order, state: OrderState, reason: string): true => {
  (order as Writable).state = state;
  (order as Writable).reason = reason;
  return true;
};

const withdraw = (order: Order): true => move(order, withdrawn, "withdrawn before it was executed");

const takeRecord = (order: Order, record: OrderRecord): boolean => {
  const { record: known, phase } = order;
  const isChanged = takeChange(order, record) || takeInherited(order, record);
  const { state } = record;
  (order as Writable).state = activeIn[state]
    ? { kind: "open", record }
    : { kind: "closed", ending: { kind: state as "filled" | "canceled", record } };
  return (
    isChanged ||
    phase !== order.phase ||
    known === undefined ||
    known.state !== state ||
    known.accFillSz !== record.accFillSz
  );
};

const shows = ({ px, sz }: OrderRecord, { spec }: Terms): boolean =>
  px !== "" && isSame(px, spec.px) && isSame(sz, spec.sz);

const isSame = (a: string, b: string): boolean => a === b || equal(read(a), read(b));

/** Applies a record that shows the terms that the order was to be changed to. */
const takeChange = (order: Order, record: OrderRecord): boolean => {
  const { change } = order;
  if ((change.kind !== "sent" && change.kind !== "doubtful") || !shows(record, change.to)) return false;
  (order as Writable).terms = change.to;
  (order as Writable).serves = change.to.wanted;
  (order as Writable).change = change.kind === "sent" ? noChange : barredChange;
  return true;
};

/** The record of an order of a previous run shows its present terms, which that run may have changed. */
const takeInherited = (order: Order, { px, sz }: OrderRecord): boolean => {
  const { serves, terms, change } = order;
  const { spec } = terms;
  if (serves !== undefined || change.kind !== "none" || spec.px === "" || px === "") return false;
  if (isSame(px, spec.px) && isSame(sz, spec.sz)) return false;
  (order as Writable).terms = { ...terms, spec: { ...spec, px, sz } };
  return true;
};

const takeAbsence = (order: Order, state: Unclosed): boolean => {
  switch (state.kind) {
    case "submitted":
    case "notExecuted":
      return false;
    case "unknown":
      // Two facts agree: the service refused the order, and the order is not there.
      return state.verdict === ""
        ? move(order, neverExisted, "proved not to exist at the service")
        : move(order, rejected, `${state.verdict} (and proved not to exist at the service)`);
    case "acknowledged":
    case "open": {
      // An order with an id of the service existed and may have been executed.
      const { ordId, record } = order;
      const before = record === undefined ? "accepted" : "seen at the service";
      const reason = `${before}, and not known to the service any more: how it ended is not known`;
      return move(order, { kind: "closed", ending: { kind: "lost", ordId, record } }, reason);
    }
  }
};

const moveCancel = (order: Order, event: CancelEvent): boolean => {
  const writable = order as Writable;
  const { unwanted, cancel } = order;
  switch (event.move) {
    case "asked": {
      const urgency = isMoreUrgent(event.urgency, unwanted?.urgency) ? event.urgency : unwanted?.urgency;
      writable.unwanted = { urgency: urgency as ActionClass, isReplaced: event.reason === replacedReason };
      writable.reason = event.reason;
      return false;
    }
    case "recalled":
      writable.unwanted = undefined;
      return false;
    case "sent":
      if (!isResting(order)) return false;
      writable.cancel = { kind: "sent", failures: cancel.failures, mayHaveCut: cancel.mayHaveCut };
      return true;
    case "ended":
      return endCancel(order, event);
  }
};

const endCancel = (order: Order, { end, reason }: CancelEnd): boolean => {
  const writable = order as Writable;
  const { kind, failures, mayHaveCut } = order.cancel;
  if (end !== "failed" && kind !== "sent") return false;
  switch (end) {
    case "accepted":
      writable.cancel = { kind: "accepted", failures: 0, mayHaveCut: true };
      return false;
    case "unsure":
      writable.cancel = { kind: "unsure", failures: failures + 1, mayHaveCut: true };
      return false;
    case "failed": {
      const before = order.phase;
      writable.cancel = { kind: "none", failures: failures + 1, mayHaveCut };
      if (order.phase === before) return false;
      writable.reason = reason;
      return true;
    }
  }
};

const moveChange = (order: Order, event: ChangeEvent): boolean => {
  const writable = order as Writable;
  const { change } = order;
  switch (event.move) {
    case "asked":
      if (change.kind === "none") writable.change = queuedChange;
      return false;
    case "sent":
      if (change.kind !== "queued") return false;
      writable.change = { kind: "sent", to: event.to };
      return false;
    case "ended":
      if (change.kind !== "queued" && change.kind !== "sent") return false;
      writable.change = changeAfter(change, event.end);
      if (event.end === "notSent" || event.end === "barred" || !isResting(order)) return false;
      writable.reason = "not changed, to be replaced";
      return true;
  }
};

const changeAfter = (
  change: Extract<ChangeRequest, { readonly kind: "queued" | "sent" | "doubtful" }>,
  end: ChangeEnd,
): ChangeRequest => {
  if (end === "notSent") return noChange;
  return end === "doubtful" && change.kind === "sent" ? { kind: "doubtful", to: change.to } : barredChange;
};

export const isMoreUrgent = (urgency: ActionClass, than: ActionClass | undefined): boolean =>
  urgencies.indexOf(urgency) > urgencies.indexOf(than);

export const isClosed = ({ state }: Order): boolean => state.kind === "closed";

/** Returns true if the order rests at the service as far as known, so that it can be canceled. */
export const isResting = ({ state }: Order): boolean => state.kind === "acknowledged" || state.kind === "open";

/** Returns true while a change waits or is under way. */
export const isChanging = ({ change }: Order): boolean => change.kind === "queued" || change.kind === "sent";

/** Returns true for an order that we want canceled, or that a cancel of ours may have ended. */
export const isCutByUs = ({ unwanted, cancel }: Order): boolean =>
  unwanted !== undefined || cancel.kind !== "none" || cancel.mayHaveCut;

/** Kind of its end; undefined while it is not closed. */
export const endingOf = ({ state }: Order): Ending["kind"] | undefined =>
  state.kind === "closed" ? state.ending.kind : undefined;

/** Returns true where the service's record shows an execution. */
export const hasExecuted = ({ record }: Order): boolean =>
  record !== undefined && record.accFillSz !== "" && !isZero(read(record.accFillSz));

const inherited = { qty: undefined, wanted: undefined, wantedQty: undefined, withoutFlag: false } as const;

/** An order that a previous run sent, and whose answer is not known. */
export const recalledOrder = (clOrdId: string, spec: OrderSpec, sentAt: number): Order =>
  new Order("", "", clOrdId, { spec, ...inherited }, "sent by a previous run", sentAt);

const msPerUnit = { ms: 1, s: 1_000, us: 0.001 } as const;

/**
 * Makes an order of ours that was found at the service. `serviceNow` is the service's calendar, which stamps its
 * record; our calendar is used if that is not known.
 */
export const foundOrder = (record: OrderRecord, clock: Clock, profile: Profile, serviceNow?: number): Order => {
  const { instId, px, sz, createdAt } = record;
  const kind = { side: record.side as Side, ordType: record.ordType as OrdType };
  const spec: OrderSpec = { instId, ...kind, px, sz, reduceOnly: false };
  const sentAt =
    clock.now() - Math.max(0, (serviceNow ?? clock.wallNow()) - Number(createdAt) * msPerUnit[profile.order.timeUnit]);
  const order = new Order("", "", record.clOrdId, { spec, ...inherited }, "adopted", sentAt);
  advance(order, { type: "recorded", record });
  return order;
};
