/** What strangers send: odd, malformed, too large, too slow. There is always an HTTP answer or a closed socket. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { queryOf } from "../../../plugins/venue-server/server/parse-request.ts";
import { keys, rawTalk, serverSetting, signedHeaders, startAt, toTheEnd, until } from "./harness/server.ts";

const order = "/api/v1/trade/order";
const pending = "/api/v1/trade/orders/pending";

describe("A malformed request:", () => {
  it.each([
    ["no JSON", "{", /not JSON/],
    ["nothing", "", /must be object/],
    ["a bare word", "yes", /not JSON/],
    ["JSON of another shape", "[]", /must be object/],
    [
      "an unknown field",
      '{"instId":"BTC-USDT-SWAP","side":"buy","ordType":"limit","px":"1","sz":"1","pryce":"1"}',
      /pryce/,
    ],
    [
      "a field twice",
      '{"instId":"BTC-USDT-SWAP","side":"buy","ordType":"limit","px":"1","px":"50000","sz":"500"}',
      /"px" twice/,
    ],
    [
      "a field twice, once escaped",
      '{"instId":"BTC-USDT-SWAP","side":"buy","ordType":"limit","px":"1","p\\u0078":"50000","sz":"500"}',
      /"px" twice/,
    ],
    ["nesting without end", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, /request/],
  ])("a placement that holds %s is a 400 with 50002 and places nothing", async (_, body, msg) => {
    const { call, venue } = await serverSetting();
    const heard = await call("POST", order, { key: keys.ann, body });
    expect([heard.status, heard.body.code, heard.body.data]).toEqual([400, "50002", []]);
    expect(heard.body.msg).toMatch(msg);
    expect(venue.truth("ann").orders).toEqual([]);
  });

  it.each([
    ["without a host", "GET / HTTP/1.1\r\n\r\n", "400 Bad Request", "Host is missing"],
    ["that asks for a tunnel", "CONNECT x:1 HTTP/1.1\r\nhost: x:1\r\n\r\n", "405 Method Not Allowed", "no proxy"],
    ["with an unknown expectation", "GET / HTTP/1.1\r\nhost: x\r\nexpect: more\r\n\r\n", "417 ", "Expect"],
    ["of HTTP 0.9", "GET /\r\n\r\n", "400 Bad Request", "version 0.9"],
    ["of HTTP 3", "GET / HTTP/3.0\r\nhost: x\r\n\r\n", "400 Bad Request", "Bad Request"],
  ])("a request %s is answered in the service's form", async (_, head, status, msg) => {
    const { port } = await serverSetting();
    const { text } = await rawTalk(port, head);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`));
    const body = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)) as object;
    expect(body).toMatchObject({ code: "50002", data: [], msg: expect.stringContaining(msg) });
  });

  it("a request that names the whole address is served, and one of HTTP 1.0 needs no host", async () => {
    const { port } = await serverSetting();
    const path = "/api/v1/common/instruments";
    for (const head of [
      `GET http://exchange.example${path} HTTP/1.1\r\nhost: exchange.example\r\nconnection: close\r\n\r\n`,
      `GET ${path} HTTP/1.0\r\n\r\n`,
    ])
      expect((await rawTalk(port, head)).text).toMatch(/^HTTP\/1\.1 200 .*"code":"0"/s);
  });

  it("a body that is no UTF-8 is a 400", async () => {
    const { port } = await serverSetting();
    const head = `POST ${order} HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n`;
    const { text } = await rawTalk(port, Buffer.concat([Buffer.from(head), Buffer.from([0x22, 0xc3, 0x28, 0x22])]));
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain("not UTF-8");
  });

  it.each([
    ["a parameter twice", "limit=1&limit=2", /twice/],
    ["a parameter twice, once escaped", "limit=1&%6cimit=2", /twice/],
    ["a broken escape", "instId=%zz", /percent/],
    ["an escape cut off", "instId=BTC%", /percent/],
    ["an escape that is no UTF-8", "instId=%c3%28", /percent/],
    ["a name nobody knows", "__proto__=1", /__proto__/],
    ["a value out of bounds", "limit=101", /limit/],
  ])("a query with %s is a 400", async (_, query, msg) => {
    const { call } = await serverSetting();
    const heard = await call("GET", pending, { key: keys.ann, query });
    expect([heard.status, heard.body.code]).toEqual([400, "50002"]);
    expect(heard.body.msg).toMatch(msg);
  });

  it("a query is decoded, and empty parts of it are nothing", () => {
    expect(queryOf("")).toEqual({ query: {} });
    expect(queryOf("&a=%42%20C&&b=x+y&c&d=1=2&")).toEqual({ query: { a: "B C", b: "x y", c: "", d: "1=2" } });
    expect(Object.getPrototypeOf((queryOf("__proto__=1") as { query: object }).query)).toBe(Object.prototype);
  });

  it("a malformed query beside a sound body does not act", async () => {
    const { call, venue } = await serverSetting();
    const body = { instId: "BTC-USDT-SWAP", side: "buy", ordType: "limit", px: "50000", sz: "500" };
    expect((await call("POST", order, { key: keys.ann, body, query: "a=1&a=2" })).status).toBe(400);
    expect(venue.truth("ann").orders).toEqual([]);
  });

  it("a header sent twice is no key", async () => {
    const { port } = await serverSetting();
    const lines = Object.entries(signedHeaders(keys.ann, {}, startAt, "GET", pending, "", "")).map(
      ([name, value]) => `${name}: ${value}`,
    );
    const ask = (more: readonly string[]): string =>
      [`GET ${pending} HTTP/1.1`, "host: x", ...lines, ...more, "", ""].join("\r\n");
    expect((await rawTalk(port, ask([]))).text).toMatch(/^HTTP\/1\.1 200 /);
    expect((await rawTalk(port, ask(["x-api-key: ann-1"]))).text).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe("Methods and paths:", () => {
  it.each([
    ["an unknown path", "GET", "/api/v1/trade/ordres"],
    ["a path below an endpoint", "GET", `${order}/`],
    ["a path in other letters", "GET", "/API/v1/trade/order"],
    ["an escaped path", "GET", "/api/v1/trade/%6frder"],
    ["another version", "GET", "/api/v2/trade/order"],
    ["a method the path has not", "PUT", order],
    ["another such method", "DELETE", order],
  ])("%s is a 404 with an envelope", async (_, method, path) => {
    const { call } = await serverSetting();
    for (const key of [undefined, keys.ann]) {
      const heard = await call(method, path, { key });
      expect([heard.status, heard.body]).toEqual([404, { code: "50005", msg: "No such method and path.", data: [] }]);
    }
  });

  it("HEAD answers like GET without the body, and is signed as HEAD", async () => {
    const { call } = await serverSetting();
    const heard = await call("HEAD", pending, { key: keys.ann });
    expect([heard.status, heard.text, heard.headers["x-ratelimit-uid-weight-used"]]).toEqual([200, "", "5"]);
    expect(Number(heard.headers["content-length"])).toBeGreaterThan(20);
    expect((await call("HEAD", order)).status).toBe(401);
  });

  it("OPTIONS names the methods of a path and does nothing else", async () => {
    const { call, venue } = await serverSetting();
    expect(await call("OPTIONS", order)).toMatchObject({
      status: 204,
      text: "",
      headers: { allow: "GET, HEAD, POST, OPTIONS" },
    });
    expect((await call("OPTIONS", "/api/v1/trade/cancel-batch-orders")).headers.allow).toBe("POST, OPTIONS");
    expect((await call("OPTIONS", "/nowhere")).status).toBe(404);
    expect(venue.meterReport()).toMatchObject({ requests: 3, weight: 0 });
  });

  it("the page and the documents are shown, cost nothing and run nothing", async () => {
    const { call, venue } = await serverSetting({ documents: ({ url }) => ({ "/openapi.json": { servers: [url] } }) });
    const page = await call("GET", "/");
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(page.text).toContain(
      "<td>POST</td><td>/api/v1/trade/cancel-batch-orders</td><td>trade_futures</td><td>15</td>",
    );
    expect((await call("GET", "/openapi.json")).body).toEqual({
      servers: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)],
    });
    expect(venue.meterReport().requests).toBe(0);
    expect((await call("POST", "/openapi.json")).status).toBe(404);
  });
});

describe("Bounds of the server:", () => {
  const large = 1_048_577;

  it("a body of a mebibyte is read, one byte more is a 413", async () => {
    const { call, server } = await serverSetting();
    expect((await call("POST", order, { key: keys.ann, body: `"${"x".repeat(large - 3)}"` })).status).toBe(400);
    const heard = await call("POST", order, { key: keys.ann, body: `"${"x".repeat(large - 2)}"` });
    expect([heard.status, heard.body.code]).toEqual([413, "50002"]);
    expect((await call("GET", "/api/v1/common/instruments")).status).toBe(200);
    expect(server.counts().requests).toBe(3);
  });

  it("a body that does not say how long it is has the same bound", async () => {
    const { port } = await serverSetting();
    const piece = `10000\r\n${"x".repeat(65_536)}\r\n`;
    const head = `POST ${order} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;
    const { text } = await rawTalk(port, head + piece.repeat(17));
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("a promise of a huge body is refused before it comes", async () => {
    const { port } = await serverSetting();
    const { text } = await rawTalk(port, `POST ${order} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("a head that is too large is a 431", async () => {
    const { port } = await serverSetting();
    const { text, closed } = await rawTalk(port, `GET /${"x".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, toTheEnd);
    expect(text).toMatch(/^HTTP\/1\.1 431 /);
    expect(closed).toBe(true);
  });

  it("a request that never ends is given up, wherever it stops", async () => {
    const head = await serverSetting({ patience: { headMs: 20 } });
    expect(await rawTalk(head.port, "GET / HTT", toTheEnd)).toEqual({
      text: expect.stringMatching(/^HTTP\/1\.1 408 /),
      closed: true,
    });
    const { port, server } = await serverSetting({ patience: { headMs: 20, requestMs: 40 } });
    for (const bytes of [
      `POST ${order} HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{"instId"`,
      `POST ${order} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"ins`,
    ]) {
      const { text, closed } = await rawTalk(port, bytes, toTheEnd);
      expect(text).toMatch(/^HTTP\/1\.1 408 /);
      expect(closed).toBe(true);
    }
    await until(() => server.counts().connections === 0);
  });

  it("connections are kept, and clients are told for how long", async () => {
    const { port } = await serverSetting({ patience: { idleMs: 7_000 } });
    const two = "GET /api/v1/common/instruments HTTP/1.1\r\nhost: x\r\n\r\n".repeat(2);
    const { text, closed } = await rawTalk(port, two, { answers: 2 });
    expect([text.match(/HTTP\/1\.1 200 /g)?.length, closed]).toEqual([2, false]);
    expect(text).toMatch(/^Keep-Alive: timeout=7\r$/m);
  });
});

describe("Whatever bytes the server reads,", () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom(
      `GET ${pending} HTTP/1.1`,
      `POST ${order} HTTP/1.1`,
      "GET * HTTP/1.1",
      "OPTIONS * HTTP/1.1",
      "CONNECT a:1 HTTP/1.1",
      "GET http://elsewhere/api/v1/common/instruments HTTP/1.1",
      "GET / HTTP/1.0",
      "PRI * HTTP/2.0",
      "host: x",
      "content-length: 3",
      "content-length: -1",
      "content-length: 99999999999999999999",
      "transfer-encoding: chunked",
      "transfer-encoding: gzip, chunked",
      "connection: upgrade",
      "upgrade: websocket",
      "upgrade: h2c",
      "expect: 100-continue",
      "x-api-key: ann-1",
      "x-api-timestamp: 2023-11-14T22:13:20.000Z",
      "\u0000",
      "",
    ),
  );
  const talk = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.array(line, { maxLength: 12 }).map((lines) => Buffer.from(lines.join("\r\n"))),
    fc
      .array(line, { maxLength: 8 })
      .map((lines) => Buffer.from(`${[`GET ${pending} HTTP/1.1`, "host: x", ...lines].join("\r\n")}\r\n\r\n`)),
    fc
      .tuple(fc.array(line, { maxLength: 4 }), fc.string())
      .map(([lines, body]) =>
        Buffer.from(
          `${[`POST ${order} HTTP/1.1`, "host: x", `content-length: ${Buffer.byteLength(body)}`, ...lines].join("\r\n")}\r\n\r\n${body}`,
        ),
      ),
  );

  it("an HTTP answer comes, the socket closes, or more bytes are waited for; and the next one is served", async () => {
    const failures: unknown[] = [];
    const { port, call } = await serverSetting({
      patience: { headMs: 20, requestMs: 20 },
      onError: (error) => failures.push(error),
    });
    await fc.assert(
      fc.asyncProperty(talk, async (bytes) => {
        const { text, closed } = await rawTalk(port, bytes, { quietMs: 3 });
        expect(closed || text === "" || text.startsWith("HTTP/1.1 ")).toBe(true);
      }),
      { numRuns: 400 },
    );
    expect((await call("GET", "/api/v1/common/instruments")).status).toBe(200);
    expect(failures).toEqual([]);
  });

  it("signed bodies of any JSON never break it", async () => {
    const failures: unknown[] = [];
    const { call } = await serverSetting({ onError: (error) => failures.push(error) });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.json(), fc.string()),
        fc.constantFrom("order", "cancel-batch-orders", "close-position"),
        async (body, end) => {
          const heard = await call("POST", `/api/v1/trade/${end}`, { key: keys.ann, body });
          expect(heard.status).toBeLessThan(500);
          expect(heard.body.code).not.toBe("0");
        },
      ),
      { numRuns: 150 },
    );
    expect(failures).toEqual([]);
  });

  it("a failure inside is a 500 with an envelope, and is told", async () => {
    const failures: unknown[] = [];
    const { call, venue } = await serverSetting({ onError: (error) => failures.push(error) });
    venue.onOrder(() => {
      throw new Error("no luck");
    });
    const body = { instId: "BTC-USDT-SWAP", side: "buy", ordType: "limit", px: "50000", sz: "500" };
    const heard = await call("POST", order, { key: keys.ann, body });
    expect([heard.status, heard.body]).toEqual([500, { code: "50003", msg: "The service failed.", data: [] }]);
    expect(failures).toEqual([new Error("no luck")]);
  });
});

describe("Closing the server", () => {
  it("ends every connection, finished or not, and frees the port", async () => {
    const { server, port, open, call } = await serverSetting({
      faults: { http: [{ kind: "silence", endpoint: "pendingOrders" }] },
    });
    const silent = open("GET", pending, { key: keys.ann }).catch((error: NodeJS.ErrnoException) => error.code);
    const half = rawTalk(port, "GET / HTT", toTheEnd);
    await until(() => server.counts().connections === 2 && server.counts().requests === 1);
    await Promise.all([server.close(), server.close()]);
    expect(await silent).toBe("ECONNRESET");
    expect((await half).closed).toBe(true);
    expect(server.counts().connections).toBe(0);
    await expect(call("GET", "/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    const again = await serverSetting({ port });
    expect(again.port).toBe(port);
    await expect(serverSetting({ port })).rejects.toMatchObject({ code: "PORT_UNAVAILABLE" });
  });
});
