/** One strategy that moves its order: changed at OKX, canceled and placed anew at the described service; fills and cash are equal. */
import { describe, expect, it, onTestFinished } from "vitest";
import { instId, traded } from "./harness/dialect-trading.ts";

const patience = { timeout: 20_000, interval: 5 };

const run = async (name: string) => {
  const t = await traded(name, onTestFinished);
  t.quote(599_990, 600_010);
  await t.engine.start();
  const open = () =>
    t
      .orders()
      .filter(({ state }) => state === "live" || state === "partially_filled")
      .map(({ px, size }) => `${px} ${size}`);
  const moves: readonly (readonly [px: string, qty: string])[] = [
    ["59000", "0.03"],
    ["59100", "0.03"],
    ["59100", "0.01"],
    ["59200", "0.02"],
    ["59990", "0.025"],
  ];
  for (const [px, qty] of moves) {
    t.wanted$.next([{ slot: "bid", instId, side: "buy", px, qty }]);
    await expect.poll(open, patience).toEqual([`${px} ${qty}`]);
    await expect.poll(() => t.updates.at(-1)?.spec?.px, patience).toBe(px);
    await expect.poll(() => t.updates.at(-1)?.phase, patience).toBe("live");
  }
  t.print("sell", 599_700, 1_000);
  await expect.poll(() => t.endings().filter(({ phase }) => phase === "filled").length, patience).toBe(1);
  const sent = (endpoint: string) =>
    t.events.filter((event) => event.type === "action.sent" && event.endpoint === endpoint).length;
  return {
    calls: [sent("placeOrder"), sent("amendOrder"), sent("cancelBatch")],
    orders: t.orders().length,
    fills: t.fills.map(({ side, px, qty, cost }) => [side, px, qty, cost].join(" ")),
    money: t.money(),
    problems: t.events.filter(({ type }) => /reject|refus|failed/.test(type)),
  };
};

describe("An order that is moved", () => {
  it("costs one call at OKX where it costs two at the described service, and trades the same", async () => {
    const [okx, described] = [await run("okx"), await run("described")];
    expect(okx).toMatchObject({ calls: [1, 4, 0], orders: 1 });
    expect(described).toMatchObject({ calls: [5, 0, 4], orders: 5 });
    // By hand: 0.025 at 59,990 is 1,499.75, of which 2 basis points are 0.29995.
    expect(okx.fills).toEqual(["buy 59990 0.025 0.29995"]);
    expect(okx.fills).toEqual(described.fills);
    expect(okx.money).toEqual(described.money);
    expect([okx.problems, described.problems]).toEqual([[], []]);
  });
});
