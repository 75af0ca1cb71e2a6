/** Websocket messages of several exchanges, as their documentation shows them: each becomes the rows that it tells. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type RecordingOptions, readRecording } from "../../../plugins/import/read-recording.ts";
import { grid } from "../../../src/decimal.ts";
import { columnNames, columnsOf } from "../../../src/market/tape/tape.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("venues");
const start = Date.UTC(2024, 0, 1);
const iso = (ms: number): string => new Date(start + ms).toISOString();
let counter = 0;

/** Rows as text, their time in milliseconds from the start on; and notes. */
const rowsOf = async (lines: readonly string[], options: Partial<RecordingOptions>) => {
  const file = join(home, `messages-${counter++}.txt`);
  writeFileSync(file, lines.join("\n"));
  const { tape, meta } = await readRecording({ file, instrument: "BTC-USDT", ...options });
  const [tick, lot] = [grid(tape.instruments[0]?.tickSize ?? "1"), grid(tape.instruments[0]?.lotSize ?? "1")];
  const cell = (name: string, value: number): string => {
    if (/px$|open|high|low|close/i.test(name)) return tick.format(value);
    return /qty$|volume/i.test(name) ? lot.format(value) : String(value);
  };
  const rows = tape.series.flatMap((series) =>
    Array.from(series.at, (at, row) =>
      [
        series.kind,
        at - start,
        ...columnNames[series.kind].map((name, place) => cell(name, columnsOf(series)[place]?.[row] ?? 0)),
      ].join(" "),
    ),
  );
  return { rows, notes: (meta.notes ?? []).map(({ what, count }) => `${what}: ${count}`) };
};

/** Messages with the time at which each was received. */
const received = (messages: readonly unknown[]): string[] =>
  messages.map((message, index) => `${BigInt(start + index * 10) * 1_000_000n} ${JSON.stringify(message)}`);

const okx = (channel: string, data: unknown[], action?: string, instId = "BTC-USDT") => ({
  arg: { channel, instId },
  ...(action && { action }),
  data,
});
const bybit = (topic: string, data: unknown, type = "delta") => ({ topic, type, ts: start, data, cts: start });

const day = 86_400_000;

const binanceMonth = (from: number, until: number) => ({
  stream: "btcusdt@kline_1M",
  data: {
    e: "kline",
    E: start,
    s: "BTCUSDT",
    k: {
      t: Date.UTC(2024, from, 1),
      T: Date.UTC(2024, until, 1) - 1,
      i: "1M",
      o: "2",
      c: "3",
      h: "4",
      l: "1",
      v: "7",
      x: true,
    },
  },
});

const binanceKline = (x: boolean, c: string) => ({
  stream: "btcusdt@kline_1m",
  data: {
    e: "kline",
    E: start,
    s: "BTCUSDT",
    k: { t: start, T: start + 59_999, s: "BTCUSDT", i: "1m", o: "2", c, h: "4", l: "1", v: "7.5", x },
  },
});

const cases: readonly (readonly [
  string,
  readonly unknown[],
  readonly string[],
  (readonly string[])?,
  Partial<RecordingOptions>?,
])[] = [
  [
    "Binance, aggregated trades and bars",
    [
      {
        stream: "btcusdt@aggTrade",
        data: { e: "aggTrade", E: start, s: "BTCUSDT", a: 1, p: "10.5", q: "2", f: 1, l: 2, T: start, m: true },
      },
      {
        stream: "btcusdt@trade",
        data: { e: "trade", E: start, s: "BTCUSDT", t: 1, p: "10.5", q: "1", T: start, m: true },
      },
      binanceKline(false, "2.5"),
      binanceKline(true, "3"),
    ],
    ["candle 60000 2.0 4.0 1.0 3.0 7.5", "trade 0 -1 10.5 2"],
    ["repeated trades (single and aggregated), dropped: 1", "bars that had not ended, dropped: 1"],
  ],
  [
    "OKX",
    [
      { event: "subscribe", arg: { channel: "trades", instId: "BTC-USDT" }, connId: "a" },
      okx(
        "books",
        [{ asks: [["11", "1", "0", "1"]], bids: [["10", "2", "0", "1"]], ts: `${start}`, seqId: 5, prevSeqId: -1 }],
        "snapshot",
      ),
      okx("books", [{ asks: [["11", "0", "0", "0"]], bids: [], ts: `${start}`, seqId: 9, prevSeqId: 5 }], "update"),
      okx("bbo-tbt", [{ asks: [["12", "3", "0", "1"]], bids: [["10", "2", "0", "1"]], ts: `${start}`, seqId: 9 }]),
      okx("trades", [
        { instId: "BTC-USDT", tradeId: "1", px: "10", sz: "0.5", side: "sell", ts: `${start}` },
        { instId: "BTC-USDT", tradeId: "2", px: "12", sz: "1", side: "buy", ts: `${start}` },
      ]),
      okx("candle1m", [[`${start}`, "2", "4", "1", "3", "7", "70", "71", "1"]]),
    ],
    [
      "candle 60000 2 4 1 3 7",
      "level 10 1 10 2 1",
      "level 10 -1 11 1 0",
      "level 20 -1 11 0 0",
      "quote 30 10 2 12 3",
      "trade 40 -1 10 0.5",
      "trade 40 1 12 1",
    ],
    ["messages of a kind that is not imported (OKX subscribe): 1"],
  ],
  [
    "Binance, months, whose lengths differ",
    [binanceMonth(0, 1), binanceMonth(1, 2), binanceMonth(2, 3)],
    [`candle ${31 * day} 2 4 1 3 7`, `candle ${60 * day} 2 4 1 3 7`, `candle ${91 * day} 2 4 1 3 7`],
  ],
  [
    "OKX, months from 16:00 of UTC",
    [-8, 31 * 24 - 8].map((hour) =>
      okx("candle1M", [[`${start + hour * 3_600_000}`, "2", "4", "1", "3", "7", "0", "0", "1"]]),
    ),
    [`candle ${31 * day - 8 * 3_600_000} 2 4 1 3 7`, `candle ${60 * day - 8 * 3_600_000} 2 4 1 3 7`],
  ],
  [
    "OKX, months of UTC",
    [okx("candle1Mutc", [[`${start}`, "2", "4", "1", "3", "7", "0", "0", "1"]])],
    [`candle ${31 * day} 2 4 1 3 7`],
  ],
  [
    "Bybit, months",
    [0, 31].map((opened, index) =>
      bybit("kline.M.BTCUSDT", [
        {
          start: start + opened * day,
          end: start + (index === 0 ? 31 : 60) * day - 1,
          interval: "M",
          open: "2",
          close: "3",
          high: "4",
          low: "1",
          volume: "7",
          confirm: true,
        },
      ]),
    ),
    [`candle ${31 * day} 2 4 1 3 7`, `candle ${60 * day} 2 4 1 3 7`],
  ],
  [
    "Decimals that a recorder kept as floats",
    [
      {
        e: "trade",
        E: start,
        s: "BTCUSDT",
        t: 1,
        p: "64123.200000000004",
        q: "0.30000000000000004",
        T: start,
        m: true,
      },
      { e: "trade", E: start, s: "BTCUSDT", t: 2, p: 64123.200000000004, q: 1e-5, T: start, m: true },
      { e: "bookTicker", u: 1, s: "BTCUSDT", b: 0.1, B: "1", a: "0.30000000000000004", A: 2 },
      { lastUpdateId: 5, s: "BTCUSDT", bids: [[0.1, 0.30000000000000004]], asks: [["0.7000000000000001", 1]] },
      bybit("publicTrade.BTCUSDT", [{ T: start, s: "BTCUSDT", S: "Sell", v: 0.30000000000000004, p: 64123.2, i: "3" }]),
    ],
    [
      "level 30 1 0.1 0.30000 1",
      "level 30 -1 0.7 1.00000 0",
      "quote 20 0.1 1.00000 0.3 2.00000",
      "trade 0 -1 64123.2 0.30000",
      "trade 10 -1 64123.2 0.00001",
      "trade 40 -1 64123.2 0.30000",
    ],
    ["floats printed in full, read as the decimals they were rounded from: 7"],
  ],
  [
    "OKX, swaps in contracts",
    [
      okx(
        "trades",
        [{ instId: "BTC-USDT-SWAP", px: "10", sz: "3", side: "buy", ts: `${start}` }],
        undefined,
        "BTC-USDT-SWAP",
      ),
    ],
    ["trade 0 1 10 0.03"],
    [],
    { contractSize: "0.01", instrument: "BTC-USDT-SWAP" },
  ],
  [
    "Bybit, whose snapshots begin the book anew",
    [
      { success: true, op: "subscribe" },
      bybit("orderbook.50.BTCUSDT", { s: "BTCUSDT", b: [["10", "2"]], a: [["11", "1"]], u: 7, seq: 1 }, "snapshot"),
      bybit("orderbook.50.BTCUSDT", { s: "BTCUSDT", b: [["10", "0"]], a: [], u: 8, seq: 2 }),
      bybit("orderbook.50.BTCUSDT", { s: "BTCUSDT", b: [["9", "1"]], a: [["12", "1"]], u: 1, seq: 3 }, "snapshot"),
      bybit("orderbook.50.BTCUSDT", { s: "BTCUSDT", b: [], a: [["12", "4"]], u: 3, seq: 4 }),
      bybit(
        "publicTrade.BTCUSDT",
        [{ T: start, s: "BTCUSDT", S: "Buy", v: "0.25", p: "11", L: "PlusTick", i: "x", BT: false }],
        "snapshot",
      ),
      bybit("kline.5.BTCUSDT", [
        {
          start,
          end: start + 299_999,
          interval: "5",
          open: "2",
          close: "3",
          high: "4",
          low: "1",
          volume: "9",
          confirm: true,
          timestamp: start,
        },
      ]),
    ],
    [
      "candle 300000 2 4 1 3 9",
      "level 10 1 10 2 1",
      "level 10 -1 11 1 0",
      "level 20 1 10 0 0",
      "level 30 1 9 1 1",
      "level 30 -1 12 1 0",
      "level 40 -1 12 4 0",
      "trade 50 1 11 0.25",
    ],
    ["messages of a kind that is not imported (without event or stream): 1", "gaps in the chain of book messages: 1"],
  ],
  [
    "Coinbase Exchange, whose trades tell the side that was resting",
    [
      { type: "snapshot", product_id: "BTC-USD", bids: [["10", "2"]], asks: [["11", "1"]] },
      {
        type: "l2update",
        product_id: "BTC-USD",
        changes: [
          ["buy", "10", "0"],
          ["sell", "11", "5"],
        ],
        time: iso(0),
      },
      {
        type: "match",
        trade_id: 1,
        side: "buy",
        size: "0.5",
        price: "10",
        product_id: "BTC-USD",
        sequence: 5,
        time: iso(0),
      },
      {
        type: "ticker",
        product_id: "BTC-USD",
        price: "1",
        best_bid: "9",
        best_bid_size: "1",
        best_ask: "11",
        best_ask_size: "5",
        time: iso(0),
      },
    ],
    [
      "level 0 1 10 2 1",
      "level 0 -1 11 1 0",
      "level 10 1 10 0 0",
      "level 10 -1 11 5 0",
      "quote 30 9 1 11 5",
      "trade 20 -1 10 0.5",
    ],
  ],
  [
    "Coinbase Advanced Trade",
    [
      {
        channel: "l2_data",
        timestamp: iso(0),
        sequence_num: 0,
        events: [
          {
            type: "snapshot",
            product_id: "BTC-USD",
            updates: [{ side: "bid", event_time: iso(0), price_level: "10", new_quantity: "1" }],
          },
        ],
      },
      {
        channel: "l2_data",
        timestamp: iso(0),
        sequence_num: 1,
        events: [
          {
            type: "update",
            product_id: "BTC-USD",
            updates: [{ side: "offer", event_time: iso(0), price_level: "11", new_quantity: "2" }],
          },
        ],
      },
      {
        channel: "market_trades",
        timestamp: iso(0),
        events: [
          {
            type: "update",
            trades: [{ trade_id: "1", product_id: "BTC-USD", price: "11", size: "0.5", side: "SELL", time: iso(0) }],
          },
        ],
      },
    ],
    ["level 0 1 10 1.0 1", "level 10 -1 11 2.0 0", "trade 20 1 11 0.5"],
  ],
  [
    "Kraken, without its books, which leave levels unannounced",
    [
      {
        channel: "book",
        type: "snapshot",
        data: [{ symbol: "BTC/USD", bids: [{ price: 1, qty: 1 }], asks: [], checksum: 1 }],
      },
      {
        channel: "trade",
        type: "update",
        data: [{ symbol: "BTC/USD", side: "sell", price: 10.1, qty: 1e-7, ord_type: "market", timestamp: iso(0) }],
      },
      {
        channel: "ticker",
        type: "update",
        data: [{ symbol: "BTC/USD", bid: 10, bid_qty: 1, ask: 10.2, ask_qty: 2, last: 1 }],
      },
    ],
    ["quote 20 10.0 1.0000000 10.2 2.0000000", "trade 10 -1 10.1 0.0000001"],
    ["messages of a kind that is not imported (Kraken book snapshot): 1"],
  ],
  [
    "BitMEX, trades by their quantity in base currency",
    [
      { info: "Welcome", version: "1" },
      {
        table: "trade",
        action: "insert",
        data: [
          {
            timestamp: iso(0),
            symbol: "XBTUSD",
            side: "Sell",
            size: 100,
            price: 50_000.5,
            homeNotional: 0.002,
            foreignNotional: 100,
          },
        ],
      },
    ],
    ["trade 10 -1 50000.5 0.002"],
    ["messages of a kind that is not imported (without event or stream): 1"],
    { instrument: "BTC-USD-SWAP" },
  ],
];

/** Without the zeros at the ends of decimals. */
const plain = (rows: readonly string[]): readonly string[] =>
  rows.map((row) => row.replaceAll(/\.(\d*?)0+(?= |$)/g, (_, kept: string) => (kept === "" ? "" : `.${kept}`)));

describe("Messages of an exchange become rows:", () => {
  const whole = cases.map(
    ([name, messages, expected, notes = [], options = {}]) => [name, messages, expected, notes, options] as const,
  );

  it.each(whole)("%s", async (_, messages, expected, notes, options) => {
    const found = await rowsOf(received(messages), options);
    expect([plain(found.rows), found.notes]).toEqual([plain(expected), notes]);
  });

  it("dated by the exchange, where lines tell no receive time", async () => {
    const messages = [
      bybit("publicTrade.BTCUSDT", [{ T: start + 5, s: "BTCUSDT", S: "Buy", v: "1", p: "11" }]),
      bybit("publicTrade.BTCUSDT", [{ T: start + 7, s: "BTCUSDT", S: "Sell", v: "1", p: "11" }]),
    ];
    const found = await rowsOf(
      messages.map((message) => JSON.stringify(message)),
      {},
    );
    expect(found).toEqual({
      rows: ["trade 5 1 11 1", "trade 7 -1 11 1"],
      notes: ["lines without a receive time, dated by the exchange's: 2"],
    });
  });

  it("or are refused, where they count contracts of a size that was not told", async () => {
    const swap = okx(
      "trades",
      [{ instId: "BTC-USDT-SWAP", px: "10", sz: "3", side: "buy", ts: `${start}` }],
      undefined,
      "BTC-USDT-SWAP",
    );
    await expect(rowsOf(received([swap]), {})).rejects.toThrow(
      /:1: quantities of BTC-USDT-SWAP count contracts.*--contract-size/,
    );
  });

  it("or stop where whoever follows the reading throws", async () => {
    const trades = Array.from({ length: 25_000 }, (_, index) =>
      bybit("publicTrade.BTCUSDT", [{ T: start + index, s: "BTCUSDT", S: "Buy", v: "1", p: "11" }]),
    );
    let calls = 0;
    const onRead = (): void => {
      if (++calls === 2) throw new Error("stop here");
    };
    await expect(rowsOf(received(trades), { onRead })).rejects.toThrow("stop here");
  });
});
