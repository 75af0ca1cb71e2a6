/** The sources compiled as the package has them, for benches: the loader of a checkout adds to every function. */
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");

/** Everything the entries of a compiled package export, whichever of them has it; older ones have but the first. */
export const loadPackage = async (compiled) => {
  const entries = ["index", "backtest", "venue", "session", "testing"].filter((name) =>
    existsSync(join(compiled, `${name}.js`)),
  );
  const found = Object.assign(
    {},
    ...(await Promise.all(entries.map((name) => import(pathToFileURL(join(compiled, `${name}.js`)).href)))),
  );
  if (takesWanted(found)) return found;
  const defineStrategy = ({ wanted, ...others }) =>
    found.defineStrategy(wanted === undefined ? others : { ...others, desired: wanted });
  return { ...found, defineStrategy };
};

/** Returns false for older states, in which the orders of a strategy are called `desired`. */
const takesWanted = ({ defineStrategy }) => {
  const options = { type: "object", additionalProperties: false, properties: {} };
  try {
    defineStrategy({ name: "none", options, wanted: () => [] });
    return true;
  } catch {
    return false;
  }
};

/** Into `dir`, beside a way to the dependencies; where the modules are. */
export const compileInto = (dir) => {
  writeFileSync(join(dir, "package.json"), '{"type":"module"}');
  return compiled(dir, "out");
};

/** The whole package into `dir`, with its strategies, plugins and configs; where its modules are. */
export const packageInto = (dir) => {
  mkdirSync(join(dir, "src/cli"), { recursive: true });
  for (const file of ["package.json", "src/cli/sluice.mjs"]) copyFileSync(join(root, file), join(dir, file));
  for (const folder of ["strategies", "plugins", "config", "test/fixtures"])
    cpSync(join(root, folder), join(dir, folder), { recursive: true });
  const modules = compiled(dir, "dist");
  // They import the package by its name, so they come after it.
  for (const file of ["tsconfig.json", "tsconfig.shipped.json"]) copyFileSync(join(root, file), join(dir, file));
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.shipped.json"], { cwd: dir, stdio: ["ignore", 2, 2] });
  return modules;
};

/** Compiles a bench folder and the sources that it imports into `dir`. Returns the folder of the compiled bench. */
export const benchInto = (dir, folder) => {
  const project = join(dir, "tsconfig.json");
  const compilerOptions = { noEmit: false, allowJs: false, rootDir: root, outDir: join(dir, "out") };
  const include = [join(root, "test/bench", folder, "*.ts")];
  writeFileSync(project, JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include }));
  writeFileSync(join(dir, "package.json"), '{"type":"module"}');
  linkDependencies(dir);
  compile(["-p", project]);
  return join(dir, "out/test/bench", folder);
};

const compiled = (dir, name) => {
  linkDependencies(dir);
  compile(["-p", "tsconfig.build.json", "--outDir", join(dir, name)]);
  return join(dir, name);
};

const linkDependencies = (dir) => symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));

const compile = (args) => {
  process.stderr.write("compiling\n");
  try {
    execFileSync(process.execPath, [tsc, ...args], { cwd: root, stdio: ["ignore", 2, 2] });
  } catch {
    process.stderr.write("the sources do not compile cleanly; what came out is measured\n");
  }
};
