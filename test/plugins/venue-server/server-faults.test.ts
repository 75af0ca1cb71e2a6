/** Every kind of fault in HTTP, as a client on the other end of the wire meets it. */
import type { IncomingMessage } from "node:http";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { HttpFaultRule } from "../../../plugins/venue-server/server/fault-plan.ts";
import {
  type Call,
  keys,
  rawTalk,
  type Setting,
  serverSetting,
  signedHeaders,
  silence,
  startAt,
  toTheEnd,
  until,
} from "./harness/server.ts";

const pending = "/api/v1/trade/orders/pending";
const order = "/api/v1/trade/order";

const faulty = (...http: readonly HttpFaultRule[]): Promise<Setting> => serverSetting({ faults: { http } });

/** The error code of a call that gets no whole answer. */
const failureOf = (heard: Promise<unknown>): Promise<string | undefined> =>
  heard.then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );

/** A signed request as bytes. */
const bytesOf = (method: string, path: string, body = ""): string => {
  const lines = Object.entries(signedHeaders(keys.ann, {}, startAt, method, path, "", body)).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [`${method} ${path} HTTP/1.1`, "host: x", `content-length: ${body.length}`, ...lines, "", body].join("\r\n");
};
const placement = JSON.stringify({
  instId: "BTC-USDT-SWAP",
  side: "buy",
  ordType: "limit",
  px: "50000",
  sz: "500",
  clOrdId: "once",
});

const ordersOf = ({ venue }: Setting): number => venue.truth("ann").orders.length;

describe("A fault that loses a request or an answer:", () => {
  it("drop_request: the connection ends and the service has seen nothing", async () => {
    const setting = await faulty({ kind: "drop_request", endpoint: "placeOrder" });
    expect(await failureOf(setting.place())).toBe("ECONNRESET");
    expect([ordersOf(setting), setting.venue.meterReport().requests]).toEqual([0, 0]);
    expect((await setting.get("trade/orders/pending", { key: keys.ann })).status).toBe(200);
  });

  it("drop_response: the connection ends without a byte, and the order is there", async () => {
    const setting = await faulty({ kind: "drop_response", endpoint: "placeOrder" });
    expect(await rawTalk(setting.port, bytesOf("POST", order, placement), toTheEnd)).toEqual({
      text: "",
      closed: true,
    });
    expect([ordersOf(setting), setting.venue.meterReport().requests]).toEqual([1, 1]);
  });

  it("silence: the order is there, the connection stays, nothing ever comes", async () => {
    const setting = await faulty({ kind: "silence", endpoint: "placeOrder" });
    const talk = rawTalk(setting.port, bytesOf("POST", order, placement), silence);
    await until(() => ordersOf(setting) === 1);
    setting.clock.advanceTo(startAt + 3_600_000);
    expect(await talk).toEqual({ text: "", closed: false });
  });

  it("duplicate: the service is asked twice and the second answer is given", async () => {
    const setting = await faulty({ kind: "duplicate", endpoint: "placeOrder", count: 2 });
    const named = await setting.place({ clOrdId: "once" });
    expect(named.body).toMatchObject({ code: "51016", data: [{ clOrdId: "once", sCode: "51016" }] });
    expect(ordersOf(setting)).toBe(1);
    expect((await setting.place()).body.code).toBe("0");
    expect([ordersOf(setting), setting.venue.meterReport().requests]).toEqual([3, 4]);
  });
});

describe("A fault of time:", () => {
  it("delay out: the service acts at once, the answer comes later", async () => {
    const setting = await faulty({ kind: "delay", ms: 700 });
    const heard = setting.place();
    await until(() => ordersOf(setting) === 1);
    setting.clock.advanceTo(startAt + 699);
    let answered = false;
    void heard.then(() => {
      answered = true;
    });
    await setting.call("GET", "/");
    expect(answered).toBe(false);
    setting.clock.advanceTo(startAt + 700);
    expect((await heard).body.code).toBe("0");
  });

  it("delay in: the service sees the request later, even when the client has left", async () => {
    const setting = await faulty({ kind: "delay", ms: [700, 700], leg: "in" });
    expect(await rawTalk(setting.port, bytesOf("POST", order, placement), silence)).toEqual({
      text: "",
      closed: false,
    });
    await until(() => setting.server.counts().requests === 1 && setting.server.counts().connections === 0);
    expect(ordersOf(setting)).toBe(0);
    setting.clock.advanceTo(startAt + 700);
    expect(setting.venue.truth("ann").orders).toMatchObject([{ createdAt: String(startAt + 700) }]);
  });

  it("delay in: a signature may be stale by then", async () => {
    const setting = await faulty({ kind: "delay", ms: 5_001, leg: "in" });
    const heard = setting.place();
    await until(() => setting.clock.pending > 0);
    setting.clock.advanceTo(startAt + 5_001);
    expect((await heard).status).toBe(401);
  });

  it("slow_body: the head comes at once, the body in drops, whole in the end", async () => {
    const setting = await faulty({ kind: "slow_body", ms: 2_000 });
    const response = await setting.open("GET", "/api/v1/common/instruments");
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    const ended = new Promise((resolve) => response.on("end", resolve));
    const size = (): number => Buffer.concat(chunks).length;
    const length = Number(response.headers["content-length"]);
    expect([response.statusCode, size(), length > 200]).toEqual([200, 0, true]);
    setting.clock.advanceTo(startAt + 1_000);
    await until(() => size() >= length / 2 - 20);
    expect(size()).toBeLessThan(length * 0.6);
    setting.clock.advanceTo(startAt + 2_000);
    await ended;
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({ code: "0" });
  });

  it("a client that leaves in the middle of a slow body leaves nothing running", async () => {
    const setting = await faulty({ kind: "slow_body", ms: 2_000 });
    const response = await setting.open("GET", "/api/v1/common/instruments");
    response.destroy();
    await until(() => setting.server.counts().connections === 0);
    setting.clock.advanceTo(startAt + 200);
    expect(setting.clock.pending).toBe(0);
  });
});

describe("A fault of the body:", () => {
  it("html: a page with a 502 from in front of the service, or another status", async () => {
    const setting = await faulty({ kind: "html", count: 1 }, { kind: "html", status: 200, leg: "in" });
    const first = await setting.place();
    expect([first.status, first.headers["content-type"], first.body]).toEqual([502, "text/html", undefined]);
    expect(first.headers).not.toHaveProperty("x-ratelimit-ip-remaining");
    expect(first.text).toContain("<html>");
    expect(ordersOf(setting)).toBe(1);
    expect((await setting.place()).status).toBe(200);
    expect(ordersOf(setting)).toBe(1);
  });

  it("json: what the rule says instead of the service's answer, though the service acted", async () => {
    const setting = await faulty({
      kind: "json",
      endpoint: "placeOrder",
      status: 425,
      body: { code: "425", msg: "Too Early" },
    });
    const { status, body, headers } = await setting.place();
    expect([status, body, headers["x-ratelimit-ip-remaining"]]).toEqual([
      425,
      { code: "425", msg: "Too Early" },
      undefined,
    ]);
    expect(ordersOf(setting)).toBe(1);
  });

  it("truncated: fewer bytes than promised, then the end", async () => {
    const setting = await faulty({ kind: "truncated" });
    const { text, closed } = await rawTalk(setting.port, bytesOf("POST", order, placement), toTheEnd);
    const [head = "", body = ""] = text.split("\r\n\r\n");
    const promised = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect([closed, body.length]).toEqual([true, promised >> 1]);
    expect(body).toMatch(/^\{"code":"0"/);
    expect(await failureOf(setting.place())).toBe("ECONNRESET");
    expect(ordersOf(setting)).toBe(2);
  });

  it("not_json: the right status and type, the wrong text", async () => {
    const setting = await faulty({ kind: "not_json", count: 1 }, { kind: "not_json", status: 503 });
    const heard = await setting.place();
    expect([heard.status, heard.headers["content-type"], heard.body]).toEqual([200, "application/json", undefined]);
    expect(heard.headers["x-ratelimit-uid-weight-used"]).toBe("10");
    expect((await setting.place()).status).toBe(503);
  });

  it("empty_body: nothing, and nothing promised", async () => {
    const setting = await faulty({ kind: "empty_body", leg: "in", status: 500 }, { kind: "empty_body" });
    const heard = await setting.place();
    expect([heard.status, heard.text, heard.headers["content-length"]]).toEqual([500, "", "0"]);
    expect(ordersOf(setting)).toBe(0);
  });

  it("redirect: another address on this machine, not followed by the service", async () => {
    const setting = await faulty(
      { kind: "redirect", count: 1 },
      { kind: "redirect", status: 308, to: "http://127.0.0.1:1/x", leg: "out" },
    );
    const query = "instId=BTC-USDT-SWAP&limit=3";
    const heard = await setting.call("GET", pending, { key: keys.ann, query });
    expect([heard.status, heard.headers.location]).toEqual([
      307,
      `http://localhost:${setting.port}${pending}?${query}`,
    ]);
    expect(setting.venue.meterReport().requests).toBe(0);
    const second = await setting.call("GET", pending, { key: keys.ann });
    expect([second.status, second.headers.location]).toEqual([308, "http://127.0.0.1:1/x"]);
    expect(setting.venue.meterReport().requests).toBe(1);
  });

  const gathered = async (response: IncomingMessage): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  };

  it("gzip_bomb: few bytes that become many, asked for or not", async () => {
    const setting = await faulty({ kind: "gzip_bomb", bytes: 20_000_000 });
    const response = await setting.open("GET", pending, { key: keys.ann, headers: { "accept-encoding": "identity" } });
    expect(response.headers["content-encoding"]).toBe("gzip");
    const packed = await gathered(response);
    expect(packed.length).toBeLessThan(50_000);
    expect(gunzipSync(packed).length).toBe(20_000_000 + '{"code":"0","msg":"","data":[]}'.length);
  });

  it("huge_body: as many bytes as the rule says, and a reader that stops ends it", async () => {
    const setting = await faulty(
      { kind: "huge_body", bytes: 3_000_001, count: 1 },
      { kind: "huge_body", bytes: 1_000_000_000 },
    );
    const body = await gathered(await setting.open("GET", pending, { key: keys.ann }));
    expect(JSON.parse(body.toString())).toEqual({ code: "0", msg: "", data: [] });
    expect(body.length).toBe(3_000_001 + 31);
    const response = await setting.open("GET", pending, { key: keys.ann });
    response.on("data", () => response.destroy());
    await until(() => setting.server.counts().connections === 0);
  });
});

describe("A fault of the records:", () => {
  const record = async (setting: Setting): Promise<Readonly<Record<string, unknown>>> =>
    (await setting.get("trade/orders/pending", { key: keys.ann })).body.data[0] ?? {};
  const listing = (kind: HttpFaultRule["kind"]): HttpFaultRule => ({ kind, endpoint: "pendingOrders" });

  it("wrong_types: one field of each record has another type, not always the same", async () => {
    const setting = await faulty(listing("wrong_types"));
    await setting.place();
    const wrong: string[] = [];
    for (let turn = 0; turn < 12; turn++) {
      const odd = Object.entries(await record(setting)).filter(([, value]) => typeof value !== "string");
      expect(odd).toHaveLength(1);
      wrong.push(odd[0]?.[0] ?? "");
    }
    expect(new Set(wrong).size).toBeGreaterThan(3);
  });

  it("missing_fields: one field of each record is not there", async () => {
    const setting = await faulty(listing("missing_fields"));
    await setting.place();
    const names = Object.keys(setting.venue.truth("ann").orders[0] ?? {});
    for (let turn = 0; turn < 5; turn++) {
      const found = Object.keys(await record(setting));
      expect([found.length, names.filter((name) => !found.includes(name)).length]).toEqual([names.length - 1, 1]);
    }
  });

  it("extra_fields: everything is there, and more", async () => {
    const setting = await faulty(listing("extra_fields"));
    await setting.place();
    const [truth] = setting.venue.truth("ann").orders;
    expect(await record(setting)).toEqual({ ...truth, addedLater: "1", nested: { list: [1, null], text: "" } });
    expect((await setting.get("trade/orders/pending", { key: keys.ann })).body).toHaveProperty("requestId");
  });

  it.each(["wrong_types", "missing_fields", "extra_fields"] as const)("%s leaves a refusal as it is", async (kind) => {
    const setting = await faulty({ kind });
    const heard = await setting.place({ px: "0.05" });
    expect(heard.body).toEqual({
      code: "51006",
      msg: heard.body.msg,
      data: [{ ordId: "", clOrdId: "", sCode: "51006", sMsg: heard.body.msg }],
    });
  });
});

describe("A fault applies", () => {
  const statuses = async (setting: Setting, calls: readonly Call[]): Promise<readonly number[]> => {
    const heard: number[] = [];
    for (const call of calls) heard.push((await setting.get("common/instruments", call)).status);
    return heard;
  };
  const calls = (count: number): readonly Call[] => Array.from({ length: count }, () => ({}));

  it("to its endpoint, or to every request when it names none, unknown paths included", async () => {
    const named = await faulty({ kind: "html", endpoint: "pendingOrders" });
    expect(await statuses(named, calls(1))).toEqual([200]);
    expect((await named.call("GET", pending)).status).toBe(502);
    const all = await faulty({ kind: "html" });
    expect([(await all.call("GET", "/nowhere")).status, (await all.call("GET", "/")).status]).toEqual([502, 200]);
  });

  it("as often as its count says, and within its time", async () => {
    const setting = await faulty({ kind: "html", count: 2, fromMs: 1_000, toMs: 2_000 });
    expect(await statuses(setting, calls(1))).toEqual([200]);
    setting.clock.advanceTo(startAt + 1_000);
    expect(await statuses(setting, calls(3))).toEqual([502, 502, 200]);
    const other = await faulty({ kind: "html", toMs: 1_000 });
    other.clock.advanceTo(startAt + 999);
    expect(await statuses(other, calls(1))).toEqual([502]);
    other.clock.advanceTo(startAt + 1_000);
    expect(await statuses(other, calls(1))).toEqual([200]);
  });

  it("to about its share, the same ones for the same seed", async () => {
    const told = async (seed: number): Promise<readonly number[]> =>
      statuses(await serverSetting({ faults: { seed, http: [{ kind: "html", share: 0.3 }] } }), calls(60));
    const first = await told(7);
    const count = first.filter((status) => status === 502).length;
    expect(count).toBeGreaterThan(8);
    expect(count).toBeLessThan(30);
    expect(await told(7)).toEqual(first);
    expect(await told(8)).not.toEqual(first);
  });
});
