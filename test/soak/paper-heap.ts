/**
 * Hours of paper trading on a clock that is turned, and the heap after each span: after the first spans it stays level.
 *
 * The embedded service keeps completed orders for a week, up to `profile.history.ordersMax` of a user (100,000), as a real one
 * would on its side; until that many have ended a process with paper money grows by each of them. A small bound takes that away,
 * so that what still grows is a leak. The last field of the result is the growth by order that ended.
 *
 *   node --expose-gc --import tsx test/soak/paper-heap.ts [spans=12] [minutes of a span=30] [orders kept=500] [spans before the heap
 *   counts=8] [KiB it may grow after them=512]
 */
import { createEngine } from "sluice";
import { constant, paper } from "sluice/backtest";
import { letPromisesSettle } from "../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../src/clock/virtual-clock.ts";
import joinBest from "../../strategies/join-best.ts";
import ladder from "../../strategies/ladder.ts";
import { heapKiB } from "./heap.ts";

const [spans = 12, minutes = 30, ordersMax = 500, warmSpans = 8, limitKiB = 512] = process.argv.slice(2).map(Number);
const spanMs = minutes * 60_000;

const clock = createVirtualClock(0);
const engine = createEngine({
  service: paper({ clock, latency: constant(25) }),
  profile: { history: { ordersMax } },
  strategies: [
    joinBest({ notional: "200", keepWithin: "80", most: 2 }),
    ladder({ levels: 10, notional: "100", step: "0.0002" }),
  ],
});
let ended = 0;
engine.log.on(["order.changed"], ({ phase }) => {
  if (phase === "filled" || phase === "canceled") ended++;
});

const playTo = async (at: number): Promise<void> => {
  await letPromisesSettle();
  while (clock.step(at)) await letPromisesSettle();
};

const started = engine.start();
await playTo(10_000);
await started;
const heaps: number[] = [];
const ends: number[] = [];
for (let span = 1; span <= spans; span++) {
  await playTo(span * spanMs);
  heaps.push(heapKiB());
  ends.push(ended);
}
await engine.stop();
const warm = Math.min(heaps.length, Math.max(1, warmSpans)) - 1;
const grownKiB = (heaps.at(-1) ?? 0) - (heaps[warm] ?? 0);
const orders = (ends.at(-1) ?? 0) - (ends[warm] ?? 0);
const result = {
  spans,
  minutes,
  ordersMax,
  ended,
  heapsKiB: heaps.map(Math.round),
  grownKiB: Math.round(grownKiB),
  limitKiB,
  bytesAnOrder: orders === 0 ? 0 : Math.round((grownKiB * 1_024) / orders),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(grownKiB <= limitKiB ? 0 : 1);
