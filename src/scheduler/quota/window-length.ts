/**
 * Length of windows on the client's clock, bounded by beginnings that counts have shown.
 *
 * A service may count longer or shorter windows than it states, and our clock drifts. Both move the beginnings of
 * windows against the stated length, at a rate that two beginnings bound: the further apart they are, the more they
 * prove. The stated length of a long window is believed only as far as it is proved. That of a short window is believed
 * until a beginning contradicts it, or a refusal at one, because a short window is entered too often for such a margin.
 *
 * Invariants: beginnings of windows of any length within the error lie between the bounds, also of clocks that drift.
 * Needed by: `slow-windows`, `slow-windows-key`.
 * Not here: which window began (window-phase.ts).
 */
import { isLong } from "./layers.ts";

/** Window that began between two instants, as a count that fell has shown. */
interface Fall {
  readonly index: number;
  readonly afterAt: number;
  readonly byAt: number;
}

/**
 * Largest drift of our clock in parts: a time daemon may slew it by 500 parts per million, in addition to the error of
 * a crystal.
 */
const driftMost = 650 / 1e6;
/** Largest error of a length that is not believed, in parts of it. */
export const lengthError = 1 / 150;
/** The beginning from which lengths are measured is replaced by one that is known to less than this part of its width. */
const narrowerShare = 3 / 4;

export class WindowLength {
  /** Rate at which windows may begin later than stated, in parts of their length. */
  #later: number;
  /** Rate at which they may begin earlier; negative if they are proved to be longer than stated. */
  #earlier: number;
  readonly #windowMs: number;
  #error: number;
  #from: Fall | undefined;

  /** The stated length may be wrong by `error`, in parts of it. */
  constructor(windowMs: number, error = isLong(windowMs) ? lengthError : 0) {
    this.#windowMs = windowMs;
    this.#error = Math.max(driftMost, error);
    this.#later = this.#earlier = this.#error;
  }

  /** Milliseconds by which a phase may fall within `ms`, which may be negative. */
  lowered(ms: number): number {
    return ms < 0 ? -ms * this.#earlier : ms * this.#later;
  }

  /** Milliseconds by which a phase may rise within `ms`. */
  raised(ms: number): number {
    return ms < 0 ? -ms * this.#later : ms * this.#earlier;
  }

  /** Milliseconds by which the bounds of a phase move apart within `ms`. */
  widened(ms: number): number {
    return Math.abs(ms) * (this.#later + this.#earlier);
  }

  /** Measures the length between a beginning and an earlier one. */
  measure(fall: Fall): void {
    const from = this.#from;
    if (from !== undefined && fall.index > from.index) {
      const statedMs = (fall.index - from.index) * this.#windowMs;
      this.#later = this.#bound(this.#later, (fall.byAt - from.afterAt) / statedMs - 1);
      this.#earlier = this.#bound(this.#earlier, 1 - (fall.afterAt - from.byAt) / statedMs);
    }
    const isNarrower = from === undefined || fall.byAt - fall.afterAt < (from.byAt - from.afterAt) * narrowerShare;
    if (isNarrower) this.#from = fall;
  }

  /** Called when a beginning contradicts the length that was believed. */
  doubt(): void {
    this.#error = Math.max(this.#error, lengthError);
    this.#later = this.#earlier = this.#error;
  }

  /** Called when a window began late. Returns true if its length was believed, which is measured from now on. */
  suspect(): boolean {
    const isBelieved = this.#error < lengthError;
    if (isBelieved) this.doubt();
    return isBelieved;
  }

  /** Called when it is not known how many windows have begun since the last beginning: nothing is proved any longer. */
  measureAnew(fall: Fall): void {
    this.#later = this.#earlier = this.#error;
    this.#from = fall;
  }

  forget(): void {
    this.#from = undefined;
  }

  /** A measured rate contains the drift of our clock, which may change. */
  #bound(known: number, measured: number): number {
    return Math.min(known, Math.max(measured, Math.min(0, measured + driftMost) + driftMost));
  }
}
