/**
 * Watchdog process of `sluice run --watchdog`: it survives the process that started it.
 *
 * Invariants: it shares no process group, pipe or terminal with its parent, so that it survives it; its output goes to a file; it is
 * restarted while the engine trades, every half minute at most; where another watchdog already listens, the new one ends.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { filter, type Observable, type Subscription, startWith } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import { starterBeside } from "../host/starter.ts";
import type { Event } from "../journal/events.ts";

/** Gives the number of the process, where it could be started. */
export type StartChild = (argv: readonly string[], logPath: string) => number | undefined;

const againMs = 30_000;

const startChild: StartChild = (argv, logPath) => {
  mkdirSync(dirname(logPath), { recursive: true, mode: 0o700 });
  const log = openSync(logPath, "a", 0o600);
  try {
    const child = spawn(process.execPath, [starterBeside(import.meta.url), ...argv], {
      detached: true,
      stdio: ["ignore", log, log],
      windowsHide: true,
    });
    // A failed start shows as a missing watchdog.
    child.on("error", () => undefined);
    child.unref();
    return child.pid;
  } finally {
    closeSync(log);
  }
};

const childLog = (instance: string): string => join(".sluice", `watchdog-${instance}.ndjson`);

interface ChildOptions {
  readonly path: string;
  readonly instance: string;
  readonly clock: Clock;
  /** A line for people. */
  readonly note: (text: string) => void;
  readonly start?: StartChild | undefined;
}

/** Starts it, and again whenever the engine reports that no watchdog is connected. */
export const keepWatchdog = (
  events$: Observable<Event>,
  { path, instance, clock, note, start = startChild }: ChildOptions,
): Subscription => {
  let startedAt = Number.NEGATIVE_INFINITY;
  return events$
    .pipe(
      filter(({ type }) => type === "watchdog.lost"),
      startWith(undefined),
    )
    .subscribe(() => {
      if (clock.now() - startedAt < againMs) return;
      startedAt = clock.now();
      const log = childLog(instance);
      const pid = start(["watchdog", resolve(path), "--once", "--json", "--beside-run"], log);
      note(
        pid === undefined
          ? "The watchdog could not be started."
          : `A watchdog was started as process ${pid}; what it does is written to ${log}.`,
      );
    });
};
