/**
 * Follow-up of orders that ended before their wanted quantity was executed: rests of market orders, and exits that did not take.
 *
 * A service counts what resting reduce-only orders may still reduce, so that a stop sent while the take-profit of the same side is
 * still being canceled is rejected, or cut to what the other leaves. A reduce-only order therefore waits for cancels of its own side,
 * and one that was rejected, cut or canceled by the service is placed again, later each time, until the strategy holds nothing more
 * to reduce or wants something else. Meanwhile `position.unprotected` says so, once, and `position.protected` when it is over.
 *
 * Invariants: a wait ends by itself after `waitMsMax`, whatever becomes of the cancel; an order of unknown outcome is not waited
 * for; one slot still holds one order at a time.
 * Not here: how much is left (remainder.ts), sending (placement.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { compare, isPositive, neg } from "../decimal.ts";
import type { EventLog } from "../journal/event-log.ts";
import { type Remainder, remainderOf } from "./remainder.ts";
import type { Exposure } from "./risk/exposure.ts";
import { filledOf } from "./risk/exposure-entry.ts";
import type { Rest, Slot, Slots } from "./slots.ts";
import { isOver, isResting, type TrackedOrder } from "./tracked-order.ts";
import { canRest, type WantedOrder, wishMark } from "./wanted-order.ts";

export interface Exits {
  /** An order changed. Of one that is over this decides whether its slot places another one; call it before the slot is considered. */
  readonly take: (order: TrackedOrder) => void;
  /** An order is over and its slot was considered: what waited for it may go on. */
  readonly release: (order: TrackedOrder) => void;
  /** The slot may not place this yet; it is considered again as soon as it may. */
  readonly holds: (slot: Slot, wish: WantedOrder) => boolean;
  /** The wanted order with the quantity that is left of it. */
  readonly remaining: (slot: Slot, wish: WantedOrder) => WantedOrder;
  /** An exit was refused here, before it was sent. */
  readonly refused: (slot: Slot, wish: WantedOrder, reason: string) => void;
  /** The slot wants nothing any more. */
  readonly forget: (slot: Slot) => void;
}

interface ExitsOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly journal: EventLog;
  readonly slots: Slots;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  /** What each strategy holds by its own fills. */
  readonly exposure: Pick<Exposure, "holding">;
  readonly consider: (slot: Slot) => void;
}

/** A cancel that has not shown its effect after so long is not waited for any longer. */
const waitMsMax = 5_000;
const firstRetryMs = 250;
const retryMs = 1_000;
const retryMsMax = 60_000;

interface Wait {
  readonly mark: string;
  readonly since: number;
}

export const createExits = (options: ExitsOptions): Exits => {
  const { clock, contract, journal, slots, instruments, exposure, consider } = options;
  const rules = { profile: contract.profile, instruments };
  const waits = new Map<Slot, Wait>();
  const retries = new Set<Slot>();
  const unprotected = new Set<Slot>();

  const reducibleBy = (strategy: string, instId: string, side: "buy" | "sell"): string => {
    const { position } = exposure.holding(instId, strategy);
    const against = side === "sell" ? position : neg(position);
    return isPositive(against) ? against : "0";
  };
  const wakeAt = (slot: Slot, at: number): void => {
    clock.setTimer(at, () => {
      if (waits.has(slot) || (slot.rest !== undefined && slot.order === undefined)) consider(slot);
    });
  };
  const tellProtected = (slot: Slot, instId: string): void => {
    if (!unprotected.delete(slot)) return;
    journal.append({ type: "position.protected", strategy: slot.strategy, slot: slot.name, instId });
  };
  const tellUnprotected = (slot: Slot, { instId, side }: WantedOrder, qty: string, reason: string): void => {
    if (unprotected.has(slot)) return;
    unprotected.add(slot);
    journal.append({ type: "position.unprotected", strategy: slot.strategy, slot: slot.name, instId, side, qty, reason });
  };
  /** It was accepted and is in no list any more: executed or not, nobody knows, and it is not placed again. */
  const isForgotten = ({ phase, ordId }: TrackedOrder): boolean => phase === "absent" && ordId !== "";
  const drop = (slot: Slot): void => {
    slot.rest = undefined;
    retries.delete(slot);
  };

  const remainder = (order: TrackedOrder): Remainder => {
    const { instId, side, reduceOnly } = order.spec;
    const instrument = instruments().get(instId);
    // Of an order by amount that is no exit nothing is left to follow: its figures are not worked out.
    if (instrument === undefined || (!reduceOnly && order.wish?.qty === undefined)) return { kind: "none" };
    const inQuote = contract.profile.order.szUnit[instTypeOf(instId)] === "quote_notional";
    return remainderOf({
      order,
      filledQty: filledOf(order, rules),
      instrument,
      inQuote,
      reducible: reduceOnly ? reducibleBy(order.strategy, instId, side) : "0",
    });
  };
  /** Ended by the service, not by a cancel of ours and not for want of an answer. */
  const isEnded = (order: TrackedOrder): boolean =>
    order.phase === "filled" ||
    order.phase === "rejected" ||
    isForgotten(order) ||
    (order.phase === "canceled" && order.cancelClass === undefined && !order.cancelSent && !order.mayBeCut);

  const follow = (slot: Slot, order: TrackedOrder, { kind, qty }: Extract<Remainder, { kind: "rest" | "exit" | "early" }>): void => {
    const { mark, reason } = order;
    const before = slot.rest?.mark === mark ? slot.rest.vain : 0;
    const vain = kind === "early" || isPositive(filledOf(order, rules)) ? 0 : before + 1;
    const waitMs = vain <= 1 ? firstRetryMs : Math.min(retryMs * 2 ** (vain - 2), retryMsMax);
    const at = kind === "rest" ? clock.now() : kind === "early" ? Number.POSITIVE_INFINITY : clock.now() + waitMs;
    slot.rest = { mark, kind: kind === "rest" ? "rest" : "exit", qty, at, vain, reason };
    order.goesOn = true;
    if (kind === "rest") return;
    retries.add(slot);
    if (kind === "exit") wakeAt(slot, at);
  };
  /** Exits that came before their entry leave now that there is something to reduce. */
  const followEntry = ({ strategy, spec: { instId } }: TrackedOrder): void => {
    for (const slot of retries) {
      const { rest, wish } = slot;
      if (rest?.at !== Number.POSITIVE_INFINITY || slot.strategy !== strategy || wish?.instId !== instId) continue;
      if (!isPositive(reducibleBy(strategy, instId, wish.side))) continue;
      rest.at = clock.now();
      wakeAt(slot, rest.at);
    }
  };

  /** Whether an order of the same side is on its way out and still counts at the service. */
  const isLeaving = (order: TrackedOrder): boolean => {
    if (isOver(order) || order.phase === "unknown" || order.denials > 0) return false;
    const slot = slots.of(order);
    return order.cancelClass === "cancel" || order.cancelClass === "emergency" || slot?.wish === undefined || slot.order !== order;
  };
  const waitsForCancel = ({ instId, side }: WantedOrder): boolean =>
    slots.orders().some((order) => {
      const { spec, slot, wish } = order;
      // A record does not say whether an order found at the service only reduces: it may.
      const mayReduce = spec.reduceOnly || wish === undefined;
      return mayReduce && spec.instId === instId && spec.side === side && slot !== "" && isLeaving(order);
    });

  /** An exit that is due: of what the strategy holds now. False where nothing is left to reduce. */
  const renew = (slot: Slot, wish: WantedOrder, rest: Rest): boolean => {
    const reducible = reducibleBy(slot.strategy, wish.instId, wish.side);
    if (!isPositive(reducible)) {
      slot.settledMark = rest.mark;
      drop(slot);
      tellProtected(slot, wish.instId);
      return false;
    }
    if (rest.vain > 0) tellUnprotected(slot, wish, compare(reducible, rest.qty) < 0 ? reducible : rest.qty, rest.reason);
    return true;
  };

  return {
    take: (order) => {
      if (retries.size > 0 && !order.spec.reduceOnly) followEntry(order);
      const slot = slots.of(order);
      if (slot === undefined || slot.order !== order) return;
      if (isResting(order)) tellProtected(slot, order.spec.instId);
      if (!isEnded(order)) return;
      const left = remainder(order);
      if (left.kind === "exit" && (isForgotten(order) || (order.phase === "canceled" && canRest(order.spec.ordType)))) {
        drop(slot);
        const reason = isForgotten(order) ? "the service forgot it" : "canceled by another client or by the service";
        tellUnprotected(slot, order.wish as WantedOrder, left.uncovered, reason);
        return;
      }
      if (left.kind === "rest" || ((left.kind === "exit" || left.kind === "early") && !slot.byHand)) {
        follow(slot, order, left);
        return;
      }
      drop(slot);
      if (left.kind !== "differs") return;
      const { strategy, slot: name, spec, clOrdId, qty } = order;
      const told = { strategy, slot: name, instId: spec.instId, clOrdId, qty, filledQty: filledOf(order, rules), reason: left.reason };
      journal.append({ type: "order.inexact", ...told });
    },
    holds: (slot, wish) => {
      const { rest } = slot;
      const mark = wishMark(wish);
      if (rest !== undefined && rest.mark !== mark) drop(slot);
      if (slot.rest !== undefined && slot.rest.kind === "exit") {
        if (clock.now() < slot.rest.at) return true;
        if (!renew(slot, wish, slot.rest)) return true;
      }
      if (wish.reduceOnly !== true) return false;
      if (!waitsForCancel(wish)) {
        waits.delete(slot);
        return false;
      }
      const known = waits.get(slot);
      const since = known?.mark === mark ? known.since : clock.now();
      if (clock.now() - since >= waitMsMax) {
        waits.delete(slot);
        return false;
      }
      if (known?.mark !== mark) {
        waits.set(slot, { mark, since });
        wakeAt(slot, since + waitMsMax);
      }
      return true;
    },
    remaining: (slot, wish) => {
      const { rest } = slot;
      if (rest === undefined || rest.mark !== wishMark(wish)) return wish;
      const { notional: _notional, sz: _sz, ...sizeless } = wish;
      return { ...sizeless, qty: rest.qty };
    },
    release: (order) => {
      const { instId, reduceOnly } = order.spec;
      const own = slots.of(order);
      if (own !== undefined && own.rest === undefined && order.phase === "filled") tellProtected(own, instId);
      if (reduceOnly || order.wish === undefined) for (const slot of [...waits.keys()]) if (slot.order === undefined) consider(slot);
      for (const slot of retries) {
        const { rest } = slot;
        const isDue = rest === undefined || rest.at === Number.POSITIVE_INFINITY || clock.now() + retryMs >= rest.at;
        if (isDue || slot === own || slot.wish?.instId !== instId) continue;
        rest.at = clock.now() + retryMs;
        wakeAt(slot, rest.at);
      }
    },
    forget: (slot) => {
      drop(slot);
      waits.delete(slot);
      unprotected.delete(slot);
    },
    refused: (slot, wish, reason) => {
      if (wish.reduceOnly !== true) return;
      const held = reducibleBy(slot.strategy, wish.instId, wish.side);
      if (isPositive(held)) tellUnprotected(slot, wish, held, reason);
    },
  };
};
