/**
 * A hand-made exchange of ccxt's shape over rows in memory, with the quirks that exchanges have.
 *
 * Not here: ccxt itself.
 */
import type {
  CcxtBar,
  CcxtBook,
  CcxtExchange,
  CcxtMarket,
  CcxtTicker,
  CcxtTrade,
} from "../../../../plugins/ccxt/ccxt-exchange.ts";

export class RateLimitExceeded extends Error {}
export class OperationFailed extends Error {}
export class NetworkError extends OperationFailed {}
export class BadSymbol extends Error {}
export class ExchangeError extends Error {}
export class NotSupported extends ExchangeError {}

export const spot = (symbol: string, more: Partial<CcxtMarket> = {}): CcxtMarket => {
  const [base = "", quote = ""] = symbol.split("/");
  return {
    symbol,
    base,
    quote,
    spot: true,
    swap: false,
    active: true,
    precision: { price: "0.1", amount: "0.001" },
    maker: 0.001,
    taker: 0.001,
    ...more,
  };
};

export const swap = (symbol: string, more: Partial<CcxtMarket> = {}): CcxtMarket => {
  const [pair = "", settle = ""] = symbol.split(":");
  return {
    ...spot(pair),
    symbol,
    spot: false,
    swap: true,
    inverse: false,
    settle,
    contractSize: 1,
    maker: 0.0002,
    taker: 0.0005,
    ...more,
  };
};

export interface Quirks {
  /** Most rows of an answer, whatever is asked for. */
  readonly cap?: number;
  /** The newest rows of what was asked for, and those first. */
  readonly newest?: true;
  /** Rows after `since`, not at it. */
  readonly exclusive?: true;
  /** An answer reaches so far from `since`, milliseconds. */
  readonly reachMs?: number;
}

export interface Asked {
  readonly method: string;
  readonly since: number | undefined;
  readonly at: number;
}

export class CcxtLike implements CcxtExchange {
  readonly id: string = "testex";
  readonly has: Record<string, unknown> = { fetchOHLCV: true, fetchTrades: true, fetchTicker: true };
  readonly rateLimit: number = 100;
  readonly precisionMode: number = 4;
  readonly timeframes = { "1m": "1m", "5m": "5m", "1h": "1h", "1d": "1d", "1w": "1w" };
  enableRateLimit = true;
  last_response_headers: Record<string, string> = {};
  closed = 0;
  readonly asked: Asked[] = [];
  /** Thrown by the requests in turn; undefined where one is answered. */
  readonly failures: (Error | undefined)[] = [];
  markets: Record<string, CcxtMarket> = { "BTC/USDT": spot("BTC/USDT"), "BTC/USDT:USDT": swap("BTC/USDT:USDT") };
  bars: readonly CcxtBar[] = [];
  trades: readonly CcxtTrade[] = [];
  quirks: Quirks = {};
  readonly #waiting = new Map<string, (answer: unknown) => void>();
  readonly #told = new Map<string, readonly unknown[]>();
  readonly #now: () => number;
  readonly #cost: number;

  constructor(now: () => number = () => 0, cost = 1) {
    this.#now = now;
    this.#cost = cost;
  }

  calculateRateLimiterCost(): number {
    return this.#cost;
  }

  fetch2 = async (path: unknown, _api?: unknown, _method?: unknown, params?: unknown): Promise<unknown> => {
    this.asked.push({
      method: path as string,
      since: (params as { since?: number } | undefined)?.since,
      at: this.#now(),
    });
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    return undefined;
  };

  async loadMarkets(): Promise<Record<string, CcxtMarket>> {
    return this.markets;
  }

  async fetchOHLCV(
    _symbol: string,
    _timeframe: string,
    since = 0,
    limit = 500,
    { until }: { until?: number } = {},
  ): Promise<readonly CcxtBar[]> {
    await this.fetch2("bars", "public", "GET", { since });
    return this.#shown(this.bars, ([at = 0]) => at, since, limit, until);
  }

  async fetchTrades(_symbol: string, since = 0, limit = 1_000): Promise<readonly CcxtTrade[]> {
    await this.fetch2("trades", "public", "GET", { since });
    return this.#shown(this.trades, ({ timestamp = 0 }) => timestamp, since, limit);
  }

  async fetchTicker(): Promise<CcxtTicker> {
    await this.fetch2("ticker");
    return {};
  }

  async fetchOrderBook(): Promise<CcxtBook> {
    await this.fetch2("book");
    return { bids: [], asks: [] };
  }

  async close(): Promise<void> {
    this.closed++;
  }

  /** Tells those who follow `what`, as soon as they ask. */
  tell(what: string, answer: unknown): void {
    const waiting = this.#waiting.get(what);
    if (waiting === undefined) this.#told.set(what, [...(this.#told.get(what) ?? []), answer]);
    else {
      this.#waiting.delete(what);
      waiting(answer);
    }
  }

  async watchTrades(symbol: string): Promise<readonly CcxtTrade[]> {
    return this.#next(`trades ${symbol}`);
  }

  async watchBidsAsks([symbol = ""]: string[] = []): Promise<Readonly<Record<string, CcxtTicker>>> {
    return this.#next(`best ${symbol}`);
  }

  async watchOrderBook(symbol: string): Promise<CcxtBook> {
    return this.#next(`book ${symbol}`);
  }

  async #next<T>(what: string): Promise<T> {
    const [first, ...rest] = this.#told.get(what) ?? [];
    if (first === undefined)
      return new Promise((resolve, reject) =>
        this.#waiting.set(what, (answer) => (answer instanceof Error ? reject(answer) : resolve(answer as T))),
      );
    this.#told.set(what, rest);
    if (first instanceof Error) throw first;
    return first as T;
  }

  #shown<T>(
    all: readonly T[],
    atOf: (row: T) => number,
    since: number,
    limit: number,
    until = Number.POSITIVE_INFINITY,
  ): readonly T[] {
    const { cap = Number.POSITIVE_INFINITY, newest, exclusive, reachMs = Number.POSITIVE_INFINITY } = this.quirks;
    const found = all.filter(
      (row) => (exclusive ? atOf(row) > since : atOf(row) >= since) && atOf(row) <= Math.min(until, since + reachMs),
    );
    const most = Math.min(cap, limit);
    return newest ? found.slice(-most).reverse() : found.slice(0, most);
  }
}
