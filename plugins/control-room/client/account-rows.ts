/**
 * Money of each user's account: the balances reported by the service, next to the profits of the user's strategies.
 *
 * Invariants: a row for each user and currency; nothing is added up, over users or over currencies.
 */
import type { BalanceRow, UserMoneyRow } from "../control-rows.ts";
import type { SourceState } from "./source-state.ts";

export type AccountRow = {
  user: string;
  currency: string;
  balance?: BalanceRow | undefined;
  money?: UserMoneyRow | undefined;
};

/** By user, then by currency. */
export const accountRows = (state: Pick<SourceState, "rows">): AccountRow[] => {
  const [balances, money] = [state.rows("balances"), state.rows("userMoney")];
  const rows = [...new Set([...balances.keys(), ...money.keys()])].flatMap((key) => {
    const row = balances.get(key) ?? money.get(key);
    return row === undefined
      ? []
      : [{ user: row.user, currency: row.currency, balance: balances.get(key), money: money.get(key) }];
  });
  return rows.sort((a, b) => (a.user === b.user ? order(a.currency, b.currency) : order(a.user, b.user)));
};

/** Users that trade or have an account here. */
export const usersOf = (state: Pick<SourceState, "rows">) =>
  new Set(
    [...state.rows("strategies").values(), ...state.rows("balances").values(), ...state.rows("userMoney").values()].map(
      ({ user }) => user,
    ),
  );

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
