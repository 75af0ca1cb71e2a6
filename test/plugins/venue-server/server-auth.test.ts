/** Who may come in over the wire, and how those are answered who may not. */
import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Keyring } from "../../../plugins/venue-server/server/keyring.ts";
import { describedService } from "../../../plugins/venue-server/server/served-dialect.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { type Call, keys, type Setting, type Style, serverSetting, signatureOf, startAt } from "./harness/server.ts";

const order = "/api/v1/trade/order";
const pending = "/api/v1/trade/orders/pending";

describe("A signature that is right", () => {
  const ms = (at: number): string => String(at);
  const s = (at: number): string => String(Math.floor(at / 1_000));
  const withQuery: Style["text"] = ({ timestamp, method, path, query, body }) =>
    `${timestamp}${method}${path}${query === "" ? "" : `?${query}`}${body}`;
  const variants: readonly (readonly [string, NonNullable<ProfileOverrides["auth"]>, Style])[] = [
    ["as assumed", {}, {}],
    ["with milliseconds", { timestamp: "ms" }, { timestamp: ms }],
    ["with seconds", { timestamp: "s" }, { timestamp: s }],
    ["in hex", { digest: "hex" }, { digest: "hex" }],
    ["in hex, then base64", { digest: "hex_base64" }, { digest: "hex_base64" }],
    ["with the query signed", { prehash: ["timestamp", "method", "path", "query", "body"] }, { text: withQuery }],
    [
      "with another order of parts",
      { prehash: ["path", "method", "timestamp", "body"] },
      { text: ({ timestamp, method, path, body }) => `${path}${method}${timestamp}${body}` },
    ],
    ["under other names", { headerPrefix: "Other-Access-" }, { prefix: "Other-Access-" }],
    [
      "all at once",
      {
        headerPrefix: "ACCESS-",
        timestamp: "ms",
        digest: "hex_base64",
        prehash: ["path", "query", "method", "timestamp", "body"],
      },
      {
        prefix: "ACCESS-",
        timestamp: ms,
        digest: "hex_base64",
        text: ({ timestamp, method, path, query, body }) =>
          `${path}${query === "" ? "" : `?${query}`}${method}${timestamp}${body}`,
      },
    ],
  ];
  it.each(variants)("%s is let in, and one as assumed is not unless that is the profile", async (name, auth, style) => {
    const { call, place } = await serverSetting({ profile: { auth } });
    const query = "instId=BTC-USDT-SWAP&limit=5";
    expect(await call("GET", pending, { key: keys.ann, query, style })).toMatchObject({
      status: 200,
      body: { code: "0" },
    });
    expect(await place({}, { style })).toMatchObject({ status: 200, body: { code: "0" } });
    expect((await call("GET", pending, { key: keys.ann, query })).status).toBe(name === "as assumed" ? 200 : 401);
  });

  it("covers the bytes of the body as they came, however they are spaced", async () => {
    const { call } = await serverSetting();
    const body = '{ "instId":"BTC-USDT-SWAP","side":"buy", "ordType":"limit","px":"50000","sz":"500" }\n';
    expect(await call("POST", order, { key: keys.ann, body })).toMatchObject({ status: 200, body: { code: "0" } });
  });

  it("covers the query as it came, escapes and all, where the profile signs it", async () => {
    const { call } = await serverSetting({
      profile: { auth: { prehash: ["timestamp", "method", "path", "query", "body"] } },
    });
    const style: Style = {
      text: ({ timestamp, method, path, query, body }) => `${timestamp}${method}${path}?${query}${body}`,
    };
    const query = "inst%49d=BTC%2dUSDT-SWAP";
    expect((await call("GET", pending, { key: keys.ann, query, style })).status).toBe(200);
    const decoded = {
      ...style,
      text: ({ timestamp, method, path }: { timestamp: string; method: string; path: string }) =>
        `${timestamp}${method}${path}?instId=BTC-USDT-SWAP`,
    };
    expect((await call("GET", pending, { key: keys.ann, query, style: decoded })).status).toBe(401);
  });
});

describe("A signature that is wrong", () => {
  const tampered = (change: Partial<typeof keys.ann>): Call => ({ key: { ...keys.ann, ...change } });
  const failures: readonly (readonly [string, Call, RegExp])[] = [
    ["none at all", {}, /missing/],
    ["an unknown key", tampered({ apiKey: "nobody" }), /key is unknown/],
    ["another key's name", tampered({ apiKey: keys.bob.apiKey, passphrase: keys.bob.passphrase }), /signature/],
    ["a wrong secret", tampered({ secretKey: "guess" }), /signature/],
    ["a wrong passphrase", tampered({ passphrase: "guess" }), /passphrase/],
    ["a passphrase that only begins right", tampered({ passphrase: keys.ann.passphrase.slice(0, -1) }), /passphrase/],
    ["a stale timestamp", { key: keys.ann, at: startAt - 5_001 }, /timestamp/],
    ["a timestamp of the future", { key: keys.ann, at: startAt + 5_001 }, /timestamp/],
    ["a timestamp of another form", { key: keys.ann, style: { timestamp: String } }, /timestamp/],
    ["no timestamp", { key: keys.ann, headers: { "X-API-Timestamp": "" } }, /timestamp/],
    ["no key, but the rest", { key: keys.ann, headers: { "X-API-Key": "" } }, /key is unknown/],
    ["no signature, but the rest", { key: keys.ann, headers: { "X-API-Sign": "" } }, /signature/],
    [
      "a signature of another method",
      { key: keys.ann, style: { text: (p) => `${p.timestamp}POST${p.path}${p.body}` } },
      /signature/,
    ],
    [
      "a signature of another path",
      { key: keys.ann, style: { text: (p) => `${p.timestamp}${p.method}${p.path}/` } },
      /signature/,
    ],
    [
      "a signature of another body",
      { key: keys.ann, style: { text: (p) => `${p.timestamp}${p.method}${p.path}{}` } },
      /signature/,
    ],
    ["a digest of another form", { key: keys.ann, style: { digest: "hex" } }, /signature/],
  ];
  it.each(failures)("%s is a 401 with the profile's envelope", async (_, call, msg) => {
    const { get, venue } = await serverSetting();
    const heard = await get("trade/orders/pending", call);
    expect(heard.status).toBe(401);
    expect(heard.headers["content-type"]).toBe("application/json");
    expect(heard.body).toEqual({ code: "50004", msg: expect.stringMatching(msg), data: [] });
    expect(venue.meterReport()).toMatchObject({ requests: 1, weight: 0, peak: { ip: 1, key: 0, uid: 0 } });
  });

  it("is told in the profile's status, code and shape", async () => {
    const { get } = await serverSetting({
      profile: { answers: { authStatus: 400, authCode: "152401", dataOnError: "absent" } },
    });
    const { status, body } = await get("trade/orders/pending", { key: { ...keys.ann, secretKey: "guess" } });
    expect([status, body]).toEqual([400, { code: "152401", msg: "The signature does not match the request." }]);
  });

  it("is refused on a public endpoint too, where none is needed", async () => {
    const { get } = await serverSetting();
    expect((await get("common/instruments")).status).toBe(200);
    expect((await get("common/instruments", { key: { ...keys.ann, secretKey: "guess" } })).status).toBe(401);
  });

  it.each(["X-API-Sign", "X-API-Timestamp", "X-API-Passphrase"])("is one of which %s alone is there", async (name) => {
    const { get } = await serverSetting();
    expect((await get("common/instruments", { headers: { [name]: "x" } })).body.msg).toBe("The API key is unknown.");
  });

  it("of an order places nothing", async () => {
    const { place, venue } = await serverSetting();
    expect((await place({}, { key: { ...keys.ann, secretKey: "guess" } })).status).toBe(401);
    expect(venue.truth("ann").orders).toEqual([]);
  });

  it("holds on the edge of the tolerance, on both sides", async () => {
    const { get } = await serverSetting({ profile: { auth: { toleranceMs: 700 } } });
    const statuses = await Promise.all(
      [-701, -700, 700, 701].map(
        async (off) => (await get("trade/orders/pending", { key: keys.ann, at: startAt + off })).status,
      ),
    );
    expect(statuses).toEqual([401, 200, 200, 401]);
  });
});

describe("Permissions of a key:", () => {
  const asked: readonly (readonly [
    string,
    (setting: Setting) => Promise<{ status: number; body: { code: string; msg: string } }>,
    string,
  ])[] = [
    ["placing a contract order", ({ place }) => place({}, { key: keys.reader }), "trade_futures"],
    ["placing a spot order", ({ place }) => place({ instId: "BTC-USDT" }, { key: keys.reader }), "trade_spot"],
    [
      "cancelling",
      ({ post }) => post("trade/cancel-batch-orders", [{ instId: "BTC-USDT-SWAP", ordId: "1" }], { key: keys.reader }),
      "trade_futures",
    ],
    [
      "setting leverage",
      ({ post }) => post("account/set-leverage", { instId: "BTC-USDT-SWAP", lever: "3" }, { key: keys.reader }),
      "trade_futures",
    ],
  ];
  it.each(asked)("a key that may only read is refused %s", async (_, ask, permission) => {
    const heard = await ask(await serverSetting());
    expect([heard.status, heard.body.code]).toEqual([403, "50001"]);
    expect(heard.body.msg).toContain(permission);
  });

  it("and may read", async () => {
    const { get, place } = await serverSetting();
    const placed = await place();
    const heard = await get("trade/order", {
      key: keys.reader,
      query: `ordId=${String(placed.body.data[0]?.["ordId"])}`,
    });
    expect(heard.body.data).toMatchObject([{ state: "live", px: "50000" }]);
  });

  it("users see their own orders only", async () => {
    const { get, place } = await serverSetting();
    await place();
    expect((await get("trade/orders/pending", { key: keys.ann2 })).body.data).toHaveLength(1);
    expect((await get("trade/orders/pending", { key: keys.bob })).body.data).toEqual([]);
  });
});

describe("The keyring", () => {
  const profile = { auth: { toleranceMs: 5_000, timestamp: "iso", digest: "base64" } } as const;

  it("checks a login as a GET of its path", async () => {
    const { contract, venue } = await serverSetting();
    const { hear } = describedService.speak({ contract, listing: venue.listing });
    const keyring = new Keyring(contract.profile, [keys.ann]);
    const login = (arg: object, at: number) => {
      const said = hear(JSON.stringify({ op: "login", args: [arg] }));
      return said.op === "login" ? keyring.check(said.claim, at) : said;
    };
    const timestamp = new Date(startAt).toISOString();
    const parts = { timestamp, method: "GET", path: "/users/ws/auth", query: "", body: "" };
    const arg = { apiKey: "ann-1", passphrase: keys.ann.passphrase, timestamp, sign: signatureOf(keys.ann, {}, parts) };
    expect(login(arg, startAt)).toEqual({ ok: true, key: keys.ann });
    expect(login({ ...arg, passphrase: "" }, startAt)).toEqual({ ok: false, problem: "passphrase" });
    expect(login(arg, startAt + 5_001)).toEqual({ ok: false, problem: "timestamp" });
    const otherwise = createHmac("sha256", keys.ann.secretKey).update(`${timestamp}GET/`).digest("base64");
    expect(login({ ...arg, sign: otherwise }, startAt)).toEqual({ ok: false, problem: "signature" });
  });

  it.each([
    ["a key twice", [keys.ann, keys.ann], /ann-1 is listed twice/],
    ["an empty passphrase", [{ ...keys.ann, passphrase: "" }], /empty passphrase/],
    ["an empty secret", [{ ...keys.ann, secretKey: "" }], /empty secretKey/],
  ])("refuses %s", async (_, given, message) => {
    const { contract } = await serverSetting({ profile });
    expect(() => new Keyring(contract.profile, given)).toThrow(message);
  });
});
