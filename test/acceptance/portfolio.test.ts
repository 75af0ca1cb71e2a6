/** A portfolio of thirty instruments and twenty strategies in one run. */
import { map, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { add, sub, sum } from "../../src/decimal.ts";
import { run, strategy } from "../support/harness/backtest.ts";
import { generateTapeFor } from "../support/harness/generated-market.ts";

const instruments = Array.from({ length: 30 }, (_, index) => `C${index}-USDT-SWAP`);

/** Each trades three instruments, turning around every half minute. */
const strategies = Array.from({ length: 20 }, (_, index) =>
  strategy(`s${index}`, {
    wanted: () =>
      timer(1_000 + 500 * index, 30_000).pipe(
        map((round) =>
          [0, 7, 19].map((step) => ({
            slot: `x${step}`,
            instId: instruments[(index + step) % 30] ?? "",
            side: (round + step) % 2 === 0 ? ("buy" as const) : ("sell" as const),
            ordType: "market" as const,
            notional: "20",
            round,
          })),
        ),
      ),
  }),
);

describe("A portfolio of thirty instruments and twenty strategies", () => {
  it("is told by instrument and by strategy, and both add up to what was made", async () => {
    const report = await run(generateTapeFor(instruments, 3), strategies, { limits: false });
    const [own, by] = [Object.values(report.perStrategy), Object.values(report.perInstrument)];
    expect([own.length, by.length]).toEqual([20, 30]);
    expect(report.fills).toBeGreaterThan(200);
    expect(by.reduce((all, { fills }) => all + fills, 0)).toBe(report.fills);
    const made = sub(report.pnl, report.elsewhere);
    expect([
      sum(own.map(({ pnl }) => pnl)),
      sum(by.map(({ pnl }) => pnl)),
      add(report.trades.net, report.trades.open),
    ]).toEqual([made, made, made]);
    for (const name of ["volume", "fees", "realised", "unrealised"] as const)
      expect([name, sum(by.map((one) => one[name]))]).toEqual([name, report[name]]);
    expect(report.correlation?.strategies?.names).toHaveLength(20);
    expect(report.correlation?.instruments?.values.map((row, index) => row[index])).toEqual(
      Array.from({ length: 30 }, () => "1"),
    );
  });
});
