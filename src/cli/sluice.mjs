#!/usr/bin/env node
/**
 * Starts the command line: from source in a checkout, from the build where the package is installed.
 *
 * Invariants: config and strategy files written in TypeScript load without a build, and `import "sluice"` inside them is the
 * same module this process runs.
 */
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

// Since Node 22.8: what was compiled once is not compiled again at the next start.
module.enableCompileCache?.();

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
if (existsSync(here("./main.ts"))) {
  process.env.TSX_TSCONFIG_PATH ??= here("../../tsconfig.json");
  // Since Node 22.18 and 24.3 the platform strips types itself, in a fraction of the time.
  if (process.features.typescript !== "strip") {
    const [commonJs, modules] = await Promise.all([import("tsx/cjs/api"), import("tsx/esm/api")]);
    commonJs.register();
    modules.register();
  } else {
    // Plugins of a checkout import the package by its name.
    await import("./checkout-imports.mjs");
  }
  await import("./main.ts");
} else if (existsSync(here("../../dist/cli/main.js"))) {
  await import("../../dist/cli/main.js");
} else {
  const folder = here("../..");
  process.stderr.write(
    `error: ${folder} holds no dist: this package was packed or installed without its build.\n` +
      "Install a package made by `npm pack` in a clone (it builds first), or from git with scripts allowed (without --ignore-scripts).\n",
  );
  process.exitCode = 1;
}
