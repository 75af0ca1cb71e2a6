/**
 * The package as it was at the commit that these benches compare with.
 *
 * Invariants: the older state is made from this repository alone, compiled by this checkout's compiler and run with its dependencies.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const baseline = "b745485";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Compiles the baseline into `dir`; where its modules are, or undefined with a word on stderr where the commit is not at hand. */
export const compileBaseline = (dir) => {
  const git = (...args) =>
    execFileSync("git", args, { cwd: root, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
  let archive;
  try {
    archive = git("archive", "--format=tar", baseline, "src", "tsconfig.json", "tsconfig.build.json", "package.json");
  } catch {
    process.stderr.write(
      `Commit ${baseline} is not in this copy of the repository (a shallow clone, or a packed copy): nothing is compared with it. In a clone, git fetch --unshallow brings it.\n`,
    );
    return undefined;
  }
  mkdirSync(dir, { recursive: true });
  execFileSync("tar", ["-x", "-C", dir], { input: archive });
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  process.stderr.write(`compiling ${baseline}\n`);
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", "dist"], {
    cwd: dir,
    stdio: ["ignore", 2, 2],
  });
  return join(dir, "dist");
};
