/**
 * Private folder of a user on this machine, for files that their processes share.
 *
 * Invariants: created if missing; refused where others own it or have access.
 * Not here: its files (plugins, such as those of control ports).
 */
import { existsSync, lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SluiceError } from "../errors.ts";

const uidNow = (): number | undefined => process.getuid?.();

/**
 * The folder for files that processes of one user share, below the machine's temporary folder.
 *
 * @returns its path
 */
export const defaultFolder = (): string => join(tmpdir(), `sluice-${uidNow() ?? "user"}`);

/**
 * A folder that only this user may read, made where it does not exist.
 *
 * @param dir - its path
 * @param remedy - what to do where it is refused, as a sentence
 * @returns its path
 * @throws CONFIG_INVALID where others may read it
 */
export const ownFolder = (dir: string, remedy: string): string => {
  // An existing folder is checked.
  if (!existsSync(dir)) mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (process.platform === "win32") return dir;
  const stat = lstatSync(dir);
  const own = uidNow();
  const problem = !stat.isDirectory()
    ? `${dir} is not a folder`
    : own !== undefined && stat.uid !== own
      ? `${dir} belongs to another user of this machine`
      : (stat.mode & 0o077) !== 0
        ? `${dir} is open to others (mode ${(stat.mode & 0o777).toString(8)}). Run: chmod 700 '${dir}'`
        : undefined;
  if (problem !== undefined) throw new SluiceError("CONFIG_INVALID", `${problem}. ${remedy}`);
  return dir;
};
