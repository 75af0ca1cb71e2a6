import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { concat, interval, map, NEVER, of, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { backtest, runBacktest } from "../../../src/backtest.ts";
import { failureText } from "../../../src/host/failure.ts";
import { definePlugin, mul, type Plugin, type Strategy } from "../../../src/index.ts";
import { calm, candleTape, closed, far, run, startAt, stored, strategy, swap } from "../../support/harness/backtest.ts";

const dir = stored(calm(20));
const own = readFileSync(fileURLToPath(import.meta.url), "utf8").split("\n");
/** Number of the one line that ends with the mark, as an editor counts. */
const lineOf = (mark: string): number => own.findIndex((line) => line.endsWith(`// ${mark}`)) + 1;
const failuresOf = async (strategies: readonly Strategy[], over: object = {}, from = dir) =>
  (await run(from, strategies, over)).failures;
/** Strategies start some seconds before the recording. */
const leadMsMax = 10_000;

const broken = (): never => {
  throw new TypeError("market.ticker is not a function"); // broken
};
const starting = (begin: () => unknown): Strategy =>
  strategy("bad", {
    run: () => {
      begin();
      return NEVER;
    },
  });
const plugin = (setup: NonNullable<Parameters<typeof definePlugin>[0]["setup"]>): Plugin =>
  definePlugin({ name: "page", options: closed, setup })({});

describe("A failing strategy is told", () => {
  it.each([
    [
      "in a quote",
      strategy("bad", { wanted: ({ market }) => market.quotes(swap).pipe(map(broken)) }),
      `a quote of ${swap}`,
    ],
    ["in a timer of RxJS", strategy("bad", { run: () => timer(2_000).pipe(map(broken)) }), "a timer"],
    ["in a timer of its own", starting(() => setTimeout(broken, 2_000)), "a timer"],
    ["in an interval it subscribes to itself", starting(() => interval(500).subscribe(broken)), "a timer"],
    [
      "in an update of its order",
      strategy("bad", {
        wanted: () => concat(of([far("mine")]), NEVER),
        run: ({ own }) => own.updates$.pipe(map(broken)),
      }),
      /^an update of its order "mine" \(\w+\)$/,
    ],
    ["at its start", strategy("bad", { wanted: broken }), "its start"],
  ])("with its own line, the market's time and what it was given: %s", async (_, bad, occasion) => {
    const [failure, ...rest] = (await failuresOf([bad])) ?? [];
    expect(rest).toEqual([]);
    expect(failure).toMatchObject({
      kind: "strategy",
      name: "bad",
      message: "TypeError: market.ticker is not a function",
      count: 1,
    });
    expect(failure?.place).toMatch(new RegExp(`^test/unit/host/failure\\.test\\.ts:${lineOf("broken")}:\\d+$`));
    expect(failure?.handling).toMatch(occasion);
    expect((failure?.at ?? 0) - startAt).toBeLessThanOrEqual(20_000);
    expect((failure?.at ?? 0) - startAt).toBeGreaterThanOrEqual(-leadMsMax);
  });

  it("in a candle, at the instant that it closed", async () => {
    const bars = stored(
      candleTape(
        [
          [100, 101, 99, 100],
          [100, 101, 99, 100],
        ],
        5_000,
      ),
    );
    const bad = strategy("bad", { wanted: ({ market }) => market.candles(swap, 5_000).pipe(map(broken)) });
    const [failure] = (await failuresOf([bad], {}, bars)) ?? [];
    expect(failure).toMatchObject({
      handling: `a candle of ${swap}`,
      place: expect.stringContaining("failure.test.ts"),
    });
    // With the delay of the feed.
    expect((failure?.at ?? 0) - startAt - 5_000).toBeLessThan(1_000);
    expect((failure?.at ?? 0) - startAt).toBeGreaterThanOrEqual(5_000);
  });

  it("with its line also where a function of this package threw", async () => {
    const bad = strategy("bad", {
      wanted: ({ market }) =>
        market.quotes(swap).pipe(
          map(() => {
            mul("abc", "1"); // within
            return [];
          }),
        ),
    });
    expect((await failuresOf([bad]))?.[0]?.place).toContain(`failure.test.ts:${lineOf("within")}:`);
  });

  it("with the number of its failures, when it is restarted", async () => {
    const bad = strategy("bad", { run: () => timer(1_000).pipe(map(broken)) });
    const service = backtest({ fixture: stored(calm(180)) });
    const { failures } = await runBacktest({
      service,
      strategies: [bad],
      supervision: { attempts: 3, withinMs: 600_000 },
    });
    expect(failures).toHaveLength(1);
    expect(failures?.[0]?.count).toBeGreaterThan(1);
  });

  it("without changing the result", async () => {
    const calmly = await run(dir, [strategy("bad", { wanted: () => NEVER })]);
    expect(calmly.failures).toBeUndefined();
    const at = (thrown: () => never) => run(dir, [strategy("bad", { run: () => timer(2_000).pipe(map(thrown)) })]);
    const other = (): never => {
      throw new TypeError("market.ticker is not a function");
    };
    expect((await at(broken)).resultHash).toBe((await at(other)).resultHash);
  });
});

it("A failing plugin is told the same way, with the event", async () => {
  const page = plugin(({ on }) => {
    on("event", broken);
  });
  const failures = await failuresOf([strategy("calm", { wanted: () => NEVER })], { plugins: [page] });
  expect(failures).toMatchObject([
    { kind: "plugin", name: "page", handling: expect.stringMatching(/^the event [\w.]+$/), count: 1 },
  ]);
  expect(failures?.[0]?.place).toContain(`failure.test.ts:${lineOf("broken")}:`);
});

it.each([
  [{}, "bad: no luck\n      2024-01-01T00:00:01.500Z"],
  [
    { place: "strategies/mine.ts:12:5", handling: "a quote of BTC-USDT-SWAP", count: 3 },
    "bad: no luck\n      at strategies/mine.ts:12:5, 2024-01-01T00:00:01.500Z, handling a quote of BTC-USDT-SWAP, failed 3 times",
  ],
])("A failure says what is known of it: %j", (known, text) => {
  expect(
    failureText({ kind: "strategy", name: "bad", message: "no luck", at: startAt + 1_500.4, count: 1, ...known }),
  ).toBe(text);
});

it("A failure whose message begins with the name has it once", () => {
  const text = failureText({
    kind: "strategy",
    name: "bad",
    message: "bad: `wanted` emitted 7.",
    at: startAt,
    count: 1,
  });
  expect(text).toMatch(/^bad: `wanted` emitted 7\.\n/);
});
