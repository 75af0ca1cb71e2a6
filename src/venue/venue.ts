/**
 * The other side: a deterministic copy of the service, called as `request × now → response`.
 *
 * Invariants: the same calls at the same instants give the same answers; a stranger's request never throws; every record handed
 * out is a fresh object; `now` is the service's own clock and never falls.
 * Not here: sockets, latency, faults; those are wrapped around it.
 */
import type { Contract } from "../contract/contract.ts";
import type { InstType } from "../contract/inst-id.ts";
import type { Side } from "../contract/profile.ts";
import type { BalanceRecord, OrderRecord, PositionRecord } from "../contract/schemas.ts";
import { SluiceError } from "../errors.ts";
import { type Account, balanceRecordsOf, createAccount } from "./account.ts";
import { doubleMark, level, print, quote } from "./book.ts";
import { answerRequest, type Door, type KeyHolder, routesOf, type VenueRequest, type VenueResponse } from "./door.ts";
import {
  changeProduct,
  delistProduct,
  type Exchange,
  type Fill,
  type FillListener,
  listProduct,
  marketOf,
  type OrderListener,
  tell,
} from "./exchange.ts";
import type { VenueInstrument } from "./instrument.ts";
import { positionRecordsOf, profitOf } from "./listing.ts";
import { createMeter, type MeterReport } from "./meter.ts";
import { type Amount, one, readAmount, spell } from "./money.ts";
import { orderRecordOf, signOf } from "./order.ts";
import type { Rates } from "./settlement.ts";

export type { Fill, MeterReport, VenueInstrument, VenueRequest, VenueResponse };

/** Key names are unique over all users. */
export interface VenueKey {
  readonly name: string;
  readonly permissions: readonly string[];
}

export interface VenueUser {
  readonly uid: string;
  readonly keys: readonly VenueKey[];
  /** Decimal text by currency. */
  readonly balances: Readonly<Record<string, string>>;
}

/** Basis points as decimal text; a negative maker fee is a rebate. */
export interface Fees {
  readonly makerBps: string;
  readonly takerBps: string;
}

export interface VenueOptions {
  readonly contract: Contract;
  readonly instruments: readonly VenueInstrument[];
  readonly users: readonly VenueUser[];
  readonly fees: { readonly SPOT: Fees; readonly SWAP: Fees };
  /** False counts all requests and refuses none. */
  readonly enforceLimits: boolean;
  readonly firstOrdId?: string;
}

export interface Truth {
  /** All orders, newest first, forgotten ones included. */
  readonly orders: readonly OrderRecord[];
  readonly balances: readonly BalanceRecord[];
  readonly positions: readonly PositionRecord[];
  /** In the quote currency of the first instrument, valued at mid, else at the latest print. */
  readonly equity: string;
}

export interface Venue {
  handle(request: VenueRequest, now: number): VenueResponse;
  /** A public print of the recording: `side` is the aggressor's, `px` in ticks, `qty` in lots of base currency. */
  trade(instId: string, side: Side, px: number, qty: number, now: number): void;
  /** Best bid and ask of the recording; a quantity of 0 means none. */
  quote(instId: string, bidPx: number, bidQty: number, askPx: number, askQty: number, now: number): void;
  /** Absolute quantity at one price of the recorded book; 0 removes the price. `buy` is the bid side. */
  level(instId: string, side: Side, px: number, qty: number, now: number): void;
  /** Tells every change of an order, after the request or market event that caused it. Returns the way to stop listening. */
  onOrder(listener: OrderListener): () => void;
  onFill(listener: FillListener): () => void;
  list(instrument: VenueInstrument, now: number): void;
  delist(instId: string, now: number): void;
  change(instId: string, change: Partial<Omit<VenueInstrument, "instId">>, now: number): void;
  /** Another program of the same user uses quota; what does not fit blocks the user as any request would. */
  spendElsewhere(uid: string, weight: number, now: number): void;
  /** Counts a request that is no call, such as opening a socket, at its address. False: refused. */
  knock(ip: string, now: number): boolean;
  /** Whether the product is on the list now. */
  lists(instId: string): boolean;
  truth(uid: string): Truth;
  /** The lists of `truth` that an order can move, without its orders. */
  holdings(uid: string): Pick<Truth, "balances" | "positions">;
  /** The equity of `truth` alone, without building its lists. */
  equity(uid: string): string;
  meterReport(): MeterReport;
}

/** Nineteen digits: beyond what a float can tell apart. */
const firstOrdIdDefault = "1000000000000000001";

const refuse = (message: string): never => {
  throw new SluiceError("CONFIG_INVALID", message);
};

const rateOf = (text: string, place: string): Amount => {
  const bps = readAmount(text);
  const limit = 10_000n * one;
  if (bps === undefined || bps >= limit || bps <= -limit) {
    return refuse(
      `${place}: ${JSON.stringify(text)} is not a fee. Write basis points as decimal text between -10000 and 10000, such as "5".`,
    );
  }
  if (bps % 10_000n !== 0n) return refuse(`${place}: ${text} is finer than a fee can be. Use at most 14 fraction digits.`);
  return bps / 10_000n;
};

const ratesOf = ({ makerBps, takerBps }: Fees, instType: InstType): Rates => ({
  maker: rateOf(makerBps, `fees.${instType}.makerBps`),
  taker: rateOf(takerBps, `fees.${instType}.takerBps`),
});

const accountOf = ({ uid, balances }: VenueUser): Account => {
  const amounts: Record<string, Amount> = {};
  for (const [currency, text] of Object.entries(balances)) {
    const amount = readAmount(text);
    if (amount === undefined || amount < 0n) {
      return refuse(
        `user ${uid}, balance ${currency}: ${JSON.stringify(text)} is not an amount. Write a decimal of at least 0 in a string.`,
      );
    }
    amounts[currency] = amount;
  }
  return createAccount(uid, amounts);
};

const readUsers = (users: readonly VenueUser[]): { accounts: Map<string, Account>; keys: Map<string, KeyHolder> } => {
  const accounts = new Map<string, Account>();
  const keys = new Map<string, KeyHolder>();
  for (const user of users) {
    if (accounts.has(user.uid)) refuse(`user ${user.uid} is listed twice. Give every user its own uid.`);
    const account = accountOf(user);
    accounts.set(user.uid, account);
    for (const { name, permissions } of user.keys) {
      if (keys.has(name)) refuse(`key ${name} is listed twice. Key names are unique over all users.`);
      keys.set(name, { account, permissions: new Set(permissions) });
    }
  }
  return { accounts, keys };
};

const createExchange = (options: VenueOptions, accounts: ReadonlyMap<string, Account>): Exchange => {
  const firstOrdId = options.firstOrdId ?? firstOrdIdDefault;
  if (!/^\d{1,19}$/.test(firstOrdId)) refuse(`firstOrdId: ${JSON.stringify(firstOrdId)} is not an order id. Write up to 19 digits.`);
  const exchange: Exchange = {
    contract: options.contract,
    profile: options.contract.profile,
    accounts,
    markets: new Map(),
    rates: { SPOT: ratesOf(options.fees.SPOT, "SPOT"), SWAP: ratesOf(options.fees.SWAP, "SWAP") },
    firstOrdId: BigInt(firstOrdId),
    orderCount: 0,
    orderListeners: new Set(),
    fillListeners: new Set(),
    touched: new Set(),
    fills: [],
    letters: [],
    telling: false,
  };
  for (const instrument of options.instruments) {
    if (exchange.markets.has(instrument.instId)) refuse(`instrument ${instrument.instId} is listed twice. List every product once.`);
    listProduct(exchange, instrument, 0);
  }
  return exchange;
};

/** Everything a user owns in one currency; what has no known price in it counts nothing. */
const equityOf = (exchange: Exchange, account: Account): string => {
  const [first] = exchange.markets.values();
  if (first === undefined) return "0";
  const { quote: currency } = first.product;
  let equity = account.purses.get(currency)?.total ?? 0n;
  for (const [instId, position] of account.positions) {
    if (marketOf(exchange, instId).product.quote === currency) equity += profitOf(exchange, instId, position);
  }
  for (const [base, { total }] of account.purses) {
    // A currency is worth what it can be sold for: without a spot market it counts nothing.
    const market = exchange.markets.get(`${base}-${currency}`);
    if (market !== undefined) equity += (BigInt(doubleMark(market.book)) * market.product.tick * total) / (2n * one);
  }
  return spell(equity);
};

const holderOf = (exchange: Exchange, uid: string): Account =>
  exchange.accounts.get(uid) ?? refuse(`venue: there is no user "${uid}". Use one of ${[...exchange.accounts.keys()].join(", ")}.`);

const holdingsOf = (exchange: Exchange, account: Account): ReturnType<Venue["holdings"]> => ({
  balances: balanceRecordsOf(account),
  positions: positionRecordsOf(exchange, account),
});

const truthOf = (exchange: Exchange, uid: string): Truth => {
  const account = holderOf(exchange, uid);
  return {
    orders: account.orders.map((order) => orderRecordOf(order, exchange.profile)).reverse(),
    ...holdingsOf(exchange, account),
    equity: equityOf(exchange, account),
  };
};

const listen = <T>(listeners: Set<T>, listener: T): (() => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

export const createVenue = (options: VenueOptions): Venue => {
  const { accounts, keys } = readUsers(options.users);
  const exchange = createExchange(options, accounts);
  const meter = createMeter(options.contract, options.enforceLimits);
  const door: Door = { exchange, meter, keys, routes: routesOf(options.contract), seenAt: new Map() };
  return {
    handle: (request, now) => {
      const response = answerRequest(door, request, now);
      tell(exchange, now);
      return response;
    },
    trade: (instId, side, px, qty, now) => {
      const { book, listed, feedTick, feedLot } = marketOf(exchange, instId);
      if (!listed) return;
      print(book, signOf(side), px * feedTick, qty * feedLot, now);
      if (exchange.touched.size > 0) tell(exchange, now);
    },
    quote: (instId, bidPx, bidQty, askPx, askQty, now) => {
      const { book, listed, feedTick, feedLot } = marketOf(exchange, instId);
      if (!listed) return;
      quote(book, bidPx * feedTick, bidQty * feedLot, askPx * feedTick, askQty * feedLot, now);
      if (exchange.touched.size > 0) tell(exchange, now);
    },
    level: (instId, side, px, qty, now) => {
      const { book, listed, feedTick, feedLot } = marketOf(exchange, instId);
      if (!listed) return;
      level(book, signOf(side), px * feedTick, qty * feedLot, now);
      if (exchange.touched.size > 0) tell(exchange, now);
    },
    onOrder: (listener) => listen(exchange.orderListeners, listener),
    onFill: (listener) => listen(exchange.fillListeners, listener),
    list: (instrument, now) => {
      listProduct(exchange, instrument, now);
      tell(exchange, now);
    },
    delist: (instId, now) => {
      delistProduct(exchange, instId, now);
      tell(exchange, now);
    },
    change: (instId, change, now) => {
      changeProduct(exchange, instId, change, now);
      tell(exchange, now);
    },
    spendElsewhere: (uid, weight, now) => {
      meter.spendElsewhere(uid, weight, now);
    },
    knock: (ip, now) => meter.arrive(ip, undefined, 0, now),
    lists: (instId) => exchange.markets.get(instId)?.listed === true,
    truth: (uid) => truthOf(exchange, uid),
    holdings: (uid) => holdingsOf(exchange, holderOf(exchange, uid)),
    equity: (uid) => equityOf(exchange, holderOf(exchange, uid)),
    meterReport: () => meter.report(),
  };
};
