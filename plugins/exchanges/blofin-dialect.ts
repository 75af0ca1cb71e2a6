/**
 * BloFin v1 as a dialect: perpetual swaps settled in their quote currency, in the account mode of one side (net).
 *
 * Invariants: pure but for the count of a signer's nonces; input that the exchange does not accept, or that cannot be
 * parsed, is an exception and never an empty success; a refusal with HTTP status 200 is given the status that matches
 * its code.
 * Source: public documentation of BloFin v1.
 * Not here: records (blofin-records.ts), codes (blofin-codes.ts), limits (blofin-limits.ts), hosts
 * (blofin-exchange.ts).
 */

import {
  type CancelBody,
  type ChannelArg,
  type Dialect,
  type ElementResult,
  type EndpointName,
  type InputOf,
  limitedStatus,
  type PlaceBody,
  type ProfileOverrides,
  type SignerOf,
  type SocketRequest,
  type WireRequest,
  type WrittenCall,
} from "sluice/dialect";
import { blofinRejections, blofinStatusOf } from "./blofin-codes.ts";
import { blofinLayers } from "./blofin-limits.ts";
import { blofinPushes, blofinRecords, ourInstId, theirInstId } from "./blofin-records.ts";
import { answerOf, recordOf, twoSided, wordOf } from "./exchange-answer.ts";
import { hearIn } from "./exchange-socket.ts";
import { isRaw, type Raw } from "./record-table.ts";

/** BloFin v1 for `live({ …, dialect })`. Its demo environment has a host of its own. */
export const blofinDialect = (): Dialect => ({
  name: "blofin-v1",
  profile,
  layers: blofinLayers,
  // A subscription names at most 4,096 bytes of channels, and each is sent separately; neither number of a connection
  // is documented.
  sockets: { connectionsPerIp: 10, subscriptionsPerConnection: 50 },
  account: { path: "/api/v1/account/position-mode", problem: (body) => twoSided(modeIn(body)) },
  signer,
  call,
  answer,
  socketPath: ({ channel }) => (isPrivate(channel) ? "/ws/private" : "/ws/public"),
  say,
  hear: hearIn({ argOf, records: blofinPushes, bookOf: recordOf }),
});

const profile: ProfileOverrides = {
  order: {
    // There is no spot; the row has both.
    szUnit: { SPOT: "base", SWAP: "contracts" },
    feeSign: "positive_is_cost",
    timeUnit: "ms",
    stateAliases: { partially_canceled: "canceled" },
  },
  answers: {
    badRequestStatus: 200,
    badRequestCode: "152002",
    parameterCode: "152005",
    permissionCode: "152404",
    authCode: "152409",
    unavailableCode: "500",
    limitedCode: "429",
    unknownPathCode: "404",
    instrumentCode: "152014",
    priceCode: "102064",
    sizeCode: "102014",
    fundsCode: "150004",
    duplicateCode: "150003",
    notCancelableCode: "102068",
    positionCode: "102022",
    leverageCode: "110019",
    notFound: "untold",
    // The documentation has no code for these; a code of the described service must not be mistaken for one.
    notFoundCode: "not_found",
    postOnlyCode: "post_only",
    notContractCode: "not_contract",
    rejectionCodes: blofinRejections,
    successMsg: "success",
  },
  cancelBatch: {
    elementsMax: 20,
    oneIdKind: true,
    resultFields: "code",
    envelopeCodeWhenMixed: "2",
    envelopeCodeWhenAllFailed: "1",
  },
  auth: { headerPrefix: "ACCESS-", timestamp: "ms", toleranceMs: 60_000, digest: "hex_base64" },
  websocket: { path: "/ws/public", loginPath: "/users/self/verify", szUnit: "contracts" },
};

/**
 * Signs path with query, method, time, nonce and body; the signature is the base64 of the digest's hexadecimal text.
 */
const signer: SignerOf = (seal, { websocket }) => {
  let count = 0;
  const sign = (target: string, method: string, wallAt: number, body: string) => {
    const timestamp = String(Math.floor(wallAt));
    count++;
    const nonce = `${timestamp}-${count}`;
    const digest = seal.hmacSha256(`${target}${method.toUpperCase()}${timestamp}${nonce}${body}`, "hex");
    return { timestamp, nonce, sign: Buffer.from(digest, "latin1").toString("base64") };
  };
  return {
    headers: ({ method, path, query, body }, wallAt) => {
      const signed = sign(query === "" ? path : `${path}?${query}`, method, wallAt, body);
      return {
        "access-key": seal.apiKey,
        "access-sign": signed.sign,
        "access-timestamp": signed.timestamp,
        "access-nonce": signed.nonce,
        "access-passphrase": seal.passphrase(),
      };
    },
    login: (wallAt) => ({
      apiKey: seal.apiKey,
      passphrase: seal.passphrase(),
      ...sign(websocket.loginPath, "GET", wallAt, ""),
    }),
  };
};

const paths: Readonly<Record<Exclude<EndpointName, "amendOrder">, string>> = {
  instruments: "market/instruments",
  spotBalance: "asset/balances",
  positions: "account/positions",
  getOrder: "trade/order-detail",
  pendingOrders: "trade/orders-pending",
  orderHistory: "trade/orders-history",
  placeOrder: "trade/order",
  cancelBatch: "trade/cancel-batch-orders",
  closePosition: "trade/close-position",
  setLeverage: "account/set-leverage",
};

const call = ({ endpoint, method, query, body }: WireRequest): WrittenCall => {
  if (endpoint === "amendOrder") throw new TypeError("orders are not changed at this exchange");
  return {
    method,
    path: `/api/v1/${paths[endpoint]}`,
    query: queryOf(endpoint, query),
    body: body === undefined ? undefined : bodyOf(endpoint, body),
  };
};

const queryOf = (
  endpoint: EndpointName,
  { instType, instId, ordId, clOrdId, ...query }: WireRequest["query"],
): WireRequest["query"] => {
  if (instType !== undefined && instType !== "SWAP") throw new TypeError(`${instType} is not traded at this exchange`);
  return {
    // Swaps are traded out of this account.
    ...(endpoint === "spotBalance" && { accountType: "futures" }),
    ...(instId !== undefined && { instId: theirInstId(instId) }),
    ...(ordId !== undefined && { orderId: ordId }),
    ...(clOrdId !== undefined && { clientOrderId: clOrdId }),
    ...query,
  };
};

const bodyOf = (endpoint: EndpointName, body: unknown): unknown => {
  if (endpoint === "placeOrder") return placed(body as PlaceBody);
  if (endpoint === "cancelBatch") return (body as CancelBody).map(canceled);
  if (endpoint === "setLeverage") {
    const { instId, lever, mgnMode = modeDefault } = body as InputOf<"setLeverage">;
    return { instId: theirInstId(instId), leverage: lever, marginMode: mgnMode };
  }
  const { instId, clOrdId, mgnMode = modeDefault } = body as InputOf<"closePosition">;
  return {
    instId: theirInstId(instId),
    marginMode: mgnMode,
    positionSide: "net",
    ...(clOrdId !== undefined && { clientOrderId: clOrdId }),
  };
};

const canceled = ({ instId, ordId, clOrdId }: CancelBody[number]): object => ({
  instId: theirInstId(instId),
  ...(ordId ? { orderId: ordId } : { clientOrderId: clOrdId }),
});

/** Margin mode if neither the order nor a setting names one; the same as in the profile. */
const modeDefault = "cross";

const placed = ({ instId, side, ordType, sz, px, clOrdId, reduceOnly, mgnMode = modeDefault }: PlaceBody): object => ({
  instId: theirInstId(instId),
  marginMode: mgnMode,
  positionSide: "net",
  side,
  orderType: ordType,
  size: sz,
  ...(px !== undefined && { price: px }),
  ...(reduceOnly === true && { reduceOnly: "true" }),
  ...(clOrdId !== undefined && { clientOrderId: clOrdId }),
});

const modeIn = (body: unknown): unknown => {
  const data = isRaw(body) ? body["data"] : undefined;
  return isRaw(data) ? data["positionMode"] : undefined;
};

/** Duration of a ban of an address by the firewall, in seconds. */
const shutOutSeconds = 300;

const read = answerOf({
  statusOf: blofinStatusOf,
  records: blofinRecords,
  // An element without a code of its own has the code of the envelope.
  result: ({ orderId, clientOrderId, code, msg }, envelopeCode): ElementResult => ({
    ordId: wordOf(orderId),
    clOrdId: wordOf(clientOrderId),
    sCode: wordOf(code ?? envelopeCode),
    sMsg: wordOf(msg),
  }),
});

const answer: NonNullable<Dialect["answer"]> = (request, response) => {
  if (response.status !== 403) return read(request, response);
  // The firewall, before anything was read; in most cases for too many requests.
  const headers = { ...response.headers, "retry-after": String(shutOutSeconds) };
  return {
    status: limitedStatus,
    headers,
    body: { code: "429", msg: "the address is shut out by the exchange's firewall", data: [] },
  };
};

const isPrivate = (channel: string): boolean =>
  channel === "orders" || channel === "positions" || channel === "account";

const say = (request: SocketRequest): readonly string[] => {
  if (request.op === "pong") return ["pong"];
  if (request.op === "login") return [JSON.stringify(request)];
  const args = request.args.map(({ channel, instId }) =>
    instId === undefined ? { channel } : { channel, instId: theirInstId(instId) },
  );
  return [JSON.stringify({ op: request.op, args })];
};

const argOf = ({ channel, instId }: Raw): ChannelArg => {
  if (typeof channel !== "string") throw new TypeError("a channel without its name");
  return typeof instId === "string" && !isPrivate(channel)
    ? { channel, instId: ourInstId(instId) as string }
    : { channel };
};
