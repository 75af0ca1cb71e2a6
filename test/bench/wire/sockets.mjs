#!/usr/bin/env node
/**
 * Whether the embedded service's sockets keep up: node test/bench/wire/sockets.mjs [--seconds 5] [--rate 10000] [--connections 10] [--json]
 *
 * Every connection subscribes to the trades of a hundred products; trades come evenly until `rate` messages a second go out in all.
 * Invariants: this process is the server and nothing else, so its CPU time is the server's; the clients are a child process over
 * loopback, which reads every message and checks its number and content; it ends by itself, and fails when anything was lost,
 * repeated or out of order.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { register } from "tsx/esm/api";

register();
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    rate: { type: "string", default: "10000" },
    connections: { type: "string", default: "10" },
    json: { type: "boolean", default: false },
  },
});
const [seconds, rate, connections] = [values.seconds, values.rate, values.connections].map(Number);
if (
  !(
    seconds > 0 &&
    seconds <= 30 &&
    rate > 0 &&
    rate <= 200_000 &&
    Number.isInteger(connections) &&
    connections > 0 &&
    connections <= 30
  )
) {
  process.stderr.write("--seconds is a number up to 30; --rate up to 200000; --connections a whole number up to 30.\n");
  process.exit(2);
}

const source = (path) => import(new URL(`../../../src/${path}`, import.meta.url).href);
const { createContract } = await source("contract/contract.ts");
const { createSystemClock } = await source("clock/system-clock.ts");
const { createRandom } = await source("random.ts");
const { createVenue } = await source("venue/venue.ts");
const { startVenueServer } = await source("venue/server/server.ts");

const products = Array.from({ length: 100 }, (_, index) => `P${index}-USDT`);
const contract = createContract();
const clock = createSystemClock();
const venue = createVenue({
  contract,
  instruments: products.map((instId) => ({ instId, tickSize: "1", lotSize: "0.001" })),
  users: [],
  fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
  enforceLimits: true,
});
const server = await startVenueServer({ venue, contract, clock, random: createRandom(1), keys: [] });

const watchdog = setTimeout(
  () => {
    process.stderr.write("It did not end in time.\n");
    process.exit(1);
  },
  (seconds + 20) * 1_000,
);
const clients = fork(fileURLToPath(new URL("./sockets-clients.mjs", import.meta.url)), [], {
  stdio: ["ignore", 2, 2, "ipc"],
});
const answer = async () => (await once(clients, "message"))[0];
clients.send({ url: server.wsUrl, products, connections });
await answer();

/** Trades as they are due; `px` counts those of the product, `sz` is when it was sent on the machine's steady clock, in ms. */
const printAll = () =>
  new Promise((resolve) => {
    const startedAt = performance.now();
    let printed = 0;
    const turn = () => {
      const elapsed = Math.min(seconds * 1_000, performance.now() - startedAt);
      for (const due = Math.floor((elapsed * rate) / connections / 1_000); printed < due; printed++) {
        const px = String(Math.floor(printed / products.length));
        const sz = (Number(process.hrtime.bigint()) / 1e6).toFixed(3);
        server.board.trade({ instId: products[printed % products.length], px, sz, side: "buy", at: clock.now() });
      }
      if (elapsed < seconds * 1_000) setTimeout(turn, 1);
      else resolve(printed);
    };
    turn();
  });

const cpu = process.cpuUsage();
const beganAt = performance.now();
const printed = await printAll();
const tookMs = performance.now() - beganAt;
const { user, system } = process.cpuUsage(cpu);
clients.send({ expected: printed * connections });
const told = await answer();
clients.disconnect();
await server.close();
clearTimeout(watchdog);

const serverCpu = (user + system) / 1_000 / tookMs;
const row = {
  connections,
  subscriptions: connections * products.length,
  sent: printed * connections,
  ...told,
  messagesPerSecond: Math.round(((printed * connections) / tookMs) * 1_000),
  serverCpu: Number(serverCpu.toFixed(2)),
};
process.stdout.write(
  values.json
    ? `${JSON.stringify(row)}\n`
    : `${row.messagesPerSecond} messages a second to ${row.subscriptions} subscriptions on ${connections} connections for ${seconds} s, ${row.read} of ${row.sent} read, ${row.wrong} lost, repeated or out of order; p50 ${row.p50Ms.toFixed(2)} ms, p99 ${row.p99Ms.toFixed(2)} ms, worst ${row.worstMs.toFixed(2)} ms; server ${Math.round(serverCpu * 100)} % of a core, clients ${Math.round(row.clientCpu * 100)} %\n`,
);
if (row.wrong > 0 || row.read !== row.sent) process.exitCode = 1;
