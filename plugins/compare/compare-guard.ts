/**
 * The look-ahead guard of a config file, used by programs and by `sluice guard`.
 *
 * Invariants: every run has a process of its own, so that nothing a strategy keeps in memory or reads while it is
 * loaded comes from another run.
 * Not here: cutting (cut-run.ts), comparing (look-ahead.ts), words (look-ahead-text.ts).
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ErrorCode, errorCodes, isSluiceError, SluiceError } from "sluice";
import { checkOptions, loadConfigFile, type OptionRules, seedBounds, starter } from "sluice/extension";
import type { CutRun } from "./cut-run.ts";
import type { LookAheadReport, Runner } from "./look-ahead.ts";
import type { Observed } from "./observed.ts";

/** Options of `guard`: those of the command. */
export interface GuardOptions {
  /** Folder of a recorded market, instead of the config's. */
  readonly fixture?: string;
  /** Number of instants at which recordings end, default 8. */
  readonly cuts?: number;
  /** Seed of the instants, default 1. */
  readonly seed?: number;
  /** Runs done, of how many. */
  readonly onProgress?: (done: number, all: number) => void;
}

/** Task of one process. */
interface Errand extends CutRun {
  readonly answer: string;
}

type Answer =
  | { readonly seen: Observed & { readonly fixture: string } }
  | { readonly failed: { readonly code: string; readonly message: string } };

export const cutBounds = { least: 1, most: 1_000 };

const rules: OptionRules = {
  wholes: { cuts: cutBounds, seed: seedBounds },
  others: { fixture: { type: "string" }, onProgress: {} },
};

/**
 * Look-ahead check of the strategies of a config: repeats its backtest on recordings that end at random instants. The
 * report is what `sluice guard --json` prints; its `verdict` is a result, and no error. Throws `USAGE`,
 * `CONFIG_INVALID`, or what a run failed with.
 */
export const guard = async (path: string, options: GuardOptions = {}): Promise<LookAheadReport> => {
  checkOptions("guard", rules, options);
  const { lookAhead } = await import("./look-ahead.ts");
  const { fixture, ...rest } = options;
  return lookAhead(runnerOf(path, fixture), rest);
};

/** Returns a runner with a process for each run; the first run determines the recording. */
const runnerOf = (path: string, given: string | undefined): Runner => {
  let fixture = given;
  return async (cutAt) => {
    const seen = await inProcess(path, {
      ...(fixture !== undefined && { fixture }),
      ...(cutAt !== undefined && { cutAt }),
    });
    fixture = seen.fixture;
    return seen;
  };
};

const inProcess = async (path: string, order: CutRun): Promise<Observed & { readonly fixture: string }> => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-guard-"));
  const errand: Errand = { ...order, answer: join(folder, "answer.json") };
  try {
    const said = await ended([starter(), "guard", path, "--errand", JSON.stringify(errand)]);
    const answer = existsSync(errand.answer) ? (JSON.parse(readFileSync(errand.answer, "utf8")) as Answer) : undefined;
    if (answer === undefined)
      throw new SluiceError("STRATEGY_FAILED", `${path}: the run ended without a result. ${said.trim()}`);
    if ("seen" in answer) return answer.seen;
    const { code, message } = answer.failed;
    throw Object.hasOwn(errorCodes, code) ? new SluiceError(code as ErrorCode, message) : new Error(message);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Runs a process and returns its error output. Output of strategies is not passed on. */
const ended = (argv: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, argv, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", () => {
      resolve(said);
    });
  });

/** Executes one task and writes its answer; used by the processes that `guard` starts. */
export const runErrand = async (path: string, errand: string): Promise<void> => {
  const { answer, ...order } = JSON.parse(errand) as Errand;
  const { cutRun } = await import("./cut-run.ts");
  const write = (what: Answer): void => writeFileSync(answer, JSON.stringify(what));
  try {
    write({ seen: await cutRun(() => loadConfigFile(path, { command: "backtest" }), order) });
  } catch (error) {
    write({
      failed: {
        code: isSluiceError(error) ? error.code : "",
        message: error instanceof Error ? error.message : String(error),
      },
    });
  }
};
