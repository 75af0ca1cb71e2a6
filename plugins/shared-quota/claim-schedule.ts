/**
 * Schedule of an engine's statements to the store of a shared quota.
 *
 * Invariants: every new window is stated within a third of a second; a member makes a statement at least once in a
 * beat.
 * Not here: the statements (held-units.ts), their sending (shared-quota.ts).
 */
import { givesBackMs, idleGivesBackMs } from "./group-reserve.ts";
import type { HeldUnits } from "./held-units.ts";

/** So often at least, so that a halt is known within a second. */
const beatMs = 800;
const newWindowMs = 150;
const pollMs = 1_500;
const pollsBeforeEndMs = [5_000, idleGivesBackMs - 50, givesBackMs - 50, 355];

/** Waits before something is tried again. */
export const waits = {
  /** The store was silent. */
  retryMs: 250,
  exitRetryMs: 100,
  /** It has lost its memory and only listens. */
  learningMs: 500,
  /** The group has no room. */
  fullMs: 5_000,
  /** One that has never reached the store goes by the service's counts after so long. */
  patienceMs: 5_000,
  /** So often at most beginnings of windows are looked for because others take them for other ones. */
  relearnMs: 600_000,
} as const;

/** Instant at which ordinary actions that got nothing ask again: the reserve shrinks towards a window's end. */
export const nextPoll = (scopes: Iterable<HeldUnits>, now: number): number => {
  let at = now + pollMs;
  for (const held of scopes) {
    const endsAt = held.endsAt(now);
    for (const before of pollsBeforeEndMs) if (endsAt - before > now + 20) at = Math.min(at, endsAt - before);
  }
  return at;
};

/** Instants before which what was refused is not asked for again, and the last statement's. */
interface LastAsked {
  readonly saidAt: number;
  readonly pollAt: number;
  readonly exitPollAt: number;
}

/** Instant of the next statement if nothing happens in the meantime. */
export const nextStatement = (
  scopes: Iterable<HeldUnits>,
  { saidAt, pollAt, exitPollAt }: LastAsked,
  now: number,
): number => {
  let at = saidAt + beatMs;
  for (const held of scopes) {
    const endsAt = held.endsAt(now);
    if (held.isUnspoken(now)) at = Math.min(at, now + newWindowMs);
    else if (endsAt > now) at = Math.min(at, endsAt + newWindowMs);
    for (const before of [idleGivesBackMs, givesBackMs])
      if (endsAt - before > now) at = Math.min(at, endsAt - before + 1);
    if (held.owesOrdinary) at = Math.min(at, Math.max(now, pollAt));
    if (held.owesExits) at = Math.min(at, Math.max(now, exitPollAt));
  }
  return Math.max(at, now);
};
