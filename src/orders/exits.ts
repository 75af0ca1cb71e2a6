/**
 * Follow-up orders: rests of market orders, and exits that did not take effect. Decisions as effects.
 *
 * A service counts what resting reduce-only orders may still reduce, so that a stop sent while the take-profit of the
 * same side is still being canceled is rejected, or cut to what the other leaves. A reduce-only order therefore waits
 * for cancels of its own side. One that was rejected, cut or canceled by the service is placed again, later each time,
 * until the strategy holds nothing more to reduce or wants something else. Meanwhile `position.unprotected` is reported
 * once, and `position.protected` when it is over. An exit that rested and was canceled by the watchdog is placed again
 * when the watchdog has finished; one that another client canceled is not.
 *
 * Invariants: a wait ends by itself after `waitMsMax`, also without a result of the cancel; an order of unknown outcome
 * is not waited for; a slot holds one order at a time; an exit that the service lost is placed again only where the
 * account's position shows that it was not executed.
 * Not here: the remaining quantity (follow-up.ts), sending (placement.ts), lost exits (lost-exits.ts), the watchdog
 * (watchdog-cancels.ts).
 */
import { instTypeOf } from "../contract/inst-id.ts";
import { compare, type Decimal, equal, isPositive, min, spell, zero } from "../decimal-value.ts";
import { type Effect, type Effects, evaluate, joined, noEffects, record } from "./effects.ts";
import type { Execution } from "./executions.ts";
import { type Lack, lackOf } from "./exit-size.ts";
import { canceledElsewhere, type FollowUp, noRemainder, type Remainder, reasonOf, remainderOf } from "./follow-up.ts";
import { awaitPosition, lostWords } from "./lost-exits.ts";
import { endingOf, isCutByUs, isResting, type Order } from "./order-state.ts";
import type { Slot } from "./slot.ts";
import { beginUnprotected, endUnprotected } from "./unprotected-positions.ts";
import { after, free, type Hold, held, type WaitCause } from "./waits.ts";
import { canRest, sameWanted, type WantedOrder } from "./wanted-order.ts";
import { canceledByWatchdog, cancelerOf } from "./watchdog-cancels.ts";
import type { World } from "./world.ts";

/** Longest wait for a cancel to show its effect. */
const waitMsMax = 5_000;
const firstRetryMs = 250;
const retryMs = 1_000;
const retryMsMax = 60_000;
/** Longest pause between attempts of a triggered stop, for some minutes: most reasons for a rejection pass soon. */
const dueRetryMsMax = 4_000;
const dueRetries = 60;
const lastingRetryMsMax = 15_000;
/** Exits that are tried again share the quota: all of them together send one request in this time. */
const sharedRetryMs = 2_000;
/** A watchdog that cancels for longer than this no longer delays an exit. */
const watchdogMsMax = 60_000;

/** Called when an order has changed. `slot` is its own slot, which is freed afterwards. */
export const followOrder = (state: World, order: Order, executed: Execution, slot: Slot | undefined): Effects => {
  const grown = exitsGrew(state, order.strategy, order.spec.instId);
  if (slot === undefined) return grown;
  if (isResting(order) && order.unwanted === undefined) return joined(grown, endUnprotected(state, slot));
  return isEnded(order) ? joined(grown, followEnd(state, slot, order, executed)) : grown;
};

/** Returns true if the service ended the order: we did not cancel it, and its answer was not lost. */
const isEnded = (order: Order): boolean => {
  const ending = endingOf(order);
  if (ending === "canceled") return !isCutByUs(order);
  return ending === "filled" || ending === "rejected" || ending === "lost";
};

/** Returns false for an order that was placed by hand, because it is placed only once. */
const isFollowed = ({ byHand, reserved }: Slot): boolean => !byHand || reserved;

const followEnd = (state: World, slot: Slot, order: Order, executed: Execution): Effects => {
  const left = remainderIn(state, order, executed);
  const vanished = left.kind === "exit" ? followVanished(state, slot, order, left) : undefined;
  if (vanished !== undefined) return vanished;
  if (left.kind === "rest" || ((left.kind === "exit" || left.kind === "early") && isFollowed(slot)))
    return placeAgain(state, slot, order, left, executed);
  drop(state, slot);
  if (left.kind !== "differs") return noEffects;
  const { strategy, spec, clOrdId, qty = zero } = order;
  const { reason } = left;
  const amounts = { qty: spell(qty), filledQty: spell(executed.filled) };
  const { instId } = spec;
  return [record({ type: "order.inexact", strategy, slot: slot.name, instId, clOrdId, ...amounts, reason })];
};

const remainderIn = ({ options, exitLimits }: World, order: Order, executed: Execution): Remainder => {
  const { strategy, qty, wanted, spec } = order;
  const { instId, side, reduceOnly } = spec;
  const { filled } = executed;
  if (!reduceOnly && (wanted?.qty === undefined || (qty !== undefined && equal(qty, filled)))) return noRemainder;
  const instrument = executed.instrument ?? options.instruments().get(instId);
  if (instrument === undefined) return noRemainder;
  const inQuote = options.contract.profile.order.szUnit[instTypeOf(instId)] === "quote_notional";
  const reducible = reduceOnly ? exitLimits.held(strategy, instId, side) : zero;
  const mayGrow = reduceOnly && exitLimits.mayGrow(strategy, instId, side);
  return remainderOf({ order, filled, instrument, inQuote, reducible, mayGrow });
};

/**
 * Returns who canceled the exit: the watchdog may have canceled one that rested; other clients sent every other cancel.
 */
const whoCanceled = (state: World, slot: Slot, order: Order): ReturnType<typeof cancelerOf> =>
  canRest(order.spec.ordType) && isFollowed(slot) ? cancelerOf(state.watchdog(), order, state.now) : "others";

/**
 * Decides about an exit that was canceled from outside or lost by the service. Undefined for an exit that is placed
 * again anyway.
 */
const followVanished = (
  state: World,
  slot: Slot,
  order: Order,
  { qty, uncovered }: Extract<Remainder, { readonly kind: "exit" }>,
): Effects | undefined => {
  const rested = canRest(order.spec.ordType);
  const ending = endingOf(order);
  const isLost = ending === "lost";
  const isCanceled = ending === "canceled" && rested;
  if (!isCanceled && !isLost) return undefined;
  const canceler = whoCanceled(state, slot, order);
  if (isCanceled && canceler !== "others") return placeAfterWatchdog(state, slot, order, { qty, canceler });
  const { withoutFlag, wanted } = order.terms;
  const { instId } = order.spec;
  // The service may have canceled the exit because other strategies closed the position that the account could reduce.
  const mayLackCover = !withoutFlag && wanted !== undefined && state.exitLimits.isShared(order.strategy, instId);
  if (isCanceled && mayLackCover) return undefined;
  drop(state, slot);
  const reason = isLost ? lostWords : canceledElsewhere;
  const told = beginUnprotected(slot, wanted as WantedOrder, uncovered, reason);
  const isOver = isCanceled || (rested && canceler !== "watchdog") || !isFollowed(slot);
  return isOver ? told : joined(told, keepForPosition(state, slot, order, qty));
};

/** Keeps an exit that the service lost until the account's position shows whether it executed. */
const keepForPosition = (state: World, slot: Slot, order: Order, qty: Decimal): Effects => {
  const followUp = awaitPosition(state, slot, order, qty);
  if (followUp === undefined) return noEffects;
  keep(state, slot, followUp.rest);
  return followUp.effects;
};

/**
 * Returns whether the slot has to wait before it places its wanted order. It is evaluated again when the wait is over.
 */
export const holdExit = (state: World, slot: Slot, wanted: WantedOrder): Hold => {
  if (slot.followUp === undefined && wanted.reduceOnly !== true) return free;
  if (slot.followUp !== undefined && !sameWanted(slot.followUp.wanted, wanted)) drop(state, slot);
  const renewal = slot.followUp?.kind === "exit" ? renew(state, slot, wanted, slot.followUp) : free;
  if (renewal.isHeld || wanted.reduceOnly !== true) return renewal;
  return after(renewal, holdForOthers(state, slot, wanted));
};

const holdForOthers = (state: World, slot: Slot, wanted: WantedOrder): Hold => {
  const { exitLimits, options, waits } = state;
  const { strategy, reserved, isLate } = slot;
  const { instId, side } = wanted;
  // Another process may send the same exit. It goes first if the flag does not keep the two within the position.
  const yieldMs = options.yieldMs?.() ?? 0;
  const yields = yieldMs > 0 && !exitLimits.isBounded(strategy, instId, side);
  const isLeaving = !isLate && exitLimits.isLeaving(instId, side, reserved ? strategy : undefined);
  if (!yields) waits.delete("other process", slot);
  const yielded = yields ? waitOnce(state, "other process", slot, wanted, yieldMs) : undefined;
  if (yielded !== undefined) return yielded;
  if (!isLeaving) waits.delete("cancels", slot);
  const waiting = isLeaving ? waitOnce(state, "cancels", slot, wanted, waitMsMax) : undefined;
  return waiting ?? holdForPosition(state, slot, wanted);
};

/** Lets the slot wait for at most this long; undefined after it has waited. */
const waitOnce = (
  state: World,
  cause: "cancels" | "other process",
  slot: Slot,
  wanted: WantedOrder,
  ms: number,
): Hold | undefined => {
  const { waits, now } = state;
  const known = waits.get(cause, slot);
  if (known === undefined || !sameWanted(known.wanted, wanted))
    return { isHeld: true, effects: [wake(state, slot, waits.set(cause, slot, now + ms, wanted).until)] };
  if (now < known.until) return held;
  if (cause === "cancels") waits.delete(cause, slot);
  return undefined;
};

/** Holds an exit that cannot reduce anything yet as far as we know, because asking the service would cost a request. */
const holdForPosition = (state: World, slot: Slot, wanted: WantedOrder): Hold => {
  const lack = lackIn(state, slot, wanted);
  if (lack === undefined) return free;
  const { reason } = lack;
  const lacksRoom = lack.of === "room";
  const failures = lacksRoom ? (slot.followUp?.failures ?? 0) + 1 : 0;
  const at = lacksRoom ? state.now + pauseMs(state, slot, failures) : Number.POSITIVE_INFINITY;
  keep(state, slot, { wanted, kind: "exit", qty: slot.followUp?.qty, at, failures, lacksRoom, reason });
  return { isHeld: true, effects: lacksRoom ? [wake(state, slot, at)] : exitRefused(state, slot, wanted, reason) };
};

/**
 * Reason for which an exit is held back. An order placed by hand is refused instead, because its caller waits for an
 * answer.
 */
const lackIn = ({ options, exitLimits }: World, slot: Slot, { instId, side }: WantedOrder): Lack | undefined => {
  const instrument = options.instruments().get(instId);
  if (instrument === undefined || !isFollowed(slot)) return undefined;
  return lackOf(exitLimits.of(slot.strategy, instId, side), instrument);
};

/** Holds an exit until it is due, and then while nothing is left to reduce. */
const renew = (state: World, slot: Slot, wanted: WantedOrder, followUp: FollowUp): Hold => {
  const { at, qty, failures, isDoubtful, reason } = followUp;
  if (state.now < at) return held;
  const { instId, side } = wanted;
  const reducible = state.exitLimits.held(slot.strategy, instId, side);
  if (!isPositive(reducible)) return qty === undefined && failures === 0 ? free : giveUp(state, slot, wanted, followUp);
  const uncovered = min(reducible, qty ?? reducible);
  // The fills of other strategies are known by now. If the account's position covers the exit, the service did not
  // cancel it for lack of a position.
  if (isDoubtful === true && compare(state.exitLimits.net(instId, side), uncovered) >= 0) {
    settle(state, slot, followUp);
    return { isHeld: true, effects: beginUnprotected(slot, wanted, uncovered, canceledElsewhere) };
  }
  if (failures === 0) return free;
  return { isHeld: false, effects: beginUnprotected(slot, wanted, uncovered, reason) };
};

/** Called when nothing is left to reduce. Waits for executions of entries, or settles the wanted order. */
const giveUp = (state: World, slot: Slot, { instId, side }: WantedOrder, followUp: FollowUp): Hold => {
  if (state.exitLimits.mayGrow(slot.strategy, instId, side))
    slot.followUp = { ...followUp, at: Number.POSITIVE_INFINITY, failures: 0, endsWithEntry: true };
  else settle(state, slot, followUp);
  return { isHeld: true, effects: endUnprotected(state, slot) };
};

const settle = (state: World, slot: Slot, { wanted }: FollowUp): void => {
  slot.settled = wanted;
  drop(state, slot);
};

/** The wanted order with its remaining quantity. */
export const remaining = ({ followUp }: Slot, wanted: WantedOrder): WantedOrder => {
  if (followUp?.qty === undefined || !sameWanted(followUp.wanted, wanted)) return wanted;
  const { notional: _notional, sz: _sz, ...sizeless } = wanted;
  return { ...sizeless, qty: spell(followUp.qty) };
};

/** Called when an order is closed and its slot was evaluated. Exits that waited for it may leave. */
export const releaseExits = (state: World, order: Order): Effects => {
  const own = endingOf(order) === "filled" ? state.slots.of(order) : undefined;
  const isDone = own !== undefined && own.followUp === undefined;
  const mayReduce = order.spec.reduceOnly || order.wanted === undefined;
  const released = mayReduce ? releaseWaiting(state) : noEffects;
  return joined(isDone ? endUnprotected(state, own) : noEffects, released, hastenAfter(state, order));
};

const releaseWaiting = ({ waits }: World): Effects => {
  if (waits.count("cancels") === 0) return noEffects;
  return waits
    .of("cancels")
    .filter((slot) => slot.order === undefined)
    .map(evaluate);
};

/** Retries exits that wait, each at the instant that `when` returns for it. */
const retry = (state: World, when: (slot: Slot, followUp: FollowUp) => number | undefined): Effects =>
  state.waits.of("rest").flatMap((slot) => {
    const { followUp } = slot;
    const at = followUp === undefined ? undefined : when(slot, followUp);
    if (followUp === undefined || at === undefined) return noEffects;
    followUp.at = at;
    return [wake(state, slot, at)];
  });

/**
 * Retries exits of the instrument sooner after an order has ended. An order that changed nothing at the service has no
 * effect, because it frees no room and two such orders would trigger each other without end.
 */
const hastenAfter = (state: World, order: Order): Effects => {
  if (state.waits.count("rest") === 0) return noEffects;
  const own = state.slots.of(order);
  const hasChanged = isPositive(state.executed(order).filled) || !isRejectedOrUnmatched(order);
  return retry(state, (slot, { lacksRoom = false, awaits, at }) => {
    if (slot === own || slot.wanted?.instId !== order.spec.instId) return undefined;
    if ((!hasChanged && !lacksRoom) || awaits === "watchdog" || at === Number.POSITIVE_INFINITY) return undefined;
    // We see at once that room is free. After a rejection the service has to be asked.
    const soon = state.now + (lacksRoom ? 0 : retryMs);
    return soon < at ? soon : undefined;
  });
};

/** Returns true if the order was rejected or never rested. */
const isRejectedOrUnmatched = (order: Order): boolean => {
  const ending = endingOf(order);
  return ending === "rejected" || (ending === "canceled" && !canRest(order.spec.ordType));
};

/** Evaluates exits that lacked room and exits that wait for the watchdog, because their reason to wait may be over. */
export const hastenExits = (state: World): Effects =>
  state.waits.of("rest").flatMap((slot) => {
    const { followUp } = slot;
    if (followUp?.awaits === "watchdog" && slot.order === undefined) return askWatchdog(state, slot, followUp);
    if (followUp?.lacksRoom !== true) return noEffects;
    followUp.at = state.now;
    return [wake(state, slot, state.now)];
  });

/** Called when the balance of the coin that exits of a spot product sell was read. */
export const coinsRead = (state: World, instId: string): Effects =>
  retry(state, ({ wanted }, { lacksRoom }) =>
    lacksRoom === true && wanted?.instId === instId ? state.now : undefined,
  );

/** Called when an exit was refused or held back before it was sent. */
export const exitRefused = (state: World, slot: Slot, wanted: WantedOrder, reason: string): Effects => {
  if (wanted.reduceOnly !== true) return noEffects;
  const qty = state.exitLimits.held(slot.strategy, wanted.instId, wanted.side);
  return isPositive(qty) ? beginUnprotected(slot, wanted, qty, reason) : noEffects;
};

/**
 * Called when the slot wants nothing any more. An order that protects a position is withdrawn when no position is left.
 */
export const forgetExit = (state: World, slot: Slot): Effects => {
  drop(state, slot);
  if (slot.reserved) return endUnprotected(state, slot);
  slot.unprotected = undefined;
  return noEffects;
};

/** Called when the position or its open orders have changed. Exits leave as soon as there is something to reduce. */
export const exitsGrew = (state: World, strategy: string, instId: string): Effects =>
  state.waits.count("rest") === 0 ? noEffects : growExits(state, strategy, instId);

const growExits = (state: World, strategy: string, instId: string): Effects =>
  retry(state, (slot, followUp) => {
    const { wanted } = slot;
    if (followUp.at !== Number.POSITIVE_INFINITY || followUp.awaits === "position") return undefined;
    if (wanted?.instId !== instId) return undefined;
    const isDue =
      followUp.qty === undefined
        ? lackIn(state, slot, wanted) === undefined
        : slot.strategy === strategy && isReducible(state, slot, followUp, wanted);
    return isDue ? state.now : undefined;
  });

/** Returns true if there is something to reduce, or if no open order could still create a position. */
const isReducible = (
  { exitLimits }: World,
  { strategy }: Slot,
  { endsWithEntry }: FollowUp,
  { instId, side }: WantedOrder,
): boolean =>
  isPositive(exitLimits.held(strategy, instId, side)) ||
  (endsWithEntry === true && !exitLimits.mayGrow(strategy, instId, side));

const drop = ({ waits }: World, slot: Slot): void => {
  slot.followUp = undefined;
  waits.delete("rest", slot);
};

const keep = ({ waits }: World, slot: Slot, followUp: FollowUp): void => {
  slot.followUp = followUp;
  waits.set("rest", slot);
};

const exitWaits: readonly WaitCause[] = ["cancels", "other process"];

const wake = ({ waits }: World, slot: Slot, at: number): Effect => {
  const isWaiting = (): boolean =>
    exitWaits.some((cause) => waits.get(cause, slot) !== undefined) ||
    (slot.followUp !== undefined && slot.order === undefined);
  return { kind: "schedule", at, due: () => (isWaiting() ? [evaluate(slot)] : noEffects) };
};

/** Pause after this many orders in a row without an execution. */
const pauseMs = ({ waits }: World, { reserved, wanted }: Slot, failures: number): number => {
  if (failures <= 1) return firstRetryMs;
  const dueMs = failures <= dueRetries ? dueRetryMsMax : lastingRetryMsMax;
  const sharedMs = Math.max(dueMs, sharedRetryMs * waits.count("rest"));
  const msMax = reserved && wanted?.ordType === "market" ? Math.min(sharedMs, retryMsMax) : retryMsMax;
  return Math.min(retryMs * 2 ** (failures - 2), msMax);
};

const placeAgain = (
  state: World,
  slot: Slot,
  order: Order,
  { kind, qty }: Extract<Remainder, { readonly qty: unknown }>,
  { filled }: Execution,
): Effects => {
  const { now } = state;
  const ending = endingOf(order);
  const { serves: wanted } = order;
  const before = slot.followUp !== undefined && sameWanted(slot.followUp.wanted, wanted) ? slot.followUp.failures : 0;
  const failures = kind === "early" || isPositive(filled) ? 0 : before + 1;
  const endsWithEntry = kind === "early" && ending !== "rejected";
  const isDoubtful = ending === "canceled" && canRest(order.spec.ordType);
  const common = { wanted, qty, failures, endsWithEntry, isDoubtful, reason: reasonOf(order) };
  if (kind === "rest") {
    slot.followUp = { ...common, kind, at: now };
    return noEffects;
  }
  const at = kind === "early" ? Number.POSITIVE_INFINITY : now + pauseMs(state, slot, failures);
  keep(state, slot, { ...common, kind: "exit", at });
  return kind === "exit" ? [wake(state, slot, at)] : noEffects;
};

/** Places a resting exit again that was canceled from outside, after the watchdog has finished. */
const placeAfterWatchdog = (
  state: World,
  slot: Slot,
  order: Order,
  { qty, canceler }: { readonly qty: FollowUp["qty"]; readonly canceler: "watchdog" | "not known" },
): Effects => {
  const isAwaited = state.watchdog().state !== "finished";
  const at = state.now + (isAwaited ? watchdogMsMax : firstRetryMs);
  const awaits = isAwaited ? "watchdog" : undefined;
  const reason = canceledByWatchdog;
  keep(state, slot, { wanted: order.serves, kind: "exit", qty, at, failures: 0, awaits, reason });
  const told = canceler === "watchdog" ? exitRefused(state, slot, order.wanted as WantedOrder, reason) : noEffects;
  return [wake(state, slot, at), ...told];
};

const askWatchdog = (state: World, slot: Slot, followUp: FollowUp): Effects => {
  const { state: standing } = state.watchdog();
  if (standing === "doubtful") return noEffects;
  const told =
    standing === "quiet" || slot.wanted === undefined
      ? noEffects
      : exitRefused(state, slot, slot.wanted, canceledByWatchdog);
  if (standing === "canceling") return told;
  const at = state.now;
  slot.followUp = { ...followUp, at, awaits: undefined, isDoubtful: standing === "quiet" };
  return [...told, wake(state, slot, at)];
};
