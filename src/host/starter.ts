/**
 * Path of the start script, for commands that start further processes.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * From the address of the command line's folder: in it in a checkout; in a package that folder is built, and the script
 * is next to the sources.
 */
export const starterFrom = (cli: string): string => {
  const beside = fileURLToPath(new URL("./sluice.mjs", cli));
  return existsSync(beside) ? beside : fileURLToPath(new URL("../../src/cli/sluice.mjs", cli));
};

/**
 * Path of the script that starts the command line, for `node`.
 *
 * @returns its path
 */
export const starter = (): string => starterFrom(new URL("../cli/", import.meta.url).href);
