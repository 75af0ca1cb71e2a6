/**
 * Probe state of a user's quota: cold, probing, warm; back to cold after a 429.
 *
 * Invariants: after a start, a 429 or a disturbed clock nothing leaves for a while, then one call at a time until one
 * of them returned the use; a burst of 429s counts as one. While windows cannot be distinguished and probes are lost,
 * ordinary ones pause longer each time: nothing counts them, and they would use up what the exits need.
 */

const answerMsMax = 60_000;
/**
 * After one lost probe, doubled for each further one. Seven are lost so in the first minute, four in each later one.
 */
const pauseMs = 1_000;
const pauseMsMax = 16_000;

export class ProbeState {
  /** The use of the current window is known: calls may leave side by side. */
  warm = false;
  /** Episodes of 429s since a call succeeded. */
  strikes = 0;
  #until: number;
  /** Instant until which not even exits may leave. */
  #shutUntil: number;
  #isTold = false;
  #probes = 0;
  #lost = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #struckAt = Number.NEGATIVE_INFINITY;

  /** Quiet until `quietUntil`; exits may leave from `exitsFrom` on, one at a time. */
  constructor(quietUntil: number, exitsFrom = quietUntil) {
    this.#until = quietUntil;
    this.#shutUntil = exitsFrom;
  }

  /** The service refused a call, and its window is not over yet. */
  isShut(now: number): boolean {
    return now < this.#shutUntil;
  }

  /** Undefined when a call may leave, otherwise when to ask again. */
  blockedUntil(now: number, isExit = false): number | undefined {
    if (this.warm) return undefined;
    const until = isExit ? this.#shutUntil : Math.max(this.#until, this.#pausedUntil);
    if (now < until) return until;
    if (this.#isTold && now >= this.#until) {
      this.warm = true;
      return undefined;
    }
    // One at a time: the next may ask when this one is answered.
    return this.#probes > 0 ? now + answerMsMax : undefined;
  }

  /** A call leaves; returns true if it is a probe. */
  leave(): boolean {
    if (!this.warm) this.#probes++;
    return !this.warm;
  }

  /** A probe came back, or never left. */
  back(): void {
    this.#probes = Math.max(0, this.#probes - 1);
  }

  /** A probe was lost, and it is unknown in which window it was counted. */
  pause(now: number): void {
    this.#pausedUntil = now + Math.min(pauseMs * 2 ** this.#lost++, pauseMsMax);
  }

  /**
   * The use of the current window was received at `now`; what was used of shorter ones before a start is not over
   * until the quiet is.
   */
  warmUp(now: number): void {
    this.#isTold = true;
    this.warm = now >= this.#until;
    this.#lost = 0;
  }

  /**
   * A call that left at `sentAt` was refused. True when it begins a new episode, not when it belongs to the last one.
   */
  strike(sentAt: number, now: number): boolean {
    const fresh = sentAt > this.#struckAt;
    if (fresh) this.strikes++;
    this.#struckAt = Math.max(this.#struckAt, now);
    return fresh;
  }

  /** Begins again: quiet until `until`, then probes. Exits may leave from `exitsFrom` on, one at a time. */
  restart(until: number, exitsFrom = until): void {
    this.warm = false;
    this.#isTold = false;
    this.#until = until;
    this.#shutUntil = exitsFrom;
  }
}
