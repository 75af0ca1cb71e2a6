/**
 * User account: money per currency, positions, leverage, open orders, and completed ones as long as the service keeps
 * them.
 *
 * Invariants: orders are kept in the order of their ids; a position's entry value is the signed sum of what its lots
 * cost, so profit never needs an average that was rounded.
 * Not here: when money moves (settlement.ts, funding.ts, liquidation.ts), what is available (margin.ts), records
 * (order.ts, queries.ts), how long orders are kept (retention.ts).
 */
import type { InstType } from "../contract/inst-id.ts";
import type { MarginMode, OrdType, SzUnit } from "../contract/profile.ts";
import type { OrderState } from "../contract/schemas.ts";
import type { Product } from "./instrument.ts";
import type { Amount, Rates } from "./money.ts";

/** 1 buys, -1 sells: also the sign that makes a better price of that side the larger number. */
export type Sign = 1 | -1;

/** One order from the first check of its price and size to its end. */
export interface Order {
  /**
   * Position in the service's sequence of all orders; `ordId` is this number from the first id on. Given when it is
   * accepted.
   */
  seq: number;
  ordId: string;
  readonly clOrdId: string;
  readonly account: Account;
  readonly product: Product;
  readonly sign: Sign;
  readonly ordType: OrdType;
  readonly reduceOnly: boolean;
  readonly unit: SzUnit;
  sz: Amount;
  /** The size as text. */
  szText: string;
  /** Ticks; 0 for market orders, which have no price. */
  px: number;
  /**
   * Wanted lots; fixed once accepted. Market orders sized in quote currency have a budget instead of a number of lots.
   */
  lots: number;
  budget: Amount | undefined;
  /** Lots that would open or enlarge a position, for which margin is set aside. */
  openingLots: number;
  readonly createdAt: number;
  /** The instant of its creation as records show it. */
  readonly createdText: string;
  updatedAt: number;
  state: OrderState;
  done: number;
  /** The price of all its executions, in ticks; 0 before the first, NaN if the prices differ. */
  paidPx: number;
  /**
   * Price, value and cost of all executions, as the only fill reported them. Undefined if there are several fills, or
   * the fill was not reported.
   */
  pxText: string | undefined;
  valueText: string | undefined;
  feeText: string | undefined;
  value: Amount;
  cost: Amount;
  hold: Amount;
  /** Currency that pays for it; known once the first amount is set aside. */
  purse: Purse | undefined;
  /** Outside quantity in front of this order at its price; infinite while no recording has shown that price yet. */
  ahead: number;
  /**
   * Outside quantity behind it, according to the displayed quantity. Used only if cancels are distributed over the
   * queue.
   */
  behind: number;
  /** True if it changed in the event that is being applied and its listeners have not been notified. */
  touched: boolean;
}

/** Volume of a user by day, and the fee rates that follow from it today. */
export interface Traded {
  readonly days: Map<number, Amount>;
  today: number;
  rates: Rates;
}

export interface Purse {
  total: Amount;
  frozen: Amount;
}

/** `base` and `entry` carry the sign of the position: positive long, negative short. */
export interface Position {
  readonly instId: string;
  base: Amount;
  entry: Amount;
  margin: Amount;
  /** Funding that was added to the margin of an isolated position; negative where it was taken. */
  extra: Amount;
  updatedAt: number;
}

export interface Account {
  readonly uid: string;
  readonly purses: Map<string, Purse>;
  readonly positions: Map<string, Position>;
  /** The same positions in the order in which they were opened. */
  readonly held: Position[];
  /** Leverage by product. Other products have the default. */
  readonly leverage: Map<string, Amount>;
  readonly leverageDefault: Amount;
  readonly marginModes: Map<string, MarginMode>;
  readonly modeDefault: MarginMode;
  /** Kept only if fees depend on it. */
  readonly traded: Partial<Record<InstType, Traded>>;
  /** Orders of the account. Some may have been dropped already: `byOrdId` does not contain those. */
  readonly orders: Order[];
  /** Completed orders in the order of their ends, from `first` on. Earlier ones were dropped. */
  readonly ended: { readonly orders: Order[]; first: number };
  /** Open orders in the order of their ids. */
  readonly open: Order[];
  readonly byOrdId: Map<string, Order>;
  /** The latest order of each client id. */
  readonly byClOrdId: Map<string, Order>;
}

export type Defaults = Pick<Account, "leverageDefault" | "modeDefault">;

export const createAccount = (
  uid: string,
  balances: Readonly<Record<string, Amount>>,
  defaults: Defaults,
): Account => ({
  uid,
  ...defaults,
  purses: new Map(Object.entries(balances).map(([currency, total]) => [currency, { total, frozen: 0n }])),
  positions: new Map(),
  held: [],
  leverage: new Map(),
  marginModes: new Map(),
  traded: {},
  orders: [],
  ended: { orders: [], first: 0 },
  open: [],
  byOrdId: new Map(),
  byClOrdId: new Map(),
});

export const purseOf = (account: Account, currency: string): Purse => {
  let purse = account.purses.get(currency);
  if (purse === undefined) {
    purse = { total: 0n, frozen: 0n };
    account.purses.set(currency, purse);
  }
  return purse;
};

/** Index of the first order whose sequence number is at least `seq`; `orders` are sorted by sequence number. */
export const indexFrom = (orders: readonly Order[], seq: number): number => {
  let low = 0;
  let high = orders.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((orders[middle] as Order).seq < seq) low = middle + 1;
    else high = middle;
  }
  return low;
};

/**
 * Removes `one` from a list and keeps the order of the rest. The search begins at `from`. Unlike a set or a map, a list
 * can be walked without allocation.
 */
export const takeOut = <T>(list: T[], one: T, from = 0): void => {
  const index = list.indexOf(one, from);
  if (index < 0) return;
  for (let next = index + 1; next < list.length; next++) list[next - 1] = list[next] as T;
  list.pop();
};
