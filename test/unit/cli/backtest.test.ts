/** Files that `sluice backtest` writes in addition to its report: details, trades and returns, and the cost of limits. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunOptions } from "../../../src/backtest/runner.ts";
import { type CliParts, main } from "../../../src/cli/main.ts";
import { sub, sum } from "../../../src/decimal.ts";
import { type CaptureOptions, capturedIo } from "../../support/captured-io.ts";
import { sampleReport } from "../../support/harness/sample-report.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("backtest");
const at = (name: string): string => join(folder, name);
const config = at("config.mjs");
writeFileSync(config, "export default { service: { kind: 'backtest' } };");

const calls: RunOptions[] = [];
const configs: unknown[] = [];
const parts: CliParts = {
  runBacktest: (run, options) => {
    calls.push(options);
    configs.push(run);
    return Promise.resolve({
      ...sampleReport(),
      ...(options.limits === false && { resultHash: "lifted", fills: 900 }),
    });
  },
};
const sluice = async (argv: readonly string[], given: CliParts = parts, look: CaptureOptions = {}) => {
  calls.length = 0;
  const io = capturedIo(look);
  const code = await main(["backtest", ...argv], io, given);
  return { code, out: io.outText, err: io.errText };
};

describe("Files", () => {
  it("are written where asked, folders made on the way, and named where messages go", async () => {
    const file = at("deep/er/details.json");
    const { code, out, err } = await sluice([config, "--json", "--details", file]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual(sampleReport());
    expect(err).toBe(`Wrote ${file}.\n`);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      resultHash: sampleReport().resultHash,
      equity: sampleReport().equity,
    });
  });

  it("hold what a real run did, step by step", async () => {
    const [file, trades, fifo, returns] = [at("demo.json"), at("trades.csv"), at("fifo.csv"), at("returns.csv")];
    const files = ["--details", file, "--trades", trades, "--trades-fifo", fifo, "--returns", returns];
    const { code, out } = await sluice(["config/backtest.ts", "--json", ...files], {});
    expect(code).toBe(0);
    const report = JSON.parse(out) as ReturnType<typeof sampleReport>;
    const details = JSON.parse(readFileSync(file, "utf8")) as {
      resultHash: string;
      fills: unknown[];
      prices: { instId: string }[];
    };
    expect(details.resultHash).toBe(report.resultHash);
    expect(details.fills).toHaveLength(report.fills);
    expect(details.prices.map(({ instId }) => instId)).toEqual(["BTC-USDT-SWAP", "ETH-USDT-SWAP"]);
    for (const name of [trades, fifo]) {
      const [head = "", ...rows] = readFileSync(name, "utf8").trimEnd().split("\r\n");
      const column = head.split(",").indexOf("net");
      expect(sum(rows.map((row) => row.split(",")[column] ?? ""))).toBe(sub(report.pnl, report.elsewhere));
    }
    const [head, ...rows] = readFileSync(returns, "utf8").trimEnd().split("\r\n");
    expect([head, rows.length]).toEqual(["date,return,equity", report.returns?.samples]);
    expect(rows.at(-1)?.split(",")[2]).toBe(report.equity.at(-1)?.equity);
  });

  it.each([
    ["a folder", () => folder],
    ["a place below a file", () => join(config, "details.json")],
  ])("that cannot be written are refused before the run: %s", async (_, place) => {
    const { code, out, err } = await sluice([config, "--details", place()]);
    expect([code, out, calls.length]).toEqual([2, "", 0]);
    expect(err).toMatch(/^error: .* cannot be written: .*\. Name a file in a folder of yours\.\n$/);
  });

  it("are not written when the run fails", async () => {
    const file = at("never.json");
    const { code } = await sluice([config, "--details", file], { runBacktest: () => Promise.reject(new Error("no")) });
    expect([code, existsSync(file)]).toEqual([1, false]);
  });
});

describe("--fills and --warm-up", () => {
  it("take the place of the config's, and leave its other options as they are", async () => {
    configs.length = 0;
    const { code } = await sluice(["config/backtest.ts", "--fills", "trades", "--warm-up", "1.5", "--compare-limits"]);
    expect(code).toBe(0);
    const given = {
      service: {
        options: { fixture: "test/fixtures/demo", fills: "trades", warmUpMs: 90_000, fees: { makerBps: "2" } },
      },
    };
    expect(configs).toMatchObject([given, given]);
    await sluice(["config/backtest.ts", "--warm-up", "0"]);
    expect((configs.at(-1) as { service: { options: object } }).service.options).toMatchObject({ warmUpMs: 0 });
    expect((configs.at(-1) as { service: { options: object } }).service.options).not.toHaveProperty("fills");
  });

  it.each([
    ["another model", ["--fills", "ticks"], "Allowed choices are book, quotes, trades, candles."],
    ["a time before the beginning", ["--warm-up=-1"], "Write minutes from 0 up, such as 60 or 0.5."],
    ["what is no time", ["--warm-up", "1h"], "Write minutes from 0 up, such as 60 or 0.5."],
  ])("refuse %s before the run", async (_, flags, message) => {
    const { code, err } = await sluice(["config/backtest.ts", ...flags]);
    expect([code, calls]).toEqual([2, []]);
    expect(err).toContain(message);
  });
});

describe("--compare-limits", () => {
  it("runs with and without limits and sets them side by side below the report", async () => {
    const { code, out } = await sluice([config, "--compare-limits", "--seed", "3"]);
    expect(code).toBe(0);
    expect(calls.map(({ limits, seed }) => [limits, seed])).toEqual([
      [undefined, 3],
      [false, 3],
    ]);
    expect(out).toContain("Backtest of demo");
    expect(out).toMatch(/What the limits cost[\s\S]*fills +702 +900 +\+198/);
  });

  it("stays one JSON document: the report under limits, and the cost", async () => {
    const { out } = await sluice([config, "--compare-limits", "--json"]);
    expect(out.split("\n")).toHaveLength(2);
    expect(JSON.parse(out)).toMatchObject({
      ...sampleReport(),
      limitCost: { with: { fills: 702 }, without: { fills: 900, resultHash: "lifted" }, difference: { fills: 198 } },
    });
  });

  it("is refused beside --no-limits", async () => {
    const { code, err } = await sluice([config, "--compare-limits", "--no-limits"]);
    expect([code, calls.length]).toEqual([2, 0]);
    expect(err).toBe("error: --compare-limits runs with and without limits; leave --no-limits out.\n");
  });
});

describe("A run in which every order was refused", () => {
  it("reports, says so first, and fails with the reason", async () => {
    const orders = { placed: 0, canceled: 0, filled: 0, rejected: 0, refused: 5 };
    const runBacktest = () => Promise.resolve({ ...sampleReport(), orders, fills: 0 });
    const { code, out, err } = await sluice([config], { runBacktest });
    expect(code).toBe(1);
    expect(out.indexOf("! No order was accepted: all 5 orders refused before")).toBeGreaterThan(0);
    expect(out.indexOf("! No order was accepted")).toBeLessThan(out.indexOf("Equity"));
    expect(err).toContain("error: No order was accepted: all 5 orders refused before sending, most often: 51026 ");
    expect((await sluice([config, "--json"], { runBacktest })).code).toBe(1);
  });
});
