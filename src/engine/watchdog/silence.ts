/**
 * How long an engine has been silent, counted in moments in which the watchdog itself was awake. Pure.
 *
 * Invariants: a tick counts for its own length however late it comes, so a machine that slept, or a watchdog that was stopped,
 * has heard no silence; the calendar is never asked; what was not heard because nobody could listen is not silence.
 */

export interface Silence {
  /** Since the last beat of any kind. */
  readonly quietMs: number;
  /** Since the last beat of an engine that trades: one that starts again and again without getting there is no help either. */
  readonly unreadyMs: number;
}

export const noSilence: Silence = { quietMs: 0, unreadyMs: 0 };

export const tick = ({ quietMs, unreadyMs }: Silence, tickMs: number): Silence => ({
  quietMs: quietMs + tickMs,
  unreadyMs: unreadyMs + tickMs,
});

export const beaten = ({ unreadyMs }: Silence, ready: boolean): Silence => ({ quietMs: 0, unreadyMs: ready ? 0 : unreadyMs });

/** Why the engine is taken for dead; undefined while it is not. */
export const verdict = ({ quietMs, unreadyMs }: Silence, silenceMs: number, unreadyMsMax: number): string | undefined => {
  if (quietMs >= silenceMs) return `no beat for ${quietMs / 1_000} s`;
  if (unreadyMs >= unreadyMsMax) return `no engine got as far as trading for ${unreadyMs / 1_000} s`;
  return undefined;
};
