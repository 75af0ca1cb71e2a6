/**
 * `sluice health <file>`: health check of an engine, by the file that its plugin `health` writes.
 *
 * Invariants: exit code 0 only for a fresh file without a problem; uses no network and no other process; ends at once.
 * Not here: the list of problems (plugins/health).
 */
import { readFileSync, statSync } from "node:fs";
import type { Command } from "commander";
import type { Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { SluiceError } from "../errors.ts";
import { type CliIo, jsonText, printable } from "./io.ts";
import { wholeFrom } from "./option-values.ts";

interface Flags {
  readonly maxAgeMs: number;
  readonly json?: true;
}

interface Sign {
  readonly ok: boolean;
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

export const addHealthCommand = (
  program: Command,
  io: CliIo,
  { clock = createSystemClock() }: { readonly clock?: Clock } = {},
): void => {
  program
    .command("health")
    .description("Check the health of a running engine, for supervisors: exit code 0 when it is healthy, 1 when not.")
    .argument("<file>", "file that the engine's plugin health writes")
    .option("--max-age-ms <n>", "maximum age of the file", wholeFrom(500, 3_600_000, "whole milliseconds"), 20_000)
    .option("--json", "print what the file holds as one JSON document")
    .action((path: string, { maxAgeMs, json }: Flags) => {
      const { sign, ageMs } = read(path, clock);
      if (json) io.out(`${jsonText({ ageMs, ...sign })}\n`);
      const old =
        ageMs > maxAgeMs ? [`it has not reported for ${Math.round(ageMs / 1_000)} s: it hangs, or was killed`] : [];
      const problems = [...old, ...sign.problems];
      for (const note of sign.notes) if (!json) io.out(`${printable(note)}\n`);
      if (problems.length > 0)
        throw new SluiceError("ENGINE_STATE", "The engine does not do well:", problems.map(printable));
      if (!json) io.out("The engine does well.\n");
    });
};

const read = (path: string, clock: Clock): { readonly sign: Sign; readonly ageMs: number } => {
  try {
    const ageMs = Math.max(0, Math.round(clock.wallNow() - statSync(path).mtimeMs));
    const { ok, problems, notes, ...more } = JSON.parse(readFileSync(path, "utf8")) as Sign;
    return { ageMs, sign: { ok, problems: problems.map(String), notes: notes.map(String), ...more } };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      throw new SluiceError(
        "ENGINE_STATE",
        `${path} is not there: no engine runs, or its config has no plugin health with this path.`,
      );
    }
    throw new SluiceError("ENGINE_STATE", `${path} cannot be read as the file of an engine's health.`);
  }
};
