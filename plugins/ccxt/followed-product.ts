/**
 * One product of an exchange while its prices are followed: answers of ccxt as rows in ticks and lots.
 *
 * Invariants: a trade is passed on once, best prices when they changed; quantities are whole lots of base currency,
 * rounded down; a price off the tick is left out and reported once.
 * Not here: how answers are asked for (ccxt-prices.ts).
 */

import { mul } from "sluice";
import { type Clock, emptyColumns, grid, type Series, seriesOf, type TapeInstrument } from "sluice/extension";
import type { CcxtTrade } from "./ccxt-exchange.ts";
import type { NamedMarket } from "./ccxt-symbols.ts";
import { newTrades, type TradeCursor } from "./trade-pages.ts";

interface ProductParts {
  readonly market: NamedMarket;
  readonly instrument: TapeInstrument;
  /** Its place among the instruments. */
  readonly index: number;
  readonly clock: Clock;
  readonly tell: (what: string, detail: string) => void;
  readonly give: (rows: Series) => void;
}

export class FollowedProduct {
  /** Instant of the last update. */
  heardAt = Number.NEGATIVE_INFINITY;
  readonly #parts: ProductParts;
  readonly #tick: ReturnType<typeof grid>;
  readonly #lot: ReturnType<typeof grid>;
  readonly #told = new Set<string>();
  #isQuiet = false;
  #quote = "";
  #trades: TradeCursor | undefined;

  constructor(parts: ProductParts) {
    this.#parts = parts;
    this.#tick = grid(parts.instrument.tickSize);
    this.#lot = grid(parts.instrument.lotSize);
  }

  get market(): NamedMarket {
    return this.#parts.market;
  }

  /** Price and quantity of the best bid, then of the best ask. */
  quoted([bid, bidQty, ask, askQty]: readonly [string, string, string, string]): void {
    this.#heard();
    const [bidPx, askPx] = this.#ticks([bid, ask]) ?? [];
    if (bidPx === undefined || askPx === undefined) return;
    const row = [bidPx, this.#lots(bidQty), askPx, this.#lots(askQty)];
    const text = row.join(" ");
    if (text === this.#quote) return;
    this.#quote = text;
    this.#give("quote", [row]);
  }

  traded(answer: readonly CcxtTrade[]): void {
    const { rows: fresh, next, unusable } = newTrades(answer, this.#trades ?? { at: Number.NEGATIVE_INFINITY });
    if (unusable > 0) this.#tellOnce("market.unusable", "trades without a time, a price or a side are left out");
    // An exchange begins with earlier trades: the last of them is the current price.
    const rows = this.#trades === undefined ? fresh.slice(-1) : fresh;
    this.#trades = next ?? this.#trades ?? { at: Number.NEGATIVE_INFINITY };
    if (rows.length > 0) this.#heard();
    const counted = rows.flatMap(([, side, px, qty]) => {
      const [ticks] = this.#ticks([px]) ?? [];
      const lots = this.#lots(qty);
      return ticks === undefined || lots === 0 ? [] : [[side, ticks, lots]];
    });
    if (counted.length > 0) this.#give("trade", counted);
  }

  /** Reports, once each time, that nothing has arrived for `staleMs`. */
  look(staleMs: number, startedAt: number): void {
    const { clock, tell, market } = this.#parts;
    const silentMs = clock.now() - Math.max(startedAt, this.heardAt);
    if (this.#isQuiet || silentMs < staleMs) return;
    this.#isQuiet = true;
    tell("market.stale", `no price of ${market.instId} for ${Math.round(silentMs / 1_000)} s`);
  }

  #heard(): void {
    const { clock, tell, market } = this.#parts;
    this.heardAt = clock.now();
    if (this.#isQuiet) tell("market.back", `${market.instId} has prices again`);
    this.#isQuiet = false;
  }

  #give(kind: "quote" | "trade", rows: readonly (readonly number[])[]): void {
    const { clock, index, give } = this.#parts;
    const columns = emptyColumns(kind, rows.length);
    for (const [row, values] of rows.entries())
      for (const [place, column] of columns.entries()) column[row] = values[place] as number;
    give(seriesOf(kind, index, new Float64Array(rows.length).fill(clock.now()), columns));
  }

  #ticks(prices: readonly string[]): readonly number[] | undefined {
    try {
      return prices.map((px) => this.#tick.parse(px));
    } catch {
      this.#tellOnce("market.off-tick", `${prices.join(" and ")} is not on the tick ${this.#tick.step}; left out`);
      return undefined;
    }
  }

  #lots(qty: string): number {
    return this.#lot.parseTo(mul(qty, this.#parts.market.unit), "down");
  }

  #tellOnce(what: string, detail: string): void {
    const { tell, market } = this.#parts;
    if (!this.#told.has(what)) tell(what, `${market.instId}: ${detail}`);
    this.#told.add(what);
  }
}
