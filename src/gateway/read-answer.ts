/**
 * Turns an answer into an outcome: envelope, error codes, field aliases, record schemas.
 *
 * Invariants: the HTTP status decides first; a body that cannot be read is never an empty success; what a batch or a placement
 * says of each element counts whatever the envelope's code is; unknown fields are dropped, unreadable records are named.
 */
import type { Contract } from "../contract/contract.ts";
import type { EndpointName } from "../contract/endpoints.ts";
import { limitedStatus } from "../contract/limits.ts";
import { readState } from "../contract/order-states.ts";
import type { Profile } from "../contract/profile.ts";
import { wireProblems } from "../contract/validate.ts";
import type { WireResponse } from "../transport/transport.ts";
import type { Outcome } from "./outcome.ts";

type Raw = Readonly<Record<string, unknown>>;

/** Other spellings of the same field (gaps G2, G9, G11); the first present wins. */
const aliases: Readonly<Partial<Record<EndpointName, Readonly<Record<string, readonly string[]>>>>> = {
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

const elementwise: readonly EndpointName[] = ["placeOrder", "cancelBatch"];
const orderLists: readonly EndpointName[] = ["getOrder", "pendingOrders", "orderHistory"];
/** Somebody on the way gave up waiting: the one client status that does not say the call was refused. */
const timedOutStatus = 408;
/** After so many unreadable records the rest is not looked at: the answer proves nothing any more. */
const problemsMax = 1_000;
/** What the service says is journalled; a page of it is not. */
const msgLengthMax = 500;
const codeLengthMax = 40;
const missing = /not (exist|found)|does not exist/i;

const isRaw = (value: unknown): value is Raw => value !== null && typeof value === "object" && !Array.isArray(value);

const renamed = (record: Raw, names: Readonly<Record<string, readonly string[]>>): Record<string, unknown> => {
  const copy: Record<string, unknown> = { ...record };
  for (const [name, others] of Object.entries(names)) {
    if (copy[name] !== undefined) continue;
    const other = others.find((candidate) => copy[candidate] !== undefined);
    if (other !== undefined) copy[name] = copy[other];
  }
  return copy;
};

/** The record with its own spelling brought to ours; an element without a code succeeded if the whole call did. */
const normal = (endpoint: EndpointName, record: Raw, envelopeCode: string, profile: Profile): Record<string, unknown> => {
  const copy = renamed(record, aliases[endpoint] ?? {});
  if (elementwise.includes(endpoint)) {
    copy["sCode"] ??= envelopeCode;
    // Anything but a number or a text is no code: a list would read as its only element.
    if (typeof copy["sCode"] === "number") copy["sCode"] = String(copy["sCode"]);
    copy["sMsg"] ??= "";
    copy["ordId"] ??= "";
    copy["clOrdId"] ??= "";
  }
  if (orderLists.includes(endpoint) && typeof copy["state"] === "string")
    copy["state"] = readState(copy["state"], profile) ?? copy["state"];
  return copy;
};

const readRecords = <R>(
  endpoint: EndpointName,
  data: readonly unknown[],
  code: string,
  contract: Contract,
): { records: R[]; problems: string[] } => {
  const records: R[] = [];
  const problems: string[] = [];
  for (const [index, item] of data.entries()) {
    if (problems.length === problemsMax) break;
    if (!isRaw(item)) {
      problems.push(`data[${index}] is not an object`);
      continue;
    }
    const record = normal(endpoint, item, code, contract.profile);
    const wrong = wireProblems(contract.endpoints[endpoint].record, record);
    if (wrong.length > 0) problems.push(`data[${index}]${wrong[0]}`);
    // Everybody who looks is handed the same record: nobody may change it for the others.
    else records.push(Object.freeze(record) as R);
  }
  return { records, problems };
};

export const readAnswer = <R>(endpoint: EndpointName, response: WireResponse, contract: Contract, at: number): Outcome<R> => {
  const { status, body } = response;
  const { answers } = contract.profile;
  if (status === limitedStatus) return { kind: "limited" };
  if (!isRaw(body) || (typeof body["code"] !== "string" && typeof body["code"] !== "number")) {
    return status >= 400 && status < 500 && status !== timedOutStatus
      ? { kind: "refused", status, code: "", msg: "the answer carries no envelope" }
      : { kind: "unknown", message: `${endpoint}: status ${status} with a body that is not an envelope` };
  }
  const code = String(body["code"]).slice(0, codeLengthMax);
  const msg = typeof body["msg"] === "string" ? body["msg"].slice(0, msgLengthMax) : "";
  const { data } = body;
  if (status >= 500 || status === timedOutStatus) return { kind: "unknown", message: `${endpoint}: status ${status}, code ${code} ${msg}` };
  const list = Array.isArray(data) ? data : isRaw(data) && Object.keys(data).length > 0 ? [data] : undefined;
  if (endpoint === "placeOrder" && list !== undefined && list.length > 1 && status < 400) {
    return { kind: "unknown", message: `${endpoint}: ${list.length} results for one order` };
  }
  if (list !== undefined && list.length > 0 && status < 400 && (code === "0" || elementwise.includes(endpoint))) {
    return { kind: "done", at, ...readRecords<R>(endpoint, list, code, contract) };
  }
  if (code === "0" && status < 400) {
    if (elementwise.includes(endpoint)) return { kind: "unknown", message: `${endpoint}: success without a result` };
    return Array.isArray(data)
      ? { kind: "done", records: [], problems: [], at }
      : { kind: "unknown", message: `${endpoint}: success without a data array` };
  }
  if (endpoint === "getOrder" && (code === answers.notFoundCode || missing.test(msg)))
    return { kind: "done", records: [], problems: [], at };
  if (code === answers.unavailableCode) return { kind: "unknown", message: `${endpoint}: code ${code} ${msg}` };
  return { kind: "refused", status, code, msg };
};
