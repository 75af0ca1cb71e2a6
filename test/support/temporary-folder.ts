/**
 * Temporary folders of tests: each goes when the test file that asked for it has ended, or with its process.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

export const temporaryFolder = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `sluice-${name}-`));
  made.push(folder);
  return folder;
};

/** For what several files of one process share. */
export const folderOfProcess = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `sluice-${name}-`));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Called by setup.ts after each file: several files share this module where they share a process. */
export const removeTemporaryFolders = (): void => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
};
