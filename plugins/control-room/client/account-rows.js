/**
 * Money of each user's account: the balances reported by the service, next to the profits of the user's strategies.
 *
 * Invariants: a row for each user and currency; nothing is added up, over users or over currencies.
 */

/** @import {BalanceRow, UserMoneyRow} from "../control-rows.ts" */
/** @import {SourceState} from "./source-state.js" */
/** @typedef {{ user: string, currency: string, balance?: BalanceRow | undefined, money?: UserMoneyRow | undefined }} AccountRow */

/** By user, then by currency. @param {Pick<SourceState, "rows">} state @returns {AccountRow[]} */
export const accountRows = (state) => {
  const [balances, money] = [state.rows("balances"), state.rows("userMoney")];
  const rows = [...new Set([...balances.keys(), ...money.keys()])].flatMap((key) => {
    const row = balances.get(key) ?? money.get(key);
    return row === undefined
      ? []
      : [{ user: row.user, currency: row.currency, balance: balances.get(key), money: money.get(key) }];
  });
  return rows.sort((a, b) => (a.user === b.user ? order(a.currency, b.currency) : order(a.user, b.user)));
};

/** Users that trade or have an account here. @param {Pick<SourceState, "rows">} state */
export const usersOf = (state) =>
  new Set(
    [...state.rows("strategies").values(), ...state.rows("balances").values(), ...state.rows("userMoney").values()].map(
      ({ user }) => user,
    ),
  );

/** @param {string} a @param {string} b */
const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
