/**
 * Soak of the shared quota with real processes: engines by `sluice run` on one user, a store in Redis, and faults of each.
 *
 * Every scenario has its own service, store and engines, all on loopback; each engine has more placements waiting than there is quota
 * for, and six cancels a minute. The service counts: what it refused, and how much of each whole minute was used. Exit code 1 when it
 * refused a call or saw a client order id twice, or an engine placed while it was halted. Needs redis-server; scenarios that need redis-sentinel or libfaketime are left out with a word where they are missing.
 *
 * With `--service plain` the service is one of another making, which shares no code with the engines and loses answers.
 *
 *   npm run soak:shared -- [--only kill,pause] [--engines 4] [--minutes 3] [--service venue|plain] [--json FILE]
 */
import { appendFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { redisServer } from "../../support/harness/redis.ts";
import { faults, type Scenario } from "./faults.ts";
import { openGroup } from "./group.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    engines: { type: "string", default: "4" },
    minutes: { type: "string" },
    service: { type: "string", default: "venue" },
    json: { type: "string" },
  },
});

export interface Outcome {
  readonly scenario: string;
  readonly minutes: number;
  readonly usedPct: number;
  readonly leastPct: number;
  readonly refused: Readonly<Record<string, number>>;
  /** In which minutes, counted from the first whole one. */
  readonly refusedIn: readonly number[];
  /** Placements in whole minutes by engine, and client order ids that came twice. */
  readonly orders: readonly number[];
  readonly twice: number;
  /** Where all were halted: how long each took, and placements that it sent none the less. */
  readonly haltMs: readonly number[];
  readonly sentHalted: number;
  readonly urgent: number;
  readonly urgentMsP50: number;
  readonly urgentMsP99: number;
  readonly anomalies: Readonly<Record<string, number>>;
  readonly load: number;
}

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

const play = async (scenario: Scenario): Promise<Outcome> => {
  const { engines, addressRequests } = scenario;
  const size = engines?.length ?? Number(values.engines);
  const group = await openGroup(size, scenario, values.service === "plain");
  try {
    await group.trading();
    const startedAt = Date.now();
    const seconds = values.minutes === undefined ? scenario.seconds : Number(values.minutes) * 60;
    for (const { at, run } of scenario.faults.toSorted((a, b) => a.at - b.at)) {
      if (at > seconds) break;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, startedAt + at * 1_000 - Date.now())));
      await run(group);
    }
    // The last minute is whole once the next has begun.
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, startedAt + seconds * 1_000 - Date.now())));
    const first = Math.floor(startedAt / 60_000) + 1;
    const last = Math.floor(Date.now() / 60_000) - 1;
    const minutes = group.minutes.filter(({ minute }) => minute >= first && minute <= last);
    const used = minutes.map(
      ({ weight, requests }) => 100 * (addressRequests === undefined ? weight / 1_200 : requests / addressRequests),
    );
    const refused: Record<string, number> = {};
    for (const one of group.minutes)
      for (const [layer, many] of Object.entries(one.refused))
        if (many > 0) refused[layer] = (refused[layer] ?? 0) + many;
    const urgent = group.urgentMs.toSorted((a, b) => a - b);
    return {
      scenario: scenario.title,
      minutes: minutes.length,
      usedPct: used.reduce((sum, one) => sum + one, 0) / Math.max(1, used.length),
      leastPct: Math.min(...used),
      refused,
      refusedIn: group.minutes
        .filter((one) => Object.values(one.refused).some((many) => many > 0))
        .map(({ minute }) => minute - first),
      orders: Array.from({ length: size }, (_, index) =>
        minutes.reduce((sum, { orders }) => sum + (orders[`key-${index}`] ?? 0), 0),
      ),
      twice: group.minutes.reduce((sum, one) => sum + one.twice, 0),
      haltMs: group.haltMs,
      sentHalted: group.sentHalted,
      urgent: urgent.length,
      urgentMsP50: quantile(urgent, 0.5),
      urgentMsP99: quantile(urgent, 0.99),
      anomalies: group.anomalies,
      load: loadavg()[0] ?? 0,
    };
  } finally {
    await group.close();
  }
};

const counts = (of: Readonly<Record<string, number>>): string =>
  Object.entries(of)
    .map(([what, many]) => `${what} ${many}`)
    .join(", ") || "0";
const seconds = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);
const haltOf = ({ haltMs, sentHalted }: Outcome): string =>
  haltMs.length === 0 ? "" : `; halted after ${haltMs.map(seconds).join(", ")}, ${sentHalted} placed meanwhile`;
const rowOf = (one: Outcome): string =>
  `| ${one.scenario} | ${one.minutes} | ${one.usedPct.toFixed(1)} % | ${one.leastPct.toFixed(1)} % | ${counts(one.refused)} | ${one.orders.join(" ")} | ${one.twice} | ${seconds(one.urgentMsP50)} / ${seconds(one.urgentMsP99)} | ${one.urgent} | ${counts(one.anomalies)}${haltOf(one)} | ${one.load.toFixed(1)} |`;

if (redisServer === undefined)
  throw new Error("redis-server is not installed. Install it (apt-get install redis-server) and start again.");
const wanted = values.only?.split(",");
const unknown = wanted?.filter((name) => !(name in faults)) ?? [];
if (unknown.length > 0)
  throw new Error(`There is no scenario ${unknown.join(", ")}. Use: ${Object.keys(faults).join(", ")}.`);
let isRefused = false;
process.stdout.write(
  "| scenario | whole minutes | used | least minute | refused | orders by engine | ids twice | urgent waited p50 / p99 | urgent | anomalies | load |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|\n",
);
for (const [name, scenario] of Object.entries(faults)) {
  if (wanted !== undefined && !wanted.includes(name)) continue;
  const missing = scenario.needs?.();
  if (missing !== undefined) {
    process.stdout.write(`| ${scenario.title} | left out: ${missing} is not installed |\n`);
    continue;
  }
  const outcome = await play(scenario);
  isRefused ||= Object.keys(outcome.refused).length > 0 || outcome.twice + outcome.sentHalted > 0;
  process.stdout.write(`${rowOf(outcome)}\n`);
  if (values.json !== undefined) appendFileSync(values.json, `${JSON.stringify(outcome)}\n`);
}
process.exit(isRefused ? 1 : 0);
