/**
 * Request handler of the embedded service: endpoint, rate limits, permission, form, act, answer.
 *
 * Invariants: no request makes it throw; the order is address, key, user's limits, path, permission, form, act; a
 * request that is refused on the way has changed nothing but the rate limiter.
 * Not here: what the acts do (order-entry.ts, queries.ts), how a key proves itself (the wire around this service).
 */

import { endpointNames } from "../contract/contract.ts";
import type { Endpoint, EndpointName, InputOf } from "../contract/endpoints.ts";
import { readInstId } from "../contract/inst-id.ts";
import type { SzUnit } from "../contract/profile.ts";
import { requestProblems } from "../contract/validate.ts";
import type { Account } from "./account.ts";
import { DateHeader } from "./date-header.ts";
import type { Exchange } from "./exchange.ts";
import { instrumentRecordOf } from "./instrument.ts";
import { knownFields } from "./known-fields.ts";
import type { Caller, Content } from "./layer-windows.ts";
import { balanceRecordsOf } from "./margin.ts";
import { amend } from "./order-amendment.ts";
import { cancelBatch, closePosition, place, setLeverage } from "./order-entry.ts";
import { getOrder, listHistory, listPending, positionRecordsOf } from "./queries.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import {
  type Answer,
  badRequest,
  done,
  forbidden,
  limited,
  type Refusal,
  refused,
  unauthenticated,
  unknownPath,
} from "./responses.ts";

/** Facts that requests of other exchanges may have in addition to the described ones. */
interface Beyond {
  /** Unit of this order's `sz` instead of the profile's. */
  readonly szUnit?: SzUnit;
  /** Completed orders of one instrument only. */
  readonly filter?: { readonly instId: string };
  /** The instId of cancels that name no product: their order is canceled in any product. */
  readonly unnamed?: string;
  /** The product that the client named, where the request does not. */
  readonly product?: string;
  /** Reason to refuse the request before the exchange handles it. Limits and permission are checked first. */
  readonly refusal?: Refusal;
}

/** A request as the embedded exchange takes it, after signatures were checked. */
export interface VenueRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Name of the key that signed the request; undefined when it was not signed. */
  readonly key: string | undefined;
  readonly ip: string;
  readonly beyond?: Beyond;
}

/** The embedded exchange's answer to a request. */
export interface VenueResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Set if the request was refused by a limit of its address. */
  readonly limitedBy?: "ip";
}

export interface KeyHolder {
  readonly account: Account;
  readonly permissions: ReadonlySet<string>;
  /** The holder, with the address that it called from most recently. */
  caller: Caller | undefined;
}

type Act<E extends EndpointName> = (
  exchange: Exchange,
  account: Account,
  input: InputOf<E>,
  now: number,
  beyond?: Beyond,
) => Answer;

const acts: { readonly [E in Exclude<EndpointName, "instruments">]: Act<E> } = {
  spotBalance: (exchange, account, { currency }) =>
    done(exchange.profile, balanceRecordsOf(exchange, account, currency)),
  positions: (exchange, account, { instId }) => done(exchange.profile, positionRecordsOf(exchange, account, instId)),
  getOrder,
  pendingOrders: listPending,
  orderHistory: listHistory,
  placeOrder: place,
  amendOrder: amend,
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

const fitsQuery = (
  product: { instId: string; instType: string },
  { instType, instId }: InputOf<"instruments">,
): boolean =>
  (instType === undefined || product.instType === instType) && (instId === undefined || product.instId === instId);

/** An endpoint as it is called, and what a call of it weighs. */
interface Route {
  readonly name: EndpointName;
  readonly endpoint: Endpoint;
  /** Additional weight of each element of the body. */
  readonly elementWeight: number;
}

/** Routes in two steps, because building a text for every request costs more than the lookup. */
const routeTable = ({ endpoints, profile }: Exchange["contract"], names: readonly EndpointName[]) => {
  const table = new Map<string, Map<string, Route>>();
  for (const name of names) {
    const endpoint = endpoints[name];
    const route = { name, endpoint, elementWeight: name === "cancelBatch" ? profile.weights.perCancelElement : 0 };
    table.set(endpoint.path, (table.get(endpoint.path) ?? new Map<string, Route>()).set(endpoint.method, route));
  }
  return table;
};

export class RequestHandler {
  readonly #exchange: Exchange;
  readonly #rateLimiter: RateLimiter;
  readonly #keys: ReadonlyMap<string, KeyHolder>;
  readonly #routes: ReadonlyMap<string, ReadonlyMap<string, Route>>;
  /** The user last seen at an address, for services that charge the public list to a user. */
  readonly #seenAt = new Map<string, string>();
  readonly #date = new DateHeader();

  constructor(exchange: Exchange, rateLimiter: RateLimiter, keys: ReadonlyMap<string, KeyHolder>) {
    this.#exchange = exchange;
    this.#rateLimiter = rateLimiter;
    this.#keys = keys;
    this.#routes = routeTable(exchange.contract, endpointNames(exchange.contract));
  }

  answer(request: VenueRequest, now: number): VenueResponse {
    const { profile } = this.#exchange;
    const { ip, body } = request;
    const holder = request.key === undefined ? undefined : this.#keys.get(request.key);
    const route = this.#routes.get(request.path)?.get(request.method);
    const weight =
      route === undefined ? 0 : route.endpoint.weight + (Array.isArray(body) ? body.length * route.elementWeight : 0);
    // Mostly a key calls from one address.
    const caller = holder?.caller?.ip === ip ? holder.caller : this.#callerOf(holder, route, request);
    const content = profile.limits.extraLayers.length === 0 ? undefined : contentOf(route?.name, request);
    if (!this.#rateLimiter.arrive(ip, caller, weight, now, content)) {
      return { ...this.#respond(limited(profile), ip, caller, now), limitedBy: "ip" };
    }
    const open = route === undefined || route.endpoint.permission === "none";
    if (holder === undefined && !open) return this.#respond(unauthenticated(profile), ip, undefined, now);
    if (holder !== undefined) this.#seenAt.set(ip, holder.account.uid);
    if (caller !== undefined && !this.#rateLimiter.spend(caller, weight, now, content)) {
      return this.#respond(limited(profile), ip, caller, now);
    }
    const answer = route === undefined ? unknownPath(profile) : this.#serve(route, holder, request, now);
    if (!answer.success && !profile.limits.failedCounts && caller !== undefined)
      this.#rateLimiter.forgive(caller, weight, now, content);
    return this.#respond(answer, ip, caller, now);
  }

  #callerOf(holder: KeyHolder | undefined, route: Route | undefined, { ip, key }: VenueRequest): Caller | undefined {
    if (holder !== undefined) {
      holder.caller = { ip, key, uid: holder.account.uid };
      return holder.caller;
    }
    const charges = route?.name === "instruments" && this.#exchange.profile.instruments.chargesUserWithoutKey;
    const uid = charges ? this.#seenAt.get(ip) : undefined;
    return uid === undefined ? undefined : { ip, key: undefined, uid };
  }

  /** Permission, form, act. */
  #serve({ name, endpoint }: Route, holder: KeyHolder | undefined, request: VenueRequest, now: number): Answer {
    const exchange = this.#exchange;
    const { profile } = exchange;
    const permission = name === "placeOrder" ? this.#placePermission(request.body) : endpoint.permission;
    if (holder !== undefined && permission !== "none" && !holder.permissions.has(permission))
      return forbidden(profile, permission);
    if (request.beyond?.refusal !== undefined) return refused(profile, request.beyond.refusal);
    const given = endpoint.method === "GET" ? request.query : request.body;
    const input = profile.answers.unknownParameter === "ignored" ? knownFields(endpoint.input, given) : given;
    let problems: readonly string[];
    try {
      problems = requestProblems(endpoint.input, input);
    } catch {
      // A body nested deeper than the stack is as much the sender's fault as a wrong field.
      problems = ["request: the body cannot be read."];
    }
    if (problems.length > 0) return badRequest(profile, problems.join(" "));
    if (name === "instruments") return listInstruments(exchange, input as InputOf<"instruments">);
    if (holder === undefined) return unauthenticated(profile);
    // The schema has just been checked; the compiler cannot follow it through the table.
    return (acts[name] as Act<EndpointName>)(
      exchange,
      holder.account,
      input as InputOf<EndpointName>,
      now,
      request.beyond,
    );
  }

  /** Placing needs the permission of the product's kind; all other endpoints name one. */
  #placePermission(body: unknown): string {
    const { profile, markets } = this.#exchange;
    const { placeSpot, placeSwap } = profile.permissions;
    const instId = (body as { readonly instId?: unknown } | null)?.instId;
    if (typeof instId !== "string") return placeSwap;
    const instType = markets.get(instId)?.product.instType ?? readInstId(instId)?.instType;
    return instType === "SPOT" ? placeSpot : placeSwap;
  }

  #respond({ status, body, success }: Answer, ip: string, caller: Caller | undefined, now: number): VenueResponse {
    const { dateHeader, headersOnError } = this.#exchange.profile.limits;
    const headers: Record<string, string> = {};
    if (dateHeader) headers["date"] = this.#date.of(now);
    if (success || headersOnError) this.#rateLimiter.tell(headers, ip, caller, now);
    return { status, headers, body };
  }
}

const contentOf = (endpoint: EndpointName | undefined, { body, query, beyond }: VenueRequest): Content => {
  const parts: readonly unknown[] = Array.isArray(body) ? body : [body ?? query];
  const products = new Map<string, number>();
  for (const part of parts) {
    const instId = beyond?.product ?? (part as { readonly instId?: unknown } | null)?.instId;
    if (typeof instId === "string") products.set(instId, (products.get(instId) ?? 0) + 1);
  }
  return { endpoint, elements: Array.isArray(body) ? body.length : 1, ...(products.size > 0 && { products }) };
};
