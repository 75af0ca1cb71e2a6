/**
 * Joins the compiled modules of the core into fewer files, because reading several hundred small ones costs a short run
 * an eighth of its processor time.
 *
 * Invariants: every public entry and every start of a process or thread stays at its path; each module is in one file, so
 * that all entries share its classes; what is loaded on demand is still loaded on demand; a module that looks for files
 * next to the package is one folder below `dist`, as before; declarations stay as the compiler wrote them.
 * Not here: the pages (plugins/ui-kit/bundle.mjs), strategies and plugins, which stay modules of their own.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";

/** Names of the core's entries in `exports` of the package's manifest. */
const publicEntriesOf = (root) => {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.values(manifest.exports).flatMap(({ default: path }) => /^\.\/dist\/(\w+)\.js$/.exec(path)?.[1] ?? []);
};
/** Files by which a process or a thread starts. */
const starts = ["cli/main", "host/isolation-worker"];

/**
 * Replaces the compiled modules below `dist` by joined ones.
 *
 * @param dist - absolute path of the compiled core, without strategies and plugins
 */
export const bundleCore = async (dist) => {
  const root = dirname(dist);
  const publicEntries = publicEntriesOf(root);
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries([
      ...publicEntries.map((name) => [`core/${name}`, join(dist, `${name}.js`)]),
      ...starts.map((name) => [name, join(dist, `${name}.js`)]),
    ]),
    // Packages are loaded from where they are installed.
    external: /^[^./]/,
    platform: "node",
  });
  const { output } = await bundle.generate({ format: "esm", chunkFileNames: "core/[name].js", comments: false });
  await bundle.close();

  for (const path of readdirSync(dist, { encoding: "utf8", recursive: true })) {
    if (path.endsWith(".js")) rmSync(join(dist, path));
  }
  for (const { fileName, code } of output) write(join(dist, fileName), code);
  for (const name of publicEntries) write(join(dist, `${name}.js`), `export * from "./core/${name}.js";\n`);
};

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};
