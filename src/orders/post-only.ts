/**
 * Post-only orders that would take: those with `cross: "skip"` are left out until the market has moved. While quota is
 * scarce, a slot whose orders are rejected one after the other is slowed down.
 *
 * Invariants: a slot that waits for the market is evaluated with the next quote and once a second; a slot waits for at
 * most `slowMsMax` at a time; an accepted order ends the slowness of its slot; each series of rejections is reported at
 * most once; exits, and orders with `cross: "touch"` or `"skip"`, are never slowed down here.
 * Not here: the price of an order that moves to the touch (wanted-order.ts), rejected exits (exits.ts).
 */
import { isDecimal, read } from "../decimal-value.ts";
import { type Effect, type Effects, evaluate, noEffects, record } from "./effects.ts";
import { endingOf, type Order } from "./order-state.ts";
import type { Slot } from "./slot.ts";
import { free, type Hold, held } from "./waits.ts";
import { onTick, takes, type WantedOrder } from "./wanted-order.ts";
import type { World } from "./world.ts";

/**
 * Condition under which a slot pauses after three post-only rejections in a row, for half a second up to 30: `scarce`
 * while a minute window of the user or the address has less than a tenth of its capacity left after the reserve,
 * `always`, or `never`.
 */
export type PostOnlyPause = "scarce" | "always" | "never";

export interface PostOnlyRules {
  /** Condition of pauses after three post-only rejections in a row. Default `scarce`: while quota is scarce. */
  readonly postOnlyPause?: PostOnlyPause;
}

/**
 * Number of rejections in a row that cause no pause, because a fast market explains them. More in a row are due to the
 * strategy.
 */
const freeRejections = 2;
const slowMs = 500;
const slowMsMax = 30_000;
const lookMs = 1_000;
/**
 * Maximum number of slots remembered as slow. If there are more, the strategy uses new slot names all the time and does
 * not reuse them.
 */
const seriesMax = 10_000;

/** Called when an order has changed. */
export const followPostOnly = (state: World, order: Order): Effects => {
  const { spec, state: standing } = order;
  if (spec.ordType !== "post_only" || spec.reduceOnly) return noEffects;
  if (endingOf(order) === "rejected") return followRejection(state, order);
  const { series } = state.postOnly;
  const isTaken = standing.kind !== "notExecuted" && standing.kind !== "submitted" && standing.kind !== "unknown";
  if (isTaken && series.size > 0) series.delete(keyOf(order));
  return noEffects;
};

const followRejection = (state: World, order: Order): Effects => {
  const { contract, pauses: mayPause } = state.options;
  const { series } = state.postOnly;
  if (!order.reason.startsWith(contract.profile.answers.postOnlyCode) || state.slots.of(order)?.byHand === true)
    return noEffects;
  if (!isSentAsIs(order.wanted)) return noEffects;
  const key = keyOf(order);
  const known = series.get(key);
  const count = (known?.count ?? 0) + 1;
  const isPaused = count > freeRejections && mayPause();
  const pauses = (known?.pauses ?? 0) + (isPaused ? 1 : 0);
  const waitMs = isPaused ? Math.min(slowMsMax, slowMs * 2 ** (pauses - 1)) : 0;
  series.delete(key);
  series.set(key, { order, count, pauses, until: state.now + waitMs, armed: false });
  if (series.size > seriesMax) series.delete(series.keys().next().value as string);
  if (!isPaused || pauses !== 1) return noEffects;
  const { strategy, slot, spec, reason } = order;
  return [record({ type: "order.slowed", strategy, slot, instId: spec.instId, rejections: count, reason })];
};

/** Returns whether the slot has to wait before it places this order. It is evaluated again when the wait is over. */
export const holdPostOnly = (state: World, slot: Slot, wanted: WantedOrder): Hold => {
  if (wanted.ordType !== "post_only") return free;
  return isSentAsIs(wanted) ? holdSlow(state, slot) : holdCrossing(state, slot, wanted);
};

/** Holds a slot whose orders were rejected one after the other. */
const holdSlow = (state: World, slot: Slot): Hold => {
  const { postOnly, slots, options } = state;
  if (slot.byHand || postOnly.series.size === 0) return free;
  const series = postOnly.series.get(keyOf({ strategy: slot.strategy, slot: slot.name }));
  if (series === undefined || state.now >= series.until || !options.pauses()) return free;
  if (series.armed) return held;
  series.armed = true;
  const due = (): Effects => {
    const known = slots.of(series.order);
    return known === undefined ? noEffects : [evaluate(known)];
  };
  return { isHeld: true, effects: [{ kind: "schedule", at: series.until, due }] };
};

/** Holds an order that would take, or whose price cannot be compared with the market yet. */
const holdCrossing = (state: World, slot: Slot, wanted: WantedOrder): Hold => {
  const { cross, instId, side, px } = wanted;
  const instrument = state.options.instruments().get(instId);
  // An order that cannot be placed at all is refused elsewhere, with its own reason.
  if (instrument === undefined || !isDecimal(px)) return free;
  const best = state.options.marketPx(instId, side);
  const isHeld =
    best === undefined ||
    (cross === "skip" && takes(side, onTick(side, read(px), read(instrument.tickSize)), read(best)));
  if (!isHeld) return free;
  state.waits.set("quote", slot, Number.POSITIVE_INFINITY, wanted);
  return { isHeld: true, effects: lookAgain(state, instId) };
};

/** Evaluates the slots from time to time, because bars and trades move the last price without a quote. */
const lookAgain = (state: World, instId: string): Effects => {
  const { looks } = state.postOnly;
  if (looks.has(instId)) return noEffects;
  looks.add(instId);
  const due = (): Effects => {
    looks.delete(instId);
    return releaseQuoted(state, instId);
  };
  return [{ kind: "schedule", at: state.now + lookMs, due }];
};

/** Called when a quote of the instrument arrived. Slots that waited for it are evaluated. */
export const releaseQuoted = ({ waits }: World, instId: string): Effects => {
  if (waits.count("quote") === 0) return noEffects;
  const effects: Effect[] = [];
  for (const slot of waits.of("quote")) {
    if (waits.get("quote", slot)?.wanted?.instId !== instId) continue;
    waits.delete("quote", slot);
    if (slot.wanted !== undefined) effects.push(evaluate(slot));
  }
  return effects;
};

/** Returns true if the order is sent although it may take. */
const isSentAsIs = (wanted: WantedOrder | undefined): boolean =>
  wanted?.cross === undefined || wanted.cross === "reject";

const keyOf = ({ strategy, slot }: Pick<Order, "strategy" | "slot">): string => `${strategy}\n${slot}`;
