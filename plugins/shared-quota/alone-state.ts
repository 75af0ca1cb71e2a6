/**
 * State of an engine that uses its own part alone, because the store was silent for too long, and from when on it
 * divides again.
 *
 * Invariants: one that has divided before goes on alone until the windows end that run when the store answers: the
 * others are alone too, spend their parts of these, and keep exits within them. One that began alone was missed by
 * nobody, so that the others divide all there is: it divides with them at once, and keeps to its part besides until
 * these windows end, as more of them may have begun so.
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
