#!/usr/bin/env node
/**
 * Accepts what the shipped strategies do now as their golden results: prints every figure that moves and rewrites
 * test/acceptance/golden/*.json and the journals beside them. What changed is for a reviewer to read before it is committed.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const { status } = spawnSync("npx", ["vitest", "run", "test/acceptance/golden", "test/acceptance/strategies/strategies.test.ts", "--update"], {
  cwd: fileURLToPath(new URL("../../..", import.meta.url)),
  env: { ...process.env, SLUICE_GOLDEN: "accept" },
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exitCode = status ?? 1;
