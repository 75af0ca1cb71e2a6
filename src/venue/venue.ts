/**
 * The embedded service: a deterministic simulated exchange, called as `request × now → response`.
 *
 * Invariants: the same calls at the same instants give the same answers; no request makes it throw; records in answers
 * and lists are fresh objects, those of one event are shared by its listeners; `now` is the service's own clock and
 * never falls.
 * Not here: sockets, latency, faults; those are wrapped around it.
 */
import type { LayerName } from "../contract/limits.ts";
import type { Side } from "../contract/profile.ts";
import type { BalanceRecord, OrderRecord, PositionRecord } from "../contract/schemas.ts";
import type { Account } from "./account.ts";
import type { Exchange, Market } from "./exchange.ts";
import type { Fees, FeeTier } from "./fee-tiers.ts";
import { chargeFunding } from "./funding.ts";
import type { VenueInstrument } from "./instrument.ts";
import { review } from "./liquidation.ts";
import { type Band, safeBand } from "./liquidation-band.ts";
import { balanceRecordsOf, markOf } from "./margin.ts";
import type { Silence } from "./market-silence.ts";
import { level, print, quote } from "./matching-engine.ts";
import { readAmount, spell } from "./money.ts";
import { orderRecordOf, signOf } from "./order.ts";
import { reopen } from "./order-entry.ts";
import { positionRecordsOf } from "./queries.ts";
import { RateLimiter, type RateLimiterReport } from "./rate-limiter.ts";
import { RequestHandler, type VenueRequest, type VenueResponse } from "./request-handler.ts";
import { createExchange, readUsers, refuse, type VenueOptions } from "./setup.ts";
import { converted, equityOf, rateAmong } from "./valuation.ts";
import type { Fill, Funding, Liquidation, OrderListener } from "./venue-events.ts";

export type {
  Fees,
  FeeTier,
  Fill,
  Funding,
  Liquidation,
  RateLimiterReport as MeterReport,
  Silence,
  VenueInstrument,
  VenueOptions,
  VenueRequest,
  VenueResponse,
};

interface Truth {
  /** All orders the service keeps, newest first, those it does not show any more included. */
  readonly orders: readonly OrderRecord[];
  readonly balances: readonly BalanceRecord[];
  readonly positions: readonly PositionRecord[];
  /**
   * In the quote currency of the first instrument, converted where prices connect another; positions at their mark,
   * else at mid, else at the latest print.
   */
  readonly equity: string;
}

/**
 * The embedded exchange: accounts, matching, margin and rate limits. It has no clock: every call gives the time,
 * in milliseconds.
 */
export interface Venue {
  handle(request: VenueRequest, now: number): VenueResponse;
  /** A public print of the recording: `side` is the aggressor's, `px` in ticks, `qty` in lots of base currency. */
  trade(instId: string, side: Side, px: number, qty: number, now: number): void;
  /** Best bid and ask of the recording; a quantity of 0 means none. */
  quote(instId: string, bidPx: number, bidQty: number, askPx: number, askQty: number, now: number): void;
  /** Absolute quantity at one price of the recorded book; 0 removes the price. `buy` is the bid side. */
  level(instId: string, side: Side, px: number, qty: number, now: number): void;
  /** True if any order of a user is open. */
  rests(): boolean;
  /** Best prices of our users' own resting orders in ticks of the recording; infinitely far where none rests. */
  resting(instId: string): { readonly bidPx: number; readonly askPx: number };
  /**
   * The mark price of a swap: whole ticks of the recording and billionths of one. From the first one on positions are
   * valued at marks instead of the book.
   */
  mark(instId: string, px: number, billionths: number, now: number): void;
  /** Charges funding at a rate, decimal text such as "0.0001": longs pay shorts, who pay where it is negative. */
  funding(instId: string, rate: string, now: number): void;
  /** Applies the events of one instant: listeners receive the changes after the last of them. */
  together(events: () => void): void;
  /**
   * Reports every change of an order, after the request or market event that caused it. The returned function removes
   * the listener.
   */
  onOrder(listener: OrderListener): () => void;
  onFill(listener: (fill: Fill) => void): () => void;
  /** Reports every charge of funding, even for products without a position. */
  onFunding(listener: (funding: Funding) => void): () => void;
  /** Reports a position that the service closed, before the fills of the closing order. */
  onLiquidation(listener: (liquidation: Liquidation) => void): () => void;
  list(instrument: VenueInstrument, now: number): void;
  delist(instId: string, now: number): void;
  change(instId: string, change: Partial<Omit<VenueInstrument, "instId">>, now: number): void;
  /** Changes the capacity of a rate-limit layer from now on. */
  setCapacity(layer: LayerName, capacity: number): void;
  /** Another program of the same user uses quota; what does not fit blocks the user as any request would. */
  spendElsewhere(uid: string, weight: number, now: number): void;
  /** Counts a request that is no call, such as opening a socket, at its address. False: refused. */
  knock(ip: string, now: number): boolean;
  /** True if the product is on the list now. */
  lists(instId: string): boolean;
  /** The product as it is listed now, if it is. */
  readonly listing: (instId: string) => VenueInstrument | undefined;
  truth(uid: string): Truth;
  /** The lists of `truth` that an order can move, without its orders. */
  holdings(uid: string): Pick<Truth, "balances" | "positions">;
  /**
   * Between which prices, in ticks of the recording, no position in the product can be liquidated, as long as nothing
   * but prices changes. Infinite where there is none; undefined where that depends on more than the product's price.
   */
  safeBand(instId: string): Band | undefined;
  /** The equity of `truth` alone, in any currency, without building its lists. */
  equity(uid: string, currency?: string): string;
  /**
   * An amount of one currency in another at the prices of now, cut at the 18th place; undefined while no price connects
   * them.
   */
  convert(amount: string, from: string, to: string): string | undefined;
  /** At which the product is valued now, exact decimal text; undefined while no price is known. */
  markPx(instId: string): string | undefined;
  /** Executes market orders of the product that waited for a price of the recording. */
  reopen(instId: string, now: number): void;
  /** Sets the listener for products that have a price again while market orders wait for one. */
  onPrice(listener: (instId: string) => void): void;
  /** Number of market orders that waited for the first price after a silence and were filled, by product. */
  waited(): Readonly<Record<string, number>>;
  /** Income of liquidations less their cost, by currency, decimal text. */
  fund(): Readonly<Record<string, string>>;
  meterReport(): RateLimiterReport;
}

/** Parts of a tick in which marks are counted. */
const marksInTick = 1_000_000_000n;

const holderOf = (exchange: Exchange, uid: string): Account =>
  exchange.accounts.get(uid) ??
  refuse(`venue: there is no user "${uid}". Use one of ${[...exchange.accounts.keys()].join(", ")}.`);

const holdingsOf = (exchange: Exchange, account: Account): ReturnType<Venue["holdings"]> => ({
  balances: balanceRecordsOf(exchange, account),
  positions: positionRecordsOf(exchange, account),
});

const truthOf = (exchange: Exchange, uid: string): Truth => {
  const account = holderOf(exchange, uid);
  return {
    orders: account.orders
      .filter(({ ordId }) => account.byOrdId.has(ordId))
      .map((order) => orderRecordOf(order, exchange.profile))
      .reverse(),
    ...holdingsOf(exchange, account),
    equity: spell(equityOf(exchange, account)),
  };
};

/** Consequences of a row of the recording beyond its own fills. */
const follow = (exchange: Exchange, market: Market, now: number): void => {
  if (exchange.touched.length > 0) exchange.tell(now);
  if (now < market.lookAt) return;
  review(exchange, market, now);
  if (exchange.touched.length > 0) exchange.tell(now);
};

const fundingAt = (exchange: Exchange, instId: string, rate: string, now: number): void => {
  const amount =
    readAmount(rate) ??
    refuse(`venue ${instId}: ${JSON.stringify(rate)} is not a funding rate. Write decimal text, such as "0.0001".`);
  const charged = chargeFunding(exchange, instId, amount, now);
  if (charged === undefined) return;
  exchange.events.tell({ kind: "funding", funding: charged });
  const market = exchange.marketOf(instId);
  if (market.lookAt < Number.POSITIVE_INFINITY) market.lookAt = now;
  exchange.tell(now);
  follow(exchange, market, now);
};

/** Rows of the recording. */
const marketInput = (exchange: Exchange): Pick<Venue, "trade" | "quote" | "level" | "mark" | "funding"> => ({
  trade: (instId, side, px, qty, now) => {
    const market = exchange.marketOf(instId);
    const { book, listed, feedTick, feedLot } = market;
    if (!listed) return;
    print(book, signOf(side), px * feedTick, qty * feedLot, now);
    if (exchange.touched.length > 0 || now >= market.lookAt) follow(exchange, market, now);
  },
  quote: (instId, bidPx, bidQty, askPx, askQty, now) => {
    const market = exchange.marketOf(instId);
    const { book, listed, feedTick, feedLot } = market;
    if (!listed) return;
    quote(book, bidPx * feedTick, bidQty * feedLot, askPx * feedTick, askQty * feedLot, now);
    if (market.waiting.length > 0) exchange.priced(instId);
    if (exchange.touched.length > 0 || now >= market.lookAt) follow(exchange, market, now);
  },
  level: (instId, side, px, qty, now) => {
    const market = exchange.marketOf(instId);
    const { book, listed, feedTick, feedLot } = market;
    if (!listed) return;
    level(book, signOf(side), px * feedTick, qty * feedLot, now);
    // Where there are quotes they come with their levels, and what they showed before is old.
    if (market.waiting.length > 0 && !(book.bids.toldQty + book.asks.toldQty > 0)) exchange.priced(instId);
    if (exchange.touched.length > 0 || now >= market.lookAt) follow(exchange, market, now);
  },
  mark: (instId, px, billionths, now) => {
    const market = exchange.marketOf(instId);
    const { product, feedTick } = market;
    market.mark = ((BigInt(px) * marksInTick + BigInt(billionths)) * BigInt(feedTick) * product.tick) / marksInTick;
    if (market.lookAt < Number.POSITIVE_INFINITY) market.lookAt = now;
    follow(exchange, market, now);
  },
  funding: (instId, rate, now) => fundingAt(exchange, instId, rate, now),
});

/** Facts that can be read without a request. */
const inspection = (
  exchange: Exchange,
): Pick<
  Venue,
  | "rests"
  | "resting"
  | "lists"
  | "listing"
  | "truth"
  | "holdings"
  | "safeBand"
  | "equity"
  | "convert"
  | "markPx"
  | "fund"
> => ({
  rests: () => {
    const { users } = exchange;
    for (let index = 0; index < users.length; index++) if ((users[index] as Account).open.length > 0) return true;
    return false;
  },
  resting: (instId) => {
    const { book, feedTick } = exchange.marketOf(instId);
    return { bidPx: book.bids.best / feedTick, askPx: -book.asks.best / feedTick };
  },
  lists: (instId) => exchange.markets.get(instId)?.listed === true,
  listing: (instId) => {
    const market = exchange.markets.get(instId);
    return market?.listed ? market.product.listing : undefined;
  },
  truth: (uid) => truthOf(exchange, uid),
  holdings: (uid) => holdingsOf(exchange, holderOf(exchange, uid)),
  safeBand: (instId) => {
    const market = exchange.marketOf(instId);
    const band = safeBand(exchange, market);
    if (band === undefined || market.feedTick === 1) return band;
    return { above: band.above / market.feedTick, below: band.below / market.feedTick };
  },
  equity: (uid, currency) => spell(equityOf(exchange, holderOf(exchange, uid), currency)),
  convert: (amount, from, to) => {
    const rate = rateAmong(exchange.markets, from, to);
    return rate && spell(converted(readAmount(amount) ?? refuse(`venue: ${amount} is no amount of ${from}.`), rate));
  },
  markPx: (instId) => {
    const px = markOf(exchange.marketOf(instId));
    return px > 0n ? spell(px) : undefined;
  },
  fund: () => Object.fromEntries([...exchange.fund].map(([currency, amount]) => [currency, spell(amount)])),
});

/**
 * Makes an embedded exchange: it answers requests as the described service does, at the instants it is given.
 *
 * @param options - contract, instruments, users with their keys and balances, and fees
 * @returns the exchange; nothing happens in it by itself
 * @throws CONFIG_INVALID where the options are not valid
 */
export const createVenue = (options: VenueOptions): Venue => {
  const { accounts, keys } = readUsers(options);
  const exchange = createExchange(options, accounts);
  const rateLimiter = new RateLimiter(options.contract, options.enforceLimits);
  const requests = new RequestHandler(exchange, rateLimiter, keys);
  const { events } = exchange;
  return {
    // First, as objects that begin with a spread have each a shape of its own on Node 20.
    handle: (request, now) => {
      const response = requests.answer(request, now);
      if (exchange.touched.length > 0) {
        const due = exchange.marketsToReview(now);
        exchange.tell(now);
        // Users may have moved the market among themselves.
        for (let index = 0; index < due.length; index++) follow(exchange, due[index] as Market, now);
      }
      return response;
    },
    ...marketInput(exchange),
    ...inspection(exchange),
    together: (apply) => events.together(apply),
    reopen: (instId, now) => {
      const market = exchange.marketOf(instId);
      reopen(exchange, market, now);
      follow(exchange, market, now);
    },
    onPrice: (listener) => {
      exchange.priced = listener;
    },
    waited: () =>
      Object.fromEntries(
        [...exchange.markets].flatMap(([instId, { waited }]) => (waited === 0 ? [] : [[instId, waited]])),
      ),
    onOrder: (listener) => events.listen("order", listener),
    onFill: (listener) => events.listen("fill", listener),
    onFunding: (listener) => events.listen("funding", listener),
    onLiquidation: (listener) => events.listen("liquidation", listener),
    list: (instrument, now) => {
      exchange.list(instrument, now);
      exchange.tell(now);
    },
    delist: (instId, now) => {
      exchange.delist(instId, now);
      exchange.tell(now);
    },
    change: (instId, change, now) => {
      exchange.change(instId, change, now);
      exchange.tell(now);
    },
    setCapacity: (layer, capacity) => rateLimiter.setCapacity(layer, capacity),
    spendElsewhere: (uid, weight, now) => rateLimiter.spendElsewhere(uid, weight, now),
    knock: (ip, now) => rateLimiter.arrive(ip, undefined, 0, now),
    meterReport: () => rateLimiter.report(),
  };
};
