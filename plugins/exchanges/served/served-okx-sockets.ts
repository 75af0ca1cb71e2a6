/**
 * Sockets of OKX v5: three addresses, channels with product kinds, pushes without a time of their own.
 *
 * Invariants: an argument is repeated as it was given; book rows have four columns and carry seqId and prevSeqId in the
 * record; sizes of swaps are contracts; a subscription receives only what it names.
 * Source: OKX v5 as its public clients send and read it (served-okx.ts).
 * Not here: the records (served-okx-records.ts), logins (served-okx.ts).
 */
import { instTypeOf, type wire } from "sluice/dialect";
import type { venueAnswers } from "sluice/extension";
import type { Service, Speech, Wanted } from "sluice/plugins/venue-server";
import { accountOf, type OkxRecord, orderOf, positionOf } from "./served-okx-records.ts";
import { known, sizeOf, type Texts, textsOf } from "./wire-fields.ts";

export const okxSocketPaths = ["/ws/v5/public", "/ws/v5/private", "/ws/v5/business"] as const;

interface Channel {
  /** The venue's channel behind it. */
  readonly ours: string;
  readonly path: (typeof okxSocketPaths)[number];
  /** Field that an argument must contain in addition to the channel. */
  readonly names?: "instId" | "instType";
}

const channels: Readonly<Record<string, Channel>> = {
  trades: { ours: "trades", path: "/ws/v5/public", names: "instId" },
  tickers: { ours: "tickers", path: "/ws/v5/public", names: "instId" },
  "bbo-tbt": { ours: "tickers", path: "/ws/v5/public", names: "instId" },
  books: { ours: "books", path: "/ws/v5/public", names: "instId" },
  candle1m: { ours: "candle1m", path: "/ws/v5/business", names: "instId" },
  orders: { ours: "orders", path: "/ws/v5/private", names: "instType" },
  positions: { ours: "positions", path: "/ws/v5/private", names: "instType" },
  account: { ours: "account", path: "/ws/v5/private" },
};

const instTypes = ["SPOT", "MARGIN", "SWAP", "FUTURES", "OPTION", "ANY"];
const named = ["channel", "instType", "instFamily", "instId", "ccy"];
const lengthMax = 48;

export const subscribeOkx = (given: unknown, path: string): Wanted | venueAnswers.Refusal => {
  const told = textsOf(given);
  const echo = known(Object.fromEntries(named.map((name) => [name, told[name]?.slice(0, lengthMax)]))) as Texts;
  const { channel = "", instId, instType = "" } = echo;
  const found = Object.hasOwn(channels, channel) ? channels[channel] : undefined;
  if (found === undefined || found.path !== path) {
    const asked = Object.entries(echo).map(([name, text]) => `${name}:${text}`);
    const msg = `Wrong URL or ${asked.join(",")} doesn't exist. Please use the correct URL, channel and parameters referring to API document.`;
    return { code: "60018", msg };
  }
  if (found.names === "instId" && instId === undefined)
    return { code: "60012", msg: `Invalid request: ${JSON.stringify(echo)}` };
  if (found.names === "instType" && !instTypes.includes(instType))
    return { code: "60013", msg: `Invalid args: ${JSON.stringify(echo)}` };
  const arg = found.names === "instId" ? { channel: found.ours, instId: instId ?? "" } : { channel: found.ours };
  return { arg, stream: JSON.stringify(echo), echo };
};

/** Maps the codes of the profile to those of a socket. */
const socketCodes = ({ contract }: Service): Readonly<Record<string, string>> => {
  const { badRequestCode, authCode, instrumentCode, limitedCode, permissionCode } = contract.profile.answers;
  return {
    [badRequestCode]: "60012",
    [authCode]: "60011",
    [instrumentCode]: "60018",
    [limitedCode]: "60014",
    [permissionCode]: "60029",
  };
};

const connId = "00000000";

export const sayOkx = (service: Service): Speech["say"] => {
  const codes = socketCodes(service);
  return (reply) => {
    if (reply.event !== "error")
      return JSON.stringify({ ...reply, ...(reply.event === "login" && { msg: "" }), connId });
    const { code, msg, arg } = reply;
    const about = arg === undefined || code.startsWith("600") ? msg : `${msg} ${JSON.stringify(arg)}`;
    return JSON.stringify({ event: "error", code: codes[code] ?? code, msg: about, connId });
  };
};

type Level = readonly [px: string, sz: string];
interface Book {
  readonly instId: string;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly ts: string;
}

const tickerOf = (service: Service, { instId, bidSz, askSz, ...prices }: wire.channels.TickerMessage): OkxRecord => ({
  instType: instTypeOf(instId),
  instId,
  ...prices,
  lastSz: "",
  bidSz: sizeOf(service, instId, bidSz),
  askSz: sizeOf(service, instId, askSz),
  open24h: "",
  high24h: "",
  low24h: "",
  volCcy24h: "",
  vol24h: "",
});

const candleOf = (
  service: Service,
  { instId, ts, open, high, low, close, volume, confirm }: wire.channels.CandleMessage,
): readonly string[] => {
  const base = instTypeOf(instId) === "SWAP" ? volume : "";
  return [ts, open, high, low, close, sizeOf(service, instId, volume), base, "", confirm];
};

interface Numbers {
  readonly seqId: number;
  readonly prevSeqId?: number;
}

const bookOf = (service: Service, { instId, bids, asks, ts }: Book, numbers: Numbers): OkxRecord => {
  const rows = (levels: readonly Level[]): readonly (readonly string[])[] =>
    levels
      .filter(([px]) => px !== "")
      .map(([px, sz]) => [px, sizeOf(service, instId, sz), "0", sz === "0" ? "0" : "1"]);
  return { asks: rows(asks), bids: rows(bids), ts, ...numbers };
};

/** The best level of each side, whole every time. */
const bestOf = (
  service: Service,
  { instId, bidPx, bidSz, askPx, askSz, ts }: wire.channels.TickerMessage,
  seqId: number,
): OkxRecord => bookOf(service, { instId, bids: [[bidPx, bidSz]], asks: [[askPx, askSz]], ts }, { seqId });

const records = (
  service: Service,
  channel: string,
  data: readonly unknown[],
  numbers: Required<Numbers>,
  ts: number,
): readonly unknown[] => {
  switch (channel) {
    case "trades":
      return (data as readonly wire.channels.TradeMessage[]).map((one) => ({
        ...one,
        sz: sizeOf(service, one.instId, one.sz),
        count: "1",
      }));
    case "tickers":
      return (data as readonly wire.channels.TickerMessage[]).map((one) => tickerOf(service, one));
    case "bbo-tbt":
      return (data as readonly wire.channels.TickerMessage[]).map((one) => bestOf(service, one, numbers.seqId));
    case "books":
      return (data as readonly Book[]).map((one) => ({ ...bookOf(service, one, numbers), checksum: 0 }));
    case "candle1m":
      return (data as readonly wire.channels.CandleMessage[]).map((one) => candleOf(service, one));
    case "orders":
      return (data as readonly Readonly<Record<string, string>>[]).map(orderOf);
    case "positions":
      return (data as readonly Readonly<Record<string, string>>[]).map(positionOf);
    default:
      return [accountOf(data as readonly Readonly<Record<string, string>>[], String(ts))];
  }
};

/** Private channels are listened to by kind, and by product where one is named. */
const chosen = ({ channel, instType, instId }: Texts, list: readonly unknown[]): readonly unknown[] => {
  if (channel !== "orders" && channel !== "positions") return list;
  return (list as readonly OkxRecord[]).filter(
    (record) =>
      (instType === "ANY" || record["instType"] === instType) && (instId === undefined || record["instId"] === instId),
  );
};

export const writeOkx =
  (service: Service): Speech["writer"] =>
  ({ echo }) => {
    const arg = echo as Texts;
    return ({ data, action, seqId, prevSeqId }, ts) => {
      const list = chosen(
        arg,
        records(service, arg["channel"] ?? "", JSON.parse(data) as unknown[], { seqId, prevSeqId }, ts),
      );
      if (list.length === 0) return undefined;
      return JSON.stringify({ arg, ...(arg["channel"] === "books" && { action }), data: list });
    };
  };
