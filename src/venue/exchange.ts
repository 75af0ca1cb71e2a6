/**
 * The state all parts of the embedded service share: products with their books, accounts, and what is to be told when an
 * event has been applied.
 *
 * Invariants: listeners hear of changes after the whole event, never from inside matching, in the order things happened; an
 * order that changed several times in one event is told once, as it ended. A listener may call the service again.
 * Recordings count prices and quantities in the steps an instrument had when it was listed; a later change of its steps does
 * not change what a recorded number means.
 */
import type { Contract } from "../contract/contract.ts";
import type { InstType } from "../contract/inst-id.ts";
import type { Profile, Side } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { SluiceError } from "../errors.ts";
import type { Account } from "./account.ts";
import { noteTraded, ratesFor, type Schedule } from "./fee-tiers.ts";
import type { Funding } from "./funding.ts";
import { baseOf, createProduct, type Product, priceOf, type VenueInstrument, worthOf } from "./instrument.ts";
import type { Liquidation } from "./liquidation.ts";
import type { MarginRules } from "./margin.ts";
import { type Book, createBook, remove } from "./matching-engine.ts";
import { type Amount, one, spell } from "./money.ts";
import { feeText, isOpen, leftOf, type Order, orderRecordOf, sideOf } from "./order.ts";
import type { Ticket } from "./order-validation.ts";
import type { Matching } from "./queue-model.ts";
import { dropOld, noteEnd } from "./retention.ts";
import { reducibleLots, setHold, settle } from "./settlement.ts";

export interface Fill {
  readonly uid: string;
  readonly instId: string;
  readonly ordId: string;
  readonly clOrdId: string;
  readonly side: Side;
  readonly px: string;
  /** In base currency. */
  readonly qty: string;
  /** In the sign of the profile. */
  readonly fee: string;
  /** The fee as a positive cost; a rebate is negative. */
  readonly cost: string;
  readonly liquidity: "maker" | "taker";
  readonly at: number;
}

export type OrderListener = (uid: string, record: OrderRecord, at: number) => void;
export type FillListener = (fill: Fill) => void;
export type FundingListener = (funding: Funding) => void;
export type LiquidationListener = (liquidation: Liquidation) => void;

export interface Market {
  product: Product;
  book: Book;
  listed: boolean;
  /** Book ticks and lots per tick and lot of the recording. */
  feedTick: number;
  feedLot: number;
  /** The mark price published last; 0 before any. */
  mark: Amount;
  /** When the margins of those who hold the product are looked at next; infinite while nobody does. */
  lookAt: number;
}

export interface Exchange {
  readonly contract: Contract;
  readonly profile: Profile;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly markets: Map<string, Market>;
  readonly schedules: Readonly<Record<InstType, Schedule>>;
  readonly margins: MarginRules;
  /** What liquidations brought in less what they cost, by currency. */
  readonly fund: Map<string, Amount>;
  /** How resting orders of a product are filled by its market; the book's own rule where it says nothing. */
  readonly matching: (instId: string) => Matching | undefined;
  readonly firstOrdId: bigint;
  orderCount: number;
  readonly orderListeners: Set<OrderListener>;
  readonly fillListeners: Set<FillListener>;
  readonly fundingListeners: Set<FundingListener>;
  readonly liquidationListeners: Set<LiquidationListener>;
  readonly touched: Set<Order>;
  readonly fills: Fill[];
  readonly letters: (() => void)[];
  telling: boolean;
}

const close = (order: Order): void => {
  order.account.open.delete(order);
  noteEnd(order);
};

/** Lots an order may fill now: a reducing order never more than the position has. */
const room = (order: Order): number =>
  order.reduceOnly ? Math.min(leftOf(order), reducibleLots(order.account, order.product, order.sign)) : leftOf(order);

const newBook = (exchange: Exchange, instId: string): Book =>
  createBook(
    (order, px, lots, liquidity, at) => {
      const { profile, schedules, fills, touched } = exchange;
      const { product, account } = order;
      const schedule = schedules[product.instType];
      const cost = settle(order, px, lots, ratesFor(schedule, account, product.instType, at), liquidity, at);
      noteTraded(schedule, account, product.instType, worthOf(product, px, lots), at);
      if (product.instType === "SWAP") marketOf(exchange, instId).lookAt = at;
      if (!isOpen(order)) close(order);
      touched.add(order);
      fills.push({
        uid: account.uid,
        instId: product.instId,
        ordId: order.ordId,
        clOrdId: order.clOrdId,
        side: sideOf(order.sign),
        px: priceOf(product, px),
        qty: spell(baseOf(product, lots)),
        fee: feeText(cost, profile),
        cost: spell(cost),
        liquidity,
        at,
      });
    },
    room,
    exchange.matching(instId),
  );

export const newOrder = (exchange: Exchange, ticket: Ticket, at: number): Order => {
  const seq = exchange.orderCount;
  const ordId = String(exchange.firstOrdId + BigInt(seq));
  const { account, product, sign, ordType, clOrdId, reduceOnly, unit, sz, px, lots, budget, openingLots } = ticket;
  // Written out, because putting objects together costs more than matching the order.
  return {
    seq,
    ordId,
    account,
    product,
    sign,
    ordType,
    clOrdId,
    reduceOnly,
    unit,
    sz,
    px,
    lots,
    budget,
    openingLots,
    createdAt: at,
    updatedAt: at,
    state: "live",
    done: 0,
    value: 0n,
    cost: 0n,
    hold: 0n,
    ahead: 0,
    behind: 0,
  };
};

export const register = (exchange: Exchange, order: Order): void => {
  const { account } = order;
  dropOld(account, exchange.profile, order.createdAt);
  exchange.orderCount++;
  account.orders.push(order);
  account.open.add(order);
  account.byOrdId.set(order.ordId, order);
  if (order.clOrdId !== "") account.byClOrdId.set(order.clOrdId, order);
  exchange.touched.add(order);
};

/** Ends an order that is not complete. */
export const finish = (exchange: Exchange, order: Order, state: "filled" | "canceled", at: number): void => {
  order.state = state;
  order.updatedAt = at;
  setHold(order, 0n);
  close(order);
  const market = exchange.markets.get(order.product.instId);
  if (market !== undefined) remove(market.book, order);
  exchange.touched.add(order);
};

/** Reducing orders whose position is gone have nothing left to do. */
const withdrawIdle = (exchange: Exchange, at: number): void => {
  for (const account of new Set([...exchange.touched].map((order) => order.account))) {
    for (const order of account.open) if (order.reduceOnly && room(order) === 0) finish(exchange, order, "canceled", at);
  }
};

/** Called once after every request and market event: tells the listeners what has changed. */
export const tell = (exchange: Exchange, at: number): void => {
  const { touched, fills, letters, orderListeners, fillListeners, profile } = exchange;
  if (touched.size > 0) {
    withdrawIdle(exchange, at);
    for (const fill of fills) for (const listener of fillListeners) letters.push(() => listener(fill));
    for (const order of orderListeners.size > 0 ? touched : []) {
      const record = orderRecordOf(order, profile);
      for (const listener of orderListeners) letters.push(() => listener(order.account.uid, { ...record }, at));
    }
    touched.clear();
    fills.length = 0;
  }
  if (!exchange.telling) together(exchange, noMore);
};

const noMore = (): void => undefined;

/** Applies `events`, and tells the listeners what they changed after the last of them. */
export const together = (exchange: Exchange, events: () => void): void => {
  const { letters } = exchange;
  const outermost = !exchange.telling;
  exchange.telling = true;
  try {
    events();
    if (outermost) for (let letter = letters.shift(); letter !== undefined; letter = letters.shift()) letter();
  } finally {
    if (outermost) exchange.telling = false;
  }
};

const withdrawAll = (exchange: Exchange, instId: string, at: number): void => {
  for (const account of exchange.accounts.values()) {
    for (const order of account.open) if (order.product.instId === instId) finish(exchange, order, "canceled", at);
  }
};

/** Lists a product, or lists one again by new rules; open orders of an earlier listing are canceled. */
export const listProduct = (exchange: Exchange, listing: VenueInstrument, at: number): void => {
  const product = createProduct(listing);
  withdrawAll(exchange, product.instId, at);
  const { mark = 0n, lookAt = Number.POSITIVE_INFINITY } = exchange.markets.get(product.instId) ?? {};
  const book = newBook(exchange, product.instId);
  exchange.markets.set(product.instId, { product, book, listed: true, feedTick: 1, feedLot: 1, mark, lookAt });
};

export const marketOf = (exchange: Exchange, instId: string): Market => {
  const market = exchange.markets.get(instId);
  if (market !== undefined) return market;
  throw new SluiceError("INSTRUMENT_UNKNOWN", `venue: "${instId}" was never listed. Add it to the venue's instruments first.`);
};

/** Takes a product off the list and cancels its open orders; positions stay and are valued at the last known price. */
export const delistProduct = (exchange: Exchange, instId: string, at: number): void => {
  const market = marketOf(exchange, instId);
  withdrawAll(exchange, instId, at);
  market.listed = false;
};

/**
 * Changes a product's rules. Open orders stay, even off the new steps, unless the steps became finer than the book counts in:
 * then orders are canceled and the book starts empty on the finer grid.
 */
export const changeProduct = (exchange: Exchange, instId: string, change: Partial<Omit<VenueInstrument, "instId">>, at: number): void => {
  const market = marketOf(exchange, instId);
  const { product: old } = market;
  const product = createProduct({ ...old.listing, ...change, instId }, old);
  if (product.tick !== old.tick || product.lot !== old.lot) {
    const feedTick = (BigInt(market.feedTick) * old.tick * one) / product.tick;
    const feedLot = (BigInt(market.feedLot) * old.lot * one) / product.lot;
    if (feedTick % one !== 0n || feedLot % one !== 0n) {
      throw new SluiceError(
        "CONFIG_INVALID",
        `venue ${instId}: steps ${product.listing.tickSize} and ${product.listing.lotSize} neither divide nor are multiples of those in force. Choose steps that do.`,
      );
    }
    withdrawAll(exchange, instId, at);
    const { lastPx } = market.book;
    market.book = newBook(exchange, instId);
    market.book.lastPx = Number((BigInt(lastPx) * old.tick) / product.tick);
    market.feedTick = Number(feedTick / one);
    market.feedLot = Number(feedLot / one);
  }
  market.product = product;
};
