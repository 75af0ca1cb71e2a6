/**
 * Bundles the clients of pages: `client/main.ts` or `main.tsx` of each plugin becomes `bundle/page.js`, and the style of the chart
 * library `bundle/chart.css`.
 *
 * Usage: `node plugins/ui-kit/bundle.mjs [root]`. The bundles are written below `root`, by default below the checkout.
 * Invariants: one file for each page, which loads nothing; the licence of each bundled package is in front of it; a
 * reader never sees half a bundle.
 * Not here: reading bundles, and when a checkout makes them again (page-bundle.ts).
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("../..", import.meta.url));
const target = resolve(process.argv[2] ?? root);

/** Folder of the package that a module belongs to; undefined for modules of the project. */
const packageOf = (module) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module.replaceAll("\\", "/"))?.[0];

const licenceOf = (folder) => {
  const file = readdirSync(folder).find((name) => /^licen[cs]e(\.|$)/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no licence file: a bundle must carry one.`);
  const name = /node_modules\/(.*)$/.exec(folder)[1];
  return `/*! ${name}\n${readFileSync(join(folder, file), "utf8").trim()}\n*/\n`;
};

const write = (folder, name, text) => {
  mkdirSync(folder, { recursive: true });
  const unfinished = join(folder, `.${name}.${process.pid}`);
  writeFileSync(unfinished, text);
  renameSync(unfinished, join(folder, name));
};

const entryOf = (plugin) =>
  ["main.ts", "main.tsx"].map((name) => join(root, "plugins", plugin, "client", name)).find(existsSync);

const bundle = async (plugin) => {
  const made = await rolldown({
    input: entryOf(plugin),
    platform: "browser",
    tsconfig: join(root, "plugins/ui-kit/client/tsconfig.json"),
    transform: { target: "es2023" },
  });
  const { output } = await made.generate({ format: "iife", minify: true, comments: false });
  await made.close();
  const [{ code, moduleIds }] = output;
  const packages = [...new Set(moduleIds.map(packageOf))].filter((folder) => folder !== undefined).sort();
  write(join(target, "plugins", plugin, "bundle"), "page.js", `${packages.map(licenceOf).join("")}${code}`);
};

const plugins = readdirSync(join(root, "plugins")).filter(entryOf);
await Promise.all(plugins.map(bundle));
const style = fileURLToPath(import.meta.resolve("uplot/dist/uPlot.min.css"));
write(join(target, "plugins/ui-kit/bundle"), "chart.css", readFileSync(style, "utf8"));
