/**
 * Silence of an engine: time without a heartbeat, counted while the watchdog itself was running. Pure.
 *
 * Invariants: a tick counts its own length however late it comes, so time in which the machine slept or the watchdog
 * was stopped does not count; the wall clock is never read.
 */

export interface Silence {
  /** Time since the last heartbeat of any kind. */
  readonly quietMs: number;
  /**
   * Time since the last heartbeat of an engine that trades: one that keeps restarting does not manage its orders
   * either.
   */
  readonly unreadyMs: number;
}

export const noSilence: Silence = { quietMs: 0, unreadyMs: 0 };

export const tick = ({ quietMs, unreadyMs }: Silence, tickMs: number): Silence => ({
  quietMs: quietMs + tickMs,
  unreadyMs: unreadyMs + tickMs,
});

export const beaten = ({ unreadyMs }: Silence, ready: boolean): Silence => ({
  quietMs: 0,
  unreadyMs: ready ? 0 : unreadyMs,
});

/** Why to trip; undefined while there is no reason. */
export const verdict = (
  { quietMs, unreadyMs }: Silence,
  silenceMs: number,
  unreadyMsMax: number,
): string | undefined => {
  if (quietMs >= silenceMs) return `no beat for ${quietMs / 1_000} s`;
  if (unreadyMs >= unreadyMsMax) return `no engine got as far as trading for ${unreadyMs / 1_000} s`;
  return undefined;
};
