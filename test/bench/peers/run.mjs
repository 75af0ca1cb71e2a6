#!/usr/bin/env node
/**
 * Sluice beside other published backtesters, on one strategy: a mean of 10 closes crosses one of 30, on bars of a minute.
 *
 *   node test/bench/peers/run.mjs [--rounds N] [--full] [--only Sluice,pinets]
 *
 * Engines take turns, each in a process of its own on as many bars as it bears (--full: more of them, and gigabytes of memory).
 * A rate is bars by processor time, the best of the rounds. What they do differs: Sluice sends every order through its queue and
 * quota to a simulated service that answers after a latency and is asked for the state of orders, the others note a fill at the next
 * open. Without orders, which is the second row of ours, what remains is the way of a bar to the strategy.
 *
 * Invariants: trades, and where an engine tells them positions, fees and profit, are checked against a count by hand under the
 * rules of that engine; a figure that differs fails the bench.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compileInto } from "../compile.mjs";
import { installPeers } from "../install.mjs";
import { machineLine, timed } from "../machine.mjs";
import { engines } from "./engines.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "2" },
    full: { type: "boolean", default: false },
    only: { type: "string" },
  },
});
/** By the first word of their names. */
const only = values.only?.split(",");
const names = Object.keys(engines).filter((name) => only === undefined || only.some((word) => name.startsWith(word)));
installPeers();

const child = (name, bars, compiled) => {
  const file = fileURLToPath(new URL("./child.mjs", import.meta.url));
  const text = execFileSync(process.execPath, ["--max-old-space-size=6000", file, name, String(bars), compiled], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", 2],
    timeout: 300_000,
    maxBuffer: 64 << 20,
  });
  return JSON.parse(text.trim().split("\n").at(-1));
};

const dir = mkdtempSync(join(tmpdir(), "sluice-bench-peers-"));
const runs = Object.fromEntries(names.map((name) => [name, []]));
try {
  const compiled = compileInto(dir);
  const { others } = await timed(async () => {
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const name of round % 2 === 0 ? names : [...names].reverse()) {
        process.stderr.write(`${name}\n`);
        runs[name].push(child(name, engines[name].bars[values.full ? 1 : 0], compiled));
      }
    }
  });
  // What the measured processes used is among it.
  console.log(`${process.version}, ${machineLine([others])}, the engines included\n`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}

const ours = Object.keys(engines);
const best = Object.fromEntries(
  names.map((name) => [name, runs[name].reduce((least, run) => (run.cpu < least.cpu ? run : least))]),
);
const rateOf = (name) => best[name].rows / best[name].cpu;
console.log(
  "| engine | bars | bars a second | Sluice's rate by it | signals alone by it | memory | trades and money |",
);
console.log("| --- | ---: | ---: | ---: | ---: | ---: | --- |");
for (const name of names) {
  const { rows, found, expected, rssMb } = best[name];
  const { counts } = engines[name];
  const by = (one) => (best[one] === undefined ? "" : (rateOf(one) / rateOf(name)).toPrecision(2));
  const wrong = Object.keys(expected).filter((figure) => String(found[figure]) !== String(expected[figure]));
  const told = Object.entries(found).map(([figure, value]) =>
    figure === "trades" ? `${value} ${counts}` : `${figure} ${value}`,
  );
  const agreed =
    wrong.length === 0
      ? `${told.join(", ")}: as counted by hand`
      : `${told.join(", ")}: DIFFERS, by hand ${wrong.map((figure) => `${figure} ${expected[figure]}`).join(", ")}`;
  console.log(
    `| ${name} | ${rows} | ${Math.round(rateOf(name)).toLocaleString("en")} | ${by(ours[0])} | ${by(ours[1])} | ${rssMb} MB | ${agreed} |`,
  );
  if (wrong.length > 0) process.exitCode = 1;
}
