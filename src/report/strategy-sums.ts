/**
 * Counts and sums of one strategy: its orders, what it traded and was charged, and what it holds of each instrument.
 *
 * Invariants: money is decimal text and sums are exact; result = realised + unrealised - fees - funding - liquidation.
 * Not here: which events and fills are this strategy's (trade-statistics.ts).
 */
import { add, sub, sum } from "../decimal.ts";
import { addToHolding, averagePxOf, createHolding, type Holding, isFlat, unrealisedOf } from "../orders/average-cost.ts";
import { MatchedLots } from "./matched-lots.ts";
import type { PositionReport, StrategyReport } from "./report.ts";
import { RoundTrips } from "./round-trips.ts";
import type { TradeFill } from "./trade-list.ts";
import { Presence, tradesOf } from "./trades.ts";

/** Prices by instrument at the end. */
export type Marks = ReadonlyMap<string, string>;

export class StrategySums {
  readonly name: string;
  readonly counts = { placed: 0, canceled: 0, filled: 0, rejected: 0, refused: 0, fills: 0, weight: 0, heldMs: 0 };
  /** Known from the first fill on. */
  uid: string | undefined;
  fees = "0";
  volume = "0";
  funding = "0";
  liquidation = "0";
  readonly #held = new Map<string, Holding>();
  /** Trades by instrument; by lots only where they are asked for. */
  readonly roundTrips = new Map<string, RoundTrips>();
  readonly lots: Map<string, MatchedLots> | undefined;
  readonly #presence: Presence;

  constructor(name: string, untilAt: number, keepsLots = false) {
    this.name = name;
    this.lots = keepsLots ? new Map() : undefined;
    this.#presence = new Presence(untilAt);
  }

  get realised(): string {
    return sum([...this.#held.values()].map(({ realised }) => realised));
  }

  markedTrades(marks: Marks): Parameters<typeof tradesOf>[0] {
    return [...this.roundTrips].map(([instId, { all }]) => ({ trades: all, markPx: marks.get(instId) ?? "0" }));
  }

  unrealised(marks: Marks): string {
    return sum([...this.#held].map(([instId, holding]) => unrealisedOf(holding, marks.get(instId) ?? "0")));
  }

  /** What is held of an instrument; "0" without any. */
  qtyOf(instId: string): string {
    return this.#held.get(instId)?.qty ?? "0";
  }

  /** Takes a fill; 1 where it opened a position that was flat, -1 where it closed one, else 0. */
  take(instId: string, fill: TradeFill, at: number): -1 | 0 | 1 {
    this.fees = add(this.fees, fill.cost);
    ofInstrument(this.roundTrips, instId, () => new RoundTrips()).take(fill, at);
    if (this.lots !== undefined) ofInstrument(this.lots, instId, () => new MatchedLots()).take(fill, at);
    const held = this.#holdingOf(instId);
    const before = isFlat(held);
    addToHolding(held, fill);
    if (isFlat(held) === before) return 0;
    this.#presence[before ? "opened" : "closed"](at);
    return before ? 1 : -1;
  }

  /** Charges what is held of an instrument with a share of its funding or of a liquidation's cost. */
  charge(what: "funding" | "liquidation", instId: string, share: string): void {
    this[what] = add(this[what], share);
    const kind = what === "funding" ? what : "fees";
    this.roundTrips.get(instId)?.charge(kind, share);
    this.lots?.get(instId)?.charge(kind, share);
  }

  /** What it made so far, what it holds valued at `marks`. */
  pnl(marks: Marks): string {
    return sub(sub(sub(add(this.realised, this.unrealised(marks)), this.fees), this.funding), this.liquidation);
  }

  /** The time that counts is `ofMs` long. */
  report(marks: Marks, ofMs: number): Omit<StrategyReport, "state" | "error" | "open" | "funding" | "liquidation"> {
    const { counts, fees, volume, realised } = this;
    const unrealised = this.unrealised(marks);
    return {
      ...counts,
      heldMs: Math.round(counts.heldMs),
      fees,
      volume,
      pnl: this.pnl(marks),
      realised,
      unrealised,
      trades: tradesOf(this.markedTrades(marks), { ms: this.#presence.ms, ofMs }),
    };
  }

  positions(marks: Marks): readonly PositionReport[] {
    return [...this.#held]
      .filter(([, holding]) => !isFlat(holding))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([instId, holding]) => positionOf(this.name, instId, holding, marks.get(instId) ?? "0"));
  }

  #holdingOf(instId: string): Holding {
    return ofInstrument(this.#held, instId, createHolding);
  }
}

const ofInstrument = <T>(all: Map<string, T>, instId: string, make: () => T): T => {
  const known = all.get(instId);
  if (known !== undefined) return known;
  const made = make();
  all.set(instId, made);
  return made;
};

const positionOf = (strategy: string, instId: string, held: Holding, markPx: string): PositionReport => ({
  strategy,
  instId,
  qty: held.qty,
  averagePx: averagePxOf(held),
  markPx,
  unrealised: unrealisedOf(held, markPx),
});
