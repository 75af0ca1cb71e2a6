/**
 * Path of the start script, for commands that start further processes.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Beside `file` in a checkout; in a package `file` is built, and the script stands beside the sources. */
export const starterBeside = (file: string): string => {
  const beside = fileURLToPath(new URL("./sluice.mjs", file));
  return existsSync(beside) ? beside : fileURLToPath(new URL("../../src/cli/sluice.mjs", file));
};

/** The same, from this file. */
export const starter = (): string => starterBeside(new URL("../cli/", import.meta.url).href);
