/** Traces that go on at a service: a real engine, the embedded service, and between them a receiver on the loopback that reads every header. */
import { AsyncLocalStorage } from "node:async_hooks";
import { createServer, request as forward, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { concatWith, first, map, NEVER, Observable } from "rxjs";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import opentelemetry from "../../../plugins/opentelemetry/index.ts";
import type { ServerKey } from "../../../plugins/venue-server/server/keyring.ts";
import { main } from "../../../src/cli/main.ts";
import { createEngine, defineStrategy, type Engine, fromEnv, live } from "../../../src/index.ts";
import { type CapturedIo, capturedIo } from "../../support/captured-io.ts";

/** What the SDK's context manager for Node does. */
class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    given: Context,
    run: F,
    self?: ThisParameterType<F>,
    ...args: A
  ) {
    return this.#storage.run(given, () => run.call(self, ...args) as ReturnType<F>);
  }
  bind<T>(_: Context, target: T): T {
    return target;
  }
  enable(): this {
    return this;
  }
  disable(): this {
    return this;
  }
}

interface Heard {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  status: number;
}

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const spanOf = (spanId: string | undefined): ReadableSpan | undefined =>
  exporter.getFinishedSpans().find((span) => span.spanContext().spanId === spanId);
const parse = (traceparent: unknown): { readonly traceId?: string; readonly spanId?: string } =>
  /^00-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-01$/.exec(String(traceparent))?.groups ?? {};

/** Places one order within a span of its own. */
const deciding = defineStrategy({
  name: "deciding",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: ({ market }) =>
    new Observable((subscriber) => {
      const wanted = market.quotes("BTC-USDT-SWAP").pipe(first());
      return wanted.subscribe(() => {
        trace.getTracer("desk").startActiveSpan("decide", (span) => {
          subscriber.next([{ slot: "a", instId: "BTC-USDT-SWAP", side: "buy", px: "20000", qty: "0.01" }]);
          span.end();
        });
      });
    }),
});

/** Places one as a socket's message comes, in whatever context the program left there. */
const plain = defineStrategy({
  name: "plain",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: ({ market }) =>
    market.quotes("BTC-USDT-SWAP").pipe(
      first(),
      map(() => [{ slot: "b", instId: "BTC-USDT-SWAP", side: "buy" as const, px: "19000", qty: "0.01" }]),
      concatWith(NEVER),
    ),
});

describe("Trace context of requests", () => {
  let venue: { readonly io: CapturedIo; readonly ended: Promise<number> };
  let heard: Heard[];
  let baseUrl: string;
  let wsUrl: string;
  let engine: Engine | undefined;
  const server = createServer((incoming, outgoing) => {
    const { method = "", url = "", headers } = incoming;
    const one: Heard = { path: url.split("?")[0] ?? "", method, headers, status: 0 };
    heard.push(one);
    const { host: _, ...passed } = headers;
    const onward = forward(new URL(url, venueUrl), { method, headers: passed }, (answer) => {
      one.status = answer.statusCode ?? 0;
      outgoing.writeHead(one.status, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  let venueUrl: string;

  beforeAll(async () => {
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager(new Contexts());
    const io = capturedIo();
    const ended = main(["venue", "--json", "--instruments", "BTC-USDT-SWAP", "--seed", "trace"], io);
    venue = { io, ended };
    await vi.waitFor(() => expect(io.outText).not.toBe(""), { timeout: 60_000 });
    const ready = JSON.parse(io.outText) as { readonly url: string; readonly keys: readonly [ServerKey] };
    venueUrl = ready.url;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    wsUrl = `${ready.url.replace(/^http/, "ws")}/ws/v1`;
    const { apiKey, secretKey, passphrase } = ready.keys[0];
    Object.assign(process.env, { TRACED_API_KEY: apiKey, TRACED_SECRET_KEY: secretKey, TRACED_PASSPHRASE: passphrase });
  });
  afterEach(async () => {
    await engine?.stop({ cancel: true });
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    venue.io.stop();
    await venue.ended;
    trace.disable();
    context.disable();
    await provider.shutdown();
  });

  const run = async (propagate: boolean): Promise<Heard> => {
    heard = [];
    exporter.reset();
    const service = live({ environment: "testnet", baseUrl, wsUrl, keys: [fromEnv("TRACED")] });
    engine = createEngine({ service, strategies: [deciding({}), plain({})], plugins: [opentelemetry({ propagate })] });
    const failures: unknown[] = [];
    engine.on("plugin.failed", (event) => failures.push(event));
    // The program's own span at the start is the cause of nothing in particular.
    await trace.getTracer("program").startActiveSpan("start", async () => engine?.start());
    const placed = await vi.waitFor(
      () => {
        const found = heard.find(({ path, status }) => path.endsWith("/trade/order") && status !== 0);
        if (found === undefined) throw new Error(`only ${heard.map(({ path }) => path).join(" ")}`);
        return found;
      },
      { timeout: 60_000, interval: 50 },
    );
    await vi.waitFor(() => expect(engine?.openOrders().map(({ phase }) => phase)).toEqual(["live", "live"]), {
      timeout: 60_000,
    });
    engine.halt("enough").subscribe();
    await vi.waitFor(() => expect(engine?.openOrders()).toEqual([]), { timeout: 60_000 });
    expect(failures).toEqual([]);
    return placed;
  };

  it("is sent with each request, names its span, and leaves signatures valid", async () => {
    const placed = await run(true);
    expect(placed.status).toBe(200);
    const traced = heard.filter(({ headers }) => headers["traceparent"] !== undefined);
    expect(traced.map(({ path }) => path)).toEqual(
      expect.arrayContaining([expect.stringMatching(/\/order$/), expect.stringMatching(/cancel/)]),
    );
    expect(new Set(traced.map(({ headers }) => parse(headers["traceparent"]).spanId)).size).toBe(traced.length);
    for (const { path, status, headers } of traced) {
      expect([path, status]).toEqual([path, 200]);
      await expect
        .poll(() => spanOf(parse(headers["traceparent"]).spanId)?.attributes["http.response.status_code"])
        .toBe(200);
    }
    // Before plugins begin the service's state is read, by requests that nobody follows; they are signed alike.
    const signed = heard.filter(({ headers }) => Object.keys(headers).some((name) => name.endsWith("-sign")));
    expect(signed.length).toBeGreaterThanOrEqual(4);
    const names = ({ headers }: Heard): readonly string[] =>
      Object.keys(headers)
        .filter((name) => !/^(traceparent|content-|host)/.test(name))
        .sort();
    expect(new Set(signed.map((one) => names(one).join(" "))).size).toBe(1);
  });

  it("goes on from the strategy's own span, and not from one that merely started the program", async () => {
    await run(true);
    const requests = heard.flatMap(({ headers }) => spanOf(parse(headers["traceparent"]).spanId) ?? []);
    const placed = (owner: string): ReadableSpan | undefined =>
      requests.find(({ name, attributes }) => name === "placeOrder" && attributes["sluice.owner"] === owner);
    const [decide] = exporter.getFinishedSpans().filter(({ name }) => name === "decide");
    expect(placed("deciding")?.parentSpanContext).toMatchObject({
      traceId: decide?.spanContext().traceId,
      spanId: decide?.spanContext().spanId,
    });
    expect(placed("deciding")?.spanContext().traceId).toBe(decide?.spanContext().traceId);
    expect(placed("plain")?.attributes["sluice.outcome"]).toBe("done");
    expect(requests.filter((span) => span !== placed("deciding") && span.parentSpanContext !== undefined)).toEqual([]);
  });

  it("is not sent unless it was asked for", async () => {
    const placed = await run(false);
    expect(placed.status).toBe(200);
    expect(heard.filter(({ headers }) => "traceparent" in headers || "tracestate" in headers)).toEqual([]);
    await expect.poll(() => exporter.getFinishedSpans().filter(({ name }) => name === "placeOrder").length).toBe(2);
  });
});
