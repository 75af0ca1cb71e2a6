/** A dialect on the wire: calls as the exchange takes them, answers as the described service gives them, several sockets, pings by clock. */
import { createHmac } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Dialect, wholeDialect } from "../../../../src/client/transport/dialect.ts";
import { createCredentials } from "../../../../src/client/transport/secrets.ts";
import { socketUrlOf } from "../../../../src/client/transport/service-address.ts";
import { createSigner } from "../../../../src/client/transport/sign.ts";
import { SocketPool } from "../../../../src/client/transport/socket-pool.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";
import { createRandom } from "../../../../src/random.ts";
import { createNetwork } from "../../../support/harness/fake-sockets.ts";
import { startRawServer } from "../../../support/harness/raw-server.ts";
import { canary, contract, createClient, requestOf } from "../../../support/harness/transport.ts";

const other: Dialect = {
  name: "other",
  signer: (seal) => ({
    headers: ({ method, path, query, body }) => ({
      "other-key": seal.apiKey,
      "other-sign": seal.hmacSha256(`${method} ${path}?${query}#${body}`, "hex"),
    }),
    login: () => ({ apiKey: seal.apiKey }),
  }),
  call: ({ endpoint, query }) => ({
    method: "POST",
    path: `/v9/${endpoint}`,
    query: { a: "1 2" },
    body: { wrapped: query, text: "é" },
  }),
  answer: ({ endpoint }, { status, headers, body }) => {
    const { result } = body as { readonly result?: { readonly list?: unknown } };
    if (result === undefined) throw new Error(`secret words ${endpoint}`);
    return { status: status === 418 ? 429 : status, headers, body: { code: "0", msg: "", data: result.list } };
  },
};

const talk = async (status: string, body: string) => {
  const server = await startRawServer(({ socket }) => {
    socket.write(`HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });
  const signers = new Map([["k1", createSigner(contract.profile, createCredentials(canary), other.signer)]]);
  const client = createClient(server.url, { dialect: wholeDialect(other), signers });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  return { server, client };
};

describe("A call in a dialect", () => {
  it("leaves as the dialect writes it, signed byte for byte, and its answer reads as the described service's", async () => {
    const { server, client } = await talk("200 OK", '{"result":{"list":[{"instId":"BTC-USDT"}]}}');
    expect(await client.send(requestOf("getOrder", { query: { ordId: "7" } }))).toBe(
      '200 {"code":"0","msg":"","data":[{"instId":"BTC-USDT"}]}',
    );
    const [request] = server.requests;
    const body = '{"wrapped":{"ordId":"7"},"text":"é"}';
    expect(request).toMatchObject({ line: "POST /v9/getOrder?a=1%202 HTTP/1.1", body });
    const sign = createHmac("sha256", canary.secretKey).update(`POST /v9/getOrder?a=1%202#${body}`).digest("hex");
    expect(request?.headers).toMatchObject({ "other-key": canary.apiKey, "other-sign": sign });
    expect(JSON.stringify(request?.headers)).not.toContain("x-api-");
  });

  it("that is limited in the exchange's own way is a 429", async () => {
    const { client } = await talk("418 Teapot", '{"result":{"list":[]}}');
    expect(await client.send(requestOf("getOrder"))).toBe('429 {"code":"0","msg":"","data":[]}');
  });

  it("whose answer is of another form has an unknown outcome, and no word of it is repeated", async () => {
    const { client } = await talk("200 OK", '{"code":"0","data":[{"ordId":"1"}]}');
    const ending = await client.send(requestOf("placeOrder"));
    expect(ending).toMatch(
      /^OUTCOME_UNKNOWN placeOrder: the answer of status 200 is not of the exchange's form and was not read after/,
    );
    expect(ending).not.toContain("secret");
  });
});

const poolOf = (dialect: Dialect) => {
  const clock = createVirtualClock(1_000_000);
  const network = createNetwork(() => undefined);
  const anomalies: string[] = [];
  const { websocket } = contract.profile;
  const whole = wholeDialect(dialect);
  const pool = new SocketPool({
    url: (arg) => socketUrlOf("https://api.example.com", undefined, whole.socketPath(arg, contract.profile)),
    open: network.open,
    clock,
    random: createRandom("sockets"),
    websocket,
    dialect: whole,
    leave: () => undefined,
    onAnomaly: (what, detail) => anomalies.push(`${what}: ${detail}`),
  });
  return { clock, network, pool, anomalies };
};

describe("Sockets of a dialect", () => {
  const listener = { message: () => undefined, state: () => undefined };

  it("are one for each address that offers a channel", () => {
    const { network, pool } = poolOf({
      name: "two",
      socketPath: ({ channel }) => (channel === "candle1m" ? "/business" : "/public"),
    });
    for (const channel of ["trades", "candle1m", "books"]) pool.subscribe({ channel, instId: "BTC-USDT" }, listener);
    pool.start();
    expect(network.sockets.map(({ url }) => url)).toEqual([
      "wss://api.example.com/public",
      "wss://api.example.com/business",
    ]);
  });

  it("speak and hear its words, several messages in one text, and report what cannot be read", () => {
    const pushes: unknown[] = [];
    const { network, pool, anomalies } = poolOf({
      name: "terse",
      say: ({ op, ...rest }) =>
        "args" in rest ? rest.args.map((arg) => `${op} ${(arg as { channel: string }).channel}`) : [op],
      hear: (text) => {
        if (text === "broken") throw new Error("no");
        return text.split("|").map((word, index) => {
          const arg = { channel: "trades", instId: "BTC-USDT" };
          if (word === "ok") return { kind: "subscribed", arg };
          return { kind: "push", push: { arg, data: [word], action: undefined, seqId: index, prevSeqId: index - 1 } };
        });
      },
    });
    pool.subscribe(
      { channel: "trades", instId: "BTC-USDT" },
      { ...listener, message: ({ data }) => pushes.push(...data) },
    );
    pool.start();
    const [socket] = network.sockets;
    socket?.open();
    expect(socket?.sent).toEqual(["subscribe trades"]);
    socket?.say("ok");
    socket?.say("one|two");
    socket?.say("broken");
    expect(pushes).toEqual(["one", "two"]);
    expect(anomalies).toEqual(["message.malformed: not of the exchange's form: broken"]);
  });

  it("ask again for what the service ended by itself, and say so", () => {
    const { network, pool, anomalies } = poolOf({ name: "described" });
    const states: string[] = [];
    pool.subscribe(
      { channel: "trades", instId: "BTC-USDT" },
      { message: () => undefined, state: (state) => states.push(state) },
    );
    pool.start();
    const [socket] = network.sockets;
    const tell = (event: string) =>
      socket?.say(JSON.stringify({ event, arg: { channel: "trades", instId: "BTC-USDT" } }));
    socket?.open();
    tell("subscribe");
    tell("unsubscribe");
    // The answer to our own request, and then to the one after it.
    tell("unsubscribe");
    tell("subscribe");
    expect(states).toEqual(["live", "waiting", "live"]);
    expect(anomalies).toEqual(["channel.repaired: trades BTC-USDT: the service ended the subscription"]);
  });

  it("ping by the clock where the exchange wants it, however much is heard", () => {
    const { clock, network, pool } = poolOf({
      name: "clocked",
      sockets: { connectionsPerIp: 1, subscriptionsPerConnection: 9, pingEveryMs: 10_000 },
    });
    pool.subscribe({ channel: "trades", instId: "BTC-USDT" }, listener);
    pool.start();
    const [socket] = network.sockets;
    socket?.open();
    for (let second = 0; second < 45; second++) {
      clock.advanceTo(clock.now() + 1_000);
      socket?.say("pong");
    }
    expect(socket?.sent.filter((text) => text === "ping")).toHaveLength(4);
  });
});
