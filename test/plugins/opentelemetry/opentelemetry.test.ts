/**
 * The opentelemetry plugin before the in-memory exporter of the SDK: spans with the engine's times, and how they belong together.
 */
import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import opentelemetry from "../../../plugins/opentelemetry/index.ts";
import { type PluginTest, testPlugin, testStartAt } from "../../../src/testing.ts";

/** Answers at once: the timer that it would answer by is on the engine's time. */
class Exporter extends InMemorySpanExporter {
  override export(spans: ReadableSpan[], done: Parameters<InMemorySpanExporter["export"]>[1]): void {
    super.export(spans, () => undefined);
    done({ code: 0 });
  }
}
const exporter = new Exporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
trace.setGlobalTracerProvider(provider);
afterAll(async () => {
  trace.disable();
  await provider.shutdown();
});
beforeEach(() => exporter.reset());

const running: PluginTest[] = [];
afterEach(async () => {
  for (const t of running.splice(0)) await t.stop();
});
const start = async (options: Parameters<typeof opentelemetry>[0] = {}): Promise<PluginTest> => {
  const t = await testPlugin(opentelemetry(options));
  running.push(t);
  t.quote("BTC-USDT-SWAP", { bidPx: "60000", askPx: "60001" });
  return t;
};

const bid = (slot: string, px = "60000") => ({ slot, instId: "BTC-USDT-SWAP", side: "buy" as const, px, qty: "0.01" });
const spans = (name: string): readonly ReadableSpan[] =>
  exporter.getFinishedSpans().filter((span) => span.name === name);
const ms = ([seconds, nanoseconds]: readonly [number, number]): number => seconds * 1_000 + nanoseconds / 1_000_000;
const orderSpan = (slot: string): ReadableSpan =>
  spans("order BTC-USDT-SWAP").find(({ attributes }) => attributes["sluice.slot"] === slot) as ReadableSpan;

describe("The opentelemetry plugin", () => {
  it("makes a span of each request, from wanted order to answer, with what it was", async () => {
    const t = await start({ attributes: { "service.instance.id": "desk 1" } });
    t.want([bid("a")]);
    await t.advance();
    const [span] = spans("placeOrder") as [ReadableSpan];
    expect(span.kind).toBe(SpanKind.CLIENT);
    // The way there and back takes 10 ms each.
    expect([ms(span.startTime), ms(span.endTime)].map((at) => at - testStartAt)).toEqual([0, 20]);
    expect(span.attributes).toMatchObject({
      "service.instance.id": "desk 1",
      "sluice.endpoint": "placeOrder",
      "sluice.class": "place",
      "sluice.owner": "by hand",
      "sluice.weight": 10,
      "sluice.outcome": "done",
      "http.response.status_code": 200,
    });
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(span.parentSpanContext).toBeUndefined();
  });

  it("links the request that places an order to the order, one of several of an instant each to its own", async () => {
    const t = await start();
    t.want([bid("a"), bid("b", "59999"), bid("c", "59998")]);
    await t.advance();
    t.want([]);
    await t.advance(2_000);
    const linked = spans("placeOrder").map(({ links }) => links.map(({ context }) => context.spanId));
    expect(linked).toEqual(["a", "b", "c"].map((slot) => [orderSpan(slot).spanContext().spanId]));
    expect(spans("cancelBatch").map(({ links }) => links)).toEqual([[]]);
  });

  it("makes a span of each order, with its phases and fills", async () => {
    const t = await start();
    t.want([bid("a")]);
    await t.advance();
    t.fill("a");
    await t.advance(1_000);
    const span = orderSpan("a");
    expect(span.events.map(({ name }) => name).filter((name) => name !== "acked")).toEqual([
      "sent",
      "live",
      "filled",
      "fill",
    ]);
    expect(span.events.find(({ name }) => name === "fill")?.attributes).toMatchObject({
      "sluice.px": "60000",
      "sluice.qty": "0.01",
      "sluice.side": "buy",
    });
    expect(span.attributes).toMatchObject({
      "sluice.phase": "filled",
      "sluice.strategy": "by hand",
      "sluice.inst_id": "BTC-USDT-SWAP",
    });
    expect(ms(span.endTime)).toBe(
      t.events.find((event) => event.type === "order.changed" && event.phase === "filled")?.at,
    );
  });

  it("gives an error status to what was rejected, with the service's code", async () => {
    const t = await start();
    t.reject("a");
    t.want([bid("a")]);
    await t.advance(1_000);
    const [span] = spans("placeOrder") as [ReadableSpan];
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: "rejected: 51008" });
    expect(span.attributes["error.type"]).toBe("rejected");
    expect(orderSpan("a").status.code).toBe(SpanStatusCode.ERROR);
  });

  it("ends a request without an answer as unknown, and keeps it apart from one that was answered", async () => {
    const t = await start();
    t.loseAnswers(1);
    t.want([bid("a")]);
    await t.advance(5);
    t.want([bid("a"), bid("b", "59999")]);
    await t.advance(60_000);
    await t.stop();
    const outcomes = spans("placeOrder").map(({ links, attributes }) => [
      links[0]?.context.spanId,
      attributes["sluice.outcome"],
    ]);
    expect(outcomes).toEqual([
      [orderSpan("b").spanContext().spanId, "done"],
      [orderSpan("a").spanContext().spanId, "unknown"],
    ]);
  });

  it("ends at the stop what is open, and follows no more at once than it may", async () => {
    const t = await start({ openMax: 2 });
    t.want([bid("a"), bid("b", "59999"), bid("c", "59998")]);
    await t.advance();
    // The first of three orders was given up, and so was the first of three requests.
    expect(spans("order BTC-USDT-SWAP").map(({ attributes }) => attributes["sluice.slot"])).toEqual(["a"]);
    expect(spans("placeOrder").map(({ attributes }) => attributes["sluice.outcome"])).toEqual(["open", "done", "done"]);
    await t.stop();
    expect(orderSpan("c").attributes["sluice.phase"]).toBe("open");
  });
});
