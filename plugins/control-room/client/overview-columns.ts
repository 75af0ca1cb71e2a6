/**
 * Columns of the tables of strategies, positions, balances and accounts.
 *
 * Invariants: amounts of different currencies are never added; a rounded figure has the exact one in its title.
 */
import { figure } from "../../ui-kit/client/texts.ts";
import type { BalanceRow, PositionRow, StrategyRow } from "../control-rows.ts";
import type { AccountRow } from "./account-rows.ts";
import type { TableColumn } from "./virtual-table.tsx";
import { averageText, gainText, modeText, moneyText, shortFigure, toneOf } from "./wording.ts";

/** Amounts of several currencies in one cell. */
const amountsText = (amounts: Readonly<Record<string, string>>) => {
  const all = Object.entries(amounts);
  return all.length === 0 ? "–" : all.map(([currency, amount]) => `${gainText(amount)} ${currency}`).join(", ");
};

const firstProfit = ({ profit }: StrategyRow) => Object.values(profit)[0];

const stateText = ({ state, mode, full }: StrategyRow) => (state === "running" ? modeText({ mode, full }) : state);

export const strategyColumns: readonly TableColumn<StrategyRow>[] = [
  {
    name: "strategy",
    text: ({ name }) => name,
    value: ({ name }) => name,
    title: ({ name, user }) => `${name}, for user ${user}`,
    isText: true,
    width: 130,
    narrow: 90,
    grow: true,
  },
  {
    name: "state",
    text: stateText,
    value: stateText,
    title: ({ reason, error = "" }) => reason || error,
    tone: ({ state, mode }) => (state === "failed" || mode === "halted" ? "loss" : mode === "reducing" ? "amber" : ""),
    isText: true,
    width: 84,
    narrow: 80,
  },
  {
    name: "profit",
    text: ({ profit }) => amountsText(profit),
    value: (row) => Number(firstProfit(row) ?? 0),
    title: ({ profit }) =>
      Object.entries(profit)
        .map(([currency, amount]) => `${amount} ${currency}`)
        .join(", "),
    tone: (row) => toneOf(firstProfit(row)),
    width: 130,
    narrow: 128,
  },
  {
    name: "open",
    label: "open orders",
    text: ({ openOrders }) => figure(openOrders),
    value: ({ openOrders }) => openOrders,
    width: 62,
    narrow: 46,
  },
  { name: "fills", text: ({ fills }) => figure(fills), value: ({ fills }) => fills, width: 66, wide: true },
  {
    name: "weight",
    label: "weight spent",
    text: ({ weight }) => figure(weight),
    value: ({ weight }) => weight,
    width: 80,
    wide: true,
  },
];

export const positionColumns = (close: (row: PositionRow) => void): readonly TableColumn<PositionRow>[] => [
  {
    name: "strategy",
    text: ({ strategy }) => strategy,
    value: ({ strategy }) => strategy,
    isText: true,
    width: 90,
    narrow: 62,
    grow: true,
  },
  {
    name: "instrument",
    text: ({ instId }) => instId,
    value: ({ instId }) => instId,
    isText: true,
    width: 132,
    narrow: 104,
  },
  {
    name: "quantity",
    text: ({ qty }) =>
      Number(qty) === 0 ? "flat" : `${Number(qty) > 0 ? "▲" : "▼"} ${shortFigure(qty.replace("-", ""))}`,
    value: ({ qty }) => Number(qty),
    title: ({ qty }) => qty,
    width: 92,
    narrow: 64,
  },
  {
    name: "entry",
    text: ({ avgPx, qty }) => (Number(qty) === 0 ? "–" : averageText(avgPx)),
    title: ({ avgPx }) => avgPx,
    width: 92,
    wide: true,
  },
  {
    name: "mark",
    text: ({ markPx, qty }) => (Number(qty) === 0 ? "–" : shortFigure(markPx)),
    title: ({ markPx }) => markPx,
    width: 92,
    wide: true,
  },
  {
    name: "unrealised",
    text: ({ unrealised }) => gainText(unrealised),
    value: ({ unrealised }) => Number(unrealised),
    title: ({ unrealised, currency }) => `${unrealised} ${currency}`,
    tone: ({ unrealised }) => toneOf(unrealised),
    width: 104,
    wide: true,
  },
  {
    name: "fees",
    text: ({ fees }) => moneyText(fees),
    value: ({ fees }) => Number(fees),
    title: ({ fees }) => fees,
    width: 78,
    wide: true,
  },
  {
    name: "profit",
    text: ({ profit, currency }) => `${gainText(profit)} ${currency}`,
    value: ({ profit }) => Number(profit),
    title: ({ profit, realised, currency }) => `${profit} ${currency}, of it realised ${realised}`,
    tone: ({ profit }) => toneOf(profit),
    width: 156,
    narrow: 117,
  },
  {
    name: "",
    label: "close",
    text: ({ qty }) => (Number(qty) === 0 ? "" : "Close …"),
    title: ({ qty, strategy, instId }) => (Number(qty) === 0 ? "" : `close what ${strategy} holds of ${instId}`),
    press: close,
    width: 74,
    wide: true,
  },
];

export const balanceColumns: readonly TableColumn<BalanceRow>[] = [
  {
    name: "currency",
    text: ({ currency }) => currency,
    value: ({ currency }) => currency,
    isText: true,
    width: 80,
    grow: true,
  },
  {
    name: "balance",
    text: ({ balance, stale }) => `${shortFigure(balance, 4)}${stale ? " (old)" : ""}`,
    value: ({ balance }) => Number(balance),
    title: ({ balance }) => balance,
    width: 150,
  },
];

/** Column of an amount of a user's strategies. */
const moneyColumn = (
  name: "realised" | "unrealised" | "fees" | "profit",
  {
    text,
    tone,
    ...sizes
  }: { text: (amount?: string) => string; tone?: typeof toneOf; width: number; narrow?: number; wide?: boolean },
): TableColumn<AccountRow> => ({
  name,
  text: ({ money }) => text(money?.[name]),
  value: ({ money }) => amountValue(money?.[name]),
  title: ({ money }) => money?.[name] ?? "",
  ...(tone !== undefined && { tone: ({ money }: AccountRow) => tone(money?.[name]) }),
  ...sizes,
});

const amountValue = (text: string | undefined) => Number(text ?? 0);

export const accountColumns: readonly TableColumn<AccountRow>[] = [
  {
    name: "user",
    text: ({ user }) => user,
    value: ({ user }) => user,
    isText: true,
    width: 110,
    narrow: 70,
    grow: true,
  },
  {
    name: "currency",
    text: ({ currency }) => currency,
    value: ({ currency }) => currency,
    isText: true,
    width: 80,
    narrow: 70,
  },
  {
    name: "balance",
    text: ({ balance }) =>
      balance === undefined ? "–" : `${shortFigure(balance.balance, 4)}${balance.stale ? " (old)" : ""}`,
    value: ({ balance }) => amountValue(balance?.balance),
    title: ({ balance }) => balance?.balance ?? "",
    width: 130,
    narrow: 110,
  },
  moneyColumn("realised", { text: gainText, width: 96, wide: true }),
  moneyColumn("unrealised", { text: gainText, tone: toneOf, width: 96, wide: true }),
  moneyColumn("fees", { text: moneyText, width: 76, wide: true }),
  moneyColumn("profit", { text: gainText, tone: toneOf, width: 100, narrow: 90 }),
];
