/**
 * The transport with a socket: what it sends, what it keeps, how it ends. What a server can do to it is in misbehaving.test.ts.
 */
import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { readBaseUrl } from "../../../../src/client/transport/service-address.ts";
import { createServiceTime } from "../../../../src/client/transport/service-time.ts";
import { readTimestamp } from "../../../../src/contract/signing.ts";
import { type Answer, httpText, type RawServer, startRawServer } from "../../../support/harness/raw-server.ts";
import {
  type Client,
  canary,
  contract,
  createClient,
  type HttpOptions,
  moment,
  requestOf,
  startedAt,
  swap,
  until,
} from "../../../support/harness/transport.ts";
import { responsesOf } from "../../../support/transports.ts";
import { goodBody } from "./wire-faults.ts";

const open: { server?: RawServer; client?: Client; nets: Server[] } = { nets: [] };

afterEach(async () => {
  await open.client?.close();
  await open.server?.close();
  for (const net of open.nets) net.close();
  delete open.client;
  delete open.server;
  open.nets = [];
});

const good = httpText(200, goodBody);
const facing = async (
  answer: Answer,
  part: Partial<HttpOptions> = {},
): Promise<{ client: Client; server: RawServer }> => {
  const server = await startRawServer(answer);
  const client = createClient(server.url, part);
  Object.assign(open, { server, client });
  return { client, server };
};
const answering: Answer = ({ socket }) => {
  socket.write(good);
};
const ok = `200 ${goodBody}`;

describe("A sent HTTP request", () => {
  it("is signed over the bytes that travel", async () => {
    const { client, server } = await facing(answering);
    await client.send(requestOf("placeOrder", { body: { instId: swap, clOrdId: "ünïcode 😀 \ud800" } }));
    const [request] = server.requests;
    const timestamp = request?.headers["x-api-timestamp"] ?? "";
    const digest = createHmac("sha256", canary.secretKey)
      .update(`${timestamp}POST/api/v1/trade/order${request?.body}`)
      .digest("base64");
    expect(request?.line).toBe("POST /api/v1/trade/order HTTP/1.1");
    expect(request?.headers).toMatchObject({
      "x-api-key": canary.apiKey,
      "x-api-passphrase": canary.passphrase,
      "x-api-sign": digest,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(request?.body ?? "")),
      "accept-encoding": "identity",
    });
    expect(readTimestamp(contract.profile, timestamp)).toBe(startedAt);
    expect(JSON.parse(request?.body ?? "")).toEqual({ instId: swap, clOrdId: "ünïcode 😀 \ud800" });
  });

  it("writes a query once, encoded, and no body", async () => {
    const { client, server } = await facing(answering);
    await client.send(requestOf("getOrder", { query: { clOrdId: "a b&c=d/ü", instId: swap } }));
    expect(server.requests[0]?.line).toBe(
      `GET /api/v1/trade/order?clOrdId=a%20b%26c%3Dd%2F%C3%BC&instId=${swap} HTTP/1.1`,
    );
    expect(server.requests[0]?.headers["content-length"]).toBeUndefined();
  });

  it("carries no credentials without a key", async () => {
    const { client, server } = await facing(answering);
    expect(await client.send(requestOf("instruments", { key: undefined }))).toBe(ok);
    expect(Object.keys(server.requests[0]?.headers ?? {}).filter((name) => name.startsWith("x-api"))).toEqual([]);
  });

  it("is nothing when there are no credentials of that name", async () => {
    const { client, server } = await facing(answering);
    expect(await client.send(requestOf("positions", { key: "k9" }))).toBe(
      'CONFIG_INVALID positions: there are no credentials for the key named "k9"; nothing was sent.',
    );
    expect(server.requests).toEqual([]);
  });

  it("is nothing when a header could be split", async () => {
    const signer = {
      headers: () => ({ "x-api-sign": `${canary.secretKey}\r\nx-evil: 1` }),
      login: () => ({}) as never,
    };
    const { client, server } = await facing(answering, { signers: new Map([["k1", signer]]) });
    const told = await client.send(requestOf("positions"));
    expect(told).toBe(
      "CONFIG_INVALID positions: the request cannot be written (UND_ERR_INVALID_ARG); nothing was sent.",
    );
    await moment();
    expect(server.requests).toEqual([]);
  });
});

describe("The kept response headers", () => {
  it("is what somebody reads, in lower case", async () => {
    const { client } = await facing(
      ({ socket }) => {
        const headers = {
          Date: "Fri, 02 Jan 2026 03:04:05 GMT",
          "X-RATELIMIT-IP-REMAINING": "1199",
          "X-RateLimit-Key-Remaining": "9",
          "X-RATELIMIT-UID-WEIGHT-USED": "5",
          "Retry-After": "3",
          Sunset: "never",
          Deprecation: "true",
          "Content-Type": "application/json",
          "Set-Cookie": "a=b",
          Server: "x",
          "X-Used-Weight": "7",
        };
        socket.write(httpText(200, goodBody, headers));
      },
      { headers: ["x-used-weight"] },
    );
    const heard: unknown[] = [];
    responsesOf(client.transport, requestOf("positions")).subscribe(({ headers }) => heard.push(headers));
    await until(() => heard.length > 0);
    expect(heard).toEqual([
      {
        date: "Fri, 02 Jan 2026 03:04:05 GMT",
        "x-ratelimit-ip-remaining": "1199",
        "x-ratelimit-key-remaining": "9",
        "x-ratelimit-uid-weight-used": "5",
        "retry-after": "3",
        sunset: "never",
        deprecation: "true",
        "x-used-weight": "7",
      },
    ]);
  });

  it("teaches the calendar of the service, whatever the status", async () => {
    const date = new Date(startedAt + 3_600_000).toUTCString();
    const { client, server } = await facing(({ socket }) => {
      socket.write(httpText(401, '{"code":"50004"}', { date }));
    });
    await client.send(requestOf("positions"));
    await client.send(requestOf("positions"));
    const told = server.requests.map(
      ({ headers }) => readTimestamp(contract.profile, headers["x-api-timestamp"] ?? "") ?? 0,
    );
    expect(Math.abs((told[0] ?? 0) - startedAt)).toBe(0);
    expect(Math.abs((told[1] ?? 0) - startedAt - 3_600_000)).toBeLessThanOrEqual(1_000);
  });
});

describe("A redirect", () => {
  it.each([301, 302, 303, 307, 308])("%i is an answer without a body, and nobody is asked there", async (status) => {
    let strangers = 0;
    const elsewhere = await startRawServer(answering, () => strangers++);
    const { client, server } = await facing(({ socket }) => {
      socket.write(httpText(status, goodBody, { location: `${elsewhere.url}/api/v1/trade/order` }));
    });
    expect(await client.send(requestOf("placeOrder"))).toBe(`${status} no body`);
    await moment();
    await elsewhere.close();
    expect([strangers, server.requests.length]).toEqual([0, 1]);
  });
});

describe("A base URL", () => {
  it.each([
    ["https://api.example.com", { secure: true, hostname: "api.example.com", port: 443 }],
    ["https://api.example.com/", { secure: true, hostname: "api.example.com", port: 443 }],
    ["https://api.example.com:8443", { secure: true, hostname: "api.example.com", port: 8443 }],
    ["http://127.0.0.1:80", { secure: false, hostname: "127.0.0.1", port: 80 }],
    ["http://localhost:5000", { secure: false, hostname: "localhost", port: 5_000 }],
    ["http://[::1]:5000", { secure: false, hostname: "::1", port: 5_000 }],
  ])("%s is taken", (text, origin) => {
    expect(readBaseUrl(text)).toEqual(origin);
  });

  it.each([
    ["{base_url}", /is not a URL/],
    ["api.example.com", /is not a URL/],
    ["ftp://api.example.com", /begins with ftp:/],
    ["https://api.example.com/api/v1", /followed by a path/],
    ["https://api.example.com/?a=b", /followed by a path or a query/],
    ["https://api.example.com?", /followed by a path or a query/],
    ["https://api.example.com#top", /followed by a path or a query/],
    [`https://me:${canary.secretKey.replace(/\W/g, "")}@api.example.com`, /user name or a password/],
    ["http://api.example.com", /not encrypted/],
    ["http://127.0.0.1.example.com", /not encrypted/],
    ["http://localhost.example.com", /not encrypted/],
  ])("%s is refused", (text, message) => {
    expect(() => readBaseUrl(text)).toThrow(message);
    expect(() => readBaseUrl(text)).not.toThrow(/CANARY/);
  });

  it("may be plain http elsewhere only where that is asked for", () => {
    expect(readBaseUrl("http://10.0.0.5:80", true).hostname).toBe("10.0.0.5");
  });
});

describe("A header prefix", () => {
  it("that no header can carry is refused before anything is sent", () => {
    const profile = { ...contract.profile, auth: { ...contract.profile.auth, headerPrefix: "X API: " } };
    expect(() => createClient("http://127.0.0.1:1", { profile })).toThrow(/profile.auth.headerPrefix/);
  });
});

describe("A transport error", () => {
  it("holds no credential and no query, in no encoding, however it is printed", async () => {
    const net = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nsecret"));
    open.nets.push(net);
    await new Promise<void>((resolve) => net.listen(0, "127.0.0.1", resolve));
    const address = net.address() as { port: number };
    const client = createClient(`http://127.0.0.1:${address.port}`);
    open.client = client;
    const heard: unknown[] = [];
    responsesOf(client.transport, requestOf("getOrder", { query: { clOrdId: "asked" } })).subscribe({
      error: (error: unknown) => heard.push(error),
    });
    await until(() => heard.length > 0);
    const text =
      inspect(heard, { depth: 9, showHidden: true }) +
      JSON.stringify(heard) +
      String(heard) +
      String((heard[0] as Error).stack);
    expect(text).not.toMatch(/CANARY|asked|x-api|secret/i);
    expect(text).toContain("OUTCOME_UNKNOWN");
  });

  it("tells how the calendar is used: a time learned elsewhere is used here", async () => {
    const clock = createClient("http://127.0.0.1:1").clock;
    const time = createServiceTime(clock);
    time.observe(new Date(startedAt + 60_000).toUTCString(), clock.now(), clock.now());
    const { client, server } = await facing(answering, { time });
    await client.send(requestOf("positions"));
    const told = readTimestamp(contract.profile, server.requests[0]?.headers["x-api-timestamp"] ?? "") ?? 0;
    expect(Math.abs(told - startedAt - 60_000)).toBeLessThanOrEqual(1_000);
  });
});
