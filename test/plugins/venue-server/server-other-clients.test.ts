/** The parts of a fault plan that are no single request's: what other programs spend, and listings that lag. */
import { describe, expect, it } from "vitest";
import { keys, serverSetting, startAt } from "./harness/server.ts";

describe("Other programs of a user", () => {
  it("spend what the plan says on average, at moments of their own", async () => {
    const { get, clock, venue } = await serverSetting({
      limits: true,
      faults: { seed: 3, foreign: [{ uid: "bob", weightPerMinute: 400 }] },
    });
    const usedBy = async (key: typeof keys.bob): Promise<number> => {
      const { headers } = await get("common/instruments", { key });
      return Number(headers["x-ratelimit-uid-weight-used"]) - 2;
    };
    const spent: number[] = [];
    for (let minute = 0; minute < 10; minute++) {
      clock.advanceTo(startAt + 40_000 + minute * 60_000 + 59_999);
      spent.push(await usedBy(keys.bob));
      expect(await usedBy(keys.ann)).toBe(0);
    }
    const mean = spent.reduce((total, weight) => total + weight, 0) / spent.length;
    expect(mean).toBeGreaterThan(330);
    expect(mean).toBeLessThan(470);
    expect(new Set(spent).size).toBeGreaterThan(5);
    expect(venue.meterReport().requests).toBe(20);
  });

  it("block the user when they spend too much, and stop with the server", async () => {
    const { get, clock, server } = await serverSetting({
      limits: true,
      faults: { foreign: [{ weightPerMinute: 6_000 }] },
    });
    clock.advanceTo(startAt + 39_999);
    expect((await get("common/instruments", { key: keys.ann })).status).toBe(429);
    expect((await get("common/instruments", { key: keys.bob })).status).toBe(200);
    await server.close();
    expect(clock.pending).toBe(0);
  });

  it("must be somebody's", async () => {
    await expect(serverSetting({ faults: { foreign: [{ uid: "anne", weightPerMinute: 1 }] } })).rejects.toThrow(
      'faults.foreign.0.uid: there is no user "anne". Did you mean "ann"?',
    );
  });
});

describe("Late listings", () => {
  const late = { faults: { listings: { lagMs: 2_000 } } } as const;
  const cancel = (ordId: unknown) => [{ instId: "BTC-USDT-SWAP", ordId }];

  it("show orders as they were a while ago, and one order as it is", async () => {
    const { get, post, place, clock } = await serverSetting(late);
    const listed = async (which: "pending" | "history", query = ""): Promise<unknown> => {
      const heard = await get(`trade/orders/${which}`, { key: keys.ann, query });
      return heard.body.data.map(({ ordId, state }) => `${String(ordId).slice(-1)} ${String(state)}`);
    };
    const placed = await place();
    const ordId = placed.body.data[0]?.["ordId"];
    expect((await get("trade/order", { key: keys.ann, query: `ordId=${String(ordId)}` })).body.data).toMatchObject([
      { state: "live" },
    ]);
    expect(await listed("pending")).toEqual([]);
    clock.advanceTo(startAt + 1_999);
    expect(await listed("pending")).toEqual([]);
    clock.advanceTo(startAt + 2_000);
    expect(await listed("pending")).toEqual(["1 live"]);
    await post("trade/cancel-batch-orders", cancel(ordId), { key: keys.ann });
    expect((await get("trade/order", { key: keys.ann, query: `ordId=${String(ordId)}` })).body.data).toMatchObject([
      { state: "canceled" },
    ]);
    expect([await listed("pending"), await listed("history")]).toEqual([["1 live"], []]);
    clock.advanceTo(startAt + 4_000);
    expect([await listed("pending"), await listed("history")]).toEqual([[], ["1 canceled"]]);
    expect([await listed("history", "state=filled"), await listed("history", "instType=SPOT")]).toEqual([[], []]);
  });

  it("show the fill of that moment, however many came since", async () => {
    const { get, place, venue, clock } = await serverSetting(late);
    await place({ px: "60000.5", sz: "6000" });
    for (const at of [100, 2_500, 2_600, 2_700]) {
      clock.advanceTo(startAt + at);
      venue.trade("BTC-USDT-SWAP", "sell", 600_005, 10, startAt + at);
    }
    clock.advanceTo(startAt + 4_550);
    const { data } = (await get("trade/orders/pending", { key: keys.ann })).body;
    expect(data).toMatchObject([
      { state: "partially_filled", accFillSz: "1200.01", updatedAt: String(startAt + 2_500) },
    ]);
  });

  it("page like the service's own", async () => {
    const settings = await Promise.all([serverSetting(), serverSetting(late)]);
    for (const setting of settings) {
      for (let count = 0; count < 7; count++) await setting.place({ px: String(50_000 + count) });
      await setting.place({ instId: "BTC-USDT", px: "50000" });
      setting.clock.advanceTo(startAt + 5_000);
    }
    const id = (n: number): string => `100000000000000000${n}`;
    const queries = [
      "",
      "limit=3",
      `after=${id(5)}&limit=2`,
      `before=${id(3)}`,
      `after=${id(7)}&before=${id(2)}`,
      "instId=BTC-USDT",
      "instType=SWAP&limit=2",
    ];
    for (const query of queries) {
      const [prompt, lagging] = await Promise.all(
        settings.map(({ get }) => get("trade/orders/pending", { key: keys.ann, query })),
      );
      expect(prompt?.body.data.length, query).toBeGreaterThan(0);
      expect(lagging?.body, query).toEqual(prompt?.body);
    }
  });

  it("leave refusals to the service", async () => {
    const { get } = await serverSetting(late);
    expect((await get("trade/orders/pending")).status).toBe(401);
    expect((await get("trade/orders/pending", { key: keys.ann, query: "limit=1000" })).status).toBe(400);
  });
});
