/**
 * What browsers cost an engine: npm run bench:control -- [--browsers 200] [--rounds 4] [--seconds 6] [--json]
 *
 * A paper engine moves orders in a process of its own. In turns nobody watches, and so many streams are read here beside one that never
 * reads. Compared are the times from a wanted order to the resting order, less the way to the exchange and back.
 *
 * Invariants: both sides are measured in the same process, in turns, so that what else the machine does falls on both; everything stays on
 * 127.0.0.1 and ends by itself; exit code 0 when the targets are met, 1 when one is missed.
 */
import { type ChildProcess, fork } from "node:child_process";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    browsers: { type: "string", default: "200" },
    rounds: { type: "string", default: "4" },
    seconds: { type: "string", default: "6" },
    json: { type: "boolean", default: false },
  },
});
const [browsers, rounds, seconds] = [Number(values.browsers), Number(values.rounds), Number(values.seconds)];
/** Half as long again, or a millisecond: readers have a processor of their own on no small machine. */
const targets = { ratio: 1.5, extraMs: 1, growthMb: 150 };

interface Measured {
  readonly spans: readonly number[];
  readonly delayMs: number;
  readonly rss: number;
}

const said = <T extends { readonly kind: string }>(child: ChildProcess, kind: T["kind"]): Promise<T> =>
  new Promise((resolve, reject) => {
    const hear = (message: T): void => {
      if (message.kind !== kind) return;
      child.off("message", hear as never);
      resolve(message);
    };
    child.on("message", hear as never);
    child.once("exit", () => reject(new Error("the engine has ended")));
  });
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const child = fork(fileURLToPath(new URL("./engine.ts", import.meta.url)), [], { execArgv: ["--import", "tsx"] });
// After the start of the engine, which would inherit it: browsers run on other machines, or give way as programs with windows do.
setPriority(10);
const { line } = await said<{ kind: "link"; line: string }>(child, "link");
const [, port = "", token = ""] = /:(\d+)\/#token=([\w-]+)$/.exec(line) ?? [];
if (token === "") throw new Error(line);

const sockets = new Set<Socket>();
const counts = { bytes: 0, updates: 0 };
const path = "/api/v1/sources/main/stream";
const headers = { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}` };

/** A browser that reads what comes. */
const watch = (): void => {
  const asking = request({ host: "127.0.0.1", port, path, headers, agent: false }, (answer) => {
    answer.on("data", (chunk: Buffer) => {
      counts.bytes += chunk.length;
      if (chunk.includes("event: update")) counts.updates++;
    });
    answer.on("error", () => undefined);
  });
  asking.on("socket", (socket) => sockets.add(socket));
  asking.on("error", () => undefined);
  asking.end();
};
/** One that asks and never reads. */
const ignore = (): void => {
  const socket = connect(Number(port), "127.0.0.1");
  sockets.add(socket);
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(
    `GET ${path} HTTP/1.1\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}\r\n`,
  );
};
const leave = (): void => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
};

const measure = async (): Promise<Measured> => {
  child.send({ kind: "begin" });
  await pause(seconds * 1_000);
  const measured = said<Measured & { kind: "measured" }>(child, "measured");
  child.send({ kind: "end" });
  return measured;
};

const sides = { alone: [] as Measured[], watched: [] as Measured[] };
await pause(3_000);
for (let round = 0; round < rounds; round++) {
  process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  sides.alone.push(await measure());
  for (let index = 0; index < browsers; index++) watch();
  ignore();
  await pause(1_500);
  sides.watched.push(await measure());
  leave();
  await pause(1_000);
}
child.send({ kind: "stop" });

const percentile = (side: readonly Measured[], part: number): number => {
  const sorted = side.flatMap(({ spans }) => spans).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
};
const row = (part: number) => {
  const [alone, watched] = [percentile(sides.alone, part), percentile(sides.watched, part)];
  return {
    alone,
    watched,
    ratio: watched / alone,
    isMet: watched / alone <= targets.ratio || watched - alone <= targets.extraMs,
  };
};
const rss = (side: readonly Measured[]): number => (side.at(-1)?.rss ?? 0) / 1e6;
const first = (sides.alone[0]?.rss ?? 0) / 1e6;
const result = {
  browsers,
  orders: sides.watched.reduce((sum, { spans }) => sum + spans.length, 0),
  p50: row(0.5),
  p99: row(0.99),
  eventLoopP99Ms: {
    alone: Math.max(...sides.alone.map(({ delayMs }) => delayMs)),
    watched: Math.max(...sides.watched.map(({ delayMs }) => delayMs)),
  },
  read: { updates: counts.updates, megabytes: counts.bytes / 1e6 },
  memoryMb: { before: first, watched: rss(sides.watched), growth: rss(sides.watched) - first },
};
if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
else {
  const ms = (value: number): string => `${value.toFixed(2)} ms`.padStart(10);
  process.stdout.write(
    [
      `${browsers} browsers and one that never reads; ${result.orders} orders, ${counts.updates} updates and ${result.read.megabytes.toFixed(0)} MB read`,
      `                  alone    watched   ratio`,
      `order p50    ${ms(result.p50.alone)} ${ms(result.p50.watched)}   ${result.p50.ratio.toFixed(2)}`,
      `order p99    ${ms(result.p99.alone)} ${ms(result.p99.watched)}   ${result.p99.ratio.toFixed(2)}`,
      `loop p99     ${ms(result.eventLoopP99Ms.alone)} ${ms(result.eventLoopP99Ms.watched)}`,
      `memory       ${first.toFixed(0)} MB at first, ${result.memoryMb.watched.toFixed(0)} MB watched`,
      "",
    ].join("\n"),
  );
}
process.exitCode = result.p50.isMet && result.p99.isMet && result.memoryMb.growth <= targets.growthMb ? 0 : 1;
