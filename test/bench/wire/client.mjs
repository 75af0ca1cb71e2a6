#!/usr/bin/env node
/**
 * What a call costs beyond bare HTTP: node test/bench/wire/client.mjs [--seconds 8] [--json]
 *
 * Invariants: both run in this process against one server in another, in turns of a hundred calls, so that whatever the machine
 * does to one it does to the other; one call at a time; the same body, headers and answer on the wire.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { register } from "tsx/esm/api";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "8" }, json: { type: "boolean", default: false } },
});
register();
const { openPath } = await import("./client-path.ts");

const targetUs = 200;
const turn = 100;
const server = spawn(process.execPath, [fileURLToPath(new URL("./client-echo.mjs", import.meta.url))], {
  stdio: ["pipe", "pipe", "inherit"],
});
const [line] = await once(server.stdout, "data");
const port = Number(String(line));

// When the bytes of the request were handed over, on either way.
let writtenAt = 0;
const sockets =
  Object.getOwnPropertyDescriptor(Socket.prototype, "write") ??
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Socket.prototype), "write");
const write = sockets?.value;
Socket.prototype.write = function (...args) {
  const result = write.apply(this, args);
  writtenAt = performance.now();
  return result;
};

const body = JSON.stringify({
  instId: "BTC-USDT-SWAP",
  side: "buy",
  ordType: "post_only",
  sz: "1000",
  px: "64123.4",
  clOrdId: "s1a2b3c4d5e6f7",
});
const headers = {
  accept: "application/json",
  "accept-encoding": "identity",
  "content-type": "application/json",
  "content-length": Buffer.byteLength(body),
  "x-api-key": "bench-key-0001",
  "x-api-sign": "a".repeat(44),
  "x-api-timestamp": new Date().toISOString(),
  "x-api-passphrase": "bench-pass",
};
const agent = new Agent({ keepAlive: true });
const bare = () =>
  new Promise((resolve, reject) => {
    const sent = request(
      { agent, host: "127.0.0.1", port, method: "POST", path: "/api/v1/trade/order", headers },
      (answer) => {
        const chunks = [];
        answer.on("data", (chunk) => chunks.push(chunk));
        answer.on("end", () => resolve(Buffer.concat(chunks)));
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });

const path = openPath(`http://127.0.0.1:${port}`);
const subjects = [
  { name: "bare node:http", call: bare, written: [], answered: [] },
  { name: "gateway to transport", call: path.place, written: [], answered: [] },
];
const run = async ({ call, written, answered }, count, keep) => {
  for (let i = 0; i < count; i++) {
    const startedAt = performance.now();
    await call();
    const endedAt = performance.now();
    if (!keep) continue;
    written.push((writtenAt - startedAt) * 1_000);
    answered.push((endedAt - startedAt) * 1_000);
  }
};

for (const subject of subjects) await run(subject, 2_000, false);
const until = performance.now() + Number(values.seconds) * 1_000;
while (performance.now() < until) for (const subject of subjects) await run(subject, turn, true);

const at = (times, share) => Float64Array.from(times).sort()[Math.floor(share * (times.length - 1))];
const rows = subjects.map(({ name, written, answered }) => ({
  name,
  calls: answered.length,
  writtenP50: at(written, 0.5),
  writtenP99: at(written, 0.99),
  answeredP50: at(answered, 0.5),
  answeredP99: at(answered, 0.99),
}));
const [first, second] = rows;
const fields = ["writtenP50", "writtenP99", "answeredP50", "answeredP99"];
const beyond = Object.fromEntries(fields.map((field) => [field, second[field] - first[field]]));
const met = beyond.answeredP50 <= targetUs;
const result = { rows, beyond, targetUs, met, events: path.events() };
const cells = (name, calls, row) => `| ${[name, calls, ...fields.map((field) => row[field].toFixed(0))].join(" | ")} |`;
process.stdout.write(
  values.json
    ? `${JSON.stringify(result, undefined, 2)}\n`
    : [
        "| microseconds | calls | written p50 | p99 | answered p50 | p99 |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        ...rows.map((row) => cells(row.name, row.calls, row)),
        cells("beyond bare", "", beyond),
        `\nTarget: at most ${targetUs} us p50 beyond bare, ${met ? "met" : "missed"}.\n`,
      ].join("\n"),
);
await path.close();
agent.destroy();
server.stdin.end();
