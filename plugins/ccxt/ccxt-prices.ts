/**
 * Best prices and trades of an exchange as they come: pushed where ccxt follows them over a connection, else asked for.
 *
 * Invariants: a way that the exchange turns out not to have is left for the next one; a failure is reported once until
 * prices arrive again, and the request is repeated at growing intervals; a trade is passed on once; a price off the
 * tick is left out and reported; after a stop no value is emitted and no timer remains.
 * Not here: connections and their repair, which are ccxt's; the exchange's limit (request-gate.ts).
 */

import { SluiceError } from "sluice";
import { createTape, type LivePrices, type OpenPrices, type Tape } from "sluice/backtest";
import { instTypeOf } from "sluice/dialect";
import {
  type Clock,
  emptyColumns,
  messageOf,
  type Series,
  seriesOf,
  type TapeInstrument,
  type Timer,
} from "sluice/extension";
import {
  type CcxtBook,
  type CcxtTicker,
  type CcxtTrade,
  type Exchange,
  type ExchangeChoice,
  sharedExchange,
} from "./ccxt-exchange.ts";
import { instrumentOf, marketNamed, type NamedMarket, termsOf, textOf } from "./ccxt-symbols.ts";
import { FollowedProduct } from "./followed-product.ts";
import { classesOf } from "./request-gate.ts";

/** Options of `ccxtMarket`. Times are milliseconds. */
export interface CcxtMarketOptions {
  /** Products to trade: instrument ids (`BTC-USDT-SWAP`) or symbols of ccxt (`BTC/USDT:USDT`). */
  readonly instruments: readonly string[];
  /**
   * Time without any update of any product after which orders are refused until one arrives, in milliseconds. Default
   * 30 000.
   */
  readonly staleMs?: number;
  /** Interval of polling if the exchange does not push, in milliseconds. Default 2 000. */
  readonly pollMs?: number;
}

type Tell = Parameters<LivePrices["open"]>[0]["tell"];

export const openCcxtPrices = async (
  choice: ExchangeChoice,
  options: CcxtMarketOptions,
  { clock, tell }: Parameters<LivePrices["open"]>[0],
): Promise<OpenPrices> => {
  const exchange = await sharedExchange(choice, clock);
  const markets = options.instruments.map((name) => marketNamed(exchange, name));
  const terms = markets.map((market) => termsOf(exchange, market));
  const closed = terms.find(({ active }) => !active);
  if (closed !== undefined)
    throw new SluiceError("CONFIG_INVALID", `${exchange.id} does not trade ${closed.symbol} now.`);
  const instruments = terms.map((one) => instrumentOf(exchange, one));
  const series = instruments.flatMap((_, index) => [empty("quote", index), empty("trade", index)]);
  const feesOf = (type: "SPOT" | "SWAP") => {
    const { makerBps, takerBps } = terms.find(({ instId }) => instTypeOf(instId) === type) ?? {};
    return makerBps === undefined || takerBps === undefined ? undefined : { makerBps, takerBps };
  };
  const [SPOT, SWAP] = [feesOf("SPOT"), feesOf("SWAP")];
  const layout = createTape(instruments, series);
  return new CcxtPrices({
    exchange,
    markets,
    layout,
    options,
    clock,
    tell,
    fees: { ...(SPOT && { SPOT }), ...(SWAP && { SWAP }) },
  });
};

const empty = (kind: "quote" | "trade", instrument: number): Series =>
  seriesOf(kind, instrument, new Float64Array(0), emptyColumns(kind, 0));

interface PricesParts extends Pick<OpenPrices, "layout" | "fees"> {
  readonly exchange: Exchange;
  readonly markets: readonly NamedMarket[];
  readonly options: CcxtMarketOptions;
  readonly clock: Clock;
  readonly tell: Tell;
}

/** One way to receive data: `take` throws `Unsuited` if the answer lacks required fields. */
interface Way<T = never> {
  /** Name of the method in ccxt. */
  readonly method: string;
  readonly ask: () => Promise<T>;
  readonly take: (answer: T) => void;
  /** 0 where the answer comes when there is something new. */
  readonly pauseMs: number;
}

class Unsuited extends Error {
  override readonly name = "Error";
}

const backoffMs = { base: 1_000, most: 30_000 } as const;
/**
 * Number of answers at one instant above which the exchange's client is considered faulty; it must not block the
 * process.
 */
const sameInstantMost = 200;

/**
 * Failure that a repetition does not fix: a method that ccxt lacks or, where another one exists, that the exchange
 * refuses.
 */
const isGone = (error: unknown, isOther: boolean): boolean => {
  const classes = classesOf(error);
  return (
    error instanceof Unsuited || classes.includes("NotSupported") || (isOther && classes.includes("ExchangeError"))
  );
};

class CcxtPrices implements OpenPrices {
  readonly layout: Tape;
  readonly fees: OpenPrices["fees"];
  readonly #parts: PricesParts;
  readonly #followed: readonly FollowedProduct[];
  /** Reports with the exchange's name. */
  readonly #tell: Tell;
  readonly #timers = new Set<Timer>();
  readonly #staleMs: number;
  #sink: (rows: Tape) => void = () => undefined;
  #stopped = false;

  constructor(parts: PricesParts) {
    const { layout, fees, markets, options } = parts;
    this.#parts = parts;
    this.layout = layout;
    this.fees = fees;
    this.#staleMs = options.staleMs ?? 30_000;
    this.#tell = (what, detail) => parts.tell(what, `${parts.exchange.id}: ${detail}`);
    this.#followed = markets.map((market, index) => {
      const instrument = layout.instruments[index] as TapeInstrument;
      return new FollowedProduct({
        market,
        instrument,
        index,
        clock: parts.clock,
        tell: this.#tell,
        give: (rows) => this.#give(rows),
      });
    });
  }

  refusal(): string | undefined {
    const { clock, exchange } = this.#parts;
    const heardAt = Math.max(...this.#followed.map((one) => one.heardAt));
    if (clock.now() - heardAt < this.#staleMs) return undefined;
    return heardAt === Number.NEGATIVE_INFINITY
      ? `${exchange.id} has sent no price yet`
      : `${exchange.id} has sent no price for ${Math.round((clock.now() - heardAt) / 1_000)} s`;
  }

  start(sink: (rows: Tape) => void): void {
    const { exchange, tell, clock } = this.#parts;
    this.#sink = sink;
    exchange.gate.listeners.add(tell);
    for (const one of this.#followed) {
      void this.#follow(`best prices of ${one.market.instId}`, this.#quoteWays(one));
      void this.#follow(`trades of ${one.market.instId}`, this.#tradeWays(one));
    }
    this.#watchSilence(clock.now());
  }

  async stop(): Promise<void> {
    const { exchange, tell } = this.#parts;
    this.#stopped = true;
    exchange.gate.listeners.delete(tell);
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    await exchange.end();
  }

  async #follow(what: string, ways: readonly Way[]): Promise<void> {
    const { clock } = this.#parts;
    let [failures, answers, answeredAt] = [0, 0, Number.NaN];
    for (let index = 0; ; ) {
      const way = ways[index];
      if (way === undefined) return this.#tell("market.missing", `it shows no ${what}`);
      try {
        const answer = await way.ask();
        if (this.#stopped) return;
        way.take(answer);
        if (failures > 0) this.#tell("market.back", `${what} come again`);
        failures = 0;
        answers = clock.now() === answeredAt ? answers + 1 : 0;
        answeredAt = clock.now();
        if (way.pauseMs > 0 || answers > sameInstantMost) await this.#pause(Math.max(1, way.pauseMs));
      } catch (error) {
        if (this.#stopped) return;
        if (isGone(error, ways[index + 1] !== undefined)) {
          index++;
          this.#tell("market.way", `${what} do not come by ${way.method}: ${messageOf(error).slice(0, 200)}`);
          continue;
        }
        if (failures++ === 0)
          this.#tell("market.failed", `${what}: ${messageOf(error).slice(0, 200)}; tried again until they come`);
        await this.#pause(Math.min(backoffMs.most, backoffMs.base * 2 ** Math.min(failures - 1, 10)));
      }
    }
  }

  #quoteWays(one: FollowedProduct): readonly Way[] {
    const { exchange, options } = this.#parts;
    const { api } = exchange;
    const { symbol } = one.market;
    const ticker = (told: CcxtTicker | undefined): void => {
      if (told === undefined) return;
      const { bid, bidVolume, ask, askVolume } = told;
      const texts = [bid, bidVolume, ask, askVolume].map(textOf);
      if (texts.includes(undefined)) throw new Unsuited("it has no quantities");
      one.quoted(texts as [string, string, string, string]);
    };
    const book = ({ bids: [bid], asks: [ask] }: CcxtBook): void => {
      // While a side is empty there is no best price of it.
      const texts = [bid?.[0], bid?.[1], ask?.[0], ask?.[1]].map(textOf);
      if (!texts.includes(undefined)) one.quoted(texts as [string, string, string, string]);
    };
    const poll = { pauseMs: options.pollMs ?? 2_000 };
    const push = { pauseMs: 0 };
    return this.#offered({
      watchBidsAsks: { ask: async () => (await api.watchBidsAsks?.([symbol]))?.[symbol], take: ticker, ...push },
      watchOrderBook: { ask: async () => (await api.watchOrderBook?.(symbol)) as CcxtBook, take: book, ...push },
      watchTicker: { ask: async () => api.watchTicker?.(symbol), take: ticker, ...push },
      fetchTicker: { ask: () => api.fetchTicker(symbol), take: ticker, ...poll },
      fetchOrderBook: { ask: () => api.fetchOrderBook(symbol), take: book, ...poll },
    });
  }

  #tradeWays(one: FollowedProduct): readonly Way[] {
    const { api } = this.#parts.exchange;
    const { symbol } = one.market;
    const take = (answer: readonly CcxtTrade[]): void => one.traded(answer);
    return this.#offered({
      watchTrades: { ask: async () => (await api.watchTrades?.(symbol)) ?? [], take, pauseMs: 0 },
      fetchTrades: { ask: () => api.fetchTrades(symbol), take, pauseMs: this.#parts.options.pollMs ?? 2_000 },
    });
  }

  /** The ways that the exchange has, in order of preference. */
  #offered(ways: Readonly<Record<string, Way<never>>> | Readonly<Record<string, unknown>>): readonly Way[] {
    const { has } = this.#parts.exchange.api;
    return Object.entries(ways).flatMap(([method, way]) =>
      has[method] === true || has[method] === "emulated" ? [{ ...(way as Way), method }] : [],
    );
  }

  #watchSilence(startedAt: number): void {
    void this.#pause(Math.ceil(this.#staleMs / 4)).then(() => {
      for (const one of this.#followed) one.look(this.#staleMs, startedAt);
      this.#watchSilence(startedAt);
    });
  }

  /** A tape of all series, of which only this one has rows. */
  #give(rows: Series): void {
    const { instruments, series } = this.layout;
    const place = 2 * rows.instrument + (rows.kind === "quote" ? 0 : 1);
    this.#sink(
      createTape(
        instruments,
        series.map((one, at) => (at === place ? rows : one)),
      ),
    );
  }

  /** Never resolves after a stop. */
  #pause(ms: number): Promise<void> {
    const { clock } = this.#parts;
    return new Promise((resolve) => {
      if (this.#stopped) return;
      const timer = clock.setTimer(clock.now() + ms, () => {
        this.#timers.delete(timer);
        resolve();
      });
      this.#timers.add(timer);
    });
  }
}
