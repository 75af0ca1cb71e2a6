/** A plausible report for tests of its look and its hash. */
import type { RunReport } from "../../src/backtest/report.ts";

const startAt = Date.UTC(2026, 0, 5);

/** A line with a rise, a fall and a recovery, from whole numbers only. */
const equity = Array.from({ length: 200 }, (_, i) => ({
  at: startAt + i * 18_090,
  equity: ((1_000_000 + ((i * 7_919) % 613) * 9 + (i < 60 ? i * 90 : i < 140 ? 10_800 - i * 90 : i * 70 - 11_600)) / 100).toFixed(2),
}));

export const sampleReport = (): RunReport => ({
  resultHash: "3f9a2c41d0b7e8865c1f9a2c41d0b7e8865c1f9a2c41d0b7e8865c1f9a2c41d0",
  fixture: {
    name: "demo",
    contentHash: "a91b22c3d4e5f60718293a4b5c6d7e8f",
    startAt: "2026-01-05T00:00:00.000Z",
    endAt: "2026-01-05T01:00:00.000Z",
    rows: 93_954,
  },
  seed: "7",
  events: 1_204_311,
  virtualMs: 3_600_000,
  wallMs: 1_820,
  orders: { placed: 2_204, canceled: 1_588, filled: 611, rejected: 3, refused: 12 },
  fills: 702,
  volume: "201040.5512",
  pnl: "128.4012",
  fees: "42.2185",
  currency: "USDT",
  quota: {
    limits: true,
    requests: 4_310,
    weight: 58_220,
    rejected429: 0,
    blockedMinutes: 0,
    perLayerPeak: { ip: 312, key: 10, uid: 1_185 },
    heldMs: { p50: 0, p99: 1_234.5, max: 14_020 },
    reserveUsed: 3,
  },
  latency: { p50: 24.2, p99: 81, cancel: { count: 611, p50: 24.2, p99: 81 }, place: { count: 2_204, p50: 25.3, p99: 1_312 } },
  perStrategy: {
    ladder: strategy({ placed: 1_402, canceled: 1_001, filled: 401, rejected: 1, fills: 470, pnl: "150.2", fees: "30.11", weight: 38_000 }),
    "market-maker": strategy({ placed: 800, canceled: 587, filled: 210, refused: 12, pnl: "-21.7988", fees: "12.1", heldMs: 3_920_000 }),
  },
  equity,
  drawdown: { max: "82.17", maxPercent: "0.8123" },
  turnedDown: [
    { count: 31, by: "service", reason: "51026 a post-only order would have taken" },
    { count: 4, by: "engine", reason: "the size is below one lot of 0.001 BTC" },
  ],
  assumptions: ["Sizes are amounts of quote currency (H3).", "Entry latency is lognormal with a median of 25 ms."],
});

export const strategy = (given: Partial<RunReport["perStrategy"][string]> = {}): RunReport["perStrategy"][string] => ({
  placed: 0,
  canceled: 0,
  filled: 0,
  rejected: 0,
  refused: 0,
  fills: 0,
  pnl: "0",
  fees: "0",
  weight: 0,
  heldMs: 0,
  state: "running",
  ...given,
});
