/** Stops of strategies in the engine: on quotes, on trades and on bars alone, with money counted by hand. */
import { concat, NEVER, type Observable, of, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import {
  definePlugin,
  defineStrategy,
  type Protect,
  stopLoss,
  type Wanted,
  type WantedOrder,
} from "../../../src/index.ts";
import { testPlugin, testStrategy } from "../../../src/testing.ts";

const btc = "BTC-USDT-SWAP";
const options = { type: "object", additionalProperties: false, properties: {} } as const;
const wanting = (wanted$: Observable<readonly Wanted[]>, name = "s") =>
  defineStrategy({ name, options, wanted: () => wanted$ })({});
const long = (protect: Protect): WantedOrder => ({
  slot: "long",
  instId: btc,
  side: "buy",
  ordType: "market",
  qty: "0.1",
  protect,
});

describe("A stop in the engine under test", () => {
  it("leaves with the quote that reaches it, and the money is what it should be", async () => {
    const t = await testStrategy(wanting(concat(of([long({ stopLoss: { percent: "1" } })]), NEVER)), {
      fees: { makerBps: "2", takerBps: "5" },
    });
    t.feed(`00:00:01 quote ${btc} 60000 x 5 / 60000.1 x 5`);
    await t.advance(1_500);
    expect(t.position(btc)).toBe("0.1");
    t.feed(`00:00:02 quote ${btc} 59400.2 x 5 / 59400.3 x 5`);
    await t.advance(1_500);
    expect(t.position(btc)).toBe("0.1");
    t.feed(`00:00:03 quote ${btc} 59400.1 x 5 / 59400.2 x 5`);
    await t.advance(10);
    // The way to the exchange takes 10 ms.
    expect(t.fills.map(({ side, px, qty }) => `${side} ${qty} at ${px}`)).toEqual([
      "buy 0.1 at 60000.1",
      "sell 0.1 at 59400.1",
    ]);
    await t.advance(1_000);
    expect(t.position(btc)).toBe("0");
    // 0.1 × (59400.1 − 60000.1) = −60; 5 bps of 6000.01 and 5940.01 are 3.000005 and 2.970005.
    expect(t.events.filter(({ type }) => type === "fill")).toMatchObject([
      { slot: "long", cost: "3.000005" },
      { slot: "long.exit", cost: "2.970005", position: "0" },
    ]);
    await t.stop();
  });

  it("is triggered by the last trade where that is asked for, whatever is quoted", async () => {
    const t = await testStrategy(wanting(concat(of([long({ stopLoss: "59000", trigger: "last" })]), NEVER)));
    t.feed(`00:00:01 quote ${btc} 60000 x 5 / 60000.1 x 5`);
    await t.advance(1_500);
    t.feed(`+1s quote ${btc} 58000 x 5 / 58000.1 x 5`);
    await t.advance(2_000);
    expect(t.position(btc)).toBe("0.1");
    t.feed(`+1s trade ${btc} sell 0.001 at 59000`);
    await t.advance(2_000);
    expect(t.position(btc)).toBe("0");
    await t.stop();
  });

  it("by bars is looked for at the low of each one that began after the entry", async () => {
    const wanted$ = new Subject<readonly Wanted[]>();
    const t = await testStrategy(wanting(wanted$));
    t.feed(`00:00:01 quote ${btc} 60000 x 5 / 60000.1 x 5`);
    t.feed(`00:01:00 candle ${btc} 1m 60000 60000 60000 60000 volume 1000`);
    await t.advanceTo("00:01:30");
    wanted$.next([long({ stopLoss: "59500", trigger: "last" })]);
    // It began before the entry: its low may lie there.
    t.feed(`00:02:00 candle ${btc} 1m 60000 60000 59000 59900 volume 1000`);
    await t.advanceTo("00:02:30");
    expect(t.position(btc)).toBe("0.1");
    t.feed(`00:03:00 candle ${btc} 1m 59900 60000 59501 59900 volume 1000`);
    await t.advanceTo("00:03:30");
    expect(t.position(btc)).toBe("0.1");
    t.feed(`00:04:00 candle ${btc} 1m 59900 60000 59500 59900 volume 1000`);
    await t.advanceTo("00:04:30");
    expect(t.position(btc)).toBe("0");
    expect(t.events.filter(({ type }) => type === "protection.triggered")).toMatchObject([
      { px: "59500", triggerPx: "59500" },
    ]);
    await t.stop();
  });

  it("is of the strategy that asked for it, beside another that holds the opposite, and their sum is the account's", async () => {
    const short: WantedOrder = { slot: "short", instId: btc, side: "sell", ordType: "market", qty: "0.3" };
    const other = wanting(concat(of([short, stopLoss(btc, { percent: "2" })]), NEVER), "other");
    const nothing = definePlugin({ name: "nothing", options, setup: () => undefined })({});
    const t = await testPlugin(nothing, {
      strategies: [wanting(concat(of([long({ stopLoss: "59000" })]), NEVER)), other],
    });
    t.feed(`00:00:01 quote ${btc} 60000 x 5 / 60000.1 x 5`);
    await t.advance(2_000);
    expect(t.position(btc)).toBe("-0.2");
    t.feed(`00:00:03 quote ${btc} 59000 x 5 / 59000.1 x 5`);
    await t.advance(2_000);
    // The long one is closed although the account as a whole is short; the short one stays.
    expect(t.position(btc)).toBe("-0.3");
    t.feed(`00:00:05 quote ${btc} 61200 x 5 / 61200.1 x 5`);
    await t.advance(2_000);
    expect(t.position(btc)).toBe("0");
    await t.stop();
  });
});
