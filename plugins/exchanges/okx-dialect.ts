/**
 * OKX v5 as a dialect: spot and perpetual swaps settled in their quote currency, in the account mode of one side (net).
 *
 * Invariants: pure; input that the exchange does not accept, or that cannot be parsed, is an exception and never an
 * empty success; sizes are contracts for swaps and base currency for spot, so nothing above needs to know the exchange.
 * Source: public documentation of OKX v5.
 * Not here: records (okx-records.ts), codes (okx-codes.ts), limits (okx-limits.ts), hosts (okx.ts).
 */

import {
  type AmendBody,
  type CancelBody,
  type ChannelArg,
  type Dialect,
  type ElementResult,
  type EndpointName,
  instTypeOf,
  type ParsedMessage,
  type PlaceBody,
  type ProfileOverrides,
  type SignerOf,
  type SocketRequest,
  signerOf,
  type WireRequest,
  type WrittenCall,
} from "sluice/dialect";
import { answerOf, listOf, recordOf, twoSided, wordOf } from "./exchange-answer.ts";
import { hearIn } from "./exchange-socket.ts";
import { okxRejections, okxStatusOf } from "./okx-codes.ts";
import { okxLayers } from "./okx-limits.ts";
import { okxPushes, okxRecords } from "./okx-records.ts";
import { isRaw, type Raw } from "./record-table.ts";

/** OKX v5 for `live({ …, dialect })`; with `demo` requests are marked as demo trading. */
export const okxDialect = ({ demo = false }: { readonly demo?: boolean } = {}): Dialect => ({
  name: "okx-v5",
  profile,
  layers: okxLayers,
  // 30 connections of a sub-account to a private channel, 480 subscriptions of a connection an hour.
  sockets: { connectionsPerIp: 30, subscriptionsPerConnection: 100 },
  account: { path: "/api/v5/account/config", problem: (body) => twoSided(modeIn(body)) },
  signer: signerFor(demo),
  split,
  call,
  answer: answerOf({ statusOf: okxStatusOf, records: okxRecords, result }),
  socketPath: ({ channel }) => socketPaths[channel] ?? "/ws/v5/public",
  say,
  hear: hearIn({ argOf, records: okxPushes, bookOf, event }),
});

const profile: ProfileOverrides = {
  order: {
    szUnit: { SPOT: "base", SWAP: "contracts" },
    feeSign: "negative_is_cost",
    // For an account that pays fees in the currency received, the default; records name the currency.
    spotBuyFee: "base",
    timeUnit: "ms",
    stateAliases: { mmp_canceled: "canceled" },
    duplicateClOrdId: "refused_while_open",
  },
  answers: {
    authCode: "50113",
    permissionCode: "50120",
    unavailableCode: "50001",
    leverageCode: "59102",
    rejectionCodes: okxRejections,
  },
  cancelBatch: { elementsMax: 20, oneIdKind: true, envelopeCodeWhenMixed: "2", envelopeCodeWhenAllFailed: "1" },
  // Orders that were canceled without a fill are listed for two hours only.
  history: { unfilledCanceledVanish: true },
  instruments: { fieldNames: "short" },
  capabilities: { amend: true, cancelSpot: true },
  auth: {
    headerPrefix: "OK-ACCESS-",
    timestamp: "iso",
    toleranceMs: 30_000,
    prehash: ["timestamp", "method", "path", "query", "body"],
    digest: "base64",
  },
  websocket: { path: "/ws/v5/public", loginPath: "/users/self/verify", szUnit: "contracts" },
};

/** Signer of requests and logins: requests carry the time as ISO 8601, logins as whole seconds. */
const signerFor =
  (demo: boolean): SignerOf =>
  (seal, given) => {
    const requests = signerOf(seal, given);
    const logins = signerOf(seal, { ...given, auth: { ...given.auth, timestamp: "s" } });
    return {
      headers: (parts, wallAt) => ({ ...requests.headers(parts, wallAt), ...(demo && { "x-simulated-trading": "1" }) }),
      login: (wallAt) => logins.login(wallAt),
    };
  };

const kinds = ["SPOT", "SWAP"] as const;
const byKind: readonly EndpointName[] = ["instruments", "pendingOrders", "orderHistory"];

/**
 * Listings are of one kind of instrument each; without one, open orders of products that are not traded here would be
 * among them.
 */
const split: NonNullable<Dialect["split"]> = (endpoint, input) => {
  if (!byKind.includes(endpoint) || input["instType"] !== undefined) return [input];
  const { instId } = input;
  return (typeof instId === "string" ? [instTypeOf(instId)] : kinds).map((instType) => ({ ...input, instType }));
};

const paths: Readonly<Record<EndpointName, string>> = {
  instruments: "public/instruments",
  spotBalance: "account/balance",
  positions: "account/positions",
  getOrder: "trade/order",
  pendingOrders: "trade/orders-pending",
  orderHistory: "trade/orders-history",
  placeOrder: "trade/order",
  amendOrder: "trade/amend-order",
  cancelBatch: "trade/cancel-batch-orders",
  closePosition: "trade/close-position",
  setLeverage: "account/set-leverage",
};

const call = ({ endpoint, method, query, body }: WireRequest): WrittenCall => ({
  method,
  path: `/api/v5/${paths[endpoint]}`,
  query: queryOf(endpoint, query),
  body: body === undefined ? undefined : bodyOf(endpoint, body),
});

const queryOf = (endpoint: EndpointName, query: WireRequest["query"]): WireRequest["query"] => {
  if (endpoint === "positions") return { instType: "SWAP", ...query };
  if (endpoint !== "spotBalance") return query;
  const { currency, ...rest } = query;
  return currency === undefined ? rest : { ...rest, ccy: currency };
};

const bodyOf = (endpoint: EndpointName, body: unknown): unknown => {
  if (endpoint === "placeOrder") return placed(body as PlaceBody);
  if (endpoint === "amendOrder") {
    const { px, sz, ...ids } = body as AmendBody;
    return { ...ids, ...(px !== undefined && { newPx: px }), ...(sz !== undefined && { newSz: sz }) };
  }
  if (endpoint === "cancelBatch")
    return (body as CancelBody).map(({ instId, ordId, clOrdId }) => ({ instId, ...(ordId ? { ordId } : { clOrdId }) }));
  // Closing and leverage are of a margin mode here.
  return { mgnMode: modeDefault, ...(body as object) };
};

/** Margin mode if neither the order nor a setting names one; the same as in the profile. */
const modeDefault = "cross";

const placed = ({ mgnMode = modeDefault, reduceOnly, ...order }: PlaceBody): object => {
  const isSpot = instTypeOf(order.instId) === "SPOT";
  return {
    ...order,
    tdMode: isSpot ? "cash" : mgnMode,
    // Unsaid, a market order to buy would count quote currency, and one that is too large would be made smaller.
    ...(isSpot && order.ordType === "market" && { tgtCcy: "base_ccy", banAmend: true }),
    ...(reduceOnly === true && { reduceOnly }),
  };
};

/** A code may have a second one behind it, as in 51008_1000. */
const result = ({ ordId, clOrdId, sCode, sMsg }: Raw): ElementResult => {
  const code = wordOf(sCode).replace(/_\d+$/, "");
  if (code === "") throw new TypeError("a result without its code");
  return { ordId: wordOf(ordId), clOrdId: wordOf(clOrdId), sCode: code, sMsg: wordOf(sMsg) };
};

const modeIn = (body: unknown): unknown => {
  const [config] = isRaw(body) && Array.isArray(body["data"]) ? body["data"] : [];
  return isRaw(config) ? config["posMode"] : undefined;
};

const socketPaths: Readonly<Record<string, string>> = {
  candle1m: "/ws/v5/business",
  orders: "/ws/v5/private",
  positions: "/ws/v5/private",
  account: "/ws/v5/private",
};

const kindOfChannel: Readonly<Record<string, string>> = { orders: "ANY", positions: "SWAP" };

const say = (request: SocketRequest): readonly string[] => {
  if (request.op === "pong") return ["pong"];
  if (request.op === "login") return [JSON.stringify(request)];
  const args = request.args.map((arg) => {
    const instType = kindOfChannel[arg.channel];
    return instType === undefined ? arg : { channel: arg.channel, instType };
  });
  return [JSON.stringify({ op: request.op, args })];
};

const argOf = ({ channel, instId }: Raw): ChannelArg => {
  if (typeof channel !== "string") throw new TypeError("a channel without its name");
  return typeof instId === "string" && socketPaths[channel] !== "/ws/v5/private" ? { channel, instId } : { channel };
};

/** One book a message. */
const bookOf = (data: unknown): Raw => {
  const [book, ...more] = listOf(data);
  if (more.length > 0) throw new TypeError("several books in one message");
  return recordOf(book);
};

/**
 * Parses an event. Counts of connections are ignored, but one connection too many ends a subscription; a notice
 * announces that the connection will be closed.
 */
const event = (message: Raw): readonly ParsedMessage[] | undefined => {
  switch (message["event"]) {
    case "channel-conn-count":
      return [];
    case "channel-conn-count-error":
      return [
        { kind: "error", arg: argOf(message), reason: "too many connections to this channel" },
        { kind: "unsubscribed", arg: argOf(message) },
      ];
    case "notice":
      return [{ kind: "error", arg: undefined, reason: wordOf(message["msg"]) }];
    default:
      return undefined;
  }
};
