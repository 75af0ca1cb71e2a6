/** A stranger's folder and the real program in it. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { folderOfProcess } from "../temporary-folder.ts";

export const root = fileURLToPath(new URL("../../..", import.meta.url));
export const folder = folderOfProcess("stranger");
writeFileSync(join(folder, "package.json"), '{"type":"module"}');

export const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content);
  return name;
};

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export const sluice = (argv: readonly string[], cwd = folder): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, "src/cli/sluice.mjs"), ...argv], {
      cwd,
      env: { ...process.env, NO_COLOR: "1", SLUICE_DEBUG: "" },
    });
    const ended = { out: "", err: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      ended.out += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      ended.err += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ code, ...ended });
    });
  });
