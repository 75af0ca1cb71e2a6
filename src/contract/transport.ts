/**
 * How a request reaches the service: one function type, wrapped.
 *
 * Invariants: a transport emits exactly one response and completes, or errors when no answer was read; any HTTP status is a
 * response; it never repeats a request; the code JOURNAL_FAILED of an error says that nothing was sent; unsubscribing stops listening but does not take a sent request back.
 * Not here: when to send (scheduler/), what an answer means (gateway/).
 */
import type { Observable } from "rxjs";
import type { EndpointName } from "./endpoints.ts";

export interface WireRequest {
  readonly endpoint: EndpointName;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** JSON value of the body; undefined for GET. A transport with a socket serialises it once and signs those bytes. */
  readonly body: unknown;
  /** Name of the API key to use, as listed in the config; undefined sends the request unsigned. */
  readonly key: string | undefined;
}

export interface WireResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON, or undefined when the body was not JSON. */
  readonly body: unknown;
}

export type Transport = (request: WireRequest) => Observable<WireResponse>;
export type Interceptor = (next: Transport) => Transport;

/** Wraps `transport`; the first interceptor is outermost. */
export const compose = (transport: Transport, ...interceptors: readonly Interceptor[]): Transport =>
  interceptors.reduceRight((next, wrap) => wrap(next), transport);
