/** The sources compiled as the package has them, for benches: the loader of a checkout adds to every function. */
import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Into `dir`, beside a way to the dependencies; where the modules are. */
export const compileInto = (dir) => {
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  writeFileSync(join(dir, "package.json"), '{"type":"module"}');
  process.stderr.write("compiling\n");
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  try {
    execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", join(dir, "out")], {
      cwd: root,
      stdio: ["ignore", 2, 2],
    });
  } catch {
    process.stderr.write("the sources do not compile cleanly; what came out is measured\n");
  }
  return join(dir, "out");
};
