import { appendFileSync, existsSync, readdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CcxtBar, CcxtTrade } from "../../../plugins/ccxt/ccxt-exchange.ts";
import { fetchInstruments, fetchMarketData } from "../../../plugins/ccxt/fetch-data.ts";
import type { FetchMarketOptions } from "../../../plugins/ccxt/fetch-market.ts";
import type { Clock } from "../../../src/clock/clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { readFixture } from "../../../src/market/tape/fixture.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { BadSymbol, CcxtLike, NetworkError, type Quirks, RateLimitExceeded, spot, swap } from "./harness/ccxt-like.ts";

const minute = 60_000;
const start = Date.parse("2024-01-01T00:00:00Z");
const iso = (at: number): string => new Date(at).toISOString();

/** Time that jumps to the next timer as soon as nothing else is to do. */
const hastyClock = (): Clock => {
  const inner = createVirtualClock(start + 1_000 * minute);
  return {
    now: inner.now,
    wallNow: inner.now,
    setTimer: (at, run) => {
      const timer = inner.setTimer(at, run);
      setImmediate(() => inner.advanceTo(Math.max(at, inner.now())));
      return timer;
    },
  };
};

const barAt = (index: number): CcxtBar => [
  start + index * minute,
  100 + (index % 7),
  108,
  99.5,
  `${100 + ((index + 1) % 7)}.1`,
  index % 5,
];
const bars = (from: number, to: number): readonly CcxtBar[] =>
  Array.from({ length: to - from }, (_, index) => barAt(from + index));

const exchangeWith = (
  rows: { bars?: readonly CcxtBar[]; trades?: readonly CcxtTrade[] },
  quirks: Quirks = {},
  clock = hastyClock(),
) => {
  const exchange = new CcxtLike(clock.now);
  Object.assign(exchange, rows, { quirks });
  return { exchange, clock };
};

const fetching = ({ exchange, clock }: ReturnType<typeof exchangeWith>, more: Partial<FetchMarketOptions> = {}) => {
  const out = more.out ?? join(temporaryFolder("fetch"), "market");
  const options: FetchMarketOptions = {
    exchange,
    clock,
    symbols: ["BTC-USDT-SWAP"],
    from: iso(start),
    to: iso(start + 20 * minute),
    ...more,
    out,
  };
  return { out, done: fetchMarketData(options) };
};

const closes = (out: string): readonly string[] => {
  const { tape } = readFixture(out);
  const [series] = tape.series;
  if (series?.kind !== "candle") throw new Error("no bars");
  const tick = Number(tape.instruments[0]?.tickSize);
  return [...series.close].map(
    (count, row) => `${((series.at[row] as number) - start) / minute} ${(count * tick).toFixed(1)}`,
  );
};

const closesOf = (rows: readonly CcxtBar[]): readonly string[] =>
  rows.map(([at = 0, , , , close]) => `${(at - start) / minute + 1} ${Number(close).toFixed(1)}`);

describe("Fetched bars", () => {
  it.each<[string, Quirks]>([
    ["in pages from an instant on", { cap: 7 }],
    ["newest first, the last of what was asked for", { cap: 7, newest: true }],
    ["in one page", {}],
    ["after the instant that was asked for", { cap: 7, exclusive: true }],
    ["in answers that reach so far only", { cap: 7, reachMs: 3 * minute }],
  ])("are the same whatever the exchange shows: %s", async (_, quirks) => {
    const all = bars(0, 40);
    const { out, done } = fetching(exchangeWith({ bars: all }, quirks));
    const { gaps, rows } = await done;
    expect(closes(out)).toEqual(closesOf(all.slice(0, 20)));
    expect([gaps.length, rows]).toEqual([0, 20]);
  });

  it("leave out the bar that has not closed and those after the end", async () => {
    const clock = createVirtualClock(start + 10.5 * minute);
    const made = exchangeWith({ bars: bars(0, 40) }, {}, clock);
    const { out, done } = fetching(made);
    expect((await done).rows).toBe(10);
    expect(closes(out).at(-1)).toBe(closesOf([barAt(9)])[0]);
  });

  it("tell the gaps: at the beginning, within and at the end", async () => {
    const { done } = fetching(exchangeWith({ bars: [...bars(3, 8), ...bars(10, 15)] }, { cap: 4 }));
    const { gaps, notes } = await done;
    const span = (from: number, to: number) => ({
      instId: "BTC-USDT-SWAP",
      from: iso(start + from * minute),
      to: iso(start + to * minute),
      bars: to - from,
    });
    expect(gaps).toEqual([span(0, 3), span(8, 10), span(15, 20)]);
    expect(notes).toEqual([
      { what: "gaps between bars", count: 3 },
      { what: "bars missing in gaps", count: 10 },
    ]);
  });

  it("find the first bar behind many empty pages", async () => {
    const { out, done } = fetching(exchangeWith({ bars: bars(700, 720) }, { reachMs: 100 * minute }), {
      to: iso(start + 720 * minute),
    });
    expect((await done).rows).toBe(20);
    expect(closes(out)).toEqual(closesOf(bars(700, 720)));
  });

  it("keep every digit of prices, on steps that divide them all", async () => {
    const one: CcxtBar = [start, "0.00001234", "0.0000125", 1.2e-5, "0.0000123456789", "123456789.12345"];
    const { out, done } = fetching(exchangeWith({ bars: [one] }));
    expect((await done).instruments).toEqual([
      { instId: "BTC-USDT-SWAP", tickSize: "0.0000000000001", lotSize: "0.00005" },
    ]);
    const { tape } = readFixture(out);
    expect(tape.series[0]).toMatchObject({
      low: Float64Array.of(120_000_000),
      close: Float64Array.of(123_456_789),
      volume: Float64Array.of(2_469_135_782_469),
    });
  });

  it("are added to a fixture, twice without harm, and replaced only by force", async () => {
    const all = bars(0, 40);
    const { out, done } = fetching(exchangeWith({ bars: all }));
    await done;
    const more = { out, to: iso(start + 30 * minute) };
    expect((await fetching(exchangeWith({ bars: all }), more).done).rows).toBe(30);
    const changed = all.map((bar): CcxtBar => [bar[0], bar[1], 109, ...bar.slice(3)] as unknown as CcxtBar);
    await expect(fetching(exchangeWith({ bars: changed }), more).done).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining("--force"),
    });
    expect(closes(out)).toEqual(closesOf(all.slice(0, 30)));
    expect((await fetching(exchangeWith({ bars: changed }), { out, force: true }).done).notes).toContainEqual({
      what: "rows replaced",
      count: 20,
    });
  });
});

const trade = (at: number, id: string | undefined, qty = "0.002"): CcxtTrade => ({
  id,
  timestamp: start + at,
  side: at % 2 ? "sell" : "buy",
  price: 60_000.1,
  amount: qty,
});

const tradesIn = (out: string): readonly string[] => {
  const { tape } = readFixture(out);
  const [series] = tape.series;
  if (series?.kind !== "trade") throw new Error("no trades");
  return [...series.at].map(
    (at, row) =>
      `${at - start} ${series.side[row]} ${(series.qty[row] as number) * Number(tape.instruments[0]?.lotSize)}`,
  );
};

describe("Fetched trades", () => {
  /** Several share an instant, also over the edges of pages, and some are alike. */
  const instants = [0, 5, 5, 5, 5, 9, 9, 9, 20, 20, 31, 31, 31, 40, 41, 42, 42, 42, 55];
  const expected = instants.map((at) => `${at} ${at % 2 ? -1 : 1} 0.002`);

  it.each<[string, boolean, Quirks]>([
    ["by id", true, { cap: 5 }],
    ["without ids", false, { cap: 5 }],
    ["by id, after the instant", true, { cap: 6, exclusive: true }],
    ["by id, an hour at a time", true, { cap: 5, reachMs: 3_600_000 }],
    ["without ids, in one page", false, {}],
  ])("are there once each, %s", async (_, named, quirks) => {
    const trades = instants.map((at, index) => trade(at, named ? `t${index}` : undefined));
    const { out, done } = fetching(exchangeWith({ trades }, quirks), { kind: "trades", to: iso(start + 60) });
    expect((await done).gaps).toEqual([]);
    expect(tradesIn(out)).toEqual(expected);
  });

  it("tell where an instant holds more than a page", async () => {
    const trades = [trade(0, "a"), ...Array.from({ length: 9 }, (_, index) => trade(4, `b${index}`)), trade(8, "c")];
    const { out, done } = fetching(exchangeWith({ trades }, { cap: 5 }), { kind: "trades", to: iso(start + 60) });
    const { gaps } = await done;
    expect(gaps).toEqual([{ instId: "BTC-USDT-SWAP", from: iso(start + 4), to: iso(start + 5) }]);
    expect(tradesIn(out)).toContain("8 1 0.002");
  });

  it("are not lost where an instant and the one before it fill a page", async () => {
    const trades = [...[3, 3, 3, 4, 4, 4, 4].map((at, index) => trade(at, `a${index}`)), trade(9, "z")];
    const { out, done } = fetching(exchangeWith({ trades }, { cap: 5 }), { kind: "trades", to: iso(start + 60) });
    expect([(await done).gaps, tradesIn(out).length]).toEqual([[], 8]);
  });

  it("tell what an exchange did not show that keeps only the newest", async () => {
    const trades = Array.from({ length: 50 }, (_, index) => trade(index * 1_000_000, `t${index}`));
    const { done } = fetching(exchangeWith({ trades }, { cap: 5, newest: true }), {
      kind: "trades",
      to: iso(start + 50 * 1_000_000),
    });
    const { gaps, rows } = await done;
    expect(rows).toBe(5);
    expect(gaps).toEqual([{ instId: "BTC-USDT-SWAP", from: iso(start), to: iso(start + 45 * 1_000_000) }]);
  });

  it("are added before and after those a fixture holds, beside bars, and never into them", async () => {
    const trades = [5, 15, 25, 35].map((second) => trade(second * 1_000, `t${second}`));
    const within = (from: number, to: number) => ({
      kind: "trades" as const,
      from: iso(start + from * 1_000),
      to: iso(start + to * 1_000),
    });
    const { out, done } = fetching(exchangeWith({ bars: bars(0, 40) }));
    await done;
    await fetching(exchangeWith({ trades }), { out, ...within(10, 20) }).done;
    await fetching(exchangeWith({ trades }), { out, ...within(20, 30) }).done;
    expect((await fetching(exchangeWith({ trades }), { out, ...within(0, 10) }).done).rows).toBe(23);
    const again = exchangeWith({ trades });
    await expect(fetching(again, { out, ...within(22, 40) }).done).rejects.toMatchObject({
      message: expect.stringContaining("holds trades of BTC-USDT-SWAP from"),
    });
    expect(again.exchange.asked).toEqual([]);
  });

  it("count contracts in base currency", async () => {
    const made = exchangeWith({ trades: [trade(1, "a", "3")] });
    made.exchange.markets = {
      "BTC/USDT:USDT": swap("BTC/USDT:USDT", { contractSize: 0.01, precision: { price: 0.1, amount: 1 } }),
    };
    const { out, done } = fetching(made, { kind: "trades" });
    expect((await done).instruments).toEqual([{ instId: "BTC-USDT-SWAP", tickSize: "0.1", lotSize: "0.01" }]);
    expect(tradesIn(out)).toEqual(["1 -1 0.03"]);
  });

  it("leave out what lacks a side, and count it", async () => {
    const { done } = fetching(exchangeWith({ trades: [trade(1, "a"), { ...trade(2, "b"), side: undefined }] }), {
      kind: "trades",
    });
    expect(await done).toMatchObject({
      rows: 1,
      notes: [{ what: "rows without a time, a price or a side, dropped", count: 1 }],
    });
  });
});

const filesOf = (out: string): Readonly<Record<string, string>> =>
  Object.fromEntries(readdirSync(out).map((name) => [name, readFileSync(join(out, name), "base64")]));

describe("A fetch that is interrupted", () => {
  const all = bars(0, 40);

  it("goes on where it was, after a stop and after a line that was cut off, with the same bytes in the end", async () => {
    const whole = fetching(exchangeWith({ bars: all }, { cap: 3 }));
    await whole.done;
    const stop = new AbortController();
    const first = exchangeWith({ bars: all }, { cap: 3 });
    const begun = fetching(first, {
      signal: stop.signal,
      onProgress: ({ done }) => (done > 0.4 ? stop.abort() : undefined),
    });
    await expect(begun.done).rejects.toMatchObject({
      code: "STOPPED",
      message: expect.stringContaining(`${begun.out}.part; the same command`),
    });
    expect([existsSync(begun.out), first.exchange.closed]).toEqual([false, 1]);
    const [part = ""] = readdirSync(`${begun.out}.part`);
    appendFileSync(join(`${begun.out}.part`, part), '{"rows":[[17040');
    const second = exchangeWith({ bars: all }, { cap: 3 });
    await fetching(second, { out: begun.out }).done;
    expect(filesOf(begun.out)).toEqual(filesOf(whole.out));
    expect(second.exchange.asked[0]?.since).toBe(start + 9 * minute - 1);
    expect(existsSync(`${begun.out}.part`)).toBe(false);
  });

  it("goes on from the last whole page wherever its file was cut off", async () => {
    const whole = fetching(exchangeWith({ bars: all }, { cap: 3 }));
    await whole.done;
    for (const cut of [0, 1, 400, 700]) {
      const failing = exchangeWith({ bars: all }, { cap: 3 });
      failing.exchange.failures.push(undefined, undefined, undefined, undefined, new BadSymbol("gone"));
      const begun = fetching(failing);
      await expect(begun.done).rejects.toMatchObject({
        code: "DATA_UNAVAILABLE",
        message: expect.stringMatching(/testex: .*gone.*continues from there/),
      });
      const [part = ""] = readdirSync(`${begun.out}.part`);
      truncateSync(join(`${begun.out}.part`, part), cut);
      await fetching(exchangeWith({ bars: all }, { cap: 3 }), { out: begun.out }).done;
      expect(filesOf(begun.out)).toEqual(filesOf(whole.out));
    }
  });
});

describe("Requests to an exchange", () => {
  it("keep to its limit by their cost, whatever it answers", async () => {
    const clock = hastyClock();
    const exchange = new CcxtLike(clock.now, 4);
    Object.assign(exchange, { bars: bars(0, 40), quirks: { cap: 1 } });
    await fetching({ exchange, clock }).done;
    const times = exchange.asked.map(({ at }) => at);
    expect(exchange.enableRateLimit).toBe(false);
    expect(times.length).toBe(20);
    // 400 ms each: two fit a second.
    for (const at of times)
      expect(times.filter((other) => other >= at && other < at + 1_000).length).toBeLessThanOrEqual(2);
  });

  it("are repeated after failures that pass, later each time, and wait as long as a refusal asks", async () => {
    const made = exchangeWith({ bars: bars(0, 40) });
    const { exchange } = made;
    exchange.last_response_headers = { "Retry-After": "42" };
    exchange.failures.push(
      new NetworkError("no route"),
      new NetworkError("no route"),
      new RateLimitExceeded("429 slow down"),
      undefined,
    );
    const told: string[] = [];
    await fetching(made, { onNote: (what, detail) => told.push(`${what} ${detail}`) }).done;
    expect(told).toEqual([
      "exchange.network testex: no route; asked again in 1 s",
      "exchange.network testex: no route; asked again in 2 s",
      "exchange.limited testex: 429 slow down; asked again in 42 s",
    ]);
    const [a, b, c, d] = exchange.asked.map(({ at }) => at) as [number, number, number, number];
    expect([b - a, c - b, d - c]).toEqual([1_000, 2_000, 42_000]);
  });

  it("are given up after a bounded number of failures", async () => {
    const made = exchangeWith({ bars: bars(0, 40) });
    for (let count = 0; count < 20; count++) made.exchange.failures.push(new NetworkError("no route"));
    await expect(fetching(made).done).rejects.toMatchObject({
      code: "DATA_UNAVAILABLE",
      message: expect.stringContaining("no route"),
    });
    expect(made.exchange.asked.length).toBe(8);
  });
});

describe("What is asked for wrongly", () => {
  const refused = async (more: Partial<FetchMarketOptions>, change: (exchange: CcxtLike) => void = () => undefined) => {
    const made = exchangeWith({ bars: bars(0, 40) });
    change(made.exchange);
    return fetching(made, more).done.then(
      () => "done",
      (error: { code: string; message: string }) => `${error.code} ${error.message}`,
    );
  };
  const markets = {
    "BTC/USDT": spot("BTC/USDT"),
    "BTC/USD:BTC": swap("BTC/USD:BTC", { inverse: true }),
    "BTC/USDC:USDT": swap("BTC/USDC:USDT"),
    "BTC/USDT:USDT-240329": { ...spot("BTC/USDT:USDT-240329"), spot: false },
  };

  it.each<[string, Partial<FetchMarketOptions>, RegExp]>([
    [
      "an unknown product",
      { symbols: ["BTC/USDX"] },
      /^INSTRUMENT_UNKNOWN testex lists no BTC\/USDX\. Did you mean "BTC\/USDT"\?/,
    ],
    ["an inverse contract", { symbols: ["BTC/USD:BTC"] }, /^USAGE testex: BTC\/USD:BTC is an inverse contract/],
    [
      "another settlement",
      { symbols: ["BTC/USDC:USDT"] },
      /^USAGE testex: BTC\/USDC:USDT is settled in USDT, not in its quote currency USDC/,
    ],
    ["a dated future", { symbols: ["BTC/USDT:USDT-240329"] }, /^USAGE testex: .* is neither spot nor a perpetual swap/],
    [
      "a length the exchange lacks",
      { symbols: ["BTC/USDT"], bar: "2m" },
      /^USAGE testex has no bars of 2m\. It has 1m, 5m, 1h, 1d\./,
    ],
    ["no length", { bar: "1w" }, /^USAGE bar: "1w" is not a length/],
    ["an instant that is none", { from: "yesterday" }, /^USAGE from: "yesterday" is not an instant/],
    ["no time", { from: "2030-01-01" }, /^USAGE from 2030-01-01 .* no time between them that has passed/],
    [
      "nothing",
      { symbols: ["BTC/USDT"], from: "2023-01-01", to: "2023-01-02" },
      /^DATA_UNAVAILABLE testex shows nothing of BTC\/USDT from 2023-01-01/,
    ],
  ])("is refused by name: %s", async (_, more, message) => {
    expect(await refused(more, (exchange) => Object.assign(exchange, { markets }))).toMatch(message);
  });

  it("is refused where the exchange was made with a key", async () => {
    expect(await refused({}, (exchange) => Object.assign(exchange, { apiKey: "k" }))).toMatch(
      /^CONFIG_INVALID testex: the exchange was made with a key/,
    );
  });

  it("is refused with the command that installs ccxt where that is missing", async () => {
    expect(await refused({ exchange: "binance" })).toBe(
      "CONFIG_INVALID ccxt is not installed. Install it next to Sluice: npm install ccxt",
    );
  });
});

describe("The terms of products", () => {
  it.each<[string, number, object, object]>([
    ["steps as they are", 4, { price: 0.01, amount: 1e-8 }, { tickSize: "0.01", lotSize: "0.00000001" }],
    ["decimal places", 2, { price: 2, amount: 0 }, { tickSize: "0.01", lotSize: "1" }],
    ["significant digits", 3, { price: 5, amount: 8 }, {}],
  ])("are read by the way the exchange counts precision: %s", async (_, precisionMode, precision, steps) => {
    const exchange = Object.assign(new CcxtLike(), {
      precisionMode,
      markets: { "BTC/USDT": spot("BTC/USDT", { precision }) },
    });
    const [terms] = await fetchInstruments({ exchange, symbols: ["BTC/USDT"] });
    expect(terms).toEqual({
      instId: "BTC-USDT",
      symbol: "BTC/USDT",
      ...steps,
      makerBps: "10",
      takerBps: "10",
      active: true,
    });
  });

  it("count the sizes of contracts in base currency", async () => {
    const market = swap("BTC/USDT:USDT", {
      contractSize: 0.01,
      precision: { price: 0.1, amount: 0.1 },
      limits: { amount: { min: 0.1 } },
    });
    const exchange = Object.assign(new CcxtLike(), { markets: { [market.symbol]: market } });
    const [terms] = await fetchInstruments({ exchange, symbols: ["BTC-USDT-SWAP"] });
    expect(terms).toMatchObject({
      tickSize: "0.1",
      lotSize: "0.001",
      minSize: "0.001",
      contractValue: "0.01",
      makerBps: "2",
      takerBps: "5",
    });
  });
});
