/** A plausible report for tests of its look and its hash. */
import type { RunReport } from "../../../src/report/report.ts";

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
  open: { count: 9, notional: "1804.5" },
  volume: "201040.5512",
  turnover: "20.1040",
  pnl: "128.4012",
  fees: "42.2185",
  realised: "150.1197",
  unrealised: "20.5",
  elsewhere: "0",
  liquidity: {
    maker: { fills: 690, volume: "196040.5512", fees: "39.7185" },
    taker: { fills: 12, volume: "5000", fees: "2.5" },
  },
  trades: {
    count: 41,
    won: 29,
    lost: 11,
    net: "108.9",
    profit: "130.5",
    loss: "-21.6",
    winPercent: "70.73",
    averageWin: "4.5",
    averageLoss: "-1.96363636",
    profitFactor: "6.0416",
    expectancy: "2.65609756",
    best: "18.25",
    worst: "-7.5",
    open: "19.5012",
    inMarketMs: 2_700_000,
    inMarketPercent: "75",
  },
  positions: [{ strategy: "ladder", instId: "BTC-USDT-SWAP", qty: "0.05", averagePx: "60010.5", markPx: "60420.5", unrealised: "20.5" }],
  currency: "USDT",
  quota: {
    limits: true,
    requests: 4_310,
    weight: 58_220,
    rejected429: 0,
    blockedMinutes: 0,
    perLayerPeak: { ip: 312, key: 10, uid: 1_185 },
    heldMs: { p50: 0, p99: 1_234.5, max: 14_020, count: 4_310, total: 3_920_500 },
    reserveUsed: 3,
    waitedMs: { uid: 3_900_500, key: 20_000, ip: 0, other: 0, turn: 0 },
    overTime: { spanMs: 60_000, spans: Array.from({ length: 60 }, (_, minute) => span(minute)) },
  },
  latency: { p50: 24.2, p99: 81, cancel: { count: 611, p50: 24.2, p99: 81 }, place: { count: 2_204, p50: 25.3, p99: 1_312 } },
  perStrategy: {
    ladder: strategy({ placed: 1_402, canceled: 1_001, filled: 401, rejected: 1, fills: 470, pnl: "150.2", fees: "30.11", weight: 38_000 }),
    "market-maker": strategy({ placed: 800, canceled: 587, filled: 210, refused: 12, pnl: "-21.7988", fees: "12.1", heldMs: 3_920_000 }),
  },
  equity,
  drawdown: { max: "82.17", maxPercent: "0.8123" },
  returns: {
    per: "run",
    startEquity: "10000.00",
    percent: "1.284",
    volatilityPercent: "2.5",
    sharpe: "0.5132",
    sortino: "0.71",
    samples: 199,
    everyMs: 18_090,
  },
  turnedDown: [
    { count: 31, by: "service", ...downOf("51026 a post-only order would have taken") },
    { count: 4, by: "engine", ...downOf("the size is below one lot of 0.001 BTC") },
  ],
  turnedDownMore: { reasons: 0, orders: 0 },
  coverage: {
    gapMs: 300_000,
    series: [
      { instId: "BTC-USDT-SWAP", kind: "quote", rows: 90_000, gaps: 0, gapMs: 0, quotedPercent: "99.9" },
      {
        instId: "BTC-USDT-SWAP",
        kind: "trade",
        rows: 3_954,
        gaps: 1,
        gapMs: 420_000,
        longest: { fromAt: "2026-01-05T00:20:00.000Z", ms: 420_000 },
      },
    ],
    missing: [],
  },
  warnings: [],
  assumptions: ["Sizes are amounts of quote currency (H3).", "Entry latency is lognormal with a median of 25 ms."],
});

const downOf = (reason: string) => ({ reason, strategies: ["ladder"], example: { strategy: "ladder", slot: "bid 1", reason } });

const span = (minute: number) => ({
  at: startAt + minute * 60_000,
  weight: 400 + ((minute * 97) % 786),
  peakWeight: 400 + ((minute * 97) % 786),
  requests: 72,
  peakKey: 4 + (minute % 7),
  waited: minute % 5,
  waitedMs: { uid: (minute % 5) * 600, key: minute % 3, ip: 0, other: 0, turn: 0 },
  refused: 0,
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
  volume: "0",
  realised: "0",
  unrealised: "0",
  trades: { count: 0, won: 0, lost: 0, net: "0", profit: "0", loss: "0", open: "0", inMarketMs: 0, inMarketPercent: "0" },
  open: { count: 0, notional: "0" },
  weight: 0,
  heldMs: 0,
  state: "running",
  ...given,
});
