/**
 * Report of a backtest: one plain value, and the arithmetic that fills it.
 *
 * Invariants: money is decimal text; a report holds JSON only, so its canonical text and hash are the same on every
 * machine; `wallMs` is the one machine fact and stays out of the hash; statistics of nothing are 0, never NaN.
 * Not here: what happened (the runner collects it), how it looks (report-text.ts).
 */

import { createHash } from "node:crypto";
import type { Assumption } from "../contract/assumption.ts";
import { add, div, isPositive, isZero, mul, sub, toStep } from "../decimal.ts";
import type { Failure } from "../errors.ts";
import type { Liquidation } from "../venue/venue.ts";
import type { BenchmarkReport } from "./benchmark.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { Coverage } from "./coverage.ts";
import type { Waits } from "./durations.ts";
import type { Drawdown, EquityPoint } from "./equity.ts";
import type { ExitGapReport } from "./exit-gaps.ts";
import { placesFor } from "./number-format.ts";
import type { Correlations, ExposureReport } from "./portfolio.ts";
import { ascending, quantile } from "./quantile.ts";
import type { QuotaOverTime, WaitedFor } from "./quota-minutes.ts";
import type { MoreRejections, RejectionReason } from "./rejection-reasons.ts";
import type { Returns } from "./returns.ts";
import type { TradeReport } from "./trades.ts";
import type { VolumeCut } from "./volume-cuts.ts";

/** A position at the end, valued by the market. */
export interface PositionReport {
  readonly strategy: string;
  readonly instId: string;
  readonly qty: string;
  /** Average price, with at most twelve fraction digits. */
  readonly averagePx: string;
  readonly markPx: string;
  readonly unrealised: string;
}

/** From submission by the strategy to acceptance at the service, in milliseconds. */
export interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

/** Trades on one side of the fee schedule, in the run's currency. */
export interface Liquidity {
  readonly fills: number;
  readonly volume: string;
  readonly fees: string;
}

/** Orders that rest at the end: how many, and what is left of them in the run's currency. */
export interface OpenOrders {
  readonly count: number;
  readonly notional: string;
}

/** Money in the run's currency. */
export interface LiquidationReport {
  readonly count: number;
  /** Traded in closing them. */
  readonly value: string;
  /** Fees of liquidations, in addition to the fees of the fills. */
  readonly fees: string;
  /** Losses beyond the account's funds, paid by the service's fund. */
  readonly covered: string;
  /** The first ones. */
  readonly first: readonly Pick<Liquidation, "at" | "uid" | "instId" | "side" | "qty">[];
}

/** One strategy's part of a run. Money is decimal text in the report's `currency`. */
export interface StrategyReport extends ExitGapReport {
  /** Orders that were sent. */
  readonly placed: number;
  /** Orders that ended canceled. */
  readonly canceled: number;
  /** Orders that were executed completely. */
  readonly filled: number;
  /** Orders that the service did not take. */
  readonly rejected: number;
  /** Wanted orders that were not sent. */
  readonly refused: number;
  /** Executions. */
  readonly fills: number;
  /** `realised` plus `unrealised` less `fees`, `funding` and `liquidation`. */
  readonly pnl: string;
  /** Paid; negative where rebates were more. */
  readonly fees: string;
  /** Paid, or received where negative; left out where the run charged none. */
  readonly funding?: string;
  /**
   * Fees of liquidations in addition to those of fills, less what the service's fund paid; left out where nothing was
   * liquidated.
   */
  readonly liquidation?: string;
  /** Traded value. */
  readonly volume: string;
  /** Profit of what was closed, before fees. */
  readonly realised: string;
  /** Profit of what is still held, at its mark. */
  readonly unrealised: string;
  /** Statistics of closed trades. */
  readonly trades: TradeReport;
  /** Resting at the end. */
  readonly open: OpenOrders;
  /** Weight of the user's minute that it spent, batch cancels not counted. */
  readonly weight: number;
  /** Milliseconds that its actions waited for quota. */
  readonly heldMs: number;
  /** State at the end: running, completed or failed. */
  readonly state: "running" | "completed" | "failed";
  /** Message of its failure. */
  readonly error?: string;
}

/** Results of the strategies in one instrument. Money is decimal text in the report's `currency`. */
export interface InstrumentReport {
  /** Executions of strategies' own orders, and their value. */
  readonly fills: number;
  readonly volume: string;
  /** `realised` plus `unrealised` less `fees`, `funding` and `liquidation`. */
  readonly pnl: string;
  readonly realised: string;
  readonly unrealised: string;
  readonly fees: string;
  /** Left out where the run charged none. */
  readonly funding?: string;
  readonly liquidation?: string;
}

/** A run in real time. */
interface RealRun {
  readonly kind: "paper" | "live";
  /** Service that it traded on, in words. */
  readonly place: string;
  /** `account`: of the embedded account. `fills`: profit of own fills since the start, marked by quotes. */
  readonly equity: "account" | "fills";
}

/**
 * Result of a backtest, or of a run in real time. Money is decimal text in `currency`; times ending in `Ms` are
 * milliseconds.
 */
export interface RunReport {
  /** Hash of everything that the run did: equal for equal inputs, on every machine. */
  readonly resultHash: string;
  /** Facts of a run in real time; left out of a backtest. */
  readonly run?: RealRun;
  /** The recording that was played; of a run in real time its place and times. */
  readonly fixture: {
    readonly name: string;
    readonly contentHash: string;
    readonly startAt: string;
    readonly endAt: string;
    readonly rows: number;
  };
  /** Seed of all chance. */
  readonly seed: string;
  /** Number of events in the log, without `fill`, since executions are counted by `fills`. */
  readonly events: number;
  /** Time that passed in the recording. */
  readonly virtualMs: number;
  /** Time that the run took; not part of the hash. */
  readonly wallMs: number;
  /**
   * The last failure of each strategy and plugin that threw; left out where none did. It names files of this machine
   * and is not hashed.
   */
  readonly failures?: readonly Failure[];
  /** `rejected` by the service; `refused` locally, before it cost quota. */
  readonly orders: {
    readonly placed: number;
    readonly canceled: number;
    readonly filled: number;
    readonly rejected: number;
    readonly refused: number;
  };
  /** Executions. */
  readonly fills: number;
  /** Resting at the end, those of no strategy included. */
  readonly open: OpenOrders;
  /** Traded value in `currency`. */
  readonly volume: string;
  /** Traded value over the first equity, at most four digits; "0" where there was none. */
  readonly turnover: string;
  /** Profit: the change of equity, after fees. */
  readonly pnl: string;
  /** Total cost: positive was paid, negative was earned. */
  readonly fees: string;
  /** Paid for funding less received; left out where nothing was held at any funding. */
  readonly funding?: string;
  /** Positions that the service closed for want of margin; left out where there were none. */
  readonly liquidations?: LiquidationReport;
  /** Profit of the strategies' closed trades, before fees. */
  readonly realised: string;
  /** Of the strategies' trades, before fees: what positions would still bring at their marks. */
  readonly unrealised: string;
  /** The part of `pnl` that nothing of the strategies explains: what was owned from the start, orders of others. */
  readonly elsewhere: string;
  /** Value and fees of fills by whether they made or took. */
  readonly liquidity: { readonly maker: Liquidity; readonly taker: Liquidity };
  /** Trades of all strategies: `net` plus `open` is `pnl` less `elsewhere`. */
  readonly trades: TradeReport;
  /** Positions at the end. */
  readonly positions: readonly PositionReport[];
  /** Currency of all money of the report. */
  readonly currency: string;
  /** Requests, weight and waits; `perLayerPeak` is the fullest window of each layer. */
  readonly quota: {
    readonly limits: boolean;
    readonly requests: number;
    readonly weight: number;
    readonly rejected429: number;
    readonly blockedMinutes: number;
    readonly perLayerPeak: { readonly ip: number; readonly key: number; readonly uid: number };
    readonly heldMs: Waits;
    readonly reserveUsed: number;
    /** Milliseconds waited by what held the queue. */
    readonly waitedMs: Readonly<Record<WaitedFor, number>>;
    readonly overTime: QuotaOverTime;
  };
  /** `p50` and `p99` are those of cancels, the latency that decides how long a stale order can be hit. */
  readonly latency: {
    readonly p50: number;
    readonly p99: number;
    readonly cancel: Latencies;
    readonly place: Latencies;
  };
  /** Each strategy's part, by name. */
  readonly perStrategy: Readonly<Record<string, StrategyReport>>;
  /**
   * Results of the strategies in each instrument that they traded, by name: their `pnl` adds up to that of the
   * strategies.
   */
  readonly perInstrument: Readonly<Record<string, InstrumentReport>>;
  /** Exposure of the strategies over time. */
  readonly exposure: ExposureReport;
  /**
   * Correlations of returns: of strategies, and of the prices of their instruments; left out where there are not two
   * of either.
   */
  readonly correlation?: Correlations;
  /** The commonest reasons for which orders were refused or rejected. */
  readonly turnedDown: readonly RejectionReason[];
  /** Number of reasons that are left out of `turnedDown`, and of the orders that they concern. */
  readonly turnedDownMore: MoreRejections;
  /** Equity over time, at most `equityPointsMax` points. */
  readonly equity: readonly EquityPoint[];
  /** The deepest fall of the equity below its best. */
  readonly drawdown: Drawdown;
  /** Left out of runs that began with nothing. */
  readonly returns?: Returns;
  /**
   * Buy and hold of the instrument that was traded first; left out where none was, and of runs that began with nothing.
   */
  readonly benchmark?: BenchmarkReport;
  /**
   * Orders that got less than they wanted because the volume of bars bounded them, by instrument; left out where there
   * are none.
   */
  readonly volumeCuts?: readonly VolumeCut[];
  /**
   * Number of market orders that came in a gap of the recording and were filled at the first price after it, by
   * instrument.
   */
  readonly gapFills?: Readonly<Record<string, number>>;
  /** Contents of the recording, and its gaps. */
  readonly coverage: Coverage;
  /** Warnings that come before the figures, the gravest first; empty for an ordinary run. */
  readonly warnings: readonly string[];
  /** Assumptions of the run: what, value and consequence. */
  readonly assumptions: readonly Assumption[];
}

/** Progress of a run: for people who wait, never for programs. */
export interface Progress {
  /** Instant on the virtual clock, and the span it moves through. */
  readonly at: number;
  readonly startAt: number;
  readonly endAt: number;
  /** Instant at which trading began: after the warm-up, if there is one. */
  readonly tradesAt: number;
  /** Profit of the account since then, in the run's currency; positions are valued at this instant. */
  readonly pnl: string;
  readonly events: number;
}

/** Title of a report, such as "Backtest of demo". */
export const titleOf = ({ run, fixture }: Pick<RunReport, "run" | "fixture">): string => {
  if (run === undefined) return `Backtest of ${fixture.name}`;
  return `${run.kind === "paper" ? "Paper run" : "Live run"} at ${run.place}`;
};

/** Fraction digits that suit the money of a report: of a run that counts from nothing its result decides. */
export const placesIn = ({ equity, volume, pnl, run }: RunReport): number => {
  const start = equity[0]?.equity ?? volume;
  return run !== undefined && isZero(start) ? Math.min(placesFor(volume) + 2, placesFor(pnl)) : placesFor(start);
};

export const latenciesOf = (values: readonly number[]): Latencies => {
  const sorted = ascending(values);
  return { count: sorted.length, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
};

/** Fees as a share of the traded volume in basis points, nearest of two digits; "0" without volume. */
export const feeBpsOf = (fees: string, volume: string): string =>
  isPositive(volume) ? toStep(div(mul(fees, "10000"), volume, 8), "0.01", "nearest") : "0";

type Costs = Pick<RunReport, "pnl" | "fees" | "funding" | "liquidations">;

/** Profit without fees and all other charges of the service. */
export const grossOf = ({ pnl, fees, funding = "0", liquidations }: Costs): string =>
  add(add(add(pnl, fees), funding), liquidations === undefined ? "0" : sub(liquidations.fees, liquidations.covered));

/**
 * SHA-256 of everything a run decided, in hex. Left out are the time it took on this machine, the hash itself, and the
 * words of warnings and assumptions.
 */
export const hashOf = (report: Omit<RunReport, "resultHash" | "wallMs"> & Partial<RunReport>): string => {
  const { resultHash: _, wallMs: __, failures: ___, warnings: ____, assumptions: _____, ...decided } = report;
  return createHash("sha256").update(canonicalJson(decided)).digest("hex");
};
