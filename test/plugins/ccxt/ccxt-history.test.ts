import { describe, expect, it } from "vitest";
import type { CcxtBar } from "../../../plugins/ccxt/ccxt-exchange.ts";
import { fromCcxt } from "../../../plugins/ccxt/index.ts";
import { CcxtLike, NetworkError, swap } from "./harness/ccxt-like.ts";

const start = Date.parse("2024-01-01T00:00:00Z");
const bars = (lengthMs: number, count: number): readonly CcxtBar[] =>
  Array.from({ length: count }, (_, index) => [start + index * lengthMs, 100, 110, 90, 100 + index, "1.5"]);

const exchangeWith = (change: Partial<CcxtLike>) => Object.assign(new CcxtLike(() => 0, 0), change);

describe("Bars of an exchange as history", () => {
  it("are those from the first instant to the last, as decimal text", async () => {
    const source = fromCcxt(exchangeWith({ bars: bars(60_000, 10) }));
    const found = await source.candles("BTC-USDT", 60_000, start + 120_000, start + 270_000, 3);
    expect(found).toEqual([
      {
        openedAt: start + 120_000,
        at: start + 180_000,
        open: "100",
        high: "110",
        low: "90",
        close: "102",
        volume: "1.5",
      },
      {
        openedAt: start + 180_000,
        at: start + 240_000,
        open: "100",
        high: "110",
        low: "90",
        close: "103",
        volume: "1.5",
      },
    ]);
    expect(source.name).toBe('fromCcxt("testex")');
  });

  it("are shorter ones where the exchange lacks the length", async () => {
    const source = fromCcxt(exchangeWith({ bars: bars(300_000, 12) }));
    const found = await source.candles("BTC-USDT", 900_000, start, start + 1_800_000, 2);
    expect(found.map(({ openedAt, at = 0 }) => [openedAt - start, at - openedAt])).toEqual(
      [0, 1, 2, 3, 4, 5].map((index) => [index * 300_000, 300_000]),
    );
  });

  it("count contracts in base currency at exchanges that count contracts", async () => {
    const markets = { "BTC/USDT:USDT": swap("BTC/USDT:USDT", { contractSize: 0.0001 }) };
    const source = fromCcxt(exchangeWith({ id: "gate", markets, bars: bars(60_000, 1) }));
    expect(await source.candles("BTC-USDT-SWAP", 60_000, start, start + 60_000, 1)).toMatchObject([
      { volume: "0.00015" },
    ]);
  });

  it("are refused for a product that is not there, and once more after the exchange was", async () => {
    const exchange = exchangeWith({ bars: bars(60_000, 1) });
    let isThere = false;
    exchange.loadMarkets = async () => {
      if (!isThere) throw new NetworkError("no route");
      return exchange.markets;
    };
    const source = fromCcxt(exchange);
    await expect(source.candles("BTC-USDT", 60_000, start, start + 60_000, 1)).rejects.toThrow("testex: no route");
    isThere = true;
    await expect(source.candles("XBT-USDT", 60_000, start, start + 60_000, 1)).rejects.toMatchObject({
      code: "INSTRUMENT_UNKNOWN",
    });
    expect(await source.candles("BTC-USDT", 60_000, start, start + 60_000, 1)).toHaveLength(1);
  });
});
