/**
 * Output files of commands: checked for write access before a long run.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SluiceError } from "../errors.ts";

/** Folders on the way are made. */
export const checkPlace = (file: string): void => {
  try {
    mkdirSync(dirname(file), { recursive: true });
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new Error("it is a folder");
  } catch (error) {
    throw new SluiceError(
      "USAGE",
      `${file} cannot be written: ${(error as Error).message}. Name a file in a folder of yours.`,
    );
  }
};
