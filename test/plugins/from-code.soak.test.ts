/** What the commands do can be asked for from code: the same options, the same messages, and the bytes that `--json` prints. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateMarket } from "sluice/backtest";
import { compareRuns, guard } from "sluice/plugins/compare";
import { check, doctor } from "sluice/plugins/conformance";
import { importMarket } from "sluice/plugins/import";
import { simulate, traceScenario } from "sluice/plugins/simulate";
import { type SweepStart, sweep, sweepCsv, sweepPage, sweepText } from "sluice/plugins/sweep";
import { beforeAll, describe, expect, it } from "vitest";
import { startVenueServer } from "../../plugins/venue-server/server/server.ts";
import { main } from "../../src/cli/main.ts";
import { createSystemClock } from "../../src/clock/system-clock.ts";
import { createContract } from "../../src/contract/contract.ts";
import { createRandom } from "../../src/random.ts";
import { createVenue } from "../../src/venue/venue.ts";
import { capturedIo } from "../support/captured-io.ts";
import { everything, instruments } from "../support/harness/venue.ts";
import { once } from "../support/once.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("from-code");
const market = join(folder, "market");
const config = fileURLToPath(new URL("../support/configs/sweep.ts", import.meta.url));

const said = async (...argv: readonly string[]) => {
  const io = capturedIo({ env: { NO_COLOR: "1" } });
  const code = await main(argv, io);
  return { code, out: io.outText, err: io.errText };
};
const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

beforeAll(async () => {
  await generateMarket({ out: market, instruments: ["BTC-USDT-SWAP"], minutes: 6, seed: "9" });
});

describe("A market made or imported from code", () => {
  it("is the one that the command generates, named by the same source", async () => {
    const again = ["--minutes", "6", "--seed", "9", "--instrument", "BTC-USDT-SWAP", "--force", "--json"];
    const { out } = await said("generate", "--out", market, ...again);
    expect(
      line(await generateMarket({ out: market, instruments: ["BTC-USDT-SWAP"], minutes: 6, seed: "9", force: true })),
    ).toBe(out);
    expect(out).toContain(`sluice generate --out ${market} --seed 9 --minutes 6 --instrument BTC-USDT-SWAP"`);
  });

  it("is the one that the command imports, with its options", async () => {
    const file = join(folder, "bars.csv");
    writeFileSync(
      file,
      "timestamp,open,high,low,close,volume\n2022-01-01 00:00:00,1,2,1,2,3\n2022-01-01 00:01:00,2,2,1,1,4.5\n",
    );
    const out = join(folder, "imported");
    const given = ["--instrument", "BTC-USDT", "--out", out, "--lot-size", "1", "--timestamp", "close"];
    const printed = await said("import", file, ...given, "--json");
    const options = { file, instrument: "BTC-USDT", out, lotSize: "1", timestamp: "close" } as const;
    await expect(importMarket(options)).rejects.toThrow(/holds a fixture already: 2 rows of BTC-USDT/);
    expect(line(await importMarket({ ...options, force: true }))).toBe(printed.out);
  });
});

describe("A sweep from code", () => {
  const vary = { "ladder.levels": "1..2" };
  const fourRuns = once(async () => {
    const started: SweepStart[] = [];
    const done: number[] = [];
    const report = await sweep(config, {
      vary,
      fixture: market,
      jobs: 1,
      seed: 4,
      onStart: (start) => started.push(start),
      onProgress: (progress) => done.push(progress.done),
    });
    return { report, started, done };
  });

  it("gives the report that the command prints, and says before the first run what will run", async () => {
    const { report, started, done } = await fourRuns();
    const { out, err } = await said(
      "sweep",
      config,
      "--vary",
      "ladder.levels=1..2",
      "--fixture",
      market,
      "--jobs",
      "1",
      "--seed",
      "4",
      "--json",
    );
    expect(line(report)).toBe(out);
    expect(report.runs).toMatchObject({ wanted: 4, done: 4 });
    expect(started).toMatchObject([{ runs: 4, points: 4, folds: 0, fixture: market, threads: 1 }]);
    expect(done.at(-1)).toBe(4);
    expect(err).toContain(`4 runs of ${market} (6 min) on 1 thread: 4 points of `);
  });

  it("is written and shown as the command does", async () => {
    const given = ["--vary", "ladder.levels=1..2", "--fixture", market, "--jobs", "1", "--seed", "4"];
    const [csv, html] = [join(folder, "sweep.csv"), join(folder, "sweep.html")];
    const { report } = await fourRuns();
    const { out } = await said("sweep", config, ...given, "--csv", csv, "--html", html, "--top", "1");
    expect(sweepText(report, { top: 1 })).toBe(out);
    expect([sweepCsv(report), sweepPage(report)]).toEqual([readFileSync(csv, "utf8"), readFileSync(html, "utf8")]);
  });

  it("ends when its signal does, with what was done", async () => {
    const stop = new AbortController();
    stop.abort();
    const { runs } = await sweep(config, { vary, fixture: market, jobs: 1, signal: stop.signal });
    expect(runs).toMatchObject({ wanted: 4, done: 0, failed: 0 });
  });
});

describe("Verification from code", () => {
  it("guards as the command does", async () => {
    const progress: string[] = [];
    const onProgress = (done: number, all: number) => progress.push(`${done}/${all}`);
    const report = await guard("config/backtest.ts", { fixture: market, cuts: 1, seed: 3, onProgress });
    const { code, out } = await said(
      "guard",
      "config/backtest.ts",
      "--fixture",
      market,
      "--cuts",
      "1",
      "--seed",
      "3",
      "--json",
    );
    expect([code, line(report)]).toEqual([0, out]);
    expect([report.verdict, progress]).toEqual(["blind", ["1/3", "2/3", "3/3"]]);
  });

  it("simulates as the command does, elapsed time aside", async () => {
    const timeless = (text: string): string => text.replace(/"elapsedMs":\d+/, '"elapsedMs":0');
    const seeds: number[] = [];
    const onProgress = (_done: number, _all: number, seed: number) => seeds.push(seed);
    const summary = await simulate("config/backtest.ts", { seeds: 2, first: 5, minutes: 1, onProgress });
    const { out } = await said(
      "simulate",
      "config/backtest.ts",
      "--seeds",
      "2",
      "--first",
      "5",
      "--minutes",
      "1",
      "--json",
    );
    expect(timeless(line(summary))).toBe(timeless(out));
    expect([summary.seeds, seeds]).toEqual([2, [5, 6]]);
    const split = await simulate("config/backtest.ts", { seeds: 2, first: 5, minutes: 1, jobs: 2 });
    expect({ ...split, elapsedMs: 0 }).toEqual({ ...summary, elapsedMs: 0 });
  });

  it("traces one scenario as the command does", async () => {
    const lines: string[] = [];
    const traced = await traceScenario("config/backtest.ts", 5, { minutes: 1, onLine: (text) => lines.push(text) });
    const given = ["simulate", "config/backtest.ts", "--seed", "5", "--minutes", "1", "--trace"];
    expect((await said(...given)).out).toBe(`${lines.join("\n")}\n`);
    expect((await said(...given, "--json")).out).toBe(line(traced));
  });

  it("compares as the command does", async () => {
    const [a, b] = [join(folder, "a.json"), join(folder, "b.json")];
    const run = (seed: string) => said("backtest", "config/backtest.ts", "--fixture", market, "--seed", seed, "--json");
    for (const [path, seed] of [
      [a, "1"],
      [b, "2"],
    ] as const)
      writeFileSync(path, (await run(seed)).out);
    expect(readFileSync(a, "utf8")).not.toBe(readFileSync(b, "utf8"));
    const { code, out } = await said("compare", a, b, "--within", "5", "--json");
    const comparison = await compareRuns(a, b, { withinMs: 5 });
    expect([code, line(comparison)]).toEqual([comparison.equal ? 0 : 1, out]);
    expect((await compareRuns(a, a)).equal).toBe(true);
  });
});

describe("A service checked from code", () => {
  const key = { apiKey: "key-a", secretKey: "secret-a", passphrase: "phrase-a", uid: "ann", permissions: everything };
  const keys = join(folder, "keys.json");

  const served = async () => {
    writeFileSync(keys, JSON.stringify({ keys: [key] }), { mode: 0o600 });
    const contract = createContract();
    const fees = { makerBps: "2", takerBps: "5" };
    const users = [{ uid: "ann", keys: [{ name: key.apiKey, permissions: everything }], balances: { USDT: "1000" } }];
    const venue = createVenue({ contract, instruments, users, fees: { SPOT: fees, SWAP: fees }, enforceLimits: false });
    return startVenueServer({ venue, contract, clock: createSystemClock(), random: createRandom(1), keys: [key] });
  };

  it("gives what the command prints: rules, counts and what was left behind", async () => {
    const server = await served();
    const asked: string[] = [];
    const onProgress = ({ id }: { readonly id: string }) => asked.push(id);
    const only = ["2.3-format", "4.6-positions", "4.5-key"];
    try {
      const report = await check(server.url, { keys, only, quick: true, onProgress });
      const { code, out } = await said("check", server.url, "--keys", keys, "--quick", "--json", "--only", ...only);
      expect([code, line(report)]).toEqual([0, out]);
      expect(report).toMatchObject({ passed: true, counts: { pass: 2, open: 1, fail: 0, skipped: 0 }, leftBehind: [] });
      expect(asked).toEqual(["2.3-format", "4.5-key", "4.6-positions"]);
    } finally {
      await server.close();
    }
  });

  it("is asked by the rows of the profile that are given: signed by others, the key is refused", async () => {
    const server = await served();
    const profile = { auth: { headerPrefix: "X-OTHER" } };
    const file = join(folder, "profile.json");
    writeFileSync(file, JSON.stringify(profile));
    try {
      const refusal = "The service refuses the key key-1";
      await expect(check(server.url, { keys, only: ["4.5"], profile })).rejects.toMatchObject({
        message: expect.stringContaining(refusal),
      });
      const { code, err } = await said("check", server.url, "--keys", keys, "--profile", file, "--only", "4.5");
      expect([code, err.includes(refusal)]).toEqual([2, true]);
    } finally {
      await server.close();
    }
  });

  it("ends when its signal does, with the rules that were asked", async () => {
    const server = await served();
    const stop = new AbortController();
    const onProgress = () => stop.abort();
    try {
      expect((await check(server.url, { only: ["2.3", "4.5"], signal: stop.signal, onProgress })).rules).toMatchObject([
        { id: "2.3-format" },
      ]);
    } finally {
      await server.close();
    }
  });
});

describe("A service examined from code", () => {
  it("gives what the command prints: findings, and what to write in the config", async () => {
    const progress: string[] = [];
    const report = await doctor("config/paper.ts", { quick: true, onProgress: (text) => progress.push(text) });
    const { code, out, err } = await said("doctor", "config/paper.ts", "--quick", "--json");
    // What was found of counts depends on where in the minute each of the two asked.
    const rowsOf = ({ findings }: typeof report) =>
      findings.map(({ gap, row, assumed }) => `${gap} ${row} ${assumed}`).sort();
    const printed = JSON.parse(out) as typeof report;
    expect([code, `${progress.join("\n")}\n`, Object.keys(printed)]).toEqual([0, err, Object.keys(report)]);
    expect(rowsOf(printed)).toEqual(rowsOf(report));
    expect(report).toMatchObject({ ok: true, stopped: false, left: [], overrides: [], lines: "" });
    expect(report.findings.length).toBeGreaterThan(20);
  });
});

describe("A mistake in code is told as on the command line:", () => {
  it.each<readonly [string, () => Promise<unknown>, readonly string[]]>([
    ["Write a whole number from 1 to 1000.", () => guard("c.ts", { cuts: 0 }), ["guard", "c.ts", "--cuts", "0"]],
    ["Write a whole number from 1 to 64.", () => simulate("c.ts", { jobs: 65 }), ["simulate", "c.ts", "--jobs", "65"]],
    ["Write a whole number from 1 to 256.", () => sweep("c.ts", { jobs: 1.5 }), ["sweep", "c.ts", "--jobs", "1.5"]],
    [
      "Write a share between 0 and 1, such as 0.7.",
      () => sweep("c.ts", { folds: 2, train: 1 }),
      ["sweep", "c.ts", "--folds", "2", "--train", "1"],
    ],
    [
      "--resume: name the folder to go on with by --out DIR.",
      () => sweep("c.ts", { resume: true }),
      ["sweep", "c.ts", "--resume"],
    ],
    [
      "--train: it is the share of a fold; add --folds N.",
      () => sweep("c.ts", { train: 0.5 }),
      ["sweep", "c.ts", "--train", "0.5"],
    ],
    ["c.ts: no such file.", () => sweep("c.ts"), ["sweep", "c.ts"]],
    [
      '--start: "noon" is not an instant in UTC.',
      () => generateMarket({ out: join(folder, "x"), instruments: ["BTC-USDT"], start: "noon" }),
      ["generate", "--out", join(folder, "x"), "--instrument", "BTC-USDT", "--start", "noon"],
    ],
    ["c.ts: no such file.", () => doctor("c.ts"), ["doctor", "c.ts"]],
    [
      "--instrument names the swap of --testnet-orders",
      () => doctor("config/paper.ts", { instrument: "BTC-USDT-SWAP" }),
      ["doctor", "config/paper.ts", "--instrument", "BTC-USDT-SWAP"],
    ],
    ["10.0.0.1 is not this machine.", () => check("https://10.0.0.1"), ["check", "https://10.0.0.1"]],
    [
      '--px: "1e3" is not a decimal.',
      () => check("http://127.0.0.1:9", { px: "1e3" }),
      ["check", "http://127.0.0.1:9", "--px", "1e3"],
    ],
    [
      '--only: no rule begins with "77".',
      () => check("http://127.0.0.1:9", { only: ["77"] }),
      ["check", "http://127.0.0.1:9", "--only", "77"],
    ],
    [
      "compare: name two runs, or a session and --backtest.",
      () => compareRuns("a.json", undefined),
      ["compare", "a.json"],
    ],
    [
      "Write whole milliseconds from 0 to 999999999.",
      () => importMarket({ file: "f", instrument: "BTC-USDT", out: join(folder, "x"), disorderMs: -1 }),
      ["import", "f", "--instrument", "BTC-USDT", "--out", join(folder, "x"), "--disorder-ms", "-1"],
    ],
  ])("%s", async (message, call, argv) => {
    await expect(call()).rejects.toThrow(message);
    const { code, err } = await said(...argv);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  it("names unknown options together with the nearest known one", async () => {
    const wrong = { cutz: 3, seed: -1 };
    await expect(guard("c.ts", wrong)).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining('"cutz". Did you mean "cuts"?'),
    });
  });
});
