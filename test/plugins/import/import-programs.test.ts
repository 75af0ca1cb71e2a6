/** Files of ccxt, yfinance, BitMEX and coin-margined futures, and what their names say of the instrument. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { instrumentOf } from "../../../plugins/import/import-names.ts";
import { type RecordingOptions, readRecording } from "../../../plugins/import/read-recording.ts";
import { grid } from "../../../src/decimal.ts";
import { columnNames, columnsOf, type Tape } from "../../../src/market/tape/tape.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("programs");
let counter = 0;
const read = (text: string, options: Partial<RecordingOptions> = {}) => {
  const file = join(home, `rows-${counter++}`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return readRecording({ file, instrument: "BTC-USDT", ...options });
};
const start = Date.UTC(2024, 0, 1);

/** Rows as text, their time from the start on. */
const rowsOf = ({ series, instruments }: Tape): readonly string[] => {
  const [one] = series;
  if (one === undefined) return [];
  const [tick, lot] = [grid(instruments[0]?.tickSize ?? "1"), grid(instruments[0]?.lotSize ?? "1")];
  const cell = (name: string, value: number): string => {
    if (/px$|open|high|low|close/i.test(name)) return tick.format(value);
    return /qty$|volume/i.test(name) ? lot.format(value) : String(value);
  };
  const columns = columnsOf(one);
  return Array.from(one.at, (at, row) =>
    [at - start, ...columnNames[one.kind].map((name, place) => cell(name, columns[place]?.[row] ?? 0))].join(" "),
  );
};

describe("Files of programs", () => {
  const book = (ms: number, bids: readonly (readonly number[])[], asks: readonly (readonly number[])[]) => ({
    symbol: "BTC/USDT",
    bids,
    asks,
    timestamp: start + ms,
    datetime: "2024-01-01T00:00:00.000Z",
    nonce: null,
  });
  const books = [
    book(
      0,
      [
        [100, 1],
        [99.5, 2e-7],
      ],
      [[101, 3]],
    ),
    book(10, [[100, 1]], [[101, 2.5]]),
  ];

  it.each([
    ["a list", JSON.stringify(books)],
    ["lines", books.map((one) => JSON.stringify(one)).join("\n")],
  ])("order books of ccxt as %s: only what changed is kept", async (_, text) => {
    const { tape, layout } = await read(text);
    expect([layout, rowsOf(tape)]).toEqual([
      "ccxt-books",
      ["0 1 100 1 1", "0 1 99.5 0.0000002 0", "0 -1 101 3 0", "10 1 99.5 0 0", "10 -1 101 2.5 0"],
    ]);
  });

  it("tickers of ccxt, which hold bars of a day beside the best prices", async () => {
    const ticker = {
      symbol: "BTC/USDT",
      timestamp: start,
      open: 1,
      high: 9,
      low: 1,
      close: 2,
      bid: 5,
      bidVolume: 1,
      ask: 6,
      askVolume: 2,
    };
    const { tape, layout } = await read(JSON.stringify([{ ...ticker, baseVolume: 7, quoteVolume: 8, info: {} }]));
    expect([layout, rowsOf(tape)]).toEqual(["ccxt-tickers", ["0 5 1 6 2"]]);
  });

  it("bars of yfinance below its three rows of names", async () => {
    const text =
      "Price,Close,High,Low,Open,Volume\nTicker,BTC-USD,BTC-USD,BTC-USD,BTC-USD,BTC-USD\nDate,,,,,\n2024-01-01,3,4,1,2,10\n2024-01-02,4,5,2,3,20\n";
    const { tape, layout } = await read(text, { instrument: "BTC-USD" });
    expect([layout, rowsOf(tape)]).toEqual(["yfinance", ["86400000 2 4 1 3 10", "172800000 3 5 2 4 20"]]);
  });

  it("times of BitMEX, whose dates end in a D", async () => {
    const text = "timestamp,symbol,bidSize,bidPrice,askPrice,askSize\n2024-01-01D00:00:00.250000000,XBTUSD,1,2,3,4\n";
    expect(rowsOf((await read(text, { instrument: "BTC-USD-SWAP" })).tape)).toEqual(["250 2 1 3 4"]);
  });

  it.each([true, false])(
    "coin-margined futures of Binance by their volume in base currency (header: %s)",
    async (hasHeader) => {
      const header =
        "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore\n";
      const rows = [0, 1]
        .map((minute) => `${start + minute * 60_000},2,4,1,3,700,${start + minute * 60_000 + 59_999},0.25,9,1,2,0\n`)
        .join("");
      const text = `${hasHeader ? header : ""}${rows}`;
      expect(rowsOf((await read(text, { instrument: "BTC-USD-SWAP" })).tape)[0]).toBe("60000 2 4 1 3 0.25");
      expect(rowsOf((await read(text, { instrument: "BTC-USDT-SWAP" })).tape)[0]).toBe("60000 2 4 1 3 700");
    },
  );

  it.each(['{"open":{"0":1},"close":{"0":1}}', '{"columns":["a"],"index":[1],"data":[[1]]}'])(
    "are refused where JSON holds columns: %s",
    async (text) => {
      await expect(read(text)).rejects.toThrow(/it is one JSON object of columns. Write a list of records/);
    },
  );
});

describe("The name of a file tells the instrument", () => {
  it.each([
    ["trading/BTCUSDT2024-01-01.csv.gz", "spot", "BTC-USDT"],
    ["2023-01-18_BTCUSDT_ob500.data.zip", "swap", "BTC-USDT-SWAP"],
    ["data/bar/BTCUSDT-PERP.BINANCE-1-MINUTE-LAST-EXTERNAL/part-0.parquet", undefined, "BTC-USDT-SWAP"],
    ["events/BTCUSDT_20240101.npz/data.npy", "swap", "BTC-USDT-SWAP"],
    ["BTCUSD_PERP-1m-2022-01.csv", undefined, "BTC-USD-SWAP"],
    ["BTC_USDT_USDT-5m-futures.feather", undefined, "BTC-USDT-SWAP"],
  ] as const)("%s, %s: %s", (file, market, expected) => {
    expect(instrumentOf(file, { market })).toBe(expected);
  });
});
