/** Engines, watchdogs and a service as processes on this machine: what is left when an engine dies, hangs or takes leave. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClientOrderIds } from "../../../src/orders/client-order-id.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const bin = join(root, "src/cli/sluice.mjs");
const folder = mkdtempSync(join(tmpdir(), "sluice-watchdog-"));
// Inside the checkout, where its imports are found.
const config = join(root, "out", `watchdog-${process.pid}.ts`);

const children: ChildProcess[] = [];
const texts = new Map<ChildProcess, string>();
let env: NodeJS.ProcessEnv = {};
let url = "";
/** Of another user, with a quota of its own. */
let otherKey: NodeJS.ProcessEnv = {};
let key = { apiKey: "", secretKey: "", passphrase: "" };

const start = (argv: readonly string[], own: NodeJS.ProcessEnv = {}): ChildProcess => {
  const child = spawn(process.execPath, [bin, ...argv], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1", ...env, ...own },
  });
  children.push(child);
  texts.set(child, "");
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      texts.set(child, `${texts.get(child)}${chunk.toString()}`);
    });
  }
  return child;
};
const textOf = (child: ChildProcess): string => texts.get(child) ?? "";

/** Looks again and again; fails with what was there instead. */
const until = async <T>(
  what: string,
  look: () => T | Promise<T>,
  fits: (seen: T) => boolean,
  ms = 75_000,
): Promise<T> => {
  const end = performance.now() + ms;
  for (;;) {
    const seen = await look();
    if (fits(seen)) return seen;
    if (performance.now() > end) throw new Error(`${what}: not within ${ms} ms; last seen: ${JSON.stringify(seen)}`);
    await pause(50);
  }
};

const says = (child: ChildProcess, words: string): Promise<string> =>
  until(
    `"${words}"`,
    () => textOf(child),
    (text) => text.includes(words),
  );
const exitOf = (child: ChildProcess): Promise<number | null> =>
  until(
    `an end after ${textOf(child).slice(-300)}`,
    () => child.exitCode,
    (code) => code !== null,
  );

const limited = "50011";

/** Asked by other means than the ones under test, and seldom, as it is the same user's quota. */
const list = async (): Promise<readonly string[]> => {
  const path = "/api/v1/trade/orders/pending";
  const timestamp = new Date().toISOString();
  const sign = createHmac("sha256", key.secretKey).update(`${timestamp}GET${path}`).digest("base64");
  const headers = {
    "X-API-Key": key.apiKey,
    "X-API-Sign": sign,
    "X-API-Timestamp": timestamp,
    "X-API-Passphrase": key.passphrase,
  };
  const { code, data } = (await (await fetch(url + path, { headers })).json()) as {
    code: string;
    data: { clOrdId: string }[];
  };
  if (code === limited) {
    await pause(500);
    return list();
  }
  expect(code).toBe("0");
  return data.map(({ clOrdId }) => clOrdId);
};
let listing: { readonly at: number; readonly ids: Promise<readonly string[]> } | undefined;
const restingOf = async (instance: string): Promise<number> => {
  if (listing === undefined || performance.now() - listing.at > 800) listing = { at: performance.now(), ids: list() };
  const ids = createClientOrderIds(instance);
  return (await listing.ids).filter((clOrdId) => ids.read(clOrdId) !== undefined).length;
};
const rests = (instance: string, count: number): Promise<number> =>
  until(
    `${count} orders of ${instance}`,
    () => restingOf(instance),
    (resting) => resting === count,
  );

/** Of its own at each try: what an earlier one left running or wrote would be met. */
const nameOf = (what: string): string => `${what}${children.length}`;
const engine = (instance: string, ...argv: readonly string[]): ChildProcess =>
  start(["run", config, "--json", ...argv], { TEST_INSTANCE: instance });
const dog = (instance: string, ...argv: readonly string[]): ChildProcess =>
  start(["watchdog", config, "--json", ...argv], { TEST_INSTANCE: instance });

beforeAll(async () => {
  mkdirSync(join(root, "out"), { recursive: true });
  writeFileSync(
    config,
    `import { defineConfig, defineStrategy, fromEnv, live } from "sluice";
import watchdog from "sluice/plugins/watchdog";
import { concat, NEVER, of } from "rxjs";
const far = (slot: string, px: string) => ({ slot, instId: "BTC-USDT-SWAP", side: "buy" as const, px, notional: "50" });
const rests = defineStrategy({
  name: "rests",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: () => concat(of([far("a", "20000"), far("b", "20100")]), NEVER),
});
export default defineConfig({
  service: live({ environment: "testnet", baseUrl: process.env["SLUICE_BASE_URL"] ?? "", keys: [fromEnv("SLUICE")], push: false }),
  strategies: [rests({})],
  instance: process.env["TEST_INSTANCE"] ?? "",
  ...(process.env["TEST_INSTANCE"]?.startsWith("anew") ? { journal: { dir: ${JSON.stringify(join(folder, "journal-"))} + process.env["TEST_INSTANCE"] } } : {}),
  plugins: [watchdog({ beatMs: 150, silenceMs: 5000, dir: ${JSON.stringify(join(folder, "meet"))} })],
});
`,
  );
  const venue = start(["venue", "--json", "--port", "0", "--seed", "watchdog"]);
  const line = await until(
    "the service",
    () => textOf(venue),
    (text) => text.includes("\n"),
  );
  const ready = JSON.parse(line.split("\n")[0] ?? "") as {
    url: string;
    keys: readonly [typeof key, typeof key, typeof key];
  };
  url = ready.url;
  [key] = ready.keys;
  const namesOf = ({ apiKey, secretKey, passphrase }: typeof key) => ({
    SLUICE_API_KEY: apiKey,
    SLUICE_SECRET_KEY: secretKey,
    SLUICE_PASSPHRASE: passphrase,
  });
  env = { SLUICE_BASE_URL: url, ...namesOf(key) };
  otherKey = namesOf(ready.keys[2]);
});

afterAll(() => {
  for (const child of children) {
    child.kill("SIGKILL");
    // What it brought along is nobody's child any more; where it did its work it has ended by itself.
    const [, pid, log = ""] =
      /started as process (\d+); what it does is written to (\S+)\.\n/.exec(textOf(child)) ?? [];
    if (pid !== undefined && !readFileSync(join(folder, log), "utf8").includes('"kind":"over"'))
      process.kill(Number(pid), "SIGKILL");
  }
  rmSync(folder, { recursive: true, force: true });
  rmSync(config, { force: true });
});

describe.concurrent("An engine and its watchdog as processes", () => {
  it("killed: what the watchdog brought along finds is cancelled, and it ends", async () => {
    const name = nameOf("killed");
    const log = join(folder, ".sluice", `watchdog-${name}.ndjson`);
    const run = engine(name, "--watchdog");
    await says(run, '"type":"watchdog.armed"');
    await rests(name, 2);
    // Its first listing waits for the quota of the user, which it shares with all the others here.
    await until(
      "its keys proved",
      () => readFileSync(log, "utf8"),
      (text) => text.includes('"kind":"proved"'),
    );
    run.kill("SIGKILL");
    await rests(name, 0);
    const told = await until(
      "the end of the log",
      () => readFileSync(log, "utf8"),
      (text) => text.includes('"kind":"over"'),
    );
    const kinds = told
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds.filter((kind) => kind !== "listed" && kind !== "waiting")).toEqual(
      ["proved", "armed", "disconnected", "tripped", "flat", "over"].sort(
        (a, b) => kinds.indexOf(a) - kinds.indexOf(b),
      ),
    );
    expect(told).toContain('"kind":"over","gone":2,"stuck":0');
  });

  it("killed before its watchdog is connected: nothing was placed, and what rests of the run before goes", async () => {
    const name = nameOf("early");
    const log = join(folder, ".sluice", `watchdog-${name}.ndjson`);
    const first = engine(name);
    await rests(name, 2);
    first.kill("SIGINT");
    expect(await exitOf(first)).toBe(0);
    const second = engine(name, "--watchdog");
    await says(second, "A watchdog was started as process");
    second.kill("SIGKILL");
    await rests(name, 0);
    expect(textOf(second)).not.toContain('"endpoint":"placeOrder"');
    const told = await until(
      "the end of the log",
      () => readFileSync(log, "utf8"),
      (text) => text.includes('"kind":"over"'),
    );
    expect(told).toContain('"kind":"unmet"');
    expect(told).toContain('"kind":"over","gone":2,"stuck":0');
  });

  it("killed and started again: it is halted until somebody resumes", async () => {
    const own = { ...otherKey, TEST_INSTANCE: nameOf("anew") };
    const engine = (...argv: readonly string[]): ChildProcess => start(["run", config, "--json", ...argv], own);
    const lives = (run: ChildProcess): Promise<string> =>
      until(
        "two orders",
        () => textOf(run),
        (text) => text.split('"phase":"live"').length > 2,
      );
    const watch = start(["watchdog", config, "--json"], own);
    await says(watch, '"kind":"proved"');
    const first = engine();
    await says(first, '"type":"watchdog.armed"');
    await lives(first);
    first.kill("SIGKILL");
    await says(watch, '"gone":2,"stuck":0,"halt":{"kind":"written"}}');
    const second = engine();
    await says(second, '"type":"engine.started"');
    await pause(700);
    second.kill("SIGINT");
    expect(await exitOf(second)).toBe(3);
    expect(textOf(second)).toMatch(/"mode":"halted","reason":"the watchdog tripped: no beat for/);
    expect(textOf(second)).not.toContain('"endpoint":"placeOrder"');
    const third = engine("--resume", "--cancel");
    await lives(third);
    third.kill("SIGINT");
    expect(await exitOf(third)).toBe(0);
    watch.kill("SIGTERM");
    expect(await exitOf(watch)).toBe(0);
  });

  it("stopped like a hung process: its orders go, and when it wakes it knows and halts", async () => {
    const name = nameOf("hung");
    const watch = dog(name);
    await says(watch, '"kind":"proved"');
    const run = engine(name);
    await says(run, '"type":"watchdog.armed"');
    await rests(name, 2);
    run.kill("SIGSTOP");
    await rests(name, 0);
    await says(watch, '"kind":"over"');
    run.kill("SIGCONT");
    await says(run, '"type":"watchdog.tripped"');
    await says(run, '"mode":"halted"');
    await pause(700);
    expect(await restingOf(name)).toBe(0);
    run.kill("SIGINT");
    expect(await exitOf(run)).toBe(3);
    watch.kill("SIGTERM");
    expect(await exitOf(watch)).toBe(0);
  });

  it("an orderly stop leaves what rests", async () => {
    const name = nameOf("calm");
    const watch = dog(name, "--once");
    await says(watch, '"kind":"proved"');
    const run = engine(name);
    await says(run, '"type":"watchdog.armed"');
    await rests(name, 2);
    run.kill("SIGINT");
    expect(await exitOf(run)).toBe(0);
    expect(await exitOf(watch)).toBe(0);
    expect(textOf(watch)).toContain('"kind":"goodbye"');
    expect(textOf(watch)).not.toContain("tripped");
    expect(await restingOf(name)).toBe(2);
  });
});
