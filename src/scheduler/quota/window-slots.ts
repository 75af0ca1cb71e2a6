/**
 * Counts of the few windows that can be open, in the order of the windows.
 *
 * Invariants: a window without counts gets some, all zero, when it is asked for; the oldest windows are dropped.
 * Not here: what the counts mean (window-usage.ts).
 */
import type { WindowTicket } from "./limit-window.ts";

export interface Slot {
  index: number;
  /** Weight of answered requests that landed, or may have landed, here. */
  settled: number;
  /** Highest use the service reported for this window. */
  reported: number;
  /** Part of `settled` whose answers carried no count of this window. */
  unheard: number;
  /**
   * Part of `settled` that `reported` certainly includes: it was settled before the request left whose answer shows
   * that.
   */
  included: number;
  /** Unanswered weight whose earliest window is this one. */
  open: number;
  /** Use that the service reported beyond all of our calls, answered or not. */
  foreign: number;
  /** Use carried over from a window that turned out to continue, without an owner. */
  adopted: number;
  /** Reported units that cannot be ours: missing from the capacity, or used before a start. */
  lacked: number;
}

export type WindowCounts = Readonly<Pick<Slot, "settled" | "reported" | "unheard">>;

/** Maximum number of windows: an answer that took a minute may belong to any of sixty seconds. */
export const windowsMax = 128;

export class WindowSlots {
  /** Windows, oldest first. */
  readonly all: Slot[] = [];
  /** The newest of them. */
  newest: Slot | undefined;
  /** Index of the newest window; negative infinity before there is one. */
  last = Number.NEGATIVE_INFINITY;
  /** Unanswered weight from windows older than any kept. */
  carried = 0;
  /** Counts of dropped windows, kept for reuse. */
  readonly #spare: Slot[] = [];

  /** The counts of a window, if it has some. */
  find(index: number): Slot | undefined {
    const { all } = this;
    for (let position = all.length - 1; position >= 0; position--)
      if (all[position]?.index === index) return all[position];
    return undefined;
  }

  of(index: number): Slot {
    const { all } = this;
    let position = all.length;
    while (position > 0 && (all[position - 1] as Slot).index > index) position--;
    const near = all[position - 1];
    if (near !== undefined && near.index === index) return near;
    const slot = this.#spare.pop() ?? emptySlot();
    slot.index = index;
    slot.settled =
      slot.reported =
      slot.unheard =
      slot.included =
      slot.open =
      slot.foreign =
      slot.adopted =
      slot.lacked =
        0;
    if (position === all.length) {
      all.push(slot);
      this.newest = slot;
      this.last = index;
    } else all.splice(position, 0, slot);
    if (all.length > windowsMax) this.forgetOldest();
    return slot;
  }

  forgetOldest(): void {
    const oldest = this.all.shift() as Slot;
    this.carried += oldest.open;
    this.#spare.push(oldest);
  }

  /** Assigns unanswered units, `open` in total, to no window any more. */
  forget(open: number): void {
    this.all.length = 0;
    this.newest = undefined;
    this.last = Number.NEGATIVE_INFINITY;
    this.carried = open;
  }
}

const emptySlot = (): Slot => ({
  index: 0,
  settled: 0,
  reported: 0,
  unheard: 0,
  included: 0,
  open: 0,
  foreign: 0,
  adopted: 0,
  lacked: 0,
});

/** A ticket whose fields are written when its call leaves. */
export const emptyTicket = (): WindowTicket => ({ units: 0, first: 0, knownThen: 0, unheardThen: 0, surelyThen: 0 });
