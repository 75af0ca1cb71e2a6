/**
 * HTTP request in flight: collects its answer until that is complete, cut off, too large or too late.
 *
 * Invariants: it ends exactly once; an incomplete answer is an error, whose message holds no text
 * of the other side; secrets that the answer repeats are removed before anything reads it; while in flight it has one
 * timer and is in the set of requests in flight.
 * Not here: what is sent and over which connection (http.ts).
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { Clock, Timer } from "../../clock/clock.ts";
import type { EndpointName } from "../../contract/endpoints.ts";
import type { ResponseSink, WireRequest, WireResponse } from "../../contract/transport.ts";
import { SluiceError } from "../../errors.ts";
import { encodingOf, keptHeaders, readJson } from "./answer-body.ts";
import type { WholeDialect } from "./dialect.ts";
import type { ServiceTime } from "./service-time.ts";

/** Settings that all exchanges of a transport share. */
export interface ExchangeSetting {
  readonly clock: Clock;
  readonly time: ServiceTime;
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
  /** Names of the headers that are kept, in lower case. */
  readonly kept: readonly string[];
  /** Status with which the service refuses a signature, possibly because of a wrong timestamp. */
  readonly authStatus: number;
  readonly underWay: Set<HttpExchange>;
  /** Reason why a request must not leave after all. */
  readonly mayNot: (request: WireRequest) => string | undefined;
  /** Translates the exchange's answer to the described service's. */
  readonly answer: WholeDialect["answer"];
}

export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #request: WireRequest;
  readonly #setting: ExchangeSetting;
  readonly #sink: ResponseSink;
  /** Removes secrets of the request from its answer. */
  readonly #redact: <T>(answered: T) => T;
  readonly #sentAt: number;
  readonly #timer: Timer;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  constructor(
    request: WireRequest,
    setting: ExchangeSetting,
    sink: ResponseSink,
    redact: <T>(answered: T) => T = (answered) => answered,
  ) {
    this.#redact = redact;
    this.#request = request;
    this.#setting = setting;
    this.#sink = sink;
    this.#sentAt = setting.clock.now();
    this.#timer = setting.clock.setTimer(this.#sentAt + setting.timeoutMs, () => this.lose("no answer was complete"));
    setting.underWay.add(this);
  }

  /** Ends it without an answer. */
  lose(why: string): void {
    const { clock } = this.#setting;
    const error = new SluiceError(
      "OUTCOME_UNKNOWN",
      `${this.#request.endpoint}: ${why} after ${Math.round(clock.now() - this.#sentAt)} ms.`,
    );
    this.#end((sink) => sink.failed(error));
    this.#controller?.abort(new Error("ended"));
  }

  /**
   * Called when its turn on a connection has come. If the request has ended while it waited, it throws, which leaves
   * the connection to the next request.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (!this.#setting.underWay.has(this)) throw new Error("ended");
    // Checked here and not when it was signed, because since then it may have waited in a queue, or the whole process
    // may have paused.
    const why = this.#setting.mayNot(this.#request);
    if (why !== undefined) {
      this.#end((sink) =>
        sink.failed(new SluiceError("NOT_LEADING", `${this.#request.endpoint}: ${why}; nothing was sent.`)),
      );
      throw new Error("ended");
    }
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // An interim answer.
    if (status < 200) return;
    const { clock, time, authStatus } = this.#setting;
    this.#status = status;
    this.#headers = headers;
    time.observe(headers.date, this.#sentAt, clock.now(), status === authStatus);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const status = this.#status;
    const encoding = encodingOf(this.#headers);
    if (encoding !== undefined && status < 400) {
      this.lose(`the answer is compressed (${encoding}), which was not asked for, and was not read`);
      return;
    }
    // A redirect is not followed, and an unreadable body is ignored: in both cases only the status counts.
    const unread = encoding !== undefined || (status >= 300 && status < 400);
    const [first, ...more] = this.#chunks;
    const body =
      unread || first === undefined ? undefined : readJson(more.length === 0 ? first : Buffer.concat(this.#chunks));
    const headers = keptHeaders(this.#headers, this.#setting.kept);
    let response: WireResponse;
    try {
      response = this.#setting.answer(this.#request, { status, ...this.#redact({ headers, body }) });
    } catch {
      // The text that a dialect cannot read may contain anything, so it is not repeated.
      this.lose(`the answer of status ${status} is not of the exchange's form and was not read`);
      return;
    }
    this.#end((sink) => sink.response(response));
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    const code = codeOf(error);
    if (code === "UND_ERR_INVALID_ARG" && this.#controller === undefined)
      this.#end((sink) => sink.failed(unwritable(this.#request.endpoint, code)));
    else if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE")
      this.lose(`the answer is larger than ${this.#setting.bodyBytesMax} bytes and was given up`);
    else this.lose(`${this.#status === 0 ? "no answer was read" : "the answer was cut"} (${code})`);
  }

  #end(notify: (sink: ResponseSink) => void): void {
    if (!this.#setting.underWay.delete(this)) return;
    this.#timer.cancel();
    try {
      notify(this.#sink);
    } catch (error) {
      // The library would take the error for an error of the connection, and would not report it.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

/** Error of a request whose text cannot be sent. */
export const unwritable = (endpoint: EndpointName, code: string): SluiceError =>
  new SluiceError("CONFIG_INVALID", `${endpoint}: the request cannot be written (${code}); nothing was sent.`);

/**
 * The error's code and nothing else, because messages may contain addresses and sent data. An answer that is not HTTP
 * has no code of its own.
 */
export const codeOf = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  const word = code ?? (name === "HTTPParserError" ? "HPE_INVALID" : undefined);
  return typeof word === "string" && /^[A-Z0-9_]{1,60}$/.test(word) ? word : "unknown";
};
