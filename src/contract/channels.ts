/**
 * Messages of the WebSocket: requests, acknowledgements and pushes, one schema each.
 *
 * Invariants: everything here fills gap G14, as the description names no channel and no message; records of private
 * channels are those of the REST listings. Every push carries `ts`; with `websocket.sequenced` also `seqId`, and
 * `prevSeqId` naming the message of the same channel and instrument before it on the same connection (-1 before the
 * first).
 * Not here: names of channels, intervals (profile.ts), limits of connections and subscriptions (limits.ts).
 */
import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import {
  type BalanceRecord,
  decimalText,
  digits,
  instId,
  type OrderRecord,
  type PositionRecord,
  text,
} from "./schemas.ts";

/** Subject of a subscription. Private channels take no instrument: they report all. */
export const channelArg = {
  type: "object",
  additionalProperties: false,
  required: ["channel"],
  properties: { channel: text, instId },
} as const satisfies JSONSchema;
/** A channel to subscribe to, and its instrument where it has one. */
export type ChannelArg = FromSchema<typeof channelArg>;

/** True where each message of the channel is complete by itself: after a lost message the next one is still correct. */
export const isSelfContained = ({ channel }: ChannelArg): boolean => channel === "tickers" || channel === "trades";

/**
 * Credentials of a login, with the signature of its timestamp.
 */
export const loginArg = {
  type: "object",
  additionalProperties: false,
  required: ["apiKey", "passphrase", "timestamp", "sign"],
  properties: { apiKey: text, passphrase: text, timestamp: text, sign: text },
} as const satisfies JSONSchema;
/**
 * Credentials of a login, with the signature of its timestamp.
 */
export type LoginArg = FromSchema<typeof loginArg>;

/**
 * Begins or ends subscriptions.
 */
export const subscribeRequest = {
  type: "object",
  additionalProperties: false,
  required: ["op", "args"],
  properties: {
    op: { type: "string", enum: ["subscribe", "unsubscribe"] },
    args: { type: "array", minItems: 1, items: channelArg },
  },
} as const satisfies JSONSchema;

/**
 * Opens the private channels of a connection.
 */
export const loginRequest = {
  type: "object",
  additionalProperties: false,
  required: ["op", "args"],
  properties: {
    op: { type: "string", const: "login" },
    args: { type: "array", minItems: 1, maxItems: 1, items: loginArg },
  },
} as const satisfies JSONSchema;

/**
 * Answer to a ping of the service.
 */
export const pongRequest = {
  type: "object",
  additionalProperties: false,
  required: ["op"],
  properties: { op: { type: "string", const: "pong" } },
} as const satisfies JSONSchema;

/** Message of a client over a socket. */
export type SocketRequest =
  | { readonly op: "subscribe" | "unsubscribe"; readonly args: readonly ChannelArg[] }
  | { readonly op: "login"; readonly args: readonly Readonly<Record<string, string>>[] }
  | { readonly op: "pong" };

/** Quantities are counted in `websocket.szUnit`; `side` is the aggressor's; `ts` is when it happened, milliseconds. */
export const tradeMessage = {
  type: "object",
  additionalProperties: false,
  required: ["instId", "tradeId", "px", "sz", "side", "ts"],
  properties: {
    instId,
    tradeId: digits,
    px: decimalText,
    sz: decimalText,
    side: { type: "string", enum: ["buy", "sell"] },
    ts: digits,
  },
} as const satisfies JSONSchema;
/** A trade on the public channel. */
export type TradeMessage = FromSchema<typeof tradeMessage>;

/** Best bid and ask; empty text where there is none. */
export const tickerMessage = {
  type: "object",
  additionalProperties: false,
  required: ["instId", "last", "bidPx", "bidSz", "askPx", "askSz", "ts"],
  properties: { instId, last: text, bidPx: text, bidSz: text, askPx: text, askSz: text, ts: digits },
} as const satisfies JSONSchema;
/** Best bid and ask of an instrument; empty text where there is none. */
export type TickerMessage = FromSchema<typeof tickerMessage>;

const bookLevel = { type: "array", minItems: 2, maxItems: 2, items: decimalText } as const;

/**
 * Levels are [px, sz]; a size of 0 removes the price. The first message after subscribing is a whole book, the rest are
 * changes.
 */
export const bookMessage = {
  type: "object",
  additionalProperties: false,
  required: ["instId", "bids", "asks", "ts"],
  properties: {
    instId,
    bids: { type: "array", items: bookLevel },
    asks: { type: "array", items: bookLevel },
    ts: digits,
  },
} as const satisfies JSONSchema;
/** A whole book, or changes to it: a size of 0 removes the price. */
export interface BookMessage {
  readonly instId: string;
  readonly bids: readonly (readonly [px: string, sz: string])[];
  readonly asks: readonly (readonly [px: string, sz: string])[];
  readonly ts: string;
}

/** A bar of one minute so far; `ts` is its opening, `confirm` is "1" once it is over. */
export const candleMessage = {
  type: "object",
  additionalProperties: false,
  required: ["instId", "ts", "open", "high", "low", "close", "volume", "confirm"],
  properties: {
    instId,
    ts: digits,
    open: decimalText,
    high: decimalText,
    low: decimalText,
    close: decimalText,
    volume: decimalText,
    confirm: { type: "string", enum: ["0", "1"] },
  },
} as const satisfies JSONSchema;
/** A bar of one minute; `confirm` is "1" once it is over. */
export type CandleMessage = FromSchema<typeof candleMessage>;

/** Records by channel; the schema of a private channel's record is its REST listing's. */
export interface ChannelRecords {
  readonly trades: TradeMessage;
  readonly tickers: TickerMessage;
  readonly books: BookMessage;
  readonly candle1m: CandleMessage;
  readonly orders: OrderRecord;
  readonly positions: PositionRecord;
  readonly account: BalanceRecord;
}
/**
 * Name of a channel.
 */
export type ChannelName = keyof ChannelRecords;

/**
 * Messages of the service: acknowledgements (`event` is the op), refusals, pings, and pushes (`event` is the channel).
 */
export type SocketMessage =
  | { readonly event: "subscribe" | "unsubscribe"; readonly arg: ChannelArg; readonly ts: number }
  | { readonly event: "login"; readonly code: string; readonly ts: number }
  | {
      readonly event: "error";
      readonly code: string;
      readonly msg: string;
      readonly arg?: ChannelArg;
      readonly ts: number;
    }
  | { readonly event: "ping"; readonly ts: number }
  | PushMessage;

/**
 * A message of a channel: records, or rows of a market.
 */
export interface PushMessage<C extends ChannelName = ChannelName> {
  readonly event: C;
  readonly arg: ChannelArg;
  readonly data: readonly ChannelRecords[C][];
  readonly ts: number;
  /** Only for `books`: whether `data` is the whole book or changes to it. */
  readonly action?: "snapshot" | "update";
  readonly seqId?: number;
  readonly prevSeqId?: number;
}
