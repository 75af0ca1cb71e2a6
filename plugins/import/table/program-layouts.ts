/**
 * The layouts of files that programs and collectors of market data write.
 */
import type { Layout } from "./layout.ts";

export const bars = { open: ["open"], high: ["high"], low: ["low"], close: ["close"] };
const nautilus: Layout["columns"] = { time: ["ts_init"], exchangeTime: ["ts_event"] };
const nautilusMarks = ["ts_event", "ts_init"];

export const programs: readonly Layout[] = [
  {
    name: "ohlcv",
    about: "bars without a header, as freqtrade, ccxt and Kraken write them: time, open, high, low, close, volume",
    rows: "candles",
    order: ["time", "open", "high", "low", "close", "volume"],
  },
  {
    name: "ohlcv-count",
    about: "bars without a header and with the number of trades, as Kraken writes them",
    rows: "candles",
    order: ["time", "open", "high", "low", "close", "volume", "?count"],
  },
  {
    name: "bitfinex-candles",
    about: "Bitfinex candles without a header: time, open, close, high, low, volume",
    rows: "candles",
    order: ["time", "open", "close", "high", "low", "volume"],
  },
  {
    name: "coinbase-candles",
    about: "Coinbase candles without a header: time, low, high, open, close, volume",
    rows: "candles",
    order: ["time", "low", "high", "open", "close", "volume"],
  },
  {
    name: "freqtrade-trades",
    about: "freqtrade trades as JSON: time, id, type, side, price, amount, cost",
    rows: "trades",
    order: ["time", "id", "?", "side", "price", "qty", "?number"],
  },
  {
    name: "ccxt-trades",
    about: "ccxt trades as JSON objects",
    rows: "trades",
    columns: { time: ["timestamp"], price: ["price"], qty: ["amount"], side: ["side"], symbol: ["symbol"], id: ["id"] },
    marks: ["takerOrMaker", "amount", "side"],
  },
  {
    name: "ccxt-tickers",
    about: "ccxt tickers as JSON objects",
    rows: "quotes",
    columns: {
      time: ["timestamp"],
      bid: ["bid"],
      bidQty: ["bidVolume"],
      ask: ["ask"],
      askQty: ["askVolume"],
      symbol: ["symbol"],
    },
    marks: ["bidVolume", "askVolume", "quoteVolume"],
  },
  {
    name: "ccxt-books",
    about: "ccxt order books as JSON objects",
    rows: "book",
    columns: {
      time: ["timestamp"],
      bid: ["bids"],
      bidQty: ["bids"],
      ask: ["asks"],
      askQty: ["asks"],
      symbol: ["symbol"],
    },
    marks: ["bids", "asks", "nonce"],
  },
  {
    name: "nautilus-bars",
    about: "bars of a Nautilus catalog",
    rows: "candles",
    columns: { ...nautilus, ...bars, volume: ["volume"] },
    marks: nautilusMarks,
    timestamp: "close",
  },
  {
    name: "nautilus-trades",
    about: "trades of a Nautilus catalog",
    rows: "trades",
    columns: { ...nautilus, price: ["price"], qty: ["size"], side: ["aggressor_side"], id: ["trade_id"] },
    marks: [...nautilusMarks, "aggressor_side"],
    sides: { buy: ["1", "BUYER"], sell: ["2", "SELLER"], none: ["0", "NO_AGGRESSOR"] },
  },
  {
    name: "nautilus-quotes",
    about: "best prices of a Nautilus catalog",
    rows: "quotes",
    columns: { ...nautilus, bid: ["bid_price"], bidQty: ["bid_size"], ask: ["ask_price"], askQty: ["ask_size"] },
    marks: nautilusMarks,
  },
  {
    name: "cryptodatadownload",
    about: "CryptoDataDownload bars",
    rows: "candles",
    columns: { time: ["unix", "unix timestamp"], ...bars, volume: ["volume {base}", "volume"], symbol: ["symbol"] },
    marks: ["date", "symbol", "open", "volume*", "unix*"],
  },
  {
    name: "yfinance",
    about: "bars that yfinance writes with three rows of names",
    rows: "candles",
    columns: { time: ["price"], ...bars, volume: ["volume"] },
    marks: ["price", "open", "close"],
    skip: ["Ticker", "Date", "Datetime"],
    singles: true,
    caution: "Yahoo counts the volume of currencies in the quote currency",
  },
  {
    name: "yahoo",
    about: "Yahoo Finance bars",
    rows: "candles",
    columns: { time: ["date", "datetime"], ...bars, volume: ["volume"] },
    marks: ["adj close"],
    singles: true,
    caution:
      'Yahoo counts the volume of currencies in the quote currency; prices are those of "Close", not of "Adj Close"',
  },
];
