/**
 * Served dialect: translates calls, answers and socket messages of another exchange's API for the embedded service.
 *
 * Invariants: pure functions of their arguments; behind them it is the same venue (matching, margin, rate limiter,
 * faults, clock); the described service is a dialect like any other, one that changes nothing. Nothing is shared with
 * the client's dialects: the two sides must be able to disagree.
 * Not here: sockets and bytes (http-handler.ts, connection.ts), the dialects of exchanges (dialects/).
 */
import type { VenueInstrument, VenueRequest, VenueResponse } from "sluice/backtest";
import {
  type ChannelArg,
  type Contract,
  type EndpointName,
  type ExtraLayer,
  exchangeContract,
  type ProfileOverrides,
  wire,
} from "sluice/dialect";
import type { venueAnswers } from "sluice/extension";
import { type ReadRequest, readRequest } from "./parse-message.ts";

/** Claim of a signer; a missing part is empty text, which no key has. */
export interface Claim {
  readonly apiKey: string;
  readonly passphrase: string;
  readonly sign: string;
  /** Instant of the signature, in milliseconds since the Unix epoch; undefined if the text is no instant. */
  readonly at: number | undefined;
  /** The text whose digest is the signature. */
  readonly prehash: string;
  /** Nonce, which may be used only once, if the exchange requires one. */
  readonly nonce?: string;
  /** The request is meant for another environment than the one served. */
  readonly elsewhere?: boolean;
}

/** Reason for which a request or a login is refused for its key. */
export type KeyProblem = "unknown_key" | "signature" | "timestamp" | "passphrase" | "nonce" | "environment";

/** Headers of a request by their names in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** A request of an endpoint in the client's words; `body` is parsed JSON. */
export interface Call {
  readonly endpoint: EndpointName;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Headers of the request; names in lower case. */
  readonly headers: Headers;
}

/** Query and body of a call in the described service's API. */
export interface Question {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly beyond?: NonNullable<VenueRequest["beyond"]>;
}

/** A subscription: of what, by which name its messages are ordered, and as it is repeated to the client. */
export interface Wanted {
  readonly arg: ChannelArg;
  readonly stream: string;
  readonly echo: unknown;
}

/** A push before it is written: `data` is the described records as JSON text. */
interface Push {
  readonly data: string;
  readonly action: string | undefined;
  readonly seqId: number;
  readonly prevSeqId: number;
}

type Said = Exclude<ReadRequest, { readonly op: "login" }> | { readonly op: "login"; readonly claim: Claim };

/** The described service's messages, with an argument as the client wrote it. */
export type Reply = wire.channels.SocketMessage extends infer M
  ? M extends { readonly data: unknown }
    ? never
    : Reworded<M>
  : never;
type Reworded<M> = Omit<M, "ts" | "arg"> & { readonly arg?: unknown };

/** Parts of the service that a dialect may read. */
export interface Service {
  readonly contract: Contract;
  readonly listing: (instId: string) => VenueInstrument | undefined;
}

/** The words of a dialect over one service. */
export interface Speech {
  /** Endpoints by method and path, such as "GET /api/v5/account/balance". */
  readonly routes: ReadonlyMap<string, EndpointName>;
  /** Returns the claim of a request's signer; undefined for an unsigned request. */
  readonly claim: (headers: Headers, parts: Omit<wire.signing.SignedParts, "timestamp">) => Claim | undefined;
  readonly keyRefusal: (
    problem: KeyProblem,
    by: "request" | "login",
  ) => venueAnswers.Refusal & { readonly status: number };
  /** Returns the questions to ask the venue in turn, or a refusal. */
  readonly ask: (call: Call) => readonly [Question, ...Question[]] | venueAnswers.Refusal;
  /** The answer to give; without a call it is a refusal of something that could not be read so far. */
  readonly answer: (call: Call | undefined, answers: readonly [VenueResponse, ...VenueResponse[]]) => VenueResponse;
  /** Paths of sockets; the first is the published one. */
  readonly socketPaths: readonly [string, ...string[]];
  /**
   * Heartbeat: `pings` if the service sends pings, `sendingCounts` if its own messages count against silence as well.
   */
  readonly heartbeat: { readonly pings: boolean; readonly sendingCounts: boolean };
  readonly hear: (text: string) => Said;
  readonly subscription: (given: unknown, path: string) => Wanted | venueAnswers.Refusal;
  readonly say: (reply: Reply, ts: number) => string;
  /** Writes the pushes of one subscription; undefined where there is nothing in one for it. */
  readonly writer: (wanted: Wanted) => (push: Push, ts: number) => string | undefined;
}

/** Dialect of an exchange for the embedded service: its API, its profile and its limits. */
export interface ServedDialect {
  readonly name: string;
  /** Rows of the profile under which the venue acts as the exchange does. Rows of a user win. */
  readonly profile?: ProfileOverrides;
  /** Its rate-limit layers instead of the three described. */
  readonly layers?: readonly ExtraLayer[];
  readonly speak: (service: Service) => Speech;
}

/**
 * The contract of the embedded service under a dialect, with these overrides of its profile; described layers that the
 * exchange does not have hold anything. Throws PROFILE_INVALID with every mistake in the overrides.
 */
export const servedContract = (dialect: ServedDialect, overrides: ProfileOverrides = {}): Contract =>
  exchangeContract(dialect, overrides);

const keyProblems = {
  request: {
    unknown_key: "The API key is unknown.",
    timestamp: "The timestamp is missing, malformed or too far from the service's clock.",
    passphrase: "The passphrase is wrong.",
    signature: "The signature does not match the request.",
  },
  login: {
    unknown_key: "The API key is missing or unknown.",
    signature: "The signature does not match.",
    timestamp: "The timestamp is not of the right form or too far from now.",
    passphrase: "The passphrase does not match.",
  },
} as const;

const streamOf = ({ channel, instId = "" }: ChannelArg): string => `${channel} ${instId}`;

const claims = ({ profile }: Contract): Pick<Speech, "claim" | "hear"> => {
  const names = wire.signing.authHeaderNames(profile);
  const claimOf = (arg: wire.channels.LoginArg, parts: Omit<wire.signing.SignedParts, "timestamp">): Claim => {
    const { timestamp } = arg;
    return {
      ...arg,
      at: wire.signing.readTimestamp(profile, timestamp),
      prehash: wire.signing.prehashOf(profile, { ...parts, timestamp }),
    };
  };
  return {
    claim: (headers, parts) => {
      const given = [
        headers[names.key],
        headers[names.passphrase],
        headers[names.timestamp],
        headers[names.sign],
      ] as const;
      if (given.every((part) => part === undefined)) return undefined;
      const [apiKey = "", passphrase = "", timestamp = "", sign = ""] = given;
      return claimOf({ apiKey, passphrase, timestamp, sign }, parts);
    },
    hear: (text) => {
      const request = readRequest(text, wire.channels.loginRequest);
      if (request.op !== "login") return request;
      const parts = { method: "GET", path: profile.websocket.loginPath, query: "", body: "" };
      return { op: "login", claim: claimOf(request.arg as wire.channels.LoginArg, parts) };
    },
  };
};

/** The service that the description describes. */
export const describedService: ServedDialect = {
  name: "described",
  speak: ({ contract }) => {
    const { profile } = contract;
    const { authStatus, authCode, badRequestCode } = profile.answers;
    return {
      ...claims(contract),
      routes: new Map(
        wire
          .endpointNames(contract)
          .map((name) => [`${contract.endpoints[name].method} ${contract.endpoints[name].path}`, name]),
      ),
      keyRefusal: (problem, by) => ({
        status: authStatus,
        code: authCode,
        msg: (keyProblems[by] as Readonly<Record<string, string>>)[problem] ?? "",
      }),
      ask: ({ query, body }) => [{ query, body }],
      answer: (_, [answer]) => answer,
      socketPaths: [profile.websocket.path],
      heartbeat: { pings: true, sendingCounts: false },
      subscription: (given) => {
        const problems = wire.requestProblems(wire.channels.channelArg, given);
        if (problems.length > 0) return { code: badRequestCode, msg: problems.join(" ") };
        return { arg: given as ChannelArg, stream: streamOf(given as ChannelArg), echo: given };
      },
      say: (reply, ts) => JSON.stringify({ ...reply, ts }),
      writer: ({ arg }) => {
        const opening = `{"event":${JSON.stringify(arg.channel)},"arg":${JSON.stringify(arg)}`;
        const { sequenced } = profile.websocket;
        return ({ data, action, seqId, prevSeqId }, ts) => {
          const named = action === undefined ? "" : `,"action":"${action}"`;
          const numbers = sequenced ? `,"seqId":${seqId},"prevSeqId":${prevSeqId}` : "";
          return `${opening}${named},"data":${data},"ts":${ts}${numbers}}`;
        };
      },
    };
  },
};
