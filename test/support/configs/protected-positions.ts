/**
 * Strategies whose positions are protected in every way there is, several of them in one instrument: stops that a fault
 * may meet. One of them also sells a half at the price at which its stop is triggered. Another one keeps a partly
 * executed order open while its exits complete.
 */
import { combineLatest, map, scan } from "rxjs";
import { add, defineConfig, defineStrategy, mul, type Position, type Protect, sub, toStep, type Wanted } from "sluice";
import { backtest, constant } from "sluice/backtest";

const btc = "BTC-USDT-SWAP";
const eth = "ETH-USDT-SWAP";

interface Plan {
  readonly instId: string;
  readonly side: "buy" | "sell";
  readonly qty: string;
  /** At the market, or resting at the best price and so many ticks behind it. */
  readonly entries: readonly ("market" | number)[];
  readonly protect: Protect;
  /** The position as a whole instead of each entry. */
  readonly whole?: true;
  /** Closed by an exit of its own after so long. */
  readonly exitAfterMs?: number;
  /** Sells or buys back a half once the price is this far beyond the average price, in percent. */
  readonly halvesAt?: number;
  /** Between two positions. */
  readonly pauseMs: number;
}

interface State {
  readonly round: number;
  readonly from: number;
  readonly heldSince: number | undefined;
  /** The half was closed, or is about to be. */
  readonly isHalved?: boolean;
  readonly wanted: readonly Wanted[];
}

const tick = { [btc]: "0.1", [eth]: "0.01" } as Readonly<Record<string, string>>;

/** One position after the other: entries until something is held, then only what protects it or ends it. */
const planned = (name: string, plan: Plan) => {
  const { instId, side, qty, entries, protect, whole, pauseMs } = plan;
  const { exitAfterMs = Number.POSITIVE_INFINITY, halvesAt = Number.POSITIVE_INFINITY } = plan;
  const protections: readonly Wanted[] = whole === undefined ? [] : [{ instId, protect }];
  const entriesAt = (px: string, round: number): readonly Wanted[] =>
    entries.map((behind, index) => ({
      slot: `in${index}`,
      instId,
      side,
      qty,
      round,
      ...(behind === "market"
        ? { ordType: "market" as const }
        : {
            px: (side === "buy" ? sub : add)(px, mul(tick[instId] ?? "1", String(behind))),
            keepWithin: mul(tick[instId] ?? "1", "20"),
          }),
      ...(whole === undefined && { protect }),
    }));
  const exit = (held: string, round: number): Wanted => ({
    slot: "out",
    instId,
    side: side === "buy" ? "sell" : "buy",
    ordType: "market",
    qty: held.replace("-", ""),
    reduceOnly: true,
    round,
  });
  const isBeyond = (px: string, avgPx: string): boolean =>
    (side === "buy" ? 1 : -1) * (1 - Number(px) / Number(avgPx)) * 100 >= halvesAt;
  const next = (state: State, px: string, { qty: held, avgPx }: Position, now: number): State => {
    if (held === "0" && state.heldSince !== undefined) {
      return { round: now, from: now + pauseMs, heldSince: undefined, wanted: protections };
    }
    if (held === "0")
      return now < state.from ? state : { ...state, wanted: [...entriesAt(px, state.round), ...protections] };
    const heldSince = state.heldSince ?? now;
    if (state.isHalved !== true && isBeyond(px, avgPx)) {
      const half = toStep(mul(held, "0.5"), "0.001", "down");
      return { ...state, heldSince, isHalved: true, wanted: [...state.wanted, exit(half, state.round)] };
    }
    if (now - heldSince < exitAfterMs) return { ...state, heldSince };
    return { ...state, heldSince, wanted: [exit(held, state.round), ...protections] };
  };
  return defineStrategy({
    name,
    options: { type: "object", additionalProperties: false, properties: {} },
    wanted: ({ market, own, now }) => {
      const begin: State = { round: now(), from: now(), heldSince: undefined, wanted: protections };
      return combineLatest([market.quotes(instId), own.positions$]).pipe(
        scan(
          (state, [{ bidPx, askPx }]) => next(state, side === "buy" ? bidPx : askPx, own.position(instId), now()),
          begin,
        ),
        map(({ wanted }) => wanted),
      );
    },
  })({});
};

/** Bids so far below the market that little is executed, and sells what it got in small parts, four times a minute. */
const patient = defineStrategy({
  name: "patient",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: ({ market, own, now }) =>
    market.quotes(eth).pipe(
      scan(
        (px: string, { bidPx }) => (isAbout(px, bidPx, 0.002) ? px : toStep(mul(bidPx, "0.999"), "0.01", "down")),
        "",
      ),
      map((px): readonly Wanted[] => {
        const bid = { slot: "bid", instId: eth, side: "buy", qty: "8", px, keepWithin: "6" } as const;
        const part = {
          slot: "part",
          instId: eth,
          side: "sell",
          ordType: "market",
          qty: "0.1",
          reduceOnly: true,
        } as const;
        const held = Number(own.position(eth).qty);
        const parts: readonly Wanted[] = held < 0.1 ? [] : [{ ...part, round: Math.floor(now() / 15_000) }];
        return held < 8 ? [bid, ...parts] : parts;
      }),
    ),
})({});

const isAbout = (px: string, of: string, share: number): boolean => Math.abs(Number(px) / Number(of) - 1) < share;

export default defineConfig({
  service: backtest({ fixture: "test/fixtures/demo", latency: constant(25), balances: { USDT: "100000" } }),
  strategies: [
    planned("both", {
      instId: btc,
      side: "buy",
      qty: "0.05",
      entries: [0],
      protect: { stopLoss: { percent: "0.05" }, takeProfit: { percent: "0.1" }, takeProfitAs: "limit" },
      pauseMs: 2_000,
    }),
    planned("trail", {
      instId: btc,
      side: "buy",
      qty: "0.03",
      entries: ["market", 30],
      protect: { trailing: { percent: "0.05" } },
      pauseMs: 5_000,
    }),
    planned("steps", {
      instId: eth,
      side: "buy",
      qty: "0.5",
      entries: [0, 5, 15],
      protect: { stopLoss: { percent: "0.08" }, trailing: { percent: "0.06" }, takeProfit: { percent: "0.2" } },
      whole: true,
      pauseMs: 3_000,
    }),
    planned("timed", {
      instId: eth,
      side: "buy",
      qty: "0.3",
      entries: [0, 3],
      protect: { stopLoss: { percent: "0.05" }, takeProfit: { percent: "0.05" } },
      exitAfterMs: 20_000,
      pauseMs: 1_000,
    }),
    planned("large", {
      instId: eth,
      side: "sell",
      qty: "9",
      entries: [0],
      protect: { stopLoss: { percent: "0.1" }, trailing: { percent: "0.03" } },
      pauseMs: 1_000,
    }),
    planned("halved", {
      instId: btc,
      side: "buy",
      qty: "0.04",
      entries: [0],
      protect: { stopLoss: { percent: "0.05" } },
      halvesAt: 0.05,
      pauseMs: 1_000,
    }),
    patient,
    planned("short", {
      instId: btc,
      side: "sell",
      qty: "0.02",
      entries: [0],
      protect: { stopLoss: { percent: "0.06" }, takeProfit: { percent: "0.06" }, takeProfitAs: "limit" },
      pauseMs: 4_000,
    }),
  ],
});
