import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { map, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { compareRuns } from "../../../plugins/compare/comparison.ts";
import { readRun, runOfSession } from "../../../plugins/compare/read-run.ts";
import { backtestOfSession } from "../../../plugins/compare/session-backtest.ts";
import journalFile from "../../../plugins/journal-file/index.ts";
import { readSession } from "../../../plugins/session/index.ts";
import { backtest, constant, lognormal, runBacktest } from "../../../src/backtest.ts";
import { main } from "../../../src/cli/main.ts";
import type { Strategy } from "../../../src/index.ts";
import averageCross from "../../../strategies/average-cross.ts";
import joinBest from "../../../strategies/join-best.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { type ArenaOptions, calm, configOf, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { generateTapeFor } from "../../support/harness/generated-market.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { record } from "../session/harness/session.ts";

const folder = temporaryFolder("compare");
writeFileSync(join(folder, "package.json"), '{"type":"module"}');
let count = 0;

/** Runs and leaves a journal and the report beside it; returns the journal's path. */
const journalOf = async (dir: string, strategies: readonly Strategy[], options: ArenaOptions = {}): Promise<string> => {
  const path = join(folder, `run-${count++}.ndjson`);
  const { seed, limits } = options;
  const config = configOf(dir, strategies, { ...options, plugins: [journalFile({ path })] });
  const report = await runBacktest(config, {
    ...(seed !== undefined && { seed }),
    ...(limits !== undefined && { limits }),
  });
  writeFileSync(path.replace("ndjson", "json"), JSON.stringify(report));
  return path;
};

const bare = (path: string): string => {
  const copy = join(folder, `bare-${count++}.ndjson`);
  writeFileSync(copy, readFileSync(path));
  return copy;
};

const maker = (): Strategy => joinBest({ instId: swap, notional: "200", keepWithin: "2" });
const cause = (a: string, b: string) => compareRuns(readRun(a), readRun(b)).cause?.kind;

describe("Runs of one config", () => {
  const market = stored(generateTapeFor([swap], 3, "compare"));

  it.each<readonly [string, ArenaOptions, ArenaOptions, string]>([
    ["latency", {}, { latency: constant(120) }, "latency"],
    [
      "seed",
      { latency: lognormal({ medianMs: 25 }), seed: 1 },
      { latency: lognormal({ medianMs: 25 }), seed: 2 },
      "seed",
    ],
  ])("part for another %s, and the report beside the journal says so", async (_, one, other, kind) => {
    const [a, b] = [await journalOf(market, [maker()], one), await journalOf(market, [maker()], other)];
    expect(cause(a, b)).toBe(kind);
  });

  it("part for another market", async () => {
    const b = stored(generateTapeFor([swap], 3, "another"));
    expect(cause(await journalOf(market, [maker()]), await journalOf(b, [maker()]))).toBe("market");
  });

  it("part for a slower way, which shows without any report", async () => {
    const [a, b] = [
      bare(await journalOf(market, [maker()])),
      bare(await journalOf(market, [maker()], { latency: constant(120) })),
    ];
    expect(cause(a, b)).toBe("latency");
  });

  it("part for a quota that only one of them kept", async () => {
    const slots = Array.from({ length: 30 }, (_, index) => index);
    const many = strategy("many", {
      wanted: ({ market: quotes }) =>
        quotes.quotes(swap).pipe(
          map(({ bidFloat }) =>
            slots.map((slot) => ({
              slot: `bid ${slot}`,
              instId: swap,
              side: "buy" as const,
              px: (bidFloat - slot - 1).toFixed(1),
              qty: "0.01",
              keepWithin: "30",
            })),
          ),
        ),
    });
    const [a, b] = [await journalOf(market, [many], { limits: false }), await journalOf(market, [many])];
    const result = compareRuns(readRun(a), readRun(b));
    expect(result.cause?.kind).toBe("quota");
    expect(result.firstQuota).toMatchObject({ kind: "wait", only: "B", strategy: "many" });
    expect(result.cause?.evidence.some(({ run, line }) => run === "B" && line.text.includes("held by key"))).toBe(true);
  });
});

describe("A compared session", () => {
  const rests = strategy("rests", {
    wanted: ({ market }) =>
      market.quotes(swap).pipe(
        map(({ bidFloat }) => [
          {
            slot: "low",
            instId: swap,
            side: "buy" as const,
            px: (bidFloat * 0.9).toFixed(1),
            qty: "0.01",
            keepWithin: "100",
          },
        ]),
      ),
  });
  const chases = (away: number): Strategy =>
    strategy("chases", {
      wanted: ({ market }) =>
        market.quotes(swap).pipe(
          map(({ bidFloat }) => [
            {
              slot: "bid",
              ordType: "post_only" as const,
              instId: swap,
              side: "buy" as const,
              px: (bidFloat - away).toFixed(1),
              qty: "0.01",
              keepWithin: "3",
            },
          ]),
        ),
    });

  it("beside the backtest of its own market is equal where the market decides nothing", async () => {
    const { dir, config } = await record([rests], { ms: 20_000 });
    const session = readSession(dir);
    const happened = runOfSession(session);
    const expected = await backtestOfSession(session, happened, {
      ...config,
      service: backtest({ latency: constant(7, { feedMs: 0 }) }),
    });
    expect(happened.orders).toHaveLength(1);
    const result = compareRuns(happened, expected);
    expect(result).toMatchObject({ equal: true, scale: "calendar", pairs: 1 });
    expect(result.known.map(({ words }) => words)).toContain("service: paper in A, backtest in B");
  });

  it("shows where a backtest with another way to the service is not what happened", async () => {
    const crosses = strategy("crosses", {
      wanted: ({ market }) =>
        market.quotes(swap).pipe(
          take(1),
          map(({ bidFloat }) => [
            {
              slot: "no",
              ordType: "post_only" as const,
              instId: swap,
              side: "buy" as const,
              px: (bidFloat * 1.01).toFixed(1),
              qty: "0.01",
            },
          ]),
        ),
    });
    const { dir, config } = await record([chases(0), crosses], { ms: 30_000 });
    const session = readSession(dir);
    const happened = runOfSession(session);
    const expected = await backtestOfSession(session, happened, {
      ...config,
      service: backtest({ latency: constant(300, { feedMs: 0 }) }),
    });
    const result = compareRuns(happened, expected);
    expect(result.equal).toBe(false);
    expect(result.cause).toMatchObject({
      kind: "latency",
      words: expect.stringContaining("constant 300 ms each way") as unknown,
    });
    // Those the service rejected have no record: their content is that of the request.
    expect(expected.orders?.map(({ phase }) => phase)).toContain("rejected");
    for (const run of [happened, expected]) expect(run.orders?.every(({ spec }) => spec !== undefined)).toBe(true);
  });

  it("makes a backtest of its own from a config that has none, and says how", async () => {
    const { dir, config } = await record([rests], { ms: 10_000 });
    const session = readSession(dir);
    const expected = await backtestOfSession(session, runOfSession(session), config);
    expect(expected.notes).toEqual([expect.stringContaining("latency of 7 ms each way, half of the session's median")]);
    expect(compareRuns(runOfSession(session), expected).equal).toBe(true);
  });

  it("differs from a session with other options by name of the option", async () => {
    const crossing = (fast: number): Strategy => averageCross({ instId: swap, barMs: 1_000, fast, slow: 5 });
    const [a, b] = [await record([crossing(2)], { ms: 40_000 }), await record([crossing(4)], { ms: 40_000 })];
    const result = compareRuns(readRun(a.dir), readRun(b.dir));
    expect(result.equal).toBe(false);
    expect(result.cause).toMatchObject({
      kind: "config",
      words: expect.stringContaining("config strategies.average-cross.fast: 2 in A, 4 in B") as unknown,
    });
  });
});

const said = async (...argv: readonly string[]) => {
  const io = capturedIo({ env: { NO_COLOR: "1" } });
  const code = await main(argv, io);
  return { code, out: io.outText, err: io.errText };
};

describe("sluice compare", () => {
  const dir = stored(calm(30));

  it("finds runs of two processes equal", async () => {
    const root = fileURLToPath(new URL("../../..", import.meta.url));
    const journals = await Promise.all(
      ["one", "two"].map(async (name) => {
        const journal = join(folder, `${name}.ndjson`);
        writeFileSync(
          join(folder, `${name}.ts`),
          `import { defineConfig } from "sluice";
          import { backtest, lognormal } from "sluice/backtest";
           import journalFile from "${root}plugins/journal-file/index.ts";
           import joinBest from "${root}strategies/join-best.ts";
           export default defineConfig({
             service: backtest({ fixture: "${dir}", latency: lognormal({ medianMs: 25 }) }),
             strategies: [joinBest({ keepWithin: "1" })],
             plugins: [journalFile({ path: "${journal}" })],
           });`,
        );
        const argv = [join(root, "src/cli/sluice.mjs"), "backtest", `${name}.ts`, "--json"];
        await new Promise((resolve) =>
          spawn(process.execPath, argv, { cwd: folder, stdio: "ignore" }).on("close", resolve),
        );
        return journal;
      }),
    );
    const { code, out, err } = await said("compare", ...journals, "--within", "0");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/\nequal: \d+ orders were wanted, ended and waited alike \(by the calendar, within 0 ms\)\n/);
  });

  it("tells a difference with exit code 1, as text or as one JSON document", async () => {
    const [a, b] = [await journalOf(dir, [maker()]), await journalOf(dir, [maker()], { latency: constant(200) })];
    const text = await said("compare", a, b);
    expect(text.code).toBe(1);
    expect(text.out).toContain("likely cause: latency");
    expect(text.err).toBe(`error: ${a} and ${b} differ.\n`);
    const json = await said("compare", a, b, "--json");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({ equal: false, cause: { kind: "latency" } });
  });

  it("compares reports by their totals", async () => {
    const [a, b] = [await journalOf(dir, [maker()]), await journalOf(dir, [maker()], { latency: constant(200) })].map(
      (path) => path.replace("ndjson", "json"),
    );
    expect((await said("compare", a as string, a as string)).code).toBe(0);
    const different = await said("compare", a as string, b as string);
    expect(different.code).toBe(1);
    expect(different.out).toMatch(
      /different: the totals are not the same\n\nlikely cause: latency\n {2}The runs differ in latency: constant 10 ms/,
    );
  });

  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const event = JSON.stringify({ seq: 1, at: 1, type: "engine.stopped", reason: "x" });
  it.each<readonly [string, () => readonly string[], RegExp]>([
    [
      "nothing there",
      () => [join(folder, "none"), join(folder, "none")],
      /none: expected a journal, a session folder or a report, found nothing\. Name what/,
    ],
    [
      "a folder of something else",
      () => [folder, folder],
      /expected a recorded session, found a folder without session\.ndjson/,
    ],
    [
      "an empty file",
      () => [file("empty.ndjson", "\n"), folder],
      /empty\.ndjson: expected events, one JSON object a line, found an empty file/,
    ],
    [
      "no events",
      () => [file("prose.ndjson", `${event}\nhello\n${event}\n`), folder],
      /prose\.ndjson:2: expected an event with "type" and "at", found hello\./,
    ],
    ["one run only", () => [file("one.ndjson", event)], /name two runs, or a session and --backtest/],
    [
      "another run and a backtest",
      () => [file("one.ndjson", event), folder, "--backtest", "x.ts"],
      /name another run or give --backtest, not both/,
    ],
    [
      "a tolerance in words",
      () => [folder, folder, "--within", "soon"],
      /Write a number of milliseconds, such as 250\./,
    ],
    [
      "a backtest of what is no session",
      () => [folder, "--backtest", "config/backtest.ts"],
      /session\.ndjson: expected a recorded session, found nothing/,
    ],
  ])("refuses %s with exit code 2", async (_, argv, message) => {
    const { code, out, err } = await said("compare", ...argv());
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(message);
  });

  it("leaves out a line that was cut off, and says so", async () => {
    const whole = await journalOf(dir, [maker()]);
    const text = readFileSync(whole, "utf8");
    const torn = file("torn.ndjson", text.slice(0, -30));
    expect(readRun(torn).notes).toEqual([
      `Line ${text.split("\n").length - 1} was cut off while it was written and is left out.`,
    ]);
  });
});
