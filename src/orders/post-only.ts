/**
 * Post-only orders that would take: left out by their own word until the market has moved, and, while quota is scarce,
 * slowed down where the service rejects one after the other.
 *
 * Invariants: what waits for the market is considered again with the next quote and once a second; a slot waits for at
 * most `slowMsMax` at a time; an accepted order ends the slowness of its slot; each series of rejections is reported at
 * most once; exits, and orders with `cross: "touch"` or `"skip"`, are never slowed down here.
 * Not here: the price of an order that moves to the touch (wanted-order.ts), rejected exits (exits.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { isDecimal, read } from "../decimal-value.ts";
import { type Effect, type Effects, evaluate, noEffects, record } from "./effects.ts";
import { endingOf, type Order } from "./order-state.ts";
import type { Slot } from "./slot.ts";
import type { Slots } from "./slots.ts";
import type { Waits } from "./waits.ts";
import { free, type Hold, held } from "./waits.ts";
import { onTick, takes, type WantedOrder } from "./wanted-order.ts";

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

interface PostOnlyOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly marketPx: (instId: string, side: "buy" | "sell") => string | undefined;
  /** Returns whether slots pause after rejections now. */
  readonly pauses: () => boolean;
}

/** So many in a row are a mishap of a fast market; from the next on it is the strategy's way. */
const freeRejections = 2;
const slowMs = 500;
const slowMsMax = 30_000;
const lookMs = 1_000;
/** Slots remembered as slow; more than a strategy has at a time are names that it does not use again. */
const seriesMax = 10_000;

interface Series {
  readonly order: Order;
  readonly count: number;
  /** Number of pauses in a row, each twice as long as the one before. */
  readonly pauses: number;
  /** No placement before this instant. */
  readonly until: number;
  armed: boolean;
}

export class PostOnlyOrders {
  readonly #options: PostOnlyOptions;
  readonly #slots: Slots;
  readonly #waits: Waits;
  /** Instruments whose waiting slots are looked at again by a timer. */
  readonly #looks = new Set<string>();
  /**
   * Rejections in a row, by strategy and slot: a slot that was withdrawn and is wanted again continues its series.
   */
  readonly #series = new Map<string, Series>();

  constructor(options: PostOnlyOptions, slots: Slots, waits: Waits) {
    this.#options = options;
    this.#slots = slots;
    this.#waits = waits;
  }

  /** An order has changed. */
  take(order: Order): Effects {
    const { spec, state } = order;
    if (spec.ordType !== "post_only" || spec.reduceOnly) return noEffects;
    if (endingOf(order) === "rejected") return this.#rejected(order);
    const isTaken = state.kind !== "notExecuted" && state.kind !== "submitted" && state.kind !== "unknown";
    if (isTaken && this.#series.size > 0) this.#series.delete(keyOf(order));
    return noEffects;
  }

  /** Returns whether the slot may not place this yet; it is evaluated again when it may. */
  hold(slot: Slot, wanted: WantedOrder): Hold {
    if (wanted.ordType !== "post_only") return free;
    return isSentAsIs(wanted) ? this.#slow(slot) : this.#crossing(slot, wanted);
  }

  /** A quote of the instrument has come. */
  quoted(instId: string): Effects {
    const waiting = this.#waits.of("quote");
    if (waiting.length === 0) return noEffects;
    const effects: Effect[] = [];
    for (const slot of waiting) {
      if (this.#waits.get("quote", slot)?.wanted?.instId !== instId) continue;
      this.#waits.delete("quote", slot);
      if (slot.wanted !== undefined) effects.push(evaluate(slot));
    }
    return effects;
  }

  #rejected(order: Order): Effects {
    const { clock, contract } = this.#options;
    if (!order.reason.startsWith(contract.profile.answers.postOnlyCode) || this.#slots.of(order)?.byHand === true)
      return noEffects;
    if (!isSentAsIs(order.wanted)) return noEffects;
    const key = keyOf(order);
    const known = this.#series.get(key);
    const count = (known?.count ?? 0) + 1;
    const isPaused = count > freeRejections && this.#options.pauses();
    const pauses = (known?.pauses ?? 0) + (isPaused ? 1 : 0);
    const waitMs = isPaused ? Math.min(slowMsMax, slowMs * 2 ** (pauses - 1)) : 0;
    this.#series.delete(key);
    this.#series.set(key, { order, count, pauses, until: clock.now() + waitMs, armed: false });
    if (this.#series.size > seriesMax) this.#series.delete(this.#series.keys().next().value as string);
    if (!isPaused || pauses !== 1) return noEffects;
    const { strategy, slot, spec, reason } = order;
    return [record({ type: "order.slowed", strategy, slot, instId: spec.instId, rejections: count, reason })];
  }

  /** Holds a slot whose orders were rejected one after the other. */
  #slow(slot: Slot): Hold {
    if (slot.byHand || this.#series.size === 0) return free;
    const series = this.#series.get(keyOf({ strategy: slot.strategy, slot: slot.name }));
    if (series === undefined || this.#options.clock.now() >= series.until || !this.#options.pauses()) return free;
    if (series.armed) return held;
    series.armed = true;
    const due = (): Effects => {
      const known = this.#slots.of(series.order);
      return known === undefined ? noEffects : [evaluate(known)];
    };
    return { isHeld: true, effects: [{ kind: "schedule", at: series.until, due }] };
  }

  /** Holds an order that would take, or of which that is not known. */
  #crossing(slot: Slot, wanted: WantedOrder): Hold {
    const { cross, instId, side, px } = wanted;
    const instrument = this.#options.instruments().get(instId);
    // What cannot be placed at all is refused in other words.
    if (instrument === undefined || !isDecimal(px)) return free;
    const best = this.#options.marketPx(instId, side);
    const isHeld =
      best === undefined ||
      (cross === "skip" && takes(side, onTick(side, read(px), read(instrument.tickSize)), read(best)));
    if (!isHeld) return free;
    this.#waits.set("quote", slot, Number.POSITIVE_INFINITY, wanted);
    return { isHeld: true, effects: this.#lookAgain(instId) };
  }

  /** Bars and trades move the last price without a quote. */
  #lookAgain(instId: string): Effects {
    if (this.#looks.has(instId)) return noEffects;
    this.#looks.add(instId);
    const due = (): Effects => {
      this.#looks.delete(instId);
      return this.quoted(instId);
    };
    return [{ kind: "schedule", at: this.#options.clock.now() + lookMs, due }];
  }
}

/** The order is sent although it may take. */
const isSentAsIs = (wanted: WantedOrder | undefined): boolean =>
  wanted?.cross === undefined || wanted.cross === "reject";

const keyOf = ({ strategy, slot }: Pick<Order, "strategy" | "slot">): string => `${strategy}\n${slot}`;
