/**
 * The way in: finds the endpoint, lets the meter and the permissions judge, checks the form, and answers.
 *
 * Invariants: nothing a stranger sends makes it throw; the order is address, key, user's limits, path, permission, form, act; a
 * request that is refused on the way has changed nothing but the meter.
 * Not here: what the acts do (order-entry.ts, queries.ts), how a key proves itself (the wire around this service).
 */

import type { EndpointName, InputOf } from "../contract/endpoints.ts";
import { readInstId } from "../contract/inst-id.ts";
import { limitHeaders } from "../contract/limits.ts";
import { requestProblems } from "../contract/validate.ts";
import type { Account } from "./account.ts";
import type { Exchange } from "./exchange.ts";
import { instrumentRecordOf } from "./instrument.ts";
import { balanceRecordsOf } from "./margin.ts";
import { cancelBatch, closePosition, place, setLeverage } from "./order-entry.ts";
import { getOrder, listHistory, listPending, positionRecordsOf } from "./queries.ts";
import type { Caller, RateLimiter } from "./rate-limiter.ts";
import { type Answer, badRequest, done, forbidden, limited, unauthenticated, unknownPath } from "./responses.ts";

export interface VenueRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Name of the key that signed the request; undefined when it was not signed. */
  readonly key: string | undefined;
  readonly ip: string;
}

export interface VenueResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface KeyHolder {
  readonly account: Account;
  readonly permissions: ReadonlySet<string>;
}

export interface RequestHandler {
  readonly exchange: Exchange;
  readonly rateLimiter: RateLimiter;
  readonly keys: ReadonlyMap<string, KeyHolder>;
  readonly routes: ReadonlyMap<string, EndpointName>;
  /** The user last seen at an address, for services that charge the public list to somebody. */
  readonly seenAt: Map<string, string>;
}

type Act<E extends EndpointName> = (exchange: Exchange, account: Account, input: InputOf<E>, now: number) => Answer;

const acts: { readonly [E in Exclude<EndpointName, "instruments">]: Act<E> } = {
  spotBalance: (exchange, account, { currency }) => done(exchange.profile, balanceRecordsOf(exchange, account, currency)),
  positions: (exchange, account, { instId }) => done(exchange.profile, positionRecordsOf(exchange, account, instId)),
  getOrder,
  pendingOrders: listPending,
  orderHistory: listHistory,
  placeOrder: place,
  cancelBatch,
  closePosition,
  setLeverage,
};

const listInstruments = ({ profile, markets }: Exchange, query: InputOf<"instruments">): Answer => {
  const listed = [...markets.values()].filter(({ listed, product }) => listed && fitsQuery(product, query));
  return done(
    profile,
    listed.map(({ product }) => instrumentRecordOf(product, profile)),
  );
};

const fitsQuery = (product: { instId: string; instType: string }, { instType, instId }: InputOf<"instruments">): boolean =>
  (instType === undefined || product.instType === instType) && (instId === undefined || product.instId === instId);

export const routesOf = ({ endpoints }: Exchange["contract"]): ReadonlyMap<string, EndpointName> =>
  new Map((Object.keys(endpoints) as EndpointName[]).map((name) => [`${endpoints[name].method} ${endpoints[name].path}`, name]));

const weightOf = ({ contract, profile }: Exchange, name: EndpointName | undefined, body: unknown): number => {
  if (name === undefined) return 0;
  const elements = name === "cancelBatch" && Array.isArray(body) ? body.length : 0;
  return contract.endpoints[name].weight + elements * profile.weights.perCancelElement;
};

/** Placing needs the permission of the product's kind; all other endpoints name one. */
const permissionOf = ({ contract, profile }: Exchange, name: EndpointName, body: unknown): string => {
  if (name !== "placeOrder") return contract.endpoints[name].permission;
  const instId = body !== null && typeof body === "object" && "instId" in body ? readInstId(body.instId) : undefined;
  return instId?.instType === "SPOT" ? profile.permissions.placeSpot : profile.permissions.placeSwap;
};

/** A body nested deeper than the stack is a stranger's doing as much as a wrong field is. */
const problemsOf = (schema: object, input: unknown): readonly string[] => {
  try {
    return requestProblems(schema, input);
  } catch {
    return ["request: the body cannot be read."];
  }
};

const serve = (
  { exchange }: RequestHandler,
  name: EndpointName,
  holder: KeyHolder | undefined,
  request: VenueRequest,
  now: number,
): Answer => {
  const { contract, profile } = exchange;
  const endpoint = contract.endpoints[name];
  const permission = permissionOf(exchange, name, request.body);
  if (holder !== undefined && permission !== "none" && !holder.permissions.has(permission)) return forbidden(profile, permission);
  const input = endpoint.method === "GET" ? request.query : request.body;
  const problems = problemsOf(endpoint.input, input);
  if (problems.length > 0) return badRequest(profile, problems.join(" "));
  if (name === "instruments") return listInstruments(exchange, input as InputOf<"instruments">);
  if (holder === undefined) return unauthenticated(profile);
  // The schema has just been checked; the compiler cannot follow it through the table.
  return (acts[name] as Act<EndpointName>)(exchange, holder.account, input as InputOf<EndpointName>, now);
};

const callerOf = (
  door: RequestHandler,
  holder: KeyHolder | undefined,
  name: EndpointName | undefined,
  request: VenueRequest,
): Caller | undefined => {
  if (holder !== undefined) return { ip: request.ip, key: request.key, uid: holder.account.uid };
  const charges = name === "instruments" && door.exchange.profile.instruments.chargesUserWithoutKey;
  const uid = charges ? door.seenAt.get(request.ip) : undefined;
  return uid === undefined ? undefined : { ip: request.ip, key: undefined, uid };
};

const judge = (door: RequestHandler, request: VenueRequest, now: number): { answer: Answer; caller: Caller | undefined } => {
  const { exchange, rateLimiter } = door;
  const { profile, contract } = exchange;
  const holder = request.key === undefined ? undefined : door.keys.get(request.key);
  const name = door.routes.get(`${request.method} ${request.path}`);
  const weight = weightOf(exchange, name, request.body);
  const caller = callerOf(door, holder, name, request);
  const content = { endpoint: name, elements: Array.isArray(request.body) ? request.body.length : 1 };
  if (!rateLimiter.arrive(request.ip, caller, weight, now, content)) return { answer: limited(profile), caller };
  const open = name === undefined || contract.endpoints[name].permission === "none";
  if (holder === undefined && !open) return { answer: unauthenticated(profile), caller: undefined };
  if (holder !== undefined) door.seenAt.set(request.ip, holder.account.uid);
  if (caller !== undefined && !rateLimiter.spend(caller, weight, now, content)) return { answer: limited(profile), caller };
  const answer = name === undefined ? unknownPath(profile) : serve(door, name, holder, request, now);
  if (!answer.success && !profile.limits.failedCounts && caller !== undefined) rateLimiter.forgive(caller, weight, now, content);
  return { answer, caller };
};

const lastDate = { second: Number.NaN, text: "" };

/** Spelled once a second: nothing else of an answer costs as much. */
const dateText = (now: number): string => {
  const second = Math.floor(now / 1_000);
  if (second !== lastDate.second) {
    lastDate.second = second;
    lastDate.text = new Date(second * 1_000).toUTCString();
  }
  return lastDate.text;
};

const headersOf = (
  { exchange, rateLimiter }: RequestHandler,
  request: VenueRequest,
  caller: Caller | undefined,
  answer: Answer,
  now: number,
) => {
  const { profile, contract } = exchange;
  const headers: Record<string, string> = {};
  if (profile.limits.dateHeader) headers["date"] = dateText(now);
  if (!answer.success && !profile.limits.headersOnError) return headers;
  const left = (layer: "ip" | "key", id: string): string =>
    String(Math.max(0, contract.layers[layer].capacity - rateLimiter.used(layer, id, now)));
  headers[limitHeaders.ipRemaining] = left("ip", request.ip);
  if (caller?.key === undefined) return headers;
  headers[limitHeaders.keyRemaining] = left("key", caller.key);
  headers[limitHeaders.uidUsed] = String(rateLimiter.used("uid", caller.uid, now));
  return headers;
};

export const answerRequest = (door: RequestHandler, request: VenueRequest, now: number): VenueResponse => {
  const { answer, caller } = judge(door, request, now);
  return { status: answer.status, headers: headersOf(door, request, caller, answer, now), body: answer.body };
};
