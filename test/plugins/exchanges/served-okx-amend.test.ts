/** Changes of orders as OKX takes them, asked of the embedded service over HTTP: places in the queue, sizes, money, refusals. */
import { describe, expect, it } from "vitest";
import { startAt } from "../venue-server/harness/server.ts";
import { servedSetting } from "./harness/served.ts";

const trade = "/api/v5/trade";
const swap = { instId: "BTC-USDT-SWAP", tdMode: "cross", side: "buy", ordType: "limit", px: "59000", sz: "1" };

/** At the best bid, where the queue is shown. */
const best = { px: "60000" };

const setting = async () => {
  const { post, get, venue, ...rest } = await servedSetting("okx");
  const place = async (over: object = {}) =>
    (await post(`${trade}/order`, { ...swap, ...over })).body.data[0] as { readonly ordId: string };
  const amend = async (body: object) => (await post(`${trade}/amend-order`, { instId: swap.instId, ...body })).body;
  const show = async (ordId: string) => {
    const { data } = (await get(`${trade}/order`, `instId=${swap.instId}&ordId=${ordId}`)).body;
    const { px, sz, state, accFillSz } = data[0] as Readonly<Record<string, string>>;
    return `${state} ${sz} at ${px}, ${accFillSz} filled`;
  };
  const frozen = async () => {
    const { data } = (await get("/api/v5/account/balance", "ccy=USDT")).body;
    return (data[0] as { details: readonly { frozenBal: string }[] }).details[0]?.frozenBal;
  };
  /** So many contracts of ten lots are sold at the best bid beyond all that is shown there. */
  const sold = (contracts: number) => venue.trade(swap.instId, "sell", 600_000, 100_000 + contracts * 10, startAt);
  return { ...rest, venue, post, get, place, amend, show, frozen, sold };
};

describe("A change of an order at OKX", () => {
  it("answers with the ids, and leaves the order its own", async () => {
    const { place, amend, show } = await setting();
    const { ordId } = await place({ clOrdId: "mine" });
    const answer = await amend({ clOrdId: "mine", newPx: "58000", reqId: "r1" });
    expect(answer).toEqual({
      code: "0",
      msg: "",
      data: [{ ordId, clOrdId: "mine", reqId: "r1", sCode: "0", sMsg: "" }],
    });
    expect(await show(ordId)).toBe("live 1 at 58000, 0 filled");
  });

  it.each([
    [
      "a smaller size keeps",
      { newSz: "0.4" },
      ["filled 0.4 at 60000, 0.4 filled", "partially_filled 1 at 60000, 0.1 filled"],
    ],
    [
      "a larger size loses",
      { newSz: "1.4" },
      ["live 1.4 at 60000, 0 filled", "partially_filled 1 at 60000, 0.5 filled"],
    ],
  ])("to %s its place in the queue", async (_, change, expected) => {
    const { place, amend, show, sold } = await setting();
    const [first, second] = [await place(best), await place(best)];
    expect((await amend({ ordId: first.ordId, ...change })).code).toBe("0");
    sold(0.5);
    expect([await show(first.ordId), await show(second.ordId)]).toEqual(expected);
  });

  it("to another price and back loses its place as well", async () => {
    const { place, amend, show, sold } = await setting();
    const [first, second] = [await place(best), await place(best)];
    await amend({ ordId: first.ordId, newPx: "59999.9" });
    await amend({ ordId: first.ordId, newPx: "60000" });
    sold(0.5);
    expect([await show(first.ordId), await show(second.ordId)]).toEqual([
      "live 1 at 60000, 0 filled",
      "partially_filled 1 at 60000, 0.5 filled",
    ]);
  });

  it("counts in its size what was executed, and ends the order where that is all", async () => {
    const { place, amend, show, sold } = await setting();
    const { ordId } = await place(best);
    sold(0.3);
    expect((await amend({ ordId, newSz: "0.5" })).code).toBe("0");
    expect(await show(ordId)).toBe("partially_filled 0.5 at 60000, 0.3 filled");
    expect((await amend({ ordId, newSz: "0.2" })).code).toBe("0");
    expect(await show(ordId)).toMatch(/^filled .*, 0\.3 filled$/);
    expect((await amend({ ordId, newSz: "1" })).data).toMatchObject([{ sCode: "51503" }]);
  });

  it("sets aside what it is worth now", async () => {
    const { place, amend, frozen } = await setting();
    const { ordId } = await place();
    // By hand: 0.01 BTC at 59,000 is 590; a tenth of it, and 5 basis points of fees.
    expect(await frozen()).toBe("59.295");
    await amend({ ordId, newSz: "0.5" });
    expect(await frozen()).toBe("29.6475");
    await amend({ ordId, newSz: "2", newPx: "50000" });
    expect(await frozen()).toBe("100.5");
  });

  it("shows another client what it showed it before: ccxt 4.5.84 with createOrder and editOrder", async () => {
    const { place, amend, show, frozen } = await setting();
    const { ordId } = await place({ px: "30000", sz: "1" });
    expect([await show(ordId), await frozen()]).toEqual(["live 1 at 30000, 0 filled", "30.15"]);
    const body = { ordId, clOrdId: "6b9ad766b55dBCDEdacbeb0094c3bd9d", newSz: "0.5", newPx: "30100" };
    expect((await amend(body)).data).toMatchObject([{ ordId, reqId: "", sCode: "0", sMsg: "" }]);
    expect([await show(ordId), await frozen()]).toEqual(["live 0.5 at 30100, 0 filled", "15.12525"]);
  });

  it("that cannot be paid for changes nothing", async () => {
    const { place, amend, show, frozen } = await setting();
    const { ordId } = await place();
    const before = await frozen();
    expect(await amend({ ordId, newSz: "1000000" })).toMatchObject({ code: "1", data: [{ ordId, sCode: "51008" }] });
    expect([await show(ordId), await frozen()]).toEqual(["live 1 at 59000, 0 filled", before]);
  });

  it("to a price that takes trades at once", async () => {
    const { place, amend, show } = await setting();
    const { ordId } = await place();
    await amend({ ordId, newPx: "60001" });
    expect(await show(ordId)).toMatch(/^filled 1 /);
  });

  it("of a post-only order to a price that takes cancels it", async () => {
    const { place, amend, show } = await setting();
    const { ordId } = await place({ ordType: "post_only" });
    await amend({ ordId, newPx: "60001" });
    expect(await show(ordId)).toMatch(/^canceled 1 .*, 0 filled$/);
  });

  it.each([
    ["without a product", { instId: "", ordId: "1", newSz: "1" }, "50014"],
    ["without an id", { newSz: "1" }, "50015"],
    ["to nothing", { ordId: "1" }, "50015"],
  ])("%s is refused as a whole", async (_, body, code) => {
    const { amend } = await setting();
    expect(await amend(body)).toMatchObject({ code, data: [] });
  });

  it.each([
    ["an order that does not exist", { ordId: "1", newSz: "1" }, "51503"],
    ["to a size of zero", { clOrdId: "mine", newSz: "0" }, "51121"],
    ["to a price off the tick", { clOrdId: "mine", newPx: "59000.05" }, "51000"],
    ["to a size off the lot", { clOrdId: "mine", newSz: "0.05" }, "51121"],
  ])("of %s is refused by its element", async (_, body, sCode) => {
    const { amend, place } = await setting();
    await place({ clOrdId: "mine" });
    expect(await amend(body)).toMatchObject({ code: "1", data: [{ sCode }] });
  });

  it("is made of several at once, each by itself", async () => {
    const { post, place, show } = await setting();
    const [a, b] = [await place(), await place()];
    const elements = [
      { instId: swap.instId, ordId: a.ordId, newSz: "0.2" },
      { instId: swap.instId, ordId: "1", newSz: "0.2" },
      { instId: swap.instId, ordId: b.ordId, newPx: "58000" },
    ];
    const { body } = await post(`${trade}/amend-batch-orders`, elements);
    expect([body.code, body.data.map(({ sCode }) => sCode)]).toEqual(["2", ["0", "51503", "0"]]);
    expect([await show(a.ordId), await show(b.ordId)]).toEqual([
      "live 0.2 at 59000, 0 filled",
      "live 1 at 58000, 0 filled",
    ]);
  });

  it("is not offered by BloFin", async () => {
    const { post } = await servedSetting("blofin");
    expect(
      (await post("/api/v1/trade/amend-order", { instId: "BTC-USDT", orderId: "1", newSize: "1" })).body.code,
    ).toBe("404");
  });
});
