import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import config from "../../../config/backtest.ts";
import { runBacktest } from "../../../src/backtest.ts";

const bin = new URL("../../../src/cli/sluice.mjs", import.meta.url).pathname;
const root = new URL("../../..", import.meta.url).pathname;

describe("The demo backtest", () => {
  it("gives the same hash again, in this process, beside another run, and in a process of its own; another seed gives another", async () => {
    const [one, two, other] = await Promise.all([
      runBacktest(config),
      runBacktest(config),
      runBacktest(config, { seed: 2 }),
    ]);
    expect(two.resultHash).toBe(one.resultHash);
    expect({ ...two, wallMs: 0 }).toEqual({ ...one, wallMs: 0 });
    expect(other.resultHash).not.toBe(one.resultHash);
    const { stdout } = await promisify(execFile)(process.execPath, [bin, "backtest", "config/backtest.ts", "--json"], {
      cwd: root,
      maxBuffer: 1e7,
    });
    expect((JSON.parse(stdout) as { resultHash: string }).resultHash).toBe(one.resultHash);
  });

  it("is worth looking at: every strategy trades, no layer is overrun, each is felt", async () => {
    const { perStrategy, quota, orders, pnl } = await runBacktest(config);
    for (const { fills, state } of Object.values(perStrategy)) {
      expect(state).toBe("running");
      expect(fills).toBeGreaterThan(0);
    }
    expect(quota).toMatchObject({ rejected429: 0, blockedMinutes: 0 });
    expect(quota.perLayerPeak.uid).toBeGreaterThan(1_000);
    expect(quota.perLayerPeak.key).toBeGreaterThanOrEqual(9);
    expect(orders.rejected).toBeLessThan(orders.placed / 50);
    expect(Math.abs(Number(pnl))).toBeLessThan(100);
  });
});
