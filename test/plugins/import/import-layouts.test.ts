/** Files of rows in the layouts of exchanges and programs: each is recognised, and its rows are those of the text. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type RecordingOptions, readRecording } from "../../../plugins/import/read-recording.ts";
import { add, grid } from "../../../src/decimal.ts";
import { columnsOf, type Series, type Tape } from "../../../src/market/tape/tape.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("layouts");

let counter = 0;
const stored = (text: string | Uint8Array, ending = "csv"): string => {
  const file = join(home, `rows-${counter++}.${ending}`);
  writeFileSync(file, text);
  return file;
};
const read = (text: string, options: Partial<RecordingOptions> = {}) =>
  readRecording({ file: stored(text), instrument: "BTC-USDT-SWAP", ...options });

/** All values of a column as decimal text. */
const texts = (tape: Tape, kind: Series["kind"], column: number, step: "tickSize" | "lotSize"): readonly string[] => {
  const series = tape.series.find((one) => one.kind === kind) as Series;
  const { format } = grid(tape.instruments[0]?.[step] ?? "1");
  return Array.from(columnsOf(series)[column] as Float64Array, (count) => format(count));
};
const sum = (values: readonly string[]): string => values.reduce(add, "0");
const atOf = (tape: Tape): readonly number[] => [...(tape.series[0]?.at ?? [])];

/** By floats, which share nothing with the importer's decimals. */
const plainSum = (values: readonly string[]): number =>
  Number(values.reduce((total, value) => total + Number(value), 0).toFixed(9));

const start = Date.UTC(2024, 0, 1);
const minute = 60_000;
/** 400 bars, so that the sample that shows the layout is not all of the file. */
const bars = Array.from({ length: 400 }, (_, index) => {
  const open = 42_000 + ((index * 37) % 100) / 10;
  return {
    at: start + index * minute,
    prices: [open, open + 3.5, open - 2.2, open + 1.1].map((px) => px.toFixed(1)),
    volume: (((index * 7) % 50) + 0.125).toFixed(3),
  };
});

const klines = (unitMs: number, header: boolean): string =>
  [
    ...(header
      ? [
          "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore",
        ]
      : []),
    ...bars.map(({ at, prices, volume }) => {
      const end = unitMs === 1 ? at + minute - 1 : (at + minute) * 1_000 - 1;
      return `${at * unitMs},${prices.join(",")},${volume},${end},2240.39,13,401.82,1669.98,0`;
    }),
  ].join("\n");
const headed = (header: string, row: (bar: (typeof bars)[number]) => string, list = bars): string =>
  [header, ...list.map(row)].join("\n");
const iso = (at: number): string => new Date(at).toISOString();

describe("Files of bars are read in the layout of", () => {
  it.each<[string, string, string, Partial<RecordingOptions>]>([
    ["Binance Vision, with a header", "binance-klines", klines(1, true), {}],
    ["Binance Vision, without one", "binance-klines", klines(1, false), {}],
    ["Binance Vision in microseconds", "binance-klines", klines(1_000, false), {}],
    [
      "OKX, of swaps by the volume in base currency",
      "okx-candles",
      headed(
        "instrument_name,open,high,low,close,vol,vol_ccy,vol_quote,open_time,confirm",
        ({ at, prices, volume }) => `BTC-USDT-SWAP,${prices.join(",")},${Number(volume) * 100},${volume},1,${at},1`,
      ),
      {},
    ],
    [
      "OKX, of spot pairs by the volume in base currency",
      "okx-candles",
      headed(
        "instrument_name,open,high,low,close,vol,vol_ccy,vol_quote,open_time,confirm",
        ({ at, prices, volume }) => `BTC-USDT,${prices.join(",")},${volume},4242,4242,${at},1`,
      ),
      { instrument: "BTC-USDT" },
    ],
    [
      "freqtrade and ccxt JSON",
      "ohlcv",
      JSON.stringify(bars.map(({ at, prices, volume }) => [at, ...prices.map(Number), Number(volume)])),
      {},
    ],
    [
      "Kraken without a header, in seconds",
      "ohlcv-count",
      bars.map(({ at, prices, volume }) => `${at / 1_000},${prices.join(",")},${volume},7`).join("\n"),
      {},
    ],
    [
      "Bitfinex, close before high",
      "bitfinex-candles",
      JSON.stringify(
        bars
          .map(({ at, prices: [o, h, l, c], volume }) => [
            at,
            Number(o),
            Number(c),
            Number(h),
            Number(l),
            Number(volume),
          ])
          .reverse(),
      ),
      {},
    ],
    [
      "Coinbase, low before high",
      "coinbase-candles",
      JSON.stringify(
        bars
          .map(({ at, prices: [o, h, l, c], volume }) => [
            at / 1_000,
            Number(l),
            Number(h),
            Number(o),
            Number(c),
            Number(volume),
          ])
          .reverse(),
      ),
      {},
    ],
    [
      "CryptoDataDownload, newest first below its address",
      "cryptodatadownload",
      `https://www.CryptoDataDownload.com\n${headed(
        "Unix,Date,Symbol,Open,High,Low,Close,Volume BTC,Volume USDT,tradecount",
        ({ at, prices, volume }) =>
          `${at},${iso(at).slice(0, 19).replace("T", " ")},BTCUSDT,${prices.join(",")},${volume},999999,17`,
        [...bars].reverse(),
      )}\n`,
      {},
    ],
    [
      "TradingView, in seconds",
      "candles",
      headed(
        "time,open,high,low,close,Volume,MA",
        ({ at, prices, volume }) => `${at / 1_000},${prices.join(",")},${volume},1.5`,
      ),
      {},
    ],
    [
      "TradingView, in ISO with a zone",
      "candles",
      headed(
        "time,open,high,low,close,Volume",
        ({ at, prices, volume }) => `${iso(at + 3_600_000).slice(0, 19)}+01:00,${prices.join(",")},${volume}`,
      ),
      {},
    ],
    [
      "a spreadsheet with semicolons, quotes and other names",
      "candles",
      headed(
        '"Vol";"C";"L";"H";"O";"Date"',
        ({ at, prices: [o, h, l, c], volume }) => `"${volume}";"${c}";"${l}";"${h}";"${o}";"${iso(at)}"`,
      ),
      {},
    ],
    [
      "tabs, with date and time apart",
      "candles",
      headed(
        "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<VOL>",
        ({ at, prices, volume }) =>
          `${iso(at).slice(0, 10).replaceAll("-", ".")}\t${iso(at).slice(11, 19)}\t${prices.join("\t")}\t${volume}`,
      ),
      {},
    ],
    [
      "JSON objects, one a line",
      "candles",
      bars.map(({ at, prices: [o, h, l, c], volume }) => JSON.stringify({ t: at, o, h, l, c, v: volume })).join("\n"),
      {},
    ],
  ])("%s", async (_, layout, text, options) => {
    const { tape, found, meta } = await read(text, options);
    expect(found?.plan.layout.name).toBe(layout);
    expect(found?.rows).toBe(bars.length);
    expect(atOf(tape)).toEqual(bars.map(({ at }) => at + minute));
    for (const [index] of ["open", "high", "low", "close"].entries())
      expect(texts(tape, "candle", index, "tickSize").map(Number)).toEqual(
        bars.map(({ prices }) => Number(prices[index])),
      );
    expect(sum(texts(tape, "candle", 4, "lotSize"))).toBe(String(plainSum(bars.map(({ volume }) => volume))));
    expect(tape.instruments[0]).toMatchObject({ tickSize: "0.1", lotSize: "0.00000001" });
    expect(meta.notes?.filter(({ what }) => !what.includes("newest first"))).toEqual([]);
  });

  it("Yahoo, without the days that have no prices, and with a warning of its volumes", async () => {
    const text =
      "Date,Open,High,Low,Close,Adj Close,Volume\n2024-01-01,1,2,0.5,1.5,1.4,100\n2024-01-02,null,null,null,null,null,null\n2024-01-03,1.5,2,1,1.25,1.2,300\n2024-01-04,1,2,0.5,1.5,1.4,100\n";
    const { tape, found, meta } = await read(text);
    expect(found?.plan.layout.name).toBe("yahoo");
    expect(texts(tape, "candle", 3, "tickSize")).toEqual(["1.5", "1.25", "1.5"]);
    expect(meta.notes?.map(({ what, count }) => `${what}: ${count}`)).toEqual([
      expect.stringContaining("volume of currencies in the quote currency"),
      "rows without prices, dropped: 1",
      "gaps between bars: 1",
      "bars missing in gaps: 1",
    ]);
  });

  it("one day in one row, whose length a column tells", async () => {
    const { tape } = await read("1704067200000,1,2,0.5,1.5,10,1704153599999,15,3,5,7,0\n");
    expect([tape.series[0]?.kind === "candle" && tape.series[0].barMs, tape.startAt]).toEqual([
      86_400_000, 1_704_153_600_000,
    ]);
  });

  it("numbers with exponents, as programs write small ones", async () => {
    const { tape } = await read(
      "[[1704067200000,1.2e-7,2E-7,1e-07,1.5e-7,2.5e+3],[1704067260000,1.2e-7,2e-7,1e-7,0.00000015,1]]",
    );
    expect(texts(tape, "candle", 0, "tickSize")).toEqual(["0.00000012", "0.00000012"]);
    expect(texts(tape, "candle", 3, "tickSize")).toEqual(["0.00000015", "0.00000015"]);
    expect(texts(tape, "candle", 4, "lotSize")).toEqual(["2500", "1"]);
  });

  it("numbers of JSON to their last digit", async () => {
    const { tape } = await read(
      "[[1704067200000,0.1000000000000002,0.1000000000000003,0.1,0.1000000000000002,1],[1704067260000,0.1,0.1,0.1,0.1,1]]",
    );
    expect(texts(tape, "candle", 3, "tickSize")[0]).toBe("0.1000000000000002");
  });
});

interface Trade {
  readonly at: number;
  readonly px: string;
  readonly qty: string;
  readonly bought: boolean;
}
const trades: readonly Trade[] = Array.from({ length: 300 }, (_, index) => ({
  at: start + index * 250,
  px: (42_000 + ((index * 13) % 40) / 10).toFixed(1),
  qty: (0.001 * (1 + (index % 9))).toFixed(3),
  bought: index % 3 === 0,
}));
const rowsOf = (row: (trade: Trade, index: number) => string, header?: string): string =>
  [...(header === undefined ? [] : [header]), ...trades.map(row)].join("\n");
const binanceTrade = ({ at, px, qty, bought }: Trade, index: number, unit = 1): string =>
  `${index},${px},${qty},${(Number(px) * Number(qty)).toFixed(4)},${at * unit},${!bought}`;
const aggregate = ({ at, px, qty, bought }: Trade, index: number): string =>
  `${index},${px},${qty},${2 * index},${2 * index + 1},${at},${!bought}`;
const tardisTrade =
  (exchange: string, qtyOf: (qty: string) => string) =>
  ({ at, px, qty, bought }: Trade, index: number): string =>
    `${exchange},BTC-USDT-SWAP,${(at - 7) * 1_000},${at * 1_000},id${index},${bought ? "buy" : "sell"},${px},${qtyOf(qty)}`;
const tardisHeader = "exchange,symbol,timestamp,local_timestamp,id,side,price,amount";

describe("Files of trades are read in the layout of", () => {
  const contracts = (qty: string): string => String(Math.round(Number(qty) * 1_000));

  it.each<[string, string, string, Partial<RecordingOptions>]>([
    [
      "Binance Vision spot, without a header",
      "binance-trades",
      rowsOf((trade, index) => `${binanceTrade(trade, index)},True`),
      {},
    ],
    [
      "Binance Vision spot in microseconds",
      "binance-trades",
      rowsOf((trade, index) => `${binanceTrade(trade, index, 1_000)},True`),
      {},
    ],
    [
      "Binance Vision futures, with a header",
      "binance-trades",
      rowsOf((trade, index) => binanceTrade(trade, index), "id,price,qty,quote_qty,time,is_buyer_maker"),
      {},
    ],
    [
      "Binance Vision futures, without one",
      "binance-futures-trades",
      rowsOf((trade, index) => binanceTrade(trade, index)),
      {},
    ],
    [
      "Binance Vision aggregates of spot",
      "binance-aggtrades",
      rowsOf((trade, index) => `${aggregate(trade, index)},True`),
      {},
    ],
    [
      "Binance Vision aggregates of futures, with a header",
      "binance-aggtrades",
      rowsOf(aggregate, "agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker"),
      {},
    ],
    ["Binance Vision aggregates of futures, without one", "binance-futures-aggtrades", rowsOf(aggregate), {}],
    [
      "Bybit derivatives, in seconds with a fraction",
      "bybit-trades",
      rowsOf(
        ({ at, px, qty, bought }, index) =>
          `${(at / 1_000).toFixed(4)},BTCUSDT,${bought ? "Buy" : "Sell"},${qty},${px},PlusTick,m-${index},4.2e+11,${qty},42`,
        "timestamp,symbol,side,size,price,tickDirection,trdMatchID,grossValue,homeNotional,foreignNotional",
      ),
      {},
    ],
    [
      "Bybit spot",
      "bybit-spot-trades",
      rowsOf(
        ({ at, px, qty, bought }, index) => `${index},${at},${px},${qty},${bought ? "buy" : "sell"}`,
        "id,timestamp,price,volume,side",
      ),
      {},
    ],
    [
      "OKX spot",
      "okx-trades",
      rowsOf(
        ({ at, px, qty, bought }, index) => `BTC-USDT,${index},${bought ? "buy" : "sell"},${px},${qty},${at}`,
        "instrument_name,trade_id,side,price,size,created_time",
      ),
      { instrument: "BTC-USDT" },
    ],
    [
      "OKX swaps, in contracts of a thousandth",
      "okx-trades",
      rowsOf(
        ({ at, px, qty, bought }, index) =>
          `BTC-USDT-SWAP,${index},${bought ? "buy" : "sell"},${px},${contracts(qty)},${at}`,
        "instrument_name,trade_id,side,price,size,created_time",
      ),
      { contractSize: "0.001" },
    ],
    [
      "OKX of old, with a header in two languages and newest first",
      "okx-trades",
      [
        "trade_id/撮合id,side/交易方向,size/数量,price/价格,created_time/成交时间",
        ...trades
          .map(({ at, px, qty, bought }, index) => `${index},${bought ? "BUY" : "SELL"},${qty},${px},${at}`)
          .reverse(),
      ].join("\n"),
      { instrument: "BTC-USDT" },
    ],
    [
      "Tardis",
      "tardis-trades",
      rowsOf(
        tardisTrade("binance-futures", (qty) => qty),
        tardisHeader,
      ),
      {},
    ],
    [
      "Tardis, in contracts",
      "tardis-trades",
      rowsOf(tardisTrade("okex-swap", contracts), tardisHeader),
      { contractSize: "0.001" },
    ],
    [
      "freqtrade JSON",
      "freqtrade-trades",
      JSON.stringify(
        trades.map(({ at, px, qty, bought }, index) => [
          at,
          String(index),
          null,
          bought ? "buy" : "sell",
          Number(px),
          Number(qty),
          42.5,
        ]),
      ),
      {},
    ],
    [
      "ccxt JSON",
      "ccxt-trades",
      JSON.stringify(
        trades.map(({ at, px, qty, bought }, index) => ({
          info: { raw: [1, 2], text: 'a "quoted" ] word' },
          timestamp: at,
          datetime: iso(at),
          symbol: "BTC/USDT",
          id: String(index),
          order: null,
          type: null,
          side: bought ? "buy" : "sell",
          takerOrMaker: "taker",
          price: Number(px),
          amount: Number(qty),
          cost: 42,
          fee: { cost: null },
        })),
      ),
      {},
    ],
    [
      "usual names",
      "trades",
      rowsOf(({ at, px, qty, bought }) => `${bought ? "b" : "s"},${qty},${px},${at}`, "Side,Size,Price,Time"),
      {},
    ],
  ])("%s", async (_, layout, text, options) => {
    const { tape, found } = await read(text, options);
    expect(found?.plan.layout.name).toBe(layout);
    expect(atOf(tape)).toEqual(trades.map(({ at }) => at));
    expect([...(columnsOf(tape.series[0] as Series)[0] as Int8Array)]).toEqual(
      trades.map(({ bought }) => (bought ? 1 : -1)),
    );
    expect(texts(tape, "trade", 1, "tickSize").map(Number)).toEqual(trades.map(({ px }) => Number(px)));
    expect(sum(texts(tape, "trade", 2, "lotSize"))).toBe(String(plainSum(trades.map(({ qty }) => qty))));
  });

  it("Tardis by the exchange's time, sorted within the tolerance", async () => {
    const rows = [
      [5, 3],
      [6, 9],
      [7, 8],
    ].map(
      ([sent = 0, at = 0], index) =>
        `binance-futures,BTCUSDT,${(start + at) * 1_000},${(start + sent) * 1_000},${index},buy,${index + 1},1`,
    );
    const { tape, meta } = await read([tardisHeader, ...rows].join("\n"), { axis: "exchange" });
    expect(atOf(tape)).toEqual([3, 8, 9].map((ms) => start + ms));
    expect(texts(tape, "trade", 1, "tickSize")).toEqual(["1", "3", "2"]);
    expect(meta.notes).toEqual([{ what: "rows out of order by their time, sorted", count: 1 }]);
  });

  it.each<[string, string, RegExp]>([
    [
      "quantities in contracts of unknown size",
      rowsOf(tardisTrade("bitmex", contracts), tardisHeader),
      /:2: quantities of bitmex:BTC-USDT-SWAP count contracts. .*--contract-size 0.01/,
    ],
    [
      "several symbols",
      `${tardisHeader}\nbinance,BTCUSDT,1704067200000000,1704067200000000,1,buy,1,1\nbinance,ETHUSDT,1704067200000000,1704067200000000,1,buy,1,1`,
      /several symbols \(BTCUSDT, ETHUSDT\). Choose one with --symbol/,
    ],
    [
      "a side that is neither",
      "time,price,size,side\n1704067200000,1,1,up",
      /:2: "side" is "up"; expected buy or sell/,
    ],
    [
      "two columns that can be the quantity",
      "time,price,size,volume,side\n1704067200000,1,1,1,buy",
      /qty can be column "size" or "volume"/,
    ],
    ["no side", "time,price,size\n1704067200000,1,1", /:1: the header lacks side for trades by the usual names/],
    [
      "rows of another length",
      "time,price,size,side\n1704067200000,1,1,buy\n1704067200000,1,1",
      /:3: 3 cells; the header names 4/,
    ],
  ])("none, but refused with %s", async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it("any, and told where their symbol is not the instrument that was named", async () => {
    const text = "symbol,time,price,size,side\nETHUSDT,1704067200000,1,1,buy\n";
    expect((await read(text)).meta.notes).toEqual([{ what: "rows of ETHUSDT taken as BTC-USDT-SWAP", count: 1 }]);
    expect((await read(text.replace("ETH", "XBT"))).meta.notes).toEqual([]);
  });

  describe("of two tickers", () => {
    const names = "Price,Close,Close,High,High,Low,Low,Open,Open,Volume,Volume";
    const tickers = "Ticker,BTC-USD,ETH-USD,BTC-USD,ETH-USD,BTC-USD,ETH-USD,BTC-USD,ETH-USD,BTC-USD,ETH-USD";
    const rows = ["2024-01-01", "2024-01-02"].map(
      (day) => `${day},64000,3400,64100,3410,63900,3390,64010,3401,1000,2000`,
    );
    const text = [names, tickers, "Date,,,,,,,,,,", ...rows].join("\n");
    const grouped = [
      "Ticker,BTC-USD,BTC-USD,BTC-USD,BTC-USD,BTC-USD,ETH-USD,ETH-USD,ETH-USD,ETH-USD,ETH-USD",
      "Price,Open,High,Low,Close,Volume,Open,High,Low,Close,Volume",
      "Date,,,,,,,,,,",
      ...["2024-01-01", "2024-01-02"].map((day) => `${day},64010,64100,63900,64000,1000,3401,3410,3390,3400,2000`),
    ].join("\n");

    it.each([
      ["beside each other", text],
      ["one group after the other", grouped],
    ])("in columns %s, by the symbol that was asked for, and refused without one", async (_, file) => {
      const { tape, meta } = await read(file, { symbol: "ETH-USD" });
      expect(texts(tape, "candle", 3, "tickSize")).toEqual(["3400", "3400"]);
      expect(meta.notes).toContainEqual({ what: "rows of ETH-USD taken as BTC-USDT-SWAP", count: 2 });
      await expect(read(file)).rejects.toThrow(
        "the file holds several symbols (BTC-USD, ETH-USD). Choose one with --symbol.",
      );
      await expect(read(file, { symbol: "LTC-USD" })).rejects.toThrow(
        'no column is of symbol "LTC-USD"; found BTC-USD, ETH-USD.',
      );
    });

    it("whose columns no row tells apart is refused", async () => {
      const file = [names, ...rows].join("\n");
      await expect(read(file)).rejects.toThrow('open can be column "Open" or "Open"');
    });
  });

  it("refused where they name no symbol and one was asked for", async () => {
    const file = "timestamp,price,volume,side\n1704067200000,1,1,buy\n";
    await expect(read(file, { symbol: "ETH-USD" })).rejects.toThrow("the file names no symbol. Leave --symbol out.");
  });

  it("any, whatever stands in their quoted cells", async () => {
    const text =
      'time,note,price,size,side\n1704067200000,"one, ""two""\nand three",1,1,buy\n1704067200001,"",2,1,sell\n';
    expect(texts((await read(text)).tape, "trade", 1, "tickSize")).toEqual(["1", "2"]);
  });

  it("any, without repeated rows, and without those of no side or size", async () => {
    const text =
      "id,timestamp,price,volume,side\n1,1704067200000,1,1,buy\n1,1704067200000,1,1,buy\n2,1704067200000,1,1,buy\n3,1704067200001,1,0,buy\n4,1704067200002,1,1,unknown\n";
    const { tape, meta } = await read(text);
    expect(tape.length).toBe(2);
    expect(meta.notes?.map(({ what, count }) => `${what}: ${count}`)).toEqual([
      "trades of price or quantity zero, dropped: 1",
      "trades without a side, dropped: 1",
      "repeated trades by their ids, dropped: 1",
    ]);
  });

  it.each([
    ["as numbers", ["7", "8", "9"]],
    ["as text", ["7f-a", "7f-b", "7f-c"]],
  ])("any, where a page of trades with ids %s comes again", async (_, [a, b, c]) => {
    const row = (id: string | undefined, at: number, px: number) => `${id},${1704067200000 + at},${px},1,buy`;
    const page = [row(a, 0, 1), row(b, 0, 2), row(c, 1, 3)];
    for (const rows of [[...page, ...page], [...page, ...page].reverse()]) {
      const { tape, meta } = await read(`id,timestamp,price,volume,side\n${rows.join("\n")}\n`);
      const prices = texts(tape, "trade", 1, "tickSize");
      expect([...prices].sort()).toEqual(["1", "2", "3"]);
      expect(meta.notes).toContainEqual({ what: "repeated trades by their ids, dropped", count: 3 });
    }
  });

  it("any, with trades that are alike where nothing tells them apart, which are counted", async () => {
    const text = "timestamp,price,volume,side\n1704067200000,1,1,buy\n1704067200000,2,1,buy\n1704067200000,1,1,buy\n";
    const { tape, meta } = await read(text);
    expect(tape.length).toBe(3);
    expect(meta.notes).toEqual([
      { what: "trades like another one of the same instant, kept: without ids they may be two", count: 1 },
    ]);
  });
});

describe("Files of best prices and books are read in the layout of", () => {
  const quotes = Array.from({ length: 5 }, (_, index) => ({
    at: start + index * 10,
    bid: `${100 + index}.5`,
    ask: `${101 + index}`,
    bidQty: `${index + 1}`,
    askQty: `0.${index + 1}`,
  }));

  it.each<[string, string, string]>([
    [
      "Binance Vision",
      "binance-bookticker",
      [
        "update_id,best_bid_price,best_bid_qty,best_ask_price,best_ask_qty,transaction_time,event_time",
        ...quotes.map((q, index) => `${index},${q.bid},${q.bidQty},${q.ask},${q.askQty},${q.at},${q.at + 6}`),
      ].join("\n"),
    ],
    [
      "Binance Vision without a header",
      "binance-bookticker",
      quotes.map((q, index) => `${index},${q.bid},${q.bidQty},${q.ask},${q.askQty},${q.at},${q.at + 6}`).join("\n"),
    ],
    [
      "Tardis",
      "tardis-quotes",
      [
        "exchange,symbol,timestamp,local_timestamp,ask_amount,ask_price,bid_price,bid_amount",
        ...quotes.map(
          (q) => `binance,BTCUSDT,${q.at * 1_000 - 5},${q.at * 1_000},${q.askQty},${q.ask},${q.bid},${q.bidQty}`,
        ),
      ].join("\n"),
    ],
    [
      "usual names",
      "quotes",
      [
        "timestamp,bid,bid_size,ask,ask_size",
        ...quotes.map((q) => `${q.at},${q.bid},${q.bidQty},${q.ask},${q.askQty}`),
      ].join("\n"),
    ],
  ])("%s", async (_, layout, text) => {
    const { tape, found } = await read(text);
    expect(found?.plan.layout.name).toBe(layout);
    expect(atOf(tape)).toEqual(quotes.map(({ at }) => at));
    expect(texts(tape, "quote", 0, "tickSize")).toEqual(quotes.map(({ bid }) => bid));
    expect(texts(tape, "quote", 2, "tickSize")).toEqual(quotes.map(({ ask }) => ask));
    expect(sum(texts(tape, "quote", 1, "lotSize"))).toBe("15");
    expect(sum(texts(tape, "quote", 3, "lotSize"))).toBe("1.5");
  });

  const rowsIn = (tape: Tape): readonly string[] => {
    const series = tape.series[0] as Series;
    const [px, qty, snapshot] = [
      texts(tape, "level", 1, "tickSize"),
      texts(tape, "level", 2, "lotSize"),
      columnsOf(series)[3],
    ];
    return Array.from(
      series.at,
      (at, row) =>
        `${at - start} ${(columnsOf(series)[0] as Int8Array)[row] === 1 ? "bid" : "ask"} ${px[row]}x${qty[row]}${snapshot?.[row] === 1 ? " anew" : ""}`,
    );
  };

  it("Tardis incremental_book_L2: snapshots begin the book anew, and nothing is shown before the first", async () => {
    const row = (ms: number, isSnapshot: boolean, side: string, px: string, qty: string) =>
      `binance,BTCUSDT,${(start + ms) * 1_000},${(start + ms) * 1_000},${isSnapshot},${side},${px},${qty}`;
    const text = [
      "exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount",
      row(0, false, "bid", "98", "1"),
      row(1, true, "bid", "99", "1"),
      row(1, true, "ask", "100.5", "2"),
      row(2, false, "ask", "100.5", "0"),
      row(3, true, "ask", "101", "3"),
      row(3, true, "bid", "100", "4"),
    ].join("\n");
    const { tape, meta } = await read(text);
    expect(rowsIn(tape)).toEqual([
      "1 bid 99x1 anew",
      "1 ask 100.5x2",
      "2 ask 100.5x0",
      "3 ask 101x3 anew",
      "3 bid 100x4",
    ]);
    expect(meta.notes).toEqual([{ what: "changes of a book before its first snapshot, dropped", count: 1 }]);
  });

  it("Tardis book_snapshot_5: only what changed from row to row is kept", async () => {
    const header = [
      "exchange,symbol,timestamp,local_timestamp",
      ...[0, 1, 2, 3, 4].map(
        (level) => `asks[${level}].price,asks[${level}].amount,bids[${level}].price,bids[${level}].amount`,
      ),
    ].join(",");
    const row = (ms: number, asks: readonly string[], bids: readonly string[]) =>
      [
        `binance,BTCUSDT,${(start + ms) * 1_000},${(start + ms) * 1_000}`,
        ...[0, 1, 2, 3, 4].map((level) => `${asks[level] ?? ","},${bids[level] ?? ","}`),
      ].join(",");
    const text = [
      header,
      row(0, ["101,1", "102,2"], ["100,3"]),
      row(5, ["101,1", "103,2"], ["100,4", "99,1"]),
      row(6, ["101,1", "103,2"], ["100,4", "99,1"]),
      row(7, [], ["99,1"]),
    ].join("\n");
    const { tape } = await read(text);
    expect(rowsIn(tape)).toEqual([
      "0 bid 100x3 anew",
      "0 ask 101x1",
      "0 ask 102x2",
      "5 ask 102x0",
      "5 bid 100x4",
      "5 bid 99x1",
      "5 ask 103x2",
      "7 bid 100x0",
      "7 ask 101x0",
      "7 ask 103x0",
    ]);
  });
});

describe("A layout that is not clear", () => {
  it("is refused with the names of those that fit", async () => {
    const flat = "1704067200000,5,5,5,5,1\n1704067260000,5,5,5,5,1\n";
    await expect(read(flat)).rejects.toThrow(
      /its rows can be read in 3 ways. Choose the right one:\n.*--layout ohlcv: .*\n.*--layout bitfinex-candles: .*\n.*--layout coinbase-candles/,
    );
    expect((await read(flat, { layout: "ohlcv" })).found?.plan.layout.name).toBe("ohlcv");
  });

  it("is refused where bars and best prices stand in one row", async () => {
    await expect(read("time,o,h,l,c,v,bid,bid_size,ask,ask_size\n1704067200000,1,1,1,1,1,1,1,1,1")).rejects.toThrow(
      /can be read in 2 ways.*\n.*--layout candles.*\n.*--layout quotes/,
    );
  });

  it("is named, or described by the user", async () => {
    const text = "Zeit,Kurs,Menge,Seite\n1704067200,1.5,3,buy\n";
    await expect(read(text)).rejects.toThrow(/line 1 is "Zeit,Kurs,Menge,Seite", which is of no known layout/);
    const layout = {
      name: "mine",
      about: "my recorder",
      rows: "trades",
      columns: { time: ["zeit"], price: ["kurs"], qty: ["menge"], side: ["seite"] },
    } as const;
    const { tape, found } = await read(text, { layout });
    expect([found?.plan.layout.name, texts(tape, "trade", 1, "tickSize"), texts(tape, "trade", 2, "lotSize")]).toEqual([
      "mine",
      ["1.5"],
      ["3"],
    ]);
    await expect(read(text, { layout: "binance-trade" })).rejects.toThrow(
      /there is no "binance-trade". Did you mean "binance-trades"\?/,
    );
    await expect(read(text, { layout: "ohlcv" })).rejects.toThrow(/layout ohlcv .*lacks/s);
  });
});

describe("A row that does not fit", () => {
  const rowsOf = (odd: string): string =>
    [...Array.from({ length: 4 }, (_, row) => `${1_704_067_200_000 + row * minute},1,2,0.5,1.5,10`), odd, ""].join(
      "\n",
    );

  it.each(["1704067440000,null,null,null,null,null", "1704067440000,,,,,", "1704067440000,NaN,NaN,NaN,NaN,0"])(
    "is left out where it holds nothing: %s",
    async (odd) => {
      const { found, meta } = await read(rowsOf(odd));
      expect(found?.plan.layout.name).toBe("ohlcv");
      expect(meta.notes).toEqual([{ what: "rows without prices, dropped", count: 1 }]);
    },
  );

  it.each(["1704067440000,0,0,0,0,0", "1704067440000,1,2,0.5", "1704067440000,1,2,0.5,3,10", "total,,,,,50"])(
    "is named, and not the layout of the file: %s",
    async (odd) => await expect(read(rowsOf(odd))).rejects.toThrow(/:5: .* does not fit the layout .*ohlcv/),
  );

  it("is named too if it comes first", async () => {
    const rows = rowsOf("1704067440000,1,2,0.5,1.5,10").split("\n");
    await expect(read(["1704067140000,0,0,0,0,0", ...rows].join("\n"))).rejects.toThrow(/:1: .* does not fit/);
  });
});

describe("Columns", () => {
  const row = "1,2,0.5,1.5,10";

  it("without a name are the time where pandas wrote an index of instants", async () => {
    const { tape } = await read(
      `,open,high,low,close,volume\n2024-01-01 00:00:00+00:00,${row}\n2024-01-01 00:01:00+00:00,${row}\n`,
    );
    expect(tape.startAt).toBe(1_704_067_260_000);
  });

  it("without a name can be described", async () => {
    const columns = { time: [""], open: ["open"], high: ["high"], low: ["low"], close: ["close"], volume: ["volume"] };
    const layout = { name: "mine", about: "mine", rows: "candles", columns } as const;
    const { tape } = await read(`,open,high,low,close,volume\n20240101,${row}\n20240102,${row}\n`, { layout });
    expect(tape.startAt).toBe(1_704_153_600_000);
  });

  it("with two volumes of MetaTrader are told apart", async () => {
    const { meta } = await read(
      "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n2024.01.01\t00:00:00\t1\t2\t0.5\t1.5\t40\t0\t7\n2024.01.01\t00:01:00\t1\t2\t0.5\t1.5\t41\t0\t7\n",
    );
    expect(meta.notes?.map(({ what }) => what)).toEqual([
      'volumes taken from "<VOL>", not from "<TICKVOL>", which counts changes of the price',
    ]);
  });
});
