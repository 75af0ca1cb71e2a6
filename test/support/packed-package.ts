/**
 * The package as a project installs it: packed from a clone that was never built, and unpacked elsewhere.
 *
 * Without a network: what it depends on is linked from this folder's `node_modules`.
 */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a program to its end. */
export const run = (
  command: string,
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> =>
  new Promise((resolve) => {
    const options = {
      cwd,
      timeout: 230_000,
      shell: process.platform === "win32",
      env: { ...process.env, NO_COLOR: "1", ...env },
    };
    execFile(command, argv, options, (error, out, err) => {
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : 1, out, err });
    });
  });

export const npm = (argv: readonly string[], cwd: string): Promise<Ended> =>
  run("npm", [...argv, "--offline", "--no-audit", "--no-fund", "--no-update-notifier"], cwd, { INIT_CWD: cwd });

export const link = (from: string, to: string): void => {
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(from, to, "junction");
};

/** A project that has the package, and nothing else of its own. */
export interface PackedProject {
  readonly tarball: string;
  readonly project: string;
  /** The package in the project's `node_modules`. */
  readonly installed: string;
  /** Runs its command line in the project. */
  readonly sluice: (...argv: readonly string[]) => Promise<Ended>;
}

/** Places of a packed project below a folder; `packInto` fills them. */
export const packedProjectIn = (folder: string): PackedProject => {
  const project = join(folder, "project");
  const installed = join(project, "node_modules", "sluice");
  return {
    tarball: join(folder, `sluice-${manifest.version}.tgz`),
    project,
    installed,
    sluice: (...argv) => run(process.execPath, [join(installed, "src/cli/sluice.mjs"), ...argv], project),
  };
};

/** Packs a clone and unpacks it into the project. Returns how the packing ended. */
export const packInto = async (folder: string, { tarball, project, installed }: PackedProject): Promise<Ended> => {
  const clone = join(folder, "clone");
  mkdirSync(clone);
  for (const name of readdirSync(root)) {
    if (
      /^(src|strategies|plugins|config|template|package\.json|tsconfig.*\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(
        name,
      )
    ) {
      cpSync(join(root, name), join(clone, name), { recursive: true });
    }
  }
  cpSync(join(root, "test/fixtures"), join(clone, "test/fixtures"), { recursive: true });
  link(join(root, "node_modules"), join(clone, "node_modules"));
  const ended = await npm(["pack", "--pack-destination", folder], clone);
  mkdirSync(installed, { recursive: true });
  await run("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"], folder);
  for (const name of [...Object.keys(manifest.dependencies), "rxjs", "@types/node"])
    link(join(root, "node_modules", name), join(project, "node_modules", name));
  writeFileSync(join(project, "package.json"), '{"name":"somebody","private":true,"type":"module"}');
  return ended;
};
