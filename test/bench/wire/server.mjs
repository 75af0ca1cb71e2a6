#!/usr/bin/env node
/**
 * How many signed requests a second the embedded service answers: node test/bench/wire/server.mjs [--seconds 6] [--connections 16] [--json]
 *
 * Invariants: this process is the server and nothing else, so its CPU time is the server's; the load comes from a child process
 * over loopback; limits are lifted; it ends by itself.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { register } from "tsx/esm/api";

register();
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "6" },
    connections: { type: "string", default: "16" },
    json: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const connections = Number(values.connections);
if (!(seconds > 0 && seconds <= 30) || !(Number.isInteger(connections) && connections > 0 && connections <= 256)) {
  process.stderr.write("--seconds is a number up to 30; --connections a whole number up to 256.\n");
  process.exit(2);
}

const source = (path) => import(new URL(`../../../src/${path}`, import.meta.url).href);
const { createContract } = await source("contract/contract.ts");
const { createSystemClock } = await source("clock/system-clock.ts");
const { createRandom } = await source("random.ts");
const { createVenue } = await source("venue/venue.ts");
const { startVenueServer } = await source("venue/server/server.ts");

const instId = "BTC-USDT-SWAP";
const key = {
  apiKey: "bench",
  secretKey: "a secret of the usual length, 32",
  passphrase: "bench",
  uid: "1",
  permissions: ["read", "trade_futures"],
};
const contract = createContract();
const clock = createSystemClock();
const venue = createVenue({
  contract,
  instruments: [{ instId, tickSize: "0.1", lotSize: "0.001" }],
  users: [
    { uid: key.uid, keys: [{ name: key.apiKey, permissions: key.permissions }], balances: { USDT: "100000000" } },
  ],
  fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
  enforceLimits: false,
});
venue.quote(instId, 600_000, 500, 600_010, 500, clock.now());
const server = await startVenueServer({ venue, contract, clock, random: createRandom(1), keys: [key] });

const load = fork(fileURLToPath(new URL("./server-load.mjs", import.meta.url)), [], { stdio: ["ignore", 2, 2, "ipc"] });
load.send({ url: server.url, key, instId, seconds, connections });
let began;
for await (const [message] of on(load)) {
  if (message.warm) began = { cpu: process.cpuUsage(), at: clock.now() };
  else {
    report(message, process.cpuUsage(began.cpu), clock.now() - began.at);
    break;
  }
}
load.disconnect();
await server.close();

async function* on(child) {
  for (;;) yield await once(child, "message");
}

function report({ answered, wrong, p50Ms, p99Ms }, { user, system }, tookMs) {
  const rate = Math.round((answered / tookMs) * 1_000);
  const cpu = (user + system) / 1_000 / tookMs;
  const row = {
    requestsPerSecond: rate,
    serverCpu: Number(cpu.toFixed(2)),
    perCpuSecond: Math.round(rate / cpu),
    p50Ms,
    p99Ms,
    wrong,
  };
  process.stdout.write(
    values.json
      ? `${JSON.stringify(row)}\n`
      : `${rate} signed requests a second over ${connections} connections, at ${Math.round(cpu * 100)} % of a core (${row.perCpuSecond} a second of CPU); p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, ${wrong} not answered as they should be\n`,
  );
}
