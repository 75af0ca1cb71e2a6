/** What an exchange would act on and the venue does not: refused by name, and alone where it stands in a batch. */
import { describe, expect, it } from "vitest";
import { servedSetting } from "./harness/served.ts";

const swap = { instId: "BTC-USDT-SWAP", tdMode: "cross", side: "buy", ordType: "limit", px: "50000", sz: "0.5" };
const trade = "/api/v5/trade";
const said = (name: string) => `Parameter ${name} error: this simulated exchange does not model it`;

describe("Parameters of OKX that are not modelled", () => {
  it.each([
    ["attachAlgoOrds", [{ slTriggerPx: "49000", slOrdPx: "-1" }]],
    ["slTriggerPx", "49000"],
    ["tpTriggerPx", "61000"],
    ["expTime", "1700000000000"],
    ["stpMode", "cancel_taker"],
    ["pxUsd", "1"],
    ["pxAmendType", "1"],
    ["anythingElse", "1"],
    ["reduceOnly", "yes"],
    ["reduceOnly", 1],
    ["tgtCcy", "coins"],
  ])("refuse the order: %s", async (name, value) => {
    const { post, venue } = await servedSetting("okx");
    const { body } = await post(`${trade}/order`, { ...swap, clOrdId: "a", [name]: value });
    expect(body).toMatchObject({ code: "1", data: [{ clOrdId: "a", ordId: "", sCode: "51000", sMsg: said(name) }] });
    expect(venue.truth("ann").orders).toEqual([]);
  });

  it.each([
    ["order", swap],
    ["batch-orders", [swap, swap]],
    ["amend-order", { instId: swap.instId, ordId: "1", newPx: "49000" }],
  ])("refuse a call with a deadline in its head: %s", async (path, sent) => {
    const { post, venue } = await servedSetting("okx");
    const { body } = await post(`${trade}/${path}`, sent, { headers: { expTime: "1" } });
    expect(body).toEqual({ code: "51000", msg: said("expTime"), data: [] });
    expect(venue.truth("ann").orders).toEqual([]);
  });

  it("are no parameters where they have no value or change nothing", async () => {
    const { post } = await servedSetting("okx");
    const nothing = {
      attachAlgoOrds: [],
      slTriggerPx: "",
      stpMode: null,
      pxAmendType: "0",
      tag: "b1",
      ccy: "USDT",
      banAmend: false,
    };
    expect((await post(`${trade}/order`, { ...swap, ...nothing })).body).toMatchObject({ code: "0" });
  });

  it("concern their element of a batch alone, as does whatever is wrong with it", async () => {
    const { post, venue } = await servedSetting("okx");
    const { sz: _, ...sizeless } = swap;
    const orders = [swap, { ...swap, slTriggerPx: "1" }, sizeless, { ...swap, tdMode: "cash" }, "nonsense", swap];
    const { body } = await post(`${trade}/batch-orders`, orders);
    expect(body.code).toBe("2");
    expect(body.data.map(({ sCode }) => sCode)).toEqual(["0", "51000", "50014", "51000", "50014", "0"]);
    const [first, , , , , last] = body.data.map(({ ordId }) => ordId);
    const amends = [{ ordId: first, newPx: "49000" }, { ordId: last, newPx: "49000", cxlOnFail: true }, { newPx: "1" }];
    const amended = await post(
      `${trade}/amend-batch-orders`,
      amends.map((one) => ({ instId: swap.instId, ...one })),
    );
    expect(amended.body.data.map(({ sCode }) => sCode)).toEqual(["0", "51000", "50015"]);
    const cancels = [
      { ordId: first },
      { instId: swap.instId, ordId: first, cancelAll: true },
      { instId: "no product", ordId: first },
      { instId: swap.instId, ordId: "9".repeat(65) },
      { instId: swap.instId, ordId: last },
    ];
    const canceled = await post(`${trade}/cancel-batch-orders`, cancels);
    expect(canceled.body.code).toBe("2");
    expect(canceled.body.data.map(({ sCode }) => sCode)).toEqual(["50014", "51000", "51001", "51000", "0"]);
    const all = await post(`${trade}/cancel-batch-orders`, [{ ordId: first }, { ordId: last }]);
    expect(all.body).toMatchObject({ code: "1", data: [{ ordId: first, sCode: "50014" }, { sCode: "50014" }] });
    expect(
      venue
        .truth("ann")
        .orders.map(({ state, px }) => `${state} ${px}`)
        .sort((a, b) => (a < b ? -1 : 1)),
    ).toEqual(["canceled 50000", "live 49000"]);
  });

  it("refuse a close and a leverage", async () => {
    const { post } = await servedSetting("okx");
    const close = { instId: swap.instId, mgnMode: "cross", autoCxl: true };
    expect((await post(`${trade}/close-position`, close)).body).toEqual({
      code: "51000",
      msg: said("autoCxl"),
      data: [],
    });
  });
});

describe("Parameters of BloFin that are not modelled", () => {
  const order = {
    instId: "BTC-USDT",
    marginMode: "cross",
    positionSide: "net",
    side: "buy",
    orderType: "limit",
    price: "50000",
    size: "1",
  };

  it.each(["tpTriggerPrice", "slTriggerPrice", "tpOrderPrice", "type"])("refuse the order: %s", async (name) => {
    const { post, venue } = await servedSetting("blofin");
    const { body } = await post("/api/v1/trade/order", { ...order, brokerId: "b", [name]: "49000" });
    expect(body).toMatchObject({ code: "152002", msg: said(name) });
    expect(venue.truth("ann").orders).toEqual([]);
    expect((await post("/api/v1/trade/order", { ...order, brokerId: "b" })).body).toMatchObject({ code: "0" });
  });

  it("refuse a flag that is neither true nor false", async () => {
    const { post, venue } = await servedSetting("blofin");
    const { body } = await post("/api/v1/trade/order", { ...order, reduceOnly: "yes" });
    expect(body).toMatchObject({ code: "152002", msg: said("reduceOnly") });
    expect(venue.truth("ann").orders).toEqual([]);
  });

  it("concern their element of a batch alone", async () => {
    const { post } = await servedSetting("blofin");
    const orders = [order, { ...order, slTriggerPrice: "1" }, { ...order, size: undefined }];
    const { body } = await post("/api/v1/trade/batch-orders", orders);
    expect(body.data.map(({ code }) => code)).toEqual(["0", "152002", "152001"]);
  });
});
