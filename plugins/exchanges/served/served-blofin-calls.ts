/**
 * Calls of BloFin v1 (REST) as questions to the venue, and its answers in their form.
 *
 * Invariants: refusals have HTTP status 200 and a code, limits 429, a banned address 403; every element of a batch is
 * answered; a call that lacks something is refused with its published code and asks nothing, a bad order of a batch
 * alone; a parameter that BloFin has and the venue does not model is refused by name (venue-fields.ts). Source of
 * paths, parameters and codes: BloFin's public API documentation.
 * Not here: who may call (served-blofin.ts), the records (served-blofin-records.ts).
 */

import type { VenueResponse } from "sluice/backtest";
import type { venueAnswers } from "sluice/extension";
import type { Call, Question, Service, Speech } from "sluice/plugins/venue-server";
import {
  accountOf,
  type BlofinRecord,
  instrumentOf,
  isOffered,
  orderOf,
  ourId,
  positionOf,
} from "./served-blofin-records.ts";
import { any, type FieldsByEndpoint, flag, unmodelled, unmodelledText } from "./venue-fields.ts";
import {
  envelopeOf,
  headersOf,
  known,
  missing,
  queryWith,
  type RouteRow,
  routesAt,
  type Texts,
  textsOf,
} from "./wire-fields.ts";

const root = "/api/v1/";

const table: readonly RouteRow[] = [
  ["GET", "market/instruments", "instruments"],
  ["GET", "asset/balances", "spotBalance"],
  ["GET", "account/balance", "spotBalance"],
  ["GET", "account/position-mode", "positions"],
  ["GET", "account/positions", "positions"],
  ["GET", "trade/order-detail", "getOrder"],
  ["GET", "trade/orders-pending", "pendingOrders"],
  ["GET", "trade/orders-history", "orderHistory"],
  ["POST", "trade/order", "placeOrder"],
  ["POST", "trade/batch-orders", "placeOrder"],
  ["POST", "trade/cancel-order", "cancelBatch"],
  ["POST", "trade/cancel-batch-orders", "cancelBatch"],
  ["POST", "trade/close-position", "closePosition"],
  ["POST", "account/set-leverage", "setLeverage"],
];

export const blofinRoutes = routesAt(root, table);

type Questions = readonly [Question, ...Question[]] | venueAnswers.Refusal;

const empty = (name: string): venueAnswers.Refusal => ({ code: "152001", msg: `Parameter ${name} cannot be empty.` });
const wrong = (name: string): venueAnswers.Refusal => ({ code: "152002", msg: `Parameter ${name} error.` });
const noIds: venueAnswers.Refusal = { code: "152003", msg: "Either parameter orderId or clientOrderId is required." };
const badForm: venueAnswers.Refusal = {
  code: "152004",
  msg: "JSON syntax error, Please check if the parameter should be an array or an object.",
};
const tooMany: venueAnswers.Refusal = { code: "152006", msg: "Batch orders can be placed for up to 20 at once." };
const mixedIds: venueAnswers.Refusal = {
  code: "152008",
  msg: "Only the same field is allowed for bulk cancellation of orders, orderId is preferred.",
};
const notCancelable = "Cancel failed as the order has been filled, triggered, canceled or does not exist.";

const elementsMax = 20;

/** Fields that a call may contain; `brokerId` names the program. */
const fields: FieldsByEndpoint = {
  placeOrder: {
    ...any("instId", "marginMode", "positionSide", "side", "orderType", "price", "size"),
    ...any("clientOrderId", "brokerId"),
    reduceOnly: flag,
  },
  cancelBatch: any("instId", "orderId", "clientOrderId"),
  closePosition: any("instId", "marginMode", "positionSide", "clientOrderId", "brokerId"),
  setLeverage: any("instId", "leverage", "marginMode", "positionSide"),
};

const notModelled = (endpoint: keyof typeof fields, given: unknown): venueAnswers.Refusal | undefined => {
  const name = unmodelled(fields[endpoint], given);
  return name === undefined ? undefined : { code: "152002", msg: unmodelledText(name) };
};

const placement = (given: Texts): Question | venueAnswers.Refusal => {
  const market = given["orderType"] === "market";
  const lacks = missing(given, ["instId", "marginMode", "side", "orderType", "size", ...(market ? [] : ["price"])]);
  if (lacks !== undefined) return empty(lacks);
  const {
    instId = "",
    marginMode,
    side,
    orderType,
    size,
    price,
    clientOrderId,
    reduceOnly,
    positionSide = "net",
  } = given;
  if (marginMode !== "cross" && marginMode !== "isolated") return wrong("marginMode");
  if (positionSide !== "net") return { code: "102089", msg: "Position mode mismatch" };
  const order = {
    instId: ourId(instId),
    side,
    ordType: orderType,
    sz: size,
    px: market ? undefined : price,
    clOrdId: clientOrderId,
  };
  return { body: known({ ...order, mgnMode: marginMode, reduceOnly: reduceOnly === "true" }) };
};

const placements = ({ path, body }: Call): Questions => {
  const orders = path.endsWith("batch-orders") ? body : [body];
  if (!Array.isArray(orders) || orders.length === 0) return badForm;
  if (orders.length > elementsMax) return tooMany;
  const questions: Question[] = [];
  for (const order of orders) {
    const given = textsOf(order);
    const question = notModelled("placeOrder", order) ?? placement(given);
    if (!("code" in question)) questions.push(question);
    else if (!path.endsWith("batch-orders")) return question;
    else questions.push({ body: known({ instId: ourId(given["instId"] ?? "") }), beyond: { refusal: question } });
  }
  return questions as unknown as Questions;
};

/** A product that an order without one is of: cancels need not name it. */
const unnamed = "ANY-ANY-SWAP";

const cancels = ({ path, body }: Call): Questions => {
  const elements = (path.endsWith("cancel-order") ? [body] : body) as readonly unknown[];
  if (!Array.isArray(elements) || elements.length === 0) return badForm;
  if (elements.length > elementsMax) return tooMany;
  const given = elements.map(textsOf);
  const refusal = elements.map((element) => notModelled("cancelBatch", element)).find((one) => one !== undefined);
  if (refusal !== undefined) return refusal;
  if (given.some(({ orderId, clientOrderId }) => orderId === undefined && clientOrderId === undefined)) return noIds;
  if (new Set(given.map(({ orderId }) => orderId === undefined)).size > 1) return mixedIds;
  const ids = given.map(({ instId, orderId, clientOrderId }) => ({
    instId: instId === undefined ? unnamed : ourId(instId),
    ...(orderId === undefined ? { clOrdId: clientOrderId } : { ordId: orderId }),
  }));
  return [{ body: ids, beyond: { unnamed } }];
};

const listing = ({ endpoint, query }: Call): Questions => {
  const { instId, state, after, before, limit } = textsOf(query);
  if (limit !== undefined && !/^([1-9]\d?|100)$/.test(limit)) return wrong("limit");
  if (after !== undefined && before !== undefined) return { code: "152005", msg: "Parameter error: wrong or empty" };
  const page = { instType: "SWAP", after, before, limit };
  const product = instId === undefined ? undefined : ourId(instId);
  if (endpoint === "pendingOrders") return [{ query: queryWith({ ...page, instId: product }) }];
  const ended = state === "partially_canceled" ? "canceled" : state;
  if (ended !== undefined && ended !== "filled" && ended !== "canceled") return wrong("state");
  const shown = queryWith({ ...page, state: ended });
  return [{ query: shown, ...(product !== undefined && { beyond: { filter: { instId: product } } }) }];
};

const oneOrder = ({ instId, orderId, clientOrderId }: Texts): Questions => {
  if (instId === undefined) return empty("instId");
  if (orderId === undefined && clientOrderId === undefined) return noIds;
  return [{ query: queryWith(orderId === undefined ? { clOrdId: clientOrderId } : { ordId: orderId }) }];
};

const onPosition = (given: Texts, more: Texts, names: readonly string[]): Questions => {
  const lacks = missing(given, names);
  if (lacks !== undefined) return empty(lacks);
  const { instId = "", marginMode, positionSide = "net" } = given;
  if (positionSide !== "net") return { code: "102089", msg: "Position mode mismatch" };
  return [{ body: known({ instId: ourId(instId), mgnMode: marginMode, ...more }) }];
};

export const askBlofin = (call: Call): Questions => {
  const body = textsOf(call.body);
  switch (call.endpoint) {
    case "spotBalance":
      return call.path.endsWith("balances") && call.query["accountType"] === undefined
        ? empty("accountType")
        : [{ query: {} }];
    case "instruments":
    case "positions":
      return [{ query: {} }];
    case "getOrder":
      return oneOrder(textsOf(call.query));
    case "pendingOrders":
    case "orderHistory":
      return listing(call);
    case "placeOrder":
      return placements(call);
    case "amendOrder":
      return badForm;
    case "cancelBatch":
      return cancels(call);
    case "closePosition":
      return (
        notModelled(call.endpoint, call.body) ??
        onPosition(body, { clOrdId: body["clientOrderId"] }, ["instId", "marginMode"])
      );
    case "setLeverage":
      return (
        notModelled(call.endpoint, call.body) ??
        onPosition(body, { lever: body["leverage"] }, ["instId", "leverage", "marginMode"])
      );
  }
};

const succeeded = (data: unknown, msg = "success"): object => ({ code: "0", msg, data });
const failed = (code: string, msg: string): object => ({ code, msg, data: null });

/** Builds the answer to a placement. The code of its envelope is 0 for any result of its orders. */
const placed = ({ path, body }: Call, answers: readonly VenueResponse[]): object => {
  const orders: readonly unknown[] = path.endsWith("batch-orders") ? (body as unknown[]) : [body];
  const results = answers.map((answer, index) => {
    const { code, msg, data } = envelopeOf(answer);
    const {
      ordId = "",
      clOrdId = textsOf(orders[index])["clientOrderId"] ?? "",
      sCode = code,
      sMsg = msg,
    } = data[0] ?? {};
    return {
      orderId: sCode === "0" ? ordId : null,
      clientOrderId: clOrdId,
      msg: sCode === "0" ? "" : sMsg,
      code: sCode,
    };
  });
  return succeeded(results, "");
};

/** Elements that were canceled have no code; the envelope fails only where all did. */
const canceled = ({ path, body }: Call, data: readonly Readonly<Record<string, string>>[]): object => {
  const results = data.map(({ ordId = "", clOrdId = "", sCode }) =>
    sCode === "0"
      ? { orderId: ordId, clientOrderId: clOrdId === "" ? null : clOrdId }
      : {
          orderId: ordId === "" ? null : ordId,
          clientOrderId: clOrdId === "" ? null : clOrdId,
          msg: notCancelable,
          code: "1000",
        },
  );
  const one = path.endsWith("cancel-order") && !Array.isArray(body);
  const all = data.every(({ sCode }) => sCode !== "0");
  if (one) return all ? failed("102068", notCancelable) : succeeded({ ...results[0], code: "0", msg: null });
  return all ? { code: "1", msg: "All operations failed", data: results } : succeeded(results);
};

const fits = ({ instId, orderType, state, begin, end }: Texts, record: BlofinRecord): boolean =>
  (instId === undefined || instId.split(",").includes(String(record["instId"] as string))) &&
  (orderType === undefined || record["orderType"] === orderType) &&
  (state === undefined || record["state"] === state) &&
  (begin === undefined || Number(record["createTime"]) >= Number(begin)) &&
  (end === undefined || Number(record["createTime"]) <= Number(end));

const balances = ({ path, query }: Call, data: readonly Readonly<Record<string, string>>[], ts: string): unknown => {
  if (path.endsWith("balance")) return accountOf(data, ts);
  const { currency: only } = query;
  return data
    .filter(({ currency }) => only === undefined || currency === only)
    .map((record) => ({ ...record, bonus: "0" }));
};

const shown = (
  service: Service,
  call: Call,
  data: readonly Readonly<Record<string, string>>[],
  ts: string,
): unknown => {
  const query = textsOf(call.query);
  const body = textsOf(call.body);
  const chosen = (records: readonly BlofinRecord[]): readonly BlofinRecord[] =>
    records.filter((record) => fits(query, record));
  switch (call.endpoint) {
    case "instruments":
      return chosen(data.filter(isOffered).map((record) => instrumentOf(service, record)));
    case "spotBalance":
      return balances(call, data, ts);
    case "positions":
      return chosen(data.map(positionOf));
    case "getOrder":
      return chosen(data.map((record) => orderOf(service, record)))[0] ?? null;
    case "pendingOrders":
    case "orderHistory":
      return chosen(data.map((record) => orderOf(service, record)));
    case "closePosition":
      return { instId: body["instId"], positionSide: "net", clientOrderId: body["clientOrderId"] ?? "" };
    case "setLeverage":
      return {
        instId: body["instId"],
        leverage: body["leverage"],
        marginMode: body["marginMode"],
        positionSide: "net",
      };
    case "placeOrder":
    case "amendOrder":
    case "cancelBatch":
      return data;
  }
};

const saidBy = (service: Service, call: Call, answers: Parameters<Speech["answer"]>[1]): object => {
  const [{ headers }] = answers;
  const { code, msg, data } = envelopeOf(answers[0]);
  if (call.endpoint === "placeOrder") return placed(call, answers);
  if (call.endpoint === "cancelBatch" && data.length > 0) return canceled(call, data);
  if (code === "102022" && call.endpoint === "closePosition") return failed("102005", "Position had been closed");
  if (code !== "0") return failed(code, msg);
  if (call.path.endsWith("position-mode")) return succeeded({ positionMode: "net_mode" });
  return succeeded(shown(service, call, data, String(Date.parse(headers["date"] ?? ""))));
};

/** Returns true if the call was judged as a whole: limits, keys, permissions, paths. */
const isWhole = ({ status }: VenueResponse, { contract }: Service): boolean =>
  status !== 200 && status !== contract.profile.answers.badRequestStatus;

export const answerBlofin = (
  service: Service,
  call: Call | undefined,
  answers: Parameters<Speech["answer"]>[1],
): VenueResponse => {
  const whole = answers.find((answer) => isWhole(answer, service)) ?? answers[0];
  const headers = headersOf(whole);
  if (whole.limitedBy === "ip") return { status: 403, headers, body: { code: "403", msg: "Forbidden" } };
  if (call !== undefined && !isWhole(whole, service))
    return { status: 200, headers, body: saidBy(service, call, answers) };
  const { code, msg } = envelopeOf(whole);
  return { status: whole.status === 429 || whole.status >= 500 ? whole.status : 200, headers, body: { code, msg } };
};
