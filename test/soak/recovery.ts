/**
 * How long it takes from SIGKILL to trading again, with two hundred open orders and a journal of ten thousand records.
 *
 * `sluice venue` holds the orders; `sluice run` is killed with SIGKILL and started again at once, several times. An order that is
 * wanted anew in every life tells when it trades. Everything is on loopback, so that round trips cost next to nothing; the weight
 * of what is asked before is printed too, since it is what a minute of quota has to hold.
 *
 *   npx tsx test/soak/recovery.ts [lives=5] [folder, such as . for this checkout; built as an installed package has it when left out]
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createCredentials } from "../../src/client/transport/secrets.ts";
import { createSigner } from "../../src/client/transport/sign.ts";
import { createContract } from "../../src/contract/contract.ts";
import { fileDisk } from "../../src/journal/file-disk.ts";
import { openWriteAheadLog } from "../../src/journal/write-ahead-log.ts";
import { createClientOrderIds } from "../../src/orders/client-order-id.ts";

const openOrders = 200;
const records = 10_000;
const minuteMs = 60_000;
const limitMs = 2_000;

const checkout = fileURLToPath(new URL("../..", import.meta.url));
const [livesText = "5", folder] = process.argv.slice(2);
const root = folder === undefined ? packaged(checkout) : resolve(folder);
const sluice = join(root, "src/cli/sluice.mjs");
const scratch = mkdtempSync(join(tmpdir(), "sluice-recovery-"));
const configFile = join(root, "out", `recovery-${process.pid}.ts`);
mkdirSync(join(root, "out"), { recursive: true });
writeFileSync(
  configFile,
  `import { defineConfig, defineStrategy, fromEnv, live } from "sluice";
import { NEVER, concat, of } from "rxjs";
const bid = (slot: string, px: number) => ({ slot, instId: "BTC-USDT-SWAP", side: "buy" as const, px: String(px), sz: "50" });
const rungs = defineStrategy({
  name: "rungs",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: ({ now }) =>
    concat(of([...Array.from({ length: ${openOrders} }, (_, rung) => bid("rung-" + rung, 20000 + rung)), bid("fresh-" + Math.floor(now()), 15000)]), NEVER),
});
export default defineConfig({
  service: live({ environment: "testnet", baseUrl: process.env["SLUICE_BASE_URL"] ?? "", keys: [fromEnv("SLUICE")] }),
  orders: { openPerStrategy: 400, openInAll: 400 },
  journal: { dir: ${JSON.stringify(join(scratch, "journal"))} },
  strategies: [rungs({})],
});
`,
);

/** The package as it is installed, in a folder of its own. */
function packaged(from: string): string {
  const to = mkdtempSync(join(tmpdir(), "sluice-package-"));
  process.on("exit", () => {
    rmSync(to, { recursive: true, force: true });
  });
  mkdirSync(join(to, "src/cli"), { recursive: true });
  for (const file of ["package.json", "src/cli/sluice.mjs"]) copyFileSync(join(from, file), join(to, file));
  symlinkSync(join(from, "node_modules"), join(to, "node_modules"));
  const tsc = join(from, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", join(to, "dist")], {
    cwd: from,
    stdio: ["ignore", 2, 2],
  });
  return to;
}

const started: ChildProcess[] = [];
const start = (args: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildProcess => {
  const child = spawn(process.execPath, [sluice, ...args], { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  return child;
};

interface Life {
  /** Milliseconds from the kill, or the beginning, to the first sign of each. */
  readonly askedMs: number;
  readonly openedMs: number;
  readonly startedMs: number;
  readonly placedMs: number;
  readonly acceptedMs: number;
  /** Of everything asked until the strategies began. */
  readonly weight: number;
  readonly calls: number;
  readonly unresolved: number;
}

interface Line {
  readonly type: string;
  readonly endpoint?: string;
  readonly weight?: number;
  readonly unresolved?: number;
}

/** Starts a process, waits until its new order was taken, lets it be for a moment and kills it. */
const live = async (env: NodeJS.ProcessEnv): Promise<Life> => {
  const from = performance.now();
  const child = start(["run", configFile, "--json"], env);
  const seen = new Map<string, number>();
  let weight = 0;
  let calls = 0;
  let unresolved = 0;
  for await (const text of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const { type, endpoint = "", ...line } = JSON.parse(text) as Line;
    const name = `${type} ${endpoint}`.trim();
    for (const sign of [type, name]) if (!seen.has(sign)) seen.set(sign, performance.now() - from);
    if (type === "journal.opened") unresolved = line.unresolved ?? 0;
    if (type === "action.sent" && !seen.has("engine.started")) {
      weight += line.weight ?? 0;
      calls++;
    }
    if (name === "action.answered placeOrder") break;
  }
  await pause(1_000);
  child.kill("SIGKILL");
  await once(child, "exit");
  const at = (name: string): number => Math.round(seen.get(name) ?? Number.NaN);
  const marks = { askedMs: at("action.sent"), openedMs: at("journal.opened"), startedMs: at("engine.started") };
  return {
    ...marks,
    placedMs: at("action.sent placeOrder"),
    acceptedMs: at("action.answered placeOrder"),
    weight,
    calls,
    unresolved,
  };
};

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

try {
  const venue = start(["venue", "--json", "--seed", "recovery", "--no-limits"]);
  const [ready] = (await once(venue.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  const { url, keys } = JSON.parse(String(ready)) as {
    readonly url: string;
    readonly keys: readonly Readonly<Record<string, string>>[];
  };
  const { apiKey = "", secretKey = "", passphrase = "" } = keys[0] ?? {};
  const env = {
    ...process.env,
    SLUICE_BASE_URL: url,
    SLUICE_API_KEY: apiKey,
    SLUICE_SECRET_KEY: secretKey,
    SLUICE_PASSPHRASE: passphrase,
  };

  const { profile, endpoints } = createContract();
  const signer = createSigner(profile, createCredentials({ apiKey, secretKey, passphrase }));
  const ids = createClientOrderIds("main");
  const { path } = endpoints.placeOrder;
  const orders = Array.from({ length: openOrders }, (_, rung) => ({
    instId: "BTC-USDT-SWAP",
    side: "buy",
    ordType: "limit",
    sz: "50",
    px: String(20_000 + rung),
    clOrdId: ids.of(ids.slotHash("rungs", `rung-${rung}`), 1),
  }));
  for (const order of orders) {
    const body = JSON.stringify(order);
    const signed = signer.headers({ method: "POST", path, query: "", body }, Date.now());
    const answer = await fetch(url + path, {
      method: "POST",
      body,
      headers: { ...signed, "content-type": "application/json" },
    });
    const { code, msg } = (await answer.json()) as { readonly code: string; readonly msg: string };
    if (code !== "0") throw new Error(`the service does not take an order: ${code} ${msg}`);
  }

  // A journal in which thousands of orders came and went before these.
  const disk = await fileDisk(join(scratch, "journal"));
  const store = await openWriteAheadLog({
    disk,
    owner: { service: url, users: "main", instance: "main" },
    snapshot: () => [],
  });
  const sent = (clOrdId: string, px: string) => ({
    type: "sent",
    uid: "main",
    clOrdId,
    instId: "BTC-USDT-SWAP",
    side: "buy",
    ordType: "limit",
    px,
    sz: "50",
    reduceOnly: false,
    sentAt: Date.now(),
  });
  store.append({ type: "life", number: 1, at: Date.now() });
  for (let pair = 0; pair < (records - openOrders) / 2; pair++) {
    const clOrdId = ids.of(ids.slotHash("rungs", `old-${pair % 50}`), pair);
    store.append(sent(clOrdId, "20000"));
    store.append({ type: "over", uid: "main", clOrdId, phase: "canceled" });
  }
  for (const { clOrdId, px } of orders) store.append(sent(clOrdId, px));
  await store.commit();
  await store.close();

  // What placing them has used is not the matter here: the lives begin in a fresh minute.
  await pause(minuteMs - (Date.now() % minuteMs) + 500);
  const first = await live(env);
  const lives: Life[] = [];
  for (let life = 0; life < Number(livesText); life++) lives.push(await live(env));
  const figure = (name: keyof Life): { readonly min: number; readonly median: number } => {
    const values = lives.map((life) => life[name]);
    return { min: Math.min(...values), median: median(values) };
  };
  const result = {
    openOrders,
    records,
    lives: lives.length,
    firstRequestMs: figure("askedMs"),
    journalOpenedMs: figure("openedMs"),
    startedMs: figure("startedMs"),
    tradingAgainMs: figure("placedMs"),
    acceptedMs: figure("acceptedMs"),
    weightBefore: figure("weight").median,
    callsBefore: figure("calls").median,
    unresolved: first.unresolved,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  process.exitCode = result.tradingAgainMs.median <= limitMs ? 0 : 1;
} finally {
  for (const child of started) child.kill("SIGKILL");
  rmSync(configFile, { force: true });
  rmSync(scratch, { recursive: true, force: true });
}
