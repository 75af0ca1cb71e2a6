import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { capturedIo } from "../support/captured-io.ts";
import { file, folder, root, sluice } from "../support/harness/cli-process.ts";

const config = (name: string, strategy: string, rest = "", options = 'fixture: "market"'): string =>
  file(
    name,
    `import { defineConfig, defineStrategy } from "sluice";
    import { backtest } from "sluice/backtest";
import ladder from "${join(root, "strategies/ladder.ts")}";
import joinBest from "${join(root, "strategies/join-best.ts")}";
export default defineConfig({ service: backtest({ ${options} }), strategies: [${strategy}], ${rest} } as never);
void [ladder, joinBest, defineStrategy];
`,
  );

/** The command as a function: how a process ends is the matter of test/unit/cli/command-line.processes.test.ts. */
const commanded = async (argv: readonly string[]) => {
  const io = capturedIo();
  const code = await main(argv, io);
  return { code, err: io.errText };
};

const before = process.cwd();
afterAll(() => {
  process.chdir(before);
});
beforeAll(async () => {
  process.chdir(folder);
  expect(
    await commanded(["generate", "--out", "market", "--instrument", "BTC-USDT-SWAP", "--minutes", "1"]),
  ).toMatchObject({ code: 0 });
  const few = file("few.csv", bars([1, 2, 3, 4].map((at) => row(String(at))).join("")));
  expect(await commanded(["import", few, "--out", "few", "--instrument", "BTC-USDT-SWAP"])).toMatchObject({ code: 0 });
});

const bars = (rows: string): string => `timestamp,open,high,low,close,volume\n${rows}`;
const row = (at: string, open = "100.5"): string => `2024-01-01 00:0${at}:00,${open},101,100,100.5,3\n`;

const damaged = (): string => {
  cpSync(join(folder, "market"), join(folder, "damaged"), { recursive: true });
  const path = join(folder, "damaged", "BTC-USDT-SWAP.quote.bin");
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  return "damaged";
};

const cases: readonly (readonly [
  name: string,
  code: 1 | 2,
  argv: () => readonly string[],
  parts: readonly string[],
])[] = [
  [
    "fees as a number, with the text to write",
    2,
    () => ["backtest", config("fees.ts", "ladder({})", "", 'fixture: "market", fees: { makerBps: 2, takerBps: "5" }')],
    ["fees.makerBps: must be string (got 2).", 'write "2"'],
  ],
  [
    "a latency as a number, with the model to write",
    2,
    () => ["backtest", config("latency.ts", "ladder({})", "", 'fixture: "market", latency: 40')],
    ["latency: 40 is not a latency model.", "Write constant(40)"],
  ],
  [
    "a strategy that waits for data the recording does not hold",
    1,
    () => ["backtest", config("waits.ts", "joinBest({})", "", 'fixture: "few"')],
    ["No order was accepted: none was wanted, as join-best subscribes to", "; this fixture has"],
  ],
  [
    "an unknown config key",
    2,
    () => ["backtest", config("a.ts", "ladder({})", "plugin: []")],
    ["a.ts", 'unknown key "plugin"', '"plugins"'],
  ],
  [
    "an option of the wrong type",
    2,
    () => ["backtest", config("b.ts", 'ladder({ levels: "3" } as never)')],
    ["b.ts", '.levels: must be integer (got "3")'],
  ],
  [
    "an exponent for a decimal",
    2,
    () => ["backtest", config("c.ts", 'ladder({ notional: "1e3" })')],
    ["c.ts", '.notional: "1e3" is not a decimal'],
  ],
  [
    "a hex number for a decimal",
    2,
    () => ["backtest", config("d.ts", 'ladder({ notional: "0x10" })')],
    ["d.ts", '"0x10" is not a decimal'],
  ],
  [
    "NaN for a decimal",
    2,
    () => ["backtest", config("e.ts", 'joinBest({ keepWithin: "NaN" })')],
    ["e.ts", '.keepWithin: "NaN" is not a decimal'],
  ],
  [
    "an instId of neither kind",
    2,
    () => ["backtest", config("f.ts", 'ladder({ instId: "BTCUSDT" })')],
    ["f.ts", '.instId: "BTCUSDT" is neither BASE-QUOTE nor BASE-QUOTE-SWAP'],
  ],
  [
    "an instrument nobody lists",
    1,
    () => ["backtest", config("g.ts", 'ladder({ instId: "BTC-USDC-SWAP" })')],
    ["ladder", '"BTC-USDC-SWAP"', 'Did you mean "BTC-USDT-SWAP"?'],
  ],
  [
    "a strategy that was not called",
    2,
    () => ["backtest", config("h.ts", "ladder")],
    ["config.strategies.0 is a function", "Call it with its options"],
  ],
  ["a config that is not there", 2, () => ["backtest", "cofnig.ts"], ["cofnig.ts: no such file"]],
  [
    "a fixture that is not there",
    1,
    () => ["backtest", config("i.ts", "ladder({})", "", 'fixture: "markt"')],
    ["markt: expected a fixture folder, found nothing"],
  ],
  [
    "a fixture with another hash",
    1,
    () => ["backtest", config("j.ts", "ladder({})"), "--fixture", damaged()],
    ["BTC-USDT-SWAP.quote.bin", "expected SHA-256"],
  ],
  [
    "a truncated recording",
    1,
    () => [
      "import",
      file("cut.csv.gz", gzipSync(bars(row("1").repeat(50))).subarray(0, 60)),
      "--out",
      "cut",
      "--instrument",
      "BTC-USDT-SWAP",
    ],
    ["cut.csv.gz"],
  ],
  [
    "rows out of order",
    1,
    () => [
      "import",
      file("order.csv", bars(row("2") + row("1") + row("3"))),
      "--out",
      "order",
      "--instrument",
      "BTC-USDT-SWAP",
    ],
    ["order.csv", "3"],
  ],
  [
    "a recording with an exponent",
    1,
    () => ["import", file("exp.csv", bars(row("1", "1e3"))), "--out", "exp", "--instrument", "BTC-USDT-SWAP"],
    ["exp.csv:2", "1000,101,100,100.5"],
  ],
];

describe("A mistake ends in one message that names place and value, and never in a stack", () => {
  it.each(cases)("%s", async (_, code, argv, parts) => {
    const ended = await commanded(argv());
    for (const part of parts) expect(ended.err).toContain(part);
    expect(ended.err).not.toMatch(/^ {4}at |node:internal|BUG|\[object/m);
    expect(ended.err.match(/^error: /gm)).toHaveLength(1);
    expect(ended.code).toBe(code);
  });
});

describe("A strategy that fails", () => {
  it("leaves a report and the exit code 1", async () => {
    const bad =
      'defineStrategy({ name: "bad", options: { type: "object", properties: {} }, wanted: () => { throw new Error("no luck"); } })({})';
    const ended = await sluice(["backtest", config("k.ts", `${bad}, joinBest({})`), "--json"]);
    expect(ended.code).toBe(1);
    const report = JSON.parse(ended.out) as { perStrategy: Record<string, object> };
    expect(report.perStrategy).toMatchObject({
      bad: { state: "failed", error: "no luck" },
      "join-best": { state: "running" },
    });
    expect(ended.err).toContain("bad: no luck");
  });
});
