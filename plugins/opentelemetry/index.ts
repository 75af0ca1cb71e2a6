/**
 * Traces for OpenTelemetry: a span for each request from wanted order to answer, and one for each order from plan to
 * end, linked.
 *
 * Invariants: spans carry the engine's times; at most `openMax` requests and orders are followed at once, the oldest is
 * given up first; no exporter of its own: spans go to the tracer provider that the program has registered, or nowhere.
 * A request is the child of the span that was active in the program when it was asked for, where a strategy has begun
 * one; without it is the root of a trace.
 */
import { definePlugin, type EventMap } from "sluice";
import type { RequestTracer, TraceHeaders } from "sluice/extension";

type Attributes = Readonly<Record<string, string | number | boolean>>;
/** Seconds and nanoseconds: a plain number would be read as a time since the process began. */
type Time = [seconds: number, nanoseconds: number];

interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly traceState?: { serialize(): string };
}
interface Span {
  addEvent(name: string, attributes: Attributes, at: Time): unknown;
  end(at: Time): void;
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  spanContext(): SpanContext;
  isRecording(): boolean;
}
interface SpanOptions {
  readonly kind: number;
  readonly startTime: Time;
  readonly attributes: Attributes;
  readonly links?: readonly { readonly context: SpanContext }[];
}
interface TracerProvider {
  getDelegate?(): TracerProvider;
  forceFlush?(): Promise<void>;
}
interface Api {
  readonly ROOT_CONTEXT: unknown;
  readonly SpanKind: { readonly INTERNAL: number; readonly CLIENT: number };
  readonly SpanStatusCode: { readonly ERROR: number };
  readonly context: { active(): unknown };
  readonly trace: {
    getSpan(context: unknown): Span | undefined;
    getTracer(name: string): { startSpan(name: string, options: SpanOptions, context: unknown): Span };
    getTracerProvider(): TracerProvider;
  };
}

const timeOf = (ms: number): Time => {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
};

/** A request under way. */
interface Sent {
  readonly span: Span;
  readonly endpoint: string;
}

/** Adds an entry, and gives the oldest up where there would be too many. */
const keep = <K, V>(map: Map<K, V>, key: K, value: V, most: number, giveUp: (value: V) => void): void => {
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size <= most || oldest.done === true) return;
  giveUp(map.get(oldest.value) as V);
  map.delete(oldest.value);
};

interface TracingOptions {
  readonly openMax: number;
  readonly attributes: Attributes;
  readonly propagate: boolean;
}

/** Longest time that the stop waits for the program's exporter. */
const flushMs = 1_500;

class Tracing implements RequestTracer {
  readonly #api: Api;
  readonly #start: (name: string, options: SpanOptions, parent?: unknown) => Span;
  readonly #options: TracingOptions;
  /** Active when the engine was started, if anything: the cause of all that it does and of nothing in particular. */
  readonly #starter: Span | undefined;
  /** Active spans when actions were requested, by number of the action. */
  readonly #parents = new Map<number, unknown>();
  readonly #sent = new Map<number, Sent>();
  readonly #orders = new Map<string, Span>();
  #ended: { readonly clOrdId: string; readonly span: Span; readonly at: number } | undefined;
  /** Of the event before: an order that is being sent is followed at once by its request. */
  #sending: { readonly seq: number; readonly order: Span } | undefined;
  /** The request that the next event is the answer to. */
  #answering: Sent | undefined;

  constructor(api: Api, options: TracingOptions) {
    const tracer = api.trace.getTracer("sluice");
    this.#api = api;
    this.#options = options;
    this.#starter = api.trace.getSpan(api.context.active());
    // Without a parent each is the root of a trace: nothing else that happens to be active in the program is its cause.
    this.#start = (name, given, parent = api.ROOT_CONTEXT) => tracer.startSpan(name, given, parent);
  }

  submitted(action: number): void {
    const context = this.#api.context.active();
    const span = this.#api.trace.getSpan(context);
    // A span that has ended is not used: a timer of the program keeps it active long after.
    if (span === undefined || span === this.#starter || !span.isRecording()) return;
    keep(this.#parents, action, context, this.#options.openMax, () => undefined);
  }

  sent(event: EventMap["action.sent"]): void {
    const order =
      this.#sending?.seq === event.seq - 1 && event.endpoint === "placeOrder" ? this.#sending.order : undefined;
    const sent = { span: this.#request(event, order), endpoint: event.endpoint };
    keep(this.#sent, event.action, sent, this.#options.openMax, (oldest) =>
      this.#lost(oldest, event.at, "given up by the plugin"),
    );
  }

  leaves(action: number): TraceHeaders | undefined {
    const sent = this.#sent.get(action);
    if (!this.#options.propagate || sent === undefined) return undefined;
    const { traceId, spanId, traceFlags, traceState } = sent.span.spanContext();
    const tracestate = traceState?.serialize() ?? "";
    const flags = traceFlags.toString(16).padStart(2, "0");
    return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(tracestate !== "" && { tracestate }) };
  }

  ends(action: number): void {
    this.#answering = this.#sent.get(action);
    this.#sent.delete(action);
    this.#parents.delete(action);
  }

  answered(event: EventMap["action.answered"]): void {
    const { endpoint, status, outcome, code, at } = event;
    const sent = this.#answering;
    this.#answering = undefined;
    // Sent before this plugin began.
    if (sent?.endpoint !== endpoint) return;
    const { span } = sent;
    span.setAttributes({
      "sluice.outcome": outcome,
      ...(status === 0 ? {} : { "http.response.status_code": status }),
      ...(code === "" ? {} : { "sluice.code": code }),
      ...(outcome === "done" ? {} : { "error.type": outcome }),
    });
    if (outcome !== "done")
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: code === "" ? outcome : `${outcome}: ${code}` });
    span.end(timeOf(at));
  }

  order({ seq, at, phase, strategy, slot, instId, clOrdId, reason, record }: EventMap["order.changed"]): void {
    let span = this.#orders.get(clOrdId);
    if (span === undefined) {
      // Of a previous run, or given up: the beginning is not known.
      if (phase !== "planned" && phase !== "sent") return;
      const attributes = {
        ...this.#options.attributes,
        "sluice.strategy": strategy,
        "sluice.slot": slot,
        "sluice.inst_id": instId,
        "sluice.cl_ord_id": clOrdId,
      };
      span = this.#start(`order ${instId}`, { kind: this.#api.SpanKind.INTERNAL, startTime: timeOf(at), attributes });
      keep(this.#orders, clOrdId, span, this.#options.openMax, (oldest) => oldest.end(timeOf(at)));
    }
    span.addEvent(phase, reason === "" ? {} : { "sluice.reason": reason }, timeOf(at));
    if (phase === "sent") this.#sending = { seq, order: span };
    if (phase !== "filled" && phase !== "canceled" && phase !== "rejected" && phase !== "absent") return;
    span.setAttributes({ "sluice.phase": phase, ...(record === undefined ? {} : { "sluice.ord_id": record.ordId }) });
    if (phase === "rejected" || phase === "absent")
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: reason });
    this.#orders.delete(clOrdId);
    this.#ended = { clOrdId, span, at };
  }

  /**
   * Called before each event, and now and then: only its own fill may still follow the end of an order, and its answer
   * the end of a request.
   */
  next(at: number, event?: EventMap["event"]): void {
    if (this.#answering !== undefined && event?.type !== "action.answered") this.#drop(at);
    if (this.#ended === undefined || (event?.type === "fill" && event.clOrdId === this.#ended.clOrdId)) return;
    this.#ended.span.end(timeOf(this.#ended.at));
    this.#ended = undefined;
  }

  fill({ clOrdId, at, px, qty, cost, currency, side }: EventMap["fill"]): void {
    const attributes = {
      "sluice.side": side,
      "sluice.px": px,
      "sluice.qty": qty,
      "sluice.fee": cost,
      "sluice.currency": currency,
    };
    const span = this.#ended?.clOrdId === clOrdId ? this.#ended.span : this.#orders.get(clOrdId);
    span?.addEvent("fill", attributes, timeOf(at));
  }

  /** Ends spans that are still open, and marks them so. */
  end(at: number): void {
    this.next(at);
    for (const sent of this.#sent.values()) this.#lost(sent, at, "the engine stopped before the answer");
    this.#sent.clear();
    for (const span of this.#orders.values()) {
      span.setAttributes({ "sluice.phase": "open" });
      span.end(timeOf(at));
    }
    this.#orders.clear();
  }

  /** The caller unsubscribed, or a limit refused it: there is no answer. */
  #drop(at: number): void {
    this.#answering?.span.end(timeOf(at));
    this.#answering = undefined;
  }

  #request(
    { endpoint, class: kind, owner, weight, key, waitedMs, at, action }: EventMap["action.sent"],
    order: Span | undefined,
  ): Span {
    const options = {
      kind: this.#api.SpanKind.CLIENT,
      startTime: timeOf(at - waitedMs),
      attributes: {
        ...this.#options.attributes,
        "sluice.action": action,
        "sluice.endpoint": endpoint,
        "sluice.class": kind,
        "sluice.owner": owner,
        "sluice.weight": weight,
        "sluice.waited_ms": waitedMs,
        ...(key === undefined ? {} : { "sluice.key": key }),
      },
      ...(order === undefined ? {} : { links: [{ context: order.spanContext() }] }),
    };
    const span = this.#start(endpoint, options, this.#parents.get(action));
    span.addEvent("sent", {}, timeOf(at));
    return span;
  }

  #lost({ span }: Sent, at: number, message: string): void {
    span.setAttributes({ "sluice.outcome": "open", "error.type": "open" });
    span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message });
    span.end(timeOf(at));
  }
}

export default definePlugin({
  name: "opentelemetry",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      openMax: {
        description: "Requests, and orders, that are followed at once.",
        type: "integer",
        minimum: 1,
        maximum: 100_000,
        default: 10_000,
      },
      attributes: {
        description: "Attributes of every span, such as the name of the engine.",
        type: "object",
        additionalProperties: { type: "string" },
        default: {},
      },
      propagate: {
        description:
          "Send W3C trace context with each request (`traceparent`, `tracestate`), for a service that follows traces.",
        type: "boolean",
        default: false,
      },
    },
  },
  setup: ({ on, every, now, requirePackage, traceRequests, options: { openMax, attributes, propagate } }) => {
    const api = requirePackage<Api>("@opentelemetry/api", "1", import.meta.url);
    const tracing = new Tracing(api, { openMax, attributes: attributes as Attributes, propagate });
    traceRequests(tracing);
    on("event", (event) => tracing.next(event.at, event));
    on("action.sent", (event) => tracing.sent(event));
    on("action.answered", (event) => tracing.answered(event));
    on("order.changed", (event) => tracing.order(event));
    on("fill", (event) => tracing.fill(event));
    every(1_000, () => tracing.next(now()));
    return async () => {
      tracing.end(now());
      const provider = api.trace.getTracerProvider();
      const late = new Promise<void>((resolve) => {
        AbortSignal.timeout(flushMs).addEventListener("abort", () => resolve(), { once: true });
      });
      await Promise.race([(provider.getDelegate?.() ?? provider).forceFlush?.(), late]);
    };
  },
});
