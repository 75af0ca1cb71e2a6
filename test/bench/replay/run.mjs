#!/usr/bin/env node
/**
 * The replay bench: node test/bench/replay/run.mjs [--only trades,bars] [--seconds 180] [--compiled DIR] [--json]
 *
 * Compiles the sources as a package has them, into a temporary folder unless one is named, and measures every part in a process
 * of its own, beside the raw loop's time in the same process: on a busy machine times double, ratios stay.
 *
 * Invariants: ends by itself: a part that cannot begin within the seconds is named as left out, one that takes a minute is
 * stopped; results on stdout, progress on stderr.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compileInto } from "../compile.mjs";
import { parts } from "./parts.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    seconds: { type: "string", default: "180" },
    compiled: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const names = values.only === undefined ? Object.keys(parts) : values.only.split(/,(?! )/);
if (names.some((name) => parts[name] === undefined) || !(Number(values.seconds) > 0)) {
  process.stderr.write(`--only knows ${Object.keys(parts).join(", ")}; --seconds is a number above zero.\n`);
  process.exit(2);
}
const startedAt = performance.now();
const secondsLeft = () => Number(values.seconds) - (performance.now() - startedAt) / 1_000;

/** Compiled as it is published; beside it the way to the dependencies. */
const compile = () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-compiled-"));
  process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
  return compileInto(dir);
};

const compiled = values.compiled ?? compile();

const measure = (name, share) => {
  process.stderr.write(`${name}\n`);
  const file = fileURLToPath(new URL("./measure.mjs", import.meta.url));
  try {
    const args = [file, name, compiled, share.toFixed(1)];
    return JSON.parse(
      execFileSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", 2], timeout: 60_000 }),
    );
  } catch (error) {
    return { name, failed: error.code === "ETIMEDOUT" ? "stopped after a minute" : "failed, see above" };
  }
};

const rows = names.map((name, index) => {
  const left = secondsLeft();
  // About half of a part's share goes into making its market.
  return left <= 0 ? { name, failed: "left out, the time was over" } : measure(name, left / (names.length - index) / 3);
});

const millions = (ns) => (1_000 / ns).toPrecision(3);
const extraText = ({ bytesOnDisk, bytesInMemory, placed, requests }) =>
  [
    ...(bytesOnDisk === undefined
      ? []
      : [`${bytesOnDisk.toFixed(2)} bytes a row on disk, ${bytesInMemory.toFixed(1)} in memory`]),
    ...(placed === undefined ? [] : [`${placed} orders placed`]),
    ...(requests === undefined ? [] : [`${requests} requests`]),
  ].join(", ");
const lineOf = (row) =>
  row.failed !== undefined
    ? [row.name, row.failed, "", "", "", "", "", "", ""]
    : [
        row.name,
        row.unit,
        String(row.runs),
        `${row.least.toFixed(1)} (${row.median.toFixed(1)})`,
        row.cpu.toFixed(1),
        millions(row.least),
        parts[row.name].target ?? "",
        (row.least / row.raw).toFixed(0),
        row.bare === undefined ? "" : row.bare.toFixed(1),
        extraText(row),
      ];
const head = [
  "part",
  "counted",
  "runs",
  "ns each, least (median)",
  "of processor time",
  "million a second",
  "target",
  "times the raw loop",
  "operators alone, ns",
  "",
];
const table = [head, head.map((_, index) => (index < 2 ? "---" : "---:")), ...rows.map(lineOf)];
const raws = rows.flatMap(({ raw }) => (raw === undefined ? [] : [raw]));
process.stdout.write(
  values.json
    ? `${JSON.stringify(rows, undefined, 2)}\n`
    : `${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n\nThe raw loop over two columns: ${Math.min(...raws).toFixed(2)} ns a row; ${process.version}.\n`,
);
process.exitCode = rows.some(({ failed }) => failed !== undefined) ? 1 : 0;
