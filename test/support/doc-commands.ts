/**
 * Commands that the documentation shows in `sh` blocks: split as a shell would, and parsed by the command line's own parser.
 *
 * Not here: finding the blocks (doc-blocks.ts).
 */
import type { Command } from "commander";
import { programOf } from "../../src/cli/main.ts";
import { capturedIo } from "./captured-io.ts";

/** The simple commands of a block, each as its words; comments and redirections are left out. */
export const commandsOf = (text: string): readonly (readonly string[])[] =>
  text
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, ""))
    .flatMap((line) => line.split(/&&|\|\||[;|()]/))
    .map((part) =>
      [...part.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)]
        .map(([, double, single, plain]) => double ?? single ?? plain ?? "")
        .filter((word, index, words) => !/^\d?>/.test(word) && !/^\d?>$/.test(words[index - 1] ?? "")),
    )
    // Settings before a command: NAME=value.
    .map((words) => words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word))))
    .filter((words) => words.length > 0 && words[0] !== "&");

/** Why the command line would not take these words, without doing what they say; undefined where it would. */
export const usageProblem = async (argv: readonly string[]): Promise<string | undefined> => {
  const program: Command = await programOf(argv, capturedIo(), {});
  if (
    program.commands.every((command) => command.name() !== argv[0]) &&
    !/^(-V|--version|-h|--help|help)$/.test(argv[0] ?? "")
  )
    return `there is no command "${argv[0]}"`;
  const leaves = program.commands.flatMap((command) => (command.commands.length === 0 ? [command] : command.commands));
  for (const command of leaves) command.action(() => undefined);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return undefined;
  } catch (error) {
    const { exitCode, message } = error as { readonly exitCode?: number; readonly message: string };
    return exitCode === 0 ? undefined : message;
  }
};
