/**
 * State of the engine in a file, written every few seconds, for `sluice health` and the supervisors that call it.
 *
 * Invariants: the file is replaced as a whole; its time is that of the engine's last turn; it is removed by an orderly
 * stop. A file that cannot be written is reported once and has no other effect. No port is opened.
 */
import { mkdirSync, rmSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { definePlugin, type PluginContext } from "sluice";

/** Faults, and further notes for a person. */
const stateOf = ({ health, strategies }: Pick<PluginContext<unknown>, "health" | "strategies">, staleMs: number) => {
  const { journal, watchdog, standby, resources } = health();
  const views = strategies();
  const problems = [
    ...(journal.state === "failed" ? [`the journal failed: ${journal.reason}`] : []),
    ...(watchdog.state === "lost" || watchdog.state === "tripped"
      ? [`the watchdog is ${watchdog.state}: ${watchdog.reason}`]
      : []),
    ...(standby.state === "alone" || standby.state === "mute"
      ? [`the store of the standby does not answer (${standby.state})`]
      : []),
    ...views
      .filter(({ state }) => state === "failed")
      .map(({ name, error = "" }) => `strategy ${name} failed: ${error}`),
    ...resources
      .filter(({ stale, ageMs }) => stale && ageMs !== undefined && ageMs > staleMs)
      .map(
        ({ user, name, ageMs = 0, problem }) => `${name} of ${user} are ${Math.round(ageMs / 1_000)} s old: ${problem}`,
      ),
  ];
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s ago`;
  const notes = [
    ...(standby.state === "none"
      ? []
      : [
          `it leads; ${standby.standbys.length === 0 ? "no standby is alive" : standby.standbys.map(({ name, heardMs }) => `standby ${name} was heard ${seconds(heardMs)}`).join(", ")}`,
        ]),
    ...views
      .filter(({ mode }) => mode !== "active")
      .map(({ name, mode, reason }) => `strategy ${name} is ${mode}: ${reason}`),
  ];
  return {
    ok: problems.length === 0,
    problems,
    notes,
    strategies: views.map(({ name, state, mode }) => ({ name, state, mode })),
  };
};

export default definePlugin({
  name: "health",
  options: {
    type: "object",
    additionalProperties: false,
    required: ["path"],
    properties: {
      path: { description: "File that is written.", type: "string", minLength: 1 },
      everyMs: {
        description: "Milliseconds between two writes.",
        type: "integer",
        minimum: 250,
        maximum: 60_000,
        default: 5_000,
      },
      staleMs: {
        description: "How old the account's state may be.",
        type: "integer",
        minimum: 1_000,
        maximum: 3_600_000,
        default: 60_000,
      },
    },
  },
  setup: (context) => {
    const { every, now, options } = context;
    const { path, everyMs, staleMs } = options;
    mkdirSync(dirname(path), { recursive: true });
    const fresh = `${path}.${process.pid}.tmp`;
    let writing: Promise<void> | undefined;
    let isFailing = false;
    let hasEnded = false;
    const write = async (): Promise<void> => {
      try {
        await writeFile(fresh, `${JSON.stringify({ at: now(), pid: process.pid, ...stateOf(context, staleMs) })}\n`, {
          mode: 0o600,
        });
        if (!hasEnded) await rename(fresh, path);
        isFailing = false;
      } catch (error) {
        if (!isFailing)
          context.print(
            `health: ${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? "no reason given"})`,
          );
        isFailing = true;
      }
    };
    const beat = (): void => {
      // One write at a time: a disk that hangs must not gather writes.
      writing ??= write().finally(() => {
        writing = undefined;
      });
    };
    beat();
    every(everyMs, beat);
    return async () => {
      hasEnded = true;
      // A write that has begun would put the file back after its removal.
      await writing;
      for (const file of [path, fresh]) rmSync(file, { force: true });
    };
  },
});
