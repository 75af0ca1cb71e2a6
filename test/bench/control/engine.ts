/**
 * A paper engine that moves two orders forty times a second and measures how long its orders take: the process that is watched.
 *
 * Invariants: each span is measured in this process alone, by one clock; measurements are kept in a bounded list and sent when asked for.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { map, timer } from "rxjs";
import dashboard from "../../../plugins/dashboard/index.ts";
import { constant, paper } from "../../../src/backtest.ts";
import { createEngine, defineStrategy } from "../../../src/index.ts";

const swap = "BTC-USDT-SWAP";
const everyMs = 25;
const wayMs = 5;
const keptMax = 20_000;

/** Inside a strategy the clocks are the engine's; this one is the machine's everywhere. */
const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const wantedAt = new Map<string, number>();
let spans: number[] = [];

const moving = defineStrategy({
  name: "moving",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: () =>
    timer(0, everyMs).pipe(
      map((round) => {
        const px = `${30_000 + (round % 2_000)}`;
        wantedAt.set(px, machineMs());
        return ["a", "b"].map((slot) => ({ slot, instId: swap, side: "buy" as const, px, qty: "0.01" }));
      }),
    ),
});

const service = paper({ instruments: [swap], latency: constant(wayMs), balances: { USDT: "10000000" }, limits: false });
const plugins = [dashboard({ port: 0 })];
const engine = createEngine(
  { service, strategies: [moving({})], plugins },
  {
    limits: false,
    print: (line) => process.send?.({ kind: "link", line }),
  },
);
engine.on("order.live", ({ record }) => {
  const at = wantedAt.get(record?.px ?? "");
  if (at !== undefined && spans.length < keptMax) spans.push(machineMs() - at - 2 * wayMs);
});

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
process.on("message", (message: { readonly kind: string }) => {
  if (message.kind === "begin") {
    spans = [];
    delay.reset();
  } else if (message.kind === "end") {
    process.send?.({ kind: "measured", spans, delayMs: delay.percentile(99) / 1e6, rss: process.memoryUsage.rss() });
  } else void engine.stop().then(() => process.exit(0));
});
process.on("disconnect", () => process.exit(0));
await engine.start();
