/**
 * Dialect of a service: how calls, answers and socket messages of the described service are written and read at another
 * exchange.
 *
 * Invariants: pure functions of their arguments; the parts above the transport (rate limiter, orders, journal,
 * sessions) see only the described service's requests and records; the described service is a dialect like any other,
 * one that changes nothing.
 * Not here: sending, deadlines, reconnecting (http.ts, socket-connection.ts), the dialects of exchanges
 * (plugins/exchanges).
 */
import type { ChannelArg, SocketRequest } from "../../contract/channels.ts";
import type { EndpointName } from "../../contract/endpoints.ts";
import type { LayerSpec } from "../../contract/layer-spec.ts";
import { websocketLimits } from "../../contract/limits.ts";
import type { Profile, ProfileOverrides } from "../../contract/profile.ts";
import type { WireRequest, WireResponse } from "../../contract/transport.ts";
import { type SignerOf, signerOf } from "./sign.ts";
import { type ParsedMessage, readMessage, shown } from "./socket-message.ts";

/** Parts of a request that depend on the exchange. */
export type WrittenCall = Pick<WireRequest, "method" | "path" | "query" | "body">;

/** Bounds of the service's WebSocket. */
export interface SocketBounds {
  readonly connectionsPerIp: number;
  readonly subscriptionsPerConnection: number;
  /** Interval of the client's pings, also while it receives messages; left out, it pings after a time without any. */
  readonly pingEveryMs?: number;
}

/** A signed read of an account's settings. */
export interface AccountSetup {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /**
   * Describes a setting that the dialect cannot trade with, and the remedy; undefined without one, or for an unreadable
   * answer.
   */
  readonly problem: (body: unknown) => string | undefined;
}

/**
 * An exchange in the terms of the described service: `live({ …, dialect })` trades there. Every part but the name may
 * be left out and is then the described service's. Functions are pure; what they throw ends the call without anything
 * being sent.
 */
export interface Dialect {
  /** Such as "okx-v5". */
  readonly name: string;
  /**
   * True if it has traded at the exchange itself, and not only with a copy of it. On mainnet any other dialect needs a
   * confirmation.
   */
  readonly tried?: boolean;
  /**
   * Rows of the service profile in which the exchange differs: unit of `sz`, sign of fees, error codes. Rows of a
   * config win over these.
   */
  readonly profile?: ProfileOverrides;
  /** Its rate-limit layers instead of the three described. `quota.layers` of a config wins. */
  readonly layers?: readonly LayerSpec[];
  readonly sockets?: SocketBounds;
  /** Called once for each user. Orders of an account with a problem do not leave. */
  readonly account?: AccountSetup;
  /** Headers of signed requests, and the arguments of a login. The seal signs; the secret itself is not accessible. */
  readonly signer?: SignerOf;
  /** The read as several requests, each charged and sent by itself. Their records together are one answer. */
  readonly split?: (
    endpoint: EndpointName,
    input: Readonly<Record<string, unknown>>,
  ) => readonly Readonly<Record<string, unknown>>[];
  /** The request as the exchange takes it. */
  readonly call?: (request: WireRequest) => WrittenCall;
  /**
   * Its answer as the described service would have given it: status 429 for a limit, 401 for a key that is not
   * accepted.
   */
  readonly answer?: (request: WireRequest, response: WireResponse) => WireResponse;
  /** Path of the socket that offers a channel, where there are several. */
  readonly socketPath?: (arg: ChannelArg, profile: Profile) => string;
  /** Encodes a socket request as the texts to send. */
  readonly say?: (request: SocketRequest) => readonly string[];
  /** Parses a text from a socket; empty for a text without meaning. */
  readonly hear?: (text: string) => readonly ParsedMessage[];
}

const describedService = {
  name: "described",
  sockets: websocketLimits as SocketBounds,
  signer: signerOf,
  split: (_, input) => [input],
  call: (request) => request,
  answer: (_, response) => response,
  socketPath: (_, { websocket }) => websocket.path,
  say: (request) => [JSON.stringify(request)],
  hear: (text) => [readMessage(text)],
} as const satisfies Dialect;

/** A dialect with every part that translates. */
export type WholeDialect = Dialect & Required<Omit<Dialect, "profile" | "layers" | "tried" | "account">>;

export const wholeDialect = (dialect: Dialect = describedService): WholeDialect => {
  const whole = { ...describedService, ...dialect };
  return { ...whole, hear: (text) => parsed(whole, text) };
};

/** A text for which the dialect throws is malformed. */
const parsed = ({ hear }: Pick<WholeDialect, "hear">, text: string): readonly ParsedMessage[] => {
  try {
    return hear(text);
  } catch {
    return [{ kind: "malformed", problem: `not of the exchange's form: ${shown(text)}` }];
  }
};
