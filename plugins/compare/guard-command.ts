/**
 * `sluice guard <config>`: look-ahead guard. Reruns the backtest on recordings that end at random instants.
 *
 * Invariants: with --json stdout holds one JSON document and nothing else; exit code 1 for a strategy that uses future
 * data or a run that cannot be repeated.
 * Not here: the runs (compare-guard.ts), the texts (look-ahead-text.ts).
 */
import { type Command, Option } from "commander";
import { SluiceError } from "sluice";
import {
  type CliIo,
  createSystemClock,
  defineCommand,
  jsonText,
  seedOf,
  stepsText,
  transientLine,
  wholeIn,
} from "sluice/extension";
import { cutBounds, guard, runErrand } from "./compare-guard.ts";

interface Flags {
  readonly fixture?: string;
  readonly cuts: number;
  readonly seed: number;
  readonly json?: true;
  /** Set for the processes that the guard starts. */
  readonly errand?: string;
}

const addGuardCommand = (program: Command, io: CliIo): void => {
  program
    .command("guard")
    .description(
      "Detect look-ahead in a config's strategies: rerun the backtest on recordings that end at random instants.",
    )
    .argument("<config>", "config file, such as config/backtest.ts")
    .option("--fixture <dir>", "recorded market, instead of the config's")
    .option("--cuts <n>", "number of instants", wholeIn(cutBounds), 8)
    .option("--seed <n>", "seed of the instants", seedOf, 1)
    .option("--json", "print the result as one JSON document")
    .addOption(new Option("--errand <json>").hideHelp())
    .action((path: string, flags: Flags) =>
      flags.errand === undefined ? guardFile(path, flags, io) : runErrand(path, flags.errand),
    );
};

const guardFile = async (path: string, { json, ...options }: Flags, io: CliIo): Promise<void> => {
  const { lookAheadText } = await import("./look-ahead-text.ts");
  const { fixture, cuts, seed } = options;
  const clock = createSystemClock();
  const [progress, startedAt] = [transientLine(io), clock.now()];
  progress.show(() => stepsText(0, cuts + 2, "runs done", 0));
  const report = await guard(path, {
    cuts,
    seed,
    ...(fixture !== undefined && { fixture }),
    onProgress: (done, all) => {
      progress.show(() => stepsText(done, all, "runs done", clock.now() - startedAt));
    },
  }).finally(progress.clear);
  io.out(json ? `${jsonText(report)}\n` : lookAheadText(report));
  if (report.verdict === "blind") return;
  const names = report.glimpses.map(({ strategy }) => strategy).join(", ");
  throw new SluiceError(
    "STRATEGY_FAILED",
    report.verdict === "not-repeatable"
      ? `${path}: two runs of the same config decide differently.`
      : `${path}: ${names} saw the future.`,
  );
};

export default defineCommand("guard", addGuardCommand);
