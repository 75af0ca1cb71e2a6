/**
 * What one user owns: money per currency, positions, leverage, and all orders ever sent.
 *
 * Invariants: balance = available + frozen, exactly; orders are kept in the order of their ids; a position's entry value is the
 * signed sum of what its lots cost, so profit never needs an average that was rounded.
 * Not here: when money moves (settlement.ts), how records are listed (listing.ts).
 */
import type { BalanceRecord } from "../contract/schemas.ts";
import { type Amount, spell } from "./money.ts";
import type { Order } from "./order.ts";

export interface Purse {
  total: Amount;
  frozen: Amount;
}

/** `base` and `entry` carry the sign of the position: positive long, negative short. */
export interface Position {
  base: Amount;
  entry: Amount;
  margin: Amount;
  updatedAt: number;
}

export interface Account {
  readonly uid: string;
  readonly purses: Map<string, Purse>;
  readonly positions: Map<string, Position>;
  readonly leverage: Map<string, Amount>;
  readonly marginModes: Map<string, string>;
  readonly orders: Order[];
  readonly open: Set<Order>;
  readonly byOrdId: Map<string, Order>;
  /** The latest order of each client id. */
  readonly byClOrdId: Map<string, Order>;
}

export const createAccount = (uid: string, balances: Readonly<Record<string, Amount>>): Account => ({
  uid,
  purses: new Map(Object.entries(balances).map(([currency, total]) => [currency, { total, frozen: 0n }])),
  positions: new Map(),
  leverage: new Map(),
  marginModes: new Map(),
  orders: [],
  open: new Set(),
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

export const availableOf = (account: Account, currency: string): Amount => {
  const purse = account.purses.get(currency);
  return purse === undefined ? 0n : purse.total - purse.frozen;
};

export const balanceRecordsOf = (account: Account, only?: string): BalanceRecord[] =>
  [...account.purses]
    .filter(([currency]) => only === undefined || currency === only)
    .map(([currency, { total, frozen }]) => ({
      currency,
      balance: spell(total),
      available: spell(total - frozen),
      frozen: spell(frozen),
    }));
