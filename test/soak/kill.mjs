/**
 * Kills a trading process with SIGKILL at random moments, again and again, and looks at the service afterwards.
 *
 * `sluice run` trades a ladder against `sluice venue`, which loses and delays answers. Every other life is killed at a random moment
 * from its beginning, so also while it starts; the others once they trade, however slow the machine. After each kill the service's
 * pending orders must hold no slot twice, and every order of ours must stand in the journal; after the last life, which takes its
 * orders back, nothing may rest. Lives that hardly trade prove nothing and are a problem, too. Everything is on loopback and ends by
 * itself.
 *
 *   node test/soak/kill.mjs [kills=200] [seed=1]
 */
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const [kills = 200, seed = 1] = process.argv.slice(2).map(Number);
const root = fileURLToPath(new URL("../..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "sluice-kill-"));
const sluice = join(root, "src/cli/sluice.mjs");
// Inside the checkout, where its imports are found.
const configFile = join(root, "out", `kill-${process.pid}.ts`);
mkdirSync(join(root, "out"), { recursive: true });

let state = seed >>> 0;
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
};

writeFileSync(
  join(scratch, "faults.json"),
  JSON.stringify({
    http: [
      { kind: "drop_response", endpoint: "placeOrder", share: 0.1 },
      { kind: "delay", endpoint: "placeOrder", share: 0.2, ms: [100, 1_500] },
      { kind: "drop_request", share: 0.02 },
    ],
  }),
);
// Rungs far from the market rest; every second they move by a tick, so that placements are always under way.
writeFileSync(
  configFile,
  `import { defineConfig, defineStrategy, fromEnv, live } from "sluice";
import { interval, map, startWith } from "rxjs";
const rungs = defineStrategy({
  name: "rungs",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: () =>
    interval(700).pipe(
      startWith(0),
      map((step) => [1, 2, 3].map((rung) => ({ slot: "rung-" + rung, instId: "BTC-USDT-SWAP", side: "buy" as const, px: String(20000 + rung * 100 + (step % 7)), notional: "50" }))),
    ),
});
export default defineConfig({
  service: live({ environment: "testnet", baseUrl: process.env["SLUICE_BASE_URL"] ?? "", keys: [fromEnv("SLUICE")], timeoutMs: 2000 }),
  journal: { dir: ${JSON.stringify(join(scratch, "journal"))} },
  strategies: [rungs({})],
});
`,
);

const venue = spawn(
  process.execPath,
  [sluice, "venue", "--json", "--seed", "kill", "--faults", join(scratch, "faults.json")],
  {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  },
);
const [line] = await once(venue.stdout, "data");
const { url, keys } = JSON.parse(String(line));
const [key] = keys;
const env = {
  ...process.env,
  SLUICE_BASE_URL: url,
  SLUICE_API_KEY: key.apiKey,
  SLUICE_SECRET_KEY: key.secretKey,
  SLUICE_PASSPHRASE: key.passphrase,
};

const pending = async () => {
  for (let attempt = 0; attempt < 200; attempt++) {
    const timestamp = new Date().toISOString();
    const path = "/api/v1/trade/orders/pending";
    const sign = createHmac("sha256", key.secretKey).update(`${timestamp}GET${path}`).digest("base64");
    const headers = {
      "x-api-key": key.apiKey,
      "x-api-sign": sign,
      "x-api-timestamp": timestamp,
      "x-api-passphrase": key.passphrase,
    };
    try {
      const answer = await fetch(`${url}${path}?limit=100`, { headers });
      const body = await answer.json();
      if (answer.status === 200 && body.code === "0") return body.data;
    } catch {
      // A fault of the service; asked again.
    }
    await pause(500);
  }
  throw new Error("the service cannot be asked");
};
const journal = () => {
  const folder = join(scratch, "journal");
  // A life may end before it has begun one.
  if (!existsSync(folder)) return "";
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
};
const slotOf = ({ clOrdId }) => clOrdId.slice(5, 13);

const problems = [];
const look = async (when) => {
  const orders = await pending();
  const written = journal();
  const slots = new Map();
  for (const order of orders) {
    slots.set(slotOf(order), [...(slots.get(slotOf(order)) ?? []), order.clOrdId]);
    if (!written.includes(order.clOrdId)) problems.push(`${when}: ${order.clOrdId} rests and is not in the journal`);
  }
  for (const ids of slots.values())
    if (ids.length > 1) problems.push(`${when}: one slot rests ${ids.length} times: ${ids.join(", ")}`);
  return orders.length;
};
const life = (...args) =>
  spawn(process.execPath, [sluice, "run", configFile, "--json", ...args], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });

const startMsMax = 60_000;
const placed = '"type":"action.sent"';
/** Resolves when this life has sent its first placement, or has ended; what it says is read all the time. */
const trades = (child) =>
  new Promise((resolve) => {
    createInterface({ input: child.stdout }).on("line", (text) => {
      if (text.includes(placed) && text.includes('"placeOrder"')) resolve();
    });
    child.once("exit", resolve);
  });

let rested = 0;
let trading = 0;
const exits = new Map();
try {
  for (let count = 1; count <= kills; count++) {
    const child = life();
    let said = "";
    child.stderr.on("data", (chunk) => (said += chunk));
    const closed = once(child, "exit");
    let isTrading = false;
    const begun = trades(child).then(() => {
      isTrading = true;
    });
    if (count % 2 === 0) await Promise.race([pause(1_500 + random() * 3_500), closed]);
    else {
      await Promise.race([begun, pause(startMsMax)]);
      await Promise.race([pause(random() * 2_500), closed]);
    }
    if (isTrading) trading++;
    child.kill("SIGKILL");
    const [code, signal] = await closed;
    const end = signal ?? `exit ${code}`;
    exits.set(end, (exits.get(end) ?? 0) + 1);
    if (signal !== "SIGKILL") problems.push(`life ${count} ended by itself (${end}): ${said.slice(-300)}`);
    // What was under way when it died still arrives.
    await pause(1_600);
    rested += await look(`kill ${count}`);
    if (count % 10 === 0) process.stderr.write(`${count} kills, ${problems.length} problems\n`);
  }
  if (trading < kills / 4) problems.push(`only ${trading} of ${kills} lives came to trade before they were killed`);
  const last = life("--seconds", "60", "--cancel");
  void trades(last);
  const [code] = await once(last, "exit");
  await pause(1_000);
  const left = await pending();
  if (code !== 0) problems.push(`the last life ended with ${code}`);
  if (left.length > 0) problems.push(`${left.length} orders rest after the last life took them back`);
} finally {
  venue.kill("SIGTERM");
  await once(venue, "exit");
  rmSync(configFile, { force: true });
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(
  `${JSON.stringify({ kills, seed, exits: Object.fromEntries(exits), trading, restedPerLook: rested / kills, problems })}\n`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
