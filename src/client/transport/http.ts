/**
 * HTTP/1.1 client of the service: requests are signed, sent once, and answered once or not.
 *
 * Invariants: the bytes signed are the bytes sent; nothing is retried and no redirect followed; every request ends by
 * its deadline; an answer is read completely, within a size limit, or fails; bytes that arrive on an idle connection
 * close it, so that they are never read as an answer; no error message holds a header, a query or a text of the other
 * side; certificates are always verified, independent of environment variables.
 * Not here: when to send (scheduler/), parsing of answers (client/parse-response.ts), a request in flight
 * (http-exchange.ts).
 */
import { validateHeaderName } from "node:http";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import type { buildConnector, Dispatcher } from "undici";
import type { Clock } from "../../clock/clock.ts";
import type { Profile } from "../../contract/profile.ts";
import { authHeaderNames, queryText } from "../../contract/signing.ts";
import type { Transport, WireRequest } from "../../contract/transport.ts";
import { isSluiceError, SluiceError } from "../../errors.ts";
import { usualHeaders } from "./answer-body.ts";
import type { WholeDialect } from "./dialect.ts";
import { codeOf, type ExchangeSetting, HttpExchange, unwritable } from "./http-exchange.ts";
import { proxyOf } from "./proxy.ts";
import { type Origin, readBaseUrl } from "./service-address.ts";
import type { ServiceTime } from "./service-time.ts";
import { type KeySigner, proofsIn, type Signer } from "./sign.ts";

interface HttpOptions {
  readonly baseUrl: string;
  readonly profile: Profile;
  /** Encoding of calls and decoding of answers. */
  readonly dialect: Pick<WholeDialect, "call" | "answer">;
  /** By the name of the key. `redact` removes the key's secrets from answers. */
  readonly signers: ReadonlyMap<string, Signer & Partial<Pick<KeySigner, "redact">>>;
  readonly clock: Clock;
  readonly time: ServiceTime;
  readonly timeoutMs?: number;
  readonly bodyBytesMax?: number;
  /**
   * Maximum number of connections. It is above the quota's worst case, so that an exit never queues behind reads that
   * hang.
   */
  readonly sockets?: number;
  /** Lets an unencrypted connection leave this machine. */
  readonly plainAllowed?: boolean;
  /** Returns the reason why a request must not be sent after all; called just before its bytes are written. */
  readonly mayNot?: ((request: WireRequest) => string | undefined) | undefined;
  /** Names of further response headers to keep, in lower case. */
  readonly headers?: readonly string[];
  /** The only authority to trust, as PEM; the machine's own when left out. */
  readonly ca?: string;
}

/** A request as it leaves, and what removes its secrets from the answer. */
interface Written {
  readonly options: Dispatcher.DispatchOptions;
  readonly redact: <T>(answered: T) => T;
}

const timeoutMsDefault = 10_000;
const bodyBytesDefault = 4 * 1_024 * 1_024;
const socketsDefault = 128;
const headerBytesMax = 16_384;
const readHeaders = ["accept", "application/json", "accept-encoding", "identity"] as const;
const changeHeaders = [...readHeaders, "content-type", "application/json"] as const;
/**
 * Idle connections are closed before servers usually close them, because a request on a closing connection has an
 * unknown outcome.
 */
const idleMs = 4_000;

export class HttpTransport {
  readonly #options: HttpOptions;
  readonly #setting: ExchangeSetting;
  readonly #underWay = new Set<HttpExchange>();
  readonly #sockets = new Set<Socket>();
  readonly #dispatcher: Dispatcher;
  readonly #origin: string;
  #closed: Promise<void> | undefined;

  constructor(options: HttpOptions) {
    const { profile, clock, time, timeoutMs = timeoutMsDefault, bodyBytesMax = bodyBytesDefault } = options;
    checkHeaderNames(profile);
    this.#options = options;
    this.#setting = {
      clock,
      time,
      timeoutMs,
      bodyBytesMax,
      kept: [...new Set([...usualHeaders, ...(options.headers ?? [])])],
      authStatus: profile.answers.authStatus,
      underWay: this.#underWay,
      answer: options.dialect.answer,
      mayNot: options.mayNot ?? (() => undefined),
    };
    const origin = readBaseUrl(options.baseUrl, options.plainAllowed);
    // Loaded here, because most programs that load the package never open a connection, and loading takes a tenth of a
    // second.
    const undici = createRequire(import.meta.url)("undici") as typeof import("undici");
    const tls = { rejectUnauthorized: true, ...(options.ca !== undefined && { ca: options.ca }) };
    const limits = {
      connections: options.sockets ?? socketsDefault,
      maxHeaderSize: headerBytesMax,
      maxResponseSize: bodyBytesMax,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      // A request has one deadline, on the clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#origin = urlOf(origin);
    const proxy = proxyOf(this.#origin);
    this.#dispatcher =
      proxy === undefined
        ? new undici.Pool(this.#origin, { ...limits, connect: this.#watched(undici.buildConnector(tls)) })
        : new undici.ProxyAgent({ ...limits, uri: proxy, requestTls: tls, proxyTunnel: true });
  }

  readonly transport: Transport = (request, sink) => {
    if (this.#closed !== undefined) {
      sink.failed(new SluiceError("ENGINE_STATE", `${request.endpoint}: the transport is closed; nothing was sent.`));
      return;
    }
    let written: Written;
    try {
      written = this.#written(request);
    } catch (error) {
      sink.failed(isSluiceError(error) ? error : unwritable(request.endpoint, codeOf(error)));
      return;
    }
    const { options, redact } = written;
    this.#dispatcher.dispatch(
      { ...options, origin: this.#origin },
      new HttpExchange(request, this.#setting, sink, redact),
    );
  };

  /** Number of connections that are open or being opened, without those through a proxy. */
  readonly open = (): number => this.#sockets.size;

  /** Ends all requests under way and every connection. Resolves when none is left. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    for (const exchange of this.#underWay) exchange.lose("the transport was closed");
    const ended = [...this.#sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([this.#dispatcher.destroy(), ...ended]);
  }

  #written(request: WireRequest): Written {
    const { endpoint, key, trace } = request;
    const { method, path, query: parameters, body: value } = this.#options.dialect.call(request);
    const query = queryText(parameters);
    const body = value === undefined ? "" : JSON.stringify(value);
    // Names and values in turn, which undici takes as they are.
    const headers: string[] = method === "POST" ? [...changeHeaders] : [...readHeaders];
    let redact: Written["redact"] = (answered) => answered;
    if (key !== undefined) {
      const { signers, time } = this.#options;
      const signer = signers.get(key);
      if (signer === undefined) {
        throw new SluiceError(
          "CONFIG_INVALID",
          `${endpoint}: there are no credentials for the key named "${key}"; nothing was sent.`,
        );
      }
      const signed = signer.headers({ method, path, query, body }, time.wallNow());
      for (const name in signed) headers.push(name, signed[name] as string);
      redact = (answered) => signer.redact?.(answered, proofsIn(signed)) ?? answered;
    }
    if (trace !== undefined) addTrace(headers, trace);
    const options = {
      method,
      path: query === "" ? path : `${path}?${query}`,
      headers,
      body: body === "" ? null : body,
    };
    return { options, redact };
  }

  /** Tracks the connections that `connect` makes. */
  #watched(connect: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      // What it returns is left out of its types.
      const socket = connect(options, callback) as unknown as Socket;
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    };
  }
}

const urlOf = ({ secure, hostname, port }: Origin): string =>
  `${secure ? "https" : "http"}://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;

/** Adds the headers of a trace; none replaces a header that signs or describes the request. */
const addTrace = (headers: string[], trace: NonNullable<WireRequest["trace"]>): void => {
  const taken = new Set(headers.filter((_, index) => index % 2 === 0));
  for (const [name, value] of Object.entries(trace)) if (!taken.has(name)) headers.push(name, value);
};

/**
 * Checks header names at the start: a prefix from the profile that no header can carry would otherwise fail with the
 * first order.
 */
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
