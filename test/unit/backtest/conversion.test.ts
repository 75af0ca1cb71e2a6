/** Money of several quote currencies in one: a market worked out by hand. */

import { map, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { withDetails } from "../../../src/backtest/with-details.ts";
import { backtest, constant, createTape, type RunReport, runBacktest, type Tape } from "../../../src/backtest.ts";
import { assumptionText } from "../../../src/contract/assumption.ts";
import { sub } from "../../../src/decimal.ts";
import { type Column, seriesOf } from "../../../src/market/tape/tape.ts";
import type { RunDetails } from "../../../src/report/details.ts";
import { startAt, stored, strategy } from "../../support/harness/backtest.ts";

/** Middle prices at the start and after thirty seconds, in ticks; best prices are a tick below and above. */
const products = [
  ["BTC-USDT", "0.1", 400_000, 440_000],
  ["ETH-BTC", "0.00001", 5_000, 5_500],
  ["ETH-USDT", "0.1", 20_000, 24_200],
  ["XRP-EUR", "0.0001", 5_000, 6_000],
  ["BTC-EUR", "0.1", 360_000, 400_000],
] as const;

const marketOf = (shown: readonly (typeof products)[number][]): Tape =>
  createTape(
    shown.map(([instId, tickSize]) => ({ instId, tickSize, lotSize: "0.001" })),
    shown.map(([, , first, then], instrument) => {
      const rows = [first, first, then, then];
      const columns: Column[] = [(px: number) => px - 1, () => 9_000_000, (px: number) => px + 1, () => 9_000_000].map(
        (cell) => Float64Array.from(rows.map(cell)),
      );
      return seriesOf(
        "quote",
        instrument,
        Float64Array.from([0, 1_000, 30_000, 60_000].map((ms) => startAt + ms)),
        columns,
      );
    }),
  );

const buyer = (name: string, instId: string, qty: string) =>
  strategy(name, {
    wanted: () =>
      timer(10_000).pipe(map(() => [{ slot: "x", instId, side: "buy" as const, ordType: "market" as const, qty }])),
  });

const run = async (market: Tape, currency?: string): Promise<{ report: RunReport; details: RunDetails }> => {
  let kept: RunDetails | undefined;
  const config = {
    service: backtest({
      fixture: stored(market),
      latency: constant(10),
      balances: { USDT: "10000", BTC: "1", EUR: "1000" },
      fees: { makerBps: "0", takerBps: "10" },
      ...(currency === undefined ? {} : { currency }),
    }),
    strategies: [buyer("eth", "ETH-BTC", "10"), buyer("xrp", "XRP-EUR", "1000")],
    orders: { allowUncancellable: true },
    profile: { order: { szUnit: { SPOT: "base", SWAP: "base" } } },
  };
  const report = await runBacktest(
    withDetails(config, (details) => {
      kept = details;
    }),
  );
  return { report, details: kept as RunDetails };
};

describe("Money of several quote currencies", () => {
  it("is valued through the products that connect them, at the prices of each instant", async () => {
    const { report, details } = await run(marketOf(products));
    // EUR in USDT goes through BTC: 40,000 / 36,000, then 44,000 / 40,000 = 1.1. All equity of the start in USDT:
    // 10,000 + 40,000 + 1,000 × 40,000 / 36,000.
    expect(details.equity[0]?.equity).toBe("51111.111111111111111111");
    // 10,000 + (1 - 0.5001 - 0.0005001) × 44,000 + 10 ETH × 2,420 + (1,000 - 500.1 - 0.5001) × 1.1 + 1,000 XRP × 0.6 × 1.1.
    expect(details.equity.at(-1)?.equity).toBe("57382.93549");
    // Bought at 0.05001 × 40,000 = 2,000.4, a fee of 0.0005001 BTC, valued at 0.055 × 44,000.
    expect(report.perStrategy["eth"]).toMatchObject({
      volume: "20004",
      fees: "20.004",
      unrealised: "4196",
      pnl: "4175.996",
    });
    // Bought at 0.5001 × 1.1111… = 0.5556…, valued at 0.6 × 1.1 = 0.66.
    expect(report.perStrategy["xrp"]?.pnl).toBe("103.777666666666667334");
    // What BTC and EUR that were kept have become: 0.4993999 × 4,000 - 499.3999 × 0.0111….
    expect(report.elsewhere).toBe("1992.050712222222221555");
    expect(report.perInstrument["ETH-BTC"]?.pnl).toBe("4175.996");
    expect(report.exposure.gross.end).toBe("24860");
    expect(report.assumptions).toContainEqual({
      what: "Currency",
      value: "results are in USDT",
      consequence: "what is quoted in another currency is converted at the prices of its instant",
    });
  });

  it("is valued in the currency that is asked for", async () => {
    const { report } = await run(marketOf(products), "BTC");
    expect(report.currency).toBe("BTC");
    // Bought at 0.05001, valued at 0.055: 0.0499, less a fee of 0.0005001.
    expect(report.perStrategy["eth"]?.pnl).toBe("0.0493999");
    // 10,000 / 40,000 + 1 + 1,000 / 36,000.
    expect(report.equity[0]?.equity).toBe("1.277777777777777777");
    expect(sub(report.pnl, report.elsewhere)).toBe(
      Object.values(report.perInstrument).reduce((all, { pnl }) => sub(all, sub("0", pnl)), "0"),
    );
  });

  it("is refused by name where nothing connects a currency", async () => {
    const islands = marketOf(products.filter(([instId]) => instId !== "BTC-EUR"));
    await expect(run(islands, "USDT")).rejects.toThrow(
      /backtest options\.currency: nothing in the recording connects EUR with "USDT"/,
    );
    await expect(run(islands, "DOGE")).rejects.toThrow(/connects USDT with "DOGE"/);
    const { report } = await run(islands);
    expect(report.perStrategy["xrp"]).toMatchObject({ fills: 1, volume: "0", pnl: "0" });
    expect(report.assumptions.map(assumptionText).join()).toContain(
      "but EUR, which nothing connects with it, is not valued",
    );
  });
});
