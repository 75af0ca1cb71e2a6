/**
 * Counts and sums of a run, strategy by strategy, as events and fills come in.
 *
 * Invariants: counts come from the journal and money from the service's own fills, so no opinion the engine has of
 * itself is repeated; sums are exact. What is quoted in another currency is converted at the rate of its instant
 * (converted-money.ts), and counted but not valued where nothing connects that currency. What the service did to a
 * position is shared out among those who hold it (attribution.ts).
 */
import { abs, add, isPositive, isZero, mul, sub, sum } from "../decimal.ts";
import type { ActionClass, Event, EventOf } from "../journal/events.ts";
import { finalPhases } from "../orders/order-update.ts";
import type { Fill, Funding, Liquidation } from "../venue/venue.ts";
import { fundingShares, shareClose, shareClosing, sharesOf } from "./attribution.ts";
import { inCurrency } from "./converted-money.ts";
import { Durations } from "./durations.ts";
import { ExitGaps } from "./exit-gaps.ts";
import type { InstrumentSums } from "./instrument-sums.ts";
import { instrumentReports, instrumentsOf, tradeListsOf } from "./instrument-totals.ts";
import { byLiquidity, LiquiditySums } from "./liquidity-sums.ts";
import { RejectionReasons } from "./rejection-reasons.ts";
import type { InstrumentReport, Liquidity, PositionReport, StrategyReport } from "./report.ts";
import type { KeptTrades } from "./round-trips.ts";
import type { RunningSum } from "./running-sum.ts";
import { type MarkOf, StrategySums } from "./strategy-sums.ts";
import type { Extremes, TradeFill, TradeLists } from "./trade-list.ts";
import { Presence, type TradeReport, tradesOf } from "./trades.ts";

const exits: readonly ActionClass[] = ["emergency", "cancel", "close"];
/**
 * Value of one unit of an instrument's quote currency in the run's: "1" only where they are one, undefined where
 * nothing connects them.
 */
export type RateOf = (instId: string) => string | undefined;

/** Prices of instruments in their own quote currencies, for what is held: long and short may meet different ones. */
export interface Prices {
  get(instId: string, qty: string): string | undefined;
}

/** Currency of a run, the time that counts, and the lists of trades that are kept. */
interface Counted extends KeptTrades {
  readonly currency: string;
  readonly fromAt: number;
  readonly untilAt: number;
  readonly rateOf?: RateOf;
  /**
   * For runs without a known end: at most so many waits and trades of an instrument are kept, and no order that is
   * over.
   */
  readonly keptMax?: number;
}

export class TradeStatistics {
  readonly liquidations: Liquidation[] = [];
  /** Why orders came to nothing. */
  readonly reasons = new RejectionReasons();
  /** Waiting times of actions sent. */
  readonly waits: Durations;
  /** Waiting time of the action that was sent last. */
  lastWaitMs = 0;
  /** Exits that left while ordinary actions had to wait. */
  reserveUsed = 0;
  events = 0;
  /** Funding paid by users less funding received; undefined when nothing was held at any funding. */
  funding: string | undefined;
  readonly #counted: Counted;
  readonly #ofMs = (): number => this.#counted.untilAt - this.#counted.fromAt;
  readonly #rateOf: RateOf;
  readonly #sums: ReadonlyMap<string, StrategySums>;
  readonly #all = (): readonly StrategySums[] => [...this.#sums.values()];
  readonly #anyone: Presence;
  readonly #gaps: ExitGaps;
  readonly #owners = new Map<string, StrategySums>();
  /** Fills of no strategy, or without a value in the run's currency. */
  readonly #liquidity = byLiquidity();
  /** Division of the fills of a liquidation's order. */
  readonly #closings = new Map<string, (fill: Fill, at: number) => void>();
  /**
   * Client order ids of calls that close a position of the account, with its user and instrument, until it is closed.
   */
  readonly #closeCalls = new Map<string, string>();
  #heldUntil = Number.NEGATIVE_INFINITY;
  #firstTraded: string | undefined;

  constructor(strategies: readonly string[], counted: Counted) {
    const untilAt = (): number => counted.untilAt;
    this.#counted = counted;
    this.#rateOf = counted.rateOf ?? ((instId) => (instId.split("-")[1] === counted.currency ? "1" : undefined));
    this.waits = new Durations(counted.keptMax);
    this.#sums = new Map(strategies.map((name) => [name, new StrategySums(name, untilAt, counted)]));
    this.#anyone = new Presence(untilAt);
    this.#gaps = new ExitGaps(untilAt);
  }

  get liquidity(): { readonly maker: Liquidity; readonly taker: Liquidity } {
    const all = [this.#liquidity, ...this.#all().flatMap((own) => own.instruments.map(({ liquidity }) => liquidity))];
    return {
      maker: LiquiditySums.joined(all.map(({ maker }) => maker)),
      taker: LiquiditySums.joined(all.map(({ taker }) => taker)),
    };
  }

  get volume(): string {
    return add(this.liquidity.maker.volume, this.liquidity.taker.volume);
  }

  get fees(): string {
    return add(this.liquidity.maker.fees, this.liquidity.taker.fees);
  }

  /** By strategies' closing fills, before fees. */
  get realised(): string {
    return sum(this.#all().map((own) => own.total("realised")));
  }

  /** The instrument of the first fill of any strategy. */
  get firstTraded(): string | undefined {
    return this.#firstTraded;
  }

  /** Profit of each strategy so far; positions are valued at `marks`. */
  profits(prices: Prices): ReadonlyMap<string, string> {
    const markOf = this.#markOf(prices);
    return new Map(this.#all().map((own) => [own.name, own.pnl(markOf)]));
  }

  /**
   * Exposure of strategies at these prices: all positions without their signs, and with them. Strategies against each
   * other cancel.
   */
  exposure(prices: Prices): { readonly gross: string; readonly net: string } {
    const markOf = this.#markOf(prices);
    const worth = new Map<string, string>();
    for (const own of this.#sums.values())
      for (const one of own.instruments)
        worth.set(one.instId, add(worth.get(one.instId) ?? "0", one.worth(markOf(one))));
    const worths = [...worth.values()];
    return { gross: sum(worths.map(abs)), net: sum(worths) };
  }

  /** Results of strategies in each instrument, by name. */
  instruments(prices: Prices): Readonly<Record<string, InstrumentReport>> {
    const charged = { funding: this.funding !== undefined, liquidation: this.liquidations.length > 0 };
    return instrumentReports(instrumentsOf(this.#all()), this.#markOf(prices), charged);
  }

  total(what: keyof StrategySums["counts"]): number {
    return this.#all().reduce((total, { counts }) => total + counts[what], 0);
  }

  /** The strategy that placed an order; undefined for an order of none. */
  ownerOf(clOrdId: string): string | undefined {
    return this.#owners.get(clOrdId)?.name;
  }

  /** Report of a strategy, its positions valued at `marks`. */
  of(name: string, prices: Prices): Omit<StrategyReport, "state" | "error" | "open"> {
    const own = this.#sums.get(name) ?? new StrategySums(name, () => this.#counted.untilAt);
    return {
      ...own.report(this.#markOf(prices), this.#ofMs()),
      ...this.#gaps.of(name),
      ...(this.funding !== undefined && { funding: own.total("funding") }),
      ...(this.liquidations.length > 0 && { liquidation: own.total("liquidation") }),
    };
  }

  /** Positions of strategies, valued at `marks`. */
  positions(prices: Prices): readonly PositionReport[] {
    return this.#all().flatMap((own) => own.positions(this.#markOf(prices)));
  }

  /** Trades of all strategies, positions valued at `marks`. */
  trades(prices: Prices): TradeReport {
    const marked = this.#all().flatMap((own) => own.markedTrades(this.#markOf(prices)));
    return tradesOf(marked, { ms: this.#anyone.ms, ofMs: this.#ofMs() });
  }

  /** Every trade that is kept, of every strategy; `extremes` are those of the recorded prices. */
  tradeLists(prices: Prices, extremes: Extremes): TradeLists {
    const { currency, untilAt: endAt } = this.#counted;
    return tradeListsOf(this.#all(), { currency, endAt, extremes, markOf: this.#markOf(prices) });
  }

  onEvent(event: Event): void {
    if (event.type === "fill" && this.#gaps.open === 0) return;
    if (event.type !== "fill") this.events++;
    if (event.type === "order.changed") this.#noteChange(event);
    else if (event.type === "action.sent") this.#noteSent(event);
    else if (event.type === "action.held") {
      if (event.layer === "uid") this.#heldUntil = Math.max(this.#heldUntil, event.until);
    } else if (event.type === "order.refused") this.#noteRefused(event);
    else if (event.type !== "action.answered") {
      this.#gaps.onEvent(event);
      this.#noteClose(event);
    }
  }

  #noteChange(event: EventOf<"order.changed">): void {
    const { phase, strategy, clOrdId } = event;
    if (phase === "rejected") this.reasons.onEvent(event);
    const own = this.#sums.get(strategy);
    if (own === undefined) return;
    if (phase === "sent") {
      own.counts.placed++;
      this.#owners.set(clOrdId, own);
      return;
    }
    if (phase === "filled" || phase === "canceled" || phase === "rejected") own.counts[phase]++;
    if (this.#counted.keptMax !== undefined && finalPhases.includes(phase)) this.#owners.delete(clOrdId);
  }

  #noteSent({ at, class: kind, owner, weight, waitedMs }: EventOf<"action.sent">): void {
    this.waits.add(Math.round(waitedMs));
    this.lastWaitMs = waitedMs;
    if (at < this.#heldUntil && exits.includes(kind)) this.reserveUsed++;
    const own = this.#sums.get(owner);
    if (own === undefined) return;
    own.counts.weight += weight;
    own.counts.heldMs += waitedMs;
  }

  #noteRefused(event: EventOf<"order.refused">): void {
    this.reasons.onEvent(event);
    const counts = this.#sums.get(event.strategy)?.counts;
    if (counts !== undefined) counts.refused++;
  }

  /** A call that closes a position of the account is announced before it is sent. */
  #noteClose(event: Event): void {
    if (event.type !== "position.closing" && event.type !== "position.closed") return;
    const { uid, instId } = event;
    const position = `${uid} ${instId}`;
    if (event.type === "position.closing") {
      if (event.clOrdId !== undefined) this.#closeCalls.set(event.clOrdId, position);
      return;
    }
    if (event.strategy !== undefined) return;
    for (const [clOrdId, closed] of this.#closeCalls) if (closed === position) this.#closeCalls.delete(clOrdId);
  }

  /**
   * `at` is the instant on the run's clock, from which the service's may differ; `strategy` is its owner, where that is
   * known.
   */
  onFill(fill: Fill, at = fill.at, strategy?: string): void {
    const own = strategy === undefined ? this.#owners.get(fill.clOrdId) : this.#sums.get(strategy);
    if (own !== undefined) own.counts.fills++;
    const rate = this.#rateOf(fill.instId);
    const traded = own === undefined || rate === undefined ? undefined : own.of(fill.instId);
    const sums = (traded?.liquidity ?? this.#liquidity)[fill.liquidity];
    sums.fills++;
    if (rate === undefined) return;
    const worth = fill.value ?? mul(fill.px, fill.qty);
    sums.volume.add(rate === "1" ? worth : inCurrency(worth, rate));
    if (own === undefined || traded === undefined)
      sums.fees.add(rate === "1" ? fill.cost : inCurrency(fill.cost, rate));
    else {
      own.uid = fill.uid;
      this.#firstTraded ??= fill.instId;
      traded.fills++;
      this.#take(own, traded, fill, at, rate, worth, sums.fees);
    }
    this.#closings.get(fill.ordId)?.(fill, at);
    if (strategy === undefined && this.#closeCalls.has(fill.clOrdId)) this.#shareOut(fill, at, rate);
  }

  /** A fill of a call that closed a position of the account, to the strategies that hold it. */
  #shareOut(fill: Fill, at: number, rate: string): void {
    const { uid, instId, ordId } = fill;
    const holders = this.#holdersOf(uid, instId);
    const parts = shareClose(
      fill,
      holders.map((own) => own.qtyOf(instId)),
    );
    for (const { holder, ...part } of parts) {
      const own = holders[holder] as StrategySums;
      this.#take(own, own.of(instId), { ...part, ordId }, at, rate);
    }
  }

  /**
   * Takes over at `px` what a strategy held before the run, or what the service did to its position: no fill of its
   * orders.
   */
  carry(strategy: string, instId: string, qty: string, px: string, at: number, cost = "0"): void {
    const own = this.#sums.get(strategy);
    const rate = this.#rateOf(instId);
    if (own === undefined || rate === undefined || isZero(qty)) return;
    this.#take(
      own,
      own.of(instId),
      { ordId: "", side: isPositive(qty) ? "buy" : "sell", px, qty: abs(qty), cost },
      at,
      rate,
    );
  }

  /**
   * Fees of a strategy in an instrument as they are known now, in its quote currency: what was learned after a fill
   * counts as well.
   */
  knowFees(strategy: string, instId: string, fees: string): void {
    const known = this.#sums.get(strategy)?.known(instId);
    const rate = this.#rateOf(instId);
    if (known === undefined || rate === undefined) return;
    const missed = sub(inCurrency(fees, rate), known.fees);
    if (isZero(missed)) return;
    known.correctFees(missed);
    this.#liquidity.maker.fees.add(missed);
  }

  /** Notes the prices at which what is held could be closed now. */
  look(prices: Prices): void {
    for (const own of this.#all())
      for (const one of own.instruments) {
        const px = one.isFlat ? undefined : prices.get(one.instId, one.qty);
        if (px !== undefined) one.roundTrips.look(px);
      }
  }

  onFunding(charged: Funding): void {
    const users = Object.keys(charged.paid);
    const rate = this.#rateOf(charged.instId);
    if (rate === undefined) return;
    for (const uid of new Set([...users, ...this.#all().flatMap((own) => own.uid ?? [])])) {
      const holders = this.#holdersOf(uid, charged.instId);
      const quantities = holders.map((own) => own.qtyOf(charged.instId));
      const shares = fundingShares(charged, uid, quantities);
      for (const [index, own] of holders.entries())
        own.of(charged.instId).charge("funding", inCurrency(shares[index] ?? "0", rate));
      if (holders.length > 0 || users.includes(uid))
        this.funding = add(this.funding ?? "0", inCurrency(charged.paid[uid] ?? "0", rate));
    }
  }

  onLiquidation(liquidation: Liquidation): void {
    const { uid, instId, ordId, side, qty } = liquidation;
    const rate = this.#rateOf(instId);
    if (rate === undefined) return;
    const [value, fee, covered] = [liquidation.value, liquidation.fee, liquidation.covered].map((money) =>
      inCurrency(money, rate),
    ) as [string, string, string];
    this.liquidations.push({ ...liquidation, value, fee, covered });
    const holders = this.#holdersOf(uid, instId);
    const quantities = holders.map((own) => own.qtyOf(instId));
    const costs = sharesOf(sub(fee, covered), quantities, side === "sell" ? qty : `-${qty}`);
    for (const [index, own] of holders.entries()) own.of(instId).charge("liquidation", costs[index] ?? "0");
    const shares = shareClosing(liquidation, quantities);
    const held = holders.map((own) => [own, own.of(instId)] as const);
    this.#closings.set(ordId, (fill, at) => {
      for (const part of shares(fill))
        this.#take(...(held[part.holder] as (typeof held)[number]), { ...part, ordId }, at, rate);
    });
  }

  #take(
    own: StrategySums,
    traded: InstrumentSums,
    fill: TradeFill,
    at: number,
    rate: string,
    worth?: string,
    fees?: RunningSum,
  ): void {
    const opened = own.take(traded, fill, at, rate, worth, fees);
    if (opened !== 0) this.#anyone[opened === 1 ? "opened" : "closed"](at);
  }

  #markOf(prices: Prices): MarkOf {
    return ({ instId, qty }) => ({ px: prices.get(instId, qty) ?? "0", rate: this.#rateOf(instId) ?? "0" });
  }

  /** Strategies of a user that hold something of an instrument. */
  #holdersOf(uid: string, instId: string): readonly StrategySums[] {
    return this.#all().filter((own) => own.uid === uid && !isZero(own.qtyOf(instId)));
  }
}
