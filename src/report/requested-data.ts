/**
 * Which market data was asked for during a run, and by which strategies.
 *
 * Invariants: each stream is noted once, in the order of asking; what the market answers is handed on untouched, refusals
 * included, which are not noted. Quotes that no strategy asked for are the engine's, to price market orders, and not noted either.
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

export interface AskedWatch {
  readonly list: () => readonly Asked[];
}

type Note = (kind: SeriesKind, instId: string, barMs?: number) => void;

/** What strategies ask for, each on a market of its own. */
export interface AskedByStrategies {
  /** The market as one strategy sees it. */
  readonly marketOf: (strategy: string, market: Market) => Market;
  readonly list: () => readonly Required<Asked>[];
}

export const createAskedByStrategies = (): AskedByStrategies => {
  const asked = new Map<string, Required<Asked> & { readonly by: string[] }>();
  return {
    marketOf: (strategy, market) => ({
      ...market,
      ...watched(market, (kind, instId, barMs = 0) => {
        const name = nameOf(kind, instId, barMs);
        const known = asked.get(name);
        if (known === undefined) asked.set(name, { kind, instId, barMs, by: [strategy] });
        else if (!known.by.includes(strategy)) known.by.push(strategy);
      }),
    }),
    list: () => [...asked.values()],
  };
};

const nameOf = (kind: SeriesKind, instId: string, barMs: number): string => `${kind} ${barMs} ${instId}`;

/** Takes the place of the market's own questions: everybody was handed the one market object before anybody asked. */
export const watchAsked = (market: Market, strategies: AskedByStrategies): AskedWatch => {
  const asked = new Map<string, Asked>();
  const note: Note = (kind, instId, barMs = 0) => {
    const name = nameOf(kind, instId, barMs);
    if (!asked.has(name)) asked.set(name, { kind, instId, barMs });
  };
  Object.assign(market, watched({ ...market }, note));
  return {
    list: () => {
      const own = new Map(strategies.list().map((one) => [nameOf(one.kind, one.instId, one.barMs), one]));
      return [...asked].flatMap(([name, one]) => {
        const byStrategies = own.get(name);
        if (byStrategies !== undefined) return [byStrategies];
        return one.kind === "quote" ? [] : [one];
      });
    },
  };
};

const watched = (market: Market, note: Note): Pick<Market, "trades" | "quotes" | "books" | "candles"> => ({
  trades: (instId) => noted(market.trades(instId), () => note("trade", instId)),
  quotes: (instId) => noted(market.quotes(instId), () => note("quote", instId)),
  books: (instId) => noted(market.books(instId), () => note("level", instId)),
  candles: (instId, barMs) => noted(market.candles(instId, barMs), () => note("candle", instId, barMs)),
});

const noted = <T>(stream: T, note: () => void): T => {
  note();
  return stream;
};
