/**
 * One instrument's book: matches our users' orders with each other and with the recorded market.
 *
 * Invariants: better prices first, then arrival; a maker's price is the price; orders of one user never meet each other
 * (they pass by, and both stay); prices and quantities are whole ticks and lots; a tick or print far from every resting
 * order costs two comparisons and no allocation. The recorded market does not know about our users. A print strictly
 * through a resting price, or a displayed price on the other side at or beyond it, fills the order completely at its
 * own price; a print at its price first eats the queue ahead. Where volume counts (`traded`), neither fills more than
 * was printed or displayed, and what it filled is used up.
 * Not here: money (settlement.ts), the order's words (order.ts).
 */

import type { Order, Sign } from "./account.ts";
import { worthOf } from "./instrument.ts";
import { isOpen } from "./order.ts";
import {
  bestDisplayed,
  consume,
  createOrderBookSide,
  displayedAt,
  join,
  leave,
  type Offer,
  type OrderBookSide,
  offersOf,
  ordersAbove,
  ordersAt,
  showLevel,
  showQuote,
} from "./order-book-side.ts";
import { type Matching, matchingOf } from "./queue-model.ts";

/** Acts on a fill at once: counts it on the order and moves the money. */
export type OnFill = (order: Order, px: number, lots: number, liquidity: "maker" | "taker", at: number) => void;

export interface Book {
  readonly bids: OrderBookSide;
  readonly asks: OrderBookSide;
  readonly matching: Matching;
  /** Price of the latest print in ticks; 0 before the first. */
  lastPx: number;
  readonly onFill: OnFill;
  /** Lots of an order that may fill now: what is left of it, or of the position it may only reduce. */
  readonly room: (order: Order) => number;
}

const riskAverse = matchingOf("risk-averse", "unlimited");

export const createBook = (onFill: OnFill, room: (order: Order) => number, matching: Matching = riskAverse): Book => ({
  bids: createOrderBookSide(1, matching),
  asks: createOrderBookSide(-1, matching),
  matching,
  lastPx: 0,
  onFill,
  room,
});

const halfOf = (book: Book, sign: Sign): OrderBookSide => (sign === 1 ? book.bids : book.asks);
const against = (book: Book, sign: Sign): OrderBookSide => (sign === 1 ? book.asks : book.bids);

/**
 * Offers that an order meets as it arrives, best first; a market order has no limit. Valid until the book or an order
 * in it changes.
 */
export const offersFor = (
  book: Book,
  { account, sign, px, ordType }: Pick<Order, "account" | "sign" | "px" | "ordType">,
): Offer[] => {
  const half = sign === 1 ? book.asks : book.bids;
  const offers = offersOf(half, ordType === "market" ? Number.NEGATIVE_INFINITY : half.sign * px, book.room, account);
  if (book.matching.endless !== true) return offers;
  return offers.map((offer) => (offer.maker === undefined ? { ...offer, lots: Number.MAX_SAFE_INTEGER } : offer));
};

/** Lots of the order that a price buys: what is left, or what the rest of the budget pays for. */
const wanted = (book: Book, order: Order, px: number): number => {
  const room = order.reduceOnly ? book.room(order) : order.lots - order.done;
  if (order.budget === undefined) return room;
  return Math.min(room, Number((order.budget - order.value) / worthOf(order.product, px, 1)));
};

/** Matches an arriving order with its offers. Returns true if it was filled; the rest is left to the caller. */
export const take = (book: Book, order: Order, offers: readonly Offer[], at: number): boolean => {
  const half = order.sign === 1 ? book.asks : book.bids;
  if (offers.length === 0) return order.px > 0 && wanted(book, order, order.px) <= 0;
  let satisfied = false;
  for (let index = 0; index < offers.length; index++) {
    const offer = offers[index] as Offer;
    const { px, maker } = offer;
    const most = wanted(book, order, px);
    if (most <= 0) return true;
    const count = Math.min(most, maker === undefined ? offer.lots : Math.min(offer.lots, book.room(maker)));
    satisfied = count === most;
    if (count <= 0) continue;
    if (maker === undefined) {
      if (book.matching.endless !== true) consume(half, px, count);
    } else {
      book.lastPx = px;
      fillMaker(book, half, maker, count, at);
    }
    book.onFill(order, px, count, "taker", at);
  }
  return satisfied;
};

export const rest = (book: Book, order: Order): void => {
  join(halfOf(book, order.sign), order);
};

export const remove = (book: Book, order: Order): void => {
  leave(halfOf(book, order.sign), order);
};

/** Returns the lots that were filled. */
const fillMaker = (book: Book, half: OrderBookSide, order: Order, lots: number, at: number): number => {
  const count = Math.min(lots, book.room(order));
  if (count > 0) book.onFill(order, order.px, count, "maker", at);
  if (!isOpen(order)) leave(half, order);
  return count;
};

/**
 * Fills every order of a rank above `rank`, the best first, from `lots`, because the market has traded through its
 * price. Returns the rest.
 */
const fillBeyond = (book: Book, half: OrderBookSide, rank: number, lots: number, at: number): number => {
  if (half.best <= rank) return lots;
  let left = lots;
  for (const order of ordersAbove(half, rank)) left -= fillMaker(book, half, order, left, at);
  return left;
};

/**
 * Applies a print at the price of resting orders: each part of the queue is filled before the order behind it. Returns
 * the rest of the print.
 */
const fillQueue = (book: Book, half: OrderBookSide, px: number, qty: number, at: number): number => {
  const resting = ordersAt(half, px);
  let left = qty;
  let eaten = 0;
  for (const order of resting) {
    const queue = Math.min(left, Math.max(0, order.ahead - eaten));
    eaten += queue;
    left -= queue;
    const passed = Math.min(order.ahead, eaten);
    order.ahead -= passed;
    order.behind += passed;
    left -= fillMaker(book, half, order, left, at);
  }
  // The part of the print that filled others' orders without passing one of ours was behind it.
  for (const order of resting) order.behind = Math.max(0, order.behind - eaten - left);
  return left;
};

export const print = (book: Book, sign: Sign, px: number, qty: number, at: number): void => {
  book.lastPx = px;
  const hit = against(book, sign);
  const other = halfOf(book, sign);
  let left = book.matching.volume === "traded" ? qty : Number.POSITIVE_INFINITY;
  if (hit.best >= hit.sign * px) {
    left = fillBeyond(book, hit, hit.sign * px, left, at);
    const rest = fillQueue(book, hit, px, Math.min(qty, left), at);
    if (left !== Number.POSITIVE_INFINITY) left = rest;
  }
  fillBeyond(book, other, other.sign * px, left, at);
};

/** A price displayed at or beyond a resting order of the other side has met it. */
const cross = (book: Book, half: OrderBookSide, px: number, qty: number, at: number): void => {
  if (qty === 0 || half.best < half.sign * px || !book.matching.crosses) return;
  const shown = half === book.bids ? book.asks : book.bids;
  const most = book.matching.volume === "traded" ? displayedAt(shown, px) : Number.POSITIVE_INFINITY;
  // Ranks are whole, so half a tick below the rank of `px` takes in the orders at `px` itself.
  const left = fillBeyond(book, half, half.sign * px - 0.5, most, at);
  if (left < most) consume(shown, px, most - left);
};

export const quote = (book: Book, bidPx: number, bidQty: number, askPx: number, askQty: number, at: number): void => {
  showQuote(book.bids, bidPx, bidQty);
  showQuote(book.asks, askPx, askQty);
  cross(book, book.bids, askPx, askQty, at);
  cross(book, book.asks, bidPx, bidQty, at);
};

export const level = (book: Book, sign: Sign, px: number, qty: number, at: number): void => {
  showLevel(halfOf(book, sign), px, qty);
  cross(book, against(book, sign), px, qty, at);
};

/**
 * Twice the price that values the position: the mid of what is displayed, otherwise the latest print; 0 before any is
 * known.
 */
export const doubleMark = (book: Book): number => {
  const bid = bestDisplayed(book.bids);
  const ask = bestDisplayed(book.asks);
  return bid === undefined || ask === undefined ? 2 * book.lastPx : bid + ask;
};
