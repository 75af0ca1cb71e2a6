/**
 * Post-only orders that would take: left out by their own word until the market has moved, and, while quota is scarce, slowed down where
 * the service rejects one after the other.
 *
 * Invariants: what waits for the market is considered again with the next quote and once a second; a slot waits for at most `slowMsMax` at a time; an
 * accepted order ends the slowness of its slot; each series of rejections is reported at most once; exits, and orders with
 * `cross: "touch"` or `"skip"`, are never slowed down here.
 * Not here: the price of an order that moves to the touch (wanted-order.ts), rejected exits (exits.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { isDecimal, toStep } from "../decimal.ts";
import type { EventLog } from "../journal/event-log.ts";
import { endingOf, type Order } from "./order-state.ts";
import type { Slot } from "./slot.ts";
import type { Slots } from "./slots.ts";
import { takes, type WantedOrder } from "./wanted-order.ts";

/**
 * When a slot pauses after three post-only rejections in a row, from half a second up to 30: `scarce` while a minute window of the user or
 * the address has less than a tenth of its capacity left after the reserve, `always`, or `never`.
 */
export type PostOnlyPause = "scarce" | "always" | "never";

export interface PostOnlyRules {
  /** When a slot pauses after three post-only rejections in a row. Default `scarce`: while quota is scarce. */
  readonly postOnlyPause?: PostOnlyPause;
}

interface PostOnlyOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly journal: EventLog;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly marketPx: (instId: string, side: "buy" | "sell") => string | undefined;
  /** Whether slots pause after rejections now. */
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
  readonly #consider: (slot: Slot) => void;
  /** Slots that wait for a quote, by instrument. */
  readonly #waiting = new Map<string, Set<Slot>>();
  /** Instruments whose waiting slots are looked at again by a timer. */
  readonly #looks = new Set<string>();
  /** Rejections in a row, by strategy and slot: a slot that was withdrawn and is wanted again goes on with its series. */
  readonly #series = new Map<string, Series>();
  readonly slowed: { readonly size: number } = this.#series;

  constructor(options: PostOnlyOptions, slots: Slots, consider: (slot: Slot) => void) {
    this.#options = options;
    this.#slots = slots;
    this.#consider = consider;
  }

  /** An order changed; told while there is a series, and of every rejection. */
  take(order: Order): void {
    const { spec, state } = order;
    if (spec.ordType !== "post_only" || spec.reduceOnly) return;
    if (endingOf(order) === "rejected") this.#rejected(order);
    else if (state.kind !== "notExecuted" && state.kind !== "submitted" && state.kind !== "unknown")
      this.#series.delete(keyOf(order));
  }

  /** The slot may not place this yet; it is considered again when it may. */
  holds(slot: Slot, wanted: WantedOrder): boolean {
    if (wanted.ordType !== "post_only") return false;
    return (
      (this.#series.size > 0 && isSentAsIs(wanted) && this.#isSlow(slot)) ||
      (!isSentAsIs(wanted) && this.#isOutside(slot, wanted))
    );
  }

  /** A quote of the instrument has come. */
  quoted(instId: string): void {
    if (this.#waiting.size === 0) return;
    const slots = this.#waiting.get(instId);
    if (slots === undefined) return;
    this.#waiting.delete(instId);
    for (const slot of slots) if (slot.wanted !== undefined) this.#consider(slot);
  }

  forget(slot: Slot): void {
    for (const slots of this.#waiting.values()) slots.delete(slot);
  }

  #rejected(order: Order): void {
    const { clock, contract, journal } = this.#options;
    if (!order.reason.startsWith(contract.profile.answers.postOnlyCode) || this.#slots.of(order)?.byHand === true)
      return;
    if (!isSentAsIs(order.wanted)) return;
    const key = keyOf(order);
    const known = this.#series.get(key);
    const count = (known?.count ?? 0) + 1;
    const isPaused = count > freeRejections && this.#options.pauses();
    const pauses = (known?.pauses ?? 0) + (isPaused ? 1 : 0);
    const waitMs = isPaused ? Math.min(slowMsMax, slowMs * 2 ** (pauses - 1)) : 0;
    this.#series.delete(key);
    this.#series.set(key, { order, count, pauses, until: clock.now() + waitMs, armed: false });
    if (this.#series.size > seriesMax) this.#series.delete(this.#series.keys().next().value as string);
    if (!isPaused || pauses !== 1) return;
    const { strategy, slot, spec, reason } = order;
    journal.append({ type: "order.slowed", strategy, slot, instId: spec.instId, rejections: count, reason });
  }

  #isSlow(slot: Slot): boolean {
    if (slot.byHand) return false;
    const series = this.#series.get(keyOf({ strategy: slot.strategy, slot: slot.name }));
    const { clock } = this.#options;
    if (series === undefined || clock.now() >= series.until || !this.#options.pauses()) return false;
    if (series.armed) return true;
    series.armed = true;
    clock.setTimer(series.until, () => {
      const known = this.#slots.of(series.order);
      if (known !== undefined) this.#consider(known);
    });
    return true;
  }

  #isOutside(slot: Slot, { cross, instId, side, px }: WantedOrder): boolean {
    const instrument = this.#options.instruments().get(instId);
    // What cannot be placed at all is refused in other words.
    if (instrument === undefined || !isDecimal(px)) return false;
    const best = this.#options.marketPx(instId, side);
    const isHeld =
      best === undefined ||
      (cross === "skip" && takes(side, toStep(px, instrument.tickSize, side === "buy" ? "down" : "up"), best));
    if (!isHeld) return false;
    const slots = this.#waiting.get(instId) ?? new Set();
    this.#waiting.set(instId, slots.add(slot));
    this.#lookAgain(instId);
    return true;
  }

  /** Bars and trades move the last price without a quote. */
  #lookAgain(instId: string): void {
    if (this.#looks.has(instId)) return;
    this.#looks.add(instId);
    const { clock } = this.#options;
    clock.setTimer(clock.now() + lookMs, () => {
      this.#looks.delete(instId);
      this.quoted(instId);
    });
  }
}

/** The order is sent although it may take. */
const isSentAsIs = (wanted: WantedOrder | undefined): boolean =>
  wanted?.cross === undefined || wanted.cross === "reject";

const keyOf = ({ strategy, slot }: Pick<Order, "strategy" | "slot">): string => `${strategy}\n${slot}`;
