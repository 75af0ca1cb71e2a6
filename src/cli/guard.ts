/**
 * `sluice guard <config>`: does a strategy see the future? Reruns the backtest on recordings that end at random instants.
 *
 * Invariants: every run has a process of its own, so that nothing a strategy keeps in memory or reads while it is loaded comes from
 * another run; with --json stdout holds one JSON document and nothing else; a strategy that saw the future, or a run that cannot
 * be repeated, is an exit code of 1.
 * Not here: cutting and comparing (compare/).
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { type ErrorCode, errorCodes, isSluiceError, SluiceError } from "../errors.ts";
import { loadConfigFile } from "../host/load.ts";
import type { CutRun } from "../verify/compare/cut-run.ts";
import type { Runner } from "../verify/compare/look-ahead.ts";
import type { Observed } from "../verify/compare/observed.ts";
import { type CliIo, transientLine } from "./io.ts";
import { seedOf, wholeFrom } from "./option-values.ts";
import { starterBeside } from "./starter.ts";

interface Flags {
  readonly fixture?: string;
  readonly cuts: number;
  readonly seed: number;
  readonly json?: true;
  /** Set by this command for the processes it starts. */
  readonly errand?: string;
}

/** What one process is sent to do. */
interface Errand extends CutRun {
  readonly answer: string;
}

type Answer =
  | { readonly seen: Observed & { readonly fixture: string } }
  | { readonly failed: { readonly code: string; readonly message: string } };

export const addGuardCommand = (program: Command, io: CliIo): void => {
  program
    .command("guard")
    .description("Say whether the strategies of a config see the future: rerun the backtest on recordings that end at random instants.")
    .argument("<config>", "config file, such as config/backtest.ts")
    .option("--fixture <dir>", "recorded market, instead of the config's")
    .option("--cuts <n>", "how many instants to end at", wholeFrom(1, 1_000), 8)
    .option("--seed <n>", "seed of the instants", seedOf, 1)
    .option("--json", "print the result as one JSON document")
    .addOption(new Option("--errand <json>").hideHelp())
    .action((path: string, flags: Flags) =>
      flags.errand === undefined ? guard(path, flags, io) : run(path, JSON.parse(flags.errand) as Errand),
    );
};

const guard = async (path: string, flags: Flags, io: CliIo): Promise<void> => {
  const [{ lookAhead }, { lookAheadText }] = await Promise.all([
    import("../verify/compare/look-ahead.ts"),
    import("../verify/compare/look-ahead-text.ts"),
  ]);
  const { cuts, seed } = flags;
  const progress = transientLine(io);
  const report = await lookAhead(runnerOf(path, flags.fixture), {
    cuts,
    seed,
    onProgress: (done, all) => {
      progress.show(() => `run ${done} of ${all}`);
    },
  }).finally(progress.clear);
  io.out(flags.json ? `${JSON.stringify(report)}\n` : lookAheadText(report));
  if (report.verdict === "blind") return;
  const names = report.glimpses.map(({ strategy }) => strategy).join(", ");
  throw new SluiceError(
    "STRATEGY_FAILED",
    report.verdict === "not-repeatable" ? `${path}: two runs of the same config decide differently.` : `${path}: ${names} saw the future.`,
  );
};

/** Each run in a process of its own; the first tells which recording it is. */
const runnerOf = (path: string, given: string | undefined): Runner => {
  let fixture = given;
  return async (cutAt) => {
    const seen = await inProcess(path, { ...(fixture !== undefined && { fixture }), ...(cutAt !== undefined && { cutAt }) });
    fixture = seen.fixture;
    return seen;
  };
};

const inProcess = async (path: string, order: CutRun): Promise<Observed & { readonly fixture: string }> => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-guard-"));
  const errand: Errand = { ...order, answer: join(folder, "answer.json") };
  try {
    const said = await ended([starterBeside(import.meta.url), "guard", path, "--errand", JSON.stringify(errand)]);
    const answer = existsSync(errand.answer) ? (JSON.parse(readFileSync(errand.answer, "utf8")) as Answer) : undefined;
    if (answer === undefined) throw new SluiceError("STRATEGY_FAILED", `${path}: the run ended without a result. ${said.trim()}`);
    if ("seen" in answer) return answer.seen;
    const { code, message } = answer.failed;
    throw Object.hasOwn(errorCodes, code) ? new SluiceError(code as ErrorCode, message) : new Error(message);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** What the process complained of. What strategies print is not ours to pass on. */
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

const run = async (path: string, { answer, ...order }: Errand): Promise<void> => {
  const { cutRun } = await import("../verify/compare/cut-run.ts");
  const write = (what: Answer): void => writeFileSync(answer, JSON.stringify(what));
  try {
    write({ seen: await cutRun(() => loadConfigFile(path, { command: "backtest" }), order) });
  } catch (error) {
    write({ failed: { code: isSluiceError(error) ? error.code : "", message: error instanceof Error ? error.message : String(error) } });
  }
};
