/**
 * Probe state of a user's quota: cold, probing, warm; back to cold after a 429.
 *
 * Invariants: after a start, a 429 or a disturbed clock nothing leaves for a while, then one call at a time until one of them told
 * how much is used; a burst of 429s counts as one.
 */

export interface ProbeState {
  /** The use of the current window is known: calls may leave side by side. */
  readonly warm: boolean;
  /** Undefined when a call may leave, otherwise when to ask again. */
  blockedUntil(now: number): number | undefined;
  /** A call leaves; tells whether it is a probe. */
  leave(): boolean;
  /** A probe came back, or never left. */
  back(): void;
  /** Enough is known. */
  settle(): void;
  succeed(): void;
  /** A call that left at `sentAt` was refused. True when it begins a new episode, not when it belongs to the last one. */
  strike(sentAt: number, now: number): boolean;
  readonly strikes: number;
  /** Begins again: quiet until `until`, then probes. */
  restart(until: number): void;
}

const answerMsMax = 60_000;

export const createProbeState = (quietUntil: number): ProbeState => {
  let warm = false;
  let until = quietUntil;
  let probes = 0;
  let strikes = 0;
  let struckAt = Number.NEGATIVE_INFINITY;
  return {
    get warm() {
      return warm;
    },
    get strikes() {
      return strikes;
    },
    blockedUntil: (now) => {
      if (warm) return undefined;
      if (now < until) return until;
      // One at a time: the next may ask when this one is answered.
      return probes > 0 ? now + answerMsMax : undefined;
    },
    leave: () => {
      if (!warm) probes++;
      return !warm;
    },
    back: () => {
      probes = Math.max(0, probes - 1);
    },
    settle: () => {
      warm = true;
    },
    succeed: () => {
      strikes = 0;
    },
    strike: (sentAt, now) => {
      const fresh = sentAt > struckAt;
      if (fresh) strikes++;
      struckAt = Math.max(struckAt, now);
      return fresh;
    },
    restart: (quiet) => {
      warm = false;
      until = quiet;
    },
  };
};
