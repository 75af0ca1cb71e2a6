#!/usr/bin/env node
/**
 * The overhead bench: node test/bench/overhead/run.mjs [--calls 100000] [--only name,…] [--json]
 *
 * Compiles our sources as a package has them: the loader of a checkout names each function that is created, which takes
 * 3 us and 260 bytes a call here.
 *
 * Invariants: one process a measurement; results on stdout, progress on stderr.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { benchInto } from "../compile.mjs";
import { installPeers } from "../install.mjs";
import { subjects } from "./subjects.mjs";

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "100000" },
    only: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const calls = Number(values.calls);
const names = values.only === undefined ? Object.keys(subjects) : values.only.split(",");
const unknown = [...names.filter((name) => subjects[name] === undefined)];
if (unknown.length > 0 || !(calls >= 1)) {
  process.stderr.write(`--only knows ${Object.keys(subjects).join(", ")}; --calls is a number above zero.\n`);
  process.exit(2);
}
if (names.some((name) => name !== "sluice")) installPeers();

const dir = mkdtempSync(join(tmpdir(), "sluice-overhead-"));
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
const compiled = benchInto(dir, "overhead");

const measure = (name, what, count) => {
  process.stderr.write(`${name}: ${what} of ${count}\n`);
  const file = fileURLToPath(new URL("./measure.mjs", import.meta.url));
  return JSON.parse(
    execFileSync(process.execPath, ["--expose-gc", file, compiled, name, what, String(count)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", 2],
    }),
  );
};

/** The run of three that took the least processor time: whatever else the machine does only adds to it. */
const throughput = (name, count) => {
  const runs = Array.from({ length: 3 }, () => measure(name, "throughput", count));
  return runs.sort((a, b) => a.cpuNsPerCall - b.cpuNsPerCall)[0];
};

const alone = names.includes("sluice") ? measure("sluice", "alone", calls) : undefined;
const rows = names.map((name) => {
  const { most = calls, ranks = false } = subjects[name];
  const count = Math.min(most, calls);
  return {
    name,
    calls: count,
    ...throughput(name, count),
    ...measure(name, "memory", count),
    ...(ranks ? measure(name, "urgent", count) : {}),
  };
});

const urgentText = ({ urgentMs, overtakenBy }) => {
  if (urgentMs === undefined) return "behind all";
  return urgentMs === null
    ? `over 30 s, ${overtakenBy} before it`
    : `${urgentMs.toFixed(0)} ms, ${overtakenBy} before it`;
};
const columns = [
  ["limiter", (row) => row.name],
  ["calls", (row) => String(row.calls)],
  ["us per call", (row) => (row.nsPerCall / 1_000).toFixed(1)],
  ["CPU us per call", (row) => (row.cpuNsPerCall / 1_000).toFixed(1)],
  ["bytes per waiting call", (row) => row.bytesPerCall.toFixed(0)],
  ["urgent call sent after", urgentText],
];
const lines = [
  columns.map(([head]) => head),
  columns.map((_, index) => (index === 0 ? "---" : "---:")),
  ...rows.map((row) => columns.map(([, cell]) => cell(row))),
];
const us = ({ wallNs, cpuNs }) => `${(wallNs / 1_000).toFixed(2)} us (${(cpuNs / 1_000).toFixed(2)} of CPU)`;
const aloneLines = ({ burst, first, turns, submit, bare, charging, queueing, shuffled, bytesPerCall }) => [
  `sluice by itself, ${calls} queued, ${bytesPerCall.toFixed(0)} bytes an entry`,
  `  an action, from submission to settled answer, all at once: ${us(burst)}; of that the submission ${us(submit)}`,
  `  the first time, while the engine compiles: ${us(first)}`,
  `  the same, a thousand a second: ${us(turns)}`,
  "parts of it, each by itself:",
  `  the same calls unscheduled, a sink and an answer: ${us(bare)}`,
  `  asking, charging and settling on three layers: ${us(charging)}`,
  `  into the queue and out, in order: ${us(queueing)}; shuffled: ${us(shuffled)}`,
];
const aloneText = alone === undefined ? "" : `\n${aloneLines(alone).join("\n")}\n`;
process.stdout.write(
  values.json
    ? `${JSON.stringify({ rows, alone }, undefined, 2)}\n`
    : `${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n${aloneText}`,
);
