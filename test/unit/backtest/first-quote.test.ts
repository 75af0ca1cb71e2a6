/** A market order wanted before any quote was seen: it is sized and sent with the first one. */
import { NEVER, startWith } from "rxjs";
import { expect, it } from "vitest";
import { backtest } from "../../../src/backtest/backtest-service.ts";
import { constant } from "../../../src/backtest/latency.ts";
import { runBacktest } from "../../../src/backtest/runner.ts";
import { defineConfig, defineStrategy } from "../../../src/host/define.ts";
import { createTape } from "../../../src/market/tape/tape.ts";

const instId = "BTC-USDT-SWAP";
const startAt = Date.UTC(2026, 0, 5);

it("A market order wanted before the first quote is sent with it", async () => {
  const at = Float64Array.from({ length: 50 }, (_, row) => startAt + 5_000 + row * 100);
  const column = (value: number): Float64Array => new Float64Array(at.length).fill(value);
  const tape = createTape([{ instId, tickSize: "0.1", lotSize: "0.001" }], [
    {
      kind: "trade",
      instrument: 0,
      at: Float64Array.of(startAt),
      px: Float64Array.of(600_000),
      qty: Float64Array.of(1),
      side: Float64Array.of(1),
    },
    {
      kind: "quote",
      instrument: 0,
      at,
      bidPx: column(600_000),
      bidQty: column(900),
      askPx: column(600_001),
      askQty: column(900),
    },
  ] as unknown as Parameters<typeof createTape>[1]);
  const eager = defineStrategy({
    name: "eager",
    options: { type: "object", additionalProperties: false, properties: {} },
    desired: () => NEVER.pipe(startWith([{ slot: "m", instId, side: "buy", ordType: "market", qty: "0.02" } as const])),
  });
  const config = defineConfig({ service: backtest({ latency: constant(10) }), strategies: [eager({})] });
  const report = await runBacktest(config, {
    market: { tape, facts: { name: "quotes", contentHash: "" } },
    print: () => undefined,
  });
  expect(report.positions.map(({ qty }) => qty)).toEqual(["0.02"]);
});
