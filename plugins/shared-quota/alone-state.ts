/**
 * State of an engine that uses only its own part because the store was silent for too long, and the time from which it
 * divides again.
 *
 * Invariants: an engine that has divided before stays alone until the windows end that run when the store answers,
 * because the others are alone too, spend their parts of these windows, and keep exits within them. An engine that
 * began alone was not counted by the others, which divide the whole: it divides with them at once, and keeps to its own
 * part too until these windows end, because other engines may have begun in the same way.
 */
export class AloneState {
  isAlone = false;
  #hasDivided = false;
  #until: number | undefined;
  #partUntil = Number.NEGATIVE_INFINITY;

  /** The store has granted something. */
  noteGrant(): void {
    this.#hasDivided ||= !this.isAlone;
  }

  /** The store answers at `now`, and windows that run end by `endsAt`: whether it divides again. */
  endsBy(now: number, endsAt: number): boolean {
    if (this.#hasDivided) this.#until ??= endsAt;
    else this.#partUntil = endsAt;
    if (now < (this.#until ?? now)) return false;
    this.#until = undefined;
    this.isAlone = false;
    return true;
  }

  /** It divides, and must not use more than its part. */
  keepsToPart(at: number): boolean {
    return at < this.#partUntil;
  }
}
