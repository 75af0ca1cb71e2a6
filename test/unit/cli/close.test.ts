import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EMPTY, from, Observable, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import type { Account, PositionEnding } from "../../../src/host/context.ts";
import { holdLock } from "../../../src/journal/process-lock.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("close");

const given = (name: string, config: object): string => {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, `export default ${JSON.stringify(config)};\n`);
  return path;
};
const service = { kind: "live", environment: "testnet", baseUrl: "https://testnet.example.com" };
const traded = {
  service,
  strategies: [{ name: "ladder" }],
  plugins: [{ name: "panel" }],
  leverage: { "BTC-USDT-SWAP": "5" },
  quota: { shares: { ladder: 2 }, budgets: { ladder: 100 }, exitRate: 3 },
  instance: "two",
};
const ending = (kind: PositionEnding["kind"], over: Partial<PositionEnding> = {}): PositionEnding => ({
  kind,
  uid: "main",
  instId: "BTC-USDT-SWAP",
  pos: "0.5",
  left: "0",
  reason: "",
  ...over,
});

const run = async (
  path: string,
  argv: readonly string[] = [],
  endings: Observable<PositionEnding> = EMPTY,
  io = capturedIo(),
) => {
  const made: Record<string, unknown>[] = [];
  const log: unknown[] = [];
  const createClosing = (config: object, options: object) => {
    made.push({ ...config, ...options });
    return {
      start: async () => void log.push("start"),
      closePositions: (reason: string) => {
        log.push(reason);
        return endings;
      },
      stop: async (options: unknown) => void log.push(["stop", options]),
    };
  };
  const code = await main(["close", path, ...argv], io, { createClosing });
  return { code, io, made, log };
};

describe("sluice close", () => {
  it("runs nothing of what the config runs, closes, and says that nothing is held", async () => {
    const { code, io, made, log } = await run(given("traded", traded), [], from([ending("closed")]));
    expect([code, io.outText, io.errText]).toEqual([
      0,
      "main: 0.5 in BTC-USDT-SWAP closed\nNo position is open.\n",
      "",
    ]);
    expect(log).toEqual(["start", "positions closed by sluice close", ["stop", { cancel: true }]]);
    const [config = {}] = made;
    expect((config["strategies"] as { name: string }[]).map(({ name }) => name)).toEqual(["close"]);
    expect(config).toMatchObject({ purpose: "close", quota: { exitRate: 3 }, instance: "two", service });
    expect(Object.keys(config).sort()).toEqual(["instance", "plugins", "purpose", "quota", "service", "strategies"]);
    expect(config["quota"]).toEqual({ exitRate: 3 });
  });

  it("ends with 1 when something is left, or nobody knows, and says which", async () => {
    const left = ending("left", { left: "0.2", reason: "the book did not take all of it" });
    const some = await run(given("some", traded), [], from([ending("closed", { instId: "ETH-USDT-SWAP" }), left]));
    expect(some.code).toBe(1);
    expect(some.io.outText).toContain(
      "main: 0.2 of 0.5 in BTC-USDT-SWAP still open: the book did not take all of it\n",
    );
    expect(some.io.errText).toContain("Not everything could be closed: look at the service.");
    const reason = "the positions could not be read (no answer)";
    const none = await run(given("none", traded), [], from([ending("unknown", { instId: "", reason })]));
    expect([none.code, none.io.outText]).toEqual([1, `main: ${reason}\n`]);
  });

  it("goes on when it is asked to stop, and is left half done only when asked twice", async () => {
    const io = capturedIo();
    const asked = (times: number) =>
      new Observable<PositionEnding>((subscriber) => {
        queueMicrotask(() => {
          for (let time = 0; time < times; time++) io.stop();
          subscriber.next(ending("closed"));
          subscriber.complete();
        });
      });
    const once = await run(given("once", traded), [], asked(1), io);
    expect([once.code, io.outText]).toEqual([0, "main: 0.5 in BTC-USDT-SWAP closed\nNo position is open.\n"]);
    expect(io.errText).toContain("Closing continues until it is done");
    const twice = await run(given("twice", traded), [], asked(2), io);
    expect(twice.code).toBe(1);
    expect(io.errText).toContain("Abandoned while stopping");
    expect(twice.log.at(-1)).toEqual(["stop", { cancel: true }]);
  });

  it("prints a line of JSON for each position and nothing else", async () => {
    const { io } = await run(given("json", { ...traded, journal: { dir: "j" } }), ["--json"], from([ending("closed")]));
    expect(io.outText).toBe(`${JSON.stringify(ending("closed"))}\n`);
    expect(io.errText).toBe("Trading stays halted until you start with `sluice run --resume`.\n");
  });

  it("names coins that it does not sell, as no strategy holds them, and says whether that is known", async () => {
    const snapshot = { at: 1, stale: false };
    const balances = ["BTC", "USDT", "ETH"].map((currency) => ({
      currency,
      balance: currency === "ETH" ? "0.0001" : "0.5",
      available: "0",
      frozen: "0",
    }));
    const steps = { tickSize: "0.1", lotSize: "0.001" };
    const listed = ["BTC-USDT", "ETH-USDT", "USDT-USDC-SWAP"].map((instId) => [instId, { instId, ...steps }] as const);
    const states = {
      account: { balances$: of({ ...snapshot, value: balances }) } as unknown as Account,
      instruments$: of({ ...snapshot, value: new Map(listed) }),
    };
    const closed = async (name: string, config: object, endings: Observable<PositionEnding>) => {
      const io = capturedIo();
      const engine = { start: async () => undefined, closePositions: () => endings, stop: async () => undefined };
      const code = await main(["close", given(name, config)], io, { createClosing: () => ({ ...engine, ...states }) });
      return [code, io.outText, io.errText] as const;
    };
    const sold = from([ending("closed", { instId: "BTC-USDT", strategy: "s" })]);
    expect(await closed("unkept", traded, EMPTY)).toEqual([
      0,
      "No position is open.\n",
      "Not sold, because without config.journal there is no record that a strategy bought it: 0.5 BTC.\n",
    ]);
    expect(await closed("kept", { ...traded, journal: { dir: "j" } }, sold)).toEqual([
      0,
      "main: 0.5 in BTC-USDT closed\nNo position is open, and no strategy holds spot.\n",
      "Trading stays halted until you start with `sluice run --resume`.\nNot sold, as no strategy holds it by the journal: 0.5 BTC.\n",
    ]);
    const left = from([ending("left", { instId: "BTC-USDT", left: "0.2", reason: "why" })]);
    const [code, , said] = await closed("dust", { ...traded, journal: { dir: "j" } }, left);
    expect([code, said.includes("Not sold")]).toEqual([1, false]);
  });

  it("needs a word for real money, and has nothing to do at an embedded service", async () => {
    const path = given("mainnet", { ...traded, service: { ...service, environment: "mainnet" } });
    const refused = await run(path);
    expect([refused.code, refused.made]).toEqual([2, []]);
    expect(refused.io.errText).toContain("Add --mainnet when you mean it.");
    expect((await run(path, ["--mainnet"])).code).toBe(0);
    const embedded = await run(given("paper", { service: { kind: "paper" }, strategies: [] }));
    expect([embedded.code, embedded.made]).toEqual([2, []]);
    expect(embedded.io.errText).toContain("the config's service is embedded");
  });

  it("beside an engine that runs names the command by which that one closes", async () => {
    const unlock = await holdLock("https://testnet.example.com / main / close");
    const io = capturedIo();
    const createClosing = () => ({
      start: async () => void (await holdLock("https://testnet.example.com / main / close")),
      closePositions: () => EMPTY,
      stop: async () => undefined,
    });
    expect(await main(["close", given("beside", traded)], io, { createClosing })).toBe(1);
    await unlock();
    expect(io.errText).toContain(
      "An engine runs with this config on this machine. Let it close: `sluice ctl close --yes`",
    );
  });
});
