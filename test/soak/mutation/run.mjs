/**
 * Changes the code that money hangs on, one small change at a time, and counts the changes that no test notices.
 *
 * Run by `npm run mutation`; `npm run mutation -- plan merge` for some parts only, `npm run mutation -- ledger src/scheduler/quota/limit-window.ts` for
 * one file of a part, `--verbose` to see Stryker at work. Installs Stryker beside this file, once; works in a copy of the tree, which
 * it removes again. Tells the share of each part and of each of its files; exits with 1 when a part is below its floor. Not part of
 * `npm test`: minutes, not seconds.
 * Every change counts, those in the words of messages too; none is left out by hand.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { floor, parts } from "./parts.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../../..", import.meta.url));
const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const verbose = process.argv.includes("--verbose");

const install = () => {
  if (existsSync(join(here, "node_modules"))) return;
  process.stderr.write("Installing Stryker, once.\n");
  const flags = ["--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["ci", "--prefix", here, ...flags], {
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
};

const isNoticed = ({ status }) => status === "Killed" || status === "Timeout";
const isMissed = ({ status }) => status === "Survived" || status === "NoCoverage";
const percent = (noticed, missed) => (100 * noticed) / Math.max(1, noticed + missed);
const line = (name, noticed, missed) =>
  `${name.padEnd(28)} ${percent(noticed, missed).toFixed(1).padStart(5)} %  ${noticed} noticed, ${missed} not`;

/** How many changes some test noticed, of those that could be noticed at all: a row for each file. */
const rowsOf = (report) =>
  Object.entries(report.files).map(([file, { mutants }]) => ({
    file,
    noticed: mutants.filter(isNoticed).length,
    missed: mutants.filter(isMissed).map(({ mutatorName, replacement = "", location: { start } }) => {
      const change = replacement.replaceAll(/\s+/g, " ").slice(0, 90);
      return `${file}:${start.line}:${start.column} ${mutatorName} -> ${change}`;
    }),
  }));

const settingsOf = (files, scratch, report) => ({
  mutate: files,
  testRunner: "vitest",
  plugins: [join(here, "node_modules/@stryker-mutator/vitest-runner/dist/src/index.js")],
  vitest: { configFile: "test/soak/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  // Two at a time share a small machine badly, and a change that is only slow would count as noticed.
  concurrency: 1,
  timeoutMS: 10_000,
  ignorePatterns: ["dist", "out", "coverage", "test/bench/node_modules", "test/soak/mutation/node_modules"],
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
    const run = spawnSync(
      process.execPath,
      [join(here, "node_modules/@stryker-mutator/core/bin/stryker.js"), "run", config],
      {
        cwd: root,
        env: { ...process.env, SLUICE_MUTATION_TESTS: tests.join(",") },
        stdio: ["ignore", verbose ? 2 : "ignore", 2],
      },
    );
    if (run.status !== 0 || !existsSync(report))
      throw new Error(`${name}: Stryker ended with ${run.status}; --verbose shows why`);
    return rowsOf(JSON.parse(readFileSync(report, "utf8")));
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
  const rows = mutate(name, files.length > 0 ? files : part.mutate, part.tests);
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  const noticed = rows.reduce((sum, row) => sum + row.noticed, 0);
  const missed = rows.flatMap((row) => row.missed);
  process.stdout.write(`${line(name, noticed, missed.length)}, ${seconds} s\n`);
  if (rows.length > 1)
    for (const row of rows) process.stdout.write(`  ${line(row.file, row.noticed, row.missed.length)}\n`);
  for (const change of missed) process.stdout.write(`  not noticed: ${change}\n`);
  low ||= percent(noticed, missed.length) < floor;
}
process.exit(low ? 1 : 0);
