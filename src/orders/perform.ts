/**
 * Performs effects: the one place of the order manager that calls gateway, clock, journal and listeners.
 *
 * Invariants: an effect is performed together with all that follows from it before the next effect; a change is
 * journalled before it is published, and its fill is journalled and published in between.
 * Not here: what is decided (slot-step.ts, changes.ts, and the parts of the room).
 */
import { Subject } from "rxjs";
import type { EventDraft } from "../journal/events.ts";
import type { Cancellation } from "./cancellation.ts";
import { type Change, followChange } from "./changes.ts";
import type { Effect, Effects, OuterEffect, Refusal } from "./effects.ts";
import { releaseExits } from "./exits.ts";
import { Listeners } from "./listeners.ts";
import type { ManagerState } from "./manager-state.ts";
import type { OrderAmends } from "./order-amends.ts";
import type { OrderSearch } from "./order-search.ts";
import { endingOf, isClosed, type Order } from "./order-state.ts";
import { type OrderUpdate, updateOf } from "./order-update.ts";
import type { Placements } from "./placement.ts";
import type { FillBody } from "./positions.ts";
import { retryCrowded } from "./refusals.ts";
import type { Slot } from "./slot.ts";
import { type StepParts, slotStep } from "./slot-step.ts";

/** `isFollowed` is true if the order is closed and its slot places another one for the rest of the wanted quantity. */
export type UpdateListener = (update: OrderUpdate, order: Order, isFollowed: boolean) => void;

interface PerformerParts extends StepParts {
  readonly placements: Placements;
  readonly cancellation: Cancellation;
  readonly search: OrderSearch;
  readonly amends: OrderAmends;
  /** Restricts one strategy, or all (undefined), after a loss beyond its limit. */
  readonly restrict: (strategy: string | undefined, reason: string) => void;
}

export class Performer {
  /** Emits every refusal that was not reported before. */
  readonly refusals$ = new Subject<Refusal>();
  readonly #state: ManagerState;
  readonly #parts: PerformerParts;
  readonly #listeners = new Listeners<Parameters<UpdateListener>>();
  #openTold = -1;

  constructor(state: ManagerState, parts: PerformerParts) {
    this.#state = state;
    this.#parts = parts;
  }

  /** Calls `listener` with every change. The returned function removes the listener. */
  listen(listener: UpdateListener): () => void {
    return this.#listeners.add(listener);
  }

  run(effects: Effects): void {
    for (let index = 0; index < effects.length; index++) this.#perform(effects[index] as Effect);
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case "publish":
        this.#publish(effect.order, effect.at);
        return;
      case "evaluate":
        this.evaluate(effect.slot);
        return;
      case "place":
        this.#parts.placements.submit(effect);
        return;
      case "withdraw":
        withdraw(effect.slot);
        return;
      case "cancel":
        this.#parts.cancellation.pack(effect.order);
        return;
      case "amend":
        this.#parts.amends.submit(effect.slot, effect.order);
        return;
      case "query":
        this.#parts.search[effect.how](effect.order);
        return;
      case "resume":
        this.#resume(effect.order);
        return;
      case "decide":
        this.run(effect.decide());
        return;
      case "schedule":
        this.#state.options.clock.setTimer(effect.at, () => this.run(effect.due()));
        return;
      case "restrict":
        this.#parts.restrict(effect.strategy, effect.reason);
        return;
      case "outside":
        this.#performOutside(effect);
    }
  }

  /** Performs effects beyond the order manager: reads of the account, the journal, listeners and callbacks. */
  #performOutside(effect: OuterEffect): void {
    const { journal, onFound, onProtection, onUnknownInstrument } = this.#state.options;
    switch (effect.what) {
      case "readPositions":
        this.#readPositions(effect);
        return;
      case "filled":
        this.#filled(effect.fill);
        return;
      case "countOpen":
        this.#countOpen();
        return;
      case "record":
        journal.append(effect.event);
        return;
      case "keep":
        onFound?.(effect.order);
        return;
      case "protect":
        onProtection?.(effect.record);
        return;
      case "refuse":
        journal.append({ type: "order.refused", ...effect.refusal });
        this.refusals$.next(effect.refusal);
        return;
      case "relist":
        onUnknownInstrument?.(effect.instId);
    }
  }

  /** Takes the next step of a slot. */
  evaluate(slot: Slot): void {
    this.run(slotStep(this.#state, this.#parts, slot));
  }

  #resume(order: Order): void {
    const slot = this.#state.slotOf(order);
    if (slot !== undefined) this.evaluate(slot);
    this.run(this.#parts.cancellation.resume(order));
  }

  /** Performs all that follows from a change of an order, in this sequence. */
  #publish(order: Order, at: number): void {
    const change = followChange(this.#state, order);
    this.run(change.before);
    this.#tell(order, change, at);
    if (change.freed !== undefined) this.evaluate(change.freed);
    if (isClosed(order)) this.#release(order);
  }

  /** Called when an order is closed and its slot was evaluated. Slots that waited for it take their next step. */
  #release(order: Order): void {
    const state = this.#state;
    this.#parts.search.settle(order);
    this.run(retryCrowded(state, state.risk.retries));
    this.run(releaseExits(state, order));
    this.run(state.protections.act());
  }

  #readPositions({ isUrgent, needed, then }: Extract<Effect, { readonly what: "readPositions" }>): void {
    const call = { class: isUrgent ? "close" : "resolve", owner: "engine", needed } as const;
    this.#state.options.gateway.read("positions", {}, call).subscribe((outcome) => this.run(then(outcome)));
  }

  /** The only place that journals and publishes a change of an order. */
  #tell(order: Order, { executed, fill, notes, isFollowed }: Change, at: number): void {
    const { journal, onRejected } = this.#state.options;
    const { strategy, slot, spec, clOrdId, phase, record, reason } = order;
    const { instId } = spec;
    const change: EventDraft = {
      seq: 0,
      at,
      type: "order.changed",
      strategy,
      slot,
      instId,
      clOrdId,
      phase,
      record,
      reason,
    };
    journal.append(change);
    this.#countOpen();
    this.run(notes);
    if (endingOf(order) === "rejected") {
      this.#state.cover.rejected(order);
      onRejected?.(order);
    }
    if (fill !== undefined) {
      fill.at = change.at;
      journal.append(fill);
    }
    if (!this.#listeners.isEmpty) this.#listeners.call(updateOf(order, executed.filled), order, isFollowed);
    if (fill !== undefined) this.#filled(fill);
  }

  /** Called after a fill was journalled and published. */
  #filled({ instId, strategy }: FillBody): void {
    // Balances that were read before the fill are outdated.
    this.#state.cover.moved(instId);
    this.#state.positions.tell(strategy);
    this.run(this.#state.protections.act());
  }

  #countOpen(): void {
    const { openCount } = this.#state.slots;
    if (openCount === this.#openTold) return;
    this.#openTold = openCount;
    this.#state.options.onOpenOrders(openCount);
  }
}

const withdraw = (slot: Slot): void => {
  slot.queued?.withdraw();
  slot.queued = undefined;
};
