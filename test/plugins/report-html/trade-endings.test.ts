/** What ended each trade, as the page's table of trades names it. */
import { map, mergeMap, timer } from "rxjs";
import { beforeAll, describe, expect, it } from "vitest";
import { pageContents } from "../../../plugins/report-html/page-contents.ts";
import type { PageData } from "../../../plugins/ui-kit/page-data.ts";
import { withDetails } from "../../../src/backtest/with-details.ts";
import { runBacktest } from "../../../src/backtest.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { noDetails, type RunDetails } from "../../../src/report/details.ts";
import { configOf, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { generateTapeFor } from "../../support/harness/generated-market.ts";

const market = (slot: string, side: "buy" | "sell", more: Partial<WantedOrder> = {}) =>
  ({ slot, instId: swap, side, ordType: "market", qty: "0.02", ...more }) as const;

/** Enters anew every minute; the protection is what ends the position. */
const protectedBy = (name: string, protect: NonNullable<WantedOrder["protect"]>) =>
  strategy(name, {
    wanted: () => timer(1_000, 60_000).pipe(map((round) => [{ ...market("in", "buy", { protect }), round }])),
  });
/** Enters anew every minute, by hand and without a slot. */
const protectedByHand = (name: string, protect: NonNullable<WantedOrder["protect"]>) =>
  strategy(name, {
    run: ({ orders }) =>
      timer(1_000, 60_000).pipe(
        mergeMap(() => orders.place({ instId: swap, side: "buy", ordType: "market", qty: "0.02", protect })),
      ),
  });
const alternating = (name: string, orders: readonly [WantedOrder, WantedOrder]) =>
  strategy(name, {
    wanted: () => timer(1_000, 30_000).pipe(map((round) => [{ ...(orders[round % 2] as WantedOrder), round }])),
  });

describe("The ending of a trade", () => {
  let data: PageData;
  let details: RunDetails = noDetails([]);
  const endingsOf = (name: string): readonly string[] => {
    const own = data.strategies.indexOf(name);
    const endings = [...data.trades.ending].filter((_, trade) => data.trades.strategy[trade] === own);
    return [...new Set(endings.map((ending) => data.endings[ending] as string))].sort();
  };

  beforeAll(async () => {
    const dir = stored(generateTapeFor([swap], 20), "endings");
    const report = await runBacktest(
      withDetails(
        configOf(dir, [
          protectedBy("stopped", { stopLoss: { percent: "0.01" } }),
          protectedBy("taking", { takeProfit: { percent: "0.01" } }),
          protectedBy("resting", { takeProfit: { percent: "0.01" }, takeProfitAs: "limit" }),
          protectedBy("trailed", { trailing: { percent: "0.01" } }),
          protectedByHand("by hand", { stopLoss: { percent: "0.01" } }),
          alternating("leaver", [market("in", "buy"), market("out", "sell")]),
          alternating("turner", [market("turn", "buy"), market("turn", "sell", { qty: "0.04" })]),
        ]),
        (told) => {
          details = told;
        },
      ),
    );
    data = pageContents(report, details, 2);
  });

  it.each([
    ["stopped", "stop"],
    ["taking", "take-profit"],
    ["resting", "take-profit"],
    ["trailed", "trailing stop"],
    ["by hand", "stop"],
    ["leaver", "slot out"],
    ["turner", "reversed"],
  ])("of %s is named: %s", (name, ending) => {
    expect(endingsOf(name)).toContain(ending);
    // A market order that the book fills in part leaves a rest, which the next order reverses.
    const others = [ending, "still open", ...(name === "leaver" ? ["reversed"] : [])];
    expect(endingsOf(name).filter((one) => !others.includes(one))).toEqual([]);
  });

  it("names what no order of a strategy closed, and what is still open", () => {
    const [closed] = details.trades.position.filter(({ closedAt }) => closedAt !== undefined);
    if (closed === undefined) throw new Error("no trade was closed");
    const { closedAt: _, ...open } = closed;
    const position = [{ ...closed, exits: [] }, { ...closed, exits: ["by-hand"] }, open];
    const report = { fixture: { startAt: "2026-01-01T00:00:00Z", endAt: "2026-01-02T00:00:00Z" }, perStrategy: {} };
    const contents = pageContents(report as never, { ...details, trades: { position, fifo: [] } }, 2);
    expect([...contents.trades.ending].map((ending) => contents.endings[ending])).toEqual([
      "closed by the service",
      "closed for the account",
      "still open",
    ]);
  });
});
