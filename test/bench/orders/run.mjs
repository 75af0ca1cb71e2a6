#!/usr/bin/env node
/**
 * The orders bench: node test/bench/orders/run.mjs [--only calls,bytes,warm,cold,requotes,resting,live] [--scenario fill,rest] [--without-old]
 * [--top N] [--rounds N] [--actions N] [--compiled DIR] [--json]
 *
 * Invariants: every measurement runs in a process of its own and beside what it is compared with, in turns; results on stdout, progress
 * on stderr; the exit code is 0 when every target is met, 1 when one is missed, 2 for a wrong command line.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compileInto } from "../compile.mjs";
import { baseline, compileBaseline } from "./package.mjs";
import { scenarios } from "./scenarios.mjs";
import { coldOrders, counted, liveActions, median, quantile, restingMoves, warmOrders, warmQuotes } from "./turns.mjs";

const parts = ["calls", "bytes", "warm", "cold", "requotes", "resting", "live"];
const { values } = parseArgs({
  options: {
    only: { type: "string", default: parts.join(",") },
    scenario: { type: "string", default: Object.keys(scenarios).join(",") },
    "without-old": { type: "boolean", default: false },
    top: { type: "string", default: "0" },
    rounds: { type: "string", default: "7" },
    actions: { type: "string", default: "300" },
    compiled: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const chosen = values.only.split(",");
const names = values.scenario.split(",");
const [top, rounds, actions] = [Number(values.top), Number(values.rounds), Number(values.actions)];
if (
  chosen.some((part) => !parts.includes(part)) ||
  names.some((name) => !(name in scenarios)) ||
  !(top >= 0) ||
  !(rounds >= 1) ||
  !(actions >= 1)
) {
  process.stderr.write(
    `--only knows ${parts.join(", ")}; --scenario knows ${Object.keys(scenarios).join(", ")}; --top, --rounds and --actions are numbers.\n`,
  );
  process.exit(2);
}

const targets = {
  fill: { bytes: 12_000 },
  rest: { bytes: 16_000 },
  warm: 0.25,
  cold: 0.5,
  requotes: 60_000,
  resting: 2.2,
  live: 2,
};

const scratch = mkdtempSync(join(tmpdir(), "sluice-bench-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
const now = values.compiled ?? compileInto(scratch);
const old = values["without-old"] ? undefined : compileBaseline(join(scratch, baseline));
const packages = { now, ...(old === undefined ? {} : { [baseline]: old }) };

const results = [];
/** A line of the result: what was measured, before and now, against what is wanted of `judged`. */
const tell = (row) => {
  const met =
    row.judged === undefined ? undefined : row.atLeast === true ? row.judged >= row.target : row.judged <= row.target;
  results.push({ ...row, met });
};
const progress = (text) => process.stderr.write(`${text}\n`);

const whole = (value) => (value === undefined ? "" : Math.round(value).toLocaleString("en"));
const summed = (functions, keyOf) => {
  const sums = new Map();
  for (const one of functions) sums.set(keyOf(one), (sums.get(keyOf(one)) ?? 0) + one.each);
  return [...sums].sort(([, a], [, b]) => b - a);
};
const total = (functions) => functions.reduce((sum, { each }) => sum + each, 0);

const details = [];
/** Sums by room, and the functions that count most. */
const detail = (title, functions) => {
  const rooms = summed(functions, ({ room }) => room).filter(([, each]) => Math.abs(each) >= 0.5);
  details.push({ title, rooms, functions: functions.slice(0, top) });
};

for (const measure of ["calls", "bytes"].filter((one) => chosen.includes(one))) {
  for (const name of names) {
    const totals = {};
    for (const [state, compiled] of Object.entries(packages)) {
      progress(`${measure}, ${name}, ${state}`);
      const functions = counted(compiled, name, measure);
      totals[state] = total(functions);
      if (state === "now" || top > 0) detail(`${measure} of ${scenarios[name].text}, ${state}`, functions);
    }
    const what = `${measure} of ${scenarios[name].text}`;
    const target = targets[name][measure];
    tell({ what, old: totals[baseline], now: totals.now, ...(target !== undefined && { judged: totals.now, target }) });
  }
}

const timed = {
  warm: { measured: warmOrders, unit: "us of processor time" },
  cold: { measured: coldOrders, unit: "ms of processor time, the first 3,980 in a process" },
};
for (const part of Object.keys(timed).filter((one) => chosen.includes(one))) {
  const { measured, unit } = timed[part];
  for (const name of names) {
    progress(`${part}, ${name}`);
    const found = await measured(packages, name, rounds);
    const ratio = found[baseline] && median(found.now.map((value, round) => value / found[baseline][round]));
    const before = found[baseline] && median(found[baseline]);
    tell({
      what: `${unit}, ${scenarios[name].text}`,
      old: before,
      now: median(found.now),
      ratio,
      judged: ratio,
      target: targets[part],
    });
  }
}

if (chosen.includes("requotes")) {
  progress("requotes");
  const found = await warmQuotes(packages, rounds);
  // The best of each: what others do to the machine only takes away.
  const latest = Math.max(...found.now);
  const before = found[baseline] && Math.max(...found[baseline]);
  tell({
    what: "re-quotes a second of processor time, no limits",
    old: before,
    now: latest,
    judged: latest,
    target: targets.requotes,
    atLeast: true,
  });
}

if (chosen.includes("resting")) {
  progress("resting");
  const sizes = [1_000, 10_000];
  const found = await restingMoves(now, sizes, rounds);
  const [least] = sizes;
  for (const size of sizes) {
    const ratio = median(found[size].map((value, round) => value / found[least][round]));
    tell({
      what: `us of a move beside ${whole(size)} resting orders, no limits`,
      now: median(found[size]),
      ratio,
      ...(size === least ? {} : { judged: ratio, target: targets.resting }),
    });
  }
}

if (chosen.includes("live")) {
  const [floor, durable] = ["undici", "undici and a bare write"];
  const size = { rounds, actions, progress };
  const found = await liveActions(now, [floor, durable, "node:http", "sluice without journal", "sluice"], size);
  const before = old && (await liveActions(old, [floor, "sluice"], size));
  const over = (subject, base) => median(found[subject].us.map((us, round) => us / found[base].us[round]));
  for (const [subject, { us, wallMs }] of Object.entries(found)) {
    const earlier = before?.[subject]?.us;
    const ratio = over(subject, floor);
    tell({
      what: `us of the client for an action over loopback, ${subject}`,
      old: earlier && median(earlier),
      now: median(us),
      ratio,
      ...(subject === "sluice" ? { judged: ratio, target: targets.live } : {}),
    });
    const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => quantile(wallMs, share).toFixed(1));
    details.push({ title: `${subject}: an action took ${p50} ms (median), ${p99} ms (p99), ${p999} ms (p99.9)` });
  }
  details.push({
    title: `sluice with its journal takes ${over("sluice", durable).toFixed(2)} times undici with a bare write`,
  });
}

const line = (cells) => `| ${cells.join(" | ")} |`;
const figure = (value) => (value === undefined ? "" : value < 10 ? value.toFixed(2) : whole(value));
const verdict = ({ target, met, atLeast, judged }) =>
  target === undefined
    ? ""
    : `${atLeast === true ? "at least" : "at most"} ${figure(target)}${judged === undefined ? ", not known" : met ? "" : " **missed**"}`;
const table = [
  line(["an order's", baseline, "now", "ratio", "target"]),
  line(["---", "---:", "---:", "---:", "---"]),
  ...results.map((row) =>
    line([
      row.what,
      figure(row.old),
      figure(row.now),
      row.ratio === undefined ? "" : row.ratio.toFixed(2),
      verdict(row),
    ]),
  ),
];
const detailText = ({ title, rooms = [], functions = [] }) => [
  `\n${title}`,
  ...(rooms.length === 0 ? [] : [`  ${rooms.map(([room, each]) => `${room} ${whole(each)}`).join(", ")}`]),
  ...functions.map(({ each, file, name }) => `  ${figure(each).padStart(8)}  ${file}: ${name}`),
];
const missed = results.filter(({ met }) => met === false);
const ending =
  missed.length === 0
    ? "Every target that was measured is met."
    : `Missed: ${missed.map(({ what }) => what).join("; ")}.`;
process.stdout.write(
  values.json
    ? `${JSON.stringify({ results, details }, undefined, 2)}\n`
    : `${[...table, ...details.flatMap(detailText), "", ending].join("\n")}\n`,
);
process.exitCode = missed.length === 0 ? 0 : 1;
