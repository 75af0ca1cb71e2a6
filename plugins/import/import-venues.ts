/**
 * Websocket messages of several exchanges in the shape of one: trades, best prices, books and bars as Binance sends
 * them.
 *
 * Invariants: a message becomes one message for each of its facts; numbers become decimal text of the same value; sides
 * are the aggressor's; unknown messages keep a name of their own, to be counted; where an exchange counts contracts,
 * quantities become base currency or are refused.
 * Not here: the use of the messages (import-messages.ts), the chain of a book (import-book.ts).
 */
import { microsecondsOf } from "./import-instants.ts";
import { plainDigits } from "./table/cell-kinds.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Input of a translation besides the message. */
interface Translation {
  /** The number of the line: exchanges without update ids have their books chained by it. */
  readonly line: number;
  /** A quantity of `symbol` that counts contracts, in base currency. */
  readonly inBase: (symbol: string, contracts: string) => string;
}

type Translate = (value: Fields, translation: Translation) => readonly Fields[];

interface Venue {
  readonly is: (value: Fields) => boolean;
  readonly messages: Translate;
}

export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const objects = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);
const text = (value: unknown): string =>
  typeof value === "number" ? plainDigits(String(value)) : typeof value === "string" ? value : "";

/**
 * Returns the time in milliseconds, or in microseconds where the exchange has them, as a whole number; without `T` if
 * there is no time.
 */
const timeOf = (value: unknown): { readonly T?: number } => {
  const us = microsecondsOf(text(value));
  return us === undefined ? {} : { T: us % 1_000 === 0 ? us / 1_000 : us };
};

interface Print {
  readonly s: string;
  readonly at: unknown;
  readonly px: unknown;
  readonly qty: unknown;
  /** The aggressor's. */
  readonly sold: boolean;
  readonly id: unknown;
}

const trade = ({ s, at, px, qty, sold, id }: Print): Fields => ({
  e: "trade",
  s,
  t: text(id),
  ...timeOf(at),
  p: text(px),
  q: text(qty),
  m: sold,
});

type Level = readonly [unknown, unknown];

const quote = (s: string, at: unknown, [bid, bidQty]: Level, [ask, askQty]: Level): Fields => {
  const [b, B, a, A] = [bid, bidQty, ask, askQty].map((value) => text(value) || "0");
  return { e: "bookTicker", s, ...timeOf(at), b, B, a, A };
};

/** `[price, quantity]` of each level; what follows them is left out. */
const pairs = (
  levels: unknown,
  scale: (qty: string) => string = (qty) => qty,
): readonly (readonly [string, string])[] =>
  Array.isArray(levels) ? levels.filter(Array.isArray).map(([px, qty]: unknown[]) => [text(px), scale(text(qty))]) : [];

const unknown = (what: string): readonly Fields[] => [{ e: what }];

const sells = (side: unknown): boolean => /^(sell|s)$/i.test(text(side));

const okx: Venue = {
  is: ({ arg }) => isObject(arg) && typeof arg["channel"] === "string",
  messages: ({ arg, action, event, data }, { inBase }) => {
    const { channel, instId: s } = arg as { readonly channel: string; readonly instId: string };
    if (event !== undefined) return unknown(`OKX ${text(event)}`);
    const scale = (qty: string): string => (/-SWAP$|-\d{6}$/.test(s) ? inBase(s, qty) : qty);
    if (channel === "trades" || channel === "trades-all")
      return objects(data).map(({ ts, px, sz, side, tradeId: id }) =>
        trade({ s, at: ts, px, qty: scale(text(sz)), sold: sells(side), id }),
      );
    if (channel === "bbo-tbt")
      return objects(data).map(({ ts, bids, asks }) =>
        quote(s, ts, pairs(bids, scale)[0] ?? ["", ""], pairs(asks, scale)[0] ?? ["", ""]),
      );
    if (/^books/.test(channel))
      return objects(data).map(({ ts, bids, asks, seqId, prevSeqId }) => {
        const sides = { bids: pairs(bids, scale), asks: pairs(asks, scale) };
        if (action !== "update") return { s, ...timeOf(ts), lastUpdateId: seqId, ...sides, anew: true };
        return {
          e: "depthUpdate",
          s,
          ...timeOf(ts),
          U: Number(prevSeqId) + 1,
          u: seqId,
          pu: prevSeqId,
          b: sides.bids,
          a: sides.asks,
        };
      });
    const size = sizeOf(channel);
    if (size === undefined || !Array.isArray(data)) return unknown(`OKX ${channel}`);
    return data.filter(Array.isArray).map((bar: readonly unknown[]) => {
      const [t, o, h, l, c, volume, base] = bar.map(text);
      // The volume of swaps counts contracts, and the field after it the base currency.
      const v = /-SWAP$|-\d{6}$/.test(s) ? base : volume;
      return { e: "bar", s, t: Number(t), ...size, o, h, l, c, v, closed: bar.at(-1) === "1" };
    });
  },
};

/** Length of the bars of an OKX channel. Its months begin at midnight in Hong Kong, or in UTC for a channel of that name. */
const sizeOf = (channel: string): { readonly ms: number } | typeof month | { readonly month: "16:00" } | undefined => {
  if (channel === "candle1M") return { month: "16:00" };
  if (channel === "candle1Mutc") return month;
  const length = /^candle(\d+)([smHDW])/.exec(channel);
  return length === null ? undefined : { ms: Number(length[1]) * (lengths[length[2] as string] as number) };
};

/** Months of UTC, by the time of day at which they begin. */
const month = { month: "00:00" } as const;

const lengths: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, H: 3_600_000, D: 86_400_000, W: 604_800_000 };

const bybit: Venue = {
  is: ({ topic, data }) => typeof topic === "string" && data !== undefined,
  messages: ({ topic, type, ts, cts, data }) => {
    const [channel = "", ...rest] = text(topic).split(".");
    const s = rest.at(-1) ?? "";
    if (channel === "publicTrade")
      return objects(data).map(({ T, p, v, S, i: id }) => trade({ s, at: T, px: p, qty: v, sold: sells(S), id }));
    if (channel === "orderbook" && isObject(data)) {
      const { b, a, u } = data;
      const time = timeOf(cts ?? ts);
      // A snapshot starts a new book, also where the exchange started counting again.
      if (type === "snapshot") return [{ s, ...time, lastUpdateId: u, bids: pairs(b), asks: pairs(a), anew: true }];
      return [{ e: "depthUpdate", s, ...time, U: u, u, b: pairs(b), a: pairs(a) }];
    }
    if (channel !== "kline") return unknown(`Bybit ${channel}`);
    return objects(data).map(({ start, end, interval, open, high, low, close, volume, confirm }) => {
      const [o, h, l, c, v] = [open, high, low, close, volume].map(text);
      return {
        e: "bar",
        s,
        ...timeOf(ts),
        t: start,
        ...(interval === "M" ? month : { ms: Number(end) + 1 - Number(start) }),
        o,
        h,
        l,
        c,
        v,
        closed: confirm === true,
      };
    });
  },
};

/** Makes a change of a book whose exchange has no update ids: it follows any earlier message. */
const follows = (line: number) => ({ e: "depthUpdate", U: 0, u: line });

const coinbase: Venue = {
  is: ({ type, product_id: product }) => typeof type === "string" && typeof product === "string",
  messages: (message, { line }) => {
    const {
      type,
      product_id: s,
      time,
      price,
      size,
      side,
      bids,
      asks,
      changes,
    } = message as Fields & { readonly product_id: string };
    // The side is that of the order that was resting.
    if (type === "match")
      return [trade({ s, at: time, px: price, qty: size, sold: !sells(side), id: message["trade_id"] })];
    if (type === "ticker" && message["best_bid_size"] !== undefined)
      return [
        quote(
          s,
          time,
          [message["best_bid"], message["best_bid_size"]],
          [message["best_ask"], message["best_ask_size"]],
        ),
      ];
    if (type === "snapshot")
      return [{ s, ...timeOf(time), lastUpdateId: line, bids: pairs(bids), asks: pairs(asks), anew: true }];
    if (type !== "l2update") return unknown(`Coinbase ${text(type)}`);
    const of = (isSell: boolean) =>
      (changes as readonly (readonly unknown[])[]).filter(([one]) => sells(one) === isSell).map((one) => one.slice(1));
    return [{ ...follows(line), s, ...timeOf(time), b: pairs(of(false)), a: pairs(of(true)) }];
  },
};

const coinbaseAdvanced: Venue = {
  is: ({ channel, events }) => typeof channel === "string" && Array.isArray(events),
  messages: ({ channel, timestamp, events }, { line }) =>
    objects(events).flatMap(({ type, trades, product_id: s, updates }) => {
      // Trades of a snapshot are older than the recording.
      if (channel === "market_trades" && type === "update")
        return objects(trades)
          .map(({ product_id: symbol, time, price, size, side, trade_id: id }) =>
            trade({ s: text(symbol), at: time, px: price, qty: size, sold: !sells(side), id }),
          )
          .reverse();
      if (channel !== "l2_data") return unknown(`Coinbase ${text(channel)} ${text(type)}`);
      const of = (bid: boolean) =>
        objects(updates)
          .filter(({ side }) => (side === "bid") === bid)
          .map(({ price_level: px, new_quantity: qty }) => [text(px), text(qty)]);
      const time = timeOf(timestamp);
      if (type === "snapshot") return [{ s, ...time, lastUpdateId: line, bids: of(true), asks: of(false), anew: true }];
      return [{ ...follows(line), s, ...time, b: of(true), a: of(false) }];
    }),
};

/**
 * Books of Kraken are not among them: levels leave them unannounced when they fall out of the depth that was asked for.
 */
const kraken: Venue = {
  is: ({ channel, data }) => typeof channel === "string" && Array.isArray(data),
  messages: ({ channel, type, data }) =>
    objects(data).flatMap((row) => {
      const { symbol, timestamp, side, price, qty, bid, bid_qty: bidQty, ask, ask_qty: askQty, trade_id: id } = row;
      const s = text(symbol);
      if (channel === "trade" && type === "update")
        return [trade({ s, at: timestamp, px: price, qty, sold: sells(side), id })];
      if (channel === "ticker") return [quote(s, timestamp, [bid, bidQty], [ask, askQty])];
      return unknown(`Kraken ${text(channel)} ${text(type)}`);
    }),
};

const bitmex: Venue = {
  is: ({ table, data }) => typeof table === "string" && Array.isArray(data),
  messages: ({ table, action, data }, { line, inBase }) =>
    objects(data).flatMap((row): readonly Fields[] => {
      const { symbol, timestamp, side, price, size, homeNotional } = row;
      const s = text(symbol);
      const scale = (qty: string): string => inBase(s, qty);
      if (table === "trade" && action === "insert") {
        const qty = homeNotional === undefined ? scale(text(size)) : text(homeNotional);
        return [trade({ s, at: timestamp, px: price, qty, sold: sells(side), id: row["trdMatchID"] })];
      }
      if (table === "quote" && action === "insert")
        return [
          quote(
            s,
            timestamp,
            [row["bidPrice"], scale(text(row["bidSize"]))],
            [row["askPrice"], scale(text(row["askSize"]))],
          ),
        ];
      if (table !== "orderBook10") return unknown(`BitMEX ${text(table)} ${text(action)}`);
      return [
        {
          s,
          ...timeOf(timestamp),
          lastUpdateId: line,
          bids: pairs(row["bids"], scale),
          asks: pairs(row["asks"], scale),
          anew: true,
        },
      ];
    }),
};

/** Returns messages unchanged, except bars, and without the wrapping of the combined stream. */
const binance: Venue = {
  is: () => true,
  messages: (value) => {
    const { data = value } = value as { readonly data?: Fields };
    if (!isObject(data) || data["e"] !== "kline" || !isObject(data["k"])) return [data];
    const { t, T, i, x, o, h, l, c, v } = data["k"];
    const size = i === "1M" ? month : { ms: Number(T) + 1 - Number(t) };
    return [{ e: "bar", s: data["s"], E: data["E"], t, ...size, o, h, l, c, v, closed: x === true }];
  },
};

const venues: readonly Venue[] = [okx, bybit, coinbase, coinbaseAdvanced, kraken, bitmex, binance];

export const venueMessages: Translate = (value, translation) =>
  (venues.find(({ is }) => is(value)) as Venue).messages(value, translation);

/**
 * Returns true if JSON without a receive time on a line is a message, or part of the protocol around an exchange's
 * messages.
 */
export const isMessage = (value: Fields): boolean =>
  venues.some((venue) => venue !== binance && venue.is(value)) ||
  (typeof value["stream"] === "string" && isObject(value["data"])) ||
  (typeof value["e"] === "string" && value["E"] !== undefined) ||
  ["event", "op", "method", "subscribe", "success", "subscriptions"].some((name) => value[name] !== undefined) ||
  value["type"] === "subscriptions";
