import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { concat, concatMap, EMPTY, map, mergeMap, NEVER, of, take, tap, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { backtest, createTape, runBacktest } from "../../../src/backtest.ts";
import { seriesOf } from "../../../src/market/tape/tape.ts";
import {
  btc,
  calm,
  candleTape,
  configOf,
  far,
  quoteTape,
  recorder,
  run,
  startAt,
  stored,
  strategy,
  swap,
} from "../../support/harness/backtest.ts";
import { add, generateTapeFor, type RunReport, sum } from "../../support/harness/generated-market.ts";

const dir = stored(calm(120));
const lively = stored(generateTapeFor([swap], 10));

/** Sells and buys at the market in turn, four times a minute. */
const swinger = (name = "swinger", qty = "0.05") =>
  strategy(name, {
    wanted: () =>
      timer(1_000, 15_000).pipe(
        map((round) => [
          {
            slot: "swing",
            instId: swap,
            side: round % 2 === 0 ? ("buy" as const) : ("sell" as const),
            ordType: "market" as const,
            qty,
            round,
          },
        ]),
      ),
  });

/** Rests at both best prices. */
const maker = (name = "maker") =>
  strategy(name, {
    wanted: ({ market }) =>
      market.quotes(swap).pipe(
        map(({ bidPx, askPx }) => [
          {
            slot: "bid",
            instId: swap,
            side: "buy" as const,
            ordType: "post_only" as const,
            px: bidPx,
            qty: "0.02",
            keepWithin: "3",
          },
          {
            slot: "ask",
            instId: swap,
            side: "sell" as const,
            ordType: "post_only" as const,
            px: askPx,
            qty: "0.02",
            keepWithin: "3",
          },
        ]),
      ),
  });

describe("Money in a backtest", () => {
  it("adds up: what the strategies made is what the account made, to the last digit", async () => {
    const report = await run(lively, [swinger(), maker(), swinger("other", "0.037")]);
    const parts = Object.values(report.perStrategy);
    expect(parts.every(({ fills }) => fills > 0)).toBe(true);
    expect(sum(parts.map(({ pnl }) => pnl))).toBe(report.pnl);
    expect(sum(parts.map(({ fees }) => fees))).toBe(report.fees);
  });

  it("is exact by hand: two market orders, the spread, and five basis points each", async () => {
    const tape = quoteTape([
      [0, 600_000, 5_000, 600_010, 5_000],
      [10_000, 600_500, 5_000, 600_510, 5_000],
      [20_000, 600_500, 5_000, 600_510, 5_000],
    ]);
    const once = strategy("once", {
      wanted: () =>
        concat(
          of([{ slot: "in", instId: swap, side: "buy" as const, ordType: "market" as const, sz: "600.01" }]),
          timer(startAt + 5_000 - (startAt - 5_000)).pipe(map(() => [])),
        ),
      run: ({ orders }) =>
        timer(20_000).pipe(
          mergeMap(() => orders.place({ instId: swap, side: "sell", ordType: "market", sz: "600.5" })),
        ),
    });
    const report = await run(tape, [once]);
    // The first order comes before the recording, meets no price and is canceled; only the second one trades.
    expect(report.orders).toMatchObject({ placed: 2, canceled: 1, filled: 1 });
    // 0.01 sold at 60050.0 and worth 60050.5 at the end; 5 basis points of 600.5.
    expect(report.fees).toBe("0.30025");
    expect(report.pnl).toBe(add("-0.005", "-0.30025"));
    expect(report.volume).toBe("600.5");
  });

  it("adds up when the last order fills after the last row and takes all that was shown", async () => {
    const quote = [600_000, 5_000, 600_010, 10];
    const at = Float64Array.of(startAt, startAt + 10_000);
    const tape = createTape(
      [btc],
      [
        seriesOf(
          "quote",
          0,
          at,
          [0, 1, 2, 3].map((index) => Float64Array.of(quote[index] as number, quote[index] as number)),
        ),
        seriesOf("trade", 0, Float64Array.of(startAt + 1), [
          Int8Array.of(1),
          Float64Array.of(599_000),
          Float64Array.of(1),
        ]),
      ],
    );
    const last = strategy("last", {
      wanted: ({ market }) =>
        market
          .quotes(swap)
          .pipe(
            map(({ at: now }) =>
              now < startAt + 10_000
                ? []
                : [{ slot: "x", instId: swap, side: "buy" as const, ordType: "market" as const, qty: "0.01" }],
            ),
          ),
    });
    const report = await run(tape, [last]);
    expect(report.fills).toBe(1);
    expect(report.perStrategy["last"]?.pnl).toBe(report.pnl);
    expect(report.pnl).not.toBe("0");
  });

  it("charges makers what makers pay", async () => {
    const report = await run(lively, [maker()], { fees: { makerBps: "-1", takerBps: "100" } });
    expect(report.fills).toBeGreaterThan(0);
    expect(Number(report.fees) / Number(report.volume)).toBeCloseTo(-0.0001, 12);
  });
});

describe("The backtest report", () => {
  it("counts what the journal holds", async () => {
    const { events, plugin } = recorder();
    const report = await run(lively, [maker(), swinger()], { plugins: [plugin] });
    const phase = (name: string): number =>
      events.filter((event) => event.type === "order.changed" && event.phase === name).length;
    const sent = events.flatMap((event) => (event.type === "action.sent" ? [event] : []));
    expect(report.orders).toEqual({
      placed: phase("sent"),
      canceled: phase("canceled"),
      filled: phase("filled"),
      rejected: phase("rejected"),
      refused: events.filter(({ type }) => type === "order.refused").length,
    });
    // Before any plugin starts, the engine has read products, pending orders and history: three calls that weigh 2, 5 and 5.
    expect(report.quota.weight).toBe(12 + sent.reduce((weight, event) => weight + event.weight, 0));
    expect(report.quota.requests).toBe(3 + sent.length);
    expect(report.latency.place.count).toBe(report.orders.placed);
    for (const [name, own] of Object.entries(report.perStrategy)) {
      expect(own.weight).toBe(
        sent.filter(({ owner }) => owner === name).reduce((weight, event) => weight + event.weight, 0),
      );
    }
    // Its own reading starts a few events later than the engine's.
    expect(report.events - events.length).toBeLessThan(20);
  });

  it("tells latency from submission to acceptance", async () => {
    const report = await run(dir, [strategy("one", { wanted: () => concat(of([far()]), NEVER) })]);
    expect(report.latency.place).toEqual({ count: 1, p50: 10, p99: 10 });
  });

  it("of a week says how years are counted, and of the week that was traded", async () => {
    const hour = 3_600_000;
    const bars = candleTape(
      Array.from({ length: 8 * 24 }, (_, index) => [
        600_000 + index,
        600_010 + index,
        599_990 + index,
        600_000 + index,
      ]),
      hour,
    );
    const still = strategy("still", { run: () => EMPTY });
    const years = expect.objectContaining({ what: "Annual figures", value: "years of 365 days, compounded" });
    expect((await run(bars, [still])).assumptions).toContainEqual(years);
    const service = backtest({ fixture: stored(bars), warmUpMs: 48 * hour });
    const short = await runBacktest({ service, strategies: [still] });
    expect(short.assumptions).not.toContainEqual(years);
    expect(short.returns).toMatchObject({ per: "run" });
    expect(short.returns).not.toHaveProperty("cagrPercent");
  });
});

describe("The instrument list in a backtest", () => {
  const day = candleTape(
    Array.from({ length: 24 }, () => [600_000, 600_010, 599_990, 600_000]),
    3_600_000,
  );
  const changing = createTape(day.instruments, [
    ...day.series,
    {
      kind: "change",
      instrument: 0,
      at: Float64Array.of(startAt + 4.5 * 3_600_000),
      tick: Float64Array.of(5),
      lot: Float64Array.of(1),
      listed: Uint8Array.of(1),
    },
  ]);
  const still = strategy("still", { run: () => EMPTY });
  /** The products, and what is pending and what was: nobody listens to more. */
  const atStart = 3;
  const once = expect.objectContaining({ what: "List of products", value: "no change is recorded" });

  it("is read once where the recording tells of no change, and the report says so", async () => {
    const report = await run(day, [still]);
    expect(report.quota.requests).toBe(atStart);
    expect(report.assumptions).toContainEqual(once);
    expect((await run(dir, [still])).assumptions).not.toContainEqual(once);
  });

  it("is read by the hour where products change", async () => {
    const seen: (string | undefined)[] = [];
    const eyes = strategy("eyes", {
      run: ({ instruments$ }) => instruments$.pipe(tap(({ value }) => seen.push(value.get(swap)?.tickSize))),
    });
    const report = await run(changing, [eyes]);
    expect(seen.length).toBeGreaterThan(20);
    expect(new Set(seen)).toEqual(new Set(["0.1", "0.5"]));
    expect(report.quota.requests).toBe(atStart + 23);
    expect(report.assumptions).not.toContainEqual(once);
  });
});

describe("Overrides of a backtest", () => {
  it("of fixture and seed outrank the config", async () => {
    const report = await run("nowhere", [swinger()], { fixture: dir, seed: "other" });
    expect(report).toMatchObject({ seed: "other", fixture: { name: dir, rows: 480 } });
  });

  it("lifting the limits lifts both sides: nothing waits, nothing is refused, more is sent", async () => {
    const eager = strategy("eager", {
      wanted: () =>
        timer(0, 100).pipe(
          map((round) =>
            Array.from({ length: 4 }, (_, index) => ({
              ...far(`s${index}`),
              round,
              px: `${30_000 + ((round * 4 + index) % 100)}`,
            })),
          ),
        ),
    });
    const kept = await run(dir, [eager]);
    const lifted = await run(dir, [eager], { limits: false });
    expect(kept.quota).toMatchObject({ limits: true, rejected429: 0 });
    expect(kept.quota.heldMs.max).toBeGreaterThan(1_000);
    expect(lifted.quota).toMatchObject({ limits: false, rejected429: 0, heldMs: { p99: 0 } });
    expect(lifted.latency.place).toMatchObject({ p50: 10, p99: 10 });
    expect(lifted.orders.placed).toBeGreaterThan(3 * kept.orders.placed);
    expect(lifted.quota.perLayerPeak.uid).toBeGreaterThan(1_200);
    expect(kept.quota.perLayerPeak.uid).toBeLessThanOrEqual(1_200);
  });
});

describe("Await in a strategy", () => {
  const patient = strategy("patient", {
    wanted: ({ market }) =>
      market.quotes(swap).pipe(
        concatMap(async (quote) => {
          for (let turn = 0; turn < 5; turn++) await Promise.resolve();
          return quote;
        }),
        map(({ bidPx, at }) => [{ ...far(), px: bidPx.replace(/^6/, "5"), tag: String(at) }]),
      ),
  });

  it("takes no time: what is decided after it is decided at the same instant", async () => {
    const seen: number[] = [];
    const watching = strategy("watching", {
      run: ({ market, now }) =>
        market.quotes(swap).pipe(
          concatMap(async ({ at }) => {
            await Promise.resolve();
            await Promise.resolve();
            seen.push(now() - at);
          }),
        ),
    });
    await run(dir, [watching]);
    expect(seen).toHaveLength(480);
    expect(new Set(seen)).toEqual(new Set([0]));
  });

  it("and a timer after it run on virtual time", async () => {
    const seen: number[] = [];
    const sleeper = strategy("sleeper", {
      run: ({ market, now }) =>
        market.quotes(swap).pipe(
          take(2),
          concatMap(async () => {
            const before = now();
            await Promise.resolve();
            await new Promise((resolve) => timer(700).subscribe(resolve));
            seen.push(now() - before);
          }),
        ),
    });
    await run(dir, [sleeper]);
    expect(seen).toEqual([700, 700]);
  });

  it("gives the same result every time", async () => {
    const one = await run(dir, [patient]);
    const two = await run(dir, [patient]);
    expect(one.orders.placed).toBeGreaterThan(3);
    expect(two.resultHash).toBe(one.resultHash);
  });
});

describe("An impossible backtest:", () => {
  it.each<[string, () => Promise<RunReport>, string]>([
    [
      "a config for something else",
      () =>
        run(dir, [swinger()])
          .then(() => import("../../../src/backtest.ts"))
          .then(({ runBacktest, paper }) => runBacktest({ service: paper(), strategies: [swinger()] })),
      "config.service is paper(…); a backtest needs service: backtest(",
    ],
    [
      "no fixture",
      () =>
        import("../../../src/backtest.ts").then(({ runBacktest, backtest }) =>
          runBacktest({ service: backtest(), strategies: [swinger()] }),
        ),
      "No recorded market is named",
    ],
    [
      "a fixture that is not there",
      () => run("nowhere", [swinger()]),
      "nowhere: expected a fixture folder, found nothing",
    ],
  ])("%s is refused in one sentence", async (_, work, message) => {
    await expect(work()).rejects.toThrow(message);
  });

  it("undoes its plugins when the engine cannot start", async () => {
    const { constant } = await import("../../../src/backtest.ts");
    await expect(run(dir, [swinger()], { latency: constant(4_000) })).rejects.toThrow("latency model is too slow");
  });
});

describe("Backtest progress", () => {
  it("is told from the first row to the last", async () => {
    const seen: number[] = [];
    await run(dir, [swinger()], { onProgress: ({ events }) => seen.push(events) });
    expect(seen).toHaveLength(400);
    expect(seen[399]).toBe(480);
    expect([...seen].sort((a, b) => a - b)).toEqual(seen);
  });
});

it("Leaves the journal of a live config alone", async () => {
  const folder = join(tmpdir(), `sluice-no-journal-${process.pid}`);
  const config = configOf(stored(calm(5)), [strategy("still", { run: () => EMPTY })]);
  await runBacktest({ ...config, journal: { dir: folder } });
  expect(existsSync(folder)).toBe(false);
});
