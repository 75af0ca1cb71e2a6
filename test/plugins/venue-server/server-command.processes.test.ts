/** `sluice venue` as a function and, once, as a process. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { ServerKey } from "../../../plugins/venue-server/server/keyring.ts";
import { main } from "../../../src/cli/main.ts";
import { credentialsFromFile } from "../../../src/client/transport/secrets.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { type CapturedIo, capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { signedHeaders, startAt, until } from "./harness/server.ts";

const folder = temporaryFolder("venue");
const file = (name: string, value: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  return path;
};

interface Ready {
  readonly url: string;
  readonly wsUrl: string;
  readonly keys: readonly [ServerKey, ServerKey, ServerKey];
}

const opened: { io: CapturedIo; code: Promise<number> }[] = [];
afterEach(async () => {
  for (const { io, code } of opened.splice(0)) {
    io.stop();
    await code;
  }
});

const begin = (...argv: readonly string[]) => {
  const io = capturedIo();
  const clock = createVirtualClock(startAt);
  const code = main(["venue", ...argv], io, { clock });
  opened.push({ io, code });
  return { io, clock, code };
};

/** Opens it and waits until it says that it is ready. */
const venue = async (...argv: readonly string[]) => {
  const begun = begin(...argv, "--json");
  await until(() => begun.io.outText !== "" || begun.io.errText !== "");
  expect(begun.io.errText).toBe("");
  const ready = JSON.parse(begun.io.outText) as Ready;
  const ask = async (method: string, path: string, key?: ServerKey, body?: unknown) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers = key && signedHeaders(key, {}, begun.clock.wallNow(), method, path, "", text);
    const heard = await fetch(ready.url + path, {
      method,
      ...(headers && { headers }),
      ...(text !== "" && { body: text }),
      keepalive: false,
    });
    return { status: heard.status, body: (await heard.json()) as { code: string; data: Record<string, string>[] } };
  };
  return { ...begun, ...ready, ask };
};

const instruments = "/api/v1/common/instruments";
const balance = "/api/v1/asset/spot";

describe("sluice venue --dialect", () => {
  it("speaks as another exchange, in contracts of ten lots, and says so to people", async () => {
    const { ask, wsUrl, url } = await venue("--dialect", "okx");
    expect(wsUrl).toBe(`${url.replace("http", "ws")}/ws/v5/public`);
    const { body } = await ask("GET", "/api/v5/public/instruments?instType=SWAP");
    expect(body.data.map(({ instId, ctVal, lotSz }) => [instId, ctVal, lotSz])).toEqual([
      ["BTC-USDT-SWAP", "0.01", "0.1"],
      ["ETH-USDT-SWAP", "0.1", "0.1"],
    ]);
    expect((await ask("GET", instruments)).status).toBe(404);
    const page = await (await fetch(url)).text();
    expect(page).toContain("/api/v5/trade/batch-orders");
    expect(page).toContain("place 60 requests in 2 s");
    const people = begin("--dialect", "okx-demo");
    await until(() => people.io.outText !== "");
    expect(people.io.outText).toContain("It uses the dialect okx-demo.");
    expect(people.io.outText).not.toContain("openapi.json");
  });

  it("refuses exchanges it does not know", async () => {
    const { io, code } = begin("--dialect", "nyse");
    expect(await code).toBe(2);
    expect(io.errText).toContain("okx");
  });
});

describe("sluice venue --json", () => {
  it("prints one line when it answers, and ends with 0 and nothing left when asked to stop", async () => {
    const { io, clock, code, url, wsUrl, keys, ask } = await venue();
    expect(Object.keys(JSON.parse(io.outText) as object)).toEqual(["url", "wsUrl", "keys"]);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(wsUrl).toBe(`${url.replace("http", "ws")}/ws/v1`);
    expect(keys.map(({ uid, permissions }) => [uid, permissions])).toEqual([
      ["user-1", ["read", "trade_futures", "trade_spot"]],
      ["user-1", ["read"]],
      ["user-2", ["read", "trade_futures", "trade_spot"]],
    ]);
    expect((await ask("GET", instruments)).body.data.map(({ instId }) => instId)).toEqual([
      "BTC-USDT-SWAP",
      "ETH-USDT-SWAP",
      "BTC-USDT",
    ]);
    clock.advanceTo(startAt + 61_000);
    io.stop();
    expect(await code).toBe(0);
    expect([io.outText.split("\n").length, io.errText, clock.pending]).toEqual([2, "", 0]);
    await expect(fetch(url)).rejects.toThrow();
  });

  it("gives keys that do what they may, and users that are apart", async () => {
    const { ask, keys, clock } = await venue();
    clock.advanceTo(startAt + 10_000);
    const [trade, read, other] = keys;
    const order = { instId: "BTC-USDT-SWAP", side: "buy", ordType: "limit", px: "30000", sz: "300" };
    expect((await ask("POST", "/api/v1/trade/order", read, order)).status).toBe(403);
    expect((await ask("POST", "/api/v1/trade/order", trade, order)).body).toMatchObject({ code: "0" });
    expect((await ask("GET", "/api/v1/trade/orders/pending", read)).body.data).toMatchObject([
      { px: "30000", state: "live" },
    ]);
    expect((await ask("GET", "/api/v1/trade/orders/pending", other)).body.data).toEqual([]);
    expect((await ask("GET", balance, other)).body.data).toMatchObject([
      { currency: "BTC", available: "10" },
      { currency: "USDT", available: "10000" },
    ]);
  });

  it("gives the same keys for the same seed, and others without one", async () => {
    const seeded = await Promise.all([
      venue("--seed", "7"),
      venue("--seed", "7"),
      venue("--seed", "8"),
      venue(),
      venue(),
    ]);
    const names = seeded.map(({ keys }) => keys.map(({ secretKey }) => secretKey).join());
    expect(names[0]).toBe(names[1]);
    expect(new Set(names).size).toBe(4);
    expect(
      new Set(seeded.flatMap(({ keys }) => keys.flatMap((key) => [key.apiKey, key.secretKey, key.passphrase]))).size,
    ).toBe(36);
  });

  it("plays a market, faster when told", async () => {
    const boughtAt = async (afterMs: number, speed: string): Promise<string | undefined> => {
      const { ask, keys, clock } = await venue("--seed", "1", "--speed", speed);
      clock.advanceTo(startAt + afterMs);
      const order = { instId: "BTC-USDT-SWAP", side: "buy", ordType: "ioc", px: "90000", sz: "600" };
      const ordId = (await ask("POST", "/api/v1/trade/order", keys[0], order)).body.data[0]?.["ordId"];
      const { data } = (await ask("GET", "/api/v1/trade/orders/history", keys[0])).body;
      expect(data).toMatchObject([{ ordId, state: "filled" }]);
      return data[0]?.["avgPx"];
    };
    const later = await boughtAt(30_000, "1");
    expect(await boughtAt(500, "60")).toBe(later);
    expect(await boughtAt(500, "1")).not.toBe(later);
  });

  it("takes the products it is told, with something to sell of the spot ones", async () => {
    const { ask, keys } = await venue("--instruments", "SOL-USDT, ETH-USDT-SWAP,SOL-USDT");
    expect((await ask("GET", instruments)).body.data.map(({ instId }) => instId)).toEqual([
      "SOL-USDT",
      "ETH-USDT-SWAP",
    ]);
    const { data } = (await ask("GET", balance, keys[0])).body;
    expect(data.map(({ currency, balance: amount }) => `${amount} ${currency}`).sort()).toEqual([
      "10 SOL",
      "10000 USDT",
    ]);
  });

  it("plays a recorded market", async () => {
    const demo = fileURLToPath(new URL("../../fixtures/demo", import.meta.url));
    const { instruments: recorded } = JSON.parse(readFileSync(join(demo, "manifest.json"), "utf8")) as {
      instruments: { instId: string }[];
    };
    const { ask } = await venue("--fixture", demo);
    expect((await ask("GET", instruments)).body.data.map(({ instId }) => instId)).toEqual(
      recorded.map(({ instId }) => instId),
    );
  });

  it("shows the documents of what it serves, with its own address", async () => {
    const { url, wsUrl, ask } = await venue("--profile", file("prefix.json", { auth: { headerPrefix: "My-" } }));
    const open = (await ask("GET", "/openapi.json")).body as unknown as { openapi: string; servers: { url: string }[] };
    expect([open.openapi, open.servers[0]?.url]).toEqual(["3.1.0", url]);
    expect(JSON.stringify(open)).toContain("My-Key");
    expect(JSON.stringify((await ask("GET", "/asyncapi.json")).body)).toContain(new URL(wsUrl).host);
  });

  it("lifts the limits, and plays the faults it is given", async () => {
    const faults = file("faults.json", { http: [{ kind: "html", endpoint: "positions" }] });
    const { ask, keys } = await venue("--no-limits", "--faults", faults);
    for (let count = 0; count < 11; count++) expect((await ask("GET", balance, keys[0])).status).toBe(200);
    await expect(ask("GET", "/api/v1/account/positions", keys[0])).rejects.toThrow();
    const limited = await venue();
    const statuses = [];
    for (let count = 0; count < 11; count++) statuses.push((await limited.ask("GET", balance, limited.keys[0])).status);
    expect(statuses[10]).toBe(429);
  });
});

describe("The file of keys", () => {
  it("is its owner's alone and holds what a client reads", async () => {
    const path = join(folder, "keys.json");
    const { keys } = await venue("--keys", path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(credentialsFromFile(path, "trade").apiKey).toBe(keys[0].apiKey);
    expect(credentialsFromFile(path, "read").apiKey).toBe(keys[1].apiKey);
    expect(credentialsFromFile(path, "other").apiKey).toBe(keys[2].apiKey);
    chmodSync(path, 0o644);
    const again = await venue("--keys", path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(credentialsFromFile(path, "trade").apiKey).toBe(again.keys[0].apiKey);
    expect(existsSync(`${path}.new`)).toBe(false);
  });

  it.each([
    ["somebody's credentials", { apiKey: "mine" }],
    ["no JSON", "mine"],
  ])("never replaces %s", async (name, value) => {
    const path = file(`${name}.json`, value);
    const { io, code } = begin("--keys", path);
    expect(await code).toBe(2);
    expect(io.errText).toContain("exists and was not written by this command");
    expect(readFileSync(path, "utf8")).toBe(typeof value === "string" ? value : JSON.stringify(value));
  });
});

describe("The venue command for people", () => {
  it("says where it is, which keys there are, how to point a config at it, and once a minute what happened", async () => {
    const { io, clock, code } = begin("--seed", "7", "--no-limits");
    await until(() => io.outText !== "");
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(io.outText)?.[0] ?? "";
    for (const part of [
      "sockets at ws://127.0.0.1:",
      "No limits are enforced.",
      "BTC-USDT-SWAP",
      "\n  secretKey   ",
      `\n  export SLUICE_BASE_URL=${url}\n  export SLUICE_API_KEY=`,
      `live({ environment: "testnet", baseUrl: "${url}", keys: [fromEnv("SLUICE")] })`,
      "--seed 7",
    ]) {
      expect(io.outText).toContain(part);
    }
    await (await fetch(url + instruments)).text();
    clock.advanceTo(startAt + 60_000);
    expect(io.errText).toMatch(/^22:14 {2}1 request, weight 0, none refused, 1 connection, 0 sockets\n$/);
    clock.advanceTo(startAt + 120_000);
    expect(io.errText).toMatch(/\n22:15 {2}0 requests, /);
    io.stop();
    expect(await code).toBe(0);
    expect(io.errText).toMatch(/\nClosed after 1 request, weight 0, none refused\.\n$/);
  });
});

describe("The venue command refuses and leaves nothing open:", () => {
  it.each([
    ["a port beyond all ports", ["--port", "65536"], 2, "Write a port from 0 to 65535."],
    ["a port in words", ["--port", "http"], 2, "Write a port from 0 to 65535."],
    ["no speed", ["--speed", "0"], 2, "Write a number above 0, at most 10000."],
    ["a product that is none", ["--instruments", "BTC-USDT-SWAP,btc"], 2, '"btc" is not an instrument id'],
    ["two markets", ["--fixture", "x", "--instruments", "BTC-USDT"], 2, "the fixture has its own"],
    ["a fixture that is not there", ["--fixture", join(folder, "none")], 1, "expected a fixture folder, found nothing"],
    ["a profile that is not there", ["--profile", join(folder, "none.json")], 2, "none.json: cannot be read (ENOENT)."],
    ["a profile of no JSON", ["--profile", file("bad.json", "{")], 2, "bad.json: is not JSON"],
    ["a profile of another shape", ["--profile", file("list.json", [])], 2, "expected an object of groups"],
    ["a profile with a slip", ["--profile", file("slip.json", { limit: {} })], 2, 'Did you mean "limits"?'],
    [
      "faults with a slip",
      ["--faults", file("slip-2.json", { http: [{ kind: "silense" }] })],
      2,
      'Did you mean "silence"?',
    ],
    [
      "keys in a folder that is not there",
      ["--keys", join(folder, "none", "keys.json")],
      2,
      "cannot be written (ENOENT)",
    ],
  ])("%s", async (_, argv, expected, message) => {
    const { io, clock, code } = begin(...argv);
    expect(await code).toBe(expected);
    expect(io.errText).toContain(message);
    expect([io.outText, clock.pending]).toEqual(["", 0]);
  });

  it("a port that is taken", async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, "127.0.0.1", () => resolve((taken.address() as { port: number }).port));
    });
    const { io, code } = begin("--port", String(port));
    expect(await code).toBe(1);
    expect(io.errText).toBe(
      `error: Cannot listen on 127.0.0.1:${port}: another program listens there. Choose another port, or 0 for any that is free.\n`,
    );
    await new Promise((resolve) => taken.close(resolve));
  });
});

it("Listens for a request to stop only while it is open", async () => {
  let listening = 0;
  const inner = capturedIo();
  const io = Object.assign(Object.create(inner) as CapturedIo, {
    onStop: (run: Parameters<CapturedIo["onStop"]>[0]) => {
      listening++;
      const leave = inner.onStop(run);
      return () => {
        listening--;
        leave();
      };
    },
  });
  const code = main(["venue", "--json"], io, { clock: createVirtualClock(startAt) });
  await until(() => inner.outText !== "");
  expect(listening).toBe(1);
  inner.stop();
  expect([await code, listening]).toEqual([0, 0]);
});

describe("The venue process", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("ends with 0 on %s", async (signal) => {
    const bin = fileURLToPath(new URL("../../../src/cli/sluice.mjs", import.meta.url));
    const child = spawn(process.execPath, [bin, "venue", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      if (out.endsWith("\n")) child.kill(signal);
    });
    expect(await new Promise((resolve) => child.on("close", (code, by) => resolve([code, by])))).toEqual([0, null]);
    expect(out.split("\n")).toHaveLength(2);
  });
});
