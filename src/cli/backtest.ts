/**
 * `sluice backtest <config>`: replays a recorded market against the strategies of a config and reports.
 *
 * Invariants: with --json stdout holds one JSON document and nothing else; a run in which a strategy failed or no order
 * was accepted still prints its report, and then fails; an output file that cannot be written is reported before the
 * run.
 * Not here: the run (backtest/runner.ts), the report's shape and look (report/report.ts, report/report-text.ts), files
 * of plugins (plugin-options.ts).
 */
import type { Command } from "commander";
import type { RunOptions } from "../backtest/runner.ts";
import { withDetails } from "../backtest/with-details.ts";
import type { Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { SluiceError } from "../errors.ts";
import { failureText, ownWordsOf } from "../host/failure.ts";
import { loadConfigFile } from "../host/load.ts";
import { noDetails, type RunDetails } from "../report/details.ts";
import { jsonPieces } from "../report/json-pieces.ts";
import { limitCostOf, limitCostText } from "../report/limit-cost.ts";
import type { Progress, RunReport } from "../report/report.ts";
import { reportText } from "../report/report-text.ts";
import { returnsCsv } from "../report/return-series.ts";
import { tradeCsv } from "../report/trade-csv.ts";
import { unsentIn } from "../report/warnings.ts";
import { type CliIo, colourOf, jsonText, printable, transientLine } from "./io.ts";
import { seedOf } from "./option-values.ts";
import { pluginLines } from "./plugin-lines.ts";
import { addReportExporters, type ReportFile, writeReportFiles } from "./plugin-options.ts";
import { progressLine } from "./run-progress.ts";
import { fillsOption, type GivenFlags, givenBy, warmUpOption } from "./service-options.ts";
import { checkPlace } from "./written-files.ts";

type RunBacktest = (config: unknown, options: RunOptions) => Promise<RunReport>;

export interface BacktestParts {
  readonly runBacktest?: RunBacktest;
  readonly clock?: Clock;
}

interface Flags extends GivenFlags {
  readonly fixture?: string;
  readonly seed?: number;
  readonly limits: boolean;
  readonly compareLimits?: true;
  readonly details?: string;
  readonly verbose?: true;
  readonly trades?: string;
  readonly tradesFifo?: string;
  readonly returns?: string;
  readonly json?: true;
}

export const addBacktestCommand = (program: Command, io: CliIo, parts: BacktestParts = {}): void => {
  const command = program
    .command("backtest")
    .description("Replay a recorded market against the strategies of a config, under the same limits, and report.")
    .argument("<config>", "config file, such as config/backtest.ts")
    .option("--fixture <dir>", "recorded market to replay, instead of the config's")
    .option("--seed <n>", "seed of all chance, instead of the config's", seedOf)
    .option("--no-limits", "run without rate limits, to see what they cost")
    .addOption(fillsOption())
    .addOption(warmUpOption())
    .option("--compare-limits", "run twice, with and without limits, and show the difference")
    .option(
      "--details <file>",
      "write fills, order histories, trades, equity, positions, prices, the quota by minute and plots as JSON",
    )
    .option("--trades <file>", "write every trade from flat to flat as CSV: prices, costs, furthest moves, orders")
    .option("--trades-fifo <file>", "write trades as CSV, closing fills matched to the oldest open ones (FIFO)")
    .option("--returns <file>", "write the returns behind the statistics as CSV, daily for runs of seven days or more")
    .option("--verbose", "show every line that plugins print, instead of the first ten of each and the last")
    .option("--json", "print the report as one JSON document");
  const exportersOf = addReportExporters(command);
  command.action(async (path: string, flags: Flags) => {
    await backtest({ path, flags, files: [...(await exportersOf(flags)), ...filesOf(flags)], io, parts });
  });
};

interface Called {
  readonly path: string;
  readonly flags: Flags;
  readonly files: readonly ReportFile[];
  readonly io: CliIo;
  readonly parts: BacktestParts;
}

const backtest = async ({ path, flags, files, io, parts }: Called): Promise<void> => {
  if (flags.compareLimits && !flags.limits) {
    throw new SluiceError("USAGE", "--compare-limits runs with and without limits; leave --no-limits out.");
  }
  for (const { file } of files) checkPlace(file);
  const { clock = createSystemClock() } = parts;
  const loaded = await loadConfigFile(path, { command: "backtest", clock });
  // The config has loaded what this needs; help and mistakes before it should not wait for that.
  const { withOptions } = await import("../backtest/given-options.ts");
  const config = withOptions(loaded, givenBy(flags));
  const runBacktest = parts.runBacktest ?? (await runner());
  const run = runOf(runBacktest, flags, io, clock);
  const kept = await runAndWrite(run, config, files);
  const lifted = flags.compareLimits ? await run(config, { limits: false }) : undefined;
  io.out(flags.json ? jsonOf(kept.report, lifted) : textOf(kept.report, lifted, io));
  for (const file of kept.written) io.err(`${printable(`Wrote ${file}.`)}\n`);
  if (kept.unwritten !== undefined) throw kept.unwritten;
  for (const failure of kept.report.failures ?? []) {
    if (failure.kind === "plugin") io.err(`${failureText(failure).split("\n").map(printable).join("\n")}\n`);
  }
  failWithStrategies(kept.report);
  const reason = unsentIn(kept.report);
  if (reason !== undefined) throw new SluiceError("ORDER_REFUSED", `No order was accepted: ${reason}.`);
};

type Run = (config: unknown, options?: RunOptions) => Promise<RunReport>;

/** A run with the command's options, its progress shown. */
const runOf =
  (runBacktest: RunBacktest, flags: Flags, io: CliIo, clock: Clock): Run =>
  (config, options = {}) => {
    const startedAt = clock.now();
    const progress = transientLine(io, clock);
    const lines = pluginLines(io, flags.verbose === true, progress.clear);
    return runBacktest(config, {
      print: lines.print,
      ...(flags.fixture !== undefined && { fixture: flags.fixture }),
      ...(flags.seed !== undefined && { seed: flags.seed }),
      ...(!flags.limits && { limits: false }),
      ...(io.isTty && {
        onProgress: (done: Progress) => {
          progress.show(() => progressLine(done, clock.now() - startedAt, io.columns));
        },
      }),
      ...options,
    }).finally(() => {
      progress.clear();
      lines.end();
    });
  };

interface WrittenRun {
  readonly report: RunReport;
  readonly written: readonly string[];
  /** Error of files that could not be written. The report of a long run is printed nevertheless. */
  readonly unwritten?: unknown;
}

/** Runs the backtest and writes the requested files; details are recorded only for these. */
const runAndWrite = async (run: Run, config: unknown, files: readonly ReportFile[]): Promise<WrittenRun> => {
  if (files.length === 0) return { report: await run(config), written: [] };
  const seen: { details?: RunDetails } = {};
  const report = await run(
    withDetails(config, (details) => {
      seen.details = details;
    }),
  );
  const { details = noDetails(report.equity) } = seen;
  try {
    return { report, written: await writeReportFiles(files, report, details) };
  } catch (unwritten) {
    return { report, written: [], unwritten };
  }
};

/** Files of the command's own options. */
const filesOf = ({ details: all, trades, tradesFifo, returns }: Flags): readonly ReportFile[] => {
  const named: readonly (readonly [string | undefined, ReportFile["contents"]])[] = [
    [all, ({ resultHash }, details) => jsonLine({ resultHash, ...details })],
    [trades, (_, details) => tradeCsv(details.trades.position)],
    [tradesFifo, (_, details) => tradeCsv(details.trades.fifo)],
    [returns, (_, details) => returnsCsv(details.returns)],
  ];
  return named.flatMap(([file, contents]) => (file === undefined ? [] : [{ file, contents }]));
};

const jsonLine = function* (value: object): Generator<string> {
  yield* jsonPieces(value);
  yield "\n";
};

const jsonOf = (kept: RunReport, lifted: RunReport | undefined): string =>
  `${jsonText(lifted === undefined ? kept : { ...kept, limitCost: limitCostOf(kept, lifted) })}\n`;

const textOf = (kept: RunReport, lifted: RunReport | undefined, io: CliIo): string => {
  const look = { columns: io.columns, colour: colourOf(io) };
  return `${reportText(kept, look)}${lifted === undefined ? "" : limitCostText(kept, lifted, look)}`;
};

/** Loaded when it is needed: help and mistakes should not wait for an engine. */
const runner = async (): Promise<RunBacktest> => (await import("../backtest/runner.ts")).runBacktest;

const failWithStrategies = ({ perStrategy, failures = [] }: RunReport): void => {
  const failed = Object.entries(perStrategy).filter(([, { state }]) => state === "failed");
  if (failed.length === 0) return;
  throw new SluiceError(
    "STRATEGY_FAILED",
    failed.length === 1 ? "A strategy failed:" : `${failed.length} strategies failed:`,
    failed.map(([name, { error }]) => {
      const failure = failures.find((one) => one.kind === "strategy" && one.name === name);
      return failure === undefined ? `${name}: ${ownWordsOf(name, error ?? "no message")}` : failureText(failure);
    }),
  );
};
