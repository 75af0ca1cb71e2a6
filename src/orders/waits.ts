/**
 * Slots that wait before they may place what they want, by the cause of the wait.
 *
 * A slot can also have no order for these reasons, each with a field of its own: its placement waits for quota
 * (`queued`), its wanted order is settled (`settled`; `refusal` if it was refused), or a mode or a protection withdraws
 * the wanted order (`ManagerState.counted`). `followUp` has the reason of an exit that waits for its rest. A slot with an
 * order waits for that order: under way, in doubt or being canceled (order-state.ts).
 *
 * Invariants: a slot waits at most once for each cause; slots of one cause keep the order in which they came; a slot
 * without a wanted order does not wait.
 * Not here: what makes a slot wait and what ends it (exits.ts, post-only.ts, refusals.ts, risk/order-throttle.ts).
 */
import { type Effects, joined, noEffects } from "./effects.ts";
import type { Slot } from "./slot.ts";
import type { WantedOrder } from "./wanted-order.ts";

export type WaitCause =
  /** Waits until cancels of other exits of its side take effect. */
  | "cancels"
  /** Waits while another process that may lead goes first. */
  | "other process"
  /** Waits until the rest of an exit may leave: at an instant, after a fill, or after the end of an order. */
  | "rest"
  /** Waits until the market moves, so that a post-only order would not take. */
  | "quote"
  /** Waits for the first quote of the instrument. */
  | "first quote"
  /** Waits until an order ends and makes room. */
  | "room"
  /** Waits until a refused order of the engine's own is checked again. */
  | "ruling"
  /** Waits for the turn of its strategy, whose rate of changes is limited. */
  | "pace";

interface Wait {
  /** Wanted order of the slot when it began to wait. */
  readonly wanted: WantedOrder | undefined;
  /** Latest end; infinite where only an event ends it. */
  readonly until: number;
}

/** Reason for which a slot may not place what it wants yet, with the events and timers that follow from it. */
export interface Hold {
  readonly isHeld: boolean;
  readonly effects: Effects;
}

/** Nothing holds the slot back. */
export const free: Hold = { isHeld: false, effects: noEffects };
/** The slot is held back, and what will end that is under way. */
export const held: Hold = { isHeld: true, effects: noEffects };

/** The second of two reasons, with the effects of both. */
export const after = (first: Hold, second: Hold): Hold =>
  first.effects.length === 0 ? second : { isHeld: second.isHeld, effects: joined(first.effects, second.effects) };

const noSlots: readonly Slot[] = [];

export class Waits {
  readonly #byCause = new Map<WaitCause, Map<Slot, Wait>>();

  /** If the slot already waits for this cause, it keeps its place. */
  set(cause: WaitCause, slot: Slot, until = Number.POSITIVE_INFINITY, wanted = slot.wanted): Wait {
    let waits = this.#byCause.get(cause);
    if (waits === undefined) {
      waits = new Map();
      this.#byCause.set(cause, waits);
    }
    const wait = { wanted, until };
    waits.set(slot, wait);
    return wait;
  }

  get(cause: WaitCause, slot: Slot): Wait | undefined {
    return this.#byCause.get(cause)?.get(slot);
  }

  delete(cause: WaitCause, slot: Slot): void {
    this.#byCause.get(cause)?.delete(slot);
  }

  /** Number of slots that wait for the cause. */
  count(cause: WaitCause): number {
    return this.#byCause.get(cause)?.size ?? 0;
  }

  /** The slots that wait for the cause, in the sequence in which they began to wait. */
  of(cause: WaitCause): readonly Slot[] {
    const waits = this.#byCause.get(cause);
    return waits === undefined || waits.size === 0 ? noSlots : [...waits.keys()];
  }

  /** Called when the slot wants nothing any more. */
  forget(slot: Slot): void {
    for (const waits of this.#byCause.values()) waits.delete(slot);
  }
}
