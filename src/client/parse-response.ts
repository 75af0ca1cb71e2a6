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

/** Parts of a body that every answer of the service has, and its data. */
interface Envelope {
  readonly code: string;
  /** Undefined where the body has none, which the service's own envelope always does. */
  readonly msg: string | undefined;
  readonly data: unknown;
}

/** The envelope of a body that has at least a code. */
const readEnvelope = (body: unknown): Envelope | undefined => {
  if (!isRaw(body)) return undefined;
  const { code, msg, data } = body;
  if (typeof code !== "string" && typeof code !== "number") return undefined;
  return {
    code: String(code).slice(0, codeLengthMax),
    msg: typeof msg === "string" ? msg.slice(0, msgLengthMax) : undefined,
    data,
  };
};

/**
 * Returns true if the service itself answers and not a machine on the way, judged by the form of its envelope or a
 * header that only it sends.
 */
const isOwn = ({ headers, body }: WireResponse): boolean =>
  readEnvelope(body)?.msg !== undefined || Object.values(limitHeaders).some((name) => headers[name] !== undefined);

/** Returns true if a rate limit rejected the call. For a call that changes something, only the service's answer counts. */
const isLimited = (response: WireResponse, changes: boolean): boolean =>
  response.status === limitedStatus && (!changes || isOwn(response));

/** Returns true for a status that leaves the outcome of the call open. */
const isFault = (status: number): boolean => status >= 500 || status === timedOutStatus;

/** Records of an answer; empty where it has none. */
const listIn = (data: unknown): readonly unknown[] => {
  if (Array.isArray(data)) return data;
  return isRaw(data) && Object.keys(data).length > 0 ? [data] : [];
};

/** Returns true if an element's result has its own error code. */
const hasFailed = (item: unknown): boolean => {
  const code = isRaw(item) ? (item["sCode"] ?? item["code"]) : undefined;
  return code !== undefined && code !== "0" && code !== 0;
};

/** Message of a call whose body is not in the form of the service. */
const foreign = (endpoint: EndpointName, status: number): string =>
  `${endpoint}: status ${status} with a body that is not the service's`;

const saidBy = (endpoint: EndpointName, status: number, { code, msg = "" }: Envelope): string =>
  `${endpoint}: status ${status}, code ${code} ${msg}`;

/** Outcome of a call that was answered without an envelope. */
const readBare = (endpoint: EndpointName, status: number, changes: boolean): Outcome<never> =>
  status >= 400 && !isFault(status) && !changes
    ? { kind: "rejected", status, code: "", msg: "the answer carries no envelope" }
    : { kind: "unknown", message: foreign(endpoint, status) };

/** Outcome of a call that succeeded by its envelope, which has no records. */
const readEmpty = (endpoint: EndpointName, data: unknown, at: number): Outcome<never> => {
  if (elementwise.includes(endpoint)) return { kind: "unknown", message: `${endpoint}: success without a result` };
  return Array.isArray(data)
    ? { kind: "done", records: [], problems: [], at }
    : { kind: "unknown", message: `${endpoint}: success without a data array` };
};

/** Outcome of a call that changes something and was not done. */
const readFailure = (endpoint: EndpointName, status: number, envelope: Envelope, profile: Profile): Outcome<never> => {
  const { code, msg } = envelope;
  if (msg === undefined) return { kind: "unknown", message: foreign(endpoint, status) };
  const verdict = verdictOn(profile, status, code);
  if (verdict === "rejected") return { kind: "rejected", status, code, msg };
  const message = saidBy(endpoint, status, envelope);
  return verdict === "unlisted"
    ? { kind: "unknown", message, unlisted: { status, code, msg } }
    : { kind: "unknown", message };
};

/** Outcome of a read that was not done. */
const readRefusal = (
  endpoint: EndpointName,
  status: number,
  { code, msg = "" }: Envelope,
  { answers }: Profile,
  at: number,
): Outcome<never> => {
  if (endpoint === "getOrder" && saysNoOrder(status, code, msg, answers))
    return { kind: "done", records: [], problems: [], at };
  if (code === answers.unavailableCode) return { kind: "unknown", message: `${endpoint}: code ${code} ${msg}` };
  return { kind: "rejected", status, code, msg };
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
  const { status } = response;
  const { profile, endpoints } = contract;
  const changes = endpoints[endpoint].method === "POST";
  if (isLimited(response, changes)) return { kind: "limited" };
  const envelope = readEnvelope(response.body);
  if (envelope === undefined) return readBare(endpoint, status, changes);
  if (isFault(status)) return { kind: "unknown", message: saidBy(endpoint, status, envelope) };
  const { code, data } = envelope;
  const list = listIn(data);
  if (list.length > 1 && status < 400 && (endpoint === "placeOrder" || endpoint === "amendOrder"))
    return { kind: "unknown", message: `${endpoint}: ${list.length} results for one order` };
  if (list.length > 0 && isRead(endpoint, status, envelope, list, profile)) {
    const results = elementwise.includes(endpoint) ? plainResults(list) : undefined;
    if (results === undefined) return readRecords<R>(endpoint, list, code, contract, at);
    return { kind: "done", records: results as readonly R[], problems: noProblems, at };
  }
  if (code === "0" && status < 400) return readEmpty(endpoint, data, at);
  return changes
    ? readFailure(endpoint, status, envelope, profile)
    : readRefusal(endpoint, status, envelope, profile, at);
};

/** True if the records of an answer give the outcome of the call. */
const isRead = (
  endpoint: EndpointName,
  status: number,
  { code, msg }: Envelope,
  list: readonly unknown[],
  { answers }: Profile,
): boolean => {
  if (!elementwise.includes(endpoint)) return code === "0" && status < 400;
  const isWhole = msg !== undefined;
  if (status < 400) return isWhole || !list.some(hasFailed);
  const isOfOrders = status === answers.orderErrorStatus || status === answers.badRequestStatus;
  return isWhole && isOfOrders && list.every(hasFailed);
};

/** True if the answer means that the order does not exist. An answer to a call that was not authorised never does. */
const saysNoOrder = (status: number, code: string, msg: string, answers: Profile["answers"]): boolean =>
  status !== answers.authStatus &&
  status !== answers.permissionStatus &&
  (code === answers.notFoundCode || missing.test(msg));
