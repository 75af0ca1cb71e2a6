/** BloFin v1: what leaves for a call, and what its published forms say; expected values are written by hand. */
import { describe, expect, it } from "vitest";
import { blofinDialect } from "../../../plugins/exchanges/blofin-dialect.ts";
import { spoken } from "../../support/harness/dialects.ts";

const { dialect, written, answer, outcome, heard } = spoken(blofinDialect());
const swap = "BTC-USDT-SWAP";
const ok = (data: unknown) => ({ code: "0", msg: "success", data });

const order = {
  ...{
    orderId: "29531103",
    clientOrderId: "",
    instId: "BTC-USDT",
    marginMode: "isolated",
    positionSide: "net",
    side: "buy",
    orderType: "limit",
  },
  ...{
    price: "1514.150000000000000000",
    size: "1.500000000000000000",
    reduceOnly: "false",
    leverage: "3",
    state: "partially_filled",
  },
  ...{
    filledSize: "0.100000000000000000",
    averagePrice: "1514.000000000000000000",
    fee: "0.060000000000000000",
    pnl: "0.000000000000000000",
  },
  ...{ createTime: "1697031292762", updateTime: "1697031292788", slOrderPrice: null, brokerId: "" },
};
const ours = {
  ...{
    instId: swap,
    ordId: "29531103",
    clOrdId: "",
    px: "1514.15",
    sz: "1.5",
    ordType: "limit",
    side: "buy",
    state: "partially_filled",
  },
  ...{ avgPx: "1514", accFillSz: "0.1", fee: "0.06", createdAt: "1697031292762", updatedAt: "1697031292788" },
};

describe("A call to BloFin", () => {
  it.each([
    ["instruments", {}, "GET /api/v1/market/instruments?"],
    ["instruments", { instId: swap }, "GET /api/v1/market/instruments?instId=BTC-USDT"],
    ["spotBalance", { currency: "USDT" }, "GET /api/v1/asset/balances?accountType=futures&currency=USDT"],
    ["positions", { instId: swap }, "GET /api/v1/account/positions?instId=BTC-USDT"],
    ["getOrder", { clOrdId: "a1", instId: swap }, "GET /api/v1/trade/order-detail?instId=BTC-USDT&clientOrderId=a1"],
    ["getOrder", { ordId: "7", instId: swap }, "GET /api/v1/trade/order-detail?instId=BTC-USDT&orderId=7"],
    [
      "pendingOrders",
      { instType: "SWAP", limit: "100", after: "7" },
      "GET /api/v1/trade/orders-pending?limit=100&after=7",
    ],
    ["orderHistory", { limit: "100" }, "GET /api/v1/trade/orders-history?limit=100"],
  ] as const)("reads %s with %j", (endpoint, input, line) => {
    const { method, path, query, body } = written(endpoint, input);
    expect([`${method} ${path}?${new URLSearchParams(query).toString()}`, body]).toEqual([line, undefined]);
  });

  it("places, cancels, closes and sets leverage", () => {
    expect(
      written("placeOrder", {
        instId: swap,
        side: "buy",
        ordType: "limit",
        sz: "0.1",
        px: "60000",
        clOrdId: "a1",
        reduceOnly: false,
      }).body,
    ).toEqual({
      ...{
        instId: "BTC-USDT",
        marginMode: "cross",
        positionSide: "net",
        side: "buy",
        orderType: "limit",
        size: "0.1",
        price: "60000",
        clientOrderId: "a1",
      },
    });
    expect(
      written("placeOrder", {
        instId: swap,
        side: "sell",
        ordType: "market",
        sz: "2",
        reduceOnly: true,
        mgnMode: "isolated",
      }),
    ).toEqual({
      ...{ method: "POST", path: "/api/v1/trade/order", query: {} },
      body: {
        instId: "BTC-USDT",
        marginMode: "isolated",
        positionSide: "net",
        side: "sell",
        orderType: "market",
        size: "2",
        reduceOnly: "true",
      },
    });
    expect(
      written("cancelBatch", [
        { instId: swap, ordId: "7" },
        { instId: swap, clOrdId: "a1" },
      ]),
    ).toMatchObject({
      path: "/api/v1/trade/cancel-batch-orders",
      body: [
        { instId: "BTC-USDT", orderId: "7" },
        { instId: "BTC-USDT", clientOrderId: "a1" },
      ],
    });
    expect(written("closePosition", { instId: swap, mgnMode: "isolated", clOrdId: "c1" })).toMatchObject({
      path: "/api/v1/trade/close-position",
      body: { instId: "BTC-USDT", marginMode: "isolated", positionSide: "net", clientOrderId: "c1" },
    });
    expect(written("setLeverage", { instId: swap, lever: "3" })).toMatchObject({
      path: "/api/v1/account/set-leverage",
      body: { instId: "BTC-USDT", leverage: "3", marginMode: "cross" },
    });
  });

  it("for spot is not written, as the swap of that name would be meant", () => {
    expect(() =>
      written("placeOrder", { instId: "BTC-USDT", side: "buy", ordType: "limit", sz: "1", px: "1" }),
    ).toThrow("BTC-USDT is no swap");
    expect(() => written("cancelBatch", [{ instId: "BTC-USDT", ordId: "1" }])).toThrow("BTC-USDT is no swap");
    expect(() => written("getOrder", { instId: "BTC-USDT", ordId: "1" })).toThrow("BTC-USDT is no swap");
    expect(() => written("pendingOrders", { instType: "SPOT" })).toThrow("SPOT is not traded");
  });

  it("has a nonce that is used once, at the same instant too, and for logins", () => {
    const { signer } = spoken(blofinDialect());
    const parts = { method: "GET", path: "/x", query: "", body: "" };
    const nonces = [
      signer.headers(parts, 5)["access-nonce"],
      signer.headers(parts, 5)["access-nonce"],
      signer.login(5)["nonce"],
      signer.headers(parts, 6)["access-nonce"],
    ];
    expect(nonces).toEqual(["5-1", "5-2", "5-3", "6-4"]);
  });
});

describe("Records of BloFin", () => {
  const records = (endpoint: Parameters<typeof outcome>[0], data: unknown) => {
    const read = outcome(endpoint, ok(data));
    if (read.kind !== "done") throw new Error(JSON.stringify(read));
    return { records: read.records, problems: read.problems };
  };

  it("of orders read alike in a list, and by itself", () => {
    for (const endpoint of ["pendingOrders", "orderHistory"] as const)
      expect(records(endpoint, [order])).toEqual({ records: [ours], problems: [] });
    for (const data of [order, [order]]) expect(records("getOrder", data)).toEqual({ records: [ours], problems: [] });
  });

  it.each([
    [
      "an untouched one",
      { averagePrice: "0.000000000000000000", filledSize: "0.000000000000000000", state: "live" },
      { avgPx: "", accFillSz: "0", state: "live" },
    ],
    [
      "a market order with nulls",
      { price: null, clientOrderId: null, orderType: "market" },
      { px: "", clOrdId: "", ordType: "market" },
    ],
    ["one canceled in part", { state: "partially_canceled" }, { state: "canceled" }],
    ["one with a client's id", { clientOrderId: "aabbc", fee: "-0.01" }, { clOrdId: "aabbc", fee: "-0.01" }],
  ])("of an order: %s", (_, theirs, changed) => {
    expect(records("getOrder", { ...order, ...theirs })).toEqual({ records: [{ ...ours, ...changed }], problems: [] });
  });

  it.each([
    ["an unknown state", { state: "armed" }],
    ["a missing time", { createTime: undefined }],
    ["a size that is null", { size: null }],
    ["a size as a number", { size: 1 }],
    ["an instrument settled in coin under a name of ours", { instId: "BTC-USDT-SWAP" }],
  ])("with %s cannot be read and name their order", (_, theirs) => {
    expect(outcome("pendingOrders", ok([order, { ...order, orderId: "8", ...theirs }]))).toMatchObject({
      kind: "done",
      records: [ours],
      unread: [{ ordId: "8" }],
    });
  });

  it("of instruments count base currency, and leave out what is settled in coin", () => {
    const linear = {
      ...{
        instId: "BTC-USDT",
        baseCurrency: "BTC",
        quoteCurrency: "USDT",
        contractValue: "0.001",
        maxLeverage: "125",
        minSize: "0.1",
        lotSize: "0.1",
      },
      ...{
        tickSize: "0.5",
        instType: "SWAP",
        contractType: "linear",
        state: "live",
        settleCurrency: "USDT",
        listTime: "1638333031000",
      },
    };
    const { contractType: _kind, settleCurrency: _settled, ...older } = linear;
    expect(records("instruments", [older])).toEqual(records("instruments", [linear]));
    const inverse = {
      ...linear,
      instId: "BTC-USD",
      quoteCurrency: "USD",
      contractType: "inverse",
      settleCurrency: "BTC",
    };
    expect(records("instruments", [linear, inverse])).toEqual({
      records: [
        {
          ...{
            instId: swap,
            instType: "SWAP",
            baseCurrency: "BTC",
            quoteCurrency: "USDT",
            settleCurrency: "USDT",
            tickSize: "0.5",
          },
          ...{ lotSize: "0.0001", minSize: "0.0001", contractValue: "0.001", maxLeverage: "125", state: "live" },
        },
      ],
      problems: [],
    });
  });

  it("of balances, positions, closing and leverage", () => {
    const usdt = {
      currency: "USDT",
      balance: "10012514.919418081548717298",
      available: "9872132.414278782284622898",
      frozen: "138556.471805965930761067",
    };
    expect(records("spotBalance", [{ ...usdt, bonus: "0" }])).toEqual({ records: [usdt], problems: [] });
    expect(records("spotBalance", { totalEquity: "1", details: [{ ...usdt, equity: "1" }] })).toEqual({
      records: [usdt],
      problems: [],
    });
    const position = {
      ...{
        instId: "BCH-USDT",
        marginMode: "cross",
        positionSide: "net",
        positions: "-290",
        averagePrice: "1890.000000000000000000",
        markPrice: "1889",
      },
      ...{
        liquidationPrice: "3418227.599542259480103079",
        unrealizedPnl: "2.9",
        initialMargin: "1826.033333333333333333",
        updateTime: "1695090016931",
        leverage: "3",
      },
    };
    expect(records("positions", [position])).toEqual({
      records: [
        {
          ...{
            instId: "BCH-USDT-SWAP",
            pos: "-290",
            avgPx: "1890",
            markPx: "1889",
            lever: "3",
            margin: "1826.033333333333333333",
            upl: "2.9",
          },
          ...{ liqPx: "3418227.599542259480103079", mgnMode: "cross", updatedAt: "1695090016931" },
        },
      ],
      problems: [],
    });
    expect(records("positions", [{ ...position, positionSide: "short", positions: "290" }]).problems).toEqual([
      expect.stringContaining("pos"),
    ]);
    expect(records("closePosition", { instId: "ETH-USDT", positionSide: "net", clientOrderId: "" }).records).toEqual([
      { instId: "ETH-USDT-SWAP", clOrdId: "" },
    ]);
    expect(records("setLeverage", { leverage: "100", marginMode: "cross", instId: "BTC-USDT" }).records).toEqual([
      { instId: swap, lever: "100", mgnMode: "cross" },
    ]);
  });
});

describe("Answers of BloFin", () => {
  const placed = (part: object, code = "0") => ({
    code,
    msg: "",
    data: [{ orderId: "28150801", clientOrderId: "a1", msg: "", code: "0", ...part }],
  });

  it("to a placement", () => {
    expect(outcome("placeOrder", placed({}))).toMatchObject({
      kind: "done",
      records: [{ ordId: "28150801", clOrdId: "a1", sCode: "0" }],
    });
    expect(
      outcome("placeOrder", placed({ orderId: null, code: "103003", msg: "Insufficient margin" }, "1")),
    ).toMatchObject({
      kind: "done",
      records: [{ ordId: "", sCode: "103003", sMsg: "Insufficient margin" }],
    });
    expect(outcome("placeOrder", placed({ code: undefined }, "1"))).toMatchObject({
      kind: "done",
      records: [{ sCode: "1" }],
    });
  });

  it.each([
    ["429", 429, "placeOrder", { kind: "limited" }],
    ["429", 200, "pendingOrders", { kind: "limited" }],
    ["152409", 200, "placeOrder", { kind: "rejected", status: 401 }],
    ["152405", 200, "pendingOrders", { kind: "rejected", status: 401 }],
    ["152499", 200, "placeOrder", { kind: "unknown", unlisted: { status: 401 } }],
    ["152421", 200, "placeOrder", { kind: "unknown" }],
    ["152423", 200, "placeOrder", { kind: "rejected", code: "152423" }],
    ["152429", 200, "placeOrder", { kind: "rejected", code: "152429" }],
    ["152404", 200, "placeOrder", { kind: "rejected", status: 403 }],
    ["500", 200, "placeOrder", { kind: "unknown" }],
    ["103013", 200, "cancelBatch", { kind: "unknown" }],
    ["150003", 200, "placeOrder", { kind: "unknown" }],
    ["102002", 200, "placeOrder", { kind: "unknown" }],
    ["152001", 200, "placeOrder", { kind: "rejected", code: "152001" }],
    ["102022", 200, "closePosition", { kind: "rejected", code: "102022" }],
    ["110006", 200, "setLeverage", { kind: "rejected", code: "110006" }],
    ["50001", 200, "placeOrder", { kind: "unknown" }],
    ["51603", 200, "getOrder", { kind: "rejected" }],
    ["152014", 200, "getOrder", { kind: "rejected" }],
  ] as const)("with code %s and status %i to %s", (code, status, endpoint, end) => {
    expect(outcome(endpoint, { code, msg: "words", data: null }, status)).toMatchObject(end);
  });

  it("to a batch keep every element, those without a code of their own with the envelope's", () => {
    const data = [
      { orderId: "1", clientOrderId: "a" },
      { orderId: "2", clientOrderId: null, msg: "Cancel failed", code: "1000" },
    ];
    const read = (code: string) => outcome("cancelBatch", { code, msg: "success", data });
    expect(read("0")).toMatchObject({
      kind: "done",
      records: [
        { ordId: "1", sCode: "0" },
        { ordId: "2", clOrdId: "", sCode: "1000" },
      ],
      problems: [],
    });
    expect(read("2")).toMatchObject({
      kind: "done",
      records: [
        { ordId: "1", sCode: "2" },
        { ordId: "2", sCode: "1000" },
      ],
    });
  });

  it("of the firewall are a limit that lasts five minutes, whatever stands in them", () => {
    for (const body of [undefined, "<html>", { code: "0", msg: "success", data: [order] }]) {
      expect(answer("placeOrder", body, 403)).toMatchObject({ status: 429, headers: { "retry-after": "300" } });
      expect(outcome("placeOrder", body, 403)).toEqual({ kind: "limited" });
    }
  });

  it.each([
    undefined,
    null,
    "",
    [],
    7,
    { code: "0" },
    { code: "0", data: [order] },
    ok({}),
    ok("x"),
    ok(null),
    ok(undefined),
    { msg: "", data: [] },
  ])("of the form %j are no success", (body) => {
    for (const endpoint of [
      "placeOrder",
      "cancelBatch",
      "pendingOrders",
      "spotBalance",
      "positions",
      "instruments",
      "getOrder",
      "setLeverage",
      "closePosition",
    ] as const) {
      expect(outcome(endpoint, body).kind).toBe("unknown");
    }
  });
});

describe("Sockets of BloFin", () => {
  const push = (arg: object, data: unknown, part: object = {}) => heard({ arg, data, ...part });

  it("are two, and carry its words", () => {
    expect(
      ["trades", "books", "candle1m", "orders", "positions", "account"].map((channel) =>
        dialect.socketPath({ channel }, {} as never),
      ),
    ).toEqual([...["/ws/public", "/ws/public", "/ws/public", "/ws/private", "/ws/private", "/ws/private"]]);
    expect(
      dialect.say({ op: "subscribe", args: [{ channel: "orders" }, { channel: "trades", instId: swap }] }),
    ).toEqual(['{"op":"subscribe","args":[{"channel":"orders"},{"channel":"trades","instId":"BTC-USDT"}]}']);
    expect(heard({ event: "subscribe", arg: { channel: "books", instId: "BTC-USDT" } })).toEqual([
      { kind: "subscribed", arg: { channel: "books", instId: swap } },
    ]);
    expect(heard({ event: "login", code: "0", msg: "" })).toEqual([{ kind: "login", refused: undefined }]);
    expect(heard({ event: "login", code: "60009", msg: "no" })).toEqual([{ kind: "login", refused: "60009 no" }]);
    expect(heard({ event: "error", code: "60009", msg: "Login failed." })).toMatchObject([
      { kind: "error", reason: "60009 Login failed." },
    ]);
  });

  it("tell trades, quotes and minutes", () => {
    const arg = { channel: "trades", instId: "BTC-USDT" };
    expect(
      push(arg, [
        { instId: "BTC-USDT", tradeId: "106074994", price: "1640.40", size: "1", side: "sell", ts: "1696646190511" },
      ]),
    ).toMatchObject([
      {
        kind: "push",
        push: {
          arg: { channel: "trades", instId: swap },
          data: [{ instId: swap, tradeId: "106074994", px: "1640.4", sz: "1", side: "sell", ts: "1696646190511" }],
        },
      },
    ]);
    const theirs = {
      instId: "BTC-USDT",
      last: "9999.99",
      askPrice: "9999.99",
      askSize: "11",
      bidPrice: "8888.88",
      bidSize: "5",
      ts: "1597026383085",
    };
    expect(push({ ...arg, channel: "tickers" }, [theirs])).toMatchObject([
      {
        push: {
          data: [
            {
              instId: swap,
              last: "9999.99",
              askPx: "9999.99",
              askSz: "11",
              bidPx: "8888.88",
              bidSz: "5",
              ts: "1597026383085",
            },
          ],
        },
      },
    ]);
    const row = ["1696636800000", "27491.5", "27495", "27483", "27489.5", "95359", "95.359", "2621407.651", "1"];
    expect(push({ ...arg, channel: "candle1m" }, [row])).toMatchObject([
      {
        push: {
          data: [
            {
              instId: swap,
              ts: "1696636800000",
              open: "27491.5",
              high: "27495",
              low: "27483",
              close: "27489.5",
              volume: "95.359",
              confirm: "1",
            },
          ],
        },
      },
    ]);
  });

  it("tell books that are one object of numbers, whose first follows nothing", () => {
    const arg = { channel: "books", instId: "BTC-USDT" };
    const data = {
      asks: [
        [1639.75, 392],
        ["1639.950", "0.10"],
      ],
      bids: [[0.0000001, 6817.5]],
      ts: "1696670727520",
      prevSeqId: "0",
      seqId: "107600747",
    };
    const record = {
      instId: swap,
      asks: [
        ["1639.75", "392"],
        ["1639.95", "0.1"],
      ],
      bids: [["0.0000001", "6817.5"]],
      ts: "1696670727520",
    };
    expect(push(arg, data, { action: "snapshot" })).toEqual([
      {
        kind: "push",
        push: {
          arg: { channel: "books", instId: swap },
          data: [record],
          action: "snapshot",
          seqId: 107600747,
          prevSeqId: -1,
        },
      },
    ]);
    expect(push(arg, { ...data, prevSeqId: "107600747", seqId: "107600806" }, { action: "update" })).toMatchObject([
      { push: { seqId: 107600806, prevSeqId: 107600747 } },
    ]);
  });

  it("tell the account's own orders, whatever action stands there", () => {
    expect(push({ channel: "orders" }, [order], { action: "snapshot" })).toEqual([
      {
        kind: "push",
        push: { arg: { channel: "orders" }, data: [ours], action: undefined, seqId: undefined, prevSeqId: undefined },
      },
    ]);
  });

  it.each([
    "",
    "null",
    { event: "new" },
    { arg: { channel: "trades", instId: "BTC-USDT" }, data: {} },
    { arg: { channel: "books5" }, data: [] },
    { arg: { channel: "books" }, data: [], action: "update" },
    { arg: {}, data: [] },
  ])("report as malformed what they do not understand: %j", (message) => {
    expect(heard(message)).toMatchObject([{ kind: "malformed" }]);
  });
});
