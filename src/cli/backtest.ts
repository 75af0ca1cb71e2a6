/**
 * `sluice backtest <config>`: replays a recorded market against the strategies of a config and reports.
 *
 * Invariants: with --json stdout holds one JSON document and nothing else; a run in which a strategy failed still reports, and
 * then fails.
 * Not here: the run (backtest/runner.ts), the report's shape and look (backtest/report.ts, backtest/report-text.ts).
 */
import { type Command, InvalidArgumentError } from "commander";
import type { Progress, RunReport } from "../backtest/report.ts";
import { reportText } from "../backtest/report-text.ts";
import type { RunOptions } from "../backtest/runner.ts";
import type { Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { SluiceError } from "../errors.ts";
import { loadConfigFile } from "../host/load.ts";
import { type CliIo, colourOf, printable } from "./io.ts";
import { progressLine } from "./panel.ts";

export type RunBacktest = (config: unknown, options: RunOptions) => Promise<RunReport>;

export interface BacktestParts {
  readonly runBacktest?: RunBacktest;
  readonly clock?: Clock;
}

interface Flags {
  readonly fixture?: string;
  readonly seed?: number;
  readonly limits: boolean;
  readonly json?: true;
}

export const addBacktestCommand = (program: Command, io: CliIo, parts: BacktestParts = {}): void => {
  program
    .command("backtest")
    .description("Replay a recorded market against the strategies of a config, under the same limits, and report.")
    .argument("<config>", "config file, such as config/backtest.ts")
    .option("--fixture <dir>", "recorded market to replay, instead of the config's")
    .option("--seed <n>", "seed of all chance, instead of the config's", seedOf)
    .option("--no-limits", "let the service enforce no limits, to see what they cost")
    .option("--json", "print the report as one JSON document")
    .action((path: string, flags: Flags) => backtest(path, flags, io, parts));
};

const seedOf = (text: string): number => {
  const seed = Number(text);
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(seed)) return seed;
  throw new InvalidArgumentError(`Write a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`);
};

const backtest = async (path: string, flags: Flags, io: CliIo, parts: BacktestParts): Promise<void> => {
  const { clock = createSystemClock() } = parts;
  const config = await loadConfigFile(path, { command: "backtest", clock });
  const runBacktest = parts.runBacktest ?? (await runner());
  const progress = io.isTty ? progressOn(io, clock) : undefined;
  const print = (line: string): void => {
    progress?.clear();
    io.err(`${printable(line)}\n`);
  };
  const report = await runBacktest(config, {
    print,
    ...(flags.fixture !== undefined && { fixture: flags.fixture }),
    ...(flags.seed !== undefined && { seed: flags.seed }),
    ...(!flags.limits && { limits: false }),
    ...(progress && { onProgress: progress.show }),
  }).finally(() => progress?.clear());
  io.out(flags.json ? `${JSON.stringify(report)}\n` : reportText(report, { columns: io.columns, colour: colourOf(io) }));
  failWithStrategies(report);
};

/** Loaded when it is needed: help and mistakes should not wait for an engine. */
const runner = async (): Promise<RunBacktest> => (await import("../backtest/runner.ts")).runBacktest;

const redrawMs = 100;

const progressOn = (io: CliIo, clock: Clock): { show: (progress: Progress) => void; clear: () => void } => {
  const startedAt = clock.now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    show: (progress) => {
      const now = clock.now();
      if (now - drawnAt < redrawMs) return;
      drawnAt = now;
      io.err(`\r${progressLine(progress, now - startedAt, io.columns)}\u001b[K`);
    },
    clear: () => {
      if (Number.isFinite(drawnAt)) io.err("\r\u001b[K");
    },
  };
};

const failWithStrategies = ({ perStrategy }: RunReport): void => {
  const failed = Object.entries(perStrategy).filter(([, { state }]) => state === "failed");
  if (failed.length === 0) return;
  throw new SluiceError(
    "STRATEGY_FAILED",
    failed.length === 1 ? "A strategy failed:" : `${failed.length} strategies failed:`,
    failed.map(([name, { error }]) => `${name}: ${error ?? "no message"}`),
  );
};
