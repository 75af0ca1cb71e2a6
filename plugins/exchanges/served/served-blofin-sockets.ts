/**
 * Sockets of BloFin v1: two addresses, books as one object with numbers, renamed records.
 *
 * Invariants: an argument is repeated as it was given; sequence numbers are text and a snapshot follows 0; prices and
 * sizes of books are written as numbers digit by digit, so none is rounded; a subscription receives only what it names.
 * Source: BloFin's public API documentation.
 * Not here: the records (served-blofin-records.ts), logins (served-blofin.ts).
 */
import type { wire } from "sluice/dialect";
import type { venueAnswers } from "sluice/extension";
import type { Service, Speech, Wanted } from "sluice/plugins/venue-server";
import { accountOf, type BlofinRecord, orderOf, ourId, positionOf, theirId } from "./served-blofin-records.ts";
import { sizeOf, type Texts, textsOf } from "./wire-fields.ts";

export const blofinSocketPaths = ["/ws/public", "/ws/private"] as const;

const atPath: Readonly<Record<string, readonly string[]>> = {
  "/ws/public": ["trades", "tickers", "books", "candle1m"],
  "/ws/private": ["orders", "positions", "account"],
};

const lengthMax = 48;

export const subscribeBlofin = (given: unknown, path: string): Wanted | venueAnswers.Refusal => {
  const { channel = "", instId } = textsOf(given);
  const echo = {
    channel: channel.slice(0, lengthMax),
    ...(instId !== undefined && { instId: instId.slice(0, lengthMax) }),
  };
  const open = path === "/ws/public";
  if (!(atPath[path] ?? []).includes(channel) || (open && instId === undefined)) {
    return { code: "60012", msg: `Invalid request: ${JSON.stringify({ op: "subscribe", args: [echo] })}` };
  }
  const arg = open ? { channel, instId: ourId(instId ?? "") } : { channel };
  return { arg, stream: JSON.stringify(echo), echo };
};

export const sayBlofin: Speech["say"] = (reply) => {
  if (reply.event === "login") return JSON.stringify({ ...reply, msg: "" });
  if (reply.event !== "error") return JSON.stringify(reply);
  const { msg, arg } = reply;
  return JSON.stringify({
    event: "error",
    code: "60012",
    msg: arg === undefined ? msg : `${msg} ${JSON.stringify(arg)}`,
  });
};

const tradeOf = (
  service: Service,
  { instId, tradeId, px, sz, side, ts }: wire.channels.TradeMessage,
): BlofinRecord => ({
  instId: theirId(instId),
  tradeId,
  price: px,
  size: sizeOf(service, instId, sz),
  side,
  ts,
});

const tickerOf = (
  service: Service,
  { instId, last, bidPx, bidSz, askPx, askSz, ts }: wire.channels.TickerMessage,
): BlofinRecord => ({
  instId: theirId(instId),
  last,
  lastSize: "",
  askPrice: askPx,
  askSize: sizeOf(service, instId, askSz),
  bidPrice: bidPx,
  bidSize: sizeOf(service, instId, bidSz),
  open24h: "",
  high24h: "",
  low24h: "",
  volCurrency24h: "",
  vol24h: "",
  ts,
});

const candleOf = (
  service: Service,
  { instId, ts, open, high, low, close, volume, confirm }: wire.channels.CandleMessage,
): readonly string[] => [ts, open, high, low, close, sizeOf(service, instId, volume), volume, "", confirm];

/** Builds the JSON text of a book; decimal text is written unchanged as a JSON number. */
const bookText = (
  service: Service,
  { instId, bids, asks, ts }: wire.channels.BookMessage,
  seqId: number,
  prevSeqId: number,
): string => {
  const rows = (levels: wire.channels.BookMessage["bids"]): string =>
    levels.map(([px, sz]) => `[${px},${sizeOf(service, instId, sz)}]`).join(",");
  return `{"asks":[${rows(asks)}],"bids":[${rows(bids)}],"ts":"${ts}","prevSeqId":"${prevSeqId + 1}","seqId":"${seqId + 1}"}`;
};

/** Builds an order as pushes report it: null in place of a missing client id. */
const pushedOrder = (service: Service, record: Readonly<Record<string, string>>): BlofinRecord => {
  const { filled_amount: filledAmount, clientOrderId, ...rest } = orderOf(service, record);
  return {
    instType: "SWAP",
    ...rest,
    clientOrderId: clientOrderId === "" ? null : clientOrderId,
    filledAmount,
    cancelSource: "",
  };
};

type OurRecords = readonly Readonly<Record<string, string>>[];

const records = (service: Service, channel: string, data: readonly unknown[]): readonly unknown[] => {
  switch (channel) {
    case "trades":
      return (data as readonly wire.channels.TradeMessage[]).map((one) => tradeOf(service, one));
    case "tickers":
      return (data as readonly wire.channels.TickerMessage[]).map((one) => tickerOf(service, one));
    case "candle1m":
      return (data as readonly wire.channels.CandleMessage[]).map((one) => candleOf(service, one));
    case "orders":
      return (data as OurRecords).map((one) => pushedOrder(service, one));
    default:
      return (data as OurRecords).map(positionOf);
  }
};

/** Spot products are none of this exchange, and a subscription may name one product. */
const isFor = ({ channel, instId }: Texts, record: Readonly<Record<string, string>>): boolean =>
  (channel !== "orders" && channel !== "positions") ||
  (record["instId"]?.endsWith("-SWAP") === true && (instId === undefined || record["instId"] === ourId(instId)));

export const writeBlofin =
  (service: Service): Speech["writer"] =>
  ({ echo }) => {
    const arg = echo as Texts;
    const { channel = "" } = arg;
    const opening = JSON.stringify({ arg }).slice(0, -1);
    return ({ data, action, seqId, prevSeqId }, ts) => {
      const list = (JSON.parse(data) as OurRecords).filter((record) => isFor(arg, record));
      if (list.length === 0) return undefined;
      if (channel === "account") return `${opening},"data":${JSON.stringify(accountOf(list, String(ts)))}}`;
      if (channel !== "books") {
        const named = channel === "orders" ? ',"action":"snapshot"' : "";
        return `${opening}${named},"data":${JSON.stringify(records(service, channel, list))}}`;
      }
      const [book] = list as unknown as readonly [wire.channels.BookMessage];
      return `${opening},"action":"${action ?? ""}","data":${bookText(service, book, seqId, prevSeqId)}}`;
    };
  };
