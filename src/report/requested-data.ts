/**
 * Market data that was requested during a run, with the strategies that requested it.
 *
 * Invariants: each stream is noted once, in the order of asking; what the market answers is handed on untouched,
 * refusals included, which are not noted. Quotes that no strategy asked for are the engine's, to price market orders,
 * and not noted either.
 */
import type { Market } from "../market/market-data.ts";
import type { SeriesKind } from "../market/tape/tape.ts";

export interface Asked {
  readonly kind: SeriesKind;
  readonly instId: string;
  /** Length of bars; 0 for what is not bars. */
  readonly barMs: number;
  /** Names of the strategies that asked; absent where it was none of them. */
  readonly by?: readonly string[];
}

type Note = (kind: SeriesKind, instId: string, barMs?: number) => void;

export class RequestedData {
  readonly #byStrategies = new Map<string, Required<Asked> & { readonly by: string[] }>();
  readonly #all = new Map<string, Asked>();

  /** The market as one strategy sees it. */
  marketOf(strategy: string, market: Market): Market {
    const note: Note = (kind, instId, barMs = 0) => {
      const name = nameOf(kind, instId, barMs);
      const known = this.#byStrategies.get(name);
      if (known === undefined) this.#byStrategies.set(name, { kind, instId, barMs, by: [strategy] });
      else if (!known.by.includes(strategy)) known.by.push(strategy);
    };
    return { ...market, ...watched(market, note) };
  }

  /**
   * Notes what is asked of `market` itself, by replacing its methods: its users have been given this one object before
   * they ask.
   */
  watch(market: Market): void {
    const note: Note = (kind, instId, barMs = 0) => {
      const name = nameOf(kind, instId, barMs);
      if (!this.#all.has(name)) this.#all.set(name, { kind, instId, barMs });
    };
    Object.assign(market, watched({ ...market }, note));
  }

  list(): readonly Asked[] {
    return [...this.#all].flatMap(([name, one]) => this.#byStrategies.get(name) ?? (one.kind === "quote" ? [] : [one]));
  }
}

const nameOf = (kind: SeriesKind, instId: string, barMs: number): string => `${kind} ${barMs} ${instId}`;

const watched = (market: Market, note: Note): Pick<Market, "trades" | "quotes" | "books" | "candles"> => ({
  trades: (instId, options) => noted(market.trades(instId, options), () => note("trade", instId)),
  quotes: (instId, options) => noted(market.quotes(instId, options), () => note("quote", instId)),
  books: (instId) => noted(market.books(instId), () => note("level", instId)),
  candles: (instId, barMs, options) =>
    noted(market.candles(instId, barMs, options), () => note("candle", instId, barMs)),
});

const noted = <T>(stream: T, note: () => void): T => {
  note();
  return stream;
};
