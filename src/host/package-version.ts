/**
 * Version of this package.
 *
 * Invariants: read at run time, so that the one number in package.json is the truth for source and build alike.
 */
import { readFileSync } from "node:fs";

/** The version of Sluice, as its package.json has it. */
export const packageVersion = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String((manifest as { version: unknown }).version);
};
