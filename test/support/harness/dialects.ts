/**
 * Dialects of exchanges as a client uses them: a payload of the exchange goes in, the outcome of the described service comes out.
 */
import { encode } from "../../../src/client/codec.ts";
import type { Outcome } from "../../../src/client/outcome.ts";
import { parseResponse } from "../../../src/client/parse-response.ts";
import { type Dialect, type WholeDialect, wholeDialect } from "../../../src/client/transport/dialect.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import { createSigner, type Signer } from "../../../src/client/transport/sign.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { EndpointName, InputOf } from "../../../src/contract/endpoints.ts";
import type { WireRequest, WireResponse } from "../../../src/contract/transport.ts";

export const dialectCredentials = { apiKey: "key-0001", secretKey: "secret/0002+x", passphrase: "pass 0003" } as const;

interface Spoken {
  readonly dialect: WholeDialect;
  readonly signer: Signer;
  /** What leaves for an input. */
  readonly written: <E extends EndpointName>(endpoint: E, input: InputOf<E>) => ReturnType<WholeDialect["call"]>;
  readonly answer: (endpoint: EndpointName, body: unknown, status?: number) => WireResponse;
  /** As the transport ends it: what the dialect trips over was not read. */
  readonly outcome: (endpoint: EndpointName, body: unknown, status?: number) => Outcome<unknown>;
  /** What a message says, given as a value or as text. */
  readonly heard: (message: unknown) => ReturnType<WholeDialect["hear"]>;
}

export const spoken = (given: Dialect): Spoken => {
  const contract = createContract(given.profile);
  const dialect = wholeDialect(given);
  const requestOf = <E extends EndpointName>(endpoint: E, input: InputOf<E>): WireRequest =>
    encode(contract, endpoint, input, "k1");
  const answer: Spoken["answer"] = (endpoint, body, status = 200) =>
    dialect.answer(requestOf(endpoint, {} as never), { status, headers: {}, body });
  return {
    dialect,
    signer: createSigner(contract.profile, createCredentials(dialectCredentials), dialect.signer),
    written: (endpoint, input) => dialect.call(requestOf(endpoint, input)),
    answer,
    outcome: (endpoint, body, status) => {
      let response: WireResponse;
      try {
        response = answer(endpoint, body, status);
      } catch {
        return { kind: "unknown", message: "not read" };
      }
      return parseResponse(endpoint, response, contract, 0);
    },
    heard: (message) => dialect.hear(typeof message === "string" ? message : JSON.stringify(message)),
  };
};
