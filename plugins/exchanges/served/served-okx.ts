/**
 * OKX v5 as the embedded service implements it: signatures, limits, codes, and the parts that translate calls and
 * sockets.
 *
 * Invariants: swaps are sized in contracts, spot in base currency; a fee is negative where it costs, and taken in the
 * currency received; positions are net.
 * Source: OKX v5 as its public clients use it, codes after ccxt's table of its errors. Assumed where those are silent:
 * a post-only order that would take is accepted and canceled, HTTP 400 comes with 50014, 51000 is the code of a price
 * off the tick and 51121 of every wrong size, 60029 for a socket without permission, 404 for an unknown path; limits
 * count in sliding windows.
 * Not here: calls (served-okx-calls.ts), sockets (served-okx-sockets.ts).
 */
import type { EndpointName, ExtraLayer, ProfileOverrides, wire } from "sluice/dialect";
import {
  type Claim,
  type Headers,
  type KeyProblem,
  readRequest,
  type ServedDialect,
  type Service,
  type Speech,
} from "sluice/plugins/venue-server";
import { answerOkx, askOkx, okxRoutes } from "./served-okx-calls.ts";
import { okxSocketPaths, sayOkx, subscribeOkx, writeOkx } from "./served-okx-sockets.ts";
import { loginOf } from "./wire-fields.ts";

const profile: ProfileOverrides = {
  order: { szUnit: { SPOT: "base", SWAP: "contracts" }, spotBuyFee: "base" },
  answers: {
    badRequestCode: "50002",
    permissionStatus: 401,
    permissionCode: "50120",
    authCode: "50103",
    unavailableCode: "50026",
    unknownPathCode: "404",
    priceCode: "51000",
    sizeCode: "51121",
    leverageCode: "59102",
    // A post-only order that would take is accepted, and canceled at once.
    postOnlyCode: "",
  },
  cancelBatch: { oneIdKind: false, envelopeCodeWhenMixed: "2" },
  capabilities: { amend: true, cancelSpot: true },
  auth: { headerPrefix: "OK-ACCESS-", toleranceMs: 30_000, prehash: ["timestamp", "method", "path", "query", "body"] },
  websocket: { szUnit: "contracts", path: okxSocketPaths[0], loginPath: "/users/self/verify" },
};

/**
 * Builds a layer. Limits are published as a number of calls in two seconds, by user unless stated otherwise; the start
 * of the two seconds is not published.
 */
const layerOf = (
  name: string,
  capacity: number,
  endpoint: EndpointName,
  more: Partial<ExtraLayer> = {},
): ExtraLayer => ({
  name,
  scope: "uid",
  unit: "requests",
  capacity,
  windowMs: 2_000,
  anchor: "sliding",
  banMs: 0,
  endpoints: [endpoint],
  ...more,
});

const layers: readonly ExtraLayer[] = [
  layerOf("place", 60, "placeOrder", { scope: "instrument" }),
  layerOf("amend", 60, "amendOrder", { scope: "instrument" }),
  layerOf("cancel", 300, "cancelBatch", { scope: "instrument", unit: "elements" }),
  layerOf("order", 60, "getOrder", { scope: "instrument" }),
  // Limit of a sub-account, for all products together.
  layerOf("sub-account", 1_000, "placeOrder"),
  layerOf("pending", 60, "pendingOrders"),
  layerOf("history", 40, "orderHistory"),
  layerOf("balance", 10, "spotBalance"),
  layerOf("positions", 10, "positions"),
  layerOf("instruments", 20, "instruments", { scope: "ip" }),
  layerOf("close", 20, "closePosition"),
  layerOf("leverage", 20, "setLeverage"),
];

const keyRefusals: Readonly<Record<KeyProblem, readonly [request: string, login: string, msg: string]>> = {
  unknown_key: ["50111", "60005", "Invalid OK-ACCESS-KEY"],
  timestamp: ["50102", "60006", "Timestamp request expired"],
  passphrase: ["50105", "60024", "Request header OK-ACCESS-PASSPHRASE incorrect."],
  signature: ["50113", "60007", "Invalid Sign"],
  environment: ["50101", "60032", "APIKey does not match current environment."],
  nonce: ["50114", "60009", "Invalid Authority"],
};

/** 1 marks calls to the environment for trying things out. */
const demoHeader = "x-simulated-trading";

const claimOf = (
  demo: boolean | undefined,
  headers: Headers,
  { method, path, query, body }: Omit<wire.signing.SignedParts, "timestamp">,
) => {
  const of = (name: string): string | undefined => headers[`ok-access-${name}`];
  const given = [of("key"), of("passphrase"), of("timestamp"), of("sign")];
  if (given.every((part) => part === undefined)) return undefined;
  const [apiKey = "", passphrase = "", timestamp = "", sign = ""] = given;
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(timestamp) ? Date.parse(timestamp) : Number.NaN;
  return {
    apiKey,
    passphrase,
    sign,
    at: Number.isNaN(at) ? undefined : at,
    prehash: `${timestamp}${method}${path}${query === "" ? "" : `?${query}`}${body}`,
    elsewhere: demo !== undefined && (headers[demoHeader] === "1") !== demo,
  };
};

const loginClaim = ({
  apiKey = "",
  passphrase = "",
  timestamp = "",
  sign = "",
}: Readonly<Record<string, string>>): Claim => ({
  apiKey,
  passphrase,
  sign,
  at: /^\d{10}$/.test(timestamp) ? Number(timestamp) * 1_000 : undefined,
  prehash: `${timestamp}GET/users/self/verify`,
});

const login = loginOf("apiKey", "passphrase", "timestamp", "sign");

const speak = (service: Service, demo: boolean | undefined): Speech => ({
  routes: okxRoutes,
  claim: (headers, parts) => claimOf(demo, headers, parts),
  keyRefusal: (problem, by) => {
    const [request, atLogin, msg] = keyRefusals[problem];
    return { status: 401, code: by === "request" ? request : atLogin, msg };
  },
  ask: (call) => askOkx(service, call),
  answer: (call, answers) => answerOkx(service, call, answers),
  socketPaths: okxSocketPaths,
  heartbeat: { pings: false, sendingCounts: true },
  hear: (text) => {
    const request = readRequest(text, login);
    return request.op === "login" ? { op: "login", claim: loginClaim(request.arg) } : request;
  },
  subscription: subscribeOkx,
  say: sayOkx(service),
  writer: writeOkx(service),
});

/**
 * `demo` true wants the header of the demo environment with every signed call, false refuses it; left out, both are let
 * in.
 */
export const servedOkx = (demo?: boolean): ServedDialect => ({
  name: demo === true ? "okx-demo" : "okx",
  profile,
  layers,
  speak: (service) => speak(service, demo),
});

/** Both environments, by the name that `--dialect` takes. */
export default servedOkx();
