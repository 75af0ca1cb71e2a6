/**
 * Traces of requests: the one tracer that follows actions, and the headers of W3C trace context that it may give a
 * request.
 *
 * Invariants: only two headers are set, and only in their specified forms, so that nothing else reaches a request;
 * without a tracer a request is passed on unchanged, and nothing is stored.
 * Not here: spans (a plugin makes them), writing headers (client/transport).
 */
import type { RequestTracer, TraceHeaders, WireRequest } from "../contract/transport.ts";
import { SluiceError } from "../errors.ts";

const parentForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const stateForm = /^[\x20-\x7e]{1,512}$/;

const isOf = (form: RegExp, value: unknown): value is string => typeof value === "string" && form.test(value);

export class RequestTraces {
  /** True while a tracer follows. If it is false, the methods below need not be called. */
  active = false;
  #tracer: RequestTracer | undefined;

  /** Follows actions from now on. The returned function removes the tracer. */
  follow(tracer: RequestTracer): () => void {
    if (this.#tracer !== undefined) {
      throw new SluiceError("CONFIG_INVALID", "Another plugin traces requests already: leave one of them out.");
    }
    this.#tracer = tracer;
    this.active = true;
    return () => {
      if (this.#tracer !== tracer) return;
      this.#tracer = undefined;
      this.active = false;
    };
  }

  submitted(action: number): void {
    this.#tracer?.submitted(action);
  }

  /** Returns the request as it leaves. */
  leaving(action: number, request: WireRequest): WireRequest {
    return this.#tracer === undefined ? request : traced(request, this.#tracer.leaves(action));
  }

  ended(action: number): void {
    this.#tracer?.ends(action);
  }
}

const traced = (request: WireRequest, headers: TraceHeaders | undefined): WireRequest => {
  const { traceparent, tracestate } = headers ?? {};
  if (!isOf(parentForm, traceparent)) return request;
  return { ...request, trace: { traceparent, ...(isOf(stateForm, tracestate) && { tracestate }) } };
};
