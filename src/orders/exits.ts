/**
 * Follow-up of orders that ended before their wanted quantity was executed: rests of market orders, and exits that did not take.
 *
 * A service counts what resting reduce-only orders may still reduce, so that a stop sent while the take-profit of the same side is
 * still being canceled is rejected, or cut to what the other leaves. A reduce-only order therefore waits for cancels of its own side,
 * and one that was rejected, cut or canceled by the service is placed again, later each time, until the strategy holds nothing more
 * to reduce or wants something else. Meanwhile `position.unprotected` says so, once, and `position.protected` when it is over. One that
 * rested and was canceled by the watchdog is placed again when the watchdog has finished; one that another client canceled is not.
 *
 * Invariants: a wait ends by itself after `waitMsMax`, whatever becomes of the cancel; an order of unknown outcome is not waited
 * for; one slot still holds one order at a time; an exit that the service forgot is placed again only where the account's position
 * shows that it was not executed.
 * Not here: how much is left (remainder.ts), sending (placement.ts), what a position shows (forgotten-exits.ts), who
 * canceled an order (watchdog-cancels.ts).
 */
import type { Gateway } from "../client/gateway.ts";
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import type { Profile } from "../contract/profile.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { compare, isPositive } from "../decimal.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ExitLimits } from "./exit-limits.ts";
import { type Lack, lackOf } from "./exit-size.ts";
import { ForgottenExits } from "./forgotten-exits.ts";
import { endingOf, isCutByUs, isResting, type Order } from "./order-state.ts";
import { canceledElsewhere, type Remainder, remainderOf, wordsOf } from "./remainder.ts";
import { type Execution, filledOf } from "./risk/exposure-entry.ts";
import type { Rest, Slot } from "./slot.ts";
import type { Slots } from "./slots.ts";
import type { ContractValues } from "./state/account-positions.ts";
import { UnprotectedPositions } from "./unprotected-positions.ts";
import { canRest, sameWanted, type WantedOrder } from "./wanted-order.ts";
import { canceledByWatchdog, WatchdogCancels } from "./watchdog-cancels.ts";

interface ExitsOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly gateway: Pick<Gateway, "read">;
  readonly journal: EventLog;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly contractValues?: Pick<ContractValues, "isKnown" | "positionsOf"> | undefined;
  readonly yieldMs?: (() => number) | undefined;
}

interface ExitsOwner {
  consider(slot: Slot): void;
}

/** A cancel that has not shown its effect after so long is not waited for any longer. */
const waitMsMax = 5_000;
const firstRetryMs = 250;
const retryMs = 1_000;
const retryMsMax = 60_000;
/** A stop that was triggered is due now, and most reasons for a rejection pass soon: it is tried so often for some minutes. */
const dueRetryMsMax = 4_000;
const dueRetries = 60;
const lastingRetryMsMax = 15_000;
/** Exits that are tried again share the quota: together they send one request in this time. */
const sharedRetryMs = 2_000;
/** A watchdog that cancels for longer than this cannot keep an exit from being tried. */
const watchdogMsMax = 60_000;

interface Wait {
  readonly wanted: WantedOrder;
  readonly since: number;
}

interface Yield {
  readonly wanted: WantedOrder;
  readonly until: number;
}

export class Exits {
  readonly #clock: Clock;
  readonly #profile: Profile;
  readonly #journal: EventLog;
  readonly #instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly #slots: Slots;
  readonly #limits: ExitLimits;
  readonly #owner: ExitsOwner;
  readonly #rules: { readonly profile: Profile; readonly instruments: () => ReadonlyMap<string, InstrumentRecord> };
  readonly #yieldMs: () => number;
  readonly #waits = new Map<Slot, Wait>();
  /** Exits that let another process go first. */
  readonly #yields = new WeakMap<Slot, Yield>();
  readonly waits: { readonly size: number } = this.#waits;
  /** Slots whose exit is to be placed again. */
  readonly #retries = new Set<Slot>();
  readonly retried: { readonly size: number } = this.#retries;
  readonly unprotected: UnprotectedPositions;
  readonly watchdog: WatchdogCancels;
  /** Left out where nothing says how the account's positions are counted. */
  readonly #forgotten: ForgottenExits | undefined;

  constructor(
    { clock, contract, gateway, journal, instruments, contractValues, yieldMs }: ExitsOptions,
    slots: Slots,
    limits: ExitLimits,
    owner: ExitsOwner,
  ) {
    this.#clock = clock;
    this.#profile = contract.profile;
    this.#journal = journal;
    this.#instruments = instruments;
    this.#yieldMs = yieldMs ?? (() => 0);
    this.unprotected = new UnprotectedPositions(journal, limits);
    this.watchdog = new WatchdogCancels(clock);
    this.#slots = slots;
    this.#limits = limits;
    this.#owner = owner;
    if (contractValues !== undefined)
      this.#forgotten = new ForgottenExits({ clock, gateway, contractValues }, slots, limits);
    this.#rules = { profile: contract.profile, instruments };
  }

  /** An order is over, or changed while exits wait. Returns true where its slot places another one: call it before the slot is considered. */
  take(order: Order, executed: Execution, isOver: boolean): boolean {
    if (this.#retries.size > 0) this.grew(order.strategy, order.spec.instId);
    if (!isOver && this.unprotected.count === 0) return false;
    const slot = this.#slots.of(order);
    if (slot?.order !== order) return false;
    if (isResting(order) && order.unwanted === undefined) this.unprotected.end(slot);
    return isOver && isEnded(order) && this.#ended(slot, order, executed);
  }

  /** The slot's order was ended by the service. Returns true where another one follows. */
  #ended(slot: Slot, order: Order, executed: Execution): boolean {
    const isWhole = order.qty === executed.filled && !order.spec.reduceOnly;
    const left: Remainder = isWhole ? { kind: "none" } : this.#remainder(order, executed);
    if (left.kind === "exit" && this.#hasVanished(slot, order, left)) return slot.rest !== undefined;
    if (left.kind === "rest" || ((left.kind === "exit" || left.kind === "early") && isFollowed(slot))) {
      this.#follow(slot, order, left, executed);
      return true;
    }
    if (slot.rest !== undefined) this.#drop(slot);
    if (left.kind !== "differs") return false;
    const { strategy, slot: name, spec, clOrdId, qty } = order;
    const told = {
      strategy,
      slot: name,
      instId: spec.instId,
      clOrdId,
      qty,
      filledQty: executed.filled,
      reason: left.reason,
    };
    this.#journal.append({ type: "order.inexact", ...told });
    return false;
  }

  /** Handles an exit that was canceled from outside or forgotten by the service. Returns false for one that is placed again anyway. */
  #hasVanished(slot: Slot, order: Order, left: Extract<Remainder, { kind: "exit" }>): boolean {
    const isResting = canRest(order.spec.ordType);
    const ending = endingOf(order);
    const isCanceled = ending === "canceled" && isResting;
    if (!isCanceled && ending !== "lost") return false;
    const cause = isResting && isFollowed(slot) ? this.watchdog.causeOf(order) : "others";
    if (isCanceled && cause !== "others") {
      this.#placeAfterWatchdog(slot, order, left.qty, cause);
      return true;
    }
    if (isCanceled && this.#mayLackCover(order)) return false;
    this.#drop(slot);
    const reason = ending === "lost" ? forgottenWords : canceledElsewhere;
    this.unprotected.begin(slot, order.wanted as WantedOrder, left.uncovered, reason);
    // Another client canceled one that rested, unless the watchdog did.
    if (!isCanceled && (!isResting || cause === "watchdog")) this.#lookForPosition(slot, order, left.qty);
    return true;
  }

  /** The slot may not place this yet; it is considered again as soon as it may. */
  holds(slot: Slot, wanted: WantedOrder): boolean {
    if (slot.rest === undefined && wanted.reduceOnly !== true) return false;
    const now = this.#clock.now();
    if (slot.rest !== undefined && !sameWanted(slot.rest.wanted, wanted)) this.#drop(slot);
    if (slot.rest?.kind === "exit" && (now < slot.rest.at || !this.#renew(slot, wanted, slot.rest))) return true;
    if (wanted.reduceOnly !== true) return false;
    if (this.#isYielding(slot, wanted)) return true;
    const isFree =
      slot.isLate || !this.#limits.isLeaving(wanted.instId, wanted.side, slot.reserved ? slot.strategy : undefined);
    if (isFree) {
      this.#waits.delete(slot);
      return this.#lacks(slot, wanted);
    }
    const known = this.#waits.get(slot);
    const isKnown = known !== undefined && sameWanted(known.wanted, wanted);
    const since = isKnown ? known.since : now;
    if (now - since >= waitMsMax) {
      this.#waits.delete(slot);
      return this.#lacks(slot, wanted);
    }
    if (!isKnown) {
      this.#waits.set(slot, { wanted, since });
      this.#wakeAt(slot, since + waitMsMax);
    }
    return true;
  }

  /** The wanted order with the quantity that is left of it. */
  remaining({ rest }: Slot, wanted: WantedOrder): WantedOrder {
    if (rest === undefined || rest.qty === "" || !sameWanted(rest.wanted, wanted)) return wanted;
    const { notional: _notional, sz: _sz, ...sizeless } = wanted;
    return { ...sizeless, qty: rest.qty };
  }

  /** An order is over and its slot was considered: what waited for it may go on. */
  release(order: Order): void {
    const { instId, reduceOnly } = order.spec;
    const own = this.#slots.of(order);
    if (this.unprotected.count > 0 && own?.rest === undefined && endingOf(order) === "filled" && own !== undefined)
      this.unprotected.end(own);
    if (this.#waits.size > 0 && (reduceOnly || order.wanted === undefined)) {
      for (const slot of [...this.#waits.keys()]) if (slot.order === undefined) this.#owner.consider(slot);
    }
    // One that changed nothing at the service makes no room for others: two of them would hasten each other without end.
    const hasChanged = !isVain(order, filledOf(order, this.#rules));
    for (const slot of this.#retries) {
      const { rest } = slot;
      if ((!hasChanged && rest?.lacksRoom !== true) || rest?.awaits === "watchdog") continue;
      // What lacked room knows at once whether there is some now; what the service rejected has to ask.
      const soon = this.#clock.now() + (rest?.lacksRoom === true ? 0 : retryMs);
      const isDue = rest === undefined || rest.at === Number.POSITIVE_INFINITY || soon >= rest.at;
      if (isDue || slot === own || slot.wanted?.instId !== instId) continue;
      rest.at = soon;
      this.#wakeAt(slot, soon);
    }
  }

  /** What kept exits back may be over: those that lacked room look again now, and those that wait for the watchdog. */
  hasten(): void {
    for (const slot of this.#retries) {
      if (slot.rest?.awaits === "watchdog" && slot.order === undefined) this.#askWatchdog(slot, slot.rest);
      if (slot.rest?.lacksRoom !== true) continue;
      slot.rest.at = this.#clock.now();
      this.#wakeAt(slot, slot.rest.at);
    }
  }

  /** An exit was refused here, or is held back, before it was sent. */
  refused(slot: Slot, wanted: WantedOrder, reason: string): void {
    if (wanted.reduceOnly !== true) return;
    const held = this.#limits.held(slot.strategy, wanted.instId, wanted.side);
    if (isPositive(held)) this.unprotected.begin(slot, wanted, held, reason);
  }

  /** The slot wants nothing any more. */
  forget(slot: Slot): void {
    this.#drop(slot);
    this.#waits.delete(slot);
    this.unprotected.forget(slot);
  }

  #drop(slot: Slot): void {
    slot.rest = undefined;
    if (this.#retries.size > 0) this.#retries.delete(slot);
  }

  #wakeAt(slot: Slot, at: number): void {
    this.#clock.setTimer(at, () => {
      if (this.#waits.has(slot) || this.#yields.has(slot) || (slot.rest !== undefined && slot.order === undefined))
        this.#owner.consider(slot);
    });
  }

  /** Wait after `vain` orders in a row without an execution. */
  #pauseMs({ reserved, wanted }: Slot, vain: number): number {
    if (vain <= 1) return firstRetryMs;
    const dueMs = vain <= dueRetries ? dueRetryMsMax : lastingRetryMsMax;
    const sharedMs = Math.max(dueMs, sharedRetryMs * this.#retries.size);
    const msMax = reserved && wanted?.ordType === "market" ? Math.min(sharedMs, retryMsMax) : retryMsMax;
    return Math.min(retryMs * 2 ** (vain - 2), msMax);
  }

  #remainder(order: Order, executed: Execution): Remainder {
    const { instId, side, reduceOnly } = order.spec;
    // Of an order by amount that is no exit nothing is left to follow: its figures are not worked out.
    if (!reduceOnly && order.wanted?.qty === undefined) return { kind: "none" };
    const instrument = executed.instrument ?? this.#instruments().get(instId);
    if (instrument === undefined) return { kind: "none" };
    const inQuote = this.#profile.order.szUnit[instTypeOf(instId)] === "quote_notional";
    const reducible = reduceOnly ? this.#limits.held(order.strategy, instId, side) : "0";
    const mayGrow = reduceOnly && this.#limits.mayGrow(order.strategy, instId, side);
    return remainderOf({ order, filledQty: executed.filled, instrument, inQuote, reducible, mayGrow });
  }

  #follow(slot: Slot, order: Order, { kind, qty }: Extract<Remainder, { qty: string }>, { filled }: Execution): void {
    const now = this.#clock.now();
    const reason = wordsOf(order);
    const ending = endingOf(order);
    const before = slot.rest !== undefined && sameWanted(slot.rest.wanted, order.serves) ? slot.rest.vain : 0;
    const vain = kind === "early" || isPositive(filled) ? 0 : before + 1;
    const at = kind === "rest" ? now : kind === "early" ? Number.POSITIVE_INFINITY : now + this.#pauseMs(slot, vain);
    const endsWithEntry = kind === "early" && ending !== "rejected";
    const isDoubtful = ending === "canceled" && canRest(order.spec.ordType);
    slot.rest = {
      wanted: order.serves,
      kind: kind === "rest" ? "rest" : "exit",
      qty,
      at,
      vain,
      endsWithEntry,
      isDoubtful,
      reason,
    };
    if (kind === "rest") return;
    this.#retries.add(slot);
    if (kind === "exit") this.#wakeAt(slot, at);
  }

  /** Places an exit that the service forgot again, once the account's position shows that it executed nothing. */
  #lookForPosition(slot: Slot, order: Order, qty: string): void {
    // An account has no position of a spot product.
    if (instTypeOf(order.spec.instId) === "SPOT" || !isFollowed(slot)) return;
    if (this.#forgotten === undefined) return;
    const at = Number.POSITIVE_INFINITY;
    const rest: Rest = {
      wanted: order.serves,
      kind: "exit",
      qty,
      at,
      vain: 0,
      awaits: "position",
      reason: forgottenWords,
    };
    slot.rest = rest;
    this.#retries.add(slot);
    const onHeld = (): void => {
      slot.rest = { ...rest, at: this.#clock.now(), awaits: undefined };
      this.#wakeAt(slot, slot.rest.at);
    };
    this.#forgotten.watch(order.spec, () => slot.rest === rest, onHeld);
  }

  /** Places a resting exit that was canceled from outside again, once the watchdog has finished, unless others canceled it. */
  #placeAfterWatchdog(slot: Slot, order: Order, qty: string, cause: "watchdog" | "not known"): void {
    const isAwaited = this.watchdog.state !== "finished";
    const at = this.#clock.now() + (isAwaited ? watchdogMsMax : firstRetryMs);
    const awaits = isAwaited ? "watchdog" : undefined;
    slot.rest = { wanted: order.serves, kind: "exit", qty, at, vain: 0, awaits, reason: canceledByWatchdog };
    this.#retries.add(slot);
    this.#wakeAt(slot, at);
    if (cause === "watchdog") this.refused(slot, order.wanted as WantedOrder, canceledByWatchdog);
  }

  #askWatchdog(slot: Slot, rest: Rest): void {
    const { state } = this.watchdog;
    if (state === "doubtful") return;
    if (state !== "quiet" && slot.wanted !== undefined) this.refused(slot, slot.wanted, canceledByWatchdog);
    if (state === "canceling") return;
    slot.rest = { ...rest, at: this.#clock.now(), awaits: undefined, isDoubtful: state === "quiet" };
    this.#wakeAt(slot, slot.rest.at);
  }

  /** What holds an exit back, for all that is known here: to ask the service would cost a request. */
  #lackOf({ strategy, byHand, reserved }: Slot, { instId, side }: WantedOrder): Lack | undefined {
    const instrument = this.#instruments().get(instId);
    // What is placed by hand is refused instead: its answer is waited for.
    return instrument === undefined || (byHand && !reserved)
      ? undefined
      : lackOf(this.#limits.of(strategy, instId, side), instrument);
  }

  /** Another process may send the same exit: where the flag does not keep the two within what the strategy holds, that one goes first. */
  #isYielding(slot: Slot, wanted: WantedOrder): boolean {
    const ms = this.#yieldMs();
    if (ms === 0 || this.#limits.isBounded(slot.strategy, wanted.instId, wanted.side)) {
      this.#yields.delete(slot);
      return false;
    }
    const now = this.#clock.now();
    const known = this.#yields.get(slot);
    if (known !== undefined && sameWanted(known.wanted, wanted)) return now < known.until;
    this.#yields.set(slot, { wanted, until: now + ms });
    this.#wakeAt(slot, now + ms);
    return true;
  }

  #lacks(slot: Slot, wanted: WantedOrder): boolean {
    const lack = this.#lackOf(slot, wanted);
    if (lack === undefined) return false;
    const { qty = "", vain: before = 0 } = slot.rest ?? {};
    const lacksRoom = lack.of === "room";
    const vain = lacksRoom ? before + 1 : 0;
    const at = lacksRoom ? this.#clock.now() + this.#pauseMs(slot, vain) : Number.POSITIVE_INFINITY;
    slot.rest = { wanted, kind: "exit", qty, at, vain, lacksRoom, reason: lack.reason };
    this.#retries.add(slot);
    if (lacksRoom) this.#wakeAt(slot, at);
    else this.refused(slot, wanted, lack.reason);
    return true;
  }

  /** What is held or under way of a product has changed: exits that wait for something to reduce leave as soon as there is. */
  grew(strategy: string, instId: string): void {
    for (const slot of this.#retries) {
      const { rest, wanted } = slot;
      if (rest?.at !== Number.POSITIVE_INFINITY || rest.awaits === "position" || wanted?.instId !== instId) continue;
      const isDue =
        rest.qty === ""
          ? this.#lackOf(slot, wanted) === undefined
          : slot.strategy === strategy && this.#isDue(slot, rest, wanted);
      if (!isDue) continue;
      rest.at = this.#clock.now();
      this.#wakeAt(slot, rest.at);
    }
  }

  /** The coins that exits of a spot product sell were read. */
  covered(instId: string): void {
    for (const slot of this.#retries) {
      const { rest, wanted } = slot;
      if (rest?.lacksRoom !== true || wanted?.instId !== instId) continue;
      rest.at = this.#clock.now();
      this.#wakeAt(slot, rest.at);
    }
  }

  /** Whether there is something to reduce, or no hope left that there will be. */
  #isDue({ strategy }: Slot, { endsWithEntry }: Rest, { instId, side }: WantedOrder): boolean {
    if (isPositive(this.#limits.held(strategy, instId, side))) return true;
    return endsWithEntry === true && !this.#limits.mayGrow(strategy, instId, side);
  }

  /** Whether the service may have canceled it because other strategies closed what the account had to reduce. */
  #mayLackCover({ terms, strategy }: Order): boolean {
    return !terms.withoutFlag && terms.wanted !== undefined && this.#limits.isShared(strategy, terms.spec.instId);
  }

  /** An exit that is due: of what the strategy holds now. False where nothing is left to reduce. */
  #renew(slot: Slot, wanted: WantedOrder, rest: Rest): boolean {
    const reducible = this.#limits.held(slot.strategy, wanted.instId, wanted.side);
    if (!isPositive(reducible)) {
      if (rest.qty === "" && rest.vain === 0) return true;
      this.unprotected.end(slot);
      if (this.#limits.mayGrow(slot.strategy, wanted.instId, wanted.side)) {
        slot.rest = { ...rest, at: Number.POSITIVE_INFINITY, vain: 0, endsWithEntry: true };
        return false;
      }
      slot.settled = rest.wanted;
      this.#drop(slot);
      return false;
    }
    const uncovered = rest.qty === "" || compare(reducible, rest.qty) < 0 ? reducible : rest.qty;
    // The fills of the others are known by now: with cover it was not the service that canceled it.
    if (rest.isDoubtful === true && compare(this.#limits.net(wanted.instId, wanted.side), uncovered) >= 0) {
      slot.settled = rest.wanted;
      this.#drop(slot);
      this.unprotected.begin(slot, wanted, uncovered, canceledElsewhere);
      return false;
    }
    if (rest.vain > 0) this.unprotected.begin(slot, wanted, uncovered, rest.reason);
    return true;
  }
}

const forgottenWords = "the service forgot it";

/** Returns false for an order that was placed by hand: it is placed once. */
const isFollowed = ({ byHand, reserved }: Slot): boolean => !byHand || reserved;

/** It never rested and executed nothing. */
const isVain = (order: Order, filled: string): boolean => {
  const ending = endingOf(order);
  return !isPositive(filled) && (ending === "rejected" || (ending === "canceled" && !canRest(order.spec.ordType)));
};

/** Ended by the service, not by a cancel of ours and not for want of an answer. */
const isEnded = (order: Order): boolean => {
  const ending = endingOf(order);
  return (
    ending === "filled" || ending === "rejected" || ending === "lost" || (ending === "canceled" && !isCutByUs(order))
  );
};
