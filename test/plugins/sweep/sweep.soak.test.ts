import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runJob } from "../../../plugins/sweep/job.ts";
import { openResults } from "../../../plugins/sweep/results-file.ts";
import { runSweep } from "../../../plugins/sweep/sweep.ts";
import { readMarkets } from "../../../plugins/sweep/sweep-markets.ts";
import type { SweepPlan } from "../../../plugins/sweep/sweep-plan.ts";
import { reportOf, type SweepReport } from "../../../plugins/sweep/sweep-report.ts";
import { type ReadMarket, runBacktest } from "../../../src/backtest.ts";
import { add, sub } from "../../../src/decimal.ts";
import { loadConfigFile } from "../../../src/host/load.ts";
import type { Config } from "../../../src/index.ts";
import { cutTape } from "../../../src/market/cut-tape.ts";
import { readFixture, writeFixture } from "../../../src/market/tape/fixture.ts";
import { createTape } from "../../../src/market/tape/tape.ts";
import { once } from "../../support/once.ts";
import { folder, marketOf, planOf, stand } from "./harness/sweep.ts";

const levels = "ladder.levels=1..3";
const step = "ladder.step=0.00002,0.00005";
const failures = ({ results }: SweepReport) =>
  results.flatMap((result) => (result.status === "failed" ? [[result.options, result.error]] : []));

/** What one thread makes of the plan in one go; a thread takes longer to come up than to run. */
const inOneGo = (plan: () => Promise<SweepPlan>): (() => Promise<SweepReport>) =>
  once(async () => runSweep(await plan(), { threads: 1 }));

describe("A sweep", () => {
  const sixRuns = () => planOf([levels, step], { fixture: marketOf(1) });
  const whole = inOneGo(sixRuns);

  it("gives the same bytes on one and on three threads", async () => {
    const report = await whole();
    expect(JSON.stringify(await runSweep(await sixRuns(), { threads: 3 }))).toBe(JSON.stringify(report));
    expect(report.results.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(new Set(report.ranking.map(({ score }) => score)).size).toBeGreaterThan(3);
  });

  it("does in each run what a backtest with those options does, and ranks by what is asked", async () => {
    const fixture = marketOf(1);
    const plan = await planOf([levels], { fixture, by: "volume", seed: "9" });
    const report = await runSweep(plan, { threads: 1 });
    const { journal: _, ...config } = (await loadConfigFile(stand)) as Config;
    for (const [index, value] of [1, 2, 3].entries()) {
      const strategies = config.strategies.map((one) =>
        one.name === "ladder" ? (one.with?.({ levels: value }) ?? one) : one,
      );
      const { resultHash, volume } = await runBacktest({ ...config, strategies }, { fixture, seed: "9" });
      expect(report.results[index]).toMatchObject({ resultHash, figures: { volume } });
    }
    const volumes = report.ranking.map(({ score }) => Number(score));
    expect(volumes).toEqual([...volumes].sort((a, b) => b - a));
    expect(volumes[0]).toBeGreaterThan(volumes[2] ?? 0);
  });

  it("fails a run whose strategy throws or whose worker dies by name, and goes on with the others", async () => {
    const plan = await planOf(["fickle.mood=throws,exits,loud,calm", "ladder.levels=1,2"], { fixture: marketOf(1) });
    const report = await runSweep(plan, { threads: 1 });
    expect(failures(report)).toEqual([
      [
        { "fickle.mood": "throws", "ladder.levels": 1 },
        "strategy fickle: out of temper (test/support/configs/sweep.ts:15:34)",
      ],
      [
        { "fickle.mood": "throws", "ladder.levels": 2 },
        "strategy fickle: out of temper (test/support/configs/sweep.ts:15:34)",
      ],
      [{ "fickle.mood": "exits", "ladder.levels": 1 }, "its worker died: it ended with code 3"],
      [{ "fickle.mood": "exits", "ladder.levels": 2 }, "its worker died: it ended with code 3"],
    ]);
    expect(report.runs).toEqual({ wanted: 8, done: 4, failed: 4, unaccepted: 0 });
    expect(report.ranking).toHaveLength(4);
  });

  it("says so when its workers cannot load the config", async () => {
    const lost = join(folder, "lost.mjs");
    writeFileSync(lost, 'import "./nowhere.mjs";\n');
    const plan = { ...(await planOf([levels], { fixture: marketOf(1) })), configPath: lost };
    await expect(runSweep(plan, { threads: 2 })).rejects.toThrow("could not be loaded");
  });

  it("goes on after a stop with what is missing, and tells the same as in one go", async () => {
    const plan = await sixRuns();
    const dir = join(folder, "stopped");
    let stop = (): void => undefined;
    const stopped = await runSweep(plan, {
      threads: 1,
      file: openResults(dir, plan.identity, false),
      onStop: (run) => {
        stop = run;
        return () => undefined;
      },
      onProgress: ({ done }) => {
        if (done === 2) stop();
      },
    });
    expect(stopped.runs).toEqual({ wanted: 6, done: 2, failed: 0, unaccepted: 0 });
    appendFileSync(join(dir, "results.ndjson"), '{"index":2,"part":"who');
    const seen: number[] = [];
    const file = openResults(dir, plan.identity, true);
    const resumed = await runSweep(plan, { threads: 1, file, onProgress: ({ done, kept }) => seen.push(done, kept) });
    expect(JSON.stringify(resumed)).toBe(JSON.stringify(await whole()));
    expect(seen.slice(0, 2)).toEqual([2, 2]);
    const lines = readFileSync(join(dir, "results.ndjson"), "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(7);
    expect(lines.map((line) => (JSON.parse(line) as { index?: number }).index).slice(0, 3)).toEqual([undefined, 0, 1]);
  });

  it("that learns and gives up runs tells the same on any number of threads, and after a stop", async () => {
    const choice = { kind: "tpe", count: 24, seed: "1", batch: 6 } as const;
    const vary = ["ladder.levels=1..8", "ladder.step=0.00001..0.001/log9"];
    const guided = () => planOf(vary, { fixture: marketOf(1), choice, prune: true });
    const plan = await guided();
    const dir = join(folder, "guided");
    let stop = (): void => undefined;
    const stopped = await runSweep(plan, {
      threads: 2,
      file: openResults(dir, plan.identity, false),
      onStop: (run) => {
        stop = run;
        return () => undefined;
      },
      onProgress: ({ done }) => {
        if (done === 6) stop();
      },
    });
    expect(stopped.runs.wanted - stopped.results.length).toBeGreaterThan(5);
    const resumed = await runSweep(await guided(), { threads: 2, file: openResults(dir, plan.identity, true) });
    const whole = await runSweep(await guided(), { threads: 1 });
    expect(JSON.stringify(resumed)).toBe(JSON.stringify(whole));
    const { done, pruned = 0, wanted } = whole.runs;
    expect([done + pruned, wanted]).toEqual([24, 24]);
    expect(pruned).toBeGreaterThan(0);
    expect(whole.luck?.trials).toBe(24);
    const given = whole.results.filter(({ status }) => status === "pruned").map(({ point }) => point);
    expect(whole.ranking.filter(({ point }) => given.includes(point))).toEqual([]);
    expect(whole.ranking).toHaveLength(done);
  });

  it("gives up what had made less at a quarter of the time than most, as the run's own equity says", async () => {
    const [market] = readMarkets({ fixture: marketOf(2), windows: [] }) as [ReadMarket];
    const config = (await loadConfigFile(stand)) as Config;
    const job = { index: 0, overrides: { ladder: { levels: 3 } }, market: 0 };
    const { journal: _, ...rest } = config;
    const strategies = config.strategies.map((one) =>
      one.name === "ladder" ? (one.with?.({ levels: 3 }) ?? one) : one,
    );
    const { equity, pnl, resultHash } = await runBacktest({ ...rest, strategies }, { market });
    const quarterAt = market.tape.startAt + 0.25 * (market.tape.endAt - market.tape.startAt);
    const quarter = sub(
      equity.findLast(({ at }) => at <= Math.round(quarterAt))?.equity ?? "0",
      equity[0]?.equity ?? "0",
    );
    const above = add(quarter, "0.00000001");
    expect(await runJob(config, { ...job, bars: [above, null, null] }, market, {})).toEqual({
      status: "pruned",
      at: 0.25,
      pnl: quarter,
      bar: above,
      rungs: [quarter],
    });
    const clears = await runJob(config, { ...job, bars: [quarter, null, null] }, market, {});
    expect(clears).toMatchObject({
      status: "done",
      resultHash,
      figures: { pnl },
      rungs: [quarter, expect.any(String), expect.any(String)],
    });
  });

  it("can be stopped while a run will not end", async () => {
    const plan = await planOf(["fickle.mood=calm,spins"], { fixture: marketOf(1) });
    let stop = (): void => undefined;
    const report = await runSweep(plan, {
      threads: 1,
      onStop: (run) => {
        stop = run;
        return () => undefined;
      },
      // A turn later the thread has been sent the run that does not end.
      onProgress: ({ done }) => {
        if (done === 1) setImmediate(stop);
      },
    });
    expect(report.runs).toEqual({ wanted: 2, done: 1, failed: 0, unaccepted: 0 });
  });
});

describe("Walk-forward optimisation", () => {
  const folds = { count: 2, train: 0.5 };
  const planned = () => planOf([levels], { fixture: marketOf(3), folds });
  const whole = inOneGo(planned);
  const temporary = (): readonly string[] =>
    readdirSync(tmpdir()).filter((name) => /^sluice-sweep-[A-Za-z0-9]{6}$/.test(name));

  /** Nothing is left but what others hold for a while: sweeps of other tests have folders of the same kind. */
  const nothingSince = (before: readonly string[]): Promise<void> =>
    expect.poll(() => temporary().filter((name) => !before.includes(name))).toEqual([]);

  it("chooses in each training, judges on the test that follows, and leaves nothing behind", async () => {
    const fixture = marketOf(3);
    const before = temporary();
    const report = await whole();
    await nothingSince(before);
    expect(report.results.map(({ index, part, fold, point }) => [index, part, fold, point]).slice(0, 6)).toEqual([
      [0, "train", 0, 0],
      [1, "train", 0, 1],
      [2, "train", 0, 2],
      [3, "train", 1, 0],
      [4, "train", 1, 1],
      [5, "train", 1, 2],
    ]);
    expect(report.runs).toEqual({ wanted: 8, done: 8, failed: 0, unaccepted: 0 });
    const { journal: _, ...config } = (await loadConfigFile(stand)) as Config;
    const { tape } = readFixture(fixture);
    for (const { fold, train, test, chosen, inSample, outOfSample } of report.folds ?? []) {
      const trained = report.results.filter((one) => one.part === "train" && one.fold === fold);
      const pnls = trained.map((one) => (one.status === "done" ? Number(one.figures.pnl) : Number.NaN));
      expect(Number(inSample?.pnl)).toBe(Math.max(...pnls));
      expect(chosen?.point).toBe(pnls.indexOf(Math.max(...pnls)));
      expect(train.toAt).toBe(test.fromAt);
      // The same by hand: cut, write, run.
      const dir = join(folder, `by-hand-${fold}`);
      writeFixture(dir, cutTape(tape, test), { source: "test" });
      const strategies = config.strategies.map((one) =>
        one.name === "ladder" ? (one.with?.({ levels: (chosen?.point ?? 0) + 1 }) ?? one) : one,
      );
      expect((await runBacktest({ ...config, strategies }, { fixture: dir })).pnl).toBe(outOfSample?.pnl);
    }
  });

  it("chooses the same whatever the market does after the training", async () => {
    const fixture = marketOf(3);
    const { tape } = readFixture(fixture);
    const plan = await planned();
    const report = await whole();
    const boundary = plan.windows[0]?.train.toAt ?? 0;
    // From the boundary on, prices are a tenth higher.
    const other = join(folder, "other-future");
    const bent = tape.series.map((series) => {
      const raised = Object.entries(series).map(([name, column]) =>
        /px$/i.test(name)
          ? [
              name,
              (column as Float64Array).map((px, row) =>
                (series.at[row] ?? 0) >= boundary ? Math.round(px * 1.1) : px,
              ),
            ]
          : [name, column],
      );
      return { ...series, ...Object.fromEntries(raised) } as typeof series;
    });
    writeFixture(other, createTape(tape.instruments, bent), { source: "test" });
    const bentReport = await runSweep(await planOf([levels], { fixture: other, folds }), { threads: 1 });
    const figuresIn = ({ results }: SweepReport, fold: number, part: string) =>
      results
        .filter((one) => one.fold === fold && one.part === part)
        .map((one) => (one.status === "done" ? one.figures : one.status));
    expect(figuresIn(bentReport, 0, "train")).toEqual(figuresIn(report, 0, "train"));
    expect(bentReport.folds?.[0]?.chosen).toEqual(report.folds?.[0]?.chosen);
    expect(figuresIn(bentReport, 1, "train")).not.toEqual(figuresIn(report, 1, "train"));
  });

  it("refuses folds so short that one is empty", async () => {
    const before = temporary();
    const plan = await planOf([levels], { fixture: marketOf(1), folds: { count: 1_000, train: 0.01 } });
    await expect(runSweep(plan, { threads: 1 })).rejects.toThrow(
      /--folds: the (train|test) part of fold \d+, .* holds no market\. Take fewer folds\./,
    );
    await nothingSince(before);
  });

  it("tells nothing of a fold whose training is not complete", async () => {
    const plan = await planOf([levels], { fixture: marketOf(3), folds });
    const report = reportOf(plan, new Map());
    expect(report.folds?.map((fold) => Object.keys(fold))).toEqual([
      ["fold", "train", "test"],
      ["fold", "train", "test"],
    ]);
    expect(report.luck).toBeUndefined();
  });
});
