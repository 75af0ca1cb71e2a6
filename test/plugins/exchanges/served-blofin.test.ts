/** BloFin v1 as its published documentation describes it, asked of the embedded service over HTTP. */
import { describe, expect, it } from "vitest";
import { keys, startAt } from "../venue-server/harness/server.ts";
import { servedSetting } from "./harness/served.ts";

const bid = {
  instId: "BTC-USDT",
  marginMode: "cross",
  positionSide: "net",
  side: "buy",
  orderType: "limit",
  price: "50000",
  size: "0.5",
};
const order = "/api/v1/trade/order";
const positions = "/api/v1/account/positions";

describe("Signatures of BloFin", () => {
  // Made with another implementation of HMAC, of the text the documentation names.
  const read = "ZjE0N2ZkMDk1MjdmOGU5ODE4NGFlYjg3Mzg2OWQzZWQwYzllYTAzYTQzOWZlZWRjMDAxM2FhZTE2N2NmZjc1Ng==";
  const write = "NWYwM2QzYTA4NTc5MTNmYTk2MTdlMGJhMTgxMWM1ZWYwNWMyMjdiMTU1MGIxYjI5YmM4YWU2N2IzOWIyNDljZA==";
  const headers = (sign: string, nonce: string, more: object = {}) => ({
    "ACCESS-KEY": "ann-1",
    "ACCESS-PASSPHRASE": "ann-1 phrase",
    "ACCESS-TIMESTAMP": String(startAt),
    "ACCESS-NONCE": nonce,
    "ACCESS-SIGN": sign,
    ...more,
  });

  it("cover path with query, method, time, nonce and body, and a nonce serves once a minute", async () => {
    const { call } = await servedSetting("blofin");
    const get = () => call("GET", positions, { query: "instId=BTC-USDT", headers: headers(read, "n-1") });
    expect((await get()).body).toEqual({ code: "0", msg: "success", data: [] });
    expect(await get()).toMatchObject({ status: 200, body: { code: "152407" } });
    const placed = await call("POST", order, { body: JSON.stringify(bid), headers: headers(write, "n-2") });
    expect(placed.body.data).toMatchObject([{ code: "0" }]);
  });

  it.each([
    ["an unknown key", { "ACCESS-KEY": "nobody" }, "152401"],
    ["a wrong passphrase", { "ACCESS-PASSPHRASE": "guess" }, "152408"],
    ["a wrong signature", { "ACCESS-SIGN": "guess" }, "152409"],
    ["another nonce than the signed one", { "ACCESS-NONCE": "n-9" }, "152409"],
    ["a time a minute ago", { "ACCESS-TIMESTAMP": String(startAt - 60_001) }, "152405"],
  ])("are refused with a code and status 200 for %s", async (_, wrong, code) => {
    const { call } = await servedSetting("blofin");
    const { status, body } = await call("GET", positions, {
      query: "instId=BTC-USDT",
      headers: headers(read, "n-1", wrong),
    });
    expect([status, body.code, body.data]).toEqual([200, code, undefined]);
  });

  it("are needed for what is private, and permission for what is asked", async () => {
    const { call, post } = await servedSetting("blofin");
    expect(await call("GET", positions)).toMatchObject({ status: 200, body: { code: "152401" } });
    expect(await post(order, bid, { key: keys.reader })).toMatchObject({ status: 200, body: { code: "152404" } });
  });
});

describe("Products of BloFin", () => {
  it("are swaps by the name of their pair, in contracts", async () => {
    const { call } = await servedSetting("blofin");
    const { body } = await call("GET", "/api/v1/market/instruments");
    expect(body.data).toMatchObject([
      {
        instId: "BTC-USDT",
        contractValue: "0.01",
        lotSize: "0.1",
        minSize: "0.1",
        tickSize: "0.1",
        maxLeverage: "50",
        instType: "SWAP",
      },
      {
        instId: "ETH-USDT",
        contractValue: "0.1",
        lotSize: "0.1",
        baseCurrency: "ETH",
        settleCurrency: "USDT",
        state: "live",
      },
    ]);
    expect((await call("GET", "/api/v1/market/instruments", { query: "instId=ETH-USDT" })).body.data).toHaveLength(1);
  });
});

describe("Orders of BloFin", () => {
  it("are shown with eighteen places, and one order as an object", async () => {
    const { post, get } = await servedSetting("blofin");
    const { body } = await post(order, { ...bid, clientOrderId: "mine" });
    const orderId = String(body.data[0]?.["orderId"]);
    expect(body).toEqual({ code: "0", msg: "", data: [{ orderId, clientOrderId: "mine", msg: "", code: "0" }] });
    const shown = {
      orderId,
      clientOrderId: "mine",
      instId: "BTC-USDT",
      price: "50000.000000000000000000",
      size: "0.500000000000000000",
      state: "live",
      filledSize: "0.000000000000000000",
      averagePrice: "0.000000000000000000",
      createTime: String(startAt),
      tpTriggerPrice: null,
    };
    expect((await get("/api/v1/trade/order-detail", `instId=BTC-USDT&orderId=${orderId}`)).body.data).toMatchObject(
      shown,
    );
    expect((await get("/api/v1/trade/orders-pending")).body.data).toMatchObject([shown]);
    expect((await get("/api/v1/trade/orders-pending", "instId=ETH-USDT")).body.data).toEqual([]);
    expect((await get("/api/v1/trade/order-detail", `instId=ETH-USDT&orderId=${orderId}`)).body.data).toBeNull();
  });

  it("move money as contracts are worth: price, fee and position to the last digit", async () => {
    const { post, get, venue } = await servedSetting("blofin");
    await post(order, { ...bid, orderType: "market", side: "sell", size: "2.5" });
    // 2.5 contracts are 0.025 BTC at 60000, and a taker pays 5 basis points; a cost is positive.
    const [filled] = (await get("/api/v1/trade/orders-history")).body.data;
    expect(filled).toMatchObject({
      state: "filled",
      filledSize: "2.500000000000000000",
      filled_amount: "0.025000000000000000",
      averagePrice: "60000.000000000000000000",
      fee: "0.750000000000000000",
      price: "0.000000000000000000",
    });
    const [position] = (await get(positions)).body.data;
    expect(position).toMatchObject({
      instId: "BTC-USDT",
      positions: "-2.5",
      averagePrice: "60000",
      leverage: "10",
      initialMargin: "150",
    });
    const [{ balance } = { balance: "" }] = venue.truth("ann").balances.filter(({ currency }) => currency === "USDT");
    expect(balance).toBe("99999.25");
    const { data } = (await get("/api/v1/account/balance")).body as unknown as {
      data: { details: object[]; ts: string };
    };
    expect(data.ts).toBe(String(startAt));
    expect(data.details).toContainEqual(expect.objectContaining({ currency: "USDT", balance }));
    const futures = await get("/api/v1/asset/balances", "accountType=futures&currency=USDT");
    expect(futures.body.data).toMatchObject([{ currency: "USDT", balance, bonus: "0" }]);
    const close = { instId: "BTC-USDT", marginMode: "cross", positionSide: "net" };
    expect((await post("/api/v1/trade/close-position", close)).body).toMatchObject({
      code: "0",
      data: { instId: "BTC-USDT" },
    });
    expect((await post("/api/v1/trade/close-position", close)).body).toMatchObject({ code: "102005" });
  });

  it.each([
    ["an unknown product", { instId: "FOO-USDT" }, "152014"],
    ["too little money", { size: "900000" }, "103003"],
    ["a size between lots", { size: "0.55" }, "152005"],
    ["a price between ticks", { price: "50000.05" }, "102064"],
    ["nothing to reduce", { reduceOnly: "true" }, "102022"],
  ])("with %s are refused in their element", async (_, wrong, code) => {
    const { post } = await servedSetting("blofin");
    const { status, body } = await post(order, { ...bid, clientOrderId: "mine", ...wrong });
    expect([status, body.code]).toEqual([200, "0"]);
    expect(body.data).toMatchObject([{ orderId: null, clientOrderId: "mine", code }]);
  });

  it.each([
    ["no price", { price: undefined }, "152001"],
    ["no margin mode", { marginMode: "" }, "152001"],
    ["a side of the position", { positionSide: "long" }, "102089"],
  ])("with %s are refused as a whole", async (_, wrong, code) => {
    const { post } = await servedSetting("blofin");
    expect(await post(order, { ...bid, ...wrong })).toMatchObject({ status: 200, body: { code } });
  });
});

describe("Cancels of BloFin", () => {
  const many = "/api/v1/trade/cancel-batch-orders";
  const one = "/api/v1/trade/cancel-order";

  it("answer each element, without a code where it was canceled", async () => {
    const { post } = await servedSetting("blofin");
    const placed = [await post(order, { ...bid, clientOrderId: "a" }), await post(order, bid)];
    const [first, second] = placed.map(({ body }) => String(body.data[0]?.["orderId"]));
    const elements = [first, "77", second].map((orderId) => ({ instId: "BTC-USDT", orderId, clientOrderId: "" }));
    const { body } = await post(many, elements);
    expect(body).toEqual({
      code: "0",
      msg: "success",
      data: [
        { orderId: first, clientOrderId: "a" },
        { orderId: "77", clientOrderId: null, code: "1000", msg: expect.stringContaining("Cancel failed") as string },
        { orderId: second, clientOrderId: null },
      ],
    });
    expect((await post(many, elements)).body).toMatchObject({
      code: "1",
      data: [{ code: "1000" }, { code: "1000" }, { code: "1000" }],
    });
  });

  it("need no product, one kind of id, and at most twenty elements", async () => {
    const { post } = await servedSetting("blofin");
    const { body } = await post(order, bid);
    const orderId = String(body.data[0]?.["orderId"]);
    expect((await post(one, { orderId })).body).toEqual({
      code: "0",
      msg: "success",
      data: { orderId, clientOrderId: null, code: "0", msg: null },
    });
    expect((await post(one, { orderId })).body).toMatchObject({ code: "102068", data: null });
    expect((await post(one, {})).body).toMatchObject({ code: "152003" });
    expect((await post(many, [{ orderId }, { clientOrderId: "a" }])).body).toMatchObject({ code: "152008" });
    expect(
      (
        await post(
          many,
          Array.from({ length: 21 }, () => ({ orderId })),
        )
      ).body,
    ).toMatchObject({ code: "152006" });
    expect((await post(many, { orderId })).body).toMatchObject({ code: "152004" });
  });
});

describe("Limits of BloFin", () => {
  it("are thirty acts of trading in ten seconds, then 429", async () => {
    const { post, clock } = await servedSetting("blofin", { limits: true });
    for (let count = 0; count < 30; count++)
      expect((await post(order, { ...bid, size: "0.1", price: "1000" })).body.code).toBe("0");
    expect(await post(order, bid)).toMatchObject({ status: 429, body: { code: "429" } });
    clock.advanceTo(startAt + 10_000);
    expect((await post(order, bid)).body.code).toBe("0");
  });

  it("shut an address out with 403 after five hundred calls in a minute, for five more", async () => {
    const { call, clock } = await servedSetting("blofin", { limits: true });
    const list = () => call("GET", "/api/v1/market/instruments");
    for (let count = 0; count < 500; count++) expect((await list()).status).toBe(200);
    expect(await list()).toMatchObject({ status: 403, body: { code: "403" } });
    clock.advanceTo(startAt + 5 * 60_000 + 59_999);
    expect((await list()).status).toBe(403);
    clock.advanceTo(startAt + 6 * 60_000);
    expect((await list()).status).toBe(200);
  });

  it("leave unknown paths and broken bodies a code", async () => {
    const { get, post } = await servedSetting("blofin");
    expect(await get("/api/v1/trade/orders/pending")).toMatchObject({ status: 200, body: { code: "404" } });
    expect((await post(order, "{")).body.code).toBe("152002");
    expect(
      (await post("/api/v1/account/set-leverage", { instId: "BTC-USDT", leverage: "51", marginMode: "cross" })).body
        .code,
    ).toBe("152002");
    const leverage = { instId: "BTC-USDT", leverage: "5", marginMode: "cross" };
    expect((await post("/api/v1/account/set-leverage", leverage)).body.data).toEqual({
      ...leverage,
      positionSide: "net",
    });
  });
});
