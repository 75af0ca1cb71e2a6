/**
 * Rows of money: positions and profits of strategies, together and by user, and the accounts as reported by the
 * service.
 *
 * Invariants: pure; exact decimals; only amounts of one currency are added.
 */
import { add } from "sluice";
import type { StrategyView } from "sluice/extension";
import {
  type ByCurrency,
  type MoneyRow,
  type PositionRow,
  positionKey,
  type UserMoneyRow,
  userKey,
} from "./control-rows.ts";

interface MoneyRows {
  readonly positions: ReadonlyMap<string, PositionRow>;
  readonly money: ReadonlyMap<string, MoneyRow>;
  readonly userMoney: ReadonlyMap<string, UserMoneyRow>;
}

export const moneyRows = (strategies: readonly StrategyView[]): MoneyRows => {
  const [positions, money, userMoney] = [
    new Map<string, PositionRow>(),
    new Map<string, MoneyRow>(),
    new Map<string, UserMoneyRow>(),
  ];
  for (const { name: strategy, user, positions: held } of strategies) {
    for (const position of held.values()) {
      const { currency, instId } = position;
      const key = userKey(user, currency);
      positions.set(positionKey(strategy, instId), { strategy, ...position });
      money.set(currency, sumOf(money.get(currency), position));
      userMoney.set(key, { user, ...sumOf(userMoney.get(key), position) });
    }
  }
  return { positions, money, userMoney };
};

const sumOf = (row: MoneyRow | undefined, { currency, profit, realised, unrealised, fees }: MoneyRow): MoneyRow =>
  row === undefined
    ? { currency, profit, realised, unrealised, fees }
    : {
        currency,
        profit: add(row.profit, profit),
        realised: add(row.realised, realised),
        unrealised: add(row.unrealised, unrealised),
        fees: add(row.fees, fees),
      };

/** Profit of one strategy by settle currency. */
export const profitOf = ({ positions }: StrategyView): ByCurrency => {
  const profit = new Map<string, string>();
  for (const position of positions.values())
    profit.set(position.currency, add(profit.get(position.currency) ?? "0", position.profit));
  return Object.fromEntries(profit);
};

/** Rows of a section by their keys, where those of one user are replaced. */
export const withRowsOf = <F extends string, R extends { readonly user: string } & Readonly<Record<F, unknown>>>(
  user: string,
  before: readonly R[],
  rows: readonly R[],
  field: F,
): readonly (readonly [key: string, row: R])[] =>
  [...before.filter((row) => row.user !== user), ...rows].map(
    (row) => [userKey(row.user, String(row[field])), row] as const,
  );
