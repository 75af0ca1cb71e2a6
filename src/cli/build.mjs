/**
 * Compiles the package to `dist`, joins the modules of the core and bundles its pages: for `npm run build`, before it is
 * packed, and where npm installs it from git or from a folder. With --separate each module stays a file of its own, as
 * profiles by folder need it.
 *
 * Invariants: nothing of an earlier build is left in `dist`; with --when-installed a clone of one's own gets its pages
 * alone, as it runs from source; needs the compiler and the bundler with the bundled libraries among the dev
 * dependencies, and nothing else.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { withOptionDocstrings } from "./option-docstrings.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const compiler = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const whenInstalled = process.argv.includes("--when-installed");

/** npm names the folder where it was called: in a clone that is the clone. */
const isOwnClone = process.env.INIT_CWD !== undefined && !relative(root, process.env.INIT_CWD).startsWith("..");

const bundler = fileURLToPath(new URL("../../plugins/ui-kit/bundle.mjs", import.meta.url));
const bundlePages = (folder) => {
  if (existsSync(bundler)) execFileSync(process.execPath, [bundler, folder], { stdio: ["ignore", 2, 2] });
};

if (whenInstalled && isOwnClone) {
  if (existsSync(new URL("../../node_modules/rolldown", import.meta.url))) bundlePages(root);
  process.exit(0);
}
if (!existsSync(compiler)) {
  process.stderr.write(
    "sluice: dist is not built, as the compiler is not installed. Run in this folder: npm install && npm run build\n",
  );
  process.exit(whenInstalled ? 0 : 1);
}
rmSync(new URL("../../dist", import.meta.url), { recursive: true, force: true });
const compile = (project) =>
  execFileSync(process.execPath, [compiler, "-p", project], { cwd: root, stdio: ["ignore", 2, 2] });
compile("tsconfig.build.json");
if (!process.argv.includes("--separate")) await (await import("./core-bundle.mjs")).bundleCore(`${root}dist`);
// The shipped strategies and plugins import the package by its name, so they come after it.
compile("tsconfig.shipped.json");
// What plugins add to the command line is read before their code.
for (const plugin of readdirSync(`${root}plugins`)) {
  const manifest = `plugins/${plugin}/manifest.json`;
  if (existsSync(`${root}${manifest}`)) cpSync(`${root}${manifest}`, `${root}dist/${manifest}`);
}
bundlePages(`${root}dist`);
// The descriptions of options are in the code of a definition, and an editor reads declarations.
for (const path of ["strategies", "plugins"].flatMap((folder) =>
  readdirSync(`${root}dist/${folder}`, { encoding: "utf8", recursive: true }).map(
    (file) => `${root}dist/${folder}/${file}`,
  ),
)) {
  if (!path.endsWith(".d.ts")) continue;
  const declarations = readFileSync(path, "utf8");
  if (!declarations.includes("readonly definition: ")) continue;
  const code = await import(pathToFileURL(path.replace(/\.d\.ts$/, ".js")).href);
  const schemas = Object.entries(code).flatMap(([name, value]) =>
    value?.definition?.options === undefined
      ? []
      : [[name === "default" ? "_default" : name, value.definition.options]],
  );
  writeFileSync(path, withOptionDocstrings(declarations, Object.fromEntries(schemas)));
}
