/** Stories of the shipped strategies on a service, a network and a disk that fail. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { concat, NEVER, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import shipped from "../../../config/backtest.ts";
import { markNames } from "../../../plugins/simulate/coverage-marks.ts";
import { runScenario } from "../../../plugins/simulate/scenario.ts";
import { marketOf } from "../../../plugins/simulate/simulated-market.ts";
import { joinSummaries, simulate, traceSeed } from "../../../plugins/simulate/simulation.ts";
import { main } from "../../../src/cli/main.ts";
import { checkConfig } from "../../../src/host/config.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { closed, strategy } from "../../support/harness/backtest.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const run = promisify(execFile);

describe("The shipped strategies under simulation", () => {
  it("keep every promise over twenty seeds of faults", async () => {
    const summary = await simulate(shipped, { seeds: 20, minutes: 5 });
    expect(summary.failures).toEqual([]);
    expect(summary.seeds).toBe(20);
    expect(summary.refused).toBe(summary.excused);
    expect(summary.processes).toBeGreaterThan(20);
    expect(markNames.length).toBeGreaterThanOrEqual(80);
    expect(Object.keys(summary.marks).length).toBeGreaterThanOrEqual(80);
    expect(Object.keys(summary.marks).filter((name) => !markNames.includes(name))).toEqual([]);
    expect(new Set([...Object.keys(summary.marks), ...summary.neverReached])).toEqual(new Set(markNames));
  });

  it("are the same scenarios in another process", async () => {
    const hashes: string[] = [];
    await simulate(shipped, { seeds: 4, minutes: 3, onSeed: (_, { hash }) => hashes.push(hash) });
    const child = fileURLToPath(new URL("hash-child.ts", import.meta.url));
    const env = { ...process.env, TSX_TSCONFIG_PATH: `${root}tsconfig.json` };
    const { stdout } = await run(process.execPath, ["--import", "tsx", child], { cwd: root, env });
    expect(JSON.parse(stdout)).toEqual(hashes);
    expect(new Set(hashes).size).toBe(4);
  });
});

describe("A simulated scenario", () => {
  const quick = { seeds: 1, minutes: 1 };

  it("without faults is a quiet day: one process, nothing refused", async () => {
    const config = checkConfig(shipped);
    const story = { config, tape: marketOf(config)("calm", 3), seed: "calm", minutes: 3, faults: [], plugins: false };
    expect(await runScenario(story)).toMatchObject({ violations: [], processes: 1, refused: 0 });
  });

  it("in which a strategy fails is told, with no more faults than that takes", async () => {
    const broken = strategy("broken", { wanted: () => throwError(() => new Error("of its own making")) });
    const { failures } = await simulate({ ...shipped, strategies: [broken] }, quick);
    expect(failures).toEqual([
      expect.objectContaining({
        seed: 1,
        faults: [],
        violation: expect.objectContaining({ invariant: "I14" }) as object,
      }),
    ]);
    expect(failures[0]?.violation.text).toBe("strategy broken: of its own making");
  });

  it("says before the fewest faults are looked for how often it may run", async () => {
    const broken = strategy("broken", { run: () => throwError(() => new Error("of its own making")) });
    const lines: string[] = [];
    const notices: string[] = [];
    const listeners = {
      onLine: (text: string) => void lines.push(text),
      onNotice: (text: string) => void notices.push(text),
    };
    const violation = await traceSeed({ ...shipped, strategies: [broken] }, 1, quick, listeners);
    expect(violation).toMatchObject({ invariant: "I14" });
    expect(notices).toEqual([
      expect.stringMatching(/^Seed 1 fails with \d+ faults\. Looking for the fewest that are enough: up to 200 runs/),
    ]);
    expect(lines.length).toBeGreaterThan(3);
  });

  it("without a recording has a market made for the products its strategies name", async () => {
    const config = checkConfig({ service: { kind: "live", open: () => undefined }, strategies: shipped.strategies });
    const tape = marketOf(config)("1", 2);
    expect(tape.instruments.map(({ instId }) => instId)).toEqual(["BTC-USDT-SWAP", "ETH-USDT-SWAP"]);
    expect(marketOf(config)("1", 2).series[0]).toEqual(tape.series[0]);
    expect(marketOf(config)("2", 2).series[0]).not.toEqual(tape.series[0]);
  });

  it("notices a wanted order that is never carried out", async () => {
    const want = { slot: "one", instId: "BTC-USDT-SWAP", side: "buy", px: "30000", qty: "0.01" } as const;
    const idle = strategy("idle", { wanted: () => concat(of([want]), NEVER) });
    const unwilling = { ...shipped, strategies: [idle], orders: { openInAll: 0 } };
    // Refused by a rule: that wanted order has had its time.
    expect((await simulate(unwilling, quick)).failures).toEqual([]);
    expect(closed.type).toBe("object");
  });

  it("summaries of several processes add up", async () => {
    const one = await simulate(shipped, { seeds: 1, minutes: 1 });
    const two = await simulate(shipped, { seeds: 1, minutes: 1, first: 2 });
    const both = joinSummaries([one, two]);
    expect(both).toMatchObject({ seeds: 2, events: one.events + two.events, weight: one.weight + two.weight });
    expect(both.neverReached).toEqual(
      markNames.filter((name) => one.neverReached.includes(name) && two.neverReached.includes(name)),
    );
  });
});

describe("sluice simulate", () => {
  const command = async (...args: string[]) => {
    const io = capturedIo();
    const code = await main(["simulate", "config/backtest.ts", ...args], io);
    return { code, out: io.outText, err: io.errText };
  };

  it("prints one JSON document, and a summary for people", async () => {
    const { code, out } = await command("--seeds", "2", "--minutes", "1", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ seeds: 2, minutes: 1, failures: [] });
    const text = (await command("--seeds", "1", "--minutes", "1")).out;
    expect(text).toMatch(
      /^1 scenario of 1 min \(.* simulated .*\): no invariant violated; \d+ of \d+ situations reached, --verbose lists them\n$/,
    );
    const all = (await command("--seeds", "1", "--minutes", "1", "--verbose")).out;
    expect(all).toMatch(/× real time\n.*refusals? by a limit/);
    expect(all).toMatch(/\nnever reached:\n {2}fault /);
    expect(all).toMatch(/no invariant violated; \d+ of \d+ situations reached\n$/);
  });

  it("tells one seed line by line", async () => {
    const { code, out } = await command("--seed", "3", "--minutes", "1", "--trace");
    expect(code).toBe(0);
    expect(out).toMatch(/^-00:05\.000 {2}process #1 starts\n/);
    expect(out).toMatch(/#1 sends placeOrder s\w{19} (buy|sell)/);
    expect(out).toMatch(/QUIET: nothing goes wrong from here on/);
  });

  it.each([
    [["--trace"], /--trace prints one scenario: name it with --seed/],
    [["--seeds", "none"], /Write a whole number from 1 to 1000000/],
  ])("refuses %j", async (args, message) => {
    const { code, err } = await command(...args);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });
});
