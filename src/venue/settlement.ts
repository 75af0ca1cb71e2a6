/**
 * Effects of orders and fills on money: amounts set aside, fees, spot exchange, positions and their profit.
 *
 * Invariants: a fill moves exactly its value and its fee; what an open order could still cost is frozen, so that the
 * available spot balance is never negative; fees are cut and amounts set aside are rounded up, each at the 18th place
 * of their currency. Initial margin is entry value over leverage, isolated and cross alike; an isolated position's is
 * all of its margin.
 * Not here: the value of a position and what is available (margin.ts), the end of one that is short of margin
 * (liquidation.ts).
 */
import type { MarginMode } from "../contract/profile.ts";
import { type Account, type Order, type Position, type Purse, purseOf, type Sign, takeOut } from "./account.ts";
import { baseOf, type Product, worthOf } from "./instrument.ts";
import { type Amount, cover, cut, magnitude, one, type Rates } from "./money.ts";
import { leftOf } from "./order.ts";

export const leverageOf = ({ leverage, leverageDefault }: Account, { instId, maxLeverage }: Product): Amount =>
  leverage.get(instId) ?? (leverageDefault < maxLeverage ? leverageDefault : maxLeverage);

export const payCurrencyOf = (product: Product, sign: Sign): string =>
  product.instType === "SPOT" && sign === -1 ? product.base : product.quote;

/** Lots of the position that an order of this sign would reduce. */
export const reducibleLots = (account: Account, product: Product, sign: Sign): number => {
  const base = account.positions.get(product.instId)?.base ?? 0n;
  if (sign === 1) return base < 0n ? Number(-base / product.lot) : 0;
  return base > 0n ? Number(base / product.lot) : 0;
};

/**
 * Lots of an order that its user's position and the other open orders do not cover. `self` is the order where it is
 * open already.
 */
export const openingLotsOf = (account: Account, product: Product, sign: Sign, lots: number, self?: Order): number => {
  if (product.instType === "SPOT") return 0;
  const { open } = account;
  let free = reducibleLots(account, product, sign);
  for (let index = 0; index < open.length && free > 0; index++) {
    const order = open[index] as Order;
    if (order !== self && order.product.instId === product.instId && order.sign === sign)
      free -= leftOf(order) - Math.min(order.openingLots, leftOf(order));
  }
  return Math.max(0, lots - Math.max(0, free));
};

/** Amount to set aside for `value` quote of an order, of which `opening` would open a position. */
export const holdFor = (
  account: Account,
  product: Product,
  sign: Sign,
  rates: Rates,
  value: Amount,
  opening: Amount,
): Amount => {
  if (product.instType === "SPOT" && sign === -1) return 0n;
  const rate = rates.maker > rates.taker ? rates.maker : rates.taker;
  const fee = rate > 0n && !(product.buysPayInBase && sign === 1) ? cover(value, rate, one) : 0n;
  return product.instType === "SPOT" ? value + fee : cover(opening, one, leverageOf(account, product)) + fee;
};

/** Highest remaining cost of a priced order. */
export const orderHold = (order: Order, rates: Rates): Amount => {
  const { account, product, sign } = order;
  const left = leftOf(order);
  if (product.instType === "SPOT" && sign === -1) return baseOf(product, left);
  const value = worthOf(product, order.px, left);
  const opening = order.openingLots >= left ? value : worthOf(product, order.px, order.openingLots);
  return holdFor(account, product, sign, rates, value, opening);
};

export const setHold = (order: Order, hold: Amount): void => {
  order.purse ??= purseOf(order.account, payCurrencyOf(order.product, order.sign));
  if (hold === order.hold) return;
  order.purse.frozen += hold - order.hold;
  order.hold = hold;
};

/** Sets aside the margin of a position as it is now. */
export const setMargin = (
  account: Account,
  product: Product,
  position: Position,
  purse = purseOf(account, product.quote),
): void => {
  const { entry, extra } = position;
  const margin = cover(magnitude(entry), one, leverageOf(account, product)) + extra;
  const kept = margin < 0n ? 0n : margin;
  purse.frozen += kept - position.margin;
  position.margin = kept;
};

const newPosition = (account: Account, instId: string): Position => {
  const position = { instId, base: 0n, entry: 0n, margin: 0n, extra: 0n, updatedAt: 0 };
  account.positions.set(instId, position);
  account.held.push(position);
  return position;
};

const settleSwap = ({ account, product, sign }: Order, purse: Purse, base: Amount, value: Amount, at: number): void => {
  const position = account.positions.get(product.instId) ?? newPosition(account, product.instId);
  const held = position.base;
  let opened = base;
  let paid = value;
  if (sign === 1 ? held < 0n : held > 0n) {
    const size = magnitude(held);
    const closing = size < base ? size : base;
    const closedValue = closing === base ? value : cut(value, closing, base);
    const released = closing === size ? position.entry : cut(position.entry, closing, size);
    purse.total -= (sign === 1 ? closedValue : -closedValue) + released;
    if (position.extra !== 0n) position.extra -= cut(position.extra, closing, size);
    position.entry -= released;
    opened = base - closing;
    paid = value - closedValue;
  }
  position.base += sign === 1 ? base : -base;
  if (opened > 0n) position.entry += sign === 1 ? paid : -paid;
  position.updatedAt = at;
  setMargin(account, product, position, purse);
  if (position.base !== 0n) return;
  account.positions.delete(product.instId);
  takeOut(account.held, position);
};

/** Returns true if the fees of an order are taken in base currency. */
export const isPaidInBase = ({ product, sign }: Order): boolean => product.buysPayInBase && sign === 1;

/**
 * Counts a fill on its order and moves the money; returns the fee as a positive cost, in the currency in which it is
 * taken.
 */
export const settle = (
  order: Order,
  lots: number,
  value: Amount,
  rates: Rates,
  liquidity: "maker" | "taker",
  at: number,
): Amount => {
  const { account, product, sign } = order;
  const base = baseOf(product, lots);
  const inBase = isPaidInBase(order);
  const cost = cut(inBase ? base : value, rates[liquidity], one);
  const purse = purseOf(account, product.quote);
  if (product.instType === "SWAP") settleSwap(order, purse, base, value, at);
  else {
    purseOf(account, product.base).total += sign === 1 ? base : -base;
    purse.total -= sign === 1 ? value : -value;
  }
  if (inBase) purseOf(account, product.base).total -= cost;
  else purse.total -= cost;
  order.done += lots;
  order.value += value;
  order.cost += cost;
  order.updatedAt = at;
  const complete = order.done === order.lots;
  order.state = complete ? "filled" : "partially_filled";
  // A market order's is taken back when it ends: without a price, what is left of it is not known.
  if (!complete) {
    if (order.ordType !== "market") setHold(order, orderHold(order, rates));
  } else if (order.hold !== 0n) setHold(order, 0n);
  return cost;
};

const putBack = <T>(map: Map<string, T>, name: string, before: T | undefined): void => {
  if (before === undefined) map.delete(name);
  else map.set(name, before);
};

/** Terms on which a user holds a product. */
interface Terms {
  readonly leverage: Amount;
  readonly mode: MarginMode;
}

/**
 * Sets leverage and mode and computes again all that depends on them; undone, with false, when the account cannot bear
 * it.
 */
export const changeTerms = (
  account: Account,
  product: Product,
  { leverage, mode }: Terms,
  rates: Rates,
  available: () => Amount,
): boolean => {
  const { instId } = product;
  const position = account.positions.get(instId);
  const before = {
    leverage: account.leverage.get(instId),
    mode: account.marginModes.get(instId),
    extra: position?.extra ?? 0n,
  };
  const apply = (extra: Amount): void => {
    if (position !== undefined) {
      position.extra = extra;
      setMargin(account, product, position);
    }
    for (const order of account.open) if (order.product.instId === instId) setHold(order, orderHold(order, rates));
  };
  const availableBefore = available();
  account.leverage.set(instId, leverage);
  account.marginModes.set(instId, mode);
  // Funding that changed a position's own margin ends with that margin.
  apply((before.mode ?? account.modeDefault) === mode ? before.extra : 0n);
  const left = available();
  if (left >= 0n || left >= availableBefore) return true;
  putBack(account.leverage, instId, before.leverage);
  putBack(account.marginModes, instId, before.mode);
  apply(before.extra);
  return false;
};
