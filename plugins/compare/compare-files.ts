/**
 * Comparison of two recorded runs, as programs and `sluice compare` ask for it.
 *
 * Invariants: nothing reaches a service; what cannot be read is wrong usage and never a difference.
 * Not here: reading (read-run.ts), comparing (comparison.ts), words (comparison-text.ts).
 */

import { isSluiceError, SluiceError } from "sluice";
import { checkOptions, loadConfigFile, type OptionRules } from "sluice/extension";
import type { Comparison, CompareOptions as ComparisonOptions } from "./comparison.ts";
import type { RunRecord } from "./run-record.ts";

/** Options of `compareRuns`: those of the command `compare`. */
export interface CompareOptions extends ComparisonOptions {
  /** Instead of another run: backtest the session's market, with the recorded config (true) or the one in this file. */
  readonly backtest?: string | true;
}

const rules: OptionRules = {
  others: { backtest: { anyOf: [{ type: "string" }, { const: true }] }, withinMs: { type: "number", minimum: 0 } },
};

/**
 * Puts two runs side by side: journal files, session folders, or reports of `sluice backtest --json`. With `backtest`,
 * `b` is left out and the session `a` is compared with its own backtest. The comparison is what `sluice compare --json`
 * prints; a difference is no error.
 */
export const compareFiles = async (
  a: string,
  b: string | undefined,
  options: CompareOptions = {},
): Promise<Comparison> => {
  checkOptions("compareRuns", rules, options);
  const { compareRuns } = await import("./comparison.ts");
  const { backtest, ...rest } = options;
  return compareRuns(...(await runsOf(a, b, backtest)), rest);
};

const runsOf = async (
  a: string,
  b: string | undefined,
  backtest: CompareOptions["backtest"],
): Promise<readonly [RunRecord, RunRecord]> => {
  if (backtest !== undefined) {
    if (b !== undefined) throw new SluiceError("USAGE", "compare: name another run or give --backtest, not both.");
    return besideItsBacktest(a, backtest);
  }
  if (b === undefined) throw new SluiceError("USAGE", "compare: name two runs, or a session and --backtest.");
  const { readRun } = await import("./read-run.ts");
  return [readable(() => readRun(a)), readable(() => readRun(b))];
};

const besideItsBacktest = async (dir: string, given: string | true): Promise<readonly [RunRecord, RunRecord]> => {
  const [{ readSession }, { runOfSession }, { backtestOfSession }] = await Promise.all([
    import("sluice/plugins/session"),
    import("./read-run.ts"),
    import("./session-backtest.ts"),
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
