/**
 * Trades, charges and position of one strategy in one instrument, in the run's currency.
 *
 * Invariants: result = realised + unrealised - fees - funding - liquidation. A spot product in another quote currency
 * is bought and sold at prices converted at the instant of each fill, since the quote currency itself changes hands; a
 * swap only pays its profit, which is converted when it is realised. What is converted is cut at the 18th place.
 * Not here: which fills are of which strategy (trade-statistics.ts), rates (backtest/conversion.ts).
 */
import { add, mul, sub, sum } from "../decimal.ts";
import { isZero, read, spell } from "../decimal-value.ts";
import { averagePxOf, noHolding, unrealisedOf, withFill } from "../orders/average-cost.ts";
import { inCurrency, keptAt, type Mark } from "./converted-money.ts";
import { byLiquidity } from "./liquidity-sums.ts";
import { MatchedLots } from "./matched-lots.ts";
import type { PositionReport } from "./report.ts";
import { type KeptTrades, RoundTrips } from "./round-trips.ts";
import { RunningSum } from "./running-sum.ts";
import type { TradeFill } from "./trade-list.ts";

export class InstrumentSums {
  readonly instId: string;
  fills = 0;
  funding = "0";
  liquidation = "0";
  readonly roundTrips: RoundTrips;
  /** Only where they are asked for. */
  readonly lots: MatchedLots | undefined;
  #held = noHolding;
  /** Shares of its fills that were maker and taker. */
  readonly liquidity = byLiquidity();
  /** Of fills that are not its own, and what was learned after a fill. */
  readonly #otherFees = new RunningSum();
  /** Realised profit where it was converted; otherwise the holding's own counts. */
  #realised: string | undefined;

  constructor(instId: string, kept: KeptTrades) {
    this.instId = instId;
    this.roundTrips = new RoundTrips(kept);
    this.lots = kept.keepsLots === true ? new MatchedLots() : undefined;
  }

  get qty(): string {
    return spell(this.#held.qty);
  }

  get fees(): string {
    const { maker, taker } = this.liquidity;
    return sum([maker.fees.text, taker.fees.text, this.#otherFees.text]);
  }

  get volume(): string {
    return add(this.liquidity.maker.volume.text, this.liquidity.taker.volume.text);
  }

  get isFlat(): boolean {
    return isZero(this.#held.qty);
  }

  get realised(): string {
    return this.#realised ?? spell(this.#held.realised);
  }

  /**
   * `worth` is price times quantity of the fill, `fees` where its cost is counted: with its liquidity, where it is its
   * own. 1 where it opened a position that was flat, -1 where it closed one, else 0.
   */
  take(fill: TradeFill, at: number, rate: string, worth?: string, fees = this.#otherFees): -1 | 0 | 1 {
    const wasFlat = this.isFlat;
    const kept = rate === "1" ? { px: fill.px, rate } : keptAt(this.instId, { px: fill.px, rate });
    const own = rate === "1" ? fill : { ...fill, px: kept.px, cost: inCurrency(fill.cost, rate) };
    fees.add(own.cost);
    if (kept.rate === "1" && this.#realised === undefined) this.#hold(own);
    else this.#addConverted(own, kept.rate);
    this.roundTrips.take(own, at, kept.rate, own === fill ? worth : undefined);
    this.lots?.take(own, at, kept.rate);
    if (this.isFlat === wasFlat) return 0;
    return wasFlat ? 1 : -1;
  }

  /** Charges what is held with a share of its funding or of a liquidation's cost. */
  charge(what: "funding" | "liquidation", share: string): void {
    this[what] = add(this[what], share);
    const kind = what === "funding" ? what : "fees";
    this.roundTrips.charge(kind, share);
    this.lots?.charge(kind, share);
  }

  /** A fee that became known, or was corrected, after the fill. */
  correctFees(cost: string): void {
    if (this.roundTrips.correct(cost)) this.#otherFees.add(cost);
  }

  unrealised(mark: Mark): string {
    const { px, rate } = keptAt(this.instId, mark);
    return inCurrency(spell(unrealisedOf(this.#held, read(px))), rate);
  }

  net(mark: Mark): string {
    const earned = add(this.realised, this.unrealised(mark));
    return sub(sub(sub(earned, this.fees), this.funding), this.liquidation);
  }

  /** Value of the position, negative when short. */
  worth({ px, rate }: Mark): string {
    return inCurrency(mul(this.qty, px), rate);
  }

  position(strategy: string, mark: Mark): PositionReport {
    const { px } = keptAt(this.instId, mark);
    return {
      strategy,
      instId: this.instId,
      qty: this.qty,
      averagePx: spell(averagePxOf(this.#held)),
      markPx: px,
      unrealised: this.unrealised(mark),
    };
  }

  #addConverted(fill: TradeFill, rate: string): void {
    const before = spell(this.#held.realised);
    const known = this.realised;
    this.#hold(fill);
    this.#realised = add(known, inCurrency(sub(spell(this.#held.realised), before), rate));
  }

  #hold({ side, px, qty }: TradeFill): void {
    this.#held = withFill(this.#held, { side, px: read(px), qty: read(qty) });
  }
}
