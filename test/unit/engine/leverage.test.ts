/** Leverage that a config names is in force before anything is traded, or nothing is. */
import { mergeMap, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { backtest, constant, runBacktest } from "../../../src/backtest.ts";
import { calm, far, stored, strategy, swap } from "../../support/harness/backtest.ts";

const dir = stored(calm(30));
const run = async (leverage: unknown) => {
  const levers: string[] = [];
  const buying = strategy("buying", {
    run: ({ orders, account }) => {
      account.positions$.subscribe(({ value }) =>
        levers.push(...value.map(({ lever, mgnMode }) => `${lever} ${mgnMode}`)),
      );
      return timer(6_000).pipe(
        mergeMap(() => orders.place({ ...far(), slot: "in", ordType: "market", px: undefined as never })),
      );
    },
  });
  const report = await runBacktest({
    service: backtest({ fixture: dir, latency: constant(10) }),
    strategies: [buying],
    leverage,
  });
  return { report, levers };
};

describe("Leverage of a config", () => {
  it("is set for each product before anything is traded, with the margin mode where one is named", async () => {
    const plain = await run({ [swap]: "5" });
    expect(plain.levers.at(-1)).toBe("5 cross");
    const whole = await run({ [swap]: { lever: "7", mgnMode: "isolated" } });
    expect(whole.levers.at(-1)).toBe("7 isolated");
    // One call of weight 5 for the one product.
    const { levers, report } = await run({});
    expect(levers.at(-1)).toBe("10 cross");
    expect([plain.report.quota.weight, plain.report.quota.requests]).toEqual([
      report.quota.weight + 5,
      report.quota.requests + 1,
    ]);
  });

  it("stops the start when the service refuses it, with the service's words", async () => {
    await expect(run({ [swap]: "500" })).rejects.toThrow(
      /The engine cannot start: leverage 500 of BTC-USDT-SWAP could not be set for user paper \(51102 lever is between 1 and 100\.\)/,
    );
  });

  it.each([
    [{ "BTC-USDT": "5" }],
    [{ [swap]: "0.5" }],
    [{ [swap]: 5 }],
    [{ [swap]: { lever: "5", mode: "cross" } }],
    [{ [swap]: { mgnMode: "cross" } }],
  ])("is refused by place and remedy as %j", async (leverage) => {
    await expect(run(leverage)).rejects.toThrow(
      /config\.leverage.* Write swaps with decimal text from 1 up, such as leverage: \{ "BTC-USDT-SWAP": "5" \}/s,
    );
  });
});
