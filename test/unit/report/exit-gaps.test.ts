import { describe, expect, it } from "vitest";
import type { EventBody } from "../../../src/journal/events.ts";
import { ExitGaps } from "../../../src/report/exit-gaps.ts";
import { warningsOf } from "../../../src/report/warnings.ts";
import { sampleReport } from "../../support/harness/sample-report.ts";

const gone = (slot: string): EventBody => ({
  type: "position.unprotected",
  strategy: "a",
  slot,
  instId: "BTC-USDT-SWAP",
  side: "sell",
  qty: "0.01",
  reason: "51023",
});
const back = (slot: string): EventBody => ({
  type: "position.protected",
  strategy: "a",
  slot,
  instId: "BTC-USDT-SWAP",
});
const fill = (position: string, instId = "BTC-USDT-SWAP"): EventBody => ({
  type: "fill",
  strategy: "a",
  slot: "in",
  instId,
  clOrdId: "c",
  ordId: "1",
  side: "sell",
  px: "100",
  qty: "0.01",
  fee: "0",
  cost: "0",
  currency: "USDT",
  liquidity: "taker",
  position,
  recovered: false,
});

describe("Times without a wanted exit", () => {
  it("are summed up by slot, and those that have not ended run to the end", () => {
    const gaps = new ExitGaps(() => 10_000);
    for (const [at, body] of [
      [1_000, gone("sl")],
      [1_500, gone("tp")],
      [2_000, back("sl")],
      [9_000, gone("sl")],
    ] as const)
      gaps.onEvent({ ...body, at, seq: at });
    // 1 s, 8.5 s and 1 s.
    expect(gaps.of("a")).toEqual({ unprotected: { count: 3, ms: 10_500 } });
    expect(gaps.of("b")).toEqual({});
  });

  it("end when the strategy's own fills leave nothing to close, also where no event tells of it", () => {
    const gaps = new ExitGaps(() => 423_000_000);
    for (const [at, body] of [
      [1_000, gone("out")],
      [11_000, fill("0.005")],
      [21_000, fill("0", "ETH-USDT-SWAP")],
      [32_000, fill("0")],
      [40_000, back("out")],
      [100_000, gone("out")],
      [107_000, fill("-0.01")],
      [108_000, { ...gone("out"), side: "buy" } as EventBody],
      [110_000, fill("-0.005")],
      [113_000, fill("0")],
    ] as const)
      gaps.onEvent({ ...body, at, seq: at });
    // 31 s until it was flat, and 7 s until it was short: a sell no longer closes anything; 5 s of a short position.
    expect(gaps.of("a")).toEqual({ unprotected: { count: 3, ms: 43_000 } });
  });

  it("are among the warnings of a report, with orders that executed another quantity", () => {
    const report = sampleReport();
    const [name = ""] = Object.keys(report.perStrategy);
    const own = report.perStrategy[name] as (typeof report.perStrategy)[string];
    const perStrategy = {
      ...report.perStrategy,
      [name]: { ...own, unprotected: { count: 2, ms: 61_000 }, inexact: 1 },
    };
    expect(warningsOf({ ...report, perStrategy })).toEqual(
      expect.arrayContaining([
        expect.stringContaining(`${name} held a position without the exit it wanted 2 times, for 1 min`),
        `1 order of ${name} executed another quantity than was wanted (events order.inexact).`,
      ]),
    );
  });
});
