/**
 * Thirty simulated days of one engine, and its heap after each: what grows with time is a leak.
 *
 * Two orders move every five minutes and one trades through; what else takes part is in scenarios/long-run.ts. The short form, which
 * counts instead of weighing, is growth.ts.
 *
 *   node --expose-gc --import tsx test/soak/days.ts [days=30] [days before the heap counts=10] [KiB it may grow in ten days=1024]
 */
import { resting, restless, through } from "../support/scenarios/long-run.ts";
import { heapKiB } from "./heap.ts";

const [days = 30, warmDays = 10, limitKiB = 1_024] = process.argv.slice(2).map(Number);
const dayMs = 86_400_000;
const stepMs = 300_000;

const story = await restless({});
let events = 0;
story.onEvent(() => events++);

const startedAt = process.cpuUsage();
const heaps: number[] = [];
const steps = Math.round(dayMs / stepMs);
for (let day = 0; day < days; day++) {
  for (let step = 0; step < steps; step++) {
    story.want(...resting(step), through(`through-${step % 2}`, step));
    await story.pass(stepMs);
  }
  await story.quiet();
  heaps.push(heapKiB());
}
const warm = Math.min(heaps.length - 1, Math.max(0, Math.ceil(warmDays) - 1));
const spanDays = heaps.length - 1 - warm;
const perTenDaysKiB = spanDays <= 0 ? Number.NaN : (((heaps.at(-1) ?? 0) - (heaps[warm] ?? 0)) / spanDays) * 10;
await story.end();
const cpuMs = Math.round(process.cpuUsage(startedAt).user / 1_000);
const result = {
  days,
  events,
  cpuMs,
  heapsKiB: heaps.map(Math.round),
  perTenDaysKiB: Math.round(perTenDaysKiB),
  limitKiB,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(perTenDaysKiB <= limitKiB ? 0 : 1);
