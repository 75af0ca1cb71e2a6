/**
 * Output files of commands: checked for write access before a long run, and written in pieces.
 */
import { closeSync, mkdirSync, openSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { SluiceError } from "../errors.ts";
import type { Contents } from "./define-report-exporter.ts";

/**
 * Checks that a file can be written, and makes the folders above it.
 *
 * @param file - its path
 * @throws USAGE where it cannot
 */
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

const pieceChars = 262_144;

/**
 * Replaces the file. Pieces are written as they come, since all of them together may be longer than a string can be.
 */
export const writeContents = (file: string, contents: Contents): void => {
  if (typeof contents === "string" || contents instanceof Uint8Array) {
    writeFileSync(file, contents);
    return;
  }
  const descriptor = openSync(file, "w");
  try {
    let waiting = "";
    for (const piece of contents) {
      waiting += piece;
      if (waiting.length < pieceChars) continue;
      writeFileSync(descriptor, waiting);
      waiting = "";
    }
    writeFileSync(descriptor, waiting);
  } finally {
    closeSync(descriptor);
  }
};
