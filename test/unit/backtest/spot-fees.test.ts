/** A backtest of spot where the fee of a purchase is taken in the coin bought. */
import { concat, map, NEVER, timer } from "rxjs";
import { expect, it } from "vitest";
import { backtest, constant, createTape, runBacktest } from "../../../src/backtest.ts";
import { sum } from "../../../src/decimal.ts";
import { type Column, seriesOf } from "../../../src/market/tape/tape.ts";
import { startAt, stored, strategy } from "../../support/harness/backtest.ts";

const instId = "BTC-USDT";

/** Bids in ticks a minute apart; offers are a tick above. */
const tapeOf = (bids: readonly number[]) => {
  const columns: Column[] = [(px: number) => px, () => 50_000, (px: number) => px + 1, () => 50_000].map((cell) =>
    Float64Array.from(bids.map(cell)),
  );
  const at = Float64Array.from(bids.map((_, index) => startAt + index * 60_000));
  return createTape([{ instId, tickSize: "0.1", lotSize: "0.001" }], [seriesOf("quote", 0, at, columns)]);
};

const run = (spotBuyFee: "base" | "quote") =>
  runBacktest({
    service: backtest({
      fixture: stored(tapeOf([600_000, 600_000, 610_000, 610_000, 610_000])),
      latency: constant(10),
      balances: { USDT: "100000" },
      fees: { makerBps: "0", takerBps: "10" },
    }),
    strategies: [
      strategy("holder", {
        wanted: ({ own }) =>
          concat(
            timer(10_000).pipe(
              map(() => [{ slot: "in", instId, side: "buy" as const, ordType: "market" as const, qty: "0.1" }]),
            ),
            timer(140_000).pipe(
              map(() => [
                {
                  slot: "out",
                  instId,
                  side: "sell" as const,
                  ordType: "market" as const,
                  reduceOnly: true,
                  qty: own.position(instId).qty,
                },
              ]),
            ),
            NEVER,
          ),
      }),
    ],
    profile: { order: { szUnit: { SPOT: "base", SWAP: "base" }, spotBuyFee } },
  });

it("A strategy sells what is left, and what strategies made is what the account made", async () => {
  const report = await run("base");
  // 0.1 for 6000.01, of which 0.0999 came; 0.099 sold at 61000 for 6039 less 6.039; 0.0009 is left at the middle of 61000.05.
  const made = sum(["-6000.01", "6039", "-6.039", "54.900045"]);
  expect(report).toMatchObject({ pnl: made, elsewhere: "0" });
  expect(report.perStrategy["holder"]).toMatchObject({ fills: 2, pnl: made, fees: sum(["6.00001", "6.039"]) });
  expect(report.assumptions).toContainEqual(
    expect.objectContaining({ what: "Fees of spot purchases", value: "taken in the coin bought" }),
  );
});

it("A strategy sells all of it where fees are taken in money", async () => {
  const report = await run("quote");
  expect(report.pnl).toBe(sum(["-6000.01", "-6.00001", "6100", "-6.1"]));
  expect(report.assumptions.map(({ what }) => what)).not.toContain("Fees of spot purchases");
});
