import { describe, expect, it } from "vitest";
import type { RequestTracer, TraceHeaders, WireRequest } from "../../../src/contract/transport.ts";
import { RequestTraces } from "../../../src/scheduler/request-traces.ts";

const request: WireRequest = { endpoint: "positions", method: "GET", path: "/p", query: {}, body: undefined, key: "k" };
const parent = `00-${"4bf92f3577b34da6".repeat(2)}-00f067aa0ba902b7-01`;
const giving = (headers: unknown): RequestTracer => ({
  submitted: () => undefined,
  leaves: () => headers as TraceHeaders,
  ends: () => undefined,
});
const sentWith = (headers: unknown): WireRequest => {
  const traces = new RequestTraces();
  traces.follow(giving(headers));
  return traces.leaving(1, request);
};

describe("Headers of a trace", () => {
  it("are those of W3C trace context", () => {
    expect(sentWith({ traceparent: parent, tracestate: "vendor=a,other=b" })).toEqual({
      ...request,
      trace: { traceparent: parent, tracestate: "vendor=a,other=b" },
    });
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["no parent", { tracestate: "a=b" }],
    ["a parent of no trace", { traceparent: `00-${"0".repeat(32)}-00f067aa0ba902b7-01` }],
    ["a parent of no span", { traceparent: `00-${"4bf92f3577b34da6".repeat(2)}-${"0".repeat(16)}-01` }],
    ["a parent in capitals", { traceparent: parent.toUpperCase() }],
    ["a parent with a line break", { traceparent: `${parent}\r\nx-evil: 1` }],
    ["a parent with a line break at its end", { traceparent: `${parent}\n` }],
    ["a parent that is no text", { traceparent: [parent] }],
  ])("are left out where there is %s", (_, headers) => {
    expect(sentWith(headers)).toBe(request);
  });

  it.each<[string, unknown]>([
    ["a state with a line break", { tracestate: "a=b\r\nx-evil: 1" }],
    ["a state that is too long", { tracestate: "a".repeat(513) }],
    ["another header", { authorization: "x", "access-sign": "x", host: "evil" }],
  ])("hold the parent alone beside %s", (_, more) => {
    expect(sentWith({ traceparent: parent, ...(more as object) }).trace).toEqual({ traceparent: parent });
  });

  it("cost nothing without a tracer, and end with it", () => {
    const traces = new RequestTraces();
    expect(traces.leaving(1, request)).toBe(request);
    const end = traces.follow(giving({ traceparent: parent }));
    expect(() => traces.follow(giving(undefined))).toThrow("Another plugin traces requests already");
    end();
    expect(traces.leaving(1, request)).toBe(request);
    traces.follow(giving({ traceparent: parent }));
  });
});
