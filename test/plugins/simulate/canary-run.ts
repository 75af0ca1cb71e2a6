/** Breaks a copy of the tree and looks for the seed that notices. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Canary } from "./canaries.ts";

export interface Catch {
  readonly seed: number;
  readonly invariant: string;
  readonly text: string;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const run = promisify(execFile);

/** Says what is wrong with an edit that fits nowhere any more. */
export const misfit = ({ name, file, find }: Canary): string | undefined => {
  const count = readFileSync(join(root, file), "utf8").split(find).length - 1;
  return count === 1 ? undefined : `"${name}": its text occurs ${count} times in ${file}`;
};

const breakCopy = (canary: Canary | undefined): string => {
  const copy = mkdtempSync(join(tmpdir(), "sluice-canary-"));
  for (const part of [
    "src",
    "plugins",
    "strategies",
    "tsconfig.json",
    "package.json",
    "test/plugins/simulate",
    "test/support/configs",
  ]) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  symlinkSync(join(root, "test/fixtures"), join(copy, "test/fixtures"));
  if (canary !== undefined) {
    const path = join(copy, canary.file);
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace(canary.find, () => canary.put),
    );
  }
  return copy;
};

/** Of a protected position some minutes pass before its stop is due. */
const minutesOf = (canary: Canary | undefined): number => (canary?.config === "protected" ? 10 : 4);

/** Seeds from `first` on; undefined when none of them notices. */
export const hunt = async (
  canary: Canary | undefined,
  first: number,
  seeds: number,
  minutes = minutesOf(canary),
): Promise<Catch | undefined> => {
  const copy = breakCopy(canary);
  try {
    const args = [
      "--import",
      "tsx",
      join(copy, "test/plugins/simulate/canary-child.ts"),
      first,
      seeds,
      minutes,
      canary?.config ?? "busy",
    ].map(String);
    const env = { ...process.env, TSX_TSCONFIG_PATH: join(copy, "tsconfig.json") };
    const { stdout } = await run(process.execPath, args, { cwd: copy, env, timeout: 1_800_000 });
    return (JSON.parse(stdout) as Catch | null) ?? undefined;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};
