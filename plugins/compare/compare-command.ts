/**
 * `sluice compare <a> <b>`: two runs side by side, their first difference and its cause; with --backtest a session next
 * to its own backtest.
 *
 * Invariants: exit code 0 when the runs are equal, 1 when they differ, 2 for wrong usage and for unreadable files; with
 * --json stdout holds one JSON document and nothing else.
 * Not here: reading, comparing and wording (compare-files.ts).
 */
import { type Command, InvalidArgumentError } from "commander";
import { SluiceError } from "sluice";
import { type CliIo, colourOf, defineCommand, jsonText } from "sluice/extension";
import { compareFiles } from "./compare-files.ts";

interface Flags {
  readonly backtest?: string | true;
  readonly within?: number;
  readonly json?: true;
}

const addCompareCommand = (program: Command, io: CliIo): void => {
  program
    .command("compare")
    .description("Compare two runs (journals, sessions or reports) and print where they first differ, and why.")
    .argument("<a>", "journal file, session folder, or report of `sluice backtest --json`")
    .argument("[b]", "the other run")
    .option(
      "--backtest [config]",
      "compare with a backtest of the session's market instead, with the recorded config or this one",
    )
    .option("--within <ms>", "maximum time between equal events of the two runs (default: 1000)", msOf)
    .option("--json", "print the result as one JSON document")
    .action((a: string, b: string | undefined, flags: Flags) => compare(a, b, flags, io));
};

const msOf = (text: string): number => {
  if (/^\d{1,9}(\.\d{1,3})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write a number of milliseconds, such as 250.");
};

const compare = async (
  a: string,
  b: string | undefined,
  { backtest, within, json }: Flags,
  io: CliIo,
): Promise<void> => {
  const { comparisonText } = await import("./comparison-text.ts");
  const result = await compareFiles(a, b, {
    ...(backtest !== undefined && { backtest }),
    ...(within !== undefined && { withinMs: within }),
  });
  io.out(json ? `${jsonText(result)}\n` : comparisonText(result, colourOf(io)));
  if (!result.equal) throw new SluiceError("REPLAY_DIVERGED", `${result.a.name} and ${result.b.name} differ.`);
};

export default defineCommand("compare", addCompareCommand);
