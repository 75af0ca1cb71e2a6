/**
 * `sluice compare <a> <b>`: two runs side by side, where they first part and why; with --backtest a session beside its own backtest.
 *
 * Invariants: exit code 0 when the runs are equal, 1 when they differ, 2 for wrong usage and for what cannot be read; with --json
 * stdout holds one JSON document and nothing else; nothing reaches a service.
 * Not here: reading, comparing and wording (compare/).
 */
import { type Command, InvalidArgumentError } from "commander";
import { isSluiceError, SluiceError } from "../errors.ts";
import { loadConfigFile } from "../host/load.ts";
import type { RunRecord } from "../verify/compare/run-record.ts";
import { type CliIo, colourOf } from "./io.ts";

interface Flags {
  readonly backtest?: string | true;
  readonly within?: number;
  readonly json?: true;
}

export const addCompareCommand = (program: Command, io: CliIo): void => {
  program
    .command("compare")
    .description("Put two runs side by side: journals, sessions or reports. Says where they first differ, and why.")
    .argument("<a>", "journal file, session folder, or report of `sluice backtest --json`")
    .argument("[b]", "the other run")
    .option("--backtest [config]", "instead of the other run: backtest the session's market, with the recorded config or this one")
    .option("--within <ms>", "how far apart in time the same thing may happen (default: 1000)", msOf)
    .option("--json", "print the result as one JSON document")
    .action((a: string, b: string | undefined, flags: Flags) => compare(a, b, flags, io));
};

const msOf = (text: string): number => {
  if (/^\d{1,9}(\.\d{1,3})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write a number of milliseconds, such as 250.");
};

const compare = async (a: string, b: string | undefined, flags: Flags, io: CliIo): Promise<void> => {
  const [{ compareRuns }, { comparisonText }] = await Promise.all([
    import("../verify/compare/comparison.ts"),
    import("../verify/compare/comparison-text.ts"),
  ]);
  const runs = await runsOf(a, b, flags);
  const result = compareRuns(...runs, { ...(flags.within !== undefined && { withinMs: flags.within }) });
  io.out(flags.json ? `${JSON.stringify(result)}\n` : comparisonText(result, colourOf(io)));
  if (!result.equal) throw new SluiceError("REPLAY_DIVERGED", `${result.a.name} and ${result.b.name} differ.`);
};

const runsOf = async (a: string, b: string | undefined, { backtest }: Flags): Promise<readonly [RunRecord, RunRecord]> => {
  const { readRun } = await import("../verify/compare/read-run.ts");
  if (backtest !== undefined) {
    if (b !== undefined) throw new SluiceError("USAGE", "compare: name another run or give --backtest, not both.");
    return besideItsBacktest(a, backtest);
  }
  if (b === undefined) throw new SluiceError("USAGE", "compare: name two runs, or a session and --backtest.");
  return [readable(() => readRun(a)), readable(() => readRun(b))];
};

const besideItsBacktest = async (dir: string, given: string | true): Promise<readonly [RunRecord, RunRecord]> => {
  const [{ readSession }, { runOfSession }, { backtestOfSession }] = await Promise.all([
    import("../verify/session/session-file.ts"),
    import("../verify/compare/read-run.ts"),
    import("../verify/compare/session-backtest.ts"),
  ]);
  const session = readable(() => readSession(dir));
  const path = given === true ? session.header.config : given;
  if (path === "") {
    throw new SluiceError(
      "USAGE",
      `${dir} was recorded without a config file. Name one: sluice compare ${dir} --backtest config/backtest.ts`,
    );
  }
  const happened = runOfSession(session);
  const config = await loadConfigFile(path, { command: "backtest" });
  return [happened, await backtestOfSession(session, happened, config)];
};

/** A difference is exit code 1; what cannot be read at all must not look like one. */
const readable = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    if (isSluiceError(error) && error.code === "FIXTURE_INVALID") throw new SluiceError("USAGE", error.message);
    throw error;
  }
};
