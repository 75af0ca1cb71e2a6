/** OKX v5: what leaves for a call, and what its published forms say; expected values are written by hand. */
import { describe, expect, it } from "vitest";
import { okxDialect } from "../../../plugins/exchanges/okx-dialect.ts";
import { spoken } from "../../support/harness/dialects.ts";

const { dialect, written, answer, outcome, heard } = spoken(okxDialect());
const swap = "BTC-USDT-SWAP";
const ok = (data: unknown) => ({ code: "0", msg: "", data });

const order = {
  ...{
    accFillSz: "0.3",
    avgPx: "60000.10",
    cTime: "1618235248028",
    clOrdId: "a1",
    fee: "-0.09",
    feeCcy: "USDT",
    fillPx: "60000.1",
  },
  ...{
    instId: swap,
    instType: "SWAP",
    ordId: "301835739059335168",
    ordType: "post_only",
    posSide: "net",
    px: "60000.10",
    rebate: "0",
  },
  ...{
    rebateCcy: "USDT",
    side: "buy",
    state: "partially_filled",
    sz: "1.50",
    tdMode: "cross",
    tgtCcy: "",
    uTime: "1618235248030",
    tag: "",
  },
};
const ours = {
  ...{
    instId: swap,
    ordId: "301835739059335168",
    clOrdId: "a1",
    px: "60000.1",
    sz: "1.5",
    ordType: "post_only",
    side: "buy",
  },
  ...{
    state: "partially_filled",
    avgPx: "60000.1",
    accFillSz: "0.3",
    fee: "-0.09",
    createdAt: "1618235248028",
    updatedAt: "1618235248030",
  },
};

describe("A call to OKX", () => {
  it.each([
    ["instruments", { instType: "SPOT" }, "GET /api/v5/public/instruments?instType=SPOT"],
    ["spotBalance", {}, "GET /api/v5/account/balance"],
    ["spotBalance", { currency: "USDT" }, "GET /api/v5/account/balance?ccy=USDT"],
    ["positions", { instId: swap }, `GET /api/v5/account/positions?instType=SWAP&instId=${swap}`],
    ["getOrder", { clOrdId: "a1", instId: swap }, `GET /api/v5/trade/order?clOrdId=a1&instId=${swap}`],
    [
      "pendingOrders",
      { instType: "SWAP", limit: "100", after: "7" },
      "GET /api/v5/trade/orders-pending?instType=SWAP&limit=100&after=7",
    ],
    [
      "orderHistory",
      { instType: "SPOT", state: "filled" },
      "GET /api/v5/trade/orders-history?instType=SPOT&state=filled",
    ],
  ] as const)("reads %s with %j", (endpoint, input, line) => {
    const { method, path, query, body } = written(endpoint, input);
    expect([
      `${method} ${path}${Object.keys(query).length > 0 ? "?" : ""}${new URLSearchParams(query).toString()}`,
      body,
    ]).toEqual([line, undefined]);
  });

  it.each([
    [
      "a swap across the account",
      { instId: swap, side: "buy", ordType: "limit", sz: "1.5", px: "60000", clOrdId: "a1", reduceOnly: false },
      { instId: swap, side: "buy", ordType: "limit", sz: "1.5", px: "60000", clOrdId: "a1", tdMode: "cross" },
    ],
    [
      "an exit of an isolated swap",
      { instId: swap, side: "sell", ordType: "market", sz: "2", reduceOnly: true, mgnMode: "isolated" },
      { instId: swap, side: "sell", ordType: "market", sz: "2", tdMode: "isolated", reduceOnly: true },
    ],
    [
      "spot at a price",
      { instId: "BTC-USDT", side: "buy", ordType: "ioc", sz: "0.1", px: "1" },
      { instId: "BTC-USDT", side: "buy", ordType: "ioc", sz: "0.1", px: "1", tdMode: "cash" },
    ],
    [
      "spot at the market, counted in base currency and not made smaller",
      { instId: "BTC-USDT", side: "buy", ordType: "market", sz: "0.1" },
      {
        instId: "BTC-USDT",
        side: "buy",
        ordType: "market",
        sz: "0.1",
        tdMode: "cash",
        tgtCcy: "base_ccy",
        banAmend: true,
      },
    ],
  ] as const)("places %s", (_, input, body) => {
    expect(written("placeOrder", input)).toEqual({ method: "POST", path: "/api/v5/trade/order", query: {}, body });
  });

  it("cancels, closes and sets leverage", () => {
    const batch = [
      { instId: swap, ordId: "7" },
      { instId: "BTC-USDT", clOrdId: "a1" },
    ];
    expect(written("cancelBatch", batch)).toMatchObject({ path: "/api/v5/trade/cancel-batch-orders", body: batch });
    expect(written("closePosition", { instId: swap })).toMatchObject({
      path: "/api/v5/trade/close-position",
      body: { instId: swap, mgnMode: "cross" },
    });
    expect(written("setLeverage", { instId: swap, lever: "3", mgnMode: "isolated" })).toMatchObject({
      path: "/api/v5/account/set-leverage",
      body: { instId: swap, lever: "3", mgnMode: "isolated" },
    });
  });

  it("lists by kind of instrument, both where neither is named", () => {
    expect(dialect.split("orderHistory", { limit: "5" })).toEqual([
      { limit: "5", instType: "SPOT" },
      { limit: "5", instType: "SWAP" },
    ]);
    expect(dialect.split("pendingOrders", { instId: swap })).toEqual([{ instId: swap, instType: "SWAP" }]);
    expect(dialect.split("instruments", { instType: "SPOT" })).toEqual([{ instType: "SPOT" }]);
    expect(dialect.split("positions", {})).toEqual([{}]);
  });
});

describe("Records of OKX", () => {
  const records = (endpoint: Parameters<typeof outcome>[0], data: unknown) => {
    const read = outcome(endpoint, ok(data));
    if (read.kind !== "done") throw new Error(JSON.stringify(read));
    return { records: read.records, problems: read.problems };
  };

  it("of orders read alike in every listing", () => {
    for (const endpoint of ["getOrder", "pendingOrders", "orderHistory"] as const) {
      expect(records(endpoint, [order])).toEqual({ records: [ours], problems: [] });
    }
  });

  it.each([
    [
      "an untouched market order",
      { px: "", avgPx: "0", accFillSz: "0", fee: "0", ordType: "market", state: "live", clOrdId: "" },
      { px: "", avgPx: "", accFillSz: "0", fee: "0", ordType: "market", state: "live", clOrdId: "" },
    ],
    ["one that market-maker protection ended", { state: "mmp_canceled" }, { state: "canceled" }],
    [
      "a fee on spot in quote currency, with a rebate",
      { instType: "SPOT", instId: "BTC-USDT", fee: "-0.5", rebate: "0.1" },
      { instId: "BTC-USDT", fee: "-0.4", feeCcy: "USDT" },
    ],
    [
      "a fee on spot in base currency",
      { instType: "SPOT", instId: "BTC-USDT", fee: "-0.0001", feeCcy: "BTC" },
      { instId: "BTC-USDT", fee: "-0.0001", feeCcy: "BTC" },
    ],
    [
      "a rebate on spot in base currency",
      { instType: "SPOT", instId: "BTC-USDT", fee: "0", rebate: "0.00002", rebateCcy: "BTC" },
      { instId: "BTC-USDT", fee: "0.00002", feeCcy: "BTC" },
    ],
    [
      "a fee in coins before a rebate in money",
      { instType: "SPOT", instId: "BTC-USDT", fee: "-0.0001", feeCcy: "BTC", rebate: "0.1" },
      { instId: "BTC-USDT", fee: "-0.0001", feeCcy: "BTC" },
    ],
    [
      "a rebate of a sale on spot, told in money and once more in coins",
      { instType: "SPOT", instId: "BTC-USDT", side: "sell", fee: "1.8", rebate: "0.00003", rebateCcy: "BTC" },
      { instId: "BTC-USDT", side: "sell", fee: "1.8", feeCcy: "USDT" },
    ],
    [
      "a fee of a sale on spot, less a rebate told once more in coins",
      { instType: "SPOT", instId: "BTC-USDT", side: "sell", fee: "-4.2", rebate: "0.00003", rebateCcy: "BTC" },
      { instId: "BTC-USDT", side: "sell", fee: "-4.2", feeCcy: "USDT" },
    ],
    [
      "a fee on spot in a third currency, which has no price",
      { instType: "SPOT", instId: "BTC-USDT", fee: "-0.1", feeCcy: "OKB" },
      { instId: "BTC-USDT", fee: "" },
    ],
    [
      "another client's order for an amount of quote currency",
      { instType: "SPOT", instId: "BTC-USDT", tgtCcy: "quote_ccy", sz: "100", fee: "0" },
      { instId: "BTC-USDT", sz: "0.3", fee: "0" },
    ],
  ])("of an order: %s", (_, theirs, changed) => {
    expect(records("getOrder", [{ ...order, ...theirs }])).toEqual({
      records: [{ ...ours, ...changed }],
      problems: [],
    });
  });

  it.each([
    ["an unknown state", { state: "resting" }],
    ["a missing field", { cTime: undefined }],
    ["a size that is null", { sz: null }],
    ["a size of more digits than are exact", { sz: "9".repeat(41) }],
    ["a number for a price", { px: 60000 }],
  ])("with %s cannot be read and name their order", (_, theirs) => {
    const read = outcome("pendingOrders", ok([order, { ...order, ordId: "8", ...theirs }]));
    expect(read).toMatchObject({ kind: "done", records: [ours], unread: [{ ordId: "8", clOrdId: "a1" }] });
  });

  it("of instruments count base currency, and leave out what is settled in coin or of no known name", () => {
    const spot = {
      baseCcy: "BTC",
      ctMult: "",
      ctType: "",
      ctVal: "",
      ctValCcy: "",
      instId: "BTC-USDT",
      instType: "SPOT",
      lever: "10",
      lotSz: "0.00000001",
      minSz: "0.00001",
      quoteCcy: "USDT",
      settleCcy: "",
      state: "live",
      tickSz: "0.1",
    };
    const linear = {
      baseCcy: "",
      ctMult: "1",
      ctType: "linear",
      ctVal: "0.01",
      ctValCcy: "BTC",
      instId: swap,
      instType: "SWAP",
      lever: "100",
      lotSz: "0.1",
      minSz: "0.1",
      quoteCcy: "",
      settleCcy: "USDT",
      state: "live",
      tickSz: "0.1",
    };
    const inverse = {
      ...linear,
      ctType: "inverse",
      ctVal: "100",
      ctValCcy: "USD",
      instId: "BTC-USD-SWAP",
      settleCcy: "BTC",
    };
    const strange = { ...linear, instId: "BTC-USD_UM-SWAP" };
    const list = {
      ...{ baseCurrency: "BTC", quoteCurrency: "USDT", settleCurrency: "USDT", tickSize: "0.1", state: "live" },
    };
    expect(records("instruments", [spot, linear, inverse, strange])).toEqual({
      records: [
        {
          ...list,
          instId: "BTC-USDT",
          instType: "SPOT",
          lotSize: "0.00000001",
          minSize: "0.00001",
          contractValue: "1",
        },
        {
          ...list,
          instId: swap,
          instType: "SWAP",
          lotSize: "0.001",
          minSize: "0.001",
          contractValue: "0.01",
          maxLeverage: "100",
        },
      ],
      problems: [],
    });
    expect(records("instruments", [{ ...linear, tickSz: "" }]).problems).toHaveLength(1);
  });

  it("of balances stand in the details of the account", () => {
    const details = [
      { ccy: "USDT", cashBal: "4850.435693622894", availBal: "4834.317093622894", frozenBal: "16.1186", eq: "4992.89" },
      { ccy: "BTC", cashBal: "1.50", availBal: "", availEq: "1.25", frozenBal: "0" },
    ];
    expect(records("spotBalance", [{ adjEq: "1", details }])).toEqual({
      records: [
        { currency: "USDT", balance: "4850.435693622894", available: "4834.317093622894", frozen: "16.1186" },
        { currency: "BTC", balance: "1.5", available: "1.25", frozen: "0" },
      ],
      problems: [],
    });
    expect(outcome("spotBalance", ok([{ adjEq: "1" }]))).toMatchObject({ kind: "unknown" });
  });

  it("of positions have a sign, and are not read in the mode of two sides", () => {
    const position = {
      avgPx: "2566.310",
      instId: swap,
      lever: "10",
      liqPx: "",
      markPx: "2353.849",
      margin: "",
      imr: "23.50",
      mgnMode: "cross",
      pos: "-1.20",
      posSide: "net",
      uTime: "1619507761462",
      upl: "-0.5",
    };
    expect(records("positions", [position])).toEqual({
      records: [
        {
          instId: swap,
          pos: "-1.2",
          avgPx: "2566.31",
          markPx: "2353.849",
          lever: "10",
          margin: "23.5",
          upl: "-0.5",
          liqPx: "",
          mgnMode: "cross",
          updatedAt: "1619507761462",
        },
      ],
      problems: [],
    });
    expect(records("positions", [{ ...position, pos: "1", posSide: "short" }]).problems).toEqual([
      expect.stringContaining("pos"),
    ]);
  });

  it("of closing and leverage", () => {
    expect(records("closePosition", [{ clOrdId: "", instId: swap, posSide: "net", tag: "" }])).toEqual({
      records: [{ instId: swap, clOrdId: "" }],
      problems: [],
    });
    expect(records("setLeverage", [{ lever: "30", mgnMode: "isolated", instId: swap, posSide: "" }])).toEqual({
      records: [{ instId: swap, lever: "30", mgnMode: "isolated" }],
      problems: [],
    });
  });
});

describe("Answers of OKX", () => {
  const placed = (part: object, code = "0") => ({
    code,
    msg: "",
    data: [{ clOrdId: "a1", ordId: "7", tag: "", sCode: "0", sMsg: "", ts: "1", ...part }],
    inTime: "1",
  });

  it("to a placement: taken, rejected with its second code, and with a code that proves nothing", () => {
    expect(outcome("placeOrder", placed({}))).toMatchObject({
      kind: "done",
      records: [{ ordId: "7", clOrdId: "a1", sCode: "0", sMsg: "" }],
    });
    expect(
      outcome("placeOrder", placed({ ordId: "", sCode: "51008_1000", sMsg: "Insufficient USDT balance" }, "1")),
    ).toMatchObject({
      kind: "done",
      records: [{ sCode: "51008" }],
    });
    expect(outcome("placeOrder", placed({ sCode: undefined }))).toMatchObject({ kind: "unknown" });
  });

  it.each([
    ["50011", 200, "placeOrder", { kind: "limited" }],
    ["50011", 429, "placeOrder", { kind: "limited" }],
    ["50061", 200, "placeOrder", { kind: "limited" }],
    ["50011", 429, "getOrder", { kind: "limited" }],
    ["50013", 429, "placeOrder", { kind: "unknown" }],
    ["50001", 503, "placeOrder", { kind: "unknown" }],
    ["50004", 400, "placeOrder", { kind: "unknown" }],
    ["50026", 500, "cancelBatch", { kind: "unknown" }],
    ["50113", 401, "placeOrder", { kind: "rejected", status: 401 }],
    ["50119", 200, "pendingOrders", { kind: "rejected", status: 401 }],
    ["50120", 200, "placeOrder", { kind: "rejected", status: 403 }],
    ["51000", 400, "placeOrder", { kind: "rejected", code: "51000" }],
    ["51023", 200, "closePosition", { kind: "rejected", code: "51023" }],
    ["59102", 200, "setLeverage", { kind: "rejected", code: "59102" }],
    ["51016", 200, "placeOrder", { kind: "unknown" }],
    ["59999", 200, "placeOrder", { kind: "unknown", unlisted: { code: "59999" } }],
    ["51603", 200, "getOrder", { kind: "done", records: [] }],
  ] as const)("with code %s and status %i to %s", (code, status, endpoint, end) => {
    expect(outcome(endpoint, { code, msg: "words", data: [] }, status)).toMatchObject(end);
  });

  it("whose one result is a limit or a key say so for the call", () => {
    expect(outcome("placeOrder", placed({ ordId: "", sCode: "50011", sMsg: "too fast" }, "1"))).toEqual({
      kind: "limited",
    });
    expect(outcome("placeOrder", placed({ ordId: "", sCode: "51149", sMsg: "timed out" }, "1"))).toMatchObject({
      kind: "unknown",
    });
  });

  it("to a batch keep every element in its place, whatever the envelope says", () => {
    const data = [
      { clOrdId: "", ordId: "1", sCode: "0", sMsg: "" },
      { clOrdId: "", ordId: "", sCode: "51400", sMsg: "gone" },
      { clOrdId: "", ordId: "3", sCode: "50011", sMsg: "soon" },
    ];
    for (const code of ["0", "1", "2"]) {
      expect(outcome("cancelBatch", { code, msg: "", data })).toMatchObject({
        kind: "done",
        records: [{ sCode: "0" }, { sCode: "51400" }, { sCode: "50011" }],
        problems: [],
      });
    }
  });

  it.each([
    undefined,
    null,
    "",
    "<html>",
    [],
    7,
    { code: "0" },
    { code: "0", msg: "" },
    ok({}),
    ok("x"),
    ok(null),
    ok(undefined),
    { msg: "", data: [] },
    { code: null, msg: "", data: [] },
  ])("of the form %j are no success", (body) => {
    for (const endpoint of [
      "placeOrder",
      "cancelBatch",
      "pendingOrders",
      "orderHistory",
      "spotBalance",
      "positions",
      "instruments",
      "setLeverage",
    ] as const) {
      expect(outcome(endpoint, body).kind).toBe("unknown");
    }
  });

  it("with records but without words are not the exchange's own", () => {
    expect(outcome("pendingOrders", { code: "0", data: [order] }).kind).toBe("unknown");
  });

  it("without an envelope are a limit where their status says so, but no proof for an order", () => {
    expect(outcome("getOrder", undefined, 429)).toEqual({ kind: "limited" });
    expect(outcome("placeOrder", undefined, 429)).toMatchObject({ kind: "unknown" });
    expect(answer("getOrder", "slow down", 429)).toEqual({ status: 429, headers: {}, body: undefined });
  });
});

describe("Sockets of OKX", () => {
  const push = (arg: object, data: unknown, part: object = {}) => heard({ arg, data, ...part });

  it("are three, and carry its words", () => {
    const profile = {} as never;
    expect(
      ["trades", "tickers", "books", "candle1m", "orders", "positions", "account"].map((channel) =>
        dialect.socketPath({ channel }, profile),
      ),
    ).toEqual([
      ...[
        "/ws/v5/public",
        "/ws/v5/public",
        "/ws/v5/public",
        "/ws/v5/business",
        "/ws/v5/private",
        "/ws/v5/private",
        "/ws/v5/private",
      ],
    ]);
    expect(
      dialect.say({ op: "subscribe", args: [{ channel: "orders" }, { channel: "trades", instId: swap }] }),
    ).toEqual([
      `{"op":"subscribe","args":[{"channel":"orders","instType":"ANY"},{"channel":"trades","instId":"${swap}"}]}`,
    ]);
    expect(dialect.say({ op: "pong" })).toEqual(["pong"]);
  });

  it("acknowledge, refuse, log in and announce", () => {
    expect(heard({ event: "subscribe", arg: { channel: "orders", instType: "ANY" }, connId: "a4" })).toEqual([
      { kind: "subscribed", arg: { channel: "orders" } },
    ]);
    expect(heard({ event: "unsubscribe", arg: { channel: "books", instId: swap } })).toEqual([
      { kind: "unsubscribed", arg: { channel: "books", instId: swap } },
    ]);
    expect(heard({ event: "login", code: "0", msg: "", connId: "a4" })).toEqual([
      { kind: "login", refused: undefined },
    ]);
    expect(heard({ event: "error", code: "60009", msg: "Login failed." })).toEqual([
      { kind: "error", arg: undefined, reason: "60009 Login failed." },
    ]);
    expect(heard({ event: "channel-conn-count", channel: "orders", connCount: "2", connId: "a4" })).toEqual([]);
    expect(heard({ event: "channel-conn-count-error", channel: "orders", connCount: "30" })).toMatchObject([
      { kind: "error", arg: { channel: "orders" } },
      { kind: "unsubscribed", arg: { channel: "orders" } },
    ]);
    expect(heard({ event: "notice", code: "64008", msg: "The connection will soon be closed." })).toMatchObject([
      { kind: "error", arg: undefined },
    ]);
    expect(heard("pong")).toEqual([{ kind: "pong" }]);
  });

  it("tell trades, quotes and minutes", () => {
    const arg = { channel: "trades", instId: swap };
    const trade = { instId: swap, tradeId: "130639474", px: "42219.9", sz: "0.120", side: "buy", ts: "1630048897897" };
    expect(push(arg, [{ ...trade, count: "3", seqId: 1 }])).toMatchObject([
      { kind: "push", push: { arg, data: [{ ...trade, sz: "0.12" }], seqId: undefined } },
    ]);
    const quote = {
      instId: swap,
      last: "9999.99",
      bidPx: "8888.88",
      bidSz: "5",
      askPx: "9999.99",
      askSz: "11",
      ts: "1597026383085",
    };
    expect(push({ channel: "tickers", instId: swap }, [{ instType: "SWAP", ...quote, lastSz: "0.1" }])).toMatchObject([
      { push: { data: [quote] } },
    ]);
    const row = [
      "1597026383085",
      "8533.02",
      "8553.74",
      "8527.17",
      "8548.26",
      "45247",
      "529.5858061",
      "5529.5858061",
      "0",
    ];
    const minute = {
      ts: "1597026383085",
      open: "8533.02",
      high: "8553.74",
      low: "8527.17",
      close: "8548.26",
      confirm: "0",
    };
    expect(push({ channel: "candle1m", instId: swap }, [row])).toMatchObject([
      { push: { data: [{ ...minute, instId: swap, volume: "529.5858061" }] } },
    ]);
    expect(push({ channel: "candle1m", instId: "BTC-USDT" }, [row])).toMatchObject([
      { push: { data: [{ ...minute, instId: "BTC-USDT", volume: "45247" }] } },
    ]);
  });

  it("tell books with their place in the sequence, and nothing of a book that stays as it is", () => {
    const arg = { channel: "books", instId: swap };
    const book = {
      asks: [["8476.98", "415", "0", "13"]],
      bids: [["8476.97", "256", "0", "12"]],
      ts: "1597026383085",
      checksum: -855196043,
      prevSeqId: -1,
      seqId: 123456,
    };
    const data = [{ instId: swap, asks: [["8476.98", "415"]], bids: [["8476.97", "256"]], ts: "1597026383085" }];
    expect(push(arg, [book], { action: "snapshot" })).toEqual([
      { kind: "push", push: { arg, data, action: "snapshot", seqId: 123456, prevSeqId: -1 } },
    ]);
    expect(push(arg, [{ ...book, prevSeqId: 123456, seqId: 123457 }], { action: "update" })).toMatchObject([
      { push: { seqId: 123457, prevSeqId: 123456 } },
    ]);
    expect(push(arg, [{ asks: [], bids: [], ts: "1", prevSeqId: 15, seqId: 15 }], { action: "update" })).toEqual([]);
    expect(push(arg, [{ ...book, prevSeqId: 15, seqId: 15 }], { action: "update" })).toHaveLength(1);
    // The sequence began anew: told, so that the gap is seen.
    expect(push(arg, [{ asks: [], bids: [], ts: "1", prevSeqId: 15, seqId: 3 }], { action: "update" })).toMatchObject([
      { push: { seqId: 3, prevSeqId: 15 } },
    ]);
  });

  it("tell the account's own orders, and not those of products that are not traded here", () => {
    const arg = { channel: "orders", instType: "ANY", uid: "614488474791111" };
    const heardOrders = push(arg, [
      order,
      { ...order, instType: "FUTURES", instId: "BTC-USD-250328" },
      { ...order, instType: "MARGIN", instId: "BTC-USDT" },
      7,
    ]);
    expect(heardOrders).toEqual([
      {
        kind: "push",
        push: {
          arg: { channel: "orders" },
          data: [ours, 7],
          action: undefined,
          seqId: undefined,
          prevSeqId: undefined,
        },
      },
    ]);
  });

  it.each([
    "",
    "null",
    "[]",
    "{",
    { event: "subscribe" },
    { event: "new" },
    { arg: { channel: "trades" } },
    { arg: { channel: "trades", instId: swap }, data: {} },
    { arg: { channel: "liquidations" }, data: [] },
    { arg: { channel: "books", instId: swap }, data: [], action: "update" },
    { arg: { channel: "books", instId: swap }, data: [{ asks: [], bids: [], ts: "1" }], action: "update" },
    {
      arg: { channel: "books", instId: swap },
      data: [{ asks: {}, bids: [], ts: "1", seqId: 1, prevSeqId: 0 }],
      action: "update",
    },
    { arg: { channel: "books", instId: swap }, data: [{ asks: [], bids: [], ts: "1", seqId: 1, prevSeqId: 0 }] },
    { arg: { channel: 7 }, data: [] },
  ])("report as malformed what they do not understand: %j", (message) => {
    expect(heard(message)).toMatchObject([{ kind: "malformed" }]);
  });
});
