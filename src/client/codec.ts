/**
 * Codec of calls: checks an input and encodes it as a request, and derives the outcome of a call that was not answered.
 * Pure.
 *
 * Invariants: an input that breaks the contract is refused with a description of the error and not sent.
 * Not here: parsing of responses (parse-response.ts), when a call is sent (gateway.ts).
 */
import type { Contract } from "../contract/contract.ts";
import type { EndpointName, InputOf } from "../contract/endpoints.ts";
import type { WireRequest } from "../contract/transport.ts";
import { requestProblems } from "../contract/validate.ts";
import type { Ending } from "../scheduler/action.ts";
import type { Outcome } from "./outcome.ts";

const hasId = ({ ordId, clOrdId }: { readonly ordId?: string; readonly clOrdId?: string }): boolean =>
  ordId !== undefined || clOrdId !== undefined;

/** Problem of an input, judged by its schema and the rules that span fields; undefined if it may be sent. */
export const inputProblem = (contract: Contract, endpoint: EndpointName, input: unknown): string | undefined => {
  const problems = requestProblems(contract.endpoints[endpoint].input, input);
  if (problems.length > 0) return problems.join("; ");
  if ((endpoint === "getOrder" || endpoint === "amendOrder") && !hasId(input as InputOf<"getOrder">))
    return "request: give ordId or clOrdId.";
  if (endpoint === "cancelBatch" && !(input as InputOf<"cancelBatch">).every(hasId))
    return "request: give every element ordId or clOrdId.";
  return undefined;
};

const noQuery: WireRequest["query"] = Object.freeze({});

/** The request for an input without a problem. */
export const encode = <E extends EndpointName>(
  contract: Contract,
  endpoint: E,
  input: InputOf<E>,
  key: string | undefined,
): WireRequest => {
  const { method, path } = contract.endpoints[endpoint];
  return method === "GET"
    ? { endpoint, method, path, query: input as Record<string, string>, body: undefined, key }
    : { endpoint, method, path, query: noQuery, body: input, key };
};

/** Outcome of a call that was not answered. */
export const unanswered = (ending: Exclude<Ending, { readonly kind: "answered" }>): Outcome<never> =>
  ending.kind === "lost" ? { kind: "unknown", message: ending.message } : { kind: "dropped", reason: ending.reason };
