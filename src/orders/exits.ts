/**
 * Follow-up of orders that ended before their wanted quantity was executed: rests of market orders, and exits that did
 * not take.
 *
 * A service counts what resting reduce-only orders may still reduce, so that a stop sent while the take-profit of the
 * same side is still being canceled is rejected, or cut to what the other leaves. A reduce-only order therefore waits
 * for cancels of its own side, and one that was rejected, cut or canceled by the service is placed again, later each
 * time, until the strategy holds nothing more to reduce or wants something else. Meanwhile `position.unprotected` says
 * so, once, and `position.protected` when it is over. One that rested and was canceled by the watchdog is placed again
 * when the watchdog has finished; one that another client canceled is not.
 *
 * Invariants: a wait ends by itself after `waitMsMax`, whatever becomes of the cancel; an order of unknown outcome is
 * not waited for; one slot still holds one order at a time; an exit that the service forgot is placed again only where
 * the account's position shows that it was not executed.
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
import { both, type Effect, type Effects, evaluate, noEffects, type Run, record } from "./effects.ts";
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
import type { Waits } from "./waits.ts";
import { after, free, type Hold, held } from "./waits.ts";
import { canRest, sameWanted, type WantedOrder } from "./wanted-order.ts";
import { canceledByWatchdog, WatchdogCancels } from "./watchdog-cancels.ts";

interface ExitsOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly gateway: Pick<Gateway, "read">;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly contractValues?: Pick<ContractValues, "isKnown" | "positionsOf"> | undefined;
  readonly yieldMs?: (() => number) | undefined;
}

/** A cancel that has not shown its effect after so long is not waited for any longer. */
const waitMsMax = 5_000;
const firstRetryMs = 250;
const retryMs = 1_000;
const retryMsMax = 60_000;
/**
 * A stop that was triggered is due now, and most reasons for a rejection pass soon: it is tried so often for some
 * minutes.
 */
const dueRetryMsMax = 4_000;
const dueRetries = 60;
const lastingRetryMsMax = 15_000;
/** Exits that are tried again share the quota: together they send one request in this time. */
const sharedRetryMs = 2_000;
/** A watchdog that cancels for longer than this cannot keep an exit from being tried. */
const watchdogMsMax = 60_000;

export class Exits {
  readonly #clock: Clock;
  readonly #profile: Profile;
  readonly #instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly #slots: Slots;
  readonly #limits: ExitLimits;
  readonly #waits: Waits;
  readonly #rules: { readonly profile: Profile; readonly instruments: () => ReadonlyMap<string, InstrumentRecord> };
  readonly #yieldMs: () => number;
  readonly unprotected: UnprotectedPositions;
  readonly watchdog: WatchdogCancels;
  /** Left out where nothing says how the account's positions are counted. */
  readonly #forgotten: ForgottenExits | undefined;

  constructor(
    { clock, contract, gateway, instruments, contractValues, yieldMs }: ExitsOptions,
    slots: Slots,
    limits: ExitLimits,
    waits: Waits,
    run: Run,
  ) {
    this.#clock = clock;
    this.#profile = contract.profile;
    this.#instruments = instruments;
    this.#yieldMs = yieldMs ?? (() => 0);
    this.unprotected = new UnprotectedPositions(limits);
    this.watchdog = new WatchdogCancels(clock);
    this.#slots = slots;
    this.#limits = limits;
    this.#waits = waits;
    if (contractValues !== undefined)
      this.#forgotten = new ForgottenExits({ clock, gateway, contractValues }, slots, limits, run);
    this.#rules = { profile: contract.profile, instruments };
  }

  /**
   * An order has changed. Decides whether its slot places another one where it is closed: call it before the slot is
   * freed. `slot`: its own.
   */
  take(order: Order, executed: Execution, slot: Slot | undefined): Effects {
    const grown = this.grew(order.strategy, order.spec.instId);
    if (slot === undefined) return grown;
    const isInForce = isResting(order) && order.unwanted === undefined;
    const protectedAgain = isInForce ? this.unprotected.end(slot) : noEffects;
    const follow = isEnded(order) ? this.#ended(slot, order, executed) : noEffects;
    return grown.length + protectedAgain.length + follow.length === 0
      ? noEffects
      : [...grown, ...protectedAgain, ...follow];
  }

  /** The slot's order was ended by the service. */
  #ended(slot: Slot, order: Order, executed: Execution): Effects {
    const isWhole = order.qty === executed.filled && !order.spec.reduceOnly;
    const left: Remainder = isWhole ? { kind: "none" } : this.#remainder(order, executed);
    const vanished = left.kind === "exit" ? this.#vanished(slot, order, left) : undefined;
    if (vanished !== undefined) return vanished;
    if (left.kind === "rest" || ((left.kind === "exit" || left.kind === "early") && isFollowed(slot)))
      return this.#follow(slot, order, left, executed);
    this.#drop(slot);
    if (left.kind !== "differs") return noEffects;
    const { strategy, slot: name, spec, clOrdId, qty } = order;
    const { instId } = spec;
    const { filled: filledQty } = executed;
    const { reason } = left;
    return [record({ type: "order.inexact", strategy, slot: name, instId, clOrdId, qty, filledQty, reason })];
  }

  /** An exit that was canceled from outside, or lost by the service; undefined for one that is placed again anyway. */
  #vanished(slot: Slot, order: Order, left: Extract<Remainder, { kind: "exit" }>): Effects | undefined {
    const isResting = canRest(order.spec.ordType);
    const ending = endingOf(order);
    const isCanceled = ending === "canceled" && isResting;
    if (!isCanceled && ending !== "lost") return undefined;
    const cause = isResting && isFollowed(slot) ? this.watchdog.causeOf(order) : "others";
    if (isCanceled && cause !== "others") return this.#placeAfterWatchdog(slot, order, left.qty, cause);
    if (isCanceled && this.#mayLackCover(order)) return undefined;
    this.#drop(slot);
    const reason = ending === "lost" ? lostWords : canceledElsewhere;
    const told = this.unprotected.begin(slot, order.wanted as WantedOrder, left.uncovered, reason);
    // Another client canceled one that rested, unless the watchdog did.
    const isOurs = !isCanceled && (!isResting || cause === "watchdog");
    return isOurs ? both(told, this.#awaitPosition(slot, order, left.qty)) : told;
  }

  /** Whether the slot may not place this yet; it is evaluated again as soon as it may. */
  hold(slot: Slot, wanted: WantedOrder): Hold {
    if (slot.rest === undefined && wanted.reduceOnly !== true) return free;
    if (slot.rest !== undefined && !sameWanted(slot.rest.wanted, wanted)) this.#drop(slot);
    const renewal = slot.rest?.kind === "exit" ? this.#renew(slot, wanted, slot.rest) : free;
    if (renewal.isHeld || wanted.reduceOnly !== true) return renewal;
    return after(renewal, this.#holdExit(slot, wanted));
  }

  #holdExit(slot: Slot, wanted: WantedOrder): Hold {
    const yields = this.#yield(slot, wanted);
    if (yields.isHeld) return yields;
    const own = slot.reserved ? slot.strategy : undefined;
    if (slot.isLate || !this.#limits.isLeaving(wanted.instId, wanted.side, own)) {
      this.#waits.delete("cancels", slot);
      return this.#lack(slot, wanted);
    }
    return this.#waitOnce("cancels", slot, wanted, waitMsMax) ?? this.#lack(slot, wanted);
  }

  /** The slot waits for so long at most; undefined once it has. */
  #waitOnce(cause: "cancels" | "other process", slot: Slot, wanted: WantedOrder, ms: number): Hold | undefined {
    const now = this.#clock.now();
    const known = this.#waits.get(cause, slot);
    if (known !== undefined && sameWanted(known.wanted, wanted)) {
      if (now < known.until) return held;
      if (cause === "cancels") this.#waits.delete(cause, slot);
      return undefined;
    }
    return { isHeld: true, effects: [this.#wake(slot, this.#waits.set(cause, slot, now + ms, wanted).until)] };
  }

  /** The wanted order with the quantity that is left of it. */
  remaining({ rest }: Slot, wanted: WantedOrder): WantedOrder {
    if (rest === undefined || rest.qty === "" || !sameWanted(rest.wanted, wanted)) return wanted;
    const { notional: _notional, sz: _sz, ...sizeless } = wanted;
    return { ...sizeless, qty: rest.qty };
  }

  /** An order is closed and its slot was evaluated: exits that waited for it may go on. */
  release(order: Order): Effects {
    const { instId, reduceOnly } = order.spec;
    const own = this.#slots.of(order);
    const effects: Effect[] = [];
    if (own !== undefined && own.rest === undefined && endingOf(order) === "filled")
      effects.push(...this.unprotected.end(own));
    if (reduceOnly || order.wanted === undefined) {
      for (const slot of this.#waits.of("cancels")) if (slot.order === undefined) effects.push(evaluate(slot));
    }
    const waiting = this.#waits.of("rest");
    if (waiting.length === 0) return effects;
    // One that changed nothing at the service makes no room for others: two of them would hasten each other without
    // end.
    const hasChanged = !isVain(order, filledOf(order, this.#rules));
    for (const slot of waiting) {
      const { rest } = slot;
      if ((!hasChanged && rest?.lacksRoom !== true) || rest?.awaits === "watchdog") continue;
      // What lacked room knows at once whether there is some now; what the service rejected has to ask.
      const soon = this.#clock.now() + (rest?.lacksRoom === true ? 0 : retryMs);
      const isDue = rest === undefined || rest.at === Number.POSITIVE_INFINITY || soon >= rest.at;
      if (!isDue && slot !== own && slot.wanted?.instId === instId) effects.push(this.#retryAt(slot, rest, soon));
    }
    return effects;
  }

  /** What kept exits back may be over: those that lacked room look again now, and those that wait for the watchdog. */
  hasten(): Effects {
    return this.#waits.of("rest").flatMap((slot) => {
      const { rest } = slot;
      if (rest?.awaits === "watchdog" && slot.order === undefined) return this.#askWatchdog(slot, rest);
      return rest?.lacksRoom === true ? [this.#retryAt(slot, rest, this.#clock.now())] : noEffects;
    });
  }

  /** An exit was refused here, or is held back, before it was sent. */
  refused(slot: Slot, wanted: WantedOrder, reason: string): Effects {
    if (wanted.reduceOnly !== true) return noEffects;
    const qty = this.#limits.held(slot.strategy, wanted.instId, wanted.side);
    return isPositive(qty) ? this.unprotected.begin(slot, wanted, qty, reason) : noEffects;
  }

  /** The slot wants nothing any more. */
  forget(slot: Slot): Effects {
    this.#drop(slot);
    return this.unprotected.forget(slot);
  }

  #drop(slot: Slot): void {
    slot.rest = undefined;
    this.#waits.delete("rest", slot);
  }

  /** What is left of the slot's wanted order; it waits. */
  #keep(slot: Slot, rest: Rest): void {
    slot.rest = rest;
    this.#waits.set("rest", slot);
  }

  #retryAt(slot: Slot, rest: Rest, at: number): Effect {
    rest.at = at;
    return this.#wake(slot, at);
  }

  #wake(slot: Slot, at: number): Effect {
    const isWaiting = (): boolean =>
      this.#waits.get("cancels", slot) !== undefined ||
      this.#waits.get("other process", slot) !== undefined ||
      (slot.rest !== undefined && slot.order === undefined);
    return { kind: "schedule", at, due: () => (isWaiting() ? [evaluate(slot)] : noEffects) };
  }

  /** Wait after `vain` orders in a row without an execution. */
  #pauseMs({ reserved, wanted }: Slot, vain: number): number {
    if (vain <= 1) return firstRetryMs;
    const dueMs = vain <= dueRetries ? dueRetryMsMax : lastingRetryMsMax;
    const sharedMs = Math.max(dueMs, sharedRetryMs * this.#waits.count("rest"));
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

  #follow(slot: Slot, order: Order, left: Extract<Remainder, { qty: string }>, { filled }: Execution): Effects {
    const { kind, qty } = left;
    const now = this.#clock.now();
    const reason = wordsOf(order);
    const ending = endingOf(order);
    const before = slot.rest !== undefined && sameWanted(slot.rest.wanted, order.serves) ? slot.rest.vain : 0;
    const vain = kind === "early" || isPositive(filled) ? 0 : before + 1;
    const at = kind === "rest" ? now : kind === "early" ? Number.POSITIVE_INFINITY : now + this.#pauseMs(slot, vain);
    const endsWithEntry = kind === "early" && ending !== "rejected";
    const isDoubtful = ending === "canceled" && canRest(order.spec.ordType);
    const wanted = order.serves;
    if (kind === "rest") {
      slot.rest = { wanted, kind, qty, at, vain, endsWithEntry, isDoubtful, reason };
      return noEffects;
    }
    this.#keep(slot, { wanted, kind: "exit", qty, at, vain, endsWithEntry, isDoubtful, reason });
    return kind === "exit" ? [this.#wake(slot, at)] : noEffects;
  }

  /** An exit that the service lost is placed again once the account's position shows that it executed nothing. */
  #awaitPosition(slot: Slot, order: Order, qty: string): Effects {
    const forgotten = this.#forgotten;
    // An account has no position of a spot product.
    if (instTypeOf(order.spec.instId) === "SPOT" || !isFollowed(slot) || forgotten === undefined) return noEffects;
    const at = Number.POSITIVE_INFINITY;
    const rest: Rest = {
      wanted: order.serves,
      kind: "exit",
      qty,
      at,
      vain: 0,
      awaits: "position",
      reason: lostWords,
    };
    this.#keep(slot, rest);
    const onHeld = (): Effects => {
      const now = this.#clock.now();
      slot.rest = { ...rest, at: now, awaits: undefined };
      return [this.#wake(slot, now)];
    };
    return [{ kind: "ask", ask: () => forgotten.watch(order.spec, () => slot.rest === rest, onHeld) }];
  }

  /**
   * Places a resting exit that was canceled from outside again, once the watchdog has finished, unless others canceled
   * it.
   */
  #placeAfterWatchdog(slot: Slot, order: Order, qty: string, cause: "watchdog" | "not known"): Effects {
    const isAwaited = this.watchdog.state !== "finished";
    const at = this.#clock.now() + (isAwaited ? watchdogMsMax : firstRetryMs);
    const awaits = isAwaited ? "watchdog" : undefined;
    this.#keep(slot, { wanted: order.serves, kind: "exit", qty, at, vain: 0, awaits, reason: canceledByWatchdog });
    const wake = [this.#wake(slot, at)];
    if (cause !== "watchdog") return wake;
    return both(wake, this.refused(slot, order.wanted as WantedOrder, canceledByWatchdog));
  }

  #askWatchdog(slot: Slot, rest: Rest): Effects {
    const { state } = this.watchdog;
    if (state === "doubtful") return noEffects;
    const told =
      state !== "quiet" && slot.wanted !== undefined ? this.refused(slot, slot.wanted, canceledByWatchdog) : noEffects;
    if (state === "canceling") return told;
    const at = this.#clock.now();
    slot.rest = { ...rest, at, awaits: undefined, isDoubtful: state === "quiet" };
    return [...told, this.#wake(slot, at)];
  }

  /** What holds an exit back, for all that is known here: to ask the service would cost a request. */
  #lackOf({ strategy, byHand, reserved }: Slot, { instId, side }: WantedOrder): Lack | undefined {
    const instrument = this.#instruments().get(instId);
    // What is placed by hand is refused instead: its answer is waited for.
    return instrument === undefined || (byHand && !reserved)
      ? undefined
      : lackOf(this.#limits.of(strategy, instId, side), instrument);
  }

  /**
   * Another process may send the same exit: where the flag does not keep the two within what the strategy holds, that
   * one goes first.
   */
  #yield(slot: Slot, wanted: WantedOrder): Hold {
    const ms = this.#yieldMs();
    if (ms !== 0 && !this.#limits.isBounded(slot.strategy, wanted.instId, wanted.side))
      return this.#waitOnce("other process", slot, wanted, ms) ?? free;
    this.#waits.delete("other process", slot);
    return free;
  }

  /** Nothing can be reduced yet, for all that is known here: to ask the service would cost a request. */
  #lack(slot: Slot, wanted: WantedOrder): Hold {
    const lack = this.#lackOf(slot, wanted);
    if (lack === undefined) return free;
    const { qty = "", vain: before = 0 } = slot.rest ?? {};
    const { reason } = lack;
    const lacksRoom = lack.of === "room";
    const vain = lacksRoom ? before + 1 : 0;
    const at = lacksRoom ? this.#clock.now() + this.#pauseMs(slot, vain) : Number.POSITIVE_INFINITY;
    this.#keep(slot, { wanted, kind: "exit", qty, at, vain, lacksRoom, reason });
    return { isHeld: true, effects: lacksRoom ? [this.#wake(slot, at)] : this.refused(slot, wanted, reason) };
  }

  /**
   * What is held or under way of a product has changed: exits that wait for something to reduce leave as soon as there
   * is.
   */
  grew(strategy: string, instId: string): Effects {
    const waiting = this.#waits.of("rest");
    if (waiting.length === 0) return noEffects;
    return waiting.flatMap((slot) => {
      const { rest, wanted } = slot;
      if (rest?.at !== Number.POSITIVE_INFINITY || rest.awaits === "position" || wanted?.instId !== instId)
        return noEffects;
      const isDue =
        rest.qty === ""
          ? this.#lackOf(slot, wanted) === undefined
          : slot.strategy === strategy && this.#isDue(slot, rest, wanted);
      return isDue ? [this.#retryAt(slot, rest, this.#clock.now())] : noEffects;
    });
  }

  /** The coins that exits of a spot product sell were read. */
  covered(instId: string): Effects {
    return this.#waits
      .of("rest")
      .flatMap((slot) =>
        slot.rest?.lacksRoom === true && slot.wanted?.instId === instId
          ? [this.#retryAt(slot, slot.rest, this.#clock.now())]
          : noEffects,
      );
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

  /** Holds an exit until it is due, and then while nothing is left to reduce. */
  #renew(slot: Slot, wanted: WantedOrder, rest: Rest): Hold {
    if (this.#clock.now() < rest.at) return held;
    const reducible = this.#limits.held(slot.strategy, wanted.instId, wanted.side);
    if (!isPositive(reducible)) return rest.qty === "" && rest.vain === 0 ? free : this.#giveUp(slot, wanted, rest);
    const uncovered = rest.qty === "" || compare(reducible, rest.qty) < 0 ? reducible : rest.qty;
    // The fills of the others are known by now: with cover it was not the service that canceled it.
    if (rest.isDoubtful === true && compare(this.#limits.net(wanted.instId, wanted.side), uncovered) >= 0) {
      slot.settled = rest.wanted;
      this.#drop(slot);
      return { isHeld: true, effects: this.unprotected.begin(slot, wanted, uncovered, canceledElsewhere) };
    }
    if (rest.vain === 0) return free;
    return { isHeld: false, effects: this.unprotected.begin(slot, wanted, uncovered, rest.reason) };
  }

  /** Nothing is left to reduce: waits for what entries may still bring, or settles the wanted order. */
  #giveUp(slot: Slot, wanted: WantedOrder, rest: Rest): Hold {
    if (this.#limits.mayGrow(slot.strategy, wanted.instId, wanted.side))
      slot.rest = { ...rest, at: Number.POSITIVE_INFINITY, vain: 0, endsWithEntry: true };
    else {
      slot.settled = rest.wanted;
      this.#drop(slot);
    }
    return { isHeld: true, effects: this.unprotected.end(slot) };
  }
}

const lostWords = "the service forgot it";

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
