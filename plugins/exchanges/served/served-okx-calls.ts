/**
 * Calls of OKX v5 (REST) as questions to the venue, and its answers in their form.
 *
 * Invariants: every element of a batch is answered; a call that lacks something is refused with its published code and
 * asks nothing; a bad element of a batch fails alone; a parameter that OKX has and the venue does not model is refused
 * by name (venue-fields.ts). Source of paths, parameters and codes: OKX v5 as its public clients send and read it
 * (served-okx.ts).
 * Not here: who may call (served-okx.ts), the records (served-okx-records.ts).
 */

import type { VenueResponse } from "sluice/backtest";
import { instTypeOf, readInstId } from "sluice/dialect";
import type { venueAnswers } from "sluice/extension";
import type { Call, Question, Service, Speech } from "sluice/plugins/venue-server";
import { accountOf, instrumentOf, type OkxRecord, orderOf, positionOf } from "./served-okx-records.ts";
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

const root = "/api/v5/";

const table: readonly RouteRow[] = [
  ["GET", "public/instruments", "instruments"],
  ["GET", "account/balance", "spotBalance"],
  ["GET", "account/config", "positions"],
  ["GET", "account/positions", "positions"],
  ["GET", "trade/order", "getOrder"],
  ["GET", "trade/orders-pending", "pendingOrders"],
  ["GET", "trade/orders-history", "orderHistory"],
  ["POST", "trade/order", "placeOrder"],
  ["POST", "trade/batch-orders", "placeOrder"],
  ["POST", "trade/amend-order", "amendOrder"],
  ["POST", "trade/amend-batch-orders", "amendOrder"],
  ["POST", "trade/cancel-order", "cancelBatch"],
  ["POST", "trade/cancel-batch-orders", "cancelBatch"],
  ["POST", "trade/close-position", "closePosition"],
  ["POST", "account/set-leverage", "setLeverage"],
];

export const okxRoutes = routesAt(root, table);

const empty = (name: string): venueAnswers.Refusal => ({ code: "50014", msg: `Parameter ${name} can not be empty.` });
const wrong = (name: string): venueAnswers.Refusal => ({ code: "51000", msg: `Parameter ${name} error` });
const noInstrument: venueAnswers.Refusal = { code: "51001", msg: "Instrument ID or Spread ID doesn't exist." };
const noOrder: venueAnswers.Refusal = { code: "51603", msg: "Order does not exist" };

/**
 * Fields that a call may contain. `tag` and `reqId` are values of the client; `ccy` chooses a margin currency of
 * products that are not supported here.
 */
const fields: FieldsByEndpoint = {
  placeOrder: {
    ...any("instId", "tdMode", "side", "posSide", "ordType", "sz", "px", "clOrdId", "tag", "ccy"),
    reduceOnly: flag,
    tgtCcy: ["base_ccy", "quote_ccy"],
    // The venue reduces no order and moves no price, for any value of this field.
    ...any("banAmend"),
    pxAmendType: ["0"],
  },
  amendOrder: {
    ...any("instId", "ordId", "clOrdId", "newPx", "newSz", "reqId"),
    cxlOnFail: ["false"],
    pxAmendType: ["0"],
  },
  cancelBatch: any("instId", "ordId", "clOrdId"),
  closePosition: { ...any("instId", "mgnMode", "posSide", "clOrdId", "tag", "ccy"), autoCxl: ["false"] },
  setLeverage: any("instId", "lever", "mgnMode", "posSide", "ccy"),
};

const notModelled = (endpoint: keyof typeof fields, given: unknown): venueAnswers.Refusal | undefined => {
  const name = unmodelled(fields[endpoint], given);
  return name === undefined ? undefined : { code: "51000", msg: unmodelledText(name) };
};

/** Header of a call's deadline. Such a call is refused: the venue would execute it after the deadline. */
const deadlineHeader = "exptime";
const hasDeadline = ({ headers }: Call): boolean => (headers[deadlineHeader] ?? "") !== "";
const noDeadline: venueAnswers.Refusal = { code: "51000", msg: unmodelledText("expTime") };

/** One that is answered as an order is, after limits and permission. */
const refusing = ({ instId }: Texts, refusal: venueAnswers.Refusal): Question => ({
  body: known({ instId }),
  beyond: { refusal },
});

/** Creates a question for each order: in a batch a mistake of one order concerns that one alone. */
const each = (
  { path, endpoint }: Call,
  orders: readonly unknown[],
  read: (given: Texts) => Question | venueAnswers.Refusal,
): Questions => {
  const isBatch = path.endsWith("batch-orders");
  const questions: Question[] = [];
  for (const order of orders) {
    const given = textsOf(order);
    const refusal = notModelled(endpoint, order);
    const question = refusal === undefined ? read(given) : refusing(given, refusal);
    if (!("code" in question)) questions.push(question);
    else if (isBatch) questions.push(refusing(given, question));
    else return question;
  }
  return questions as unknown as Questions;
};

type Questions = readonly [Question, ...Question[]] | venueAnswers.Refusal;

/**
 * Parses a placement. The size of a spot market order is in quote currency for a purchase and in base currency for a
 * sale, unless the order specifies otherwise.
 */
const placement = (given: Texts): Question | venueAnswers.Refusal => {
  const lacks = missing(given, ["instId", "tdMode", "side", "ordType", "sz"]);
  if (lacks !== undefined) return empty(lacks);
  const { instId = "", tdMode = "", side, ordType, sz, px, clOrdId, reduceOnly, posSide = "net", tgtCcy } = given;
  const spot = instTypeOf(instId) === "SPOT";
  if (!(spot ? ["cash"] : ["cross", "isolated"]).includes(tdMode)) return wrong("tdMode");
  if (posSide !== "net") return wrong("posSide");
  const byMoney =
    spot && ordType === "market" && (tgtCcy ?? (side === "buy" ? "quote_ccy" : "base_ccy")) === "quote_ccy";
  const order = { instId, side, ordType, sz, clOrdId, px: ordType === "market" ? undefined : px };
  const onSwap = spot ? {} : { mgnMode: tdMode, reduceOnly: reduceOnly === "true" };
  return { body: known({ ...order, ...onSwap }), ...(byMoney && { beyond: { szUnit: "quote_notional" } }) };
};

const placements = (call: Call): Questions => {
  const { path, body } = call;
  const orders = path.endsWith("batch-orders") ? body : [body];
  if (!Array.isArray(orders) || orders.length === 0)
    return { code: "50000", msg: "Body for POST request can not be empty." };
  if (orders.length > elementsMax) return { code: "51111", msg: `Maximum ${elementsMax} orders can be placed in bulk` };
  return each(call, orders, placement);
};

/** Elements of a batch. */
const elementsMax = 20;

const cancels = ({ path, body }: Call): Questions => {
  const elements = (path.endsWith("cancel-order") ? [body] : body) as readonly unknown[];
  if (!Array.isArray(elements) || elements.length === 0)
    return { code: "50000", msg: "Body for POST request can not be empty." };
  const refusals = elements.map(cancelProblem);
  const [refusal] = refusals;
  if (refusal !== undefined && path.endsWith("cancel-order")) return refusal;
  const asked = elements.filter((_, index) => refusals[index] === undefined).map(textsOf);
  // Nothing is left to ask but whether the call is allowed.
  if (asked.length === 0 && refusal !== undefined) return [{ body: [], beyond: { refusal } }];
  return [
    {
      body: asked.map(({ instId, ordId, clOrdId }) =>
        known({ instId, ...(ordId === undefined ? { clOrdId } : { ordId }) }),
      ),
    },
  ];
};

const idLengthMax = 64;

/** Returns the reason for which one cancel of a call is invalid; undefined if it is valid. */
const cancelProblem = (element: unknown): venueAnswers.Refusal | undefined => {
  const { instId, ordId = "", clOrdId = "" } = textsOf(element);
  if (instId === undefined) return empty("instId");
  if (readInstId(instId) === undefined) return noInstrument;
  if (ordId.length > idLengthMax) return wrong("ordId");
  if (clOrdId.length > idLengthMax) return wrong("clOrdId");
  return notModelled("cancelBatch", element);
};

/** The results of a call's cancels: those that were not asked for have their own. */
const canceled = ({ body }: Call, data: readonly OkxRecord[]): object => {
  const results = data.values();
  const elements: readonly unknown[] = Array.isArray(body) ? body : [body];
  return bulk(
    elements.flatMap((element) => {
      const refusal = cancelProblem(element);
      const { ordId = "", clOrdId = "" } = textsOf(element);
      if (refusal !== undefined) return [{ ordId, clOrdId, sCode: refusal.code, sMsg: refusal.msg }];
      const result = results.next();
      return result.done === true ? [] : [result.value];
    }),
  );
};

const amendment = ({ instId, ordId, clOrdId, newPx, newSz }: Texts): Question | venueAnswers.Refusal => {
  if (instId === undefined) return empty("instId");
  if (ordId === undefined && clOrdId === undefined)
    return { code: "50015", msg: "Either parameter ordId or clOrdId is required" };
  if (newPx === undefined && newSz === undefined)
    return { code: "50015", msg: "Either parameter newSz or newPx is required" };
  return { body: known({ instId, ...(ordId === undefined ? { clOrdId } : { ordId }), px: newPx, sz: newSz }) };
};

const amendments = (call: Call): Questions => {
  const { path, body } = call;
  const orders = path.endsWith("batch-orders") ? body : [body];
  if (!Array.isArray(orders) || orders.length === 0)
    return { code: "50000", msg: "Body for POST request can not be empty." };
  if (orders.length > elementsMax)
    return { code: "51111", msg: `Maximum ${elementsMax} orders can be amended in bulk` };
  return each(call, orders, amendment);
};

const listing = ({ endpoint, query }: Call): Questions => {
  const { instType, instId, state, after, before, limit = "100" } = textsOf(query);
  const history = endpoint === "orderHistory";
  if (history && instType === undefined) return empty("instType");
  if (!/^([1-9]\d?|100)$/.test(limit)) return wrong("limit");
  if (history && state !== undefined && state !== "filled" && state !== "canceled") return wrong("state");
  // Products of other kinds are none here; their lists are empty.
  const kind = instType === "SPOT" || instType === "SWAP" ? instType : undefined;
  if (!history) return [{ query: queryWith({ instType: kind, instId, after, before, limit }) }];
  const shown = queryWith({ instType: kind, state, after, before, limit });
  return [{ query: shown, ...(instId !== undefined && { beyond: { filter: { instId } } }) }];
};

const changes = (given: Texts, names: readonly string[], { clOrdId }: Texts = {}): Questions => {
  const lacks = missing(given, names);
  if (lacks !== undefined) return empty(lacks);
  if ((given["posSide"] ?? "net") !== "net") return wrong("posSide");
  return [{ body: known({ ...Object.fromEntries(names.map((name) => [name, given[name]])), clOrdId }) }];
};

const oneOrder = ({ listing }: Service, { instId, ordId, clOrdId }: Texts): Questions => {
  if (instId === undefined) return empty("instId");
  if (listing(instId) === undefined) return noInstrument;
  if (ordId === undefined && clOrdId === undefined)
    return { code: "50015", msg: "Either parameter ordId or clOrdId is required" };
  return [{ query: queryWith(ordId === undefined ? { clOrdId } : { ordId }), beyond: { product: instId } }];
};

export const askOkx = (service: Service, call: Call): Questions => {
  const given = textsOf(call.endpoint === "getOrder" || call.endpoint === "instruments" ? call.query : call.body);
  switch (call.endpoint) {
    case "instruments":
      return given["instType"] === undefined ? empty("instType") : [{ query: {} }];
    case "spotBalance":
    case "positions":
      return [{ query: {} }];
    case "getOrder":
      return oneOrder(service, given);
    case "pendingOrders":
    case "orderHistory":
      return listing(call);
    case "placeOrder":
      return hasDeadline(call) ? noDeadline : placements(call);
    case "amendOrder":
      return hasDeadline(call) ? noDeadline : amendments(call);
    case "cancelBatch":
      return cancels(call);
    case "closePosition":
      return notModelled(call.endpoint, call.body) ?? changes(given, ["instId", "mgnMode"], given);
    case "setLeverage":
      return notModelled(call.endpoint, call.body) ?? changes(given, ["instId", "lever", "mgnMode"]);
  }
};

const summaries: Readonly<Record<string, string>> = {
  0: "",
  1: "All operations failed",
  2: "Bulk operation partially succeeded.",
};

/** Builds the answer with the results of a call's elements, for single and batch calls. */
const bulk = (elements: readonly OkxRecord[]): object => {
  const failed = elements.filter(({ sCode }) => sCode !== "0").length;
  const code = failed === 0 ? "0" : failed === elements.length ? "1" : "2";
  return { code, msg: summaries[code], data: elements };
};

const placed = (service: Service, { path, body }: Call, answers: readonly VenueResponse[]): object => {
  const orders: readonly unknown[] = path.endsWith("batch-orders") ? (body as unknown[]) : [body];
  const results = answers.map((answer, index) => {
    const { code, msg, data } = envelopeOf(answer);
    const { clOrdId = "" } = textsOf(orders[index]);
    // A size or price that is no decimal is a wrong parameter of this order; the others were judged by themselves.
    const sCode = code === service.contract.profile.answers.badRequestCode ? "51000" : code;
    const element = data[0] ?? { ordId: "", clOrdId, sCode, sMsg: msg };
    return { ...element, tag: "", sMsg: element["sCode"] === "0" ? "Order placed" : element["sMsg"] };
  });
  return bulk(results);
};

/** Builds the answer to an amendment. Changes of a finished order have a code of their own. */
const amended = (service: Service, { path, body }: Call, answers: readonly VenueResponse[]): object => {
  const { badRequestCode, notCancelableCode } = service.contract.profile.answers;
  const orders: readonly unknown[] = path.endsWith("batch-orders") ? (body as unknown[]) : [body];
  const results = answers.map((answer, index) => {
    const { code, msg, data } = envelopeOf(answer);
    const { ordId = "", clOrdId = "", reqId = "" } = textsOf(orders[index]);
    const { sCode = code, sMsg = msg, ...ids } = data[0] ?? { ordId, clOrdId };
    if (sCode === notCancelableCode)
      return {
        ...ids,
        reqId,
        sCode: "51503",
        sMsg: "Order modification failed as the order has been filled, canceled or does not exist",
      };
    return { ...ids, reqId, sCode: sCode === badRequestCode ? "51000" : sCode, sMsg };
  });
  return bulk(results);
};

/** Returns true if the record matches the query. */
const fits = ({ instType, instId, ordType, state }: Texts, record: OkxRecord): boolean =>
  (instType === undefined || instType === "ANY" || record["instType"] === instType) &&
  (instId === undefined || instId.split(",").includes(String(record["instId"]))) &&
  (ordType === undefined || ordType.split(",").includes(String(record["ordType"]))) &&
  (state === undefined || record["state"] === state);

const shown = (
  service: Service,
  call: Call,
  data: readonly Readonly<Record<string, string>>[],
): readonly OkxRecord[] => {
  const query = textsOf(call.query);
  const { ccy } = query;
  switch (call.endpoint) {
    case "instruments":
      return data.map((record) => instrumentOf(service, record)).filter((record) => fits(query, record));
    case "spotBalance":
      return [accountOf(data.filter(({ currency }) => ccy === undefined || ccy.split(",").includes(currency ?? "")))];
    case "positions":
      return data.map(positionOf).filter((record) => fits(query, record));
    case "getOrder":
      return data.map(orderOf).filter((record) => record["instId"] === query["instId"]);
    case "pendingOrders":
    case "orderHistory":
      return data.map(orderOf).filter((record) => fits(query, record));
    case "closePosition":
      return data.map(({ instId, clOrdId }) => ({ instId, posSide: "net", clOrdId, tag: "" }));
    case "setLeverage":
      return data.map((record) => ({ ...record, posSide: "net" }));
    case "placeOrder":
    case "amendOrder":
    case "cancelBatch":
      return data;
  }
};

/** Returns true if the call was judged as a whole: limits, keys, permissions, paths. */
const isWhole = ({ status }: VenueResponse, { contract }: Service): boolean =>
  status !== 200 && status !== contract.profile.answers.badRequestStatus;

const saidBy = (service: Service, call: Call, answers: Parameters<Speech["answer"]>[1]): object => {
  const [first] = answers;
  const { code, msg, data } = envelopeOf(first);
  if (call.endpoint === "placeOrder") return placed(service, call, answers);
  if (call.endpoint === "amendOrder") return amended(service, call, answers);
  if (code === service.contract.profile.answers.badRequestCode) return { code: "51000", msg, data: [] };
  if (call.endpoint === "cancelBatch") return canceled(call, data);
  if (code === "0" && call.path.endsWith("account/config"))
    return { code, msg, data: [{ posMode: "net_mode", acctLv: "2" }] };
  const records = shown(service, call, data);
  if (code === "0" && call.endpoint === "getOrder" && records.length === 0) return { ...noOrder, data: [] };
  return { code, msg, data: code === "0" ? records : [] };
};

export const answerOkx = (
  service: Service,
  call: Call | undefined,
  answers: Parameters<Speech["answer"]>[1],
): VenueResponse => {
  const whole = answers.find((answer) => isWhole(answer, service)) ?? answers[0];
  const headers = headersOf(whole);
  if (whole.body === undefined) return { ...whole, headers: { ...whole.headers } };
  if (call !== undefined && !isWhole(whole, service))
    return { status: 200, headers, body: saidBy(service, call, answers) };
  const { code, msg } = envelopeOf(whole);
  return { status: whole.status, headers, body: { code, msg, data: [] } };
};
