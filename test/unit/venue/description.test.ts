/**
 * The service description, rule by rule, asked from outside.
 */
import { describe, expect, it } from "vitest";
import { everything, setting, spot, swap } from "../../support/harness/venue.ts";

const orderFields = [
  "instId",
  "ordId",
  "clOrdId",
  "px",
  "sz",
  "ordType",
  "side",
  "state",
  "avgPx",
  "accFillSz",
  "fee",
  "createdAt",
  "updatedAt",
];

describe("Section 2.1 the response envelope", () => {
  it("carries code 0, an empty msg and an array on success", () => {
    expect(setting().read("trade/orders/pending")).toMatchObject({
      status: 200,
      body: { code: "0", msg: "", data: [] },
    });
  });

  it("carries another code and a text on failure", () => {
    const { body } = setting().read("trade/order");
    expect(body.code).not.toBe("0");
    expect(body.msg).not.toBe("");
  });
});

describe("Section 2.2 the order record", () => {
  it("has the thirteen fields, all of them text", () => {
    const { placed, read } = setting();
    const [record] = read("trade/order", { ordId: placed({ clOrdId: "one" }) }).body.data;
    expect(Object.keys(record ?? {})).toEqual(orderFields);
    expect(Object.values(record ?? {}).every((value) => typeof value === "string")).toBe(true);
  });

  it("shows prices, sizes, fee and times of a filled order", () => {
    const { quote, placed, order, moment } = setting();
    quote(swap, 59999.9, 1, 60000, 1);
    const ordId = placed({ sz: "6000", clOrdId: "one" });
    expect(order(ordId)).toEqual({
      instId: swap,
      ordId,
      clOrdId: "one",
      px: "60000",
      sz: "6000",
      ordType: "limit",
      side: "buy",
      state: "filled",
      avgPx: "60000",
      accFillSz: "6000",
      fee: "-3",
      createdAt: String(moment()),
      updatedAt: String(moment()),
    });
  });

  it("is a fresh object in every answer", () => {
    const { placed, read } = setting();
    const ordId = placed({});
    const first = read("trade/order", { ordId }).body.data[0] as Record<string, string>;
    first["state"] = "filled";
    expect(read("trade/order", { ordId }).body.data[0]?.["state"]).toBe("live");
  });
});

describe("Section 3 states: an order", () => {
  it("walks live, partially_filled, filled and stays there", () => {
    const { trade, placed, order, changes } = setting();
    const ordId = placed({ sz: "600" });
    expect(order(ordId).state).toBe("live");
    trade(swap, "sell", 60000, 0.004);
    expect(order(ordId).state).toBe("partially_filled");
    trade(swap, "sell", 60000, 0.1);
    expect(order(ordId).state).toBe("filled");
    trade(swap, "sell", 50000, 0.1);
    expect(changes.map(({ record }) => record.state)).toEqual(["live", "partially_filled", "filled"]);
  });

  it("cancels a live and a partly filled order, which keeps its fills", () => {
    const { trade, placed, write, order } = setting();
    const live = placed({ px: "50000" });
    const partly = placed({ px: "60000" });
    trade(swap, "sell", 60000, 0.004);
    write(
      "trade/cancel-batch-orders",
      [live, partly].map((ordId) => ({ instId: swap, ordId })),
    );
    expect(order(live)).toMatchObject({ state: "canceled", accFillSz: "0" });
    expect(order(partly)).toMatchObject({ state: "canceled", accFillSz: "240" });
  });
});

describe("Section 4.1 get order details", () => {
  it("finds by ordId and by clOrdId", () => {
    const { placed, read, ids } = setting();
    const ordId = placed({ clOrdId: "mine" });
    expect(ids(read("trade/order", { ordId }))).toEqual([ordId]);
    expect(ids(read("trade/order", { clOrdId: "mine" }))).toEqual([ordId]);
  });

  it("gives ordId priority when both are sent", () => {
    const { placed, read, ids } = setting();
    const first = placed({ clOrdId: "a" });
    placed({ clOrdId: "b" });
    expect(ids(read("trade/order", { ordId: first, clOrdId: "b" }))).toEqual([first]);
    expect(read("trade/order", { ordId: "7", clOrdId: "b" }).body.code).not.toBe("0");
  });

  it("refuses a query with neither id", () => {
    expect(setting().read("trade/order", { instId: swap })).toMatchObject({ status: 400, body: { code: "50002" } });
  });

  it("takes instId as a hint only", () => {
    const { placed, read, ids } = setting();
    const ordId = placed({});
    expect(ids(read("trade/order", { ordId, instId: spot }))).toEqual([ordId]);
  });

  it("does not show another user's order", () => {
    const { placed, read } = setting();
    const ordId = placed({ clOrdId: "mine" });
    expect(read("trade/order", { ordId }, { key: "bob-1" }).body.code).not.toBe("0");
    expect(read("trade/order", { clOrdId: "mine" }, { key: "bob-1" }).body.code).not.toBe("0");
  });
});

describe("Section 4.4 cancel batch orders", () => {
  it("answers element by element in the order of the request", () => {
    const { placed, write, results } = setting();
    const [a, b] = [placed({}), placed({})];
    const reply = write(
      "trade/cancel-batch-orders",
      [b, "77", a, b].map((ordId) => ({ instId: swap, ordId })),
    );
    expect(reply.status).toBe(200);
    expect(results(reply).map(({ ordId, sCode }) => [ordId, sCode])).toEqual([
      [b, "0"],
      ["77", "51400"],
      [a, "0"],
      [b, "51400"],
    ]);
  });

  it("cancels by clOrdId", () => {
    const { placed, write, results, order } = setting();
    const ordId = placed({ clOrdId: "mine" });
    expect(results(write("trade/cancel-batch-orders", [{ instId: swap, clOrdId: "mine" }]))).toEqual([
      { ordId, clOrdId: "mine", sCode: "0", sMsg: "" },
    ]);
    expect(order(ordId).state).toBe("canceled");
  });

  it("takes contract orders only", () => {
    const { placed, write, results, order } = setting();
    const ordId = placed({ instId: spot });
    expect(results(write("trade/cancel-batch-orders", [{ instId: spot, ordId }]))[0]?.sCode).toBe("51405");
    expect(results(write("trade/cancel-batch-orders", [{ instId: swap, ordId }]))[0]?.sCode).toBe("51405");
    expect(order(ordId).state).toBe("live");
  });

  it("leaves another user's order alone", () => {
    const { placed, write, results, order } = setting();
    const ordId = placed({});
    expect(results(write("trade/cancel-batch-orders", [{ instId: swap, ordId }], { key: "bob-1" }))[0]?.sCode).toBe(
      "51400",
    );
    expect(order(ordId).state).toBe("live");
  });

  it.each([
    ["no array", { instId: swap, ordId: "1" }],
    ["nothing", undefined],
    ["an empty array", []],
    ["an element without instId", [{ ordId: "1" }]],
    ["an element with a stray field", [{ instId: swap, ordId: "1", px: "3" }]],
  ])("refuses a body that is %s", (_, body) => {
    expect(setting().write("trade/cancel-batch-orders", body)).toMatchObject({ status: 400, body: { code: "50002" } });
  });
});

describe("Section 4.5 instruments", () => {
  it("lists every product with its steps, without a key", () => {
    const { read } = setting();
    const { status, body } = read("common/instruments", {}, { key: undefined });
    expect(status).toBe(200);
    expect(body.data.map(({ instId, tickSize, lotSize }) => [instId, tickSize, lotSize])).toEqual([
      [swap, "0.1", "0.001"],
      [spot, "0.1", "0.001"],
      ["ETH-USDT-SWAP", "0.01", "0.01"],
    ]);
  });

  it("narrows by instType and instId", () => {
    const { read } = setting();
    const listed = (query: Record<string, string>) =>
      read("common/instruments", query).body.data.map(({ instId }) => instId);
    expect(listed({ instType: "SPOT" })).toEqual([spot]);
    expect(listed({ instId: swap })).toEqual([swap]);
  });
});

describe("Section 4.6 the other endpoints", () => {
  it("answer with balances, positions, an order id, a closed position and a leverage", () => {
    const { quote, read, write, placed } = setting();
    quote(swap, 60000, 1, 60000.1, 1);
    expect(read("asset/spot", { currency: "BTC" }).body.data).toEqual([
      { currency: "BTC", balance: "10", available: "10", frozen: "0" },
    ]);
    expect(placed({ px: "60000.1" })).toMatch(/^\d{19}$/);
    expect(read("account/positions").body.data).toMatchObject([{ instId: swap, pos: "0.009", avgPx: "60000.1" }]);
    expect(write("account/set-leverage", { instId: swap, lever: "20" }).body.data).toEqual([
      { instId: swap, lever: "20", mgnMode: "cross" },
    ]);
    expect(write("trade/close-position", { instId: swap }).body.data).toEqual([{ instId: swap, clOrdId: "" }]);
    expect(read("account/positions").body.data).toEqual([]);
  });
});

describe("Section 5 authentication:", () => {
  const calls: readonly (readonly [string, string, unknown, string])[] = [
    ["GET", "trade/order", { ordId: "1" }, "read"],
    ["GET", "trade/orders/pending", {}, "read"],
    ["GET", "trade/orders/history", {}, "read"],
    ["GET", "asset/spot", {}, "read"],
    ["GET", "account/positions", {}, "read"],
    ["POST", "trade/order", { instId: swap, side: "buy", ordType: "limit", px: "1", sz: "1" }, "trade_futures"],
    ["POST", "trade/order", { instId: spot, side: "buy", ordType: "limit", px: "1", sz: "1" }, "trade_spot"],
    ["POST", "trade/cancel-batch-orders", [{ instId: swap, ordId: "1" }], "trade_futures"],
    ["POST", "trade/close-position", { instId: swap }, "trade_futures"],
    ["POST", "account/set-leverage", { instId: swap, lever: "5" }, "trade_futures"],
  ];

  it.each(calls)("%s %s %j needs a known key with the permission %s", (method, path, input, permission) => {
    const others = everything.filter((name) => name !== permission);
    const keys = [
      { name: "fit", permissions: [permission] },
      { name: "unfit", permissions: others },
    ];
    const { send } = setting({}, { users: [{ uid: "eve", keys, balances: {} }] });
    expect(send(method, path, input, { key: "unfit" })).toMatchObject({ status: 403, body: { code: "50001" } });
    expect(send(method, path, input, { key: undefined }).status).toBe(401);
    expect(send(method, path, input, { key: "nobody" }).status).toBe(401);
    expect(send(method, path, input, { key: "fit" }).status).toBe(200);
  });
});

describe("Section 9 versioning:", () => {
  it.each([
    ["GET", "/trade/order"],
    ["GET", "/api/v2/trade/order"],
    ["GET", "/api/v1/trade/order/"],
    ["DELETE", "/api/v1/trade/order"],
    ["POST", "/api/v1/common/instruments"],
    ["GET", ""],
  ])("%s %s is no address of the service", (method, path) => {
    const request = { method, path, query: { ordId: "1" }, body: undefined, key: "ann-1", ip: "1.1.1.1" };
    expect(setting().venue.handle(request, 5)).toMatchObject({ status: 404, body: { code: "50005" } });
  });
});
