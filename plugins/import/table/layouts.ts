/**
 * The layouts of market-data files that are known by themselves.
 *
 * Invariants: a layout with more marks is the more exact one and wins over those with fewer; the last ones have none
 * and take files by the usual names of columns.
 * Not here: the meaning of fields (layout.ts), files of programs and collectors (program-layouts.ts), detection of a
 * layout (detect.ts).
 */
import type { Layout, Role } from "./layout.ts";
import { bars, programs } from "./program-layouts.ts";

/** Exchanges whose amounts count contracts, of a size of their own or of the quote currency. */
const contractExchanges =
  "^(okex-swap|okex-futures|bitmex|deribit|huobi-dm|huobi-dm-swap|huobi-dm-linear-swap|gate-io-futures|kucoin-futures|cryptofacilities|binance-delivery):";
const tardis: Readonly<Partial<Record<Role, readonly string[]>>> = {
  time: ["local_timestamp"],
  exchangeTime: ["timestamp"],
  symbol: ["symbol"],
  exchange: ["exchange"],
};
const tardisMarks = ["exchange", "symbol", "local_timestamp"];
/** All names of columns that are understood without a layout of their own. */
const usual = {
  time: [
    "timestamp",
    "open_time",
    "opentime",
    "time",
    "datetime",
    "date",
    "unix",
    "unix_timestamp",
    "ts",
    "t",
    "start",
    "start_time",
    "start_at",
    "mts",
  ],
  open: ["open", "o", "open_price", "price_open"],
  high: ["high", "h", "high_price", "price_high"],
  low: ["low", "l", "low_price", "price_low"],
  close: ["close", "c", "close_price", "price_close"],
  volume: ["volume", "vol", "v", "base_volume", "volume_base", "volume {base}", "volume({base})", "real_volume"],
  price: ["price", "px", "p", "rate"],
  qty: ["qty", "quantity", "size", "amount", "volume", "vol", "sz", "q", "base_qty", "base_volume"],
  side: ["side", "taker_side", "aggressor_side"],
  buyerIsMaker: ["is_buyer_maker", "buyer_maker", "m"],
  id: ["id", "trade_id", "tid"],
  symbol: ["symbol", "instrument", "inst_id", "instrument_name", "pair", "ticker"],
  bid: ["bid", "bid_price", "best_bid", "best_bid_price", "bid_px"],
  bidQty: [
    "bid_qty",
    "bid_size",
    "bid_amount",
    "bid_quantity",
    "bid_volume",
    "best_bid_qty",
    "best_bid_size",
    "bid_sz",
  ],
  ask: ["ask", "ask_price", "best_ask", "best_ask_price", "ask_px"],
  askQty: [
    "ask_qty",
    "ask_size",
    "ask_amount",
    "ask_quantity",
    "ask_volume",
    "best_ask_qty",
    "best_ask_size",
    "ask_sz",
  ],
} as const satisfies Partial<Record<Role, readonly string[]>>;

const { time, symbol, price, qty, side, buyerIsMaker, id, bid, bidQty, ask, askQty } = usual;
const candleColumns = {
  time,
  open: usual.open,
  high: usual.high,
  low: usual.low,
  close: usual.close,
  volume: usual.volume,
  symbol,
};

const binance: readonly Layout[] = [
  {
    name: "binance-klines",
    about: "Binance Vision klines, spot and futures",
    rows: "candles",
    // Coin-margined futures count contracts, and the base currency where others have the quote currency.
    columns: {
      time: ["open_time"],
      endTime: ["close_time"],
      ...bars,
      volume: ["volume"],
      baseVolume: ["quote_volume"],
    },
    marks: ["open_time", "close_time", "count", "taker_buy_volume"],
    order: [
      "time",
      "open",
      "high",
      "low",
      "close",
      "volume",
      "endTime",
      "baseVolume",
      "?count",
      "?number",
      "?number",
      "?",
    ],
    contracts: "-USD-SWAP$",
  },
  {
    name: "binance-trades",
    about: "Binance Vision trades, spot and futures",
    rows: "trades",
    columns: { time: ["time"], price: ["price"], qty: ["qty"], buyerIsMaker: ["is_buyer_maker"], id: ["id"] },
    marks: ["id", "qty", "quote_qty", "is_buyer_maker"],
    order: ["id", "price", "qty", "?number", "time", "buyerIsMaker", "?flag"],
  },
  {
    name: "binance-futures-trades",
    about: "Binance Vision trades of futures, without a header",
    rows: "trades",
    order: ["id", "price", "qty", "?number", "time", "buyerIsMaker"],
  },
  {
    name: "binance-aggtrades",
    about: "Binance Vision aggregated trades, spot and futures",
    rows: "trades",
    columns: {
      time: ["transact_time"],
      price: ["price"],
      qty: ["quantity"],
      buyerIsMaker: ["is_buyer_maker"],
      id: ["agg_trade_id"],
    },
    marks: ["agg_trade_id", "first_trade_id", "last_trade_id"],
    order: ["id", "price", "qty", "?count", "?count", "time", "buyerIsMaker", "?flag"],
  },
  {
    name: "binance-futures-aggtrades",
    about: "Binance Vision aggregated trades of futures, without a header",
    rows: "trades",
    order: ["id", "price", "qty", "?count", "?count", "time", "buyerIsMaker"],
  },
  {
    name: "binance-bookticker",
    about: "Binance Vision best prices of futures",
    rows: "quotes",
    columns: {
      time: ["transaction_time"],
      bid: ["best_bid_price"],
      bidQty: ["best_bid_qty"],
      ask: ["best_ask_price"],
      askQty: ["best_ask_qty"],
    },
    marks: ["update_id", "best_bid_price", "best_ask_price", "transaction_time", "event_time"],
    order: ["?count", "bid", "bidQty", "ask", "askQty", "time", "?time"],
  },
];

const otherExchanges: readonly Layout[] = [
  {
    name: "bybit-trades",
    about: "Bybit trades of derivatives",
    rows: "trades",
    columns: {
      time: ["timestamp"],
      price: ["price"],
      qty: ["size"],
      side: ["side"],
      symbol: ["symbol"],
      id: ["trdMatchID"],
    },
    marks: ["tickDirection", "trdMatchID"],
    // Inverse contracts count dollars.
    contracts: "USD$",
  },
  {
    name: "bybit-spot-trades",
    about: "Bybit trades of spot pairs",
    rows: "trades",
    columns: { time: ["timestamp"], price: ["price"], qty: ["volume"], side: ["side"], id: ["id"] },
    marks: ["id", "timestamp", "price", "volume", "side"],
  },
  {
    name: "okx-trades",
    about: "OKX trades",
    rows: "trades",
    columns: {
      time: ["created_time"],
      price: ["price"],
      qty: ["size"],
      side: ["side"],
      id: ["trade_id"],
      symbol: ["instrument_name"],
    },
    marks: ["trade_id", "side", "size", "price", "created_time"],
    contracts: "-SWAP$|-\\d{6}$",
  },
  {
    name: "okx-candles",
    about: "OKX candles",
    rows: "candles",
    // Of swaps `vol` counts contracts and `vol_ccy` the base currency; of spot pairs `vol` is the base currency.
    columns: { time: ["open_time"], ...bars, volume: ["vol"], baseVolume: ["vol_ccy"], symbol: ["instrument_name"] },
    marks: ["vol_ccy", "vol_quote", "confirm"],
    contracts: "-SWAP$|-\\d{6}$",
  },
  {
    name: "tardis-trades",
    about: "Tardis trades",
    rows: "trades",
    columns: { ...tardis, id: ["id"], side: ["side"], price: ["price"], qty: ["amount"] },
    marks: [...tardisMarks, "id", "side"],
    contracts: contractExchanges,
  },
  {
    name: "tardis-quotes",
    about: "Tardis quotes and book_ticker",
    rows: "quotes",
    columns: { ...tardis, bid: ["bid_price"], bidQty: ["bid_amount"], ask: ["ask_price"], askQty: ["ask_amount"] },
    marks: [...tardisMarks, "ask_amount", "bid_amount"],
    contracts: contractExchanges,
  },
  {
    name: "tardis-book-snapshots",
    about: "Tardis book_snapshot_25 and book_snapshot_5",
    rows: "book",
    columns: {
      ...tardis,
      bid: ["bids[#].price"],
      bidQty: ["bids[#].amount"],
      ask: ["asks[#].price"],
      askQty: ["asks[#].amount"],
    },
    marks: [...tardisMarks, "asks[0].price", "bids[0].price"],
    contracts: contractExchanges,
  },
  {
    name: "tardis-book-changes",
    about: "Tardis incremental_book_L2",
    rows: "changes",
    columns: { ...tardis, snapshot: ["is_snapshot"], side: ["side"], price: ["price"], qty: ["amount"] },
    marks: [...tardisMarks, "is_snapshot"],
    contracts: contractExchanges,
  },
];

const generic: readonly Layout[] = [
  {
    name: "candles",
    about: "bars by the usual names of columns, such as a TradingView export",
    rows: "candles",
    columns: candleColumns,
  },
  {
    name: "trades",
    about: "trades by the usual names of columns",
    rows: "trades",
    columns: { time, price, qty, side, buyerIsMaker, id, symbol },
  },
  {
    name: "quotes",
    about: "best prices by the usual names of columns",
    rows: "quotes",
    columns: { time, bid, bidQty, ask, askQty, symbol },
  },
];

export const layouts: readonly Layout[] = [...binance, ...otherExchanges, ...programs, ...generic];
