/**
 * Probe state of a user's quota: cold, probing, warm; back to cold after a 429.
 *
 * Invariants: after a start, a 429 or a disturbed clock nothing leaves for a while, then one call at a time until one
 * of them returned the use; a burst of 429s counts as one. While windows cannot be distinguished and probes are lost,
 * the pause between ordinary probes grows, because lost probes are not counted and would use up the quota of the exits.
 */

const answerMsMax = 60_000;
/**
 * Pause after one lost probe, doubled for each further one. At most seven probes are lost in the first minute and four
 * in each later one.
 */
const pauseMs = 1_000;
const pauseMsMax = 16_000;

export class ProbeState {
  /** True if the use of the current window is known: calls may leave side by side. */
  warm = false;
  /** Instant since which the use of the current windows is followed; infinite before the first count. */
  toldAt = Number.POSITIVE_INFINITY;
  /** Number of episodes of 429s since the last successful call. */
  strikes = 0;
  #until: number;
  /** Instant until which not even exits may leave. */
  #shutUntil: number;
  #isTold = false;
  #probes = 0;
  #lost = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #struckAt = Number.NEGATIVE_INFINITY;

  /** Nothing leaves until `quietUntil`. Exits may leave from `exitsFrom` on, one at a time. */
  constructor(quietUntil: number, exitsFrom = quietUntil) {
    this.#until = quietUntil;
    this.#shutUntil = exitsFrom;
  }

  /** Returns true if the service refused a call and its window is not over yet. */
  isShut(now: number): boolean {
    return now < this.#shutUntil;
  }

  /** Undefined when a call may leave, otherwise the instant to ask again. */
  blockedUntil(now: number, isExit = false): number | undefined {
    if (this.warm) return undefined;
    const until = isExit ? this.#shutUntil : Math.max(this.#until, this.#pausedUntil);
    if (now < until) return until;
    if (this.#isTold && now >= this.#until) {
      this.warm = true;
      return undefined;
    }
    // Only one probe at a time: the next may ask when this one is answered.
    return this.#probes > 0 ? now + answerMsMax : undefined;
  }

  /** Called when a call leaves. Returns true if it is a probe. */
  leave(): boolean {
    if (!this.warm) this.#probes++;
    return !this.warm;
  }

  /** Called when a probe was answered or never left. */
  back(): void {
    this.#probes = Math.max(0, this.#probes - 1);
  }

  /** Called when a probe was lost, so that the window in which it was counted is unknown. */
  pause(now: number): void {
    this.#pausedUntil = now + Math.min(pauseMs * 2 ** this.#lost++, pauseMsMax);
  }

  /**
   * Called when the use of the current window was received at `now`. Before the end of the quiet time after a start,
   * earlier use of shorter windows may still count.
   */
  warmUp(now: number): void {
    this.#isTold = true;
    this.toldAt = Math.min(this.toldAt, now);
    this.warm = now >= this.#until;
    this.#lost = 0;
  }

  /**
   * Called when a call that left at `sentAt` was refused. Returns true if a new episode begins, false if it belongs to
   * the last one.
   */
  strike(sentAt: number, now: number): boolean {
    const fresh = sentAt > this.#struckAt;
    if (fresh) this.strikes++;
    this.#struckAt = Math.max(this.#struckAt, now);
    return fresh;
  }

  /** Begins again: nothing leaves until `until`, then probes do. Exits may leave from `exitsFrom` on, one at a time. */
  restart(until: number, exitsFrom = until): void {
    this.warm = false;
    this.#isTold = false;
    this.#until = until;
    this.#shutUntil = exitsFrom;
  }
}
