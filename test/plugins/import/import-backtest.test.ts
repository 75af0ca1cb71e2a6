/** A market that came in another layout is the same market: the same backtest, to the last digit. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { map, pairwise } from "rxjs";
import { expect, it } from "vitest";
import { importMarket } from "../../../plugins/import/index.ts";
import { backtest, runBacktest } from "../../../src/backtest.ts";
import { defineConfig, defineStrategy } from "../../../src/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { zipOf } from "../../support/zip.ts";

const home = temporaryFolder("import-backtest");
const instId = "BTC-USDT-SWAP";
const start = Date.UTC(2024, 0, 1);

/** Half an hour of a market that swings, so that both sides are filled. */
const bars = Array.from({ length: 30 }, (_, index) => {
  const open = (42_000 + 40 * Math.sin(index / 3)).toFixed(1);
  const close = (42_000 + 40 * Math.sin((index + 1) / 3)).toFixed(1);
  const [low, high] = [Math.min(Number(open), Number(close)) - 5, Math.max(Number(open), Number(close)) + 5];
  return {
    at: start + index * 60_000,
    cells: [open, high.toFixed(1), low.toFixed(1), close, (10 + index / 1_000).toFixed(3)].join(","),
  };
});

const follow = defineStrategy({
  name: "follow",
  options: { type: "object", properties: {}, additionalProperties: false },
  wanted: ({ market }) =>
    market.candles(instId, 60_000).pipe(
      pairwise(),
      map(([before, bar], round) => [
        {
          slot: "follow",
          instId,
          side: bar.closeFloat > before.closeFloat ? "buy" : "sell",
          px: bar.close,
          qty: "0.01",
          round,
        },
      ]),
    ),
});

it("A backtest of Binance klines in microseconds equals one of the same bars with a header and dates", async () => {
  const files = {
    "dates.csv": [
      "timestamp,open,high,low,close,volume",
      ...bars.map(({ at, cells }) => `${new Date(at).toISOString()},${cells}`),
    ].join("\n"),
    "BTCUSDT-1m-2024-01-01.zip": zipOf({
      "BTCUSDT-1m-2024-01-01.csv": bars
        .map(({ at, cells }) => `${at}000,${cells},${at + 59_999}999,1,1,1,1,0`)
        .join("\n"),
    }),
  };
  const runs: unknown[] = [];
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(home, name), content);
    // In one place, because the hash of a result covers the name of its market.
    const out = join(home, "market");
    const { fixture, contentHash } = await importMarket({
      file: join(home, name),
      instrument: instId,
      out,
      force: true,
    });
    const { resultHash, fills } = await runBacktest(
      defineConfig({ service: backtest({ fixture }), strategies: [follow({})] }),
    );
    expect(fills).toBeGreaterThan(5);
    runs.push({ contentHash, resultHash, fills });
  }
  expect(runs[1]).toEqual(runs[0]);
});
