import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { CcxtTrade } from "../../../plugins/ccxt/ccxt-exchange.ts";
import { ccxtMarket } from "../../../plugins/ccxt/ccxt-market.ts";
import type { CcxtMarketOptions } from "../../../plugins/ccxt/ccxt-prices.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { Tape } from "../../../src/market/tape/tape.ts";
import { CcxtLike, ExchangeError, NetworkError, NotSupported, spot, swap } from "./harness/ccxt-like.ts";

const symbol = "BTC/USDT";
const startAt = 1_700_000_000_000;

/** Rows as text, each with the seconds since the start. */
const rowsIn = ({ series, instruments }: Tape): readonly string[] =>
  series.flatMap((one) =>
    Array.from(one.at, (at, row) => {
      const values =
        one.kind === "quote"
          ? [one.bidPx, one.bidQty, one.askPx, one.askQty]
          : one.kind === "trade"
            ? [one.side, one.px, one.qty]
            : [];
      return `${(at - startAt) / 1_000} ${instruments[one.instrument]?.instId} ${one.kind} ${values.map((column) => column[row]).join(" ")}`;
    }),
  );

const following = async (
  has: Readonly<Record<string, unknown>>,
  change: (exchange: CcxtLike) => void = () => undefined,
  options: Partial<CcxtMarketOptions> = {},
) => {
  const clock = createVirtualClock(startAt);
  const exchange = new CcxtLike(clock.now, 0);
  Object.assign(exchange, { has });
  change(exchange);
  const told: string[] = [];
  const rows: string[] = [];
  const prices = await ccxtMarket(exchange, { instruments: [symbol], ...options }).open({
    clock,
    tell: (what, detail) => told.push(`${what} ${detail}`),
  });
  prices.start((tape) => rows.push(...rowsIn(tape)));
  const pass = async (ms: number): Promise<void> => {
    const until = clock.now() + ms;
    await letPromisesSettle();
    while (clock.step(until)) await letPromisesSettle();
    clock.advanceTo(Math.max(until, clock.now()));
  };
  return { clock, exchange, prices, told, rows, pass };
};

const best = (bid: string, ask: string, bidVolume: string | undefined = "1.5", askVolume: number | undefined = 2) => ({
  [symbol]: { bid, ask, bidVolume, askVolume },
});
const trade = (id: string | undefined, price: string, at = 0): CcxtTrade => ({
  id,
  timestamp: startAt + at,
  side: "buy",
  price,
  amount: "0.0123",
});

describe("Live prices of an exchange", () => {
  it("are told as they come, in ticks and whole lots of base currency, unchanged ones once", async () => {
    const { exchange, rows, pass, told } = await following({ watchBidsAsks: true, watchTrades: true });
    exchange.tell(`best ${symbol}`, best("100.1", "100.3"));
    exchange.tell(`best ${symbol}`, best("100.1", "100.3"));
    await pass(2_000);
    exchange.tell(`best ${symbol}`, best("100.2", "100.3", "0.0019"));
    exchange.tell(`trades ${symbol}`, [trade("a", "100.3")]);
    await pass(0);
    expect(rows).toEqual([
      "0 BTC-USDT quote 1001 1500 1003 2000",
      "2 BTC-USDT quote 1002 1 1003 2000",
      "2 BTC-USDT trade 1 1003 12",
    ]);
    expect(told).toEqual([]);
  });

  it("begin with the last trade of those that were before, and tell each once", async () => {
    const { exchange, rows, pass } = await following({ watchTrades: true, watchBidsAsks: true });
    exchange.tell(`trades ${symbol}`, [trade("a", "100.1", 1), trade("b", "100.2", 2), trade("c", "100.3", 3)]);
    await pass(1_000);
    exchange.tell(`trades ${symbol}`, [
      trade("b", "100.2", 2),
      trade("c", "100.3", 3),
      trade("d", "100.4", 3),
      trade("e", "100.5", 4),
    ]);
    await pass(1_000);
    expect(rows).toEqual(["0 BTC-USDT trade 1 1003 12", "1 BTC-USDT trade 1 1004 12", "1 BTC-USDT trade 1 1005 12"]);
  });

  it("take the next way where one is not there or lacks quantities", async () => {
    const { exchange, rows, pass, told } = await following({
      watchBidsAsks: true,
      watchOrderBook: true,
      watchTrades: true,
    });
    exchange.tell(`best ${symbol}`, new NotSupported("not for spot"));
    exchange.tell(`book ${symbol}`, { bids: [], asks: [[100.3, 1]] });
    exchange.tell(`book ${symbol}`, { bids: [[100.1, 1]], asks: [[100.3, 1]] });
    await pass(0);
    expect(rows).toEqual(["0 BTC-USDT quote 1001 1000 1003 1000"]);
    const second = await following({ watchBidsAsks: true, watchOrderBook: true });
    second.exchange.tell(`best ${symbol}`, { [symbol]: { bid: "100.1", ask: "100.3" } });
    second.exchange.tell(`book ${symbol}`, { bids: [[100.1, 1]], asks: [[100.3, 1]] });
    await second.pass(0);
    expect(second.rows).toEqual(["0 BTC-USDT quote 1001 1000 1003 1000"]);
    expect(told).toEqual(["market.way testex: best prices of BTC-USDT do not come by watchBidsAsks: not for spot"]);
    expect(second.told).toEqual([
      "market.missing testex: it shows no trades of BTC-USDT",
      "market.way testex: best prices of BTC-USDT do not come by watchBidsAsks: it has no quantities",
    ]);
  });

  it("are asked for where they are not pushed", async () => {
    let px = 100;
    const { exchange, rows, pass, prices, clock } = await following(
      { fetchTicker: true, fetchTrades: true },
      (one) => {
        one.fetchTicker = async () => ({ bid: px, bidVolume: 1, ask: px + 0.1, askVolume: 1 });
        one.fetchTrades = async () => [trade(undefined, String(px), (px - 100) * 1_000)];
      },
      { pollMs: 5_000 },
    );
    await pass(4_000);
    px = 101;
    await pass(7_000);
    expect(rows).toEqual([
      "0 BTC-USDT quote 1000 1000 1001 1000",
      "0 BTC-USDT trade 1 1000 12",
      "5 BTC-USDT quote 1010 1000 1011 1000",
      "5 BTC-USDT trade 1 1010 12",
    ]);
    expect(prices.refusal()).toBeUndefined();
    await prices.stop();
    expect([clock.nextAt(), exchange.closed]).toEqual([Number.POSITIVE_INFINITY, 1]);
  });

  it("are stale where only old trades are told", async () => {
    const { pass, prices } = await following({ fetchTrades: true }, (one) => {
      one.fetchTrades = async () => [trade("a", "100.1")];
    });
    await pass(29_000);
    expect(prices.refusal()).toBeUndefined();
    await pass(2_000);
    expect(prices.refusal()).toBe("testex has sent no price for 31 s");
  });

  it("are asked for where the exchange refuses to push them, and asked again where there is no other way", async () => {
    const { exchange, pass, told, rows } = await following(
      { watchTrades: true, watchBidsAsks: true, fetchTrades: true },
      (one) => {
        one.fetchTrades = async () => [trade("a", "100.1")];
      },
    );
    exchange.tell(`trades ${symbol}`, new ExchangeError("needs a key"));
    exchange.tell(`best ${symbol}`, new ExchangeError("wrong message"));
    exchange.tell(`best ${symbol}`, best("100.1", "100.3"));
    await pass(2_000);
    expect(rows).toEqual(["0 BTC-USDT trade 1 1001 12", "1 BTC-USDT quote 1001 1500 1003 2000"]);
    expect(told).toEqual([
      "market.way testex: trades of BTC-USDT do not come by watchTrades: needs a key",
      "market.failed testex: best prices of BTC-USDT: wrong message; tried again until they come",
      "market.back testex: best prices of BTC-USDT come again",
    ]);
  });

  it("come again after a failure, which is told once", async () => {
    const { exchange, rows, pass, told } = await following({ watchBidsAsks: true, watchTrades: true });
    for (let count = 0; count < 4; count++) exchange.tell(`best ${symbol}`, new NetworkError("connection closed 1006"));
    exchange.tell(`best ${symbol}`, best("100.1", "100.3"));
    await pass(14_000);
    expect(rows).toEqual([]);
    await pass(2_000);
    expect(rows).toEqual(["15 BTC-USDT quote 1001 1500 1003 2000"]);
    expect(told).toEqual([
      "market.failed testex: best prices of BTC-USDT: connection closed 1006; tried again until they come",
      "market.back testex: best prices of BTC-USDT come again",
    ]);
  });

  it("leave out a price off the tick, and tell it once", async () => {
    const { exchange, rows, pass, told } = await following({ watchBidsAsks: true, watchTrades: true });
    for (const px of ["100.15", "100.25"]) exchange.tell(`best ${symbol}`, best(px, "100.3"));
    exchange.tell(`trades ${symbol}`, [{ ...trade("a", "100.1"), side: undefined }]);
    await pass(0);
    expect([rows, told]).toEqual([
      [],
      [
        "market.off-tick testex: BTC-USDT: 100.15 and 100.3 is not on the tick 0.1; left out",
        "market.unusable testex: BTC-USDT: trades without a time, a price or a side are left out",
      ],
    ]);
  });

  it("are told to be stale by product, and refused when there are none of any", async () => {
    const markets = { "BTC/USDT": spot("BTC/USDT"), "ETH/USDT:USDT": swap("ETH/USDT:USDT") };
    const instruments = ["BTC-USDT", "ETH-USDT-SWAP"];
    const { exchange, pass, told, prices } = await following(
      { watchBidsAsks: true, watchTrades: true },
      (one) => Object.assign(one, { markets }),
      { instruments, staleMs: 10_000 },
    );
    expect(prices.refusal()).toBe("testex has sent no price yet");
    exchange.tell(`best ${symbol}`, best("100.1", "100.3"));
    await pass(8_000);
    exchange.tell(`best ${symbol}`, best("100.2", "100.3"));
    await pass(9_000);
    expect([told, prices.refusal()]).toEqual([["market.stale testex: no price of ETH-USDT-SWAP for 10 s"], undefined]);
    await pass(8_000);
    expect([told.at(-1), prices.refusal()]).toEqual([
      "market.stale testex: no price of BTC-USDT for 12 s",
      "testex has sent no price for 17 s",
    ]);
  });

  it("do not stop the process where an exchange answers without end at one instant", async () => {
    let asked = 0;
    const { pass, prices } = await following({ watchBidsAsks: true }, (one) => {
      one.watchBidsAsks = async () => {
        asked++;
        return best("100.1", "100.3");
      };
    });
    await pass(5);
    await prices.stop();
    expect(asked).toBeGreaterThan(5);
    expect(asked).toBeLessThan(2_000);
  });

  it.each<[string, object, RegExp]>([
    [
      "steps that depend on the price",
      { markets: { [symbol]: spot(symbol) }, precisionMode: 3 },
      /^DATA_UNAVAILABLE testex states no fixed price step of BTC\/USDT/,
    ],
    [
      "a product that is not traded",
      { markets: { [symbol]: spot(symbol, { active: false }) } },
      /^CONFIG_INVALID testex does not trade BTC\/USDT now/,
    ],
    ["a key", { secret: "s" }, /^CONFIG_INVALID testex: the exchange was made with a key/],
  ])("are refused at the start for %s", async (_, change, message) => {
    const failure = await following({ watchBidsAsks: true }, (one) => Object.assign(one, change)).then(
      () => "none",
      (error: { code: string; message: string }) => `${error.code} ${error.message}`,
    );
    expect(failure).toMatch(message);
  });

  it("count contracts in base currency and tell the exchange's fees and terms", async () => {
    const market = swap("BTC/USDT:USDT", {
      contractSize: 0.01,
      precision: { price: 0.1, amount: 1 },
      limits: { amount: { min: 1 } },
    });
    const { prices } = await following(
      { watchBidsAsks: true },
      (one) => Object.assign(one, { markets: { [market.symbol]: market } }),
      {
        instruments: ["BTC-USDT-SWAP"],
      },
    );
    expect(prices.layout.instruments).toEqual([
      { instId: "BTC-USDT-SWAP", tickSize: "0.1", lotSize: "0.01", minSize: "0.01", contractValue: "0.01" },
    ]);
    expect(prices.fees).toEqual({ SWAP: { makerBps: "2", takerBps: "5" } });
  });

  it("come over a connection", async () => {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    await once(server, "listening");
    server.on("connection", (socket) => {
      for (const bid of [100.1, 100.2]) socket.send(JSON.stringify({ best: best(String(bid), "100.3") }));
      socket.send(JSON.stringify({ trades: [trade("a", "100.3")] }));
    });
    const exchange = new CcxtLike();
    Object.assign(exchange, { has: { watchBidsAsks: true, watchTrades: true } });
    const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    socket.on("message", (data: Buffer) => {
      for (const [what, answer] of Object.entries(JSON.parse(data.toString()) as object))
        exchange.tell(`${what} ${symbol}`, answer);
    });
    exchange.close = async () => socket.close();
    const prices = await ccxtMarket(exchange, { instruments: [symbol] }).open({
      clock: createSystemClock(),
      tell: () => undefined,
    });
    const rows: string[] = [];
    const three = new Promise<void>((resolve) => {
      prices.start((tape) => {
        rows.push(...rowsIn(tape).map((row) => row.replace(/^\S+ /, "")));
        if (rows.length === 3) resolve();
      });
    });
    await three;
    expect(rows.toSorted()).toEqual([
      "BTC-USDT quote 1001 1500 1003 2000",
      "BTC-USDT quote 1002 1500 1003 2000",
      "BTC-USDT trade 1 1003 12",
    ]);
    const closed = once(socket, "close");
    await prices.stop();
    await closed;
    server.close();
  });
});
