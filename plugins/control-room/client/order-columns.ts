/**
 * Columns of the tables of orders and fills.
 *
 * Invariants: a rounded figure has the exact one in its title; sides are shown by an arrow and a word as well as by a
 * colour.
 */

import { decimals, type TableColumn, words } from "../../ui-kit/client/table-columns.ts";
import type { FillRow, OrderRow } from "../control-rows.ts";
import { clockText, exactInstant, gainText, phaseText, shortFigure, sideText } from "./wording.ts";

const phaseTone = ({ phase, isFinal }: OrderRow) =>
  phase === "unknown" ? "loss" : phase === "rejected" ? "amber" : isFinal && phase !== "filled" ? "soft" : "";

/** Columns of instrument and side, shared by orders and fills. */
const placeColumns: readonly TableColumn<OrderRow | FillRow>[] = [
  words("side", ({ side }) => sideText(side), {
    value: ({ side }) => side,
    tone: ({ side }) => side,
    width: 66,
    narrow: 56,
  }),
  words("instrument", ({ instId }) => instId, { width: 140, narrow: 90, grow: true }),
];

const strategyColumn = words<OrderRow | FillRow>("strategy", ({ strategy }) => strategy, { width: 120, wide: true });

/** Column of instants, of which today's have no date. */
const times = <R>(
  name: string,
  at: (row: R) => number,
  now: () => number,
  rest: Partial<TableColumn<R>>,
): TableColumn<R> =>
  words(name, (row) => clockText(at(row), now()), {
    value: at,
    title: (row) => exactInstant(at(row)),
    width: 92,
    ...rest,
  });

export const orderColumns = (now: () => number): readonly TableColumn<OrderRow>[] => [
  times("changed", ({ changedAt }) => changedAt, now, { wide: true }),
  ...placeColumns,
  decimals("price", ({ px }) => px, shortFigure, {
    text: ({ px }) => (px === "" ? "market" : shortFigure(px)),
    width: 92,
    narrow: 82,
  }),
  decimals("size", ({ qty, sz }) => qty || sz, shortFigure, {
    title: ({ qty, sz }) => (qty === "" ? `sz ${sz}` : qty),
    width: 86,
    narrow: 54,
  }),
  decimals("filled", ({ filledQty }) => filledQty, shortFigure, {
    text: ({ filledQty }) => (Number(filledQty) === 0 ? "–" : shortFigure(filledQty)),
    title: ({ filledQty, avgPx }) => (avgPx === "" ? filledQty : `${filledQty} at ${avgPx}`),
    width: 86,
    wide: true,
  }),
  words("state", ({ phase }) => phaseText(phase), {
    title: ({ reason }) => reason,
    tone: phaseTone,
    width: 104,
    narrow: 64,
  }),
  strategyColumn,
  words("slot", ({ slot }) => slot, { width: 90, wide: true }),
  words("type", ({ ordType }) => ordType, { width: 84, wide: true }),
  words("id", ({ clOrdId }) => clOrdId, { width: 150, wide: true }),
];

export const fillColumns = (now: () => number): readonly TableColumn<FillRow>[] => [
  times("time", ({ at }) => at, now, { narrow: 68 }),
  ...placeColumns,
  decimals("price", ({ px }) => px, shortFigure, { width: 92, narrow: 82 }),
  decimals("quantity", ({ qty }) => qty, shortFigure, { width: 86, narrow: 52 }),
  decimals("cost", ({ cost }) => cost, gainText, {
    label: "cost (fee)",
    text: ({ cost, currency }) => `${gainText(cost).replace("+", "")} ${currency}`,
    width: 104,
    wide: true,
  }),
  words("liquidity", ({ liquidity }) => liquidity, { width: 76, wide: true }),
  strategyColumn,
  decimals("held after", ({ position }) => position, shortFigure, { title: () => "", width: 92, wide: true }),
];
