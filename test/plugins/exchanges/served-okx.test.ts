/** OKX v5 as its published documentation describes it, asked of the embedded service over HTTP. */
import { describe, expect, it } from "vitest";
import { keys, startAt } from "../venue-server/harness/server.ts";
import { servedSetting } from "./harness/served.ts";

const swap = { instId: "BTC-USDT-SWAP", tdMode: "cross", side: "buy", ordType: "limit", px: "50000", sz: "0.5" };
const spot = { instId: "BTC-USDT", tdMode: "cash", side: "buy", ordType: "limit", px: "50000", sz: "0.01" };
const order = "/api/v5/trade/order";

describe("Signatures of OKX", () => {
  // Made with another implementation of HMAC, of the text the documentation names.
  const headers = (sign: string, more: object = {}) => ({
    "OK-ACCESS-KEY": "ann-1",
    "OK-ACCESS-PASSPHRASE": "ann-1 phrase",
    "OK-ACCESS-TIMESTAMP": "2023-11-14T22:13:20.000Z",
    "OK-ACCESS-SIGN": sign,
    ...more,
  });

  it("cover time, method, path with query, and body", async () => {
    const { call } = await servedSetting("okx");
    const read = { query: "ccy=USDT", headers: headers("Hby1MIhjpUghEXcfAZLVAcItbkMpgfAYG4EVj/ZpW+I=") };
    expect((await call("GET", "/api/v5/account/balance", read)).body.code).toBe("0");
    const body = '{"instId":"BTC-USDT-SWAP","tdMode":"cross","side":"buy","ordType":"limit","px":"50000","sz":"0.5"}';
    const placed = await call("POST", order, {
      body,
      headers: headers("o37Mfo2BUeEYqcoxKOg5rjVkPoxU0//5Pu3Ab18EN18="),
    });
    expect(placed.body.code).toBe("0");
    expect((await call("GET", "/api/v5/account/balance", { ...read, query: "ccy=BTC" })).body.code).toBe("50113");
  });

  it.each([
    ["an unknown key", { "OK-ACCESS-KEY": "nobody" }, "50111"],
    ["a wrong passphrase", { "OK-ACCESS-PASSPHRASE": "guess" }, "50105"],
    ["a wrong signature", { "OK-ACCESS-SIGN": "guess" }, "50113"],
    ["a time half a minute ago", { "OK-ACCESS-TIMESTAMP": "2023-11-14T22:12:49.999Z" }, "50102"],
    ["a time that is none", { "OK-ACCESS-TIMESTAMP": "1700000000" }, "50102"],
  ])("are refused with 401 for %s", async (_, wrong, code) => {
    const { call } = await servedSetting("okx");
    const given = headers("Hby1MIhjpUghEXcfAZLVAcItbkMpgfAYG4EVj/ZpW+I=", wrong);
    const { status, body } = await call("GET", "/api/v5/account/balance", { query: "ccy=USDT", headers: given });
    expect([status, body.code, body.data]).toEqual([401, code, []]);
  });

  it("are of the demo environment with its header only, where that is what is served", async () => {
    const { get } = await servedSetting("okx-demo");
    expect((await get("/api/v5/account/balance")).body).toMatchObject({ code: "50101" });
    const demo = { headers: { "x-simulated-trading": "1" } };
    expect((await get("/api/v5/account/balance", "", demo)).body.code).toBe("0");
  });

  it("are needed for what is private, and permission for what is asked", async () => {
    const { call, post } = await servedSetting("okx");
    expect(await call("GET", "/api/v5/account/balance")).toMatchObject({ status: 401, body: { code: "50103" } });
    expect(await post(order, swap, { key: keys.reader })).toMatchObject({
      status: 401,
      body: { code: "50120", data: [] },
    });
  });
});

describe("Products of OKX", () => {
  it("are listed by kind, swaps in contracts", async () => {
    const { call } = await servedSetting("okx");
    const list = async (query: string) => (await call("GET", "/api/v5/public/instruments", { query })).body;
    expect((await list("instType=SWAP")).data).toMatchObject([
      {
        instId: "BTC-USDT-SWAP",
        ctVal: "0.01",
        ctValCcy: "BTC",
        lotSz: "0.1",
        minSz: "0.1",
        tickSz: "0.1",
        settleCcy: "USDT",
        lever: "50",
      },
      { instId: "ETH-USDT-SWAP", ctVal: "0.1", lotSz: "0.1", uly: "ETH-USDT", baseCcy: "", ctType: "linear" },
    ]);
    expect((await list("instType=SPOT")).data).toMatchObject([
      { instId: "BTC-USDT", baseCcy: "BTC", quoteCcy: "USDT", ctVal: "", lotSz: "0.001", settleCcy: "" },
    ]);
    expect(await list("instType=FUTURES")).toEqual({ code: "0", msg: "", data: [] });
    expect(await list("")).toEqual({ code: "50014", msg: "Parameter instType can not be empty.", data: [] });
  });
});

describe("Orders of OKX", () => {
  it("are placed in contracts, tenths too, and shown with cTime and uTime", async () => {
    const { post, get } = await servedSetting("okx");
    const { body } = await post(order, { ...swap, clOrdId: "mine" });
    const ordId = String(body.data[0]?.["ordId"]);
    expect(body).toEqual({
      code: "0",
      msg: "",
      data: [{ ordId, clOrdId: "mine", tag: "", sCode: "0", sMsg: "Order placed" }],
    });
    const shown = {
      instType: "SWAP",
      instId: "BTC-USDT-SWAP",
      ordId,
      clOrdId: "mine",
      px: "50000",
      sz: "0.5",
      state: "live",
      accFillSz: "0",
    };
    const found = await get(order, `instId=BTC-USDT-SWAP&clOrdId=mine`);
    expect(found.body.data).toMatchObject([
      { ...shown, cTime: String(startAt), uTime: String(startAt), posSide: "net", avgPx: "" },
    ]);
    expect((await get("/api/v5/trade/orders-pending", "instType=SWAP")).body.data).toMatchObject([shown]);
    expect((await get("/api/v5/trade/orders-pending", "instType=SPOT")).body.data).toEqual([]);
    expect((await get(order, `instId=ETH-USDT-SWAP&ordId=${ordId}`)).body).toEqual({
      code: "51603",
      msg: "Order does not exist",
      data: [],
    });
  });

  it("move money as contracts are worth: price, fee and position to the last digit", async () => {
    const { post, get, venue } = await servedSetting("okx");
    await post(order, { ...swap, ordType: "market", sz: "2.5" });
    // 2.5 contracts are 0.025 BTC at 60001.0, and a taker pays 5 basis points.
    const [filled] = (await get("/api/v5/trade/orders-history", "instType=SWAP")).body.data;
    expect(filled).toMatchObject({
      state: "filled",
      accFillSz: "2.5",
      avgPx: "60001",
      fee: "-0.7500125",
      feeCcy: "USDT",
      px: "",
    });
    const [position] = (await get("/api/v5/account/positions")).body.data;
    expect(position).toMatchObject({
      pos: "2.5",
      avgPx: "60001",
      lever: "10",
      mgnMode: "cross",
      margin: "",
      imr: "150.0025",
      posSide: "net",
    });
    const [account] = (await get("/api/v5/account/balance", "ccy=USDT")).body.data;
    const [{ balance } = { balance: "" }] = venue.truth("ann").balances.filter(({ currency }) => currency === "USDT");
    expect(balance).toBe("99999.2499875");
    // The margin, and what the position has lost at the mid price of 60000.5.
    expect(account).toMatchObject({
      details: [{ ccy: "USDT", cashBal: balance, frozenBal: "150.015", availBal: "99849.2349875" }],
    });
    expect(
      (await post("/api/v5/trade/close-position", { instId: "BTC-USDT-SWAP", mgnMode: "cross" })).body.data,
    ).toMatchObject([{ instId: "BTC-USDT-SWAP", posSide: "net" }]);
    expect((await get("/api/v5/account/positions")).body.data).toEqual([]);
  });

  it("buy spot for money and sell it by the coin at the market, unless tgtCcy says otherwise", async () => {
    const { post, get } = await servedSetting("okx");
    await post(order, { ...spot, ordType: "market", sz: "600.01" });
    await post(order, { ...spot, ordType: "market", sz: "0.02", tgtCcy: "base_ccy" });
    await post(order, { ...spot, ordType: "market", side: "sell", sz: "0.03" });
    await post(order, { ...spot, sz: "0.04" });
    const { data } = (await get("/api/v5/trade/orders-history", "instType=SPOT")).body;
    expect(data).toMatchObject([
      { side: "sell", sz: "0.03", accFillSz: "0.03", tgtCcy: "base_ccy", fee: "-0.9" },
      { side: "buy", sz: "0.02", accFillSz: "0.02", tgtCcy: "base_ccy", fee: "-0.00001", feeCcy: "BTC" },
      { side: "buy", sz: "600.01", accFillSz: "0.01", tgtCcy: "quote_ccy", fee: "-0.000005", feeCcy: "BTC" },
    ]);
    const [account] = (await get("/api/v5/account/balance", "ccy=BTC")).body.data;
    expect(account).toMatchObject({ details: [{ ccy: "BTC", cashBal: "9.999985" }] });
  });

  it("tell a rebate of spot in the coin bought; that of a sale in its fee, and once more in coins", async () => {
    const { post, get, venue } = await servedSetting("okx", { makerBps: "-1" });
    await post(order, { ...spot, px: "59000", sz: "0.02" });
    await post(order, { ...spot, side: "sell", px: "61000", sz: "0.03" });
    venue.quote("BTC-USDT", 580_000, 100_000, 580_010, 100_000, startAt);
    venue.quote("BTC-USDT", 620_000, 100_000, 620_010, 100_000, startAt);
    const { data } = (await get("/api/v5/trade/orders-history", "instType=SPOT")).body;
    expect(data).toMatchObject([
      { side: "sell", avgPx: "61000", fee: "0.183", feeCcy: "USDT", rebate: "0.000003", rebateCcy: "BTC" },
      { side: "buy", avgPx: "59000", fee: "0", feeCcy: "BTC", rebate: "0.000002", rebateCcy: "BTC" },
    ]);
    const amounts = new Map(venue.truth("ann").balances.map(({ currency, balance }) => [currency, balance]));
    expect(Object.fromEntries(amounts)).toMatchObject({ BTC: "9.990002", USDT: "100650.183" });
  });

  it("that are post-only and would take are accepted and canceled", async () => {
    const { post, get } = await servedSetting("okx");
    const { body } = await post(order, { ...swap, ordType: "post_only", px: "60001" });
    expect(body).toMatchObject({ code: "0", data: [{ sCode: "0" }] });
    const [shown] = (await get(order, `instId=BTC-USDT-SWAP&ordId=${String(body.data[0]?.["ordId"])}`)).body.data;
    expect(shown).toMatchObject({ state: "canceled", accFillSz: "0" });
  });

  it.each([
    ["an unknown product", { instId: "FOO-USDT-SWAP" }, "51001"],
    ["too little money", { sz: "900000" }, "51008"],
    ["a size between lots", { sz: "0.55" }, "51121"],
    ["a size that is no number", { sz: "much" }, "51000"],
    ["a price between ticks", { px: "50000.05" }, "51000"],
    ["an unknown side", { side: "up" }, "51000"],
    ["nothing to reduce", { reduceOnly: true }, "51023"],
  ])("with %s are refused in their element", async (_, wrong, sCode) => {
    const { post } = await servedSetting("okx");
    const { status, body } = await post(order, { ...swap, clOrdId: "mine", ...wrong });
    expect({ status, code: body.code }).toEqual({ status: 200, code: "1" });
    expect(body.data).toMatchObject([{ sCode, ordId: "", clOrdId: "mine" }]);
  });

  it.each([
    ["no tdMode", { tdMode: "" }, { code: "50014", msg: "Parameter tdMode can not be empty." }],
    ["a tdMode of another kind", { tdMode: "cash" }, { code: "51000", msg: "Parameter tdMode error" }],
    ["a side of the position", { posSide: "long" }, { code: "51000", msg: "Parameter posSide error" }],
  ])("with %s are refused as a whole", async (_, wrong, body) => {
    const { post } = await servedSetting("okx");
    expect(await post(order, { ...swap, ...wrong })).toMatchObject({ status: 400, body: { ...body, data: [] } });
  });

  it("keep their client id while they are open", async () => {
    const { post } = await servedSetting("okx");
    await post(order, { ...swap, clOrdId: "mine" });
    expect((await post(order, { ...swap, clOrdId: "mine" })).body).toMatchObject({
      code: "1",
      data: [{ sCode: "51016", clOrdId: "mine" }],
    });
  });
});

describe("Batches of OKX", () => {
  it("answer each element, with code 2 where some failed and 1 where all did", async () => {
    const { post } = await servedSetting("okx");
    const placed = await post("/api/v5/trade/batch-orders", [swap, { ...swap, px: "1.23" }, spot]);
    expect(placed.body).toMatchObject({ code: "2", data: [{ sCode: "0" }, { sCode: "51000" }, { sCode: "0" }] });
    const [first, , third] = placed.body.data.map(({ ordId }) => ordId);
    const cancel = [
      { instId: "BTC-USDT-SWAP", ordId: first },
      { instId: "BTC-USDT-SWAP", clOrdId: "nobodys" },
      { instId: "BTC-USDT", ordId: third },
    ];
    const canceled = await post("/api/v5/trade/cancel-batch-orders", cancel);
    expect(canceled.body).toMatchObject({
      code: "2",
      msg: "Bulk operation partially succeeded.",
      data: [
        { ordId: first, sCode: "0" },
        { clOrdId: "nobodys", sCode: "51400" },
        { ordId: third, sCode: "0" },
      ],
    });
    const again = await post("/api/v5/trade/cancel-batch-orders", cancel);
    expect(again.body).toMatchObject({ code: "1", data: [{ sCode: "51400" }, { sCode: "51400" }, { sCode: "51400" }] });
    expect((await post("/api/v5/trade/cancel-order", cancel[0])).body).toMatchObject({
      code: "1",
      data: [{ sCode: "51400" }],
    });
  });
});

describe("The rest of OKX", () => {
  it("sets the leverage, and refuses what a product does not bear", async () => {
    const { post } = await servedSetting("okx");
    const body = { instId: "BTC-USDT-SWAP", lever: "5", mgnMode: "cross" };
    expect((await post("/api/v5/account/set-leverage", body)).body.data).toEqual([{ ...body, posSide: "net" }]);
    expect((await post("/api/v5/account/set-leverage", { ...body, lever: "51" })).body).toMatchObject({
      code: "59102",
      data: [],
    });
    expect((await post("/api/v5/account/set-leverage", { ...body, mgnMode: "" })).body.code).toBe("50014");
  });

  it("answers unknown paths with 404, those of the described service among them, and bodies that are no JSON with 50002", async () => {
    const { get, post } = await servedSetting("okx");
    expect((await get("/api/v5/nothing")).status).toBe(404);
    expect((await get("/api/v1/trade/orders/pending")).status).toBe(404);
    expect(await post(order, "{")).toMatchObject({ status: 400, body: { code: "50002", data: [] } });
  });

  it("allows sixty placements in two seconds and refuses more with 429 and 50011, without a word of the three layers", async () => {
    const { post, get, clock } = await servedSetting("okx", { limits: true });
    for (let count = 0; count < 60; count++)
      expect((await post(order, { ...swap, sz: "0.1", px: "1000" })).body.code).toBe("0");
    const refused = await post(order, swap);
    expect(refused).toMatchObject({ status: 429, body: { code: "50011", data: [] } });
    expect(Object.keys(refused.headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
    expect((await get("/api/v5/trade/orders-pending")).body.data).toHaveLength(60);
    clock.advanceTo(startAt + 2_000);
    expect((await post(order, swap)).body.code).toBe("0");
  });

  it("keeps pages whole when history is asked for one product", async () => {
    const { post, get } = await servedSetting("okx");
    for (let count = 0; count < 12; count++) {
      const instId = count < 2 ? "ETH-USDT-SWAP" : "BTC-USDT-SWAP";
      await post(order, { ...swap, instId, px: undefined, ordType: "market", sz: "0.1" });
    }
    const { data } = (await get("/api/v5/trade/orders-history", "instType=SWAP&instId=ETH-USDT-SWAP&limit=2")).body;
    expect(data.map(({ instId }) => instId)).toEqual(["ETH-USDT-SWAP", "ETH-USDT-SWAP"]);
  });
});
