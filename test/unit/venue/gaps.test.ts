/**
 * What the description leaves open, played both ways through the profile.
 */
import { describe, expect, it } from "vitest";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { setting, spot, swap } from "../../support/harness/venue.ts";

const cancelPath = "trade/cancel-batch-orders";

describe("Gap G3:", () => {
  it.each([
    ["ms", "1700000000001"],
    ["s", "1700000000"],
    ["us", "1700000000001000"],
  ] as const)("times are in %s", (timeUnit, text) => {
    const { placed, order } = setting({ order: { timeUnit } });
    expect(order(placed({})).createdAt).toBe(text);
  });

  it.each([
    ["negative_is_cost", "-3"],
    ["positive_is_cost", "3"],
  ] as const)("a fee paid is %s", (feeSign, fee) => {
    const { quote, placed, order, fills, balance } = setting({ order: { feeSign } });
    quote(swap, 59999.9, 1, 60000, 1);
    expect(order(placed({ sz: "6000" })).fee).toBe(fee);
    expect(fills[0]).toMatchObject({ fee, cost: "3" });
    expect(balance("USDT")?.balance).toBe("99997");
  });
});

describe("Gap H3, the unit of sz:", () => {
  const sizes: readonly (readonly [ProfileOverrides, string, string])[] = [
    [{ order: { szUnit: { SPOT: "base", SWAP: "quote_notional" } } }, "6000.05", "6000"],
    [{ order: { szUnit: { SPOT: "base", SWAP: "base" } } }, "0.1", "0.1"],
  ];
  it.each(sizes)("%j: sz %s is filled to %s", (profile, sz, accFillSz) => {
    const { quote, placed, order, fills } = setting(profile);
    quote(swap, 59999.9, 1, 60000, 1);
    expect(order(placed({ sz }))).toMatchObject({ state: "filled", sz, accFillSz });
    expect(fills[0]?.qty).toBe("0.1");
  });

  it("contracts are multiplied by their value, and positions count them", () => {
    const { venue, placed, order, fills, position } = setting({
      order: { szUnit: { SPOT: "base", SWAP: "contracts" } },
    });
    venue.quote("ETH-USDT-SWAP", 299999, 1000, 300000, 1000, 1);
    const ordId = placed({ instId: "ETH-USDT-SWAP", px: "3000", sz: "2.5" });
    expect(order(ordId)).toMatchObject({ state: "filled", accFillSz: "2.5", avgPx: "3000" });
    expect(fills[0]?.qty).toBe("0.25");
    expect(position("ETH-USDT-SWAP")?.pos).toBe("2.5");
  });

  it.each([
    ["base", "0.0005"],
    ["base", "0.0015"],
    ["contracts", "0.0015"],
    ["quote_notional", "59"],
    ["quote_notional", "0"],
    ["quote_notional", "-600"],
    ["quote_notional", "0.0000000000000000001"],
    ["quote_notional", "9999999999999999999999999999999999999999"],
  ] as const)("in %s, sz %s is off the lot or too small", (unit, sz) => {
    expect(setting({ order: { szUnit: { SPOT: unit, SWAP: unit } } }).place({ sz })).toMatchObject({
      status: 200,
      body: { code: "51020" },
    });
  });
});

describe("Gap G5: an order that is not found", () => {
  it("is an error with a code, or an empty success", () => {
    expect(setting().read("trade/order", { ordId: "1" })).toMatchObject({
      status: 200,
      body: { code: "51603", data: [] },
    });
    expect(setting({ answers: { notFound: "empty" } }).read("trade/order", { ordId: "1" })).toMatchObject({
      status: 200,
      body: { code: "0", data: [] },
    });
    expect(setting({ answers: { orderErrorStatus: 400 } }).read("trade/order", { ordId: "1" }).status).toBe(400);
  });
});

describe("Gap H2: the envelope", () => {
  it("spells success and the data of a failure as the profile says", () => {
    expect(setting({ answers: { successMsg: "success" } }).read("asset/spot").body.msg).toBe("success");
    expect(setting({ answers: { dataOnError: "object" } }).read("trade/order").body.data).toEqual({});
    expect("data" in setting({ answers: { dataOnError: "absent" } }).read("trade/order").body).toBe(false);
  });
});

describe("Gap H9: decimals that do not exist", () => {
  it.each(["", "0"] as const)('are written as "%s"', (emptyDecimal) => {
    const { placed, order } = setting({ order: { emptyDecimal } });
    expect(order(placed({ ordType: "market", px: undefined }))).toMatchObject({
      px: emptyDecimal,
      avgPx: emptyDecimal,
      accFillSz: "0",
      fee: "0",
    });
  });
});

describe("Gap H10: a client id", () => {
  it.each(["with space", "ümlaut", "a".repeat(33), "under_score"])("%s is refused", (clOrdId) => {
    expect(setting().place({ clOrdId }).body.code).toBe("51000");
  });

  it("follow another pattern when the profile has one", () => {
    expect(setting({ order: { clOrdIdPattern: "^[a-z_]+$" } }).place({ clOrdId: "under_score" }).body.code).toBe("0");
  });

  it.each([
    ["refused_while_open", "51016", "0"],
    ["refused", "51016", "51016"],
    ["accepted", "0", "0"],
  ] as const)("used twice: %s", (duplicateClOrdId, whileOpen, afterwards) => {
    const { placed, place, write } = setting({ order: { duplicateClOrdId } });
    const ordId = placed({ clOrdId: "one" });
    expect(place({ clOrdId: "one" }).body.code).toBe(whileOpen);
    write(cancelPath, [{ instId: swap, ordId }]);
    if (duplicateClOrdId !== "accepted") expect(place({ clOrdId: "one" }).body.code).toBe(afterwards);
  });

  it("name the latest order when accepted twice", () => {
    const { placed, read, ids } = setting({ order: { duplicateClOrdId: "accepted" } });
    placed({ clOrdId: "one" });
    const second = placed({ clOrdId: "one" });
    expect(ids(read("trade/order", { clOrdId: "one" }))).toEqual([second]);
  });
});

describe("Gaps G8, G9: a batch cancel", () => {
  const two = (profile: ProfileOverrides) => {
    const it = setting(profile);
    const ordId = it.placed({ clOrdId: "mine" });
    return {
      ...it,
      ordId,
      elements: [
        { instId: swap, ordId },
        { instId: swap, ordId: "1" },
      ],
    };
  };

  it("spells results as sCode and sMsg, or as code and msg", () => {
    const { write, ordId, elements } = two({ cancelBatch: { resultFields: "code" } });
    expect(write(cancelPath, elements).body.data).toEqual([
      { ordId, clOrdId: "mine", code: "0", msg: "" },
      { ordId: "1", clOrdId: "", code: "51400", msg: expect.any(String) },
    ]);
    const other = setting({ cancelBatch: { resultFields: "code" } });
    expect(other.place({}).body.data[0]).toMatchObject({ code: "0", msg: "" });
  });

  it("has envelope codes of its own for mixed and for failed batches", () => {
    const { write, elements } = two({ cancelBatch: { envelopeCodeWhenMixed: "2", envelopeCodeWhenAllFailed: "7" } });
    expect(write(cancelPath, elements)).toMatchObject({ status: 200, body: { code: "2" } });
    expect(write(cancelPath, elements)).toMatchObject({ status: 200, body: { code: "7" } });
    expect(setting().write(cancelPath, elements).body.code).toBe("1");
  });

  it("takes as many elements as the profile says", () => {
    const { write } = setting({ cancelBatch: { elementsMax: 2 } });
    const some = (count: number) => Array.from({ length: count }, () => ({ instId: swap, ordId: "1" }));
    expect(write(cancelPath, some(2)).status).toBe(200);
    expect(write(cancelPath, some(3)).status).toBe(400);
  });

  it.each([
    [true, 400],
    [false, 200],
  ])("one kind of id per call: %s", (oneIdKind, status) => {
    const { write, ordId, order } = two({ cancelBatch: { oneIdKind } });
    const reply = write(cancelPath, [
      { instId: swap, ordId },
      { instId: swap, clOrdId: "other" },
    ]);
    expect(reply.status).toBe(status);
    expect(order(ordId).state).toBe(oneIdKind ? "live" : "canceled");
  });

  it("fails an element without any id, and one with the wrong product", () => {
    const { write, results, ordId } = two({});
    const reply = write(cancelPath, [{ instId: swap }, { instId: "ETH-USDT-SWAP", ordId }]);
    expect(results(reply).map(({ sCode }) => sCode)).toEqual(["51000", "51400"]);
  });
});

describe("Gaps G2, G13: the instruments endpoint", () => {
  it("has short field names where the profile says so", () => {
    const { read } = setting({ instruments: { fieldNames: "short" } });
    expect(read("common/instruments", { instId: swap }).body.data[0]).toEqual({
      instId: swap,
      instType: "SWAP",
      baseCcy: "BTC",
      quoteCcy: "USDT",
      settleCcy: "USDT",
      tickSz: "0.1",
      lotSz: "0.001",
      minSz: "0.001",
      ctVal: "1",
      lever: "50",
      state: "live",
    });
  });

  it("needs a key where the profile says so", () => {
    const { read } = setting({ instruments: { needsKey: true } });
    expect(read("common/instruments", {}, { key: undefined }).status).toBe(401);
    expect(read("common/instruments").status).toBe(200);
  });
});

describe("Gap H4: canceling spot orders", () => {
  it("works where the profile has it", () => {
    const { placed, write, order, balance } = setting({ capabilities: { cancelSpot: true } });
    const ordId = placed({ instId: spot });
    write(cancelPath, [{ instId: spot, ordId }]);
    expect(order(ordId).state).toBe("canceled");
    expect(balance("USDT")?.frozen).toBe("0");
  });
});

describe("Permissions and codes of the profile", () => {
  it("are those of the profile", () => {
    const { read, place } = setting({
      permissions: { account: "wallet" },
      answers: {
        permissionStatus: 418,
        permissionCode: "1",
        priceCode: "2",
        badRequestStatus: 422,
        badRequestCode: "3",
      },
    });
    expect(read("asset/spot")).toMatchObject({ status: 418, body: { code: "1" } });
    expect(place({ px: "0.05" }).body.code).toBe("2");
    expect(read("trade/order")).toMatchObject({ status: 422, body: { code: "3" } });
  });

  it("refuse words the profile does not list (G1)", () => {
    const { place } = setting({ order: { ordTypes: ["limit"] } });
    expect(place({ ordType: "ioc" }).body.code).toBe("51000");
    expect(place({ ordType: "limit" }).body.code).toBe("0");
  });
});
