/**
 * Market data that was requested during a run, with the strategies that requested it.
 *
 * Invariants: each stream is noted once, in the order of asking; what the market answers is handed on untouched,
 * refusals included, which are not noted. Quotes that no strategy asked for are the engine's, to price market orders,
 * and not noted either.
 */
import { type AskedBars, askedBars, gridName } from "../market/calendar/bar-calendar.ts";
import type { Market } from "../market/market-data.ts";
import type { SeriesKind } from "../market/tape/tape.ts";

export interface Asked {
  readonly kind: SeriesKind;
  readonly instId: string;
  /** Absent for what is not bars. */
  readonly bars?: AskedBars | undefined;
  /** Names of the strategies that asked; absent where it was none of them. */
  readonly by?: readonly string[];
}

type Note = (kind: SeriesKind, instId: string, bars?: AskedBars) => void;

export class RequestedData {
  readonly #byStrategies = new Map<string, Asked & { readonly by: string[] }>();
  readonly #all = new Map<string, Asked>();

  /** The market as one strategy sees it. */
  marketOf(strategy: string, market: Market): Market {
    const note: Note = (kind, instId, bars) => {
      const name = nameOf(kind, instId, bars);
      const known = this.#byStrategies.get(name);
      if (known === undefined) this.#byStrategies.set(name, { kind, instId, bars, by: [strategy] });
      else if (!known.by.includes(strategy)) known.by.push(strategy);
    };
    return { ...market, ...watched(market, note) };
  }

  /**
   * Notes what is asked of `market` itself, by replacing its methods: its users have been given this one object before
   * they ask.
   */
  watch(market: Market): void {
    const note: Note = (kind, instId, bars) => {
      const name = nameOf(kind, instId, bars);
      if (!this.#all.has(name)) this.#all.set(name, { kind, instId, bars });
    };
    Object.assign(market, watched({ ...market }, note));
  }

  list(): readonly Asked[] {
    return [...this.#all].flatMap(([name, one]) => this.#byStrategies.get(name) ?? (one.kind === "quote" ? [] : [one]));
  }
}

const nameOf = (kind: SeriesKind, instId: string, bars: AskedBars | undefined): string =>
  `${kind} ${bars === undefined ? 0 : gridName(bars.grid)} ${instId}`;

const watched = (market: Market, note: Note): Pick<Market, "trades" | "quotes" | "books" | "candles"> => ({
  trades: (instId, options) => noted(market.trades(instId, options), () => note("trade", instId)),
  quotes: (instId, options) => noted(market.quotes(instId, options), () => note("quote", instId)),
  books: (instId) => noted(market.books(instId), () => note("level", instId)),
  candles: (instId, length, options) =>
    noted(market.candles(instId, length, options), () => note("candle", instId, askedBars(length, options))),
});

const noted = <T>(stream: T, note: () => void): T => {
  note();
  return stream;
};
