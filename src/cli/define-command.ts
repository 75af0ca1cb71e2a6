/**
 * Definition of a command that a plugin adds to the command line: `sluice <name>`.
 *
 * Not here: how its package names it (plugin-manifest.ts).
 */
import type { Command } from "commander";
import type { CliIo } from "./io.ts";

/** A command: the default export of the module that a manifest names. Made by `defineCommand`. */
export interface CliCommand {
  readonly kind: "command";
  readonly name: string;
  /**
   * Adds the command to the program: its arguments, its options and its action.
   *
   * @param io - where its results and messages go
   * @param parts - replaced parts, for tests
   */
  readonly add: (program: Command, io: CliIo, parts: object) => void;
}

/**
 * Makes a command.
 *
 * @param name - as a manifest lists it
 * @param add - adds it to a program of commander
 * @returns the default export of its module
 * @example
 * export default defineCommand("greet", (program, io) => {
 *   program.command("greet").argument("<name>").action((name: string) => io.out(`Hello ${name}\n`));
 * });
 *
 */
export const defineCommand = (name: string, add: CliCommand["add"]): CliCommand => ({ kind: "command", name, add });
