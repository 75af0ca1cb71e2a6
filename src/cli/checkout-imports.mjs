/**
 * Imports of the package by its name, in a checkout on a platform that strips types itself: they mean the sources.
 *
 * Invariants: `sluice` and its entries resolve by the same paths as in tsconfig.json, which the loader of other platforms reads.
 */
import { registerHooks } from "node:module";

/** Path of an entry under the root: `sluice/plugins/log` is `plugins/log/index.ts`. */
const fileOf = (entry) => {
  if (entry === undefined) return "src/index.ts";
  const [kind, name] = entry.split("/");
  if (kind === "plugins" && name !== undefined) return `plugins/${name}/index.ts`;
  if (kind === "strategies" && name !== undefined) return `strategies/${name}.ts`;
  return `src/${entry}.ts`;
};

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const match = /^sluice(?:\/([\w/-]+))?$/.exec(specifier);
    if (match === null) return nextResolve(specifier, context);
    const url = new URL(`../../${fileOf(match[1])}`, import.meta.url).href;
    return { url, format: "module-typescript", shortCircuit: true };
  },
});
