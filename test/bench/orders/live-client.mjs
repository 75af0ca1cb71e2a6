/**
 * The client's side of the live part: node live-client.mjs <subject> <facts as JSON>, told by messages how many actions to do. An
 * action is an order that is placed and, once it rests, canceled: two signed calls, one action at a time.
 *
 * Invariants: the service is another process, so that only the client's processor time is counted; every subject makes the same two
 * calls and parses both answers; an action that does not end, or a strategy that fails, ends the process with the reason.
 */
import { createHmac } from "node:crypto";
import { constants, mkdtempSync, openSync, rmSync, write } from "node:fs";
import { Agent as HttpAgent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { concatMap, ignoreElements, Subject, tap } from "rxjs";
import { Pool } from "undici";
import { loadPackage } from "../compile.mjs";

const [subject, facts] = process.argv.slice(2);
const { url, wsUrl, key, compiled } = JSON.parse(facts);
const order = { instId: "BTC-USDT-SWAP", side: "buy", ordType: "limit", px: "1000", sz: "1000" };

const signed = (path, body) => {
  const timestamp = new Date().toISOString();
  const sign = createHmac("sha256", key.secretKey).update(`${timestamp}POST${path}${body}`).digest("base64");
  return {
    accept: "application/json",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "x-api-key": key.apiKey,
    "x-api-sign": sign,
    "x-api-timestamp": timestamp,
    "x-api-passphrase": key.passphrase,
  };
};

const paths = { place: "/api/v1/trade/order", cancel: "/api/v1/trade/cancel-batch-orders" };
const firstOf = (bytes) => {
  const { code, data } = JSON.parse(bytes.toString());
  if (code !== "0" || data[0].ordId === undefined) throw new Error(bytes.toString());
  return data[0];
};

let count = 0;
/** The two calls by hand, over `post(path, body) => promise of the answer's bytes`. */
const byHand = (post) => async () => {
  const clOrdId = `b${process.pid}x${++count}`;
  const { ordId } = firstOf(await post(paths.place, JSON.stringify({ ...order, clOrdId })));
  firstOf(await post(paths.cancel, JSON.stringify([{ instId: order.instId, ordId }])));
};

const undici = () => {
  const pool = new Pool(url);
  return byHand(
    (path, body) =>
      new Promise((resolve, reject) => {
        const chunks = [];
        pool.dispatch(
          { path, method: "POST", headers: signed(path, body), body },
          {
            onRequestStart: () => {},
            onResponseStart: () => {},
            onResponseData: (_, chunk) => chunks.push(chunk),
            onResponseEnd: () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)),
            onResponseError: (_, error) => reject(error),
          },
        );
      }),
  );
};

const scratch = () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-live-"));
  process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

/** What no journal can do without: before each order a write of what its two lines come to, on the disk when it ends. */
const undiciWithWrite = () => {
  const { O_WRONLY, O_APPEND, O_CREAT, O_DSYNC } = constants;
  const file = openSync(join(scratch(), "bare"), O_WRONLY | O_APPEND | O_CREAT | O_DSYNC);
  const lines = Buffer.alloc(420, "x");
  const both = undici();
  return async () => {
    await new Promise((resolve, reject) =>
      write(file, lines, 0, lines.length, null, (error) => (error ? reject(error) : resolve())),
    );
    await both();
  };
};

const nodeHttp = () => {
  const agent = new HttpAgent({ keepAlive: true });
  const { hostname, port } = new URL(url);
  return byHand(
    (path, body) =>
      new Promise((resolve, reject) => {
        const headers = { ...signed(path, body), "content-length": Buffer.byteLength(body) };
        const sent = request({ agent, hostname, port, method: "POST", path, headers }, (answer) => {
          const chunks = [];
          answer.on("data", (chunk) => chunks.push(chunk));
          answer.on("end", () => resolve(Buffer.concat(chunks)));
        });
        sent.on("error", reject);
        sent.end(body);
      }),
  );
};

const closed = { type: "object", additionalProperties: false, properties: {} };
const unlimited = [
  { name: "uid", scope: "uid", unit: "weight", capacity: 1e9, windowMs: 60_000, anchor: "wall_clock", banMs: 0 },
];

/** An engine whose one strategy places and cancels by hand when it is told to. */
const sluice = (journal) => async () => {
  const { createCredentials, createEngine, defineConfig, defineStrategy, live } = await loadPackage(compiled);
  const asked = new Subject();
  let done = () => undefined;
  const strategy = defineStrategy({
    name: "bench",
    options: closed,
    run: ({ orders }) =>
      asked.pipe(
        concatMap(() => {
          let canceling = false;
          return orders.place({ ...order, slot: "one" }).pipe(
            tap({
              next: ({ phase, reason }) => {
                if (phase === "refused" || phase === "rejected") throw new Error(reason);
                if (phase !== "live" || canceling) return;
                canceling = true;
                orders.cancel({ slot: "one" }).subscribe();
              },
              complete: () => done(),
            }),
          );
        }),
        ignoreElements(),
      ),
  })({});
  const config = defineConfig({
    // Engines of one account that share a name would take each other's orders for their own.
    instance: `b${process.pid % 1_000}`,
    service: live({ environment: "testnet", baseUrl: url, wsUrl, keys: [{ credentials: createCredentials(key) }] }),
    strategies: [strategy],
    quota: { layers: unlimited },
    ...(journal ? { journal: { dir: scratch() } } : {}),
  });
  const engine = createEngine(config);
  let failed = () => undefined;
  engine.on("strategy.failed", ({ error }) => failed(new Error(error)));
  await engine.start();
  return () =>
    new Promise((resolve, reject) => {
      [done, failed] = [resolve, reject];
      asked.next();
    });
};

const subjects = {
  undici,
  "undici and a bare write": undiciWithWrite,
  "node:http": nodeHttp,
  "sluice without journal": sluice(false),
  sluice: sluice(true),
};
const act = await subjects[subject]();

/** On a busy machine an action takes tens of milliseconds; one that takes this long has lost something. */
const actionMsMax = 60_000;
const ended = async (action) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`an action did not end within ${actionMsMax / 1_000} s`)), actionMsMax);
  });
  await Promise.race([action, late]).finally(() => clearTimeout(timer));
};

const measure = async ({ actions }) => {
  const wallMs = [];
  const from = process.cpuUsage();
  for (let i = 0; i < actions; i++) {
    const startedAt = performance.now();
    await ended(act());
    wallMs.push(performance.now() - startedAt);
  }
  const { user, system } = process.cpuUsage(from);
  process.send({ us: (user + system) / actions, wallMs });
};
const measured = (asked) =>
  measure(asked).catch((error) => {
    process.stderr.write(`${subject}: ${error.stack}\n`);
    process.exit(1);
  });
process.on("message", (asked) => void measured(asked));
process.on("disconnect", () => process.exit(0));
process.send({ ready: true });
