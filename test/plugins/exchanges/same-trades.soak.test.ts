/** The same strategy and config with one line changed: orders, fills and cash are equal on both sides, whatever is spoken on the wire. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { OpenLive } from "../../../src/client/live/live-service.ts";
import type { WantedOrder } from "../../../src/index.ts";
import { instId, traded, variants } from "./harness/dialect-trading.ts";

const order = (slot: string, side: "buy" | "sell", part: Partial<WantedOrder>): WantedOrder => ({
  slot,
  instId,
  side,
  ...part,
});
const patience = { timeout: 20_000, interval: 5 };

/** Bids and is filled in part, takes, moves an ask, is lifted, and closes. */
const run = async (name: string) => {
  // As at the described service, an order that is to be another one is canceled and placed anew.
  const t = await traded(name, onTestFinished, {}, { capabilities: { amend: false, cancelSpot: name === "okx" } });
  t.quote(599_990, 600_010);
  await t.engine.start();
  const states = () => t.orders().map(({ state }) => state);
  const step = async (wanted: readonly WantedOrder[], expected: readonly string[]) => {
    t.wanted$.next(wanted);
    await expect.poll(states, patience).toEqual(expected);
    // Both sides agree before the next step.
    await expect
      .poll(() => t.endings().length, patience)
      .toBe(expected.filter((state) => state === "filled" || state === "canceled").length);
  };
  await step([order("bid", "buy", { px: "59990", qty: "0.025" })], ["live"]);
  t.print("sell", 599_800, 10);
  await expect.poll(() => t.fills.length, patience).toBeGreaterThan(0);
  t.print("sell", 599_700, 1_000);
  await expect.poll(states, patience).toEqual(["filled"]);
  await step([], ["filled"]);
  await step([order("take", "buy", { ordType: "market", qty: "0.013" })], ["filled", "filled"]);
  await step([order("ask", "sell", { ordType: "post_only", px: "60050", qty: "0.01" })], ["filled", "filled", "live"]);
  await step(
    [order("ask", "sell", { ordType: "post_only", px: "60060.5", qty: "0.01" })],
    ["filled", "filled", "canceled", "live"],
  );
  t.print("buy", 601_000, 1_000);
  await expect.poll(states, patience).toEqual(["filled", "filled", "canceled", "filled"]);
  await step([order("low", "buy", { px: "50000", qty: "0.5" })], ["filled", "filled", "canceled", "filled", "live"]);
  await step([], ["filled", "filled", "canceled", "filled", "canceled"]);
  await step(
    [order("out", "sell", { ordType: "market", qty: "0.028" })],
    ["filled", "filled", "canceled", "filled", "canceled", "filled"],
  );
  const { anomalies } = t.engine.service as OpenLive;
  return {
    orders: t.orders(),
    endings: t.endings(),
    fills: t.fills.map(({ side, px, qty, cost, liquidity }) => ({ side, px, qty, cost, liquidity })),
    money: t.money(),
    refused: t.events.filter(({ type }) => /reject|refus|failed/.test(type)),
    anomalies: [...anomalies].filter(([what]) => what !== "dialect.untried"),
  };
};

describe("One strategy over the wire", () => {
  it.each(Object.keys(variants).filter((name) => name !== "described"))(
    "trades the same at %s as at the described service, without a refusal or an anomaly",
    async (name) => {
      const here = await run("described");
      // By hand: what was bought and sold, and fees of 2 basis points resting, 5 taking.
      expect(here.fills.map(({ side, px, qty }) => [side, px, qty].join(" "))).toMatchInlineSnapshot(`
        [
          "buy 59990 0.025",
          "buy 60001 0.013",
          "sell 60060.5 0.01",
          "sell 59999 0.028",
        ]
      `);
      expect(here.money).toMatchInlineSnapshot(`
        {
          "balances": [
            {
              "available": "99999.1639365",
              "balance": "99999.1639365",
              "currency": "USDT",
              "frozen": "0",
            },
          ],
          "equity": "99999.1639365",
          "positions": 0,
        }
      `);
      expect([here.refused, here.anomalies]).toEqual([[], []]);
      expect(await run(name)).toEqual(here);
    },
  );
});
