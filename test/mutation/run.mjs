/**
 * Changes the code that money hangs on, one small change at a time, and counts the changes that no test notices.
 *
 * Run by `npm run mutation`; `npm run mutation -- plan merge` for some parts only, `npm run mutation -- ledger src/quota/gauge.ts` for
 * one file of a part, `--verbose` to see Stryker at work. Installs Stryker beside this file, once; works in a copy of the tree, which
 * it removes again. Exits with 1 when a part is below its floor. Not part of `npm test`: minutes, not seconds.
 * Every change counts, those in the words of messages too; none is left out by hand.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { floor, parts } from "./parts.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));
const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const verbose = process.argv.includes("--verbose");

const install = () => {
  if (existsSync(join(here, "node_modules"))) return;
  process.stderr.write("Installing Stryker, once.\n");
  const flags = ["--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["ci", "--prefix", here, ...flags], { stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
};

/** The share of changes that some test noticed, of those that could be noticed at all. */
const scoreOf = (report) => {
  let noticed = 0;
  const missed = [];
  for (const [file, { mutants }] of Object.entries(report.files))
    for (const { status, mutatorName, replacement = "", location } of mutants) {
      if (status === "Killed" || status === "Timeout") noticed++;
      else if (status === "Survived" || status === "NoCoverage") {
        const { line, column } = location.start;
        missed.push(`${file}:${line}:${column} ${mutatorName} -> ${replacement.replaceAll(/\s+/g, " ").slice(0, 90)}`);
      }
    }
  return { score: (100 * noticed) / Math.max(1, noticed + missed.length), noticed, missed };
};

const settingsOf = (files, scratch, report) => ({
  mutate: files,
  testRunner: "vitest",
  plugins: [join(here, "node_modules/@stryker-mutator/vitest-runner/dist/src/index.js")],
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  // Two at a time share a small machine badly, and a change that is only slow would count as noticed.
  concurrency: 1,
  timeoutMS: 10_000,
  ignorePatterns: ["dist", "out", "coverage", "test/bench/node_modules", "test/mutation/node_modules"],
  tempDirName: join(scratch, "copies"),
  reporters: ["json"],
  jsonReporter: { fileName: report },
  disableTypeChecks: false,
  // Stryker would rewrite it by an interface that this compiler does not have.
  tsconfigFile: "none",
  allowConsoleColors: false,
});

const mutate = (name, files, tests) => {
  const scratch = mkdtempSync(join(tmpdir(), "sluice-mutation-"));
  const [config, report] = ["stryker.config.json", "report.json"].map((file) => join(scratch, file));
  try {
    writeFileSync(config, JSON.stringify(settingsOf(files, scratch, report)));
    const run = spawnSync(process.execPath, [join(here, "node_modules/@stryker-mutator/core/bin/stryker.js"), "run", config], {
      cwd: root,
      env: { ...process.env, SLUICE_MUTATION_TESTS: tests.join(",") },
      stdio: ["ignore", verbose ? 2 : "ignore", 2],
    });
    if (run.status !== 0 || !existsSync(report)) throw new Error(`${name}: Stryker ended with ${run.status}; --verbose shows why`);
    return scoreOf(JSON.parse(readFileSync(report, "utf8")));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

const files = words.filter((word) => word.includes("/"));
const names = words.filter((word) => !word.includes("/"));
const unknown = names.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0 || (files.length > 0 && names.length !== 1)) {
  process.stderr.write(`Name parts of ${Object.keys(parts).join(", ")}, or one of them and files of it.\n`);
  process.exit(2);
}
install();
let low = false;
for (const [name, part] of Object.entries(parts)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const started = performance.now();
  const { score, noticed, missed } = mutate(name, files.length > 0 ? files : part.mutate, part.tests);
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  process.stdout.write(`${name.padEnd(10)} ${score.toFixed(1).padStart(5)} %  ${noticed} noticed, ${missed.length} not, ${seconds} s\n`);
  for (const change of missed) process.stdout.write(`  not noticed: ${change}\n`);
  low ||= score < floor;
}
process.exit(low ? 1 : 0);
