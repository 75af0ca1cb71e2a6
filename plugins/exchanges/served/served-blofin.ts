/**
 * BloFin v1 as the embedded service implements it: signatures with a nonce, limits with bans, codes, and the parts that
 * translate.
 *
 * Invariants: swaps only, sized in contracts; a fee is positive where it costs; positions are net; a nonce serves once
 * a minute.
 * Source: BloFin's public API documentation. Assumed where it is silent: a failed placement has the envelope's code
 * "0", an order that does not exist is null, a banned address gets a JSON body, 60012 is the code of every mistake over
 * a socket, and a post-only order that would take is accepted and canceled; which calls count as trading.
 * Not here: calls (served-blofin-calls.ts), sockets (served-blofin-sockets.ts).
 */
import type { ExtraLayer, ProfileOverrides } from "sluice/dialect";
import { type Claim, type KeyProblem, readRequest, type ServedDialect, type Speech } from "sluice/plugins/venue-server";
import { answerBlofin, askBlofin, blofinRoutes } from "./served-blofin-calls.ts";
import { blofinSocketPaths, sayBlofin, subscribeBlofin, writeBlofin } from "./served-blofin-sockets.ts";
import { loginOf } from "./wire-fields.ts";

const profile: ProfileOverrides = {
  order: { szUnit: { SPOT: "base", SWAP: "contracts" }, feeSign: "positive_is_cost" },
  answers: {
    // The statuses distinguish the kinds of refusal here; on the wire they are 200.
    badRequestCode: "152002",
    permissionCode: "152404",
    authCode: "152401",
    unavailableCode: "103013",
    unknownPathCode: "404",
    limitedCode: "429",
    notFound: "empty",
    instrumentCode: "152014",
    parameterCode: "152002",
    priceCode: "102064",
    sizeCode: "152005",
    fundsCode: "103003",
    duplicateCode: "102002",
    // A post-only order that would take is accepted, and canceled at once.
    postOnlyCode: "",
    notCancelableCode: "1000",
    positionCode: "102022",
    leverageCode: "152002",
    successMsg: "success",
  },
  auth: { headerPrefix: "ACCESS-", timestamp: "ms", digest: "hex_base64", toleranceMs: 60_000 },
  websocket: { szUnit: "contracts", path: blofinSocketPaths[0], loginPath: "/users/self/verify" },
};

const minutes = (count: number): number => count * 60_000;

/**
 * Too many calls of an address shut it out; which calls count as trading is not published, here those that change
 * something do.
 */
const layers: readonly ExtraLayer[] = [
  {
    name: "minute",
    scope: "ip",
    unit: "requests",
    capacity: 500,
    windowMs: minutes(1),
    anchor: "first_request",
    banMs: minutes(5),
  },
  {
    name: "five-minutes",
    scope: "ip",
    unit: "requests",
    capacity: 1_500,
    windowMs: minutes(5),
    anchor: "first_request",
    banMs: minutes(60),
  },
  {
    name: "trading",
    scope: "uid",
    unit: "requests",
    capacity: 30,
    windowMs: 10_000,
    anchor: "sliding",
    banMs: 0,
    endpoints: ["placeOrder", "cancelBatch", "closePosition"],
  },
];

const keyRefusals: Readonly<Record<KeyProblem, readonly [code: string, msg: string]>> = {
  unknown_key: ["152401", "Access key does not exist"],
  timestamp: ["152405", "Timestamp in header or signature has expired, need to be within 60s"],
  passphrase: ["152408", "Passphrase error"],
  signature: ["152409", "Signature verification failed"],
  nonce: ["152407", "Repeated nonce, Reusing within 60 seconds is not allowed."],
  environment: ["152401", "Access key does not exist"],
};

/** Returns the claim of a signer. The signed text is the path, then method and time, then the nonce, then the body. */
const claimOf = (given: readonly (string | undefined)[], path: string, method: string, body: string): Claim => {
  const [apiKey = "", passphrase = "", timestamp = "", sign = "", nonce = ""] = given;
  return {
    apiKey,
    passphrase,
    // Without a nonce nothing is signed.
    sign: nonce === "" ? "" : sign,
    at: /^\d{13}$/.test(timestamp) ? Number(timestamp) : undefined,
    prehash: `${path}${method}${timestamp}${nonce}${body}`,
    nonce,
  };
};

const parts = ["key", "passphrase", "timestamp", "sign", "nonce"] as const;
const loginParts = ["apiKey", "passphrase", "timestamp", "sign", "nonce"] as const;
const login = loginOf(...loginParts);

export const servedBlofin: ServedDialect = {
  name: "blofin",
  profile,
  layers,
  speak: (service): Speech => ({
    routes: blofinRoutes,
    claim: (headers, { method, path, query, body }) => {
      const given = parts.map((part) => headers[`access-${part}`]);
      if (given.every((part) => part === undefined)) return undefined;
      return claimOf(given, `${path}${query === "" ? "" : `?${query}`}`, method, body);
    },
    keyRefusal: (problem) => {
      const [code, msg] = keyRefusals[problem];
      return { status: 401, code, msg };
    },
    ask: askBlofin,
    answer: (call, answers) => answerBlofin(service, call, answers),
    socketPaths: blofinSocketPaths,
    heartbeat: { pings: false, sendingCounts: true },
    hear: (text) => {
      const request = readRequest(text, login);
      if (request.op !== "login") return request;
      const given = loginParts.map((name) => request.arg[name]);
      return { op: "login", claim: claimOf(given, "/users/self/verify", "GET", "") };
    },
    subscription: subscribeBlofin,
    say: sayBlofin,
    writer: writeBlofin(service),
  }),
};

/** By the name that `--dialect` takes. */
export default servedBlofin;
