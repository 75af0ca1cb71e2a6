/**
 * Counts and sums of a run, strategy by strategy, as events and fills come in.
 *
 * Invariants: counts come from the journal and money from the service's own fills, so no opinion the engine has of itself is
 * repeated; sums are exact; what is not quoted in the run's currency is counted but not valued. What the service did to a
 * position is shared out among those who hold it (attribution.ts).
 */
import { add, isZero, mul, sub, sum } from "../decimal.ts";
import type { ActionClass, Event, EventOf } from "../journal/events.ts";
import type { Fill, Funding, Liquidation } from "../venue/venue.ts";
import { fundingShares, shareClosing, sharesOf } from "./attribution.ts";
import { ExitGaps } from "./exit-gaps.ts";
import type { Liquidity, PositionReport, StrategyReport } from "./report.ts";
import { type Marks, StrategySums } from "./strategy-sums.ts";
import { type Extremes, type TradeFill, type TradeLists, type TradeRecord, tradeRecord } from "./trade-list.ts";
import { Presence, type TradeReport, tradesOf } from "./trades.ts";

const exits: readonly ActionClass[] = ["emergency", "cancel", "close"];
const noLiquidity: Liquidity = { fills: 0, volume: "0", fees: "0" };

export class TradeStatistics {
  readonly liquidations: Liquidation[] = [];
  /** Waiting time of every action sent. */
  readonly waits: number[] = [];
  /** Exits that left while ordinary actions had to wait. */
  reserveUsed = 0;
  events = 0;
  /** What users paid for funding less what they received; undefined when nothing was held at any funding. */
  funding: string | undefined;
  readonly #currency: string;
  readonly #untilAt: number;
  readonly #ofMs: number;
  readonly #sums: ReadonlyMap<string, StrategySums>;
  readonly #anyone: Presence;
  readonly #gaps: ExitGaps;
  readonly #owners = new Map<string, StrategySums>();
  readonly #liquidity = { maker: noLiquidity, taker: noLiquidity };
  /** How the fills of a liquidation's order are shared. */
  readonly #closings = new Map<string, (fill: Fill, at: number) => void>();
  #heldUntil = Number.NEGATIVE_INFINITY;
  #firstTraded: string | undefined;

  /** What happens from `fromAt` to `untilAt` counts; lots are kept where trades are to be listed. */
  constructor(strategies: readonly string[], currency: string, fromAt: number, untilAt: number, keepsLots = false) {
    this.#currency = currency;
    this.#untilAt = untilAt;
    this.#ofMs = untilAt - fromAt;
    this.#sums = new Map(strategies.map((name) => [name, new StrategySums(name, untilAt, keepsLots)]));
    this.#anyone = new Presence(untilAt);
    this.#gaps = new ExitGaps(untilAt);
  }

  /** How long the action sent last had waited. */
  get lastWaitMs(): number {
    return this.waits[this.waits.length - 1] ?? 0;
  }

  get liquidity(): { readonly maker: Liquidity; readonly taker: Liquidity } {
    return { ...this.#liquidity };
  }

  get volume(): string {
    return add(this.#liquidity.maker.volume, this.#liquidity.taker.volume);
  }

  get fees(): string {
    return add(this.#liquidity.maker.fees, this.#liquidity.taker.fees);
  }

  /** By strategies' closing fills, before fees. */
  get realised(): string {
    return sum(this.#all().map(({ realised }) => realised));
  }

  /** The instrument of the first fill of any strategy. */
  get firstTraded(): string | undefined {
    return this.#firstTraded;
  }

  /** What each strategy made so far, what it holds valued at `marks`. */
  profits(marks: Marks): ReadonlyMap<string, string> {
    return new Map(this.#all().map((own) => [own.name, own.pnl(marks)]));
  }

  total(what: keyof StrategySums["counts"]): number {
    return this.#all().reduce((total, { counts }) => total + counts[what], 0);
  }

  /** The strategy that placed an order; undefined for an order of none. */
  ownerOf(clOrdId: string): string | undefined {
    return this.#owners.get(clOrdId)?.name;
  }

  /** What a strategy did, its holdings valued at `marks`. */
  of(name: string, marks: Marks): Omit<StrategyReport, "state" | "error" | "open"> {
    const own = this.#sums.get(name) ?? new StrategySums(name, this.#untilAt);
    return {
      ...own.report(marks, this.#ofMs),
      ...this.#gaps.of(name),
      ...(this.funding !== undefined && { funding: own.funding }),
      ...(this.liquidations.length > 0 && { liquidation: own.liquidation }),
    };
  }

  /** What strategies hold, valued at `marks`. */
  positions(marks: Marks): readonly PositionReport[] {
    return this.#all().flatMap((own) => own.positions(marks));
  }

  /** Of all strategies, what they hold valued at `marks`. */
  trades(marks: Marks): TradeReport {
    const marked = this.#all().flatMap((own) => own.markedTrades(marks));
    return tradesOf(marked, { ms: this.#anyone.ms, ofMs: this.#ofMs });
  }

  /** Every trade of every strategy; `extremes` are those of the recorded prices. */
  tradeLists(marks: Marks, extremes: Extremes): TradeLists {
    const [currency, endAt] = [this.#currency, this.#untilAt];
    const list = (own: StrategySums, trades: StrategySums["roundTrips" | "lots"] = new Map()): readonly TradeRecord[] =>
      [...trades].flatMap(([instId, { all }]) => {
        const of = { strategy: own.name, instId, currency, markPx: marks.get(instId) ?? "0", endAt, extremes };
        return all.map((trade) => tradeRecord(trade, of));
      });
    const byOpening = (records: readonly TradeRecord[]) => records.toSorted((a, b) => a.openedAt - b.openedAt);
    const all = this.#all();
    return {
      position: byOpening(all.flatMap((own) => list(own, own.roundTrips))),
      fifo: byOpening(all.flatMap((own) => list(own, own.lots))),
    };
  }

  onEvent(event: Event): void {
    if (event.type !== "fill") this.events++;
    if (event.type === "action.sent") this.#countAction(event);
    else if (event.type === "action.held") {
      if (event.layer === "uid") this.#heldUntil = Math.max(this.#heldUntil, event.until);
    } else if (event.type === "order.changed") this.#countOrder(event);
    else if (event.type === "order.refused") this.#count(event.strategy, "refused");
    else this.#gaps.onEvent(event);
  }

  /** `at` is the instant on the run's clock, from which the service's may be off. */
  onFill(fill: Fill, at = fill.at): void {
    const own = this.#owners.get(fill.clOrdId);
    if (own !== undefined) own.counts.fills++;
    const valued = this.#isValued(fill.instId);
    const value = valued ? mul(fill.px, fill.qty) : "0";
    const { fills, volume, fees } = this.#liquidity[fill.liquidity];
    this.#liquidity[fill.liquidity] = { fills: fills + 1, volume: add(volume, value), fees: valued ? add(fees, fill.cost) : fees };
    if (own !== undefined && valued) {
      own.uid = fill.uid;
      own.volume = add(own.volume, value);
      this.#firstTraded ??= fill.instId;
      this.#take(own, fill.instId, fill, at);
    }
    if (valued) this.#closings.get(fill.ordId)?.(fill, at);
  }

  onFunding(charged: Funding): void {
    const users = Object.keys(charged.paid);
    if (!this.#isValued(charged.instId)) return;
    for (const uid of new Set([...users, ...this.#all().flatMap((own) => own.uid ?? [])])) {
      const holders = this.#holdersOf(uid, charged.instId);
      const quantities = holders.map((own) => own.qtyOf(charged.instId));
      const shares = fundingShares(charged, uid, quantities);
      for (const [index, own] of holders.entries()) own.charge("funding", charged.instId, shares[index] ?? "0");
      if (holders.length > 0 || users.includes(uid)) this.funding = add(this.funding ?? "0", charged.paid[uid] ?? "0");
    }
  }

  onLiquidation(liquidation: Liquidation): void {
    if (!this.#isValued(liquidation.instId)) return;
    this.liquidations.push(liquidation);
    const { uid, instId, ordId, side, qty, fee, covered } = liquidation;
    const holders = this.#holdersOf(uid, instId);
    const quantities = holders.map((own) => own.qtyOf(instId));
    const costs = sharesOf(sub(fee, covered), quantities, side === "sell" ? qty : `-${qty}`);
    for (const [index, own] of holders.entries()) own.charge("liquidation", instId, costs[index] ?? "0");
    const shares = shareClosing(liquidation, quantities);
    this.#closings.set(ordId, (fill, at) => {
      for (const part of shares(fill)) this.#take(holders[part.holder] as StrategySums, instId, { ...part, ordId }, at);
    });
  }

  #countAction({ waitedMs, class: kind, at, owner, weight }: EventOf<"action.sent">): void {
    this.waits.push(waitedMs);
    if (exits.includes(kind) && at < this.#heldUntil) this.reserveUsed++;
    this.#count(owner, "weight", weight);
    this.#count(owner, "heldMs", waitedMs);
  }

  #countOrder({ strategy, phase, clOrdId }: EventOf<"order.changed">): void {
    const own = this.#sums.get(strategy);
    if (own === undefined) return;
    if (phase === "sent") {
      own.counts.placed++;
      this.#owners.set(clOrdId, own);
    } else if (phase === "filled" || phase === "canceled" || phase === "rejected") own.counts[phase]++;
  }

  #count(strategy: string, what: keyof StrategySums["counts"], by = 1): void {
    const own = this.#sums.get(strategy);
    if (own !== undefined) own.counts[what] += by;
  }

  #take(own: StrategySums, instId: string, fill: TradeFill, at: number): void {
    const opened = own.take(instId, fill, at);
    if (opened !== 0) this.#anyone[opened === 1 ? "opened" : "closed"](at);
  }

  #isValued(instId: string): boolean {
    return instId.split("-")[1] === this.#currency;
  }

  #all(): readonly StrategySums[] {
    return [...this.#sums.values()];
  }

  /** Strategies of a user that hold something of an instrument. */
  #holdersOf(uid: string, instId: string): readonly StrategySums[] {
    return this.#all().filter((own) => own.uid === uid && !isZero(own.qtyOf(instId)));
  }
}
