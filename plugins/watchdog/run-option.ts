/**
 * Watchdog process of `sluice run --watchdog`: it survives the process that started it.
 *
 * Invariants: it shares no process group, pipe or terminal with its parent, so that it survives it; its output goes to
 * a file; it is restarted while the engine trades, every half minute at most; where another watchdog already listens,
 * the new one ends; a run that ends in order before any was connected ends the one it started.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Observable, Subscription } from "rxjs";
import { type Event, SluiceError } from "sluice";
import { type Clock, defineRunOption, placeOf, pluginsIn, starter } from "sluice/extension";
import { watchdogIn } from "./configured.ts";
import watchdog from "./index.ts";

/** Gives the number of the process, where it could be started. */
export type StartChild = (argv: readonly string[], logPath: string) => number | undefined;

/** Ends a process that watches over nothing yet. */
type EndChild = (pid: number) => void;

const againMs = 30_000;

const endChild: EndChild = (pid) => {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // It has ended by itself.
  }
};

const startChild: StartChild = (argv, logPath) => {
  mkdirSync(dirname(logPath), { recursive: true, mode: 0o700 });
  const log = openSync(logPath, "a", 0o600);
  try {
    const child = spawn(process.execPath, [starter(), ...argv], {
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
  readonly end?: EndChild | undefined;
}

/**
 * Starts it, and again whenever the engine reports that no watchdog is connected. Unsubscribing, when the run is over,
 * ends one that never was: it would take the end of this process for a crash.
 */
export const keepWatchdog = (
  events$: Observable<Event>,
  { path, instance, clock, note, start = startChild, end = endChild }: ChildOptions,
): Subscription => {
  let startedAt = Number.NEGATIVE_INFINITY;
  let unmet: number | undefined;
  const again = (): void => {
    if (clock.now() - startedAt < againMs) return;
    startedAt = clock.now();
    const log = childLog(instance);
    unmet = start(["watchdog", resolve(path), "--once", "--json", "--beside-run", String(process.pid)], log);
    note(
      unmet === undefined
        ? "The watchdog could not be started."
        : `A watchdog was started as process ${unmet}; what it does is written to ${log}.`,
    );
  };
  const keeping = new Subscription(() => {
    if (unmet !== undefined) end(unmet);
  });
  keeping.add(
    events$.subscribe(({ type }) => {
      if (type === "watchdog.armed") unmet = undefined;
      if (type === "watchdog.lost") again();
    }),
  );
  again();
  return keeping;
};

/** Its process takes seconds to load on a slow machine. */
const startWithinMs = 60_000;

interface Parts {
  /** Starter of the process, for tests. */
  readonly startChild?: StartChild;
}

export default defineRunOption({
  configure: (config) => {
    const { service } = config as { readonly service?: unknown };
    if (placeOf(service) === undefined) {
      throw new SluiceError(
        "USAGE",
        "--watchdog: the embedded service ends with this process, and its orders with it. Leave it out.",
      );
    }
    const others = pluginsIn(config).filter(({ definition }) => definition !== "watchdog");
    return { ...config, plugins: [...others, watchdog({ ...watchdogIn(config), startWithinMs })] };
  },
  beside: (engine, { clock, config, note, parts, path }) => {
    const { instance = "main" } = config as { readonly instance?: string };
    const { startChild: start } = parts as Parts;
    return keepWatchdog(engine.events$, { path, instance, clock, note, start });
  },
});
