/**
 * Market data of an exchange as a fixture, page by page within the exchange's limit.
 *
 * Invariants: options are checked before anything is requested; existing rows of a fixture stay, unless an option
 * replaces rows of the same time; a fetch that is stopped or fails keeps its pages, and the same call continues from
 * them; it then gives the same fixture as one that was not interrupted.
 * Not here: paging (candle-pages.ts, trade-pages.ts), the exchange's limit (request-gate.ts).
 */
import { existsSync } from "node:fs";
import { SluiceError } from "sluice";
import {
  type Clock,
  createSystemClock,
  type Fixture,
  type FixtureWriter,
  messageOf,
  openFixtureWriter,
  type WriteOptions,
} from "sluice/extension";
import { microsecondsOf } from "sluice/plugins/import";
import { type BarCursor, type BarRow, barMsOf, barPager } from "./candle-pages.ts";
import { type Exchange, type ExchangeChoice, openExchange } from "./ccxt-exchange.ts";
import { barUnitOf, type InstrumentTerms, marketNamed, type NamedMarket, termsOf } from "./ccxt-symbols.ts";
import { addBars, addTrades, type FetchedFixture } from "./fetched-rows.ts";
import { PageStore, type Span } from "./page-store.ts";
import { type TradeCursor, type TradeRow, tradePager } from "./trade-pages.ts";

/** Options of `fetchInstruments`. */
export interface FetchInstrumentsOptions {
  /** Id of the exchange at ccxt, such as "binance", or an exchange of ccxt that you made, without a key. */
  readonly exchange: ExchangeChoice;
  /** Instrument ids (`BTC-USDT-SWAP`) or symbols of ccxt (`BTC/USDT:USDT`). */
  readonly symbols: readonly string[];
  /** Stops the work, which then throws `STOPPED`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each wait: a short name and a sentence. */
  readonly onNote?: ((what: string, detail: string) => void) | undefined;
  /** Clock for limits and waits; the machine's when left out. */
  readonly clock?: Clock | undefined;
}

/** Options of `fetchMarketData`: those of the command `fetch`. */
export interface FetchMarketOptions extends FetchInstrumentsOptions, WriteOptions {
  /** Default "candles". */
  readonly kind?: "candles" | "trades";
  /** Length of bars, such as "1m", "15m", "1h" or "1d", of those the exchange has. Default "1m". */
  readonly bar?: string;
  /** First instant, ISO 8601 in UTC, such as 2024-01-01. */
  readonly from: string;
  /** The instant at which it ends; nothing at or after it is fetched. Default now. */
  readonly to?: string;
  /**
   * Folder of the fixture. One that is there is added to; rows of the same product and time are replaced only with
   * `force`.
   */
  readonly out: string;
  /** Called with each page: which product, and the share of everything that is done, 0 to 1. */
  readonly onProgress?: ((progress: { readonly symbol: string; readonly done: number }) => void) | undefined;
}

/** Data to fetch for each product. */
interface Job extends Span {
  readonly exchange: Exchange;
  readonly markets: readonly NamedMarket[];
  readonly kind: "candles" | "trades";
  readonly timeframe: string;
  readonly barMs: number;
  readonly folder: string;
  readonly onProgress: FetchMarketOptions["onProgress"];
}

export const fetchInto = async (options: FetchMarketOptions): Promise<FetchedFixture> => {
  const { out, force = false, clock = createSystemClock(), onProgress, kind = "candles" } = options;
  const timeframe = options.bar ?? "1m";
  const barMs = kind === "candles" ? (barMsOf(timeframe) ?? badBar(timeframe)) : 0;
  const span = spanOf(options, clock);
  const writer = openFixtureWriter(out, { force });
  const exchange = await openExchange(options.exchange, {
    clock,
    exact: true,
    tell: options.onNote,
    signal: options.signal,
  });
  const markets = distinct(options.symbols.map((name) => marketNamed(exchange, name)));
  const folder = `${out.replace(/[/\\]+$/, "")}.part`;
  const job: Job = { ...span, exchange, markets, kind, timeframe, barMs, folder, onProgress };
  checkOffer(job);
  const { before } = writer;
  if (kind === "trades" && !force && before !== undefined)
    for (const { instId } of markets) checkFree(out, before, instId, span);
  const fetched = [];
  try {
    for (const [index] of markets.entries()) fetched.push(await fetchOne(writer, job, index));
  } catch (error) {
    throw resumable(error, folder);
  } finally {
    await exchange.end();
  }
  if (fetched.every(({ rows }) => rows === 0)) throw nothingIn(job);
  const what = kind === "candles" ? `${timeframe} bars` : "Trades";
  const sources = [`${what} of ${exchange.id} by ccxt.`];
  const { manifest } = writer.write({ name: exchange.id, sources, sameBars: true });
  for (const { store } of fetched) store.remove();
  return { ...manifest, gaps: fetched.flatMap(({ gaps }) => gaps) };
};

const fetchOne = async (writer: FixtureWriter, job: Job, index: number) => {
  const { exchange, markets, kind, from, to, barMs, timeframe, folder, onProgress } = job;
  const market = markets[index] as NamedMarket;
  const { instId, symbol } = market;
  const place = `${exchange.id} ${symbol}`;
  const of = { market, terms: termsOf(exchange, market), place, from, to };
  const name = [exchange.id, instId, kind === "candles" ? timeframe : kind, from].join(".");
  const onPage = (at: number): void => {
    const share = (Math.min(Math.max(at, from), to) - from) / (to - from);
    onProgress?.({ symbol, done: (index + share) / markets.length });
  };
  if (kind === "trades") {
    const store = new PageStore<TradeRow, TradeCursor>(folder, name);
    await store.fill(tradePager(exchange, market, { from, to }), onPage);
    return { store, ...(await addTrades(writer, store, of)) };
  }
  const store = new PageStore<BarRow, BarCursor>(folder, name);
  await store.fill(barPager(exchange, market, { from, to, barMs, timeframe }), onPage);
  return { store, ...(await addBars(writer, store, { ...of, barMs, unit: barUnitOf(exchange, market) })) };
};

export const termsAt = async ({
  exchange: choice,
  symbols,
  signal,
  onNote,
  clock = createSystemClock(),
}: FetchInstrumentsOptions) => {
  const exchange = await openExchange(choice, { clock, exact: true, tell: onNote, signal });
  const terms: readonly InstrumentTerms[] = distinct(symbols.map((name) => marketNamed(exchange, name))).map((one) =>
    termsOf(exchange, one),
  );
  await exchange.end();
  return terms;
};

const distinct = (markets: readonly NamedMarket[]): readonly NamedMarket[] => [
  ...new Map(markets.map((one) => [one.instId, one])).values(),
];

const spanOf = ({ from, to }: Pick<FetchMarketOptions, "from" | "to">, clock: Clock): Span => {
  const now = Math.floor(clock.wallNow());
  const [begin, end] = [instantOf("from", from), to === undefined ? now : instantOf("to", to)];
  const until = Math.min(end, now);
  if (begin < until) return { from: begin, to: until };
  throw new SluiceError("USAGE", `from ${from} to ${to ?? "now"}: there is no time between them that has passed.`);
};

const instantOf = (option: string, text: string): number => {
  const us = microsecondsOf(text);
  if (us !== undefined) return Math.floor(us / 1_000);
  throw new SluiceError(
    "USAGE",
    `${option}: "${text}" is not an instant in UTC. Write it like 2024-01-01 or 2024-01-01T12:00:00Z.`,
  );
};

const badBar = (bar: string): never => {
  throw new SluiceError(
    "USAGE",
    `bar: "${bar}" is not a length. Write a number and s, m, h or d, such as 1m, 15m, 1h or 1d.`,
  );
};

const checkOffer = ({ exchange: { api, id }, kind, timeframe }: Job): void => {
  const method = kind === "candles" ? "fetchOHLCV" : "fetchTrades";
  if (api.has[method] !== true) throw new SluiceError("USAGE", `${id} shows no ${kind} to ccxt (${method}).`);
  const offered = Object.keys(api.timeframes ?? {});
  if (kind === "candles" && !offered.includes(timeframe))
    throw new SluiceError(
      "USAGE",
      `${id} has no bars of ${timeframe}. It has ${offered.filter((one) => barMsOf(one) !== undefined).join(", ")}.`,
    );
};

/**
 * Throws if the file already holds trades of the span: repeated trades cannot be recognized, and the check comes before
 * hours of fetching.
 */
const checkFree = (out: string, { tape }: Fixture, instId: string, { from, to }: Span): void => {
  const held = tape.series.find((one) => one.kind === "trade" && tape.instruments[one.instrument]?.instId === instId);
  const [first, last] = [held?.at[0], held?.at.at(-1)];
  if (first === undefined || last === undefined || first >= to || last < from) return;
  throw new SluiceError(
    "USAGE",
    `${out} holds trades of ${instId} from ${new Date(first).toISOString()} to ${new Date(last).toISOString()} already. Fetch what comes before or after, name a new folder, or replace them with --force (from code: { force: true }).`,
  );
};

const nothingIn = ({ exchange: { id }, markets, from, to }: Job): SluiceError =>
  new SluiceError(
    "DATA_UNAVAILABLE",
    `${id} shows nothing of ${markets.map(({ symbol }) => symbol).join(", ")} from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}. It may not have been listed then, or old data is not kept.`,
  );

const resumable = (error: unknown, folder: string): unknown => {
  if (!(error instanceof SluiceError) || !["STOPPED", "DATA_UNAVAILABLE"].includes(error.code) || !existsSync(folder))
    return error;
  const text = error.code === "STOPPED" ? "The fetch was stopped." : messageOf(error);
  return new SluiceError(
    error.code,
    `${text} What was fetched is kept in ${folder}; the same command continues from there.`,
  );
};
