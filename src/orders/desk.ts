/**
 * Keeps the service in agreement with what the strategies want: slots, orders, and the steps between.
 *
 * Invariants: one order per slot; a wish replaced while it waited is never sent; an order of unknown outcome keeps its slot and
 * its exposure until there is evidence; every change of an order is journalled with its reason.
 * Not here: which step is next (plan.ts), what may be sent (rules.ts), how cancels are packed (cancels.ts).
 */
import { type Observable, Subject } from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import type { ElementResult, InstrumentRecord, OrderRecord, PlaceBody } from "../contract/schemas.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Outcome } from "../gateway/outcome.ts";
import type { ActionClass, OrderPhase } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import type { OrderStore } from "../resources/order-store.ts";
import { type CancelEnd, createCancels } from "./cancels.ts";
import { createClientOrderIds } from "./client-order-id.ts";
import { applyRecord, isOver, isResting, type TrackedOrder } from "./order.ts";
import { planSlot } from "./plan.ts";
import { createResolver } from "./resolve.ts";
import { type RuleSet, rule, specifyWish } from "./rules.ts";
import { createSlots, type Slot } from "./slots.ts";
import type { WantedOrder } from "./wanted.ts";

export type Mode = "active" | "reducing" | "halted";

export interface DeskOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly gateway: Gateway;
  readonly journal: Journal;
  readonly store: OrderStore;
  readonly instance: string;
  readonly rules: RuleSet;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  /** Price a market order would meet, if a quote is known. */
  readonly marketPx: (instId: string, side: "buy" | "sell") => string | undefined;
  readonly onOpenOrders: (count: number) => void;
  /** The record of an accepted change has not shown up: the lists should be read. */
  readonly onDoubt: () => void;
}

export interface Desk {
  /** Replaces everything `strategy` wants, except orders it placed by hand. */
  want(strategy: string, wanted: readonly WantedOrder[]): void;
  /** Adds or replaces one wish; undefined withdraws it. */
  wantOne(strategy: string, slot: string, wish: WantedOrder | undefined): void;
  /** Cancels these now, and does not place their wishes again until they change. */
  cancel(orders: readonly TrackedOrder[], urgency: ActionClass): void;
  orders(): readonly TrackedOrder[];
  /** False where the service describes no way to cancel. */
  cancelable(order: TrackedOrder): boolean;
  setMode(mode: Mode, reason: string): void;
  readonly mode: Mode;
  readonly updates$: Observable<TrackedOrder>;
  readonly refusals$: Observable<{ readonly strategy: string; readonly slot: string; readonly reason: string }>;
  /** Instruments changed: what was refused for them may pass now. */
  reconsider(): void;
}

/** An accepted order or cancel whose record does not show up for so long is asked about. */
const recordMs = 1_500;
const repeatMs = 1_000;
const uncancellable = "not wanted any more, but the service cannot cancel spot orders";

export const createDesk = (options: DeskOptions): Desk => {
  const { clock, contract, gateway, journal, store } = options;
  const ids = createClientOrderIds(options.instance);
  const slots = createSlots(ids, store);
  const resolver = createResolver({ clock, gateway });
  const updates$ = new Subject<TrackedOrder>();
  const refusals$ = new Subject<{ strategy: string; slot: string; reason: string }>();
  const pursued = new Set<TrackedOrder>();
  let mode: Mode = "active";

  const cancels = createCancels({
    gateway,
    elementsMax: contract.profile.cancelBatch.elementsMax,
    onSent: (order) => {
      move(order, "canceling", order.reason);
    },
    onEnd: (order, end) => {
      onCancelEnd(order, end);
    },
  });

  const move = (order: TrackedOrder, phase: OrderPhase, reason: string): void => {
    order.phase = phase;
    order.reason = reason;
    announce(order);
  };
  const announce = (order: TrackedOrder): void => {
    const { strategy, slot, clOrdId, phase, record, reason } = order;
    journal.append({ type: "order.changed", strategy, slot, clOrdId, phase, record, reason });
    if (isOver(order)) slots.close(order);
    options.onOpenOrders(slots.openCount());
    updates$.next(order);
    if (isOver(order)) free(order);
  };
  /** The slot is empty again. A wish that came to its end is settled; one that was cut short is not. */
  const free = (order: TrackedOrder): void => {
    const slot = slots.of(order);
    if (slot === undefined || slot.order !== order) return;
    slot.order = undefined;
    const cut = (order.phase === "canceled" && order.cancelClass !== undefined) || order.phase === "absent";
    if (!cut) slot.settledMark = order.mark;
    consider(slot);
  };

  const refuse = (slot: Slot, mark: string, reason: string): void => {
    if (slot.settledMark === mark) return;
    slot.settledMark = mark;
    slot.refused = true;
    journal.append({ type: "order.refused", strategy: slot.strategy, slot: slot.name, reason });
    refusals$.next({ strategy: slot.strategy, slot: slot.name, reason });
  };

  const mayPlace = (wish: WantedOrder | undefined): boolean => mode === "active" || (mode === "reducing" && wish?.reduceOnly === true);

  const marketPxFor = (wish: WantedOrder): string | undefined =>
    wish.px === undefined ? options.marketPx(wish.instId, wish.side) : undefined;

  const rulingOf = (slot: Slot, wish: WantedOrder) =>
    rule({
      wish,
      instruments: options.instruments(),
      contract,
      rules: options.rules,
      marketPx: marketPxFor(wish),
      openOfStrategy: slots.openCount(slot.strategy),
      openInAll: slots.openCount(),
    });

  const consider = (slot: Slot): void => {
    const wish = mode === "halted" ? undefined : slot.wish;
    const view = { wish, order: slot.order, queued: slot.queued !== undefined, settledMark: slot.settledMark, mayPlace: mayPlace(wish) };
    const step = planSlot(view, (next) => specifyWish(next, options.instruments(), contract, marketPxFor(next)));
    switch (step.kind) {
      case "place":
        queuePlacement(slot);
        return;
      case "unqueue":
        slot.queued?.unsubscribe();
        slot.queued = undefined;
        return;
      case "keep-cancel-off":
        if (slot.order !== undefined) slot.order.cancelClass = undefined;
        return;
      case "cancel":
        // A replacement needs ordinary quota for its placement anyway; an order nobody wants is an exit.
        if (slot.order !== undefined) requestCancel(slot.order, step.reason === "replaced" ? "place" : "cancel", step.reason);
        return;
      case "nothing":
        slots.dropIfIdle(slot);
    }
  };

  const cancelable = ({ spec }: TrackedOrder): boolean => contract.profile.capabilities.cancelSpot || instTypeOf(spec.instId) !== "SPOT";

  const requestCancel = (order: TrackedOrder, urgency: ActionClass, reason: string): void => {
    if (isOver(order)) return;
    if (!cancelable(order)) {
      // The service describes no way: asking would cost quota and change nothing. The order stays until it trades.
      if (order.reason !== uncancellable) move(order, order.phase, uncancellable);
      return;
    }
    const more =
      order.cancelClass === undefined ||
      (order.cancelClass !== "emergency" && urgency === "emergency") ||
      (order.cancelClass === "place" && urgency === "cancel");
    if (more) order.cancelClass = urgency;
    order.reason = reason;
    cancels.request(order);
  };

  const queuePlacement = (slot: Slot): void => {
    const wish = slot.wish as WantedOrder;
    const early = rulingOf(slot, wish);
    if (!early.approved) {
      refuse(slot, slots.mark(wish), early.reason);
      return;
    }
    let order: TrackedOrder | undefined;
    // What is sent is decided when the slot opens: the wish as it is then, by the instruments as they are then.
    const late = (): PlaceBody | undefined => {
      slot.queued = undefined;
      const now = slot.wish;
      if (now === undefined || slot.order !== undefined || !mayPlace(now) || slots.mark(now) === slot.settledMark) return undefined;
      const ruling = rulingOf(slot, now);
      if (!ruling.approved) {
        refuse(slot, slots.mark(now), ruling.reason);
        return undefined;
      }
      order = slots.open(slot, now, ruling.spec, clock.now());
      move(order, "sent", "placed");
      return bodyOf(order);
    };
    const kind: ActionClass = wish.reduceOnly === true ? "close" : "place";
    const subscription = gateway.call("placeOrder", late, { class: kind, owner: slot.strategy }).subscribe({
      next: (outcome) => {
        if (order !== undefined) {
          onPlaced(order, outcome);
          return;
        }
        slot.queued = undefined;
        if (outcome.kind === "refused") refuse(slot, slots.mark(wish), outcome.msg);
      },
      error: (error: unknown) => {
        slot.queued = undefined;
        refuse(slot, slots.mark(wish), error instanceof Error ? error.message : String(error));
      },
    });
    if (order === undefined && !subscription.closed) slot.queued = subscription;
  };

  const onPlaced = (order: TrackedOrder, outcome: Outcome<ElementResult>): void => {
    switch (outcome.kind) {
      case "done": {
        const [element] = outcome.records;
        if (element === undefined || (element.sCode === "0" && element.ordId === ""))
          doubt(order, "the answer to the placement cannot be read");
        else if (element.sCode !== "0") end(order, "rejected", `${element.sCode} ${element.sMsg}`.trim());
        else acknowledge(order, element.ordId);
        return;
      }
      case "refused":
        end(order, "rejected", `${outcome.code} ${outcome.msg}`.trim());
        return;
      case "limited":
      case "dropped":
        // It was not executed: the wish is as new as before.
        order.cancelClass ??= "place";
        end(order, "canceled", outcome.kind === "limited" ? "refused by a rate limit" : outcome.reason);
        return;
      case "unknown":
        doubt(order, outcome.message);
    }
  };
  const end = (order: TrackedOrder, phase: OrderPhase, reason: string): void => {
    if (!isOver(order)) move(order, phase, reason);
  };
  const acknowledge = (order: TrackedOrder, ordId: string): void => {
    order.ordId = ordId;
    // The record may have come before the reply.
    if (order.phase === "sent" || order.phase === "unknown") {
      const known = store.find({ ordId });
      if (known !== undefined) onRecord(order, known);
      else move(order, "acked", "accepted");
    }
    const slot = slots.of(order);
    if (slot !== undefined && !isOver(order)) consider(slot);
    expectRecord(order, () => order.record === undefined);
  };

  /** Reads the lists when the record that must follow does not come by itself. */
  const expectRecord = (order: TrackedOrder, stillMissing: () => boolean): void => {
    after(clock, recordMs).subscribe(() => {
      if (isOver(order) || !stillMissing()) return;
      if (order.record === undefined) ask(order);
      else options.onDoubt();
    });
  };
  const ask = (order: TrackedOrder): void => {
    resolver.look(order.clOrdId, order.spec.instId).subscribe((record) => {
      if (record !== undefined && record !== "void") store.merge(record);
      else if (!isOver(order)) pursue(order);
    });
  };
  const doubt = (order: TrackedOrder, reason: string): void => {
    if (isOver(order)) return;
    if (order.record === undefined) move(order, "unknown", reason);
    pursue(order);
  };
  const pursue = (order: TrackedOrder): void => {
    if (pursued.has(order)) return;
    pursued.add(order);
    resolver.pursue({ clOrdId: order.clOrdId, instId: order.spec.instId, sentAt: order.sentAt }, (evidence) => {
      pursued.delete(order);
      if (evidence.kind === "absent") end(order, "absent", "proved not to exist at the service");
      else if (!store.merge(evidence.record)) onRecord(order, evidence.record);
    });
  };

  const onRecord = (order: TrackedOrder, record: OrderRecord): void => {
    const before = order.phase;
    if (!applyRecord(order, record) && before === order.phase) return;
    announce(order);
    if (isOver(order)) return;
    const slot = slots.of(order);
    if (slot !== undefined) consider(slot);
    if (order.cancelClass !== undefined) cancels.request(order);
  };

  const onCancelEnd = (order: TrackedOrder, cancelEnd: CancelEnd): void => {
    if (isOver(order)) return;
    switch (cancelEnd.kind) {
      case "accepted":
        expectRecord(order, () => true);
        return;
      case "gone":
        // Filled or cancelled meanwhile: the record says which.
        rest(order, cancelEnd.msg);
        ask(order);
        return;
      case "open":
      case "refused":
        rest(order, cancelEnd.reason);
        after(clock, repeatMs).subscribe(() => {
          if (!isOver(order) && order.cancelClass !== undefined) cancels.request(order);
        });
    }
  };
  /** Back to what the record says: the cancel did not take. */
  const rest = (order: TrackedOrder, reason: string): void => {
    const phase = order.record?.state ?? "acked";
    if (order.phase !== phase) move(order, phase, reason);
  };

  store.changes$.subscribe(({ record, previous }) => {
    const order = slots.byClientId(record.clOrdId);
    if (order !== undefined) onRecord(order, record);
    else if (previous === undefined && ids.read(record.clOrdId) === undefined) {
      journal.append({ type: "order.foreign", ordId: record.ordId, instId: record.instId });
    }
  });

  return {
    updates$,
    refusals$,
    want: (strategy, wanted) => {
      for (const slot of slots.replace(strategy, wanted)) consider(slot);
    },
    wantOne: (strategy, name, wish) => {
      const slot = slots.put(strategy, name, wish);
      if (slot !== undefined) consider(slot);
    },
    cancel: (orders, urgency) => {
      for (const order of orders) {
        const slot = slots.of(order);
        if (slot !== undefined) slot.settledMark = order.mark;
        if (slot?.wish !== undefined && slot.byHand) slot.wish = undefined;
        requestCancel(order, urgency, "cancelled on demand");
      }
    },
    orders: () => slots.orders(),
    cancelable,
    setMode: (next, reason) => {
      if (mode === next) return;
      mode = next;
      journal.append({ type: "mode.changed", mode, reason });
      for (const slot of slots.all()) consider(slot);
      if (mode === "halted") for (const order of slots.orders()) if (isResting(order)) requestCancel(order, "emergency", reason);
    },
    get mode() {
      return mode;
    },
    reconsider: () => {
      for (const slot of slots.all()) {
        if (slot.refused && slot.order === undefined) slot.settledMark = undefined;
        slot.refused = false;
        consider(slot);
      }
    },
  };
};

const bodyOf = ({ spec, clOrdId }: TrackedOrder): PlaceBody => ({
  instId: spec.instId,
  side: spec.side,
  ordType: spec.ordType,
  sz: spec.sz,
  ...(spec.px === "" ? {} : { px: spec.px }),
  clOrdId,
  ...(spec.reduceOnly ? { reduceOnly: true } : {}),
});
