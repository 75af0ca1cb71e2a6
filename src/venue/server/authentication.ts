/**
 * From a request as it came over the wire to the venue's answer: who signed it, and whether it can be read.
 *
 * Invariants: whatever is wrong with a request, the venue's rate limiter counts it first, as it has reached the address; a request
 * that is refused here is shown to the venue without anything that could act. Every answer is an envelope with the profile's
 * statuses and codes.
 * Not here: sockets and bytes (http-handler.ts), permissions and limits (venue/request-handler.ts).
 */
import type { Clock } from "../../clock/clock.ts";
import type { Contract } from "../../contract/contract.ts";
import { tooLargeStatus } from "../../contract/documents/failures.ts";
import type { EndpointName } from "../../contract/endpoints.ts";
import { limitedStatus } from "../../contract/limits.ts";
import { badRequest, unauthenticated } from "../responses.ts";
import type { Venue, VenueRequest, VenueResponse } from "../venue.ts";
import type { Faults } from "./faults.ts";
import type { KeyProblem, Keyring } from "./keyring.ts";
import type { Listings } from "./late-listings.ts";
import { type Body, bodyBytesMax, isUnreadable, jsonOf, queryOf, type Target } from "./parse-request.ts";

export interface Arrival {
  readonly method: string;
  readonly target: Target;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Body;
  readonly ip: string;
}

interface AuthenticationOptions {
  readonly venue: Venue;
  readonly contract: Contract;
  readonly keyring: Keyring;
  readonly faults: Faults;
  readonly routes: ReadonlyMap<string, EndpointName>;
  readonly listings: Listings | undefined;
}

export type Authentication = (arrival: Arrival) => VenueResponse;

const keyProblems: Readonly<Record<KeyProblem, string>> = {
  unknown_key: "The API key is unknown.",
  timestamp: "The timestamp is missing, malformed or too far from the service's clock.",
  passphrase: "The passphrase is wrong.",
  signature: "The signature does not match the request.",
};

export const createAuthentication = (options: AuthenticationOptions): Authentication => {
  const { venue, contract, keyring, faults, listings, routes } = options;
  const { profile } = contract;
  const { clock } = faults;
  const ask = (request: VenueRequest): VenueResponse => stamped(venue.handle(request, clock.now()), clock);

  /** The venue counts the arrival; unless it says that this was too often, `status` and `body` are the answer. */
  const turnAway = (request: VenueRequest, status: number, body: unknown): VenueResponse => {
    const judged = ask({ ...request, path: nowhere });
    return judged.status === limitedStatus ? judged : { ...judged, status, body };
  };
  const unsigned = (request: VenueRequest, problem: KeyProblem): VenueResponse => {
    const { status, body } = unauthenticated(profile);
    return turnAway(request, status, { ...(body as object), msg: keyProblems[problem] });
  };
  const unread = (request: VenueRequest, problem: "too_large" | "encoding"): VenueResponse => {
    const msg = problem === "too_large" ? `request: the body is larger than ${bodyBytesMax} bytes.` : "request: the body is not UTF-8.";
    const { status, body } = badRequest(profile, msg);
    return turnAway(request, problem === "too_large" ? tooLargeStatus : status, body);
  };
  /** Limits, path and permission come before form, so the venue judges them first, with something that has no form. */
  const malformed = (request: VenueRequest, problem: string): VenueResponse => {
    const judged = ask({ ...request, query: formless });
    const { status, body } = badRequest(profile, `request: ${problem}`);
    return judged.status === status ? { ...judged, body } : judged;
  };
  const methodsOf = (request: VenueRequest): VenueResponse => {
    const judged = ask(request);
    const methods = ["GET", "POST"].filter((method) => routes.has(`${method} ${request.path}`));
    if (judged.status === limitedStatus || methods.length === 0) return judged;
    const allow = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    return { status: 204, headers: { ...judged.headers, allow: [...allow, "OPTIONS"].join(", ") }, body: undefined };
  };
  return ({ method, target: { path, rawQuery }, headers, body, ip }) => {
    const request: VenueRequest = { method: method === "HEAD" ? "GET" : method, path, query: {}, body: undefined, key: undefined, ip };
    if (method === "OPTIONS") return methodsOf(request);
    if ("problem" in body) return unread(request, body.problem);
    const check = keyring.check(headers, { method, path, query: rawQuery, body: body.text }, clock.wallNow());
    if (check?.ok === false) return unsigned(request, check.problem);
    const key = check?.key.apiKey;
    const query = queryOf(rawQuery);
    if (isUnreadable(query)) return malformed({ ...request, key }, query.problem);
    const value = request.method === "GET" ? { value: undefined } : jsonOf(body.text);
    if (isUnreadable(value)) return malformed({ ...request, key }, value.problem);
    const answer = ask({ ...request, query: query.query, body: value.value, key });
    if (listings === undefined || check === undefined) return answer;
    return listings.asOf(routes.get(`${request.method} ${path}`), check.key.uid, query.query, answer);
  };
};

/** A path of no endpoint, and a query that fits none. */
const nowhere = "";
const formless = { "": "" };

/** What the service says of the time is its calendar's; the venue only knows the time that never falls. */
const stamped = (answer: VenueResponse, clock: Clock): VenueResponse => {
  const wallAt = clock.wallNow();
  if (answer.headers["date"] === undefined || wallAt === clock.now()) return answer;
  return { ...answer, headers: { ...answer.headers, date: new Date(wallAt).toUTCString() } };
};
