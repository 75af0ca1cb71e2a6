/**
 * Bound on how long a watchdog that a run started waits for that run's engine.
 *
 * Invariants: time is counted while this process itself runs; a run that is gone may come back as a new one within the
 * silence that a connected engine is allowed.
 * Not here: what is done then (watchdog.ts), a run that ends in order (watchdog-child.ts).
 */
import { filter, map, type Observable, scan, take } from "rxjs";
import { type Clock, every } from "sluice/extension";

interface UnmetOptions {
  readonly clock: Clock;
  /** The process of the run is gone. */
  readonly isGone: () => boolean;
  /** Longest silence of its engine. */
  readonly silenceMs: number;
}

const tickMs = 1_000;
/** A run that lives and does not connect for so long hangs, or its start has failed. */
const unmetMsMax = 120_000;

/** Emits once: why no engine is expected any more. */
export const unmet$ = ({ clock, isGone, silenceMs }: UnmetOptions): Observable<string> =>
  every(clock, tickMs).pipe(
    scan(({ all, gone }) => ({ all: all + tickMs, gone: isGone() ? gone + tickMs : 0 }), { all: 0, gone: 0 }),
    map(({ all, gone }) => {
      if (gone >= silenceMs) return "the run that started this watchdog is gone, and its engine never connected";
      return all >= unmetMsMax ? `no engine connected within ${unmetMsMax / 1_000} s` : undefined;
    }),
    filter((why) => why !== undefined),
    take(1),
  );

/** True when the process that started this one has ended. */
export const isParentGone = (pid: number): boolean => {
  // What is left without a parent gets another one, except here.
  if (process.platform !== "win32") return process.ppid !== pid;
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};
