/**
 * Traces for OpenTelemetry: a span for each request from wish to answer, and one for each order from plan to end, linked.
 *
 * Invariants: spans carry the engine's times; at most `openMax` requests and orders are followed at once, the oldest is given up
 * first; no exporter of its own: spans go to the tracer provider that the program has registered, or nowhere.
 * An answer does not name its request: it belongs to the one of its endpoint that was sent when the answer says, and one that never came
 * to the oldest.
 */
import { definePlugin, type EventMap } from "sluice";
import { optionalPackage } from "./packages/optional-package.ts";

type Attributes = Readonly<Record<string, string | number | boolean>>;
/** Seconds and nanoseconds: a plain number would be taken for a time since the process began. */
type Time = [seconds: number, nanoseconds: number];

interface SpanContext {
  readonly traceId: string;
}
interface Span {
  addEvent(name: string, attributes: Attributes, at: Time): unknown;
  end(at: Time): void;
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  spanContext(): SpanContext;
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
  readonly trace: {
    getTracer(name: string): { startSpan(name: string, options: SpanOptions, context: unknown): Span };
    getTracerProvider(): TracerProvider;
  };
}

const timeOf = (ms: number): Time => {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
};

interface Sent {
  readonly event: EventMap["action.sent"];
  readonly order: Span | undefined;
}

/** Adds an entry, and gives the oldest up where there would be too many. */
const keep = <K, V>(map: Map<K, V>, key: K, value: V, most: number, giveUp: (value: V) => void): void => {
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size <= most || oldest.done === true) return;
  giveUp(map.get(oldest.value) as V);
  map.delete(oldest.value);
};

/** Milliseconds that the answer's figures may differ from the request's. */
const near = 0.5;
/** How long the stop waits for the program's exporter. */
const flushMs = 1_500;

class Tracing {
  readonly #api: Api;
  readonly #start: (name: string, options: SpanOptions) => Span;
  readonly #openMax: number;
  readonly #fixed: Attributes;
  readonly #sent = new Map<number, Sent>();
  readonly #orders = new Map<string, Span>();
  #ended: { readonly clOrdId: string; readonly span: Span; readonly at: number } | undefined;
  /** Of the event before: an order that is being sent is followed at once by its request. */
  #sending: { readonly seq: number; readonly order: Span } | undefined;

  constructor(api: Api, openMax: number, fixed: Attributes) {
    const tracer = api.trace.getTracer("sluice");
    this.#api = api;
    this.#openMax = openMax;
    this.#fixed = fixed;
    // Each is the root of a trace: nothing that happens to be active in the program is its cause.
    this.#start = (name, options) => tracer.startSpan(name, options, api.ROOT_CONTEXT);
  }

  sent(event: EventMap["action.sent"]): void {
    const order = this.#sending?.seq === event.seq - 1 && event.endpoint === "placeOrder" ? this.#sending.order : undefined;
    keep(this.#sent, event.seq, { event, order }, this.#openMax, (sent) => this.#lost(sent, event.at, "given up by the plugin"));
  }

  answered(event: EventMap["action.answered"]): void {
    const { endpoint, status, outcome, code, elapsedMs, at } = event;
    const waiting = [...this.#sent.values()].filter((one) => one.event.endpoint === endpoint);
    const sentAt = at - elapsedMs;
    const sent = status === 0 ? waiting[0] : waiting.find((one) => Math.abs(one.event.at - sentAt) < near);
    // Sent before this plugin began.
    if (sent === undefined) return;
    const span = this.#request(sent);
    span.setAttributes({
      "sluice.outcome": outcome,
      ...(status === 0 ? {} : { "http.response.status_code": status }),
      ...(code === "" ? {} : { "sluice.code": code }),
      ...(outcome === "done" ? {} : { "error.type": outcome }),
    });
    if (outcome !== "done")
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: code === "" ? outcome : `${outcome}: ${code}` });
    span.end(timeOf(at));
    this.#sent.delete(sent.event.seq);
  }

  order({ seq, at, phase, strategy, slot, instId, clOrdId, reason, record }: EventMap["order.changed"]): void {
    let span = this.#orders.get(clOrdId);
    if (span === undefined) {
      // Of a previous run, or given up: the beginning is not known.
      if (phase !== "planned" && phase !== "sent") return;
      const attributes = {
        ...this.#fixed,
        "sluice.strategy": strategy,
        "sluice.slot": slot,
        "sluice.inst_id": instId,
        "sluice.cl_ord_id": clOrdId,
      };
      span = this.#start(`order ${instId}`, { kind: this.#api.SpanKind.INTERNAL, startTime: timeOf(at), attributes });
      keep(this.#orders, clOrdId, span, this.#openMax, (oldest) => oldest.end(timeOf(at)));
    }
    span.addEvent(phase, reason === "" ? {} : { "sluice.reason": reason }, timeOf(at));
    if (phase === "sent") this.#sending = { seq, order: span };
    if (phase !== "filled" && phase !== "canceled" && phase !== "rejected" && phase !== "absent") return;
    span.setAttributes({ "sluice.phase": phase, ...(record === undefined ? {} : { "sluice.ord_id": record.ordId }) });
    if (phase === "rejected" || phase === "absent") span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: reason });
    this.#orders.delete(clOrdId);
    this.#ended = { clOrdId, span, at };
  }

  /** Called before each event, and now and then: only its own fill may still follow the end of an order. */
  next(event?: EventMap["event"]): void {
    if (this.#ended === undefined || (event?.type === "fill" && event.clOrdId === this.#ended.clOrdId)) return;
    this.#ended.span.end(timeOf(this.#ended.at));
    this.#ended = undefined;
  }

  fill({ clOrdId, at, px, qty, cost, currency, side }: EventMap["fill"]): void {
    const attributes = { "sluice.side": side, "sluice.px": px, "sluice.qty": qty, "sluice.fee": cost, "sluice.currency": currency };
    const span = this.#ended?.clOrdId === clOrdId ? this.#ended.span : this.#orders.get(clOrdId);
    span?.addEvent("fill", attributes, timeOf(at));
  }

  /** What is still open ends here, and says so. */
  end(at: number): void {
    this.next();
    for (const sent of this.#sent.values()) this.#lost(sent, at, "the engine stopped before the answer");
    this.#sent.clear();
    for (const span of this.#orders.values()) {
      span.setAttributes({ "sluice.phase": "open" });
      span.end(timeOf(at));
    }
    this.#orders.clear();
  }

  #request({ event, order }: Sent): Span {
    const { endpoint, class: kind, owner, weight, key, waitedMs, at, action } = event;
    const span = this.#start(endpoint, {
      kind: this.#api.SpanKind.CLIENT,
      startTime: timeOf(at - waitedMs),
      attributes: {
        ...this.#fixed,
        "sluice.action": action,
        "sluice.endpoint": endpoint,
        "sluice.class": kind,
        "sluice.owner": owner,
        "sluice.weight": weight,
        "sluice.waited_ms": waitedMs,
        ...(key === undefined ? {} : { "sluice.key": key }),
      },
      ...(order === undefined ? {} : { links: [{ context: order.spanContext() }] }),
    });
    span.addEvent("sent", {}, timeOf(at));
    return span;
  }

  #lost(sent: Sent, at: number, message: string): void {
    const span = this.#request(sent);
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
      /** Requests, and orders, that are followed at once. */
      openMax: { type: "integer", minimum: 1, maximum: 100_000, default: 10_000 },
      /** Attributes of every span, such as the name of the engine. */
      attributes: { type: "object", additionalProperties: { type: "string" }, default: {} },
    },
  },
  setup: ({ on, every, now, options: { openMax, attributes } }) => {
    const api = optionalPackage<Api>("opentelemetry", "@opentelemetry/api", "1");
    const tracing = new Tracing(api, openMax, attributes as Attributes);
    on("event", (event) => tracing.next(event));
    on("action.sent", (event) => tracing.sent(event));
    on("action.answered", (event) => tracing.answered(event));
    on("order.changed", (event) => tracing.order(event));
    on("fill", (event) => tracing.fill(event));
    every(1_000, () => tracing.next());
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
