/**
 * Columns of the tables of strategies, positions, balances and accounts.
 *
 * Invariants: amounts of different currencies are never added; a rounded figure has the exact one in its title.
 */

import { counts, decimals, type TableColumn, words } from "../../ui-kit/client/table-columns.ts";
import type { BalanceRow, PositionRow, StrategyRow } from "../control-rows.ts";
import type { AccountRow } from "./account-rows.ts";
import { averageText, gainText, modeText, moneyText, shortFigure, toneOf } from "./wording.ts";

/** Amounts of several currencies in one cell. */
const amountsOf = ({ profit }: StrategyRow, show: (amount: string) => string) =>
  Object.entries(profit)
    .map(([currency, amount]) => `${show(amount)} ${currency}`)
    .join(", ");

const firstProfit = ({ profit }: StrategyRow) => Object.values(profit)[0];

const stateText = ({ state, mode, full }: StrategyRow) => (state === "running" ? modeText({ mode, full }) : state);

const stateTone = ({ state, mode }: StrategyRow) =>
  state === "failed" || mode === "halted" ? "loss" : mode === "reducing" ? "amber" : "";

export const strategyColumns: readonly TableColumn<StrategyRow>[] = [
  words("strategy", ({ name }) => name, {
    title: ({ name, user }) => `${name}, for user ${user}`,
    width: 130,
    narrow: 90,
    grow: true,
  }),
  words("state", stateText, {
    title: ({ reason, error = "" }) => reason || error,
    tone: stateTone,
    width: 84,
    narrow: 80,
  }),
  decimals("profit", firstProfit, gainText, {
    text: (row) => amountsOf(row, gainText) || "–",
    title: (row) => amountsOf(row, (amount) => amount),
    tone: (row) => toneOf(firstProfit(row)),
    width: 130,
    narrow: 128,
  }),
  counts("open", ({ openOrders }) => openOrders, { label: "open orders", width: 62, narrow: 46 }),
  counts("fills", ({ fills }) => fills, { width: 66, wide: true }),
  counts("weight", ({ weight }) => weight, { label: "weight spent", width: 80, wide: true }),
];

const isFlat = ({ qty }: PositionRow) => Number(qty) === 0;

export const positionColumns = (close: (row: PositionRow) => void): readonly TableColumn<PositionRow>[] => [
  words("strategy", ({ strategy }) => strategy, { width: 90, narrow: 62, grow: true }),
  words("instrument", ({ instId }) => instId, { width: 132, narrow: 104 }),
  decimals("quantity", ({ qty }) => qty, shortFigure, {
    text: (row) =>
      isFlat(row) ? "flat" : `${row.qty.startsWith("-") ? "▼" : "▲"} ${shortFigure(row.qty.replace("-", ""))}`,
    width: 92,
    narrow: 64,
  }),
  {
    name: "entry",
    text: (row) => (isFlat(row) ? "–" : averageText(row.avgPx)),
    title: ({ avgPx }) => avgPx,
    width: 92,
    wide: true,
  },
  {
    name: "mark",
    text: (row) => (isFlat(row) ? "–" : shortFigure(row.markPx)),
    title: ({ markPx }) => markPx,
    width: 92,
    wide: true,
  },
  decimals("unrealised", ({ unrealised }) => unrealised, gainText, {
    title: ({ unrealised, currency }) => `${unrealised} ${currency}`,
    tone: ({ unrealised }) => toneOf(unrealised),
    width: 104,
    wide: true,
  }),
  decimals("fees", ({ fees }) => fees, moneyText, { width: 78, wide: true }),
  decimals("profit", ({ profit }) => profit, gainText, {
    text: ({ profit, currency }) => `${gainText(profit)} ${currency}`,
    title: ({ profit, realised, currency }) => `${profit} ${currency}, ${realised} of it realised`,
    tone: ({ profit }) => toneOf(profit),
    width: 156,
    narrow: 117,
  }),
  {
    name: "",
    label: "close",
    text: (row) => (isFlat(row) ? "" : "Close …"),
    title: (row) => (isFlat(row) ? "" : `close the position of ${row.strategy} in ${row.instId}`),
    press: close,
    width: 74,
    wide: true,
  },
];

const balanceText = (balance: BalanceRow | undefined) =>
  balance === undefined ? "–" : `${shortFigure(balance.balance, 4)}${balance.stale ? " (old)" : ""}`;

export const balanceColumns: readonly TableColumn<BalanceRow>[] = [
  words("currency", ({ currency }) => currency, { width: 80, grow: true }),
  decimals<BalanceRow>("balance", ({ balance }) => balance, shortFigure, { text: balanceText, width: 150 }),
];

type Amount = "realised" | "unrealised" | "fees" | "profit";

/** Column of an amount of a user's strategies. */
const moneyColumn = (name: Amount, show: typeof moneyText, rest: { width: number; narrow?: number; wide?: boolean }) =>
  decimals<AccountRow>(name, ({ money }) => money?.[name], show, rest);

/** The same, in the colour of its sign. */
const gainColumn: typeof moneyColumn = (name, show, rest) => ({
  ...moneyColumn(name, show, rest),
  tone: ({ money }) => toneOf(money?.[name]),
});

export const accountColumns: readonly TableColumn<AccountRow>[] = [
  words("user", ({ user }) => user, { width: 110, narrow: 70, grow: true }),
  words("currency", ({ currency }) => currency, { width: 80, narrow: 70 }),
  decimals("balance", ({ balance }) => balance?.balance, shortFigure, {
    text: ({ balance }) => balanceText(balance),
    width: 130,
    narrow: 110,
  }),
  moneyColumn("realised", gainText, { width: 96, wide: true }),
  gainColumn("unrealised", gainText, { width: 96, wide: true }),
  moneyColumn("fees", moneyText, { width: 76, wide: true }),
  gainColumn("profit", gainText, { width: 100, narrow: 90 }),
];
