/**
 * Counts of the few windows that can be open, in the order of the windows.
 *
 * Invariants: a window that is asked for and has no counts gets some, all nothing; the oldest give way.
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
  /** As much of it as is in `reported` beyond doubt: it was settled before the request left whose answer shows that. */
  included: number;
  /** Unanswered weight whose earliest window is this one. */
  open: number;
  /** Use the service reported beyond all of ours, answered or not. */
  foreign: number;
  /** Use carried over from a window that turned out to run on, without an owner. */
  adopted: number;
  /** Reported units that cannot be ours: missing from the capacity, or used before a start. */
  lacked: number;
}

export type WindowCounts = Readonly<Pick<Slot, "settled" | "reported" | "unheard">>;

/** At most: an answer that took a minute may be of any of sixty seconds. */
export const windowsMax = 128;

export class WindowSlots {
  /** Oldest first. */
  readonly all: Slot[] = [];
  /** The last of them. */
  newest: Slot | undefined;
  /** Its index; the lowest before there is one. */
  last = Number.NEGATIVE_INFINITY;
  /** Unanswered weight from windows older than any kept. */
  carried = 0;
  /** Some that were forgotten, to be used again. */
  readonly #spare: Slot[] = [];

  /** The counts of a window that has some. */
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

  /** Of what is unanswered, `open` in all, nothing is laid to a window any more. */
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
