/**
 * Counts and sums of one strategy: its orders, and what it made in all its instruments together.
 *
 * Invariants: money is decimal text and sums are exact; result = realised + unrealised - fees - funding - liquidation.
 * Not here: one instrument (instrument-sums.ts), which events and fills are this strategy's (trade-statistics.ts).
 */
import { isZero, sum } from "../decimal.ts";
import { keptAt, type Mark } from "./converted-money.ts";
import { InstrumentSums } from "./instrument-sums.ts";
import type { PositionReport, StrategyReport } from "./report.ts";
import type { KeptTrades } from "./round-trips.ts";
import type { RunningSum } from "./running-sum.ts";
import type { TradeFill } from "./trade-list.ts";
import { Presence, tradesOf } from "./trades.ts";

/** At what a position in an instrument is valued now: long and short may meet different prices. */
export type MarkOf = (position: { readonly instId: string; readonly qty: string }) => Mark;

export class StrategySums {
  readonly name: string;
  readonly counts = { placed: 0, canceled: 0, filled: 0, rejected: 0, refused: 0, fills: 0, weight: 0, heldMs: 0 };
  /** Known from the first fill on. */
  uid: string | undefined;
  readonly #instruments = new Map<string, InstrumentSums>();
  readonly #kept: KeptTrades;
  readonly #presence: Presence;

  constructor(name: string, untilAt: () => number, kept: KeptTrades = {}) {
    this.name = name;
    this.#kept = kept;
    this.#presence = new Presence(untilAt);
  }

  get instruments(): readonly InstrumentSums[] {
    return [...this.#instruments.values()];
  }

  total(what: "fees" | "volume" | "funding" | "liquidation" | "realised"): string {
    return sum(this.instruments.map((one) => one[what]));
  }

  /** Profit so far; positions are valued by `markOf`. */
  pnl(markOf: MarkOf): string {
    return sum(this.instruments.map((one) => one.net(markOf(one))));
  }

  markedTrades(markOf: MarkOf): Parameters<typeof tradesOf>[0] {
    return this.instruments.map((one) => {
      const { all, earlier } = one.roundTrips;
      return { last: all.at(-1), earlier, mark: keptAt(one.instId, markOf(one)) };
    });
  }

  /** Position in an instrument; "0" without any. */
  qtyOf(instId: string): string {
    return this.#instruments.get(instId)?.qty ?? "0";
  }

  /** Undefined where it was not traded. */
  known(instId: string): InstrumentSums | undefined {
    return this.#instruments.get(instId);
  }

  of(instId: string): InstrumentSums {
    let found = this.#instruments.get(instId);
    if (found === undefined) {
      found = new InstrumentSums(instId, this.#kept);
      this.#instruments.set(instId, found);
    }
    return found;
  }

  /**
   * Takes a fill of one of its instruments at the rate of its quote currency; 1 where it opened a position that was
   * flat, -1 where it closed one, else 0.
   */
  take(own: InstrumentSums, fill: TradeFill, at: number, rate: string, worth?: string, fees?: RunningSum): -1 | 0 | 1 {
    const opened = own.take(fill, at, rate, worth, fees);
    if (opened !== 0) this.#presence[opened === 1 ? "opened" : "closed"](at);
    return opened;
  }

  /** The time that counts is `ofMs` long. */
  report(markOf: MarkOf, ofMs: number): Omit<StrategyReport, "state" | "error" | "open" | "funding" | "liquidation"> {
    const { counts } = this;
    return {
      ...counts,
      heldMs: Math.round(counts.heldMs),
      fees: this.total("fees"),
      volume: this.total("volume"),
      pnl: this.pnl(markOf),
      realised: this.total("realised"),
      unrealised: sum(this.instruments.map((one) => one.unrealised(markOf(one)))),
      trades: tradesOf(this.markedTrades(markOf), { ms: this.#presence.ms, ofMs }),
    };
  }

  positions(markOf: MarkOf): readonly PositionReport[] {
    return this.instruments
      .filter(({ qty }) => !isZero(qty))
      .sort((a, b) => (a.instId < b.instId ? -1 : 1))
      .map((one) => one.position(this.name, markOf(one)));
  }
}
