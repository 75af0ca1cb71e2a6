/**
 * Authenticates and parses a request from the wire, and returns the venue's answer.
 *
 * Invariants: the venue's rate limiter counts every request first, also a wrong one, because it has reached the
 * address; a request that is refused here is passed to the venue without anything that could act. Every answer is an
 * envelope with the profile's statuses and codes.
 * Not here: sockets and bytes (http-handler.ts), permissions and limits (venue/request-handler.ts).
 */

import type { Venue, VenueRequest, VenueResponse } from "sluice/backtest";
import { type Contract, limitedStatus } from "sluice/dialect";
import { type Clock, type lateListings, venueAnswers } from "sluice/extension";
import { tooLargeStatus } from "../documents/failures.ts";
import type { Faults } from "./faults.ts";
import type { Keyring } from "./keyring.ts";
import { type Body, bodyBytesMax, isUnreadable, jsonOf, queryOf, type Target } from "./parse-request.ts";
import type { Call, KeyProblem, Question, Speech } from "./served-dialect.ts";

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
  readonly speech: Speech;
  readonly listings: ReturnType<typeof lateListings> | undefined;
}

export type Authentication = (arrival: Arrival) => VenueResponse;

export const createAuthentication = (options: AuthenticationOptions): Authentication => {
  const { venue, contract, keyring, faults, listings, speech } = options;
  const { profile } = contract;
  const { clock } = faults;
  const ask = (request: VenueRequest): VenueResponse => stamped(venue.handle(request, clock.now()), clock);

  /**
   * Refuses a request. The venue counts it; unless the venue refuses it by a limit, `status` and `body` are the answer.
   */
  const turnAway = (request: VenueRequest, status: number, body: unknown): VenueResponse => {
    const judged = ask({ ...request, path: nowhere });
    return judged.status === limitedStatus ? judged : { ...judged, status, body };
  };
  const unsigned = (request: VenueRequest, problem: KeyProblem): VenueResponse => {
    const { status, code, msg } = speech.keyRefusal(problem, "request");
    return turnAway(request, status, { ...(venueAnswers.unauthenticated(profile).body as object), code, msg });
  };
  const unread = (request: VenueRequest, problem: "too_large" | "encoding"): VenueResponse => {
    const msg =
      problem === "too_large"
        ? `request: the body is larger than ${bodyBytesMax} bytes.`
        : "request: the body is not UTF-8.";
    const { status, body } = venueAnswers.badRequest(profile, msg);
    return turnAway(request, problem === "too_large" ? tooLargeStatus : status, body);
  };
  /** Limits, path and permission come before form, so the venue judges them first, with something that has no form. */
  const malformed = (
    request: VenueRequest,
    { code = profile.answers.badRequestCode, msg }: Partial<venueAnswers.Refusal> & Pick<venueAnswers.Refusal, "msg">,
  ) => {
    const judged = ask({ ...request, query: formless });
    const { status, body } = venueAnswers.badRequest(profile, msg);
    return judged.status === status ? { ...judged, body: { ...(body as object), code } } : judged;
  };
  const methodsOf = (request: VenueRequest, path: string): VenueResponse => {
    const judged = ask(request);
    const methods = ["GET", "POST"].filter((method) => speech.routes.has(`${method} ${path}`));
    if (judged.status === limitedStatus || methods.length === 0) return judged;
    const allow = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    return { status: 204, headers: { ...judged.headers, allow: [...allow, "OPTIONS"].join(", ") }, body: undefined };
  };
  /** Asks the venue the questions of a well-formed request. */
  const serve = (request: VenueRequest, call: Call, uid: string | undefined): VenueResponse => {
    const questions = speech.ask(call);
    if (venueAnswers.isRefusal(questions)) return speech.answer(undefined, [malformed(request, questions)]);
    const answerTo = (question: Question): VenueResponse => {
      const answer = ask({ ...request, query: {}, body: undefined, ...question });
      return listings === undefined || uid === undefined
        ? answer
        : listings.asOf(call.endpoint, uid, { ...question.query, ...question.beyond?.filter }, answer);
    };
    const [first, ...others] = questions;
    return speech.answer(call, [answerTo(first), ...others.map(answerTo)]);
  };
  return ({ method, target: { path, rawQuery }, headers, body, ip }) => {
    const verb = method === "HEAD" ? "GET" : method;
    const endpoint = speech.routes.get(`${verb} ${path}`);
    const asked = endpoint === undefined ? { method: verb, path: nowhere } : contract.endpoints[endpoint];
    const request: VenueRequest = {
      method: asked.method,
      path: asked.path,
      query: {},
      body: undefined,
      key: undefined,
      ip,
    };
    if (method === "OPTIONS") return methodsOf(request, path);
    const refused = (answer: VenueResponse): VenueResponse => speech.answer(undefined, [answer]);
    if ("problem" in body) return refused(unread(request, body.problem));
    const claim = speech.claim(headers, { method, path, query: rawQuery, body: body.text });
    const check = claim && keyring.check(claim, clock.wallNow());
    if (check?.ok === false) return refused(unsigned(request, check.problem));
    const signed = { ...request, key: check?.key.apiKey };
    const query = queryOf(rawQuery);
    if (isUnreadable(query)) return refused(malformed(signed, { msg: `request: ${query.problem}` }));
    const value = verb === "GET" ? { value: undefined } : jsonOf(body.text);
    if (isUnreadable(value)) return refused(malformed(signed, { msg: `request: ${value.problem}` }));
    if (endpoint === undefined) return refused(ask(signed));
    const call: Call = { endpoint, path, query: query.query, body: value.value, headers };
    return serve(signed, call, check?.key.uid);
  };
};

/** A path of no endpoint, and a query that fits none. */
const nowhere = "";
const formless = { "": "" };

/** Sets the date of an answer to the service's calendar; the venue uses monotonic time only. */
const stamped = (answer: VenueResponse, clock: Clock): VenueResponse => {
  const wallAt = clock.wallNow();
  if (answer.headers["date"] === undefined || wallAt === clock.now()) return answer;
  return { ...answer, headers: { ...answer.headers, date: new Date(wallAt).toUTCString() } };
};
