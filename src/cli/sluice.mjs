#!/usr/bin/env node
/**
 * Starts the command line: from source in a checkout, from the build where the package is installed.
 *
 * Invariants: config and strategy files written in TypeScript load without a build, and `import "sluice"` inside them is the
 * same module this process runs.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { register as registerCommonJs } from "tsx/cjs/api";
import { register } from "tsx/esm/api";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const fromSource = existsSync(here("./main.ts"));
if (fromSource) process.env.TSX_TSCONFIG_PATH ??= here("../../tsconfig.json");
registerCommonJs();
register();
await import(fromSource ? "./main.ts" : "../../dist/cli/main.js");
