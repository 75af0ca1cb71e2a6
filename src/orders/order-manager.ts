/**
 * Order manager: keeps the service in agreement with the wanted orders of all strategies.
 *
 * Invariants: one order per slot; a wanted order that is replaced while it waits is never sent; an order of unknown outcome keeps its
 * slot and its exposure until there is evidence; orders of previous runs are adopted by their slots.
 * Not here: the next step of a slot (apply-step.ts), what may be sent (risk/pre-trade-checks.ts, refusals.ts), sending (placement.ts,
 * cancellation.ts), responses and records (reconciliation.ts, unknown-orders.ts), publication (order-lifecycle.ts), limits (risk/).
 */
import type { Observable } from "rxjs";
import type { Gateway } from "../client/gateway.ts";
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { InstrumentRecord, OrderRecord } from "../contract/schemas.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ActionClass } from "../journal/events.ts";
import { applyStep } from "./apply-step.ts";
import { createCancellation } from "./cancellation.ts";
import { createClientOrderIds, generations } from "./client-order-id.ts";
import { createWeighing } from "./conflation.ts";
import { createExits } from "./exits.ts";
import { createOrderLifecycle, type OrderLifecycle } from "./order-lifecycle.ts";
import { createOrderResolver } from "./order-resolver.ts";
import { createPlacement } from "./placement.ts";
import { createReconciliation } from "./reconciliation.ts";
import { createRefusals, type Refusal } from "./refusals.ts";
import { type Traded, tradedBy } from "./risk/exposure-entry.ts";
import { createOrderThrottle } from "./risk/order-throttle.ts";
import { type RuleSet, type Ruling, rule, specifyWish } from "./risk/pre-trade-checks.ts";
import { createRiskManager, type RiskManager } from "./risk/risk-manager.ts";
import { haltOf, type Mode, mayPlace, modeOf, type TradingModes, wishWithin } from "./risk/trading-mode.ts";
import { createSlots, type Slot, type Slots } from "./slots.ts";
import type { OrderStore } from "./state/order-store.ts";
import { isResting, type TrackedOrder } from "./tracked-order.ts";
import { createUnknownOrders } from "./unknown-orders.ts";
import { type OrderSpec, type Specified, type WantedOrder, wishMark } from "./wanted-order.ts";

export type { Mode } from "./risk/trading-mode.ts";

interface OrderManagerOptions {
  readonly clock: Clock;
  /** The service's calendar, at the earliest, by which records are stamped; undefined while its answers have not told. */
  readonly serviceNow?: () => number | undefined;
  readonly contract: Contract;
  readonly gateway: Gateway;
  readonly journal: EventLog;
  readonly store: OrderStore;
  readonly instance: string;
  readonly rules: RuleSet;
  /** Why no order at all may be sent now, in words; undefined when orders may. */
  readonly refused?: () => string | undefined;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  /** Price a market order would meet, if a quote is known. */
  readonly marketPx: (instId: string, side: "buy" | "sell") => string | undefined;
  readonly onOpenOrders: (count: number) => void;
  /** The record of an accepted change has not shown up: the lists should be read, unless it has by then. */
  readonly onDoubt: (needed: () => boolean) => void;
  /** A wish names a product that is not listed: the list may be old. At most once a minute. */
  readonly onUnknownInstrument?: (instId: string) => void;
  /** All strategies together have lost more than they may. By default this desk halts. */
  readonly onLoss?: (reason: string) => void;
}

export interface OrderManager {
  /** Replaces everything `strategy` wants, except orders it placed by hand. */
  want(strategy: string, wanted: readonly WantedOrder[]): void;
  /** `want` where it asks for nothing to be done now and so begins nothing; false, with nothing changed, where it asks for more. */
  readonly renew: (strategy: string, wanted: readonly WantedOrder[]) => boolean;
  /** Adds a wish by hand, or withdraws it (undefined). Returns why not when the slot is taken or trading is halted. */
  wantOne(strategy: string, slot: string, wish: WantedOrder | undefined): string | undefined;
  /** Cancels these now. Unless it is an emergency, their wishes are not placed again until they change. */
  cancel(orders: readonly TrackedOrder[], urgency: ActionClass): void;
  orders(): readonly TrackedOrder[];
  /** False where the service describes no way to cancel. */
  cancelable(order: TrackedOrder): boolean;
  setMode(mode: Mode, reason: string): void;
  readonly mode: Mode;
  /** Of one strategy: halted cancels everything of it, reducing withdraws and refuses what does not reduce. */
  setStrategyMode(strategy: string, mode: Mode, reason: string): void;
  /** What holds for a strategy: its own mode or that of all, whichever is stricter. */
  modeOf(strategy: string): Mode;
  readonly updates$: Observable<TrackedOrder>;
  readonly refusals$: Observable<Refusal>;
  /** An earlier life sent this order for `strategy`, and nothing is known of it: it counts as open until there is evidence. */
  recall(clOrdId: string, spec: OrderSpec, sentAt: number, strategy: string): void;
  /** What earlier lives hold, and of whom it was decided then what is to become of their losses. */
  readonly inherit: RiskManager["inherit"];
  /** The account's position was closed at about this price, by no order of ours; where none is known it goes on being counted. */
  readonly closed: (instId: string, px: string | undefined) => void;
  /** Whose wish an order that is not over is; empty where nobody knows. */
  readonly ownerOf: (clOrdId: string) => string;
  /** What an order did to position and money, by its record. */
  readonly tradedBy: (record: OrderRecord) => Traded | undefined;
  /** Instruments changed: what was refused for them may pass now. */
  reconsider(): void;
  /** Why a placement that was decided a moment ago may not leave any more, in words. */
  barred(clOrdId: string): string | undefined;
}

/** An id's generation counts half seconds of the calendar at least: quota allows no life to place faster for longer than a burst. */
const generationMs = 500;

type Parts = ReturnType<typeof assemble>;

/** The parts, each knowing of the others what it needs; `consider` closes the circle. */
const assemble = (options: OrderManagerOptions, modes: TradingModes, risk: RiskManager) => {
  const { clock, contract, gateway, journal, store, serviceNow } = options;
  const ids = createClientOrderIds(options.instance);
  const slots = createSlots(ids, Math.floor(clock.wallNow() / generationMs) % generations);
  const consider = (slot: Slot): void => {
    applyStep(parts, modes, slot);
  };
  const specify = (wish: WantedOrder): Specified => specifyWish(wish, options.instruments(), contract, marketPxFor(options, wish));
  const weigh = createWeighing(slots, (slot) => wishWithin(modes, slot.strategy, slot.wish), specify);
  const lifecycle: OrderLifecycle = createOrderLifecycle({
    journal,
    slots,
    onOpenOrders: options.onOpenOrders,
    onFree: consider,
    onOver: (order) => {
      unknownOrders.settle(order);
      for (let tried = 0; tried < risk.retries; tried++) refusals.retryCrowded();
      exits.release(order);
    },
  });
  const exits = createExits({ clock, contract, journal, slots, exposure: risk.exposure, instruments: options.instruments, consider });
  // Before anybody else hears of a change: what is decided because of it must count it.
  lifecycle.updates$.subscribe((order) => {
    risk.take(order);
    exits.take(order);
  });
  const unknownOrders = createUnknownOrders({
    clock,
    store,
    resolver: createOrderResolver({ clock, gateway, journal, profile: contract.profile, serviceNow }),
    lifecycle: () => lifecycle,
    onEvidence: (order) => {
      reconciliation.take(order);
    },
    onDoubt: options.onDoubt,
  });
  const cancellation = createCancellation({ clock, contract, gateway, lifecycle: () => lifecycle, unknownOrders, weigh });
  const dropSpare = (slot: Slot): void => {
    dropSpareOf(slot, lifecycle);
  };
  const refusals = createRefusals({
    clock,
    journal,
    instruments: options.instruments,
    onUnknownInstrument: options.onUnknownInstrument,
    dropSpare,
    consider,
    onRefused: exits.refused,
  });
  const placement = createPlacement({
    clock,
    contract,
    gateway,
    slots,
    lifecycle: () => lifecycle,
    unknownOrders,
    mayPlace: (slot, wish) => mayPlace(modes.mode, wish) && !exits.holds(slot, wish),
    refuse: refusals.refuse,
    ruling: (slot, wish) => risk.steady(slot, wish, rulingOf(options, slots, risk, slot, exits.remaining(slot, wish))),
    onAccepted: (order, ordId) => {
      reconciliation.accept(order, ordId);
    },
  });
  const { unqueue } = placement;
  const isHalted = (): boolean => modes.mode === "halted";
  const known = { clock, contract, journal, store, ids, slots, lifecycle, unknownOrders, cancellation, weigh, consider, unqueue, isHalted };
  const onOpenOrders = (count: number): void => {
    // Orders found at the service are counted before they have a home, and told of only then.
    for (const order of slots.orders()) risk.take(order);
    options.onOpenOrders(count);
  };
  const reconciliation = createReconciliation({ ...known, serviceNow, onOpenOrders, onOwner: risk.owned, recount: risk.take });
  const { admit } = createOrderThrottle(clock, options.rules.changesPerSecond, consider);
  const parts = { slots, lifecycle, cancellation, refusals, exits, placement, reconciliation, specify, consider, dropSpare, admit };
  return parts;
};

const marketPxFor = ({ marketPx }: OrderManagerOptions, { px, ordType, instId, side }: WantedOrder): string | undefined =>
  px === undefined || ordType === "market" ? marketPx(instId, side) : undefined;

const rulingOf = (options: OrderManagerOptions, slots: Slots, risk: RiskManager, slot: Slot, wish: WantedOrder): Ruling =>
  rule({
    wish,
    instruments: options.instruments(),
    contract: options.contract,
    rules: options.rules,
    refused: options.refused?.(),
    marketPx: marketPxFor(options, wish),
    openOfStrategy: slots.openCount(slot.strategy),
    openInAll: slots.openCount(),
    risk: risk.view(slot, wish),
  });

/** An order that a rate limit turned away will not be sent after all. */
const dropSpareOf = (slot: Slot, lifecycle: OrderLifecycle): void => {
  const { spare } = slot;
  slot.spare = undefined;
  if (spare !== undefined) lifecycle.transition(spare, "canceled", "withdrawn before it was executed");
};

/** Changes what may be traded: the desk's own doing and, for a strategy, what its losses ask for. */
const modesOf = ({ journal }: OrderManagerOptions, modes: TradingModes, parts: () => Parts) => {
  const apply = (mode: Mode, reason: string, strategy?: string): void => {
    const { slots, cancellation, consider } = parts();
    const isMeant = (one: { readonly strategy: string }): boolean => strategy === undefined || one.strategy === strategy;
    if (mode === "halted") {
      for (const order of slots.orders()) if (isMeant(order) && isResting(order)) cancellation.request(order, "emergency", reason);
    }
    for (const slot of slots.all()) if (isMeant(slot)) consider(slot);
  };
  return {
    setMode: (mode: Mode, reason: string): void => {
      if (mode === modes.mode) return;
      modes.mode = mode;
      modes.reason = reason;
      journal.append({ type: "mode.changed", mode, reason });
      apply(mode, reason);
    },
    setStrategyMode: (strategy: string, mode: Mode, reason: string): void => {
      if (mode === (modes.own.get(strategy) ?? "active")) return;
      if (mode === "active") modes.own.delete(strategy);
      else modes.own.set(strategy, mode);
      journal.append({ type: `strategy.${mode === "active" ? "resumed" : mode}`, strategy, reason });
      apply(mode, reason, strategy);
    },
  };
};

export const createOrderManager = (options: OrderManagerOptions): OrderManager => {
  const modes: TradingModes = { mode: "active", reason: "", own: new Map() };
  const { setMode, setStrategyMode } = modesOf(options, modes, () => parts);
  const risk = createRiskManager(options, {
    strategy: (name, reason) => {
      if (modeOf(modes, name) === "active") setStrategyMode(name, "reducing", reason);
    },
    all: options.onLoss ?? ((reason) => setMode("halted", reason)),
  });
  const parts = assemble(options, modes, risk);
  const { slots, lifecycle, cancellation, refusals, reconciliation, admit } = parts;

  return {
    updates$: lifecycle.updates$,
    refusals$: refusals.refusals$,
    renew: slots.renew,
    want: (strategy, wanted) => {
      if (slots.renew(strategy, wanted)) return;
      const changed = slots.replace(strategy, wanted);
      reconciliation.settleIn();
      for (const slot of changed) admit(slot);
    },
    wantOne: (strategy, name, wish) => {
      // Somebody waits for an answer now; an order of the moment must not go off when a halt ends.
      const halted = wish === undefined ? undefined : haltOf(modes, strategy);
      if (halted !== undefined) return halted;
      const slot = slots.put(strategy, name, wish);
      if (typeof slot === "string") return slot;
      reconciliation.settleIn();
      if (slot !== undefined) admit(slot);
      return undefined;
    },
    cancel: (orders, urgency) => {
      for (const order of orders) {
        const slot = slots.of(order);
        if (slot !== undefined && urgency !== "emergency") slot.settledMark = slot.wish === undefined ? order.mark : wishMark(slot.wish);
        if (slot?.wish !== undefined && slot.byHand) slot.wish = undefined;
        cancellation.request(order, urgency, "canceled on demand");
      }
    },
    orders: slots.orders,
    cancelable: cancellation.cancelable,
    setMode,
    setStrategyMode,
    modeOf: (strategy) => modeOf(modes, strategy),
    get mode() {
      return modes.mode;
    },
    recall: reconciliation.recall,
    inherit: risk.inherit,
    closed: (instId, px) => {
      if (px !== undefined) risk.exposure.close(instId, px);
    },
    ownerOf: (clOrdId) => slots.byClientId(clOrdId)?.strategy ?? "",
    tradedBy: (record) => tradedBy(record, { profile: options.contract.profile, instruments: options.instruments }),
    reconsider: () => {
      for (const slot of slots.all()) refusals.retry(slot);
    },
    barred: (clOrdId) => {
      const { strategy = "", wish } = slots.byClientId(clOrdId) ?? {};
      const mode = modeOf(modes, strategy);
      return mayPlace(mode, wish) ? options.refused?.() : `trading is ${mode}`;
    },
  };
};
