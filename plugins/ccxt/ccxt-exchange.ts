/**
 * An exchange as ccxt shows it: the part of ccxt that public market data takes, and how it is loaded.
 *
 * Invariants: ccxt is loaded when an exchange is opened, and its absence is reported with the command that installs it;
 * an exchange that holds a key is refused, and only public data is requested from it; every request of its own passes
 * the gate, ccxt's limiter is off.
 * Not here: the rate limit (request-gate.ts), names of markets (ccxt-symbols.ts).
 */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SluiceError } from "sluice";
import { type Clock, didYouMean, messageOf } from "sluice/extension";
import { type Addresses, proxiesOf } from "./ccxt-proxies.ts";
import { RequestGate } from "./request-gate.ts";

/** A number of ccxt: text if ccxt is set to exact numbers. */
type Numeric = number | string | undefined;

/** A market of an exchange, with its terms as reported by ccxt. Sizes of contract markets count contracts. */
export interface CcxtMarket {
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly settle?: string | undefined;
  readonly spot?: boolean | undefined;
  readonly swap?: boolean | undefined;
  readonly inverse?: boolean | undefined;
  readonly active?: boolean | undefined;
  readonly contractSize?: Numeric;
  readonly maker?: Numeric;
  readonly taker?: Numeric;
  readonly precision: { readonly price?: Numeric; readonly amount?: Numeric };
  readonly limits?: { readonly amount?: { readonly min?: Numeric } | undefined } | undefined;
}

/** Opened at, open, high, low, close, volume. */
export type CcxtBar = readonly [number | undefined, Numeric, Numeric, Numeric, Numeric, Numeric];

export interface CcxtTrade {
  readonly id?: string | undefined;
  readonly timestamp?: number | undefined;
  readonly side?: string | undefined;
  readonly price?: Numeric;
  readonly amount?: Numeric;
}

export interface CcxtTicker {
  readonly symbol?: string | undefined;
  readonly bid?: Numeric;
  readonly bidVolume?: Numeric;
  readonly ask?: Numeric;
  readonly askVolume?: Numeric;
}

type CcxtLevel = readonly [Numeric, Numeric, ...unknown[]];

export interface CcxtBook {
  readonly bids: readonly CcxtLevel[];
  readonly asks: readonly CcxtLevel[];
}

/** Used part of an exchange object of ccxt (4.4 or later). */
export interface CcxtExchange extends Addresses {
  readonly id: string;
  readonly has: Readonly<Record<string, unknown>>;
  /** Milliseconds that a request of cost 1 takes of the exchange's limit. */
  readonly rateLimit: number | undefined;
  /** Meaning of `precision`: 2 counts decimal places, 3 significant digits, 4 is the step itself. */
  readonly precisionMode: number | undefined;
  readonly timeframes?: Readonly<Record<string, unknown>>;
  readonly apiKey?: string | undefined;
  readonly secret?: string | undefined;
  readonly last_response_headers?: unknown;
  enableRateLimit: boolean;
  number?: unknown;
  fetch2(
    path: unknown,
    api?: unknown,
    method?: unknown,
    params?: unknown,
    headers?: unknown,
    body?: unknown,
    config?: unknown,
  ): Promise<unknown>;
  calculateRateLimiterCost(api: unknown, method: unknown, path: unknown, params: unknown, config?: unknown): Numeric;
  featureValue?(symbol: string, method: string, name: string): unknown;
  loadMarkets(): Promise<Readonly<Record<string, CcxtMarket | undefined>>>;
  fetchOHLCV(
    symbol: string,
    timeframe: string,
    since?: number,
    limit?: number,
    params?: object,
  ): Promise<readonly CcxtBar[]>;
  fetchTrades(symbol: string, since?: number, limit?: number, params?: object): Promise<readonly CcxtTrade[]>;
  fetchTicker(symbol: string): Promise<CcxtTicker>;
  fetchOrderBook(symbol: string, limit?: number): Promise<CcxtBook>;
  watchTrades?(symbol: string): Promise<readonly CcxtTrade[]>;
  watchTicker?(symbol: string): Promise<CcxtTicker>;
  watchBidsAsks?(symbols?: string[]): Promise<Readonly<Record<string, CcxtTicker | undefined>>>;
  watchOrderBook?(symbol: string): Promise<CcxtBook>;
  close?(): Promise<unknown>;
}

/** The id of an exchange at ccxt, such as "binance" or "okx", or an exchange of ccxt that you made. */
export type ExchangeChoice = string | CcxtExchange;

/** An exchange whose requests pass the gate. */
export interface Exchange {
  readonly id: string;
  readonly api: CcxtExchange;
  readonly markets: Readonly<Record<string, CcxtMarket | undefined>>;
  readonly gate: RequestGate;
  /** Closes its connections, and leaves an exchange of the user's as it was read. */
  end(): Promise<void>;
}

interface OpenOptions {
  readonly clock: Clock;
  /** Called with the reason of each wait. */
  readonly tell?: ((what: string, detail: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** True to keep numbers as the exchange wrote them. Books of ccxt that are kept up to date need numbers. */
  readonly exact?: boolean;
}

/** Opens the exchange and reads its markets. */
export const openExchange = async (
  choice: ExchangeChoice,
  { clock, tell, signal, exact = false }: OpenOptions,
): Promise<Exchange> => {
  const api = typeof choice === "string" ? await madeExchange(choice) : choice;
  const { id } = api;
  if (api.apiKey || api.secret)
    throw new SluiceError(
      "CONFIG_INVALID",
      `${id}: the exchange was made with a key. Public market data needs none: make it without.`,
    );
  const { number } = api;
  if (exact) api.number = String;
  const end = async (): Promise<void> => {
    api.number = number;
    // Errors while closing are ignored: the exchange is closed in any case.
    await api.close?.().catch(() => undefined);
  };
  const gate = new RequestGate({ id, clock, rateLimitMs: api.rateLimit ?? rateLimitDefaultMs, signal });
  if (tell !== undefined) gate.listeners.add(tell);
  api.enableRateLimit = false;
  const send = api.fetch2.bind(api);
  api.fetch2 = (path, kind, method, params, headers, body, config = {}) => {
    const cost = Number(api.calculateRateLimiterCost(kind, method, path, params, config));
    return gate.run(
      cost,
      () => send(path, kind, method, params, headers, body, config),
      () => retryAfterOf(api),
    );
  };
  return { id, api, gate, end, markets: await calling(id, () => api.loadMarkets()) };
};

const rateLimitDefaultMs = 2_000;

const shared = new Map<ExchangeChoice, Promise<Exchange>>();

/** Returns one exchange object for all callers in this process with the same choice, so that they share its limit. */
export const sharedExchange = (choice: ExchangeChoice, clock: Clock): Promise<Exchange> => {
  const known = shared.get(choice);
  if (known !== undefined) return known;
  const opening = openExchange(choice, { clock });
  shared.set(choice, opening);
  opening.catch(() => shared.delete(choice));
  return opening;
};

/** Seconds that the last answer asked to wait. */
const retryAfterOf = ({ last_response_headers: headers }: CcxtExchange): number | undefined => {
  if (typeof headers !== "object" || headers === null) return undefined;
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === "retry-after");
  const seconds = Number(found?.[1]);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
};

/** Calls `ask` and converts errors of the exchange: the caller receives their text with the exchange's name. */
export const calling = async <T>(id: string, ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError("DATA_UNAVAILABLE", `${id}: ${messageOf(error)}`);
  }
};

type Make = new (options: object) => CcxtExchange;

interface CcxtPackage {
  readonly exchanges: readonly string[];
  readonly pro: Readonly<Record<string, unknown>>;
}

const madeExchange = async (id: string): Promise<CcxtExchange> => {
  const ccxt = await loadCcxt();
  // With connections where it has them, else with requests alone.
  const maker = ccxt.pro[id] ?? (ccxt as unknown as Readonly<Record<string, unknown>>)[id];
  if (ccxt.exchanges.includes(id) && typeof maker === "function") {
    const api = new (maker as Make)({ enableRateLimit: false });
    return Object.assign(api, proxiesOf(api));
  }
  throw new SluiceError("CONFIG_INVALID", `ccxt has no exchange "${id}".${didYouMean(id, ccxt.exchanges)}`);
};

/** Named by a variable: it is not installed where these sources are compiled. */
const packageName = "ccxt";

/** Loads ccxt from the folder next to Sluice, or from the working folder if Sluice is a link to another place. */
const loadCcxt = async (): Promise<CcxtPackage> => {
  try {
    return ccxtIn(
      await import(packageName).catch(
        () => import(pathToFileURL(createRequire(resolve("package.json")).resolve(packageName)).href),
      ),
    );
  } catch (error) {
    const isMissing = /(find|resolve) (package |module )?['"]ccxt['"]/i.test(messageOf(error));
    throw new SluiceError(
      "CONFIG_INVALID",
      isMissing
        ? "ccxt is not installed. Install it next to Sluice: npm install ccxt"
        : `ccxt cannot be loaded: ${messageOf(error)}`,
    );
  }
};

const ccxtIn = (loaded: unknown): CcxtPackage => (loaded as { readonly default: CcxtPackage }).default;
