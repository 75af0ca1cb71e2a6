/**
 * Codec of calls: encodes an input as a request, and decodes how the call ended. Pure.
 *
 * Invariants: an input that breaks the contract is refused with a description of the error and not sent.
 * Not here: parsing of responses (parse-response.ts), when a call is sent (gateway.ts).
 */
import type { Contract } from "../contract/contract.ts";
import type { EndpointName, InputOf, RecordOf } from "../contract/endpoints.ts";
import type { WireRequest } from "../contract/transport.ts";
import { requestProblems } from "../contract/validate.ts";
import type { Ending } from "../scheduler/action.ts";
import type { Outcome } from "./outcome.ts";
import { parseResponse } from "./parse-response.ts";

const hasId = ({ ordId, clOrdId }: { readonly ordId?: string; readonly clOrdId?: string }): boolean =>
  ordId !== undefined || clOrdId !== undefined;

/** What is wrong with an input, by its schema and by the rules that span fields; undefined when it may be sent. */
export const inputProblem = (contract: Contract, endpoint: EndpointName, input: unknown): string | undefined => {
  const problems = requestProblems(contract.endpoints[endpoint].input, input);
  if (problems.length > 0) return problems.join("; ");
  if ((endpoint === "getOrder" || endpoint === "amendOrder") && !hasId(input as InputOf<"getOrder">))
    return "request: give ordId or clOrdId.";
  if (endpoint === "cancelBatch" && !(input as InputOf<"cancelBatch">).every(hasId)) return "request: give every element ordId or clOrdId.";
  return undefined;
};

const noQuery: WireRequest["query"] = Object.freeze({});

/** The request of an input that has no problem. */
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

/** `at`: when the response was read, on the engine's clock. */
export const decode = <E extends EndpointName>(contract: Contract, endpoint: E, ending: Ending, at: number): Outcome<RecordOf<E>> => {
  switch (ending.kind) {
    case "answered":
      return parseResponse<RecordOf<E>>(endpoint, ending.response, contract, at);
    case "lost":
      return { kind: "unknown", message: ending.message };
    case "dropped":
      return { kind: "dropped", reason: ending.reason };
  }
};
