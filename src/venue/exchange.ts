/**
 * State of the embedded service: products with their books, accounts, and what changed in the event that is being
 * applied.
 *
 * Invariants: changes are published after the whole event, never from inside matching; an order that changed several
 * times in one event is published once, in its last state. Recordings count prices and quantities in the steps an
 * instrument had when it was listed; a later change of its steps does not change what a recorded number means.
 */
import type { Contract } from "../contract/contract.ts";
import type { InstType } from "../contract/inst-id.ts";
import type { Profile } from "../contract/profile.ts";
import { mul, sub } from "../decimal.ts";
import { SluiceError } from "../errors.ts";
import { type Account, indexFrom, type Order, takeOut } from "./account.ts";
import { noteTraded, ratesFor, type Schedule } from "./fee-tiers.ts";
import { createProduct, type Product, type VenueInstrument, worthOf } from "./instrument.ts";
import type { MarginRules } from "./margin-rules.ts";
import type { Silence } from "./market-silence.ts";
import { type Book, createBook, type OnFill, remove } from "./matching-engine.ts";
import { type Amount, one, spell, spellSteps } from "./money.ts";
import { feeText, leftOf, orderRecordOf, sideOf } from "./order.ts";
import type { Matching } from "./queue-model.ts";
import { dropOld } from "./retention.ts";
import { isPaidInBase, reducibleLots, setHold, settle } from "./settlement.ts";
import { type Fill, VenueEvents } from "./venue-events.ts";

/** One product and its book; the same object however often it is listed again or changed. */
export interface Market {
  product: Product;
  book: Book;
  listed: boolean;
  /** Ticks and lots of the book per tick and lot of the recording. */
  feedTick: number;
  feedLot: number;
  /** The mark price published last; 0 before any. */
  mark: Amount;
  /** Instant of the next review of margins of positions in the product; infinite while there is none. */
  lookAt: number;
  /** Spans without a price in the recording, in time order. */
  readonly silences: readonly Silence[];
  /** Market orders that arrived in a silence, oldest first. */
  readonly waiting: Order[];
  /** Number of orders that waited and were filled. */
  waited: number;
}

interface ExchangeOptions {
  readonly contract: Contract;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly schedules: Readonly<Record<InstType, Schedule>>;
  readonly margins: MarginRules;
  /** Fill model of resting orders by product; by default the book's own rule. */
  readonly matching: (instId: string) => Matching | undefined;
  /** Spans without a price of a product in the recording, in time order. */
  readonly silences: (instId: string) => readonly Silence[];
  readonly firstOrdId: bigint;
}

const noMarkets: readonly Market[] = [];

export class Exchange {
  readonly contract: Contract;
  readonly profile: Profile;
  /** Pattern that client ids must match. */
  readonly clOrdIdPattern: RegExp;
  readonly accounts: ReadonlyMap<string, Account>;
  /** The same accounts as a list. */
  readonly users: readonly Account[];
  readonly schedules: Readonly<Record<InstType, Schedule>>;
  readonly margins: MarginRules;
  readonly firstOrdId: bigint;
  readonly markets = new Map<string, Market>();
  /** Income of liquidations less their cost, by currency. */
  readonly fund = new Map<string, Amount>();
  readonly events = new VenueEvents();
  /** Called for a product that has a price again while orders wait for one. */
  priced: (instId: string) => void = () => undefined;
  readonly #matching: ExchangeOptions["matching"];
  readonly #silences: ExchangeOptions["silences"];
  #orderCount = 0;
  /** Orders that changed in this event. */
  readonly touched: Order[] = [];
  readonly #fills: Fill[] = [];
  /** Accounts whose positions changed in this event. Every change of a position is a fill, liquidations included. */
  readonly #moved: Account[] = [];

  constructor({ contract, accounts, schedules, margins, matching, silences, firstOrdId }: ExchangeOptions) {
    this.contract = contract;
    this.profile = contract.profile;
    this.clOrdIdPattern = new RegExp(contract.profile.order.clOrdIdPattern);
    this.accounts = accounts;
    this.users = [...accounts.values()];
    this.schedules = schedules;
    this.margins = margins;
    this.firstOrdId = firstOrdId;
    this.#matching = matching;
    this.#silences = silences;
  }

  marketOf(instId: string): Market {
    const market = this.markets.get(instId);
    if (market !== undefined) return market;
    throw new SluiceError(
      "INSTRUMENT_UNKNOWN",
      `venue: "${instId}" was never listed. Add it to the venue's instruments first.`,
    );
  }

  /** Accepts an order: it gets the next id. */
  register(order: Order): void {
    const { account } = order;
    dropOld(account, this.profile, order.createdAt);
    order.seq = this.#orderCount++;
    order.ordId = String(this.firstOrdId + BigInt(order.seq));
    account.orders.push(order);
    account.open.push(order);
    account.byOrdId.set(order.ordId, order);
    if (order.clOrdId !== "") account.byClOrdId.set(order.clOrdId, order);
    order.touched = true;
    this.touched.push(order);
  }

  /** Ends an order that is not complete. */
  finish(order: Order, state: "filled" | "canceled", at: number): void {
    order.state = state;
    order.updatedAt = at;
    if (order.hold !== 0n) setHold(order, 0n);
    close(order);
    // An order without a price never rests.
    const market = order.px === 0 ? undefined : this.markets.get(order.product.instId);
    if (market !== undefined) remove(market.book, order);
    if (!order.touched) this.#touch(order);
  }

  /** Notes that an order has changed and remains open. */
  changed(order: Order, at: number): void {
    order.updatedAt = at;
    if (!order.touched) this.#touch(order);
  }

  /** Products whose orders changed in this event, and whose positions are due for a review. */
  marketsToReview(at: number): readonly Market[] {
    const { touched } = this;
    let due = noMarkets;
    for (let index = 0; index < touched.length; index++) {
      const market = this.markets.get((touched[index] as Order).product.instId);
      if (market === undefined || at < market.lookAt || due.includes(market)) continue;
      // Usually there is one product: a growing array would reserve room for many.
      due = due.length === 0 ? [market] : [...due, market];
    }
    return due;
  }

  /** Called once after every request and market event: publishes what has changed. */
  tell(at: number): void {
    if (this.touched.length > 0) this.#queueChanges(at);
    this.events.deliver();
  }

  #queueChanges(at: number): void {
    const touched = this.touched;
    const fills = this.#fills;
    // Withdrawn orders have changed too, and come last.
    if (this.#moved.length > 0) this.#withdrawAllIdle(at);
    const { listeners, queue } = this.events;
    for (let index = 0; index < fills.length; index++) queue.push({ kind: "fill", fill: fills[index] as Fill });
    const hasListeners = listeners.order.length > 0;
    for (let index = 0; index < touched.length; index++) {
      const order = touched[index] as Order;
      order.touched = false;
      if (hasListeners)
        queue.push({
          kind: "order",
          uid: order.account.uid,
          record: Object.freeze(orderRecordOf(order, this.profile)),
          at,
        });
    }
    // The elements are removed one by one, so that the arrays keep their memory for the next event.
    while (touched.length > 0) touched.pop();
    while (fills.length > 0) fills.pop();
  }

  /** Withdraws idle orders of the accounts whose positions changed, in the order in which orders changed. */
  #withdrawAllIdle(at: number): void {
    const { touched } = this;
    let last: Account | undefined;
    for (let index = 0; index < touched.length; index++) {
      const { account } = touched[index] as Order;
      if (account !== last && this.#moved.includes(account)) this.#withdrawIdle(account, at);
      last = account;
    }
    while (this.#moved.length > 0) this.#moved.pop();
  }

  /** Cancels reducing orders whose position is gone. */
  #withdrawIdle({ open }: Account, at: number): void {
    for (let index = 0; index < open.length; ) {
      const order = open[index] as Order;
      if (order.reduceOnly && room(order) === 0) this.finish(order, "canceled", at);
      else index++;
    }
  }

  #touch(order: Order): void {
    order.touched = true;
    this.touched.push(order);
  }

  /**
   * Notes that the account's position in the product has changed: it is due for a review, and so are orders that reduce
   * it.
   */
  #noteMove(account: Account, market: Market | undefined, at: number): void {
    if (market !== undefined) market.lookAt = at;
    if (!this.#moved.includes(account)) this.#moved.push(account);
  }

  #newBook(instId: string): Book {
    return createBook(this.#onFill, room, this.#matching(instId));
  }

  readonly #onFill: OnFill = (order, px, lots, liquidity, at) => {
    const { product, account } = order;
    const { instId, instType } = product;
    const schedule = this.schedules[instType];
    const value = worthOf(product, px, lots);
    order.paidPx = order.done === 0 || order.paidPx === px ? px : Number.NaN;
    const hasTiers = schedule.steps.length > 0;
    const rates = hasTiers ? ratesFor(schedule, account, instType, at) : schedule.flat;
    const cost = settle(order, lots, value, rates, liquidity, at);
    if (hasTiers) noteTraded(schedule, account, instType, value, at);
    const market = this.markets.get(instId);
    if (instType === "SWAP") this.#noteMove(account, market, at);
    if (order.state === "filled") close(order);
    if (!order.touched) this.#touch(order);
    order.pxText = order.valueText = order.feeText = undefined;
    if (this.events.listeners.fill.length === 0) return;
    const costText = spell(cost);
    const pxText = spellSteps(px, product.steps.tick);
    const cells = px * lots;
    const valueText = cells <= Number.MAX_SAFE_INTEGER ? spellSteps(cells, product.steps.cell) : spell(value);
    const fee = feeText(costText, this.profile);
    const lotsText = spellSteps(lots, product.steps.lot);
    const inBase = isPaidInBase(order);
    const qty = inBase ? sub(lotsText, costText) : lotsText;
    if (order.done === lots) {
      order.pxText = pxText;
      order.valueText = valueText;
      order.feeText = fee;
    }
    this.#fills.push({
      uid: account.uid,
      instId,
      ordId: order.ordId,
      clOrdId: order.clOrdId,
      side: sideOf(order.sign),
      px: pxText,
      qty,
      value: inBase ? mul(pxText, qty) : valueText,
      fee,
      cost: inBase ? mul(pxText, costText) : costText,
      liquidity,
      at,
    });
  };

  #withdrawAll(instId: string, at: number): void {
    for (const { open } of this.users) {
      for (const order of open.filter(({ product }) => product.instId === instId)) this.finish(order, "canceled", at);
    }
  }

  /** Lists a product, or lists one again by new rules; open orders of an earlier listing are canceled. */
  list(listing: VenueInstrument, at: number): void {
    const product = createProduct(listing, undefined, this.profile.order.spotBuyFee);
    const { instId } = product;
    this.#withdrawAll(instId, at);
    const book = this.#newBook(instId);
    const known = this.markets.get(instId);
    if (known !== undefined) Object.assign(known, { product, book, listed: true, feedTick: 1, feedLot: 1 });
    else
      this.markets.set(instId, {
        product,
        book,
        listed: true,
        feedTick: 1,
        feedLot: 1,
        mark: 0n,
        lookAt: Number.POSITIVE_INFINITY,
        silences: this.#silences(instId),
        waiting: [],
        waited: 0,
      });
  }

  /**
   * Takes a product off the list and cancels its open orders; positions stay and are valued at the last known price.
   */
  delist(instId: string, at: number): void {
    const market = this.marketOf(instId);
    this.#withdrawAll(instId, at);
    market.listed = false;
  }

  /**
   * Changes a product's rules. Open orders stay, even off the new steps, unless the steps became finer than the book
   * counts in: then orders are canceled and the book starts empty on the finer grid.
   */
  change(instId: string, change: Partial<Omit<VenueInstrument, "instId">>, at: number): void {
    const market = this.marketOf(instId);
    const { product: old } = market;
    const product = createProduct({ ...old.listing, ...change, instId }, old, this.profile.order.spotBuyFee);
    if (product.tick !== old.tick || product.lot !== old.lot) {
      const feedTick = (BigInt(market.feedTick) * old.tick * one) / product.tick;
      const feedLot = (BigInt(market.feedLot) * old.lot * one) / product.lot;
      if (feedTick % one !== 0n || feedLot % one !== 0n) {
        throw new SluiceError(
          "CONFIG_INVALID",
          `venue ${instId}: steps ${product.listing.tickSize} and ${product.listing.lotSize} neither divide nor are multiples of those in force. Choose steps that do.`,
        );
      }
      this.#withdrawAll(instId, at);
      const { lastPx } = market.book;
      market.book = this.#newBook(instId);
      market.book.lastPx = Number((BigInt(lastPx) * old.tick) / product.tick);
      market.feedTick = Number(feedTick / one);
      market.feedLot = Number(feedLot / one);
    }
    market.product = product;
  }
}

/** Ends the order, which is kept for a while (retention.ts). */
const close = (order: Order): void => {
  const { open, ended } = order.account;
  takeOut(open, order, indexFrom(open, order.seq));
  ended.orders.push(order);
};

/** Lots that an order may fill now. A reducing order never fills more than the position. */
const room = (order: Order): number =>
  order.reduceOnly ? Math.min(leftOf(order), reducibleLots(order.account, order.product, order.sign)) : leftOf(order);
