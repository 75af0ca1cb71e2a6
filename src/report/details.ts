/**
 * Everything a run did, step by step, for programs and for pictures: fills, the lives of orders, equity, positions,
 * prices, the quota of each minute, and what strategies plotted.
 *
 * Invariants: kept only on request, so that a sweep of many runs keeps nothing; holds JSON only, money as decimal text,
 * instants as milliseconds since the epoch on the run's clock; equal runs give equal details.
 * Not here: the report, which is complete without them (report.ts), who asks for them (backtest/with-details.ts).
 */

import type { Observable } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import { add, neg } from "../decimal.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ProtectionKind } from "../journal/protection-records.ts";
import type { Tape } from "../market/tape/tape.ts";
import type { OrderUpdate } from "../orders/order-update.ts";
import { protectionIn } from "../orders/slot.ts";
import type { OrderSpec } from "../orders/wanted-order.ts";
import type { Fill } from "../venue/venue.ts";
import type { Benchmark } from "./benchmark.ts";
import type { EquityPoint } from "./equity.ts";
import type { PlotLine, PlotRecorder } from "./plot-recorder.ts";
import type { ExposurePoint } from "./portfolio.ts";
import { type PriceLine, priceLines } from "./price-lines.ts";
import type { QuotaMinute } from "./quota-minutes.ts";
import type { ReturnPoint } from "./return-series.ts";
import type { TradeLists } from "./trade-list.ts";

/** One execution of a backtest. */
export interface FillDetail {
  readonly at: number;
  /** Empty where no strategy placed the order. */
  readonly strategy: string;
  readonly clOrdId: string;
  readonly instId: string;
  readonly side: "buy" | "sell";
  readonly px: string;
  readonly qty: string;
  /** Positive was paid. */
  readonly fee: string;
  readonly liquidity: "maker" | "taker";
}

/** One order of a backtest and the phases it went through. */
export interface OrderLife {
  readonly clOrdId: string;
  readonly strategy: string;
  readonly slot: string;
  readonly instId: string;
  readonly side: string;
  readonly ordType: string;
  readonly px: string;
  readonly sz: string;
  /** Milliseconds for which its placement waited for quota and its turn before it was sent. */
  readonly waitedMs: number;
  readonly phases: readonly { readonly at: number; readonly phase: string }[];
  /** Why it came to nothing, where it is known. */
  readonly reason?: string;
  /** Protection that placed it to close a position; absent for orders that a strategy wanted. */
  readonly protection?: ProtectionKind;
}

/** Position in one instrument over time, in base currency. */
export interface PositionLine {
  readonly instId: string;
  /** Position of all strategies together, after each fill. */
  readonly points: readonly { readonly at: number; readonly qty: string }[];
}

/**
 * Details of a backtest: fills, orders, equity, positions, prices, the quota by minute and plots. See
 * `withDetails`.
 */
export interface RunDetails {
  readonly fills: readonly FillDetail[];
  readonly orders: readonly OrderLife[];
  /** Every sample. */
  readonly equity: readonly EquityPoint[];
  readonly positions: readonly PositionLine[];
  readonly prices: readonly PriceLine[];
  readonly minutes: readonly QuotaMinute[];
  /**
   * Values that strategies published with `plot`, and the number of values beyond the first 64 names that were left
   * out.
   */
  readonly plots: readonly PlotLine[];
  readonly plotsLeftOut: number;
  readonly trades: TradeLists;
  /** Profit of each strategy after all costs, at every sample of the equity. */
  readonly strategies: readonly StrategyLine[];
  /** Positions of strategies at every sample. */
  readonly exposure: readonly ExposurePoint[];
  /** The very returns that the report's statistics come from. */
  readonly returns: readonly ReturnPoint[];
  /**
   * Buy and hold of the instrument that was traded first, with the equity at the start; absent where nothing was
   * traded.
   */
  readonly benchmark?: Benchmark;
}

/** Details of a run of which only the equity was kept. */
export const noDetails = (equity: readonly EquityPoint[]): RunDetails => ({
  fills: [],
  orders: [],
  equity,
  positions: [],
  prices: [],
  minutes: [],
  plots: [],
  plotsLeftOut: 0,
  trades: { position: [], fifo: [] },
  strategies: [],
  exposure: [],
  returns: [],
});

/** Profit of one strategy over time: each point's `equity` is what it made up to there. */
export interface StrategyLine {
  readonly strategy: string;
  readonly points: readonly EquityPoint[];
}

/** Parts of a run that details are taken from. */
interface DetailedRun {
  readonly clock: Clock;
  readonly tape: Tape;
  readonly simulated: { readonly venue: { onFill(listener: (fill: Fill) => void): unknown } };
}

interface HeardEngine {
  readonly updates$: Observable<OrderUpdate>;
  readonly log: Pick<EventLog, "on">;
}

export interface DetailsRecorder {
  readonly details: (
    rest: Omit<RunDetails, "fills" | "orders" | "positions" | "prices" | "plots" | "plotsLeftOut">,
  ) => RunDetails;
}

type Life = Omit<OrderLife, "phases" | "reason" | "waitedMs"> & {
  readonly phases: { at: number; phase: string }[];
  reason?: string;
  waitedMs: number;
};

export const recordDetails = (
  { clock, simulated, tape }: DetailedRun,
  { log, updates$ }: HeardEngine,
  ownerOf: (clOrdId: string) => string | undefined,
  plots: PlotRecorder,
): DetailsRecorder => {
  const fills: FillDetail[] = [];
  plots.isOn = true;
  const lives = new Map<string, Life>();
  simulated.venue.onFill((fill) => {
    fills.push(fillOf(fill, clock.now(), ownerOf(fill.clOrdId) ?? ""));
  });
  const protections = protectionsOf(log);
  let last: Life | undefined;
  // An order is on its way before the event of its placement.
  log.on(["action.sent"], ({ endpoint, waitedMs }) => {
    if (endpoint === "placeOrder" && last !== undefined) last.waitedMs = Math.round(waitedMs * 1_000) / 1_000;
    last = undefined;
  });
  updates$.subscribe(({ clOrdId, phase, spec, strategy, slot, reason }) => {
    if (spec === undefined || clOrdId === "") return;
    let life = lives.get(clOrdId);
    if (life === undefined) {
      const protection = protections.placing(strategy, slot);
      life = {
        clOrdId,
        strategy,
        slot,
        ...shapeOf(spec),
        waitedMs: 0,
        phases: [],
        ...(protection !== undefined && { protection }),
      };
      lives.set(clOrdId, life);
      last = life;
    }
    if (life.phases.at(-1)?.phase === phase) return;
    life.phases.push({ at: clock.now(), phase });
    if (phase === "rejected" || phase === "refused") life.reason = reason;
  });
  return {
    details: (rest) => ({
      fills,
      orders: [...lives.values()],
      positions: positionLines(fills),
      prices: priceLines(tape),
      plots: plots.lines,
      plotsLeftOut: plots.leftOut,
      ...rest,
    }),
  };
};

/** Protections by strategy and name, each with the kind that was triggered last. */
const protectionsOf = (log: Pick<EventLog, "on">) => {
  const kinds = new Map<string, ProtectionKind>();
  const keyOf = (strategy: string, name: string): string => `${strategy}\n${name}`;
  log.on(["protection.armed"], ({ strategy, name }) => {
    // Until something is triggered only a resting take-profit closes.
    kinds.set(keyOf(strategy, name), "takeProfit");
  });
  log.on(["protection.triggered"], ({ strategy, name, kind }) => {
    kinds.set(keyOf(strategy, name), kind);
  });
  return {
    /** The protection that places orders in a slot; undefined for the slots of a strategy. */
    placing: (strategy: string, slot: string): ProtectionKind | undefined =>
      kinds.get(keyOf(strategy, protectionIn(slot) ?? "")),
  };
};

const fillOf = (
  { clOrdId, instId, side, px, qty, cost, liquidity }: Fill,
  at: number,
  strategy: string,
): FillDetail => ({
  at,
  strategy,
  clOrdId,
  instId,
  side,
  px,
  qty,
  fee: cost,
  liquidity,
});

const shapeOf = ({ instId, side, ordType, px, sz }: OrderSpec) => ({ instId, side, ordType, px, sz });

export const positionLines = (fills: readonly FillDetail[]): readonly PositionLine[] => {
  const lines = new Map<string, { at: number; qty: string }[]>();
  for (const { instId, at, side, qty } of fills) {
    const points = lines.get(instId) ?? [];
    points.push({ at, qty: add(points.at(-1)?.qty ?? "0", side === "buy" ? qty : neg(qty)) });
    lines.set(instId, points);
  }
  return [...lines].map(([instId, points]) => ({ instId, points }));
};
