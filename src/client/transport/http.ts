/**
 * Requests over HTTP/1.1: signed, sent once, answered once or not.
 *
 * Invariants: the bytes signed are the bytes sent; nothing is repeated and no redirect followed; every request ends by its
 * deadline; an answer is read whole, within a bound, or it is none; no message holds a header, a query or a text of the other
 * side; a request nobody listens to any more is still read to its end, so that its connection can serve again.
 * Not here: when to send (scheduler/), what an answer means (gateway/), connections (connections.ts).
 */
import { type ClientRequest, type IncomingMessage, request as plainRequest, type RequestOptions, validateHeaderName } from "node:http";
import { request as secureRequest } from "node:https";
import type { Clock } from "../../clock/clock.ts";
import type { Profile } from "../../contract/profile.ts";
import { authHeaderNames, queryText } from "../../contract/signing.ts";
import type { Transport, WireRequest, WireResponse } from "../../contract/transport.ts";
import { isSluiceError, SluiceError } from "../../errors.ts";
import { encodingOf, keptHeaders, readJson, usualHeaders } from "./answer-body.ts";
import { type Origin, readBaseUrl } from "./base-url.ts";
import { createConnections } from "./connections.ts";
import type { ServiceTime } from "./service-time.ts";
import type { Signer } from "./sign.ts";

export interface HttpOptions {
  readonly baseUrl: string;
  readonly profile: Profile;
  /** By the name of the key. */
  readonly signers: ReadonlyMap<string, Signer>;
  readonly clock: Clock;
  readonly time: ServiceTime;
  readonly timeoutMs?: number;
  readonly bodyBytesMax?: number;
  /** Connections at once. Beyond the quota's worst case, so that an exit never queues behind reads that hang. */
  readonly sockets?: number;
  /** Lets a connection that is not encrypted leave this machine. */
  readonly plainAllowed?: boolean;
  /** Names of further headers that somebody reads of an answer, in lower case. */
  readonly headers?: readonly string[];
  /** The only authority to trust, as PEM; the machine's own when left out. */
  readonly ca?: string;
}

export interface HttpTransport {
  readonly transport: Transport;
  /** Ends what is under way and every connection; resolves when none is left. */
  close(): Promise<void>;
  /** Connections that stand now. */
  readonly open: () => number;
}

const defaults = { timeoutMs: 10_000, bodyBytesMax: 4 * 1_024 * 1_024, sockets: 128 } as const;
const headerBytesMax = 16_384;

type Done = (end: WireResponse | SluiceError) => void;

export const httpTransport = (options: HttpOptions): HttpTransport => {
  const { clock, profile, timeoutMs = defaults.timeoutMs, sockets = defaults.sockets } = options;
  checkHeaderNames(profile);
  const origin = readBaseUrl(options.baseUrl, options.plainAllowed);
  const connections = createConnections(origin, sockets, options.ca);
  const kept = [...new Set([...usualHeaders, ...(options.headers ?? [])])];
  const flights = new Set<() => void>();
  let closing = false;

  const send = (request: WireRequest, done: Done): void => {
    if (closing) {
      done(new SluiceError("ENGINE_STATE", `${request.endpoint}: the transport is closed; nothing was sent.`));
      return;
    }
    const sentAt = clock.now();
    let sent: ClientRequest;
    try {
      sent = write(request, options, origin, connections.agent);
    } catch (error) {
      done(unsendable(request, error));
      return;
    }
    const end = (result: WireResponse | SluiceError): void => {
      if (!flights.delete(cut)) return;
      timer.cancel();
      done(result);
    };
    const lose = (why: string): void => {
      if (!flights.has(cut)) return;
      end(new SluiceError("OUTCOME_UNKNOWN", `${request.endpoint}: ${why} after ${Math.round(clock.now() - sentAt)} ms.`));
      sent.destroy();
    };
    const cut = (): void => {
      lose("the transport was closed");
    };
    const timer = clock.setTimer(sentAt + timeoutMs, () => {
      lose("no answer was complete");
    });
    flights.add(cut);
    listen(sent, { end, lose, kept, bytesMax: options.bodyBytesMax ?? defaults.bodyBytesMax, arrived: stamp(options, sentAt) });
  };

  return {
    transport: (request, sink) => {
      send(request, (end) => {
        if (isSluiceError(end)) sink.failed(end);
        else sink.response(end);
      });
    },
    open: connections.open,
    close: () => {
      closing = true;
      for (const cut of flights) cut();
      return connections.close();
    },
  };
};

const stamp =
  ({ clock, time, profile }: HttpOptions, sentAt: number) =>
  ({ headers, statusCode }: IncomingMessage): void => {
    time.observe(headers.date, sentAt, clock.now(), statusCode === profile.answers.authStatus);
  };

/** A prefix from the profile that no header can carry would otherwise fail with the first order. */
const checkHeaderNames = (profile: Profile): void => {
  for (const name of Object.values(authHeaderNames(profile))) {
    try {
      validateHeaderName(name);
    } catch {
      const text = `profile.auth.headerPrefix: ${JSON.stringify(name)} is no name a header can have; use letters, digits and dashes.`;
      throw new SluiceError("PROFILE_INVALID", text);
    }
  }
};

const unsendable = ({ endpoint }: WireRequest, error: unknown): SluiceError =>
  isSluiceError(error)
    ? error
    : new SluiceError("CONFIG_INVALID", `${endpoint}: the request cannot be written (${codeOf(error)}); nothing was sent.`);

const write = (
  request: WireRequest,
  options: HttpOptions,
  { secure, hostname, port }: Origin,
  agent: RequestOptions["agent"],
): ClientRequest => {
  const { method, path } = request;
  const query = queryText(request.query);
  const body = request.body === undefined ? "" : JSON.stringify(request.body);
  const headers: Record<string, string | number> = { accept: "application/json", "accept-encoding": "identity" };
  if (method === "POST") {
    headers["content-type"] = "application/json";
    headers["content-length"] = Buffer.byteLength(body);
  }
  if (request.key !== undefined) {
    Object.assign(headers, signerOf(request, request.key, options).headers({ method, path, query, body }, options.time.wallNow()));
  }
  const sent = (secure ? secureRequest : plainRequest)({
    method,
    hostname,
    port,
    path: query === "" ? path : `${path}?${query}`,
    headers,
    agent,
    maxHeaderSize: headerBytesMax,
    insecureHTTPParser: false,
  });
  sent.end(body === "" ? undefined : body);
  return sent;
};

const signerOf = ({ endpoint }: WireRequest, key: string, { signers }: HttpOptions): Signer => {
  const signer = signers.get(key);
  if (signer !== undefined) return signer;
  throw new SluiceError("CONFIG_INVALID", `${endpoint}: there are no credentials for the key named "${key}"; nothing was sent.`);
};

interface Listener {
  readonly end: (answer: WireResponse) => void;
  readonly lose: (why: string) => void;
  readonly arrived: (answer: IncomingMessage) => void;
  readonly bytesMax: number;
  readonly kept: readonly string[];
}

/** Whatever the connection does, one of `end` and `lose` is called; what is called after the first is not heard. */
const listen = (sent: ClientRequest, listener: Listener): void => {
  const { lose } = listener;
  let answer: IncomingMessage | undefined;
  sent.on("response", (response) => {
    answer = response;
    listener.arrived(response);
    collect(response, listener);
  });
  sent.on("error", (error) => {
    // Rubbish behind a whole answer ends the connection; the answer stands.
    if (answer?.complete !== true) lose(`${answer === undefined ? "no answer was read" : "the answer was cut"} (${codeOf(error)})`);
  });
  sent.on("close", () => {
    if (answer === undefined) lose("the connection ended without an answer");
  });
};

const collect = (answer: IncomingMessage, { end, lose, bytesMax, kept }: Listener): void => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  answer.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) lose(`the answer is larger than ${bytesMax} bytes and was given up`);
    else chunks.push(chunk);
  });
  answer.on("end", () => {
    const status = answer.statusCode ?? 0;
    const encoding = encodingOf(answer.headers);
    if (!answer.complete) lose("the answer was cut");
    else if (encoding !== undefined && status < 400)
      lose(`the answer is compressed (${encoding}), which was not asked for, and was not read`);
    else end({ status, headers: keptHeaders(answer.headers, kept), body: bodyOf(status, encoding, chunks) });
  });
  answer.on("close", () => {
    lose("the answer was cut");
  });
};

/** A redirect leads nowhere we go, and what cannot be read is no body: in both the status speaks alone. */
const bodyOf = (status: number, encoding: string | undefined, chunks: readonly Buffer[]): unknown =>
  (status >= 300 && status < 400) || encoding !== undefined
    ? undefined
    : readJson(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));

/** The platform's word for it and nothing else: its messages may hold addresses and what was sent. */
const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && /^[A-Z0-9_]{1,60}$/.test(code) ? code : "unknown";
};
