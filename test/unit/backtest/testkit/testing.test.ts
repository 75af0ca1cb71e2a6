/** `sluice/testing` as authors use it: figures are worked out by hand. */
import { readFileSync } from "node:fs";
import { concat, delay, from, map, NEVER, of, tap, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { type Candle, definePlugin, type Trade } from "../../../../src/index.ts";
import { testPlugin, testStartAt, testStrategy } from "../../../../src/testing.ts";
import ladder from "../../../../strategies/ladder.ts";
import { closed, strategy, swap } from "../../../support/harness/backtest.ts";

const bid = { slot: "bid", instId: swap, side: "buy" as const, px: "60000", qty: "0.01" };
const ask = { slot: "ask", instId: swap, side: "sell" as const, px: "60100", qty: "0.02" };
const both = () => strategy("both", { wanted: () => concat(of([bid, ask]), NEVER) });
const inside = { bidPx: "60050", askPx: "60050.1" };

const resting = async (make = both) => {
  const t = await testStrategy(make());
  t.quote(swap, inside);
  await t.advance();
  return t;
};

describe("A test of a strategy", () => {
  it("begins at a fixed instant with the strategy running, and lets 100 ms pass unless told otherwise", async () => {
    const t = await testStrategy(both());
    expect(t.now).toBe(Date.UTC(2024, 0, 1));
    expect(t.wanted).toEqual([bid, ask]);
    await t.advance();
    expect(t.now).toBe(testStartAt + 100);
    await t.advanceTo("00:01:30.5");
    expect(t.now).toBe(testStartAt + 90_500);
    await t.stop();
  });

  it("shows orders as they travel: 10 ms each way", async () => {
    const t = await testStrategy(both());
    expect(t.orders.map(({ slot, phase }) => [slot, phase])).toEqual([
      ["bid", "sent"],
      ["ask", "sent"],
    ]);
    expect(t.open).toEqual([]);
    await t.advance(20);
    expect(t.open.map(({ slot, px, ordType }) => [slot, px, ordType])).toEqual([
      ["bid", "60000", "limit"],
      ["ask", "60100", "limit"],
    ]);
    await t.stop({ cancel: true });
    expect(t.orders.map(({ phase }) => phase)).toEqual(["canceled", "canceled"]);
  });

  it("fills what rests, wholly or in part, and keeps the account", async () => {
    const t = await resting();
    t.fill("ask", { qty: "0.005" });
    await t.advance();
    expect(t.open.map(({ slot, phase, filledQty, avgPx }) => [slot, phase, filledQty, avgPx])).toEqual([
      ["bid", "live", "0", ""],
      ["ask", "partially_filled", "0.005", "60100"],
    ]);
    expect(t.position(swap)).toBe("-0.005");
    t.fill("ask");
    t.fill("bid");
    await t.advance();
    expect(t.open).toEqual([]);
    expect(t.fills.map(({ slot, px, qty, liquidity }) => [slot, px, qty, liquidity])).toEqual([
      ["ask", "60100", "0.005", "maker"],
      ["ask", "60100", "0.015", "maker"],
      ["bid", "60000", "0.01", "maker"],
    ]);
    expect(t.position(swap)).toBe("-0.01");
    // 2 bp of 1202 and of 600, and 100 a coin earned on 0.01 of it.
    expect(t.balance("USDT")).toBe("10000.6396");
    await t.stop();
  });

  it("fills by what the market does, too", async () => {
    const t = await resting();
    t.feed(`
      +1s trade ${swap} sell 0.001 at 59999.9   # through the bid
      +1s quote ${swap} 60100 x 1 / 60100.1 x 1 # reaches the ask
    `);
    await t.advanceTo("00:00:01.099");
    expect(t.fills).toEqual([]);
    await t.advanceTo("00:00:03");
    expect(t.fills.map(({ at, slot }) => [at - testStartAt, slot])).toEqual([
      [1_100, "bid"],
      [2_100, "ask"],
    ]);
    await t.stop();
  });

  it("rejects a placement, once, for the slot it names", async () => {
    const t = await testStrategy(
      strategy("late", { wanted: () => concat(of([]), of([bid, ask]).pipe(delay(1_000)), NEVER) }),
    );
    t.reject("ask", "51008", "Not enough.");
    await t.advance(2_000);
    expect(t.orders.map(({ slot, phase, reason }) => [slot, phase, phase === "rejected" ? reason : ""])).toEqual([
      ["bid", "live", ""],
      ["ask", "rejected", "51008 Not enough."],
    ]);
    await t.stop();
  });

  it("loses answers of calls that were executed, and calls that were not", async () => {
    const late = () => strategy("late", { wanted: () => concat(of([]), of([bid]).pipe(delay(1_000)), NEVER) });
    const executed = await testStrategy(late(), { push: false, timeoutMs: 3_000 });
    executed.loseAnswers();
    await executed.advance(3_500);
    expect(executed.orders.map(({ phase }) => phase)).toEqual(["sent"]);
    await executed.advance(10_000);
    expect(executed.orders[0]?.phases).toEqual(["sent", "unknown", "live"]);
    await executed.stop();

    const dropped = await testStrategy(late(), { push: false, timeoutMs: 3_000 });
    dropped.loseRequests();
    await dropped.advance(180_000);
    expect(dropped.orders[0]?.phases).toEqual(["sent", "unknown", "absent"]);
    await dropped.stop();
  });

  it("feeds bars one after the other, each seen when it closes", async () => {
    const seen: Candle[] = [];
    const watcher = strategy("watcher", {
      run: ({ market }) => market.candles(swap, 60_000).pipe(map((bar) => seen.push(bar))),
    });
    const t = await testStrategy(watcher);
    for (const close of ["100", "103", "101"]) t.candle(swap, { close });
    t.candle(swap, { open: "90", high: "120", low: "80", close: "100", volume: "2.5" });
    await t.advanceTo("00:02:59");
    expect(seen).toHaveLength(2);
    await t.advanceTo("00:04:00");
    expect(
      seen.map(({ at, open, high, low, close, volume }) => [at - testStartAt, open, high, low, close, volume]),
    ).toEqual([
      [60_000, "100", "100", "100", "100", "0"],
      [120_000, "100", "103", "100", "103", "0"],
      [180_000, "103", "103", "101", "101", "0"],
      [240_000, "90", "120", "80", "100", "2.5"],
    ]);
    await t.stop();
  });

  it("lets promises of the strategy settle before time moves on", async () => {
    const seen: [number, string][] = [];
    const slow = strategy("slow", {
      run: ({ market, now }) =>
        market.trades(swap).pipe(
          map((trade: Trade) => {
            void Promise.resolve()
              .then(() => Promise.resolve())
              .then(() => seen.push([now() - testStartAt, trade.px]));
          }),
        ),
    });
    const t = await testStrategy(slow);
    t.feed(`00:00:01 trade ${swap} buy 1 at 100\n+1ms trade ${swap} buy 1 at 101`);
    await t.advance(2_000);
    expect(seen).toEqual([
      [1_000, "100"],
      [1_001, "101"],
    ]);
    await t.stop();
  });

  it("says what was not sent, and why", async () => {
    const t = await testStrategy(strategy("tiny", { wanted: () => concat(of([{ ...bid, qty: "0.0001" }]), NEVER) }));
    await t.advance();
    expect(t.orders).toEqual([]);
    expect(t.refused).toEqual([{ slot: "bid", reason: "the size is below one lot of 0.001 BTC" }]);
    await t.stop();
  });

  it("fails with the strategy, at the start and later, unless that is part of the test", async () => {
    const failing = () =>
      strategy("failing", {
        run: () =>
          timer(5_000).pipe(
            map(() => {
              throw new Error("no luck");
            }),
          ),
      });
    const t = await testStrategy(failing());
    await t.advance(4_000);
    await expect(t.advance(2_000)).rejects.toThrow('"failing" failed: no luck');
    await t.stop();
    const quiet = await testStrategy(failing(), { failures: "record" });
    await quiet.advance(10_000);
    expect(quiet.events.filter(({ type }) => type === "strategy.failed")).toHaveLength(1);
    await quiet.stop();
    const broken = strategy("broken", {
      wanted: () => {
        throw new Error("at once");
      },
    });
    await expect(testStrategy(broken)).rejects.toThrow('"broken" failed: at once');
  });

  it("runs two at a time, each on its own clock", async () => {
    const [a, b] = await Promise.all([testStrategy(both()), testStrategy(both())]);
    await Promise.all([a.advance(1_000), b.advance(50)]);
    expect([a.now - testStartAt, b.now - testStartAt, a.open.length, b.open.length]).toEqual([1_000, 50, 2, 2]);
    await Promise.all([a.stop(), b.stop()]);
  });

  it("trades the instruments that the options name, or those it is given", async () => {
    const named = await testStrategy(ladder({ instId: "ETH-USDT", levels: 1, step: "0.001" }));
    named.quote("ETH-USDT", { bidPx: "1999.99", askPx: "2000.01" });
    await named.advance();
    expect(named.wanted.map(({ px }) => px)).toEqual(["1998", "2002"]);
    await named.stop();
    const given = await testStrategy(ladder({ levels: 1, step: "0.1" }), {
      instruments: [{ instId: "A-B-SWAP", tickSize: "5", lotSize: "1" }],
    });
    given.quote("A-B-SWAP", { bidPx: "95", askPx: "105" });
    await given.advance();
    expect(given.wanted.map(({ instId, px }) => [instId, px])).toEqual([
      ["A-B-SWAP", "90"],
      ["A-B-SWAP", "110"],
    ]);
    await given.stop();
  });
});

describe("What a test is fed wrongly is refused with what to write:", () => {
  it.each<[string, (t: Awaited<ReturnType<typeof testStrategy>>) => unknown, string]>([
    [
      "a number",
      (t) => t.quote(swap, { bidPx: 99 as never, askPx: "101" }),
      `quote of ${swap}, bidPx: 99 is not a decimal. Write plain digits in a string`,
    ],
    [
      "a price between two ticks",
      (t) => t.quote(swap, { bidPx: "99.05", askPx: "101" }),
      '"99.05" is not a whole number of steps of 0.1',
    ],
    ["a crossed quote", (t) => t.quote(swap, { bidPx: "101", askPx: "101" }), "the bid 101 is not below the ask 101"],
    [
      "an unknown instrument",
      (t) => t.trade("BTC-USDT", { side: "buy", px: "1", qty: "1" }),
      `The test trades ${swap} and not "BTC-USDT". Did you mean "${swap}"? Name it`,
    ],
    [
      "a side",
      (t) => t.trade(swap, { side: "Buy" as never, px: "1", qty: "1" }),
      'side "Buy" is neither "buy" nor "sell"',
    ],
    [
      "a bar that does not hold together",
      (t) => t.candle(swap, { close: "10", high: "9" }),
      "do not lie between low 10 and high 9",
    ],
    [
      "an order that does not rest",
      (t) => t.fill("bid"),
      'no order of slot "bid" rests at the exchange; there is none',
    ],
    [
      "a kind of row",
      (t) => t.feed(`\n00:00:01 price ${swap} 1`),
      `Line 2, "00:00:01 price ${swap} 1": "price" is no kind of row. Write one of quote`,
    ],
    [
      "a row",
      (t) => t.feed(`quote ${swap} 1`),
      `it does not read as a quote. Write quote ${swap} 60000 x 5 / 60000.1 x 5`,
    ],
    ["a time", (t) => t.feed(`1s quote ${swap} 1 / 2`), '"1s" is no time. Write hh:mm:ss since the start of the test'],
    [
      "a price in a text",
      (t) => t.feed(`quote ${swap} 1 / 2.00001`),
      'Line 1, "quote BTC-USDT-SWAP 1 / 2.00001": quote of BTC-USDT-SWAP, askPx',
    ],
  ])("%s", async (_, feed, message) => {
    const t = await testStrategy(strategy("idle", { wanted: () => NEVER }));
    expect(() => feed(t)).toThrow(message);
    await t.stop();
  });

  it("but not the examples of the documentation", async () => {
    const rows = (path: string): readonly string[] =>
      readFileSync(path, "utf8")
        .split("\n")
        .map((line) => line.replace(/^ \* /, ""))
        .filter((line) => /^[\d+]\S* +(quote|trade|candle) /.test(line));
    const t = await testStrategy(strategy("idle", { wanted: () => NEVER }));
    const shown = rows("src/testing.ts");
    expect(shown).toHaveLength(4);
    expect(t.feed(shown.join("\n"))).toBe(testStartAt + 60_000);
    const plainly = (lines: readonly string[]): readonly string[] => lines.map((line) => line.replace(/ *#.*/, ""));
    expect(plainly(rows("src/backtest/testkit/market-text.ts"))).toEqual(plainly(shown));
    expect(plainly(rows("docs/guides/testing.md"))).toEqual(plainly(shown));
    await t.stop();
  });

  it("time that goes back", async () => {
    const t = await testStrategy(strategy("idle", { wanted: () => NEVER }));
    await t.advance(5_000);
    expect(() => t.feed(`00:00:04 quote ${swap} 1 / 2`)).toThrow("its time is past: the test is at 00:00:05.000");
    await expect(t.advanceTo("00:00:04")).rejects.toThrow('"00:00:04" is no instant from now, 00:00:05.000, on');
    await expect(t.advance(-1)).rejects.toThrow("-1 is not a duration");
    await t.stop();
  });

  it("an advance that is not awaited, and one after the stop", async () => {
    const t = await testStrategy(both());
    const [first, second] = await Promise.allSettled([t.advance(), t.advance()]);
    expect([first.status, second]).toEqual([
      "fulfilled",
      { status: "rejected", reason: expect.objectContaining({ code: "CONFIG_INVALID" }) },
    ]);
    await t.advance();
    expect(t.now).toBe(testStartAt + 200);
    await t.stop();
    await expect(t.advance()).rejects.toThrow("the test was stopped");
  });

  it("a strategy that was not called, and an option that is none", async () => {
    await expect(testStrategy(ladder as never)).rejects.toThrow("Call it with its options");
    await expect(testStrategy(ladder({}), { latency: 25 as never })).rejects.toThrow("test options");
    await expect(testStrategy(ladder({}), { ballances: {} } as never)).rejects.toThrow("ballances");
  });
});

describe("A test of a plugin", () => {
  it("runs it beside a strategy that wants what the test says", async () => {
    const counter = definePlugin({
      name: "counter",
      options: closed,
      setup: ({ on, halt, print }) => {
        on("order.filled", () => {
          print("filled");
          halt("enough").subscribe();
        });
        return from([]).subscribe();
      },
    });
    const t = await testPlugin(counter({}));
    t.want([bid, ask]);
    await t.advance();
    expect(t.open.map(({ slot }) => slot)).toEqual(["bid", "ask"]);
    expect([t.printed, t.mode]).toEqual([[], "active"]);
    t.fill("bid");
    await t.advance(1_000);
    expect([t.printed, t.mode]).toEqual([["filled"], "halted"]);
    expect(t.orders.map(({ slot, phase }) => [slot, phase])).toEqual([
      ["bid", "filled"],
      ["ask", "canceled"],
    ]);
    await t.stop();
  });

  it("fails with the plugin", async () => {
    const broken = definePlugin({
      name: "broken",
      options: closed,
      setup: ({ on }) => {
        on("order.live", () => {
          throw new Error("no luck");
        });
      },
    });
    const t = await testPlugin(broken({}));
    t.want([bid]);
    await expect(t.advance()).rejects.toThrow("no luck");
    await t.stop();
  });
});

describe("What a strategy plots", () => {
  it("is seen by its test with the instant", async () => {
    const t = await testStrategy(
      strategy("plotting", {
        run: ({ market, plot }) => market.quotes(swap).pipe(tap(({ bidPx }) => plot("bid", bidPx, { pane: "price" }))),
      }),
    );
    t.quote(swap, { bidPx: "60000", askPx: "60001" });
    await t.advance();
    expect(t.plots).toEqual([{ at: testStartAt, strategy: "plotting", name: "bid", value: "60000", pane: "price" }]);
    await t.stop();
  });
});
