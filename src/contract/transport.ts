/**
 * Transport of requests to the service: one function type, wrapped.
 *
 * Invariants: a transport calls its sink once, with the response or with a failure when no answer was read; any HTTP
 * status is a response; it never repeats a request; the codes JOURNAL_FAILED and NOT_LEADING of a failure mean that
 * nothing was sent. A request that was sent is not taken back: a sink that is closed ignores what comes.
 * Not here: when to send (scheduler/), what an answer means (client/parse-response.ts).
 */
import type { EndpointName } from "./endpoints.ts";

/** A request before it is written for the wire: an endpoint with its query or body, and the key that signs it. */
export interface WireRequest {
  readonly endpoint: EndpointName;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** JSON value of the body; undefined for GET. A transport with a socket serialises it once and signs those bytes. */
  readonly body: unknown;
  /** Name of the API key to use, as listed in the config; undefined sends the request unsigned. */
  readonly key: string | undefined;
  /**
   * Headers by which a trace continues at the service: W3C trace context. They are not signed; a service on no network
   * has no use for them.
   */
  readonly trace?: TraceHeaders;
}

/** Headers of W3C trace context. */
export interface TraceHeaders {
  /** `00-`, trace id, span id and flags, in lower-case hexadecimal. */
  readonly traceparent?: string;
  /** State of the trace, at most 512 characters. */
  readonly tracestate?: string;
}

/**
 * Follows actions by the number that `action.held`, `action.sent` and `action.dropped` carry, and may give each request
 * headers of a trace.
 */
export interface RequestTracer {
  /** An action was asked for; called within the call that asks, so that what is active there can be read. */
  submitted(action: number): void;
  /** It leaves: called after `action.sent`. What is no header of W3C trace context is left out. */
  leaves(action: number): TraceHeaders | undefined;
  /** The action has ended; `action.answered`, where there is one, follows at once. */
  ends(action: number): void;
}

/** An answer as it was read, of any status. */
export interface WireResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON, or undefined when the body was not JSON. */
  readonly body: unknown;
}

/**
 * Receives the end of one request: one of the two calls, once. What comes after it, or after the sink was closed, is
 * ignored.
 */
export interface ResponseSink {
  response(response: WireResponse): void;
  failed(error: unknown): void;
  /** Nothing is expected any more: a request that has not left yet need not leave. */
  readonly closed: boolean;
}

/**
 * Sends a request, and calls `sink` once: with a response of any HTTP status, or with an error when none was read.
 *
 * @param request - endpoint, body and key
 * @param sink - receives the response, or the error
 * @returns nothing
 */
export type Transport = (request: WireRequest, sink: ResponseSink) => void;
export type Interceptor = (next: Transport) => Transport;

/** The sink behind a wrapper that reads what passes by: it is handed on untouched afterwards. */
export const observing = (
  sink: ResponseSink,
  onResponse: (response: WireResponse) => void,
  onFailed: (error: unknown) => void = () => undefined,
): ResponseSink => new ObservedSink(sink, onResponse, onFailed);

/** A class, as an object with a getter is slow to make and every request makes one. */
class ObservedSink implements ResponseSink {
  readonly #sink: ResponseSink;
  readonly #onResponse: (response: WireResponse) => void;
  readonly #onFailed: (error: unknown) => void;

  constructor(sink: ResponseSink, onResponse: (response: WireResponse) => void, onFailed: (error: unknown) => void) {
    this.#sink = sink;
    this.#onResponse = onResponse;
    this.#onFailed = onFailed;
  }

  get closed(): boolean {
    return this.#sink.closed;
  }

  response(response: WireResponse): void {
    this.#onResponse(response);
    this.#sink.response(response);
  }

  failed(error: unknown): void {
    this.#onFailed(error);
    this.#sink.failed(error);
  }
}
