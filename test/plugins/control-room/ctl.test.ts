import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { concat, NEVER, of } from "rxjs";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { statusText } from "../../../plugins/control-room/ctl-text.ts";
import { main } from "../../../src/cli/main.ts";
import { defineStrategy } from "../../../src/index.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { far, strategy, swap } from "../../support/harness/backtest.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type Controlled, startControlled } from "./harness/control.ts";

const folder = temporaryFolder("ctl");
const resting = strategy("resting", { wanted: () => concat(of([far("x"), far("y")]), NEVER) });
const priced = defineStrategy({
  name: "priced",
  options: {
    type: "object",
    additionalProperties: false,
    required: ["px"],
    properties: { px: { type: "string", format: "decimal" }, apiSecret: { type: "string" } },
  },
  wanted: ({ options: { px } }) => concat(of([far("p", px)]), NEVER),
});

let room: Controlled;
beforeAll(async () => {
  // Where engines leave the file of their port: those of other tests are none of ours.
  vi.stubEnv("TMPDIR", folder);
  room = await startControlled([resting, priced({ px: "31000", apiSecret: "cnry-secret-0123" })], {
    names: ["ctl.example"],
  });
});
afterAll(async () => {
  await room.stop();
  vi.unstubAllEnvs();
});

const ctlAt = async ({ port }: Controlled, ...words: string[]) => {
  const io = capturedIo({ columns: 80 });
  const code = await main(["ctl", "--url", `http://127.0.0.1:${port}`, ...words], io);
  return { code, out: io.outText, err: io.errText };
};
const ctl = (...words: string[]) => ctlAt(room, ...words);

it("The text of a status tells an outage of the service while it lasts", () => {
  const engine = {
    name: "main",
    kind: "live",
    environment: "testnet",
    version: "1",
    startedAt: 0,
    mode: "active",
    reason: "",
  } as const;
  const at = (unansweredSince?: number): string =>
    statusText(
      {
        source: "main",
        seq: 1,
        at: Date.UTC(2026, 0, 5, 20, 9, 13),
        rows: [
          ["engine", "", { ...engine, state: "running", ...(unansweredSince !== undefined && { unansweredSince }) }],
        ],
      },
      100,
      "http://127.0.0.1:8787",
    );
  expect(at(Date.UTC(2026, 0, 5, 20, 7, 44))).toContain(
    "\nUNREACHABLE: the service has not answered since 20:07:44 UTC, 0:01:29; figures are older\n",
  );
  expect(at()).not.toContain("UNREACHABLE");
});

it("The text of a status tells what is bad and lasts, and no late timer", () => {
  const engine = {
    name: "main",
    kind: "live",
    environment: "testnet",
    version: "1",
    startedAt: 0,
    mode: "active",
    reason: "",
  } as const;
  const rows = [
    ["engine", "", { ...engine, state: "running" }],
    [
      "health",
      "position BTC-USDT-SWAP main",
      { value: "account 0, strategies 0.02 (one 0.02)", unit: "", state: "bad" },
    ],
    ["health", "event loop, worst", { value: 900, unit: "ms", state: "bad" }],
    ["health", "watchdog", { value: "waiting", unit: "", state: "warn" }],
  ] as const;
  const text = statusText({ source: "main", seq: 1, at: 0, rows }, 100, "http://127.0.0.1:8787");
  expect(text).toContain("\nPROBLEM position BTC-USDT-SWAP main: account 0, strategies 0.02 (one 0.02)\n");
  expect(text.match(/PROBLEM/g)).toHaveLength(1);
});

describe("sluice ctl", () => {
  it("says how an engine stands in 80 columns, without what is secret", async () => {
    const { code, out } = await ctl("status");
    expect(code).toBe(0);
    expect(out).toMatch(/^main {2}paper {2}running\ntrading active\n/);
    const where = `http://127.0.0.1:${room.port}`;
    expect(out).toContain(`\ntrading active\nprocess ${process.pid} at ${where}, instance main`);
    expect(out).toMatch(/^resting +running +active +2 +0 +\d+/m);
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    const json = await ctl("--json", "status");
    expect(JSON.parse(json.out)).toMatchObject({
      url: where,
      engine: [{ name: "main", mode: "active", pid: process.pid, instance: "main" }],
      strategies: [{ name: "resting" }, { name: "priced", options: { px: "31000", apiSecret: "(hidden)" } }],
    });
    expect(json.out).not.toContain("cnry-secret");
  });

  it("lists orders, tells the story of one, cancels it, and changes options", async () => {
    expect((await ctl("orders")).out.split("\n")).toHaveLength(5);
    const orders = JSON.parse((await ctl("--json", "orders")).out) as { clOrdId: string; slot: string }[];
    const { clOrdId = "" } = orders.find(({ slot }) => slot === "x") ?? {};
    expect((await ctl("story", clOrdId)).out).toMatch(/ {2}sent(.|\n)* {2}live/);
    expect(await ctl("cancel", "--order", clOrdId)).toMatchObject({ code: 0, out: "Canceling: 1 order is gone.\n" });
    expect(await ctl("options", "priced", "px=32000")).toMatchObject({ code: 0 });
    expect(room.engine.strategies()[1]?.options).toMatchObject({ px: "32000" });
    expect((await ctl("fills")).out).toBe("Nothing was executed.\n");
    expect(await ctl("story", "nothing")).toMatchObject({ code: 1, err: expect.stringContaining("ORDER_UNKNOWN") });
  });

  it("shows a full stop of one strategy, and of all, apart from a halt", async () => {
    const status = async (): Promise<string> => (await ctl("status")).out;
    await ctl("halt", "--strategy", "priced");
    await expect.poll(status, { timeout: 20_000 }).toMatch(/^priced +running +halted /m);
    await ctl("halt", "--strategy", "priced", "--full");
    await expect.poll(status, { timeout: 20_000 }).toMatch(/^priced +running +stopped \(full\) /m);
    expect(await status()).toMatch(/^trading active/m);
    await ctl("resume", "--strategy", "priced");
    await ctl("halt", "--full", "--reason", "tea");
    await expect.poll(status, { timeout: 20_000 }).toMatch(/^trading stopped \(full\): tea/m);
    await ctl("resume");
    await expect.poll(status, { timeout: 20_000 }).toMatch(/^trading active$/m);
    await expect.poll(status, { timeout: 20_000 }).toMatch(/^priced +running +active /m);
  });

  it("halts and resumes, and the journal has who asked and why", async () => {
    const acts: unknown[] = [];
    const off = room.engine.on("operator.acted", (event) => acts.push(event));
    await vi.waitFor(
      () =>
        expect(room.engine.openOrders().filter(({ slot, phase }) => slot === "p" && phase === "live")).toHaveLength(1),
      60_000,
    );
    expect(await ctl("halt", "--strategy", "priced", "--reason", "tea")).toMatchObject({
      code: 0,
      out: "priced is halted, and 1 order is gone.\n",
    });
    expect(room.engine.strategies().map(({ mode }) => mode)).toEqual(["active", "halted"]);
    expect(await ctl("resume", "--strategy", "priced")).toMatchObject({ code: 0 });
    expect(acts).toMatchObject([
      { action: "halt", target: "priced", by: expect.stringMatching(/^127\.0\.0\.1:\d+$/), reason: "tea" },
      { action: "resume", target: "priced", reason: "" },
    ]);
    off();
  });

  it.each([
    [["cancel"], 2, "name the orders, or write --all"],
    [["cancel", "--all", "--side", "buy"], 2, "--all goes with no other condition"],
    [["close"], 2, "Add --yes when you mean it"],
    [["options", "priced", "px"], 2, '"px" is no name=value'],
    [["options", "priced", "px=much"], 1, "is not a decimal"],
    [["options", "priced", "color=red"], 1, 'unknown key "color"'],
    [["halt", "--strategy", "prised"], 1, 'Did you mean "priced"'],
    [["--engine", "other", "status"], 2, "No such engine runs"],
    [["hold"], 2, "unknown command 'hold'"],
  ])("refuses what it should not do, in words: %j", async (words, expected, text) => {
    const { code, err } = await ctl(...words);
    expect([code, err]).toEqual([expected, expect.stringContaining(text)]);
    expect(room.engine.strategies().map(({ mode }) => mode)).toEqual(["active", "active"]);
  });

  it("takes a token from a file, says nothing of it, and does not send one to an address that it does not know", async () => {
    const file = join(folder, "token");
    writeFileSync(file, `${"w".repeat(43)}\n`);
    chmodSync(file, 0o600);
    const wrong = await ctl("--token-file", file, "status");
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("TOKEN_WRONG")]);
    expect(wrong.err).not.toContain("www");
    writeFileSync(file, room.token);
    expect((await ctl("--token-file", file, "status")).code).toBe(0);
    const io = capturedIo();
    expect(await main(["ctl", "--url", "http://127.0.0.1:1", "status"], io)).toBe(2);
    expect(io.errText).toContain("name the file with its token");
  });
});

describe("sluice ctl close", () => {
  const at = (side: "buy" | "sell", qty: string): WantedOrder => ({
    slot: "in",
    instId: swap,
    side,
    ordType: "market",
    qty,
  });
  const holding = (name: string, order: WantedOrder) => strategy(name, { wanted: () => concat(of([order]), NEVER) });
  let desk: Controlled;
  beforeAll(async () => {
    desk = await startControlled([holding("long", at("buy", "0.03")), holding("short", at("sell", "0.011"))]);
  });
  afterAll(async () => desk.stop());
  const held = () =>
    Object.fromEntries(
      desk.engine.strategies().map(({ name, positions }) => [name, positions.get(swap)?.qty ?? "0"] as const),
    );

  it("says before it is confirmed what is sold and bought, for one strategy and for one instrument", async () => {
    await expect.poll(held, { timeout: 20_000 }).toEqual({ long: "0.03", short: "-0.011" });
    const own = await ctlAt(desk, "close", "--strategy", "short", "--inst", swap);
    expect([own.code, own.err]).toEqual([
      2,
      expect.stringContaining(`halts short and closes what it holds, at the market: buys 0.011 ${swap}`),
    ]);
    await expect
      .poll(async () => (await ctlAt(desk, "close", "--inst-id", swap)).err, { timeout: 20_000 })
      .toContain(
        `every strategy that trades ${swap} and closes the account's position at the market, what other clients hold of it as well: sells 0.019`,
      );
    expect([held(), desk.engine.strategies().map(({ mode }) => mode)]).toEqual([
      { long: "0.03", short: "-0.011" },
      ["active", "active"],
    ]);
  });

  it("closes what one strategy holds, and leaves the other's to the last digit", async () => {
    const acts: unknown[] = [];
    const off = desk.engine.on("operator.acted", (event) => acts.push(event));
    expect(await ctlAt(desk, "close", "--strategy", "long", "--inst", swap, "--yes", "--reason", "done")).toMatchObject(
      {
        code: 0,
        out: "long is halted, and 1 position is closed.\n",
      },
    );
    expect([held(), desk.engine.strategies().map(({ mode }) => mode)]).toEqual([
      { long: "0", short: "-0.011" },
      ["halted", "active"],
    ]);
    expect(acts).toMatchObject([{ action: "close", target: `strategy long, instId ${swap}`, reason: "done" }]);
    off();
    const refused = await ctlAt(desk, "close", "--strategy", "lung", "--yes");
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('Did you mean "long"')]);
  });
});
