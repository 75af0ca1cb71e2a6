/**
 * Response parser: turns an answer into an outcome by envelope, error codes, field aliases and record schemas.
 *
 * Invariants: a call that changes something counts as rejected only by the service's own envelope with a code known to
 * mean rejection (contract/rejections.ts): an HTML page, a proxy's JSON or an empty body is `unknown` with every
 * status, and so is a 429 that is not recognisably the service's; an unreadable body is never an empty success; the
 * results of a batch's elements count with every code of the envelope; unknown fields are dropped, unreadable records
 * are reported.
 */
import type { Contract } from "../contract/contract.ts";
import type { EndpointName } from "../contract/endpoints.ts";
import { limitedStatus, limitHeaders } from "../contract/limits.ts";
import type { Profile } from "../contract/profile.ts";
import { verdictOn } from "../contract/rejections.ts";
import { type ElementResult, readOrderRecord, readState } from "../contract/schemas.ts";
import type { WireResponse } from "../contract/transport.ts";
import { wireProblems } from "../contract/validate.ts";
import type { Ids, Outcome } from "./outcome.ts";

type Raw = Readonly<Record<string, unknown>>;

/** Other spellings of the same field (gaps G2, G9, G11); the first present wins. */
const spellings: Readonly<Partial<Record<EndpointName, Readonly<Record<string, readonly string[]>>>>> = {
  instruments: {
    tickSize: ["tickSz"],
    lotSize: ["lotSz"],
    minSize: ["minSz"],
    contractValue: ["ctVal"],
    maxLeverage: ["lever"],
    baseCurrency: ["baseCcy"],
    quoteCurrency: ["quoteCcy"],
    settleCurrency: ["settleCcy"],
    state: ["status"],
  },
  placeOrder: { sCode: ["code"], sMsg: ["msg"] },
  cancelBatch: { sCode: ["code"], sMsg: ["msg"] },
  spotBalance: { currency: ["ccy"], balance: ["cashBal", "bal"], available: ["availBal"], frozen: ["frozenBal"] },
  positions: {
    pos: ["positions"],
    avgPx: ["averagePrice"],
    markPx: ["markPrice"],
    lever: ["leverage"],
    mgnMode: ["marginMode"],
    upl: ["unrealizedPnl"],
    liqPx: ["liquidationPrice"],
  },
};

type Alias = readonly [name: string, others: readonly string[]];
const aliases: Readonly<Partial<Record<string, readonly Alias[]>>> = Object.fromEntries(
  Object.entries(spellings).map(([endpoint, names]) => [endpoint, Object.entries(names)]),
);
const noAliases: readonly Alias[] = [];

const elementwise: readonly EndpointName[] = ["placeOrder", "amendOrder", "cancelBatch"];
const orderLists: readonly EndpointName[] = ["getOrder", "pendingOrders", "orderHistory"];
/** A server on the way timed out. This is the only 4xx status that does not mean that the call was refused. */
const timedOutStatus = 408;
/** After this many unreadable records the rest is not parsed: the answer is no evidence any more. */
const problemsMax = 1_000;
/** Messages of the service are journalled up to this length. */
const msgLengthMax = 500;
const codeLengthMax = 40;
/** Messages about a missing order. A key or a page may be missing, too. */
const missing = /order\b.*\bnot (exist|found)|no such order/i;

const isRaw = (value: unknown): value is Raw => value !== null && typeof value === "object" && !Array.isArray(value);

const renamed = (record: Raw, names: readonly Alias[]): Record<string, unknown> => {
  const copy: Record<string, unknown> = { ...record };
  for (let index = 0; index < names.length; index++) {
    const [name, others] = names[index] as Alias;
    if (copy[name] !== undefined) continue;
    const other = others.find((candidate) => copy[candidate] !== undefined);
    if (other !== undefined) copy[name] = copy[other];
  }
  return copy;
};

/**
 * The results of elements that have all four texts under their own names and need neither a check nor another spelling.
 * Undefined if any element differs.
 */
const plainResults = (data: readonly unknown[]): readonly ElementResult[] | undefined => {
  const results = new Array<ElementResult>(data.length);
  for (let index = 0; index < data.length; index++) {
    const item = data[index];
    if (typeof item !== "object" || item === null) return undefined;
    const { ordId, clOrdId, sCode, sMsg } = item as Raw;
    if (
      typeof ordId !== "string" ||
      typeof clOrdId !== "string" ||
      typeof sCode !== "string" ||
      typeof sMsg !== "string"
    )
      return undefined;
    results[index] = Object.freeze({ ordId, clOrdId, sCode, sMsg });
  }
  return results;
};

/**
 * The record with the service's spelling converted to ours. An element without a code succeeded if the whole call did.
 */
const normal = (
  endpoint: EndpointName,
  record: Raw,
  envelopeCode: string,
  profile: Profile,
): Record<string, unknown> => {
  const copy = renamed(record, aliases[endpoint] ?? noAliases);
  if (elementwise.includes(endpoint)) {
    copy["sCode"] ??= envelopeCode;
    // Only a number or a text is a code: a list would be read as its only element.
    if (typeof copy["sCode"] === "number") copy["sCode"] = String(copy["sCode"]);
    copy["sMsg"] ??= "";
    copy["ordId"] ??= "";
    copy["clOrdId"] ??= "";
  }
  if (orderLists.includes(endpoint) && typeof copy["state"] === "string")
    copy["state"] = readState(copy["state"], profile) ?? copy["state"];
  return copy;
};

const recordOf = (endpoint: EndpointName, { endpoints }: Contract): object =>
  orderLists.includes(endpoint) ? readOrderRecord : endpoints[endpoint].record;

const noProblems: readonly string[] = [];

const readRecords = <R>(
  endpoint: EndpointName,
  data: readonly unknown[],
  code: string,
  contract: Contract,
  at: number,
): Extract<Outcome<R>, { readonly kind: "done" }> => {
  const records: R[] = [];
  const problems: string[] = [];
  const unread: Ids[] = [];
  const fail = (problem: string, ids: Ids): void => {
    problems.push(problem);
    unread.push(ids);
  };
  for (const [index, item] of data.entries()) {
    if (problems.length === problemsMax) {
      fail("more records cannot be read", {});
      break;
    }
    if (!isRaw(item)) {
      fail(`data[${index}] is not an object`, {});
      continue;
    }
    const record = normal(endpoint, item, code, contract.profile);
    const wrong = wireProblems(recordOf(endpoint, contract), record);
    if (wrong.length > 0) fail(`data[${index}]${wrong[0]}`, idsOf(item));
    // All readers share the record, so none may change it.
    else records.push(Object.freeze(record) as R);
  }
  return problems.length === 0
    ? { kind: "done", records, problems, at }
    : { kind: "done", records, problems, unread, at };
};

const idsOf = ({ ordId, clOrdId }: Raw): Ids => ({
  ordId: typeof ordId === "string" && ordId !== "" ? ordId : undefined,
  clOrdId: typeof clOrdId === "string" ? clOrdId : undefined,
});

/**
 * Returns true if the service itself answers and not a machine on the way, judged by the form of its envelope or a
 * header that only it sends.
 * sends.
 */
const isOwn = ({ headers, body }: WireResponse): boolean =>
  readEnvelope(body) !== undefined || Object.values(limitHeaders).some((name) => headers[name] !== undefined);

interface Envelope {
  readonly code: string;
  readonly msg: string;
  readonly data: unknown;
}

/** The envelope of a body that has both of its texts. */
const readEnvelope = (body: unknown): Envelope | undefined => {
  if (!isRaw(body) || typeof body["msg"] !== "string") return undefined;
  const { code, msg, data } = body;
  if (typeof code !== "string" && typeof code !== "number") return undefined;
  return { code: String(code).slice(0, codeLengthMax), msg: msg.slice(0, msgLengthMax), data };
};

/** Returns true if an element's result has its own error code. */
const hasFailed = (item: unknown): boolean => {
  const code = isRaw(item) ? (item["sCode"] ?? item["code"]) : undefined;
  return code !== undefined && code !== "0" && code !== 0;
};

/** Outcome of a call that changes something and was not done. */
const readFailure = (endpoint: EndpointName, { status, body }: WireResponse, profile: Profile): Outcome<never> => {
  const envelope = readEnvelope(body);
  if (envelope === undefined)
    return { kind: "unknown", message: `${endpoint}: status ${status} with a body that is not the service's` };
  const { code, msg } = envelope;
  const verdict = verdictOn(profile, status, code);
  if (verdict === "rejected") return { kind: "rejected", status, code, msg };
  const message = `${endpoint}: status ${status}, code ${code} ${msg}`;
  return verdict === "unlisted"
    ? { kind: "unknown", message, unlisted: { status, code, msg } }
    : { kind: "unknown", message };
};

/**
 * Outcome of a call by its response; `at` is when the response was received.
 *
 * @param endpoint - that was called
 * @param response - as it was received
 * @param contract - the service
 * @param at - instant of the receipt
 * @returns what came of the call
 */
export const parseResponse = <R>(
  endpoint: EndpointName,
  response: WireResponse,
  contract: Contract,
  at: number,
): Outcome<R> => {
  const { status, body } = response;
  const { profile, endpoints } = contract;
  const changes = endpoints[endpoint].method === "POST";
  if (status === limitedStatus && (!changes || isOwn(response))) return { kind: "limited" };
  if (!isRaw(body) || (typeof body["code"] !== "string" && typeof body["code"] !== "number")) {
    return status >= 400 && status < 500 && status !== timedOutStatus && !changes
      ? { kind: "rejected", status, code: "", msg: "the answer carries no envelope" }
      : { kind: "unknown", message: `${endpoint}: status ${status} with a body that is not the service's` };
  }
  const code = String(body["code"]).slice(0, codeLengthMax);
  const msg = typeof body["msg"] === "string" ? body["msg"].slice(0, msgLengthMax) : "";
  const { data } = body;
  if (status >= 500 || status === timedOutStatus)
    return { kind: "unknown", message: `${endpoint}: status ${status}, code ${code} ${msg}` };
  const list = Array.isArray(data) ? data : isRaw(data) && Object.keys(data).length > 0 ? [data] : undefined;
  if (
    (endpoint === "placeOrder" || endpoint === "amendOrder") &&
    list !== undefined &&
    list.length > 1 &&
    status < 400
  ) {
    return { kind: "unknown", message: `${endpoint}: ${list.length} results for one order` };
  }
  const isElementwise = elementwise.includes(endpoint);
  const isWhole = typeof body["msg"] === "string";
  // Most answers are of this kind: with both texts, and no error.
  const isSound = isElementwise && isWhole && status < 400;
  if (list !== undefined && list.length > 0 && (isSound || isRead(endpoint, status, code, isWhole, list, profile))) {
    const results = isElementwise ? plainResults(list) : undefined;
    if (results === undefined) return readRecords<R>(endpoint, list, code, contract, at);
    return { kind: "done", records: results as readonly R[], problems: noProblems, at };
  }
  if (code === "0" && status < 400) {
    if (isElementwise) return { kind: "unknown", message: `${endpoint}: success without a result` };
    return Array.isArray(data)
      ? { kind: "done", records: [], problems: [], at }
      : { kind: "unknown", message: `${endpoint}: success without a data array` };
  }
  if (changes) return readFailure(endpoint, response, profile);
  if (endpoint === "getOrder" && saysNoOrder(status, code, msg, profile))
    return { kind: "done", records: [], problems: [], at };
  if (code === profile.answers.unavailableCode) return { kind: "unknown", message: `${endpoint}: code ${code} ${msg}` };
  return { kind: "rejected", status, code, msg };
};

/** True if the records of an answer give the outcome of the call; `whole` when its envelope has both of its texts. */
const isRead = (
  endpoint: EndpointName,
  status: number,
  code: string,
  whole: boolean,
  list: readonly unknown[],
  { answers }: Profile,
): boolean => {
  if (!elementwise.includes(endpoint)) return code === "0" && status < 400;
  if (status < 400) return whole || !list.some(hasFailed);
  return whole && list.every(hasFailed) && (status === answers.orderErrorStatus || status === answers.badRequestStatus);
};

/** True if the answer means that the order does not exist. An answer to a call that was not authorised never does. */
const saysNoOrder = (status: number, code: string, msg: string, { answers }: Profile): boolean =>
  status !== answers.authStatus &&
  status !== answers.permissionStatus &&
  (code === answers.notFoundCode || missing.test(msg));
