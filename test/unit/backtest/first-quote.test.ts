/** A market order wanted before any quote was seen: it is sized and sent with the first one. */
import { NEVER, startWith } from "rxjs";
import { expect, it } from "vitest";
import { backtest } from "../../../src/backtest/backtest-service.ts";
import { constant } from "../../../src/backtest/latency.ts";
import { runBacktest } from "../../../src/backtest/runner.ts";
import { defineConfig, defineStrategy } from "../../../src/host/define.ts";
import { createTape } from "../../../src/market/tape/tape.ts";
import type { RunReport } from "../../../src/report/report.ts";

const instId = "BTC-USDT-SWAP";
const startAt = Date.UTC(2026, 0, 5);

/** Report of a market order that is wanted from the start, before the first of `quotes` quotes. */
const reported = async (quotes: number): Promise<RunReport> => {
  const at = Float64Array.from({ length: quotes }, (_, row) => startAt + 60_000 + row * 100);
  const column = (value: number): Float64Array => new Float64Array(at.length).fill(value);
  const other = {
    kind: "trade",
    instrument: 1,
    at: Float64Array.of(startAt, startAt + 120_000),
    px: Float64Array.of(2_000, 2_000),
    qty: Float64Array.of(1, 1),
    side: Float64Array.of(1, 1),
  };
  const quote = {
    kind: "quote",
    instrument: 0,
    at,
    bidPx: column(600_000),
    bidQty: column(900),
    askPx: column(600_001),
    askQty: column(900),
  };
  const instruments = [
    { instId, tickSize: "0.1", lotSize: "0.001" },
    { instId: "ETH-USDT-SWAP", tickSize: "0.1", lotSize: "0.001" },
  ];
  const series = (quotes === 0 ? [other] : [other, quote]) as unknown as Parameters<typeof createTape>[1];
  const eager = defineStrategy({
    name: "eager",
    options: { type: "object", additionalProperties: false, properties: {} },
    wanted: () => NEVER.pipe(startWith([{ slot: "m", instId, side: "buy", ordType: "market", qty: "0.02" } as const])),
  });
  const config = defineConfig({ service: backtest({ latency: constant(10) }), strategies: [eager({})] });
  return runBacktest(config, {
    market: { tape: createTape(instruments, series), facts: { name: "quotes", contentHash: "" } },
    print: () => undefined,
  });
};

it("A market order wanted before the first quote is sent with it, and never counted as refused", async () => {
  const { positions, orders, turnedDown } = await reported(50);
  expect(positions.map(({ qty }) => qty)).toEqual(["0.02"]);
  expect(orders).toMatchObject({ placed: 1, filled: 1, refused: 0 });
  expect(turnedDown).toEqual([]);
});

it("A market order of a product that is never quoted is refused once, at the end", async () => {
  const { positions, orders, turnedDown } = await reported(0);
  expect(positions).toEqual([]);
  expect(orders).toMatchObject({ placed: 0, refused: 1 });
  expect(turnedDown).toMatchObject([{ by: "engine", count: 1 }]);
});
