#!/usr/bin/env node
/**
 * How fast recorded markets come into memory, and from a raw recording to a report.
 *
 *   node test/bench/load/run.mjs [--rows N] [--rounds N]
 *
 * Made trades (five million) are written as a fixture and read back as columns, each time in a process of its own: rows a second
 * of the first reading and of the best of the following ones, bytes a row on disk, and memory a row at the worst moment and after it.
 * Where the recording of a perpetual lies beside the checkout, or in the folder SLUICE_RECORDINGS names, it is imported from gzip
 * and run through the engine, cold as on a command line. Rates are of processor time, which a busy machine distorts least.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { machineLine, median } from "../machine.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const given = (name, usual) => Number(process.argv[process.argv.indexOf(name) + 1]) || usual;
const rows = given("--rows", 5_000_000);
const rounds = given("--rounds", 3);

const child = (...args) =>
  JSON.parse(
    execFileSync(process.execPath, ["--expose-gc", here("./child.mjs"), ...args.map(String)], { encoding: "utf8" }),
  );
const shown = (values, digits = 1) => values.map((value) => value.toFixed(digits)).join(", ");

const folder = mkdtempSync(join(tmpdir(), "sluice-bench-load-"));
try {
  const { bytes, seconds } = child("write", folder, rows);
  const reads = Array.from({ length: rounds }, () => child("read", folder));
  const of = (pick) => reads.map(pick);
  console.log(`${(rows / 1e6).toFixed(1)} M trades: ${machineLine(of(({ others }) => others))}`);
  console.log(
    `  on disk       ${(bytes / rows).toFixed(2)} bytes a row, written at ${(rows / seconds / 1e6).toFixed(1)} M rows/s`,
  );
  console.log(
    `  read          ${shown(of(({ first }) => rows / first / 1e6))} M rows/s the first time, ${shown(of(({ best }) => rows / best / 1e6))} then`,
  );
  console.log(
    `  memory        ${shown(of(({ kept }) => kept / rows))} bytes a row kept, ${shown(of(({ peak }) => peak / rows))} at the worst moment`,
  );
  const recordings = process.env.SLUICE_RECORDINGS ?? here("../../../../shared/data");
  const name = existsSync(recordings)
    ? readdirSync(recordings).find((file) => /perp_\d+\.txt\.gz$/.test(file))
    : undefined;
  if (name === undefined) console.log("\nNo recording of a perpetual was found; name its folder in SLUICE_RECORDINGS.");
  else {
    console.log(
      `\n${name}, from gzip to a report, each in a fresh process; seconds of processor time (and of the clock)`,
    );
    for (const strategies of ["average-cross", "join-best", "the demo's three"]) {
      const runs = Array.from({ length: rounds }, () => child("report", join(recordings, name), folder, strategies));
      const cell = (part) =>
        `${median(runs.map((run) => run[part].cpu)).toFixed(2)} (${median(runs.map((run) => run[part].wall)).toFixed(2)})`;
      const whole = median(runs.map((run) => run.imported.cpu + run.ran.cpu));
      console.log(
        `  ${strategies.padEnd(17)} import ${cell("imported")}, backtest ${cell("ran")}, together ${whole.toFixed(2)}; ${runs[0].rows} rows, ${runs[0].placed} orders`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
