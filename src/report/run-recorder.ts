/**
 * Recorder of a run in real time, paper or live: its orders and results, in the form of a backtest's report.
 *
 * Invariants: only listens, and asks the service for nothing; bounded, however long the run: at most `samplesMax`
 * samples (every second one is dropped when there are more), the last `keptMax` fills, and trades of each strategy and
 * instrument, `keptMax` waits and 4,000 minutes of the quota, while sums and counts stay exact; money is that of the
 * embedded service where it is one, else of own fills, and what is held is valued as the engine values it, by the price
 * at which it could be closed.
 * Not here: who asks for a report and when (cli/run-report.ts), a backtest's (backtest/report-collector.ts).
 */
import type { Profile } from "../contract/profile.ts";
import { compare, isPositive, sub, sum } from "../decimal.ts";
import type { Event, EventOf } from "../journal/events.ts";
import type { OrderUpdate } from "../orders/order-update.ts";
import type { Position } from "../orders/positions.ts";
import type { Fill, Funding, Liquidation } from "../venue/venue.ts";
import { positionLines, type RunDetails } from "./details.ts";
import { DeepestFall } from "./equity.ts";
import { RestingOrders } from "./open-orders.ts";
import { hashOf, type RunReport, type StrategyReport } from "./report.ts";
import { returnSeries } from "./return-series.ts";
import { assumptionsOf } from "./run-assumptions.ts";
import { RunFills } from "./run-fills.ts";
import { RunQuota } from "./run-quota.ts";
import { RunSamples } from "./run-samples.ts";
import type { TradeLists } from "./trade-list.ts";
import { type Prices, type RateOf, TradeStatistics } from "./trade-statistics.ts";
import { tradedIn } from "./traded.ts";
import { warningsOf } from "./warnings.ts";

const samplesMax = 2_000;
const keptMax = 20_000;
const firstSampleMs = 1_000;
/** Tolerance for a caller that calls about once a second. */
const slackMs = 500;

/** A strategy as far as a report needs it. */
interface StrategyMoney {
  readonly name: string;
  readonly state: "starting" | "running" | "completed" | "failed";
  readonly error?: string;
  readonly positions: ReadonlyMap<string, Position>;
}

/** Money as the embedded service knows it. */
export interface AccountMoney {
  readonly currency: string;
  readonly rateOf: RateOf;
  /** Equity of all users together, in `currency`. */
  readonly equity: () => string;
  /** The mark price of an instrument. */
  readonly markPx: (instId: string) => string | undefined;
}

interface RecorderOptions {
  /** `live` or `paper`, and where. */
  readonly run: NonNullable<RunReport["run"]>;
  readonly strategies: readonly string[];
  readonly seed: string;
  readonly profile: Profile;
  /** uid of the user that a key signs for. */
  readonly uidOf: (key: string) => string | undefined;
  readonly now: () => number;
}

export class RunRecorder {
  readonly #options: RecorderOptions;
  readonly #startAt: number;
  readonly #tally: TradeStatistics;
  readonly #samples: RunSamples;
  readonly #quota: RunQuota;
  readonly #fills = new RunFills(keptMax);
  readonly #fall = new DeepestFall();
  #account: AccountMoney | undefined;
  /** Currency of the first position or fill, where no account gives one. */
  #currency: string | undefined;
  #begun = false;
  /** Positions at the start, and the fees paid for them until then, by strategy and instrument. */
  #carriedFees: ReadonlyMap<string, string> = new Map();
  #hasCarried = false;
  readonly #traded = new Set<string>();
  /** Price at which a position could be closed, or could have been when the engine last held it. */
  readonly #markedAt = new Map<string, string>();
  #sampleMs = firstSampleMs;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #endAt: number | undefined;

  constructor(options: RecorderOptions) {
    const startAt = options.now();
    this.#options = options;
    this.#startAt = startAt;
    this.#quota = new RunQuota(keptMax, options.uidOf);
    const [currency, untilAt] = [(): string => this.#currencyNow(), (): number => this.#endAt ?? options.now()];
    this.#tally = new TradeStatistics(options.strategies, {
      get currency() {
        return currency();
      },
      get untilAt() {
        return untilAt();
      },
      fromAt: startAt,
      keepsLots: false,
      keptMax,
      rateOf: (instId) => this.#rateOf(instId),
    });
    this.#samples = new RunSamples(this.#tally);
  }

  onEvent(event: Event): void {
    this.#tally.onEvent(event);
    this.#quota.onEvent(event);
    if (event.type === "fill") this.#filled(event);
  }

  /**
   * The engine trades from now on. Without an account, fills come from events, and what is held already is carried
   * over.
   */
  begin(strategies: readonly StrategyMoney[], account?: AccountMoney): void {
    this.#account = account;
    this.#begun = true;
    if (account === undefined) {
      for (const { name, positions } of strategies)
        for (const { instId, qty, avgPx, currency } of positions.values()) {
          this.#currency ??= currency;
          this.#traded.add(instId);
          this.#hasCarried ||= compare(qty, "0") !== 0;
          this.#tally.carry(name, instId, qty, avgPx, this.#startAt);
        }
      this.#carriedFees = new Map(
        strategies.flatMap(({ name, positions }) =>
          [...positions.values()].map(({ instId, fees }) => [`${name} ${instId}`, fees]),
        ),
      );
    }
    this.look(strategies);
  }

  /** A fill of the embedded service. */
  onFill(fill: Fill): void {
    this.#traded.add(fill.instId);
    const at = this.#options.now();
    this.#fills.take(fill, at, this.#tally.ownerOf(fill.clOrdId) ?? "");
    this.#tally.onFill(fill, at);
  }

  /** Charges of the embedded service. */
  readonly onFunding = (funding: Funding): void => this.#tally.onFunding(funding);
  readonly onLiquidation = (liquidation: Liquidation): void => this.#tally.onLiquidation(liquidation);

  /** To be called about once a second, and at the end. */
  look(strategies: readonly StrategyMoney[]): void {
    if (!this.#begun) return;
    const now = this.#options.now();
    if (this.#account === undefined) this.#learnFees(strategies);
    const marks = this.#marks(strategies);
    this.#tally.look(marks);
    const equity = this.#account?.equity() ?? sum([...this.#tally.profits(marks).values()]);
    this.#fall.take(equity);
    if (now - this.#sampledAt < this.#sampleMs - slackMs) return;
    this.#sample(now, equity, strategies, marks);
  }

  /** `openOrders` are those that rest at the end. */
  report(strategies: readonly StrategyMoney[], openOrders: readonly OrderUpdate[]): RunReport {
    const endAt = this.#options.now();
    this.#endAt = endAt;
    this.#sampledAt = Number.NEGATIVE_INFINITY;
    this.look(strategies);
    const prices = this.#marks(strategies);
    const resting = new RestingOrders(this.#options.profile);
    const owners = new Map(openOrders.map(({ clOrdId, strategy }) => [clOrdId, strategy]));
    for (const { record } of openOrders) if (record !== undefined) resting.onOrder(record);
    const openOf = (counts: (clOrdId: string) => boolean): RunReport["open"] =>
      resting.of((instId) => this.#rateOf(instId), counts);
    const ms = Math.round(endAt - this.#startAt);
    const { run, seed } = this.#options;
    const told: Omit<RunReport, "resultHash" | "wallMs" | "warnings"> = {
      run,
      fixture: { name: run.place, contentHash: "", startAt: iso(this.#startAt), endAt: iso(endAt), rows: 0 },
      seed,
      events: this.#tally.events,
      virtualMs: ms,
      ...tradedIn({
        tally: this.#tally,
        samples: this.#samples,
        currency: this.#currencyNow(),
        prices,
        ms,
        open: openOf(() => true),
        drawdown: this.#fall.drawdown,
      }),
      quota: this.#quota.report(this.#startAt, endAt, this.#tally),
      latency: this.#quota.latency,
      perStrategy: Object.fromEntries(
        strategies.map(({ name, state, error }) => [
          name,
          {
            ...this.#tally.of(name, prices),
            open: openOf((clOrdId) => owners.get(clOrdId) === name),
            state: state === "starting" ? "running" : state,
            ...(error !== undefined && { error }),
          } satisfies StrategyReport,
        ]),
      ),
      turnedDown: this.#tally.reasons.list(),
      turnedDownMore: this.#tally.reasons.more(),
      coverage: { gapMs: 0, series: [], missing: [] },
      assumptions: assumptionsOf({
        equity: this.#account === undefined ? "fills" : "account",
        carried: this.#hasCarried,
        sampleMs: this.#sampleMs,
        ms,
      }),
    };
    const report = { ...told, warnings: warningsOf(told) };
    return { resultHash: hashOf(report), wallMs: ms, ...report };
  }

  /** The trades that are kept, the latest of each strategy and instrument. */
  trades(strategies: readonly StrategyMoney[]): TradeLists["position"] {
    return this.#tally.tradeLists(this.#marks(strategies), () => undefined).position;
  }

  /** Parts that are kept step by step: samples, fills, trades and minutes of the quota; not single orders. */
  details(strategies: readonly StrategyMoney[]): Partial<RunDetails> {
    const { equity, exposure, strategies: lines, benchmark, prices } = this.#samples;
    const endAt = this.#endAt ?? this.#options.now();
    return {
      equity,
      fills: this.#fills.all,
      positions: positionLines(this.#fills.all),
      prices: this.#fills.prices(prices),
      exposure,
      strategies: lines,
      minutes: this.#quota.minutes(this.#startAt, endAt),
      trades: { position: this.trades(strategies), fifo: [] },
      returns: returnSeries(equity, endAt - this.#startAt),
      // Who began with nothing could have bought nothing.
      ...(benchmark && this.#account !== undefined && { benchmark }),
    };
  }

  #filled(event: EventOf<"fill">): void {
    if (!this.#begun) return;
    // Otherwise the service's own fills count.
    if (this.#account !== undefined) return;
    const { strategy, instId, clOrdId, ordId, side, px, qty, fee, cost, currency, liquidity = "maker", at } = event;
    this.#currency ??= currency;
    this.#traded.add(instId);
    const fill: Fill = { uid: "", instId, clOrdId, ordId, side, px, qty, fee, cost, liquidity, at };
    this.#tally.onFill(fill, at, strategy);
    this.#fills.take(fill, at, strategy);
  }

  /** A fee may become known after its fill. */
  #learnFees(strategies: readonly StrategyMoney[]): void {
    for (const { name, positions } of strategies)
      for (const { instId, fees } of positions.values())
        this.#tally.knowFees(name, instId, sub(fees, this.#carriedFees.get(`${name} ${instId}`) ?? "0"));
  }

  #sample(now: number, equity: string, strategies: readonly StrategyMoney[], marks: Prices): void {
    this.#sampledAt = now;
    if (this.#samples.equity.length >= samplesMax) {
      this.#samples.halve();
      this.#sampleMs *= 2;
    }
    this.#samples.add(now, equity, this.#pricesNow(strategies), marks);
  }

  /** Of instruments that were traded, by name, where a price is known. */
  #pricesNow(strategies: readonly StrategyMoney[]): ReadonlyMap<string, string> {
    const marks = this.#marks(strategies);
    const known = [...this.#traded].flatMap((instId) => {
      const px = this.#account?.markPx(instId) ?? marks.get(instId, "1") ?? marks.get(instId, "-1");
      return px === undefined ? [] : [[instId, px] as const];
    });
    return new Map(known);
  }

  /** Price at which a position could be closed, from the engine or the embedded service. */
  #marks(strategies: readonly StrategyMoney[]): Prices {
    const account = this.#account;
    if (account !== undefined) return { get: (instId) => account.markPx(instId) };
    for (const { positions } of strategies)
      for (const { instId, qty, markPx } of positions.values())
        if (compare(qty, "0") !== 0) this.#markedAt.set(`${instId} ${isPositive(qty) ? "long" : "short"}`, markPx);
    return { get: (instId, qty) => this.#markedAt.get(`${instId} ${isPositive(qty) ? "long" : "short"}`) };
  }

  #currencyNow(): string {
    return this.#account?.currency ?? this.#currency ?? "USDT";
  }

  #rateOf(instId: string): string | undefined {
    if (this.#account !== undefined) return this.#account.rateOf(instId);
    return instId.split("-")[1] === this.#currencyNow() ? "1" : undefined;
  }
}

const iso = (at: number): string => new Date(at).toISOString();
