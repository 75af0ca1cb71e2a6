/**
 * Pending orders, history and instruments, kept true by listings.
 */
import { BehaviorSubject } from "rxjs";
import { describe, expect, it } from "vitest";
import type { OrderRecord } from "../../../../src/contract/schemas.ts";
import { bid, type Fault, type Rig, type RigOptions, ready, reply, swap } from "../../../support/harness/orders.ts";

/** Orders of somebody who shares the account. */
const placeElsewhere = (rig: Rig, count: number, px = "50000"): void => {
  for (let i = 0; i < count; i++) {
    const body = { instId: swap, side: "buy", ordType: "limit", px, sz: "100" };
    rig.venue.handle(
      { method: "POST", path: "/api/v1/trade/order", query: {}, body, key: "k1", ip: "2.2.2.2" },
      rig.clock.now(),
    );
  }
};
const pendingOf = (rig: Rig) => {
  const seen: { count: number; problem: string | undefined }[] = [];
  rig.resources.pending.value$.subscribe(({ value, problem }) => seen.push({ count: value.length, problem }));
  return seen;
};
const silent = (options: RigOptions = {}): Rig => ready({ push: false, ...options });
const ids = (records: readonly OrderRecord[]): string[] => records.map(({ ordId }) => ordId);

describe("The pending orders list", () => {
  it.each<[string, NonNullable<RigOptions["profile"]>]>([
    ["as assumed", {}],
    ["where pages run from old to new", { paging: { newestFirst: false } }],
    ["where a page includes its cursor", { paging: { cursorIncluded: true } }],
  ])("are read to their end over three pages, %s", (_, profile) => {
    const rig = silent({ profile });
    placeElsewhere(rig, 250);
    const seen = pendingOf(rig);
    rig.run(1_000);
    expect(seen.at(-1)).toEqual({ count: 250, problem: undefined });
    expect(rig.count("pendingOrders")).toBe(3);
    const listed = ids(rig.resources.pending.current.value);
    expect(listed).toEqual([...listed].sort((a, b) => (BigInt(a) < BigInt(b) ? 1 : -1)));
    for (const { request } of rig.arrivals) expect(request.query).not.toHaveProperty("before");
  });

  it("are no result when a page ignores the cursor", () => {
    let first: Fault["answer"];
    const rig = silent({
      fault: ({ endpoint, query }) =>
        endpoint === "pendingOrders" && "after" in query && first !== undefined
          ? { lost: true, answer: first }
          : undefined,
    });
    placeElsewhere(rig, 120);
    const page = rig.venue.handle(
      {
        method: "GET",
        path: "/api/v1/trade/orders/pending",
        query: { limit: "100" },
        body: undefined,
        key: "k1",
        ip: "2.2.2.2",
      },
      rig.clock.now(),
    );
    first = () => page;
    const seen = pendingOf(rig);
    rig.run(1_000);
    expect(seen).toEqual([{ count: 0, problem: expect.stringMatching(/holds orders that are not older/) as string }]);
  });

  it("an order that fills between two pages is not lost", () => {
    const rig = silent();
    placeElsewhere(rig, 60, "60000");
    placeElsewhere(rig, 90, "50000");
    pendingOf(rig);
    rig.run(20_000);
    expect(rig.resources.pending.current.value).toHaveLength(150);
    let traded = false;
    const firstPage = rig.count("pendingOrders");
    while (!traded) {
      rig.run(5);
      if (rig.count("pendingOrders") === firstPage) continue;
      // The first page is on its way back; the second has not been asked for.
      traded = true;
      rig.trade("sell", 60000, 0.0011);
      rig.trade("sell", 59999, 0.5);
    }
    rig.run(30_000);
    const filled = rig.truth().filter(({ state }) => state === "filled");
    expect(filled).toHaveLength(60);
    for (const { ordId } of filled) expect(rig.resources.store.find({ ordId })?.state).toBe("filled");
    expect(rig.resources.pending.current.value).toHaveLength(90);
    expect(rig.journalled("anomaly")).toEqual([]);
  });

  it("is not declared gone by a listing with an unreadable record", () => {
    const rig = silent();
    placeElsewhere(rig, 2);
    pendingOf(rig);
    rig.run(20_000);
    rig.next("pendingOrders", reply(200, { code: "0", msg: "", data: [{ ordId: 1 }] }));
    rig.run(11_000);
    expect(rig.count("orderHistory") + rig.count("getOrder")).toBe(0);
    expect(rig.resources.pending.current.value).toHaveLength(2);
    expect(rig.journalled("anomaly")).toMatchObject([{ what: "answer.unreadable" }]);
  });

  it.each([
    ["refused", reply(403, { code: "50001", msg: "denied" }), "50001 denied"],
    ["not JSON", reply(200, "<html>"), "pendingOrders: status 200 with a body that is not the service's"],
    ["an error in an envelope", reply(200, { code: "50003", msg: "busy", data: [] }), "pendingOrders: code 50003 busy"],
  ])("are stale and not empty when the answer is %s", (_, fault, problem) => {
    const rig = silent();
    placeElsewhere(rig, 2);
    const seen = pendingOf(rig);
    rig.run(9_000);
    for (let i = 0; i < 3; i++) rig.next("pendingOrders", fault);
    rig.run(9_000);
    expect(seen).toContainEqual({ count: 2, problem });
    expect(seen.filter(({ count }) => count !== 2)).toEqual([]);
  });

  it("are doubted when pushes stop, read more often meanwhile, and read once when pushes begin again", () => {
    const pushing$ = new BehaviorSubject(true);
    const rig = ready({ pushing$ });
    placeElsewhere(rig, 2);
    const seen = pendingOf(rig);
    rig.run(29_000);
    expect(rig.count("pendingOrders")).toBe(1);
    pushing$.next(false);
    expect(seen.at(-1)).toEqual({ count: 2, problem: "pushes have stopped" });
    rig.run(25_000);
    expect(rig.count("pendingOrders")).toBe(4);
    pushing$.next(true);
    expect(seen.at(-1)).toEqual({ count: 2, problem: "pushes begin again" });
    rig.run(1_000);
    expect(seen.at(-1)).toEqual({ count: 2, problem: undefined });
    rig.run(28_000);
    expect(rig.count("pendingOrders")).toBe(5);
  });

  it.each([
    ["listed", false],
    ["pushed", true],
  ])("cannot be changed by one who looks for the others, %s", (_, push) => {
    const rig = ready({ push });
    rig.want(bid());
    pendingOf(rig);
    rig.run(20_000);
    const [list, [record]] = [rig.resources.pending.current.value, rig.resources.pending.current.value];
    expect(record?.px).toBe("60000");
    expect(() => Object.assign(record as object, { px: "1" })).toThrow(TypeError);
    expect(() => (list as OrderRecord[]).pop()).toThrow(TypeError);
    expect(rig.resources.pending.current.value).toMatchObject([{ px: "60000" }]);
  });

  it("that was cancelled a moment after it was seen is looked for at once, though it is so young that it might not be listed yet", () => {
    const pushing$ = new BehaviorSubject(true);
    const rig = ready({ pushing$, push: false });
    pendingOf(rig);
    rig.run(1_000);
    rig.want(bid());
    rig.run(200);
    rig.resources.pending.refresh();
    rig.run(200);
    expect(rig.phases("bid").at(-1)).toBe("live");
    rig.want();
    rig.run(3_000);
    expect(rig.phases("bid").at(-1)).toBe("canceled");
    expect(rig.count("cancelBatch")).toBe(1);
  });

  it("that is nowhere any more is said to have vanished", () => {
    const rig = silent({ profile: { history: { unfilledCanceledVanish: true } } });
    placeElsewhere(rig, 1);
    pendingOf(rig);
    rig.run(20_000);
    const [order] = rig.truth();
    const body = [{ instId: swap, ordId: order?.ordId }];
    rig.venue.handle(
      { method: "POST", path: "/api/v1/trade/cancel-batch-orders", query: {}, body, key: "k1", ip: "2.2.2.2" },
      rig.clock.now(),
    );
    rig.run(20_000);
    expect(rig.resources.pending.current.value).toEqual([]);
    expect(rig.journalled("anomaly")).toMatchObject([{ what: "order.vanished" }]);
  });

  it("of ours that vanished keeps its slot until that is proved, and is not placed again: it may have been filled", () => {
    const rig = silent({ profile: { history: { unfilledCanceledVanish: true } } });
    pendingOf(rig);
    rig.want(bid());
    rig.run(20_000);
    const [order] = rig.truth();
    const body = [{ instId: swap, ordId: order?.ordId }];
    rig.venue.handle(
      { method: "POST", path: "/api/v1/trade/cancel-batch-orders", query: {}, body, key: "k1", ip: "2.2.2.2" },
      rig.clock.now(),
    );
    rig.run(15_000);
    expect(rig.count("placeOrder")).toBe(1);
    rig.run(120_000);
    expect(rig.phases("bid").at(-1)).toBe("absent");
    expect(rig.resting()).toEqual([]);
    expect(rig.count("placeOrder")).toBe(1);
  });

  it("have one read under way however many listen", () => {
    const rig = silent();
    for (let i = 0; i < 5; i++) pendingOf(rig);
    rig.run(9_000);
    expect(rig.count("pendingOrders")).toBe(1);
  });
});

describe("The order history", () => {
  it("is read although there is more of it than one page holds", () => {
    const rig = silent();
    placeElsewhere(rig, 150, "60000");
    rig.trade("sell", 59999, 5);
    const seen: string[] = [];
    rig.resources.history.value$.subscribe(({ value, stale }) => seen.push(`${value.length} ${stale}`));
    rig.run(1_000);
    expect(seen).toEqual(["100 false"]);
    expect(rig.count("orderHistory")).toBe(1);
  });

  it("grows by what is pushed", () => {
    const rig = ready();
    rig.resources.history.value$.subscribe();
    rig.run();
    rig.want(bid());
    rig.run();
    rig.trade("sell", 59999, 1);
    rig.run();
    expect(rig.resources.history.current.value.map(({ state }) => state)).toEqual(["filled"]);
    expect(rig.count("orderHistory")).toBe(1);
  });
});

describe("The instruments list", () => {
  it("come, go and change while somebody listens", () => {
    const rig = ready({ profile: { instruments: { refreshMs: 60_000 } } });
    const seen: string[] = [];
    rig.resources.instruments.value$.subscribe(({ value }) =>
      seen.push([...value.values()].map(({ instId, tickSize }) => `${instId} ${tickSize}`).join()),
    );
    rig.venue.list({ instId: "SOL-USDT-SWAP", tickSize: "0.01", lotSize: "0.1" }, rig.clock.now());
    rig.run(60_000);
    rig.venue.delist("SOL-USDT-SWAP", rig.clock.now());
    rig.venue.change(swap, { tickSize: "0.5" }, rig.clock.now());
    rig.run(60_000);
    expect(seen[0]).not.toContain("SOL");
    expect(seen[1]).toContain("SOL-USDT-SWAP 0.01");
    expect(seen[2]).not.toContain("SOL");
    expect(seen[2]).toContain(`${swap} 0.5`);
  });

  it("are read in either spelling, and those that cannot be traded are left out", () => {
    const short = ready({ profile: { instruments: { fieldNames: "short" } } });
    expect(short.resources.instruments.current.value.get(swap)).toMatchObject({
      tickSize: "0.1",
      lotSize: "0.001",
      instType: "SWAP",
    });
    const odd = ready({
      fault: ({ endpoint }) =>
        endpoint === "instruments"
          ? reply(200, {
              code: 0,
              data: [
                { instId: "A-B", tickSz: "0", lotSz: "1" },
                { instId: "C-D", tickSz: "1", lotSz: "1", status: "suspend" },
                { instId: "E-F", tickSz: "1" },
                { instId: "G-H", tickSz: "1", lotSz: "1", more: true },
              ],
            })
          : undefined,
    });
    expect([...odd.resources.instruments.current.value.keys()]).toEqual(["G-H"]);
  });
});

it("Balances and positions are read while somebody listens", () => {
  const rig = ready();
  const balances: unknown[] = [];
  rig.resources.balances.value$.subscribe(({ value }) => balances.push(value));
  const positions = rig.resources.positions.value$.subscribe();
  rig.run();
  positions.unsubscribe();
  rig.run(60_000);
  expect(rig.count("spotBalance")).toBe(5);
  expect(rig.count("positions")).toBe(1);
  expect(balances[0]).toMatchObject([{ currency: "USDT" }, { currency: "BTC" }]);
});
