/** Statistics of runs without a known end: bounded, and the same as those of everything. */
import { describe, expect, it } from "vitest";
import { Durations } from "../../../src/report/durations.ts";
import { overTime, QuotaMinutes } from "../../../src/report/quota-minutes.ts";
import { TradeStatistics } from "../../../src/report/trade-statistics.ts";
import { btc, makerFill } from "../../support/harness/report-fills.ts";

const counted = { currency: "USDT", fromAt: 0, untilAt: 10_000_000 };
const prices = new Map([["BTC-USDT-SWAP", "100"]]);

describe("Statistics that keep little", () => {
  it("tell the same of trades as those that keep all, and list the last ones", () => {
    const all = new TradeStatistics(["a"], counted);
    const few = new TradeStatistics(["a"], { ...counted, keptMax: 5 });
    const unlisted = new TradeStatistics(["a"], { ...counted, keepsTrades: false });
    for (const tally of [all, few, unlisted])
      for (let trade = 0; trade < 400; trade++) {
        const px = String(100 + ((trade * 7) % 13) - ((trade * 5) % 11));
        const at = 1_000 * trade;
        tally.onFill(makerFill(at, `in ${trade}`, btc, "buy", "0.3", "100", "0.01"), at, "a");
        tally.onFill(
          makerFill(at + (trade % 17), `out ${trade}`, btc, "sell", "0.3", px, "0.02"),
          at + (trade % 17),
          "a",
        );
      }
    for (const tally of [few, unlisted]) {
      expect(tally.trades(prices)).toEqual(all.trades(prices));
      expect(tally.of("a", prices)).toEqual(all.of("a", prices));
    }
    // By hand: 400 trades cost 0.03 each.
    expect([all.trades(prices).count, all.fees]).toEqual([400, "12"]);
    const none = (): undefined => undefined;
    const [kept, listed] = [few.tradeLists(prices, none).position, all.tradeLists(prices, none).position];
    // Nothing lists the trades of the third: it keeps none but the last.
    expect(unlisted.tradeLists(prices, none).position).toEqual([{ ...listed.at(-1), entries: [], exits: [] }]);
    // Without a recording the furthest moves are those of its own fills.
    const withoutMoves = (trades: typeof kept) => trades.map((trade) => ({ ...trade, mfe: "", mae: "" }));
    expect(withoutMoves(kept)).toEqual(withoutMoves(listed.slice(-5)));
    for (const { gross, mfe, mae } of kept) expect(Number(mfe) + Number(mae)).toBeCloseTo(Number(gross), 9);
  });

  it("count waits exactly, and take percentiles from some", () => {
    const waits = new Durations(100);
    for (let index = 0; index < 10_000; index++) waits.add((index * 7_919) % 10_000);
    const { p50, p99, ...exact } = waits.report;
    expect(exact).toEqual({ max: 9_999, count: 10_000, total: 49_995_000 });
    expect(Math.abs(p50 - 5_000)).toBeLessThan(1_500);
    expect(p99).toBeGreaterThan(9_000);
  });

  it("have the quota of two years in the spans of a report as if every minute were kept", () => {
    const [all, few] = [new QuotaMinutes(0), new QuotaMinutes(0, 4_000)];
    const end = 2 * 365 * 86_400_000;
    for (const minutes of [all, few])
      for (let at = 0; at < end; at += 7 * 60_000) {
        const weight = 1 + ((at / 60_000) % 89);
        minutes.arrived({ at, key: "k", uid: "u", weight, status: at % 91 === 0 ? 429 : 200 });
        if (at % 13 === 0) minutes.arrived({ at: at + 1, key: "k", uid: "v", weight: 2 * weight, status: 200 });
      }
    expect(few.used(0, end).length).toBeLessThan(10_000);
    expect(overTime(few.used(0, end))).toEqual(overTime(all.used(0, end)));
  });
});
