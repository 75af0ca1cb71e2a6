/**
 * JSON files that options name: rows of a profile, fault plans.
 *
 * Invariants: what cannot be read, or is not of the right kind, is refused with the file's name before anything is
 * opened.
 */
import { readFileSync } from "node:fs";
import type { ProfileOverrides } from "../contract/profile.ts";
import { SluiceError } from "../errors.ts";

/**
 * Reads a JSON file.
 *
 * @param path - of the file
 * @returns its value
 * @throws CONFIG_INVALID where it cannot be read or is not JSON
 */
export const readJson = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as unknown;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SluiceError(
      "CONFIG_INVALID",
      code === undefined ? `${path}: is not JSON (${message}).` : `${path}: cannot be read (${code}).`,
    );
  }
};

/**
 * Reads rows of a profile from a JSON file.
 *
 * @param path - of the file
 * @returns the rows
 * @throws PROFILE_INVALID for anything but an object, CONFIG_INVALID for a file that cannot be read
 */
export const readOverrides = (path: string): ProfileOverrides => {
  const value = readJson(path);
  if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  throw new SluiceError(
    "PROFILE_INVALID",
    `${path}: expected an object of groups, such as {"limits": {"anchor": "sliding"}}.`,
  );
};
