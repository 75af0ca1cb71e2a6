/**
 * Columns of the tables of orders and fills.
 *
 * Invariants: a rounded figure has the exact one in its title; sides are shown by an arrow and a word as well as by a colour.
 */

import type { FillRow, OrderRow } from "../control-rows.ts";
import type { TableColumn } from "./virtual-table.tsx";
import { clockText, exactInstant, gainText, phaseText, shortFigure, sideText } from "./wording.ts";

const tone = ({ phase, isFinal }: OrderRow) =>
  phase === "unknown" ? "loss" : phase === "rejected" ? "amber" : isFinal && phase !== "filled" ? "soft" : "";

/** Columns of instrument and side, shared by orders and fills. */
const placeColumns: readonly TableColumn<OrderRow | FillRow>[] = [
  {
    name: "side",
    text: ({ side }) => sideText(side),
    value: ({ side }) => side,
    tone: ({ side }) => side,
    isText: true,
    width: 66,
    narrow: 56,
  },
  {
    name: "instrument",
    text: ({ instId }) => instId,
    value: ({ instId }) => instId,
    isText: true,
    width: 140,
    narrow: 90,
    grow: true,
  },
];
const strategyColumn: TableColumn<OrderRow | FillRow> = {
  name: "strategy",
  text: ({ strategy }) => strategy,
  value: ({ strategy }) => strategy,
  isText: true,
  width: 120,
  wide: true,
};

export const orderColumns = (now: () => number): readonly TableColumn<OrderRow>[] => [
  {
    name: "changed",
    text: ({ changedAt }) => clockText(changedAt, now()),
    value: ({ changedAt }) => changedAt,
    title: ({ changedAt }) => exactInstant(changedAt),
    isText: true,
    width: 92,
    wide: true,
  },
  ...placeColumns,
  {
    name: "price",
    text: ({ px }) => (px === "" ? "market" : shortFigure(px)),
    value: ({ px }) => Number(px),
    title: ({ px }) => px,
    width: 92,
    narrow: 82,
  },
  {
    name: "size",
    text: ({ qty, sz }) => shortFigure(qty || sz),
    value: ({ qty, sz }) => Number(qty || sz),
    title: ({ qty, sz }) => (qty === "" ? `sz ${sz}` : qty),
    width: 86,
    narrow: 54,
  },
  {
    name: "filled",
    text: ({ filledQty }) => (Number(filledQty) === 0 ? "–" : shortFigure(filledQty)),
    value: ({ filledQty }) => Number(filledQty),
    title: ({ filledQty, avgPx }) => (avgPx === "" ? filledQty : `${filledQty} at ${avgPx}`),
    width: 86,
    wide: true,
  },
  {
    name: "state",
    text: ({ phase }) => phaseText(phase),
    value: ({ phase }) => phase,
    title: ({ reason }) => reason,
    tone,
    isText: true,
    width: 104,
    narrow: 64,
  },
  strategyColumn,
  { name: "slot", text: ({ slot }) => slot, value: ({ slot }) => slot, isText: true, width: 90, wide: true },
  {
    name: "type",
    text: ({ ordType }) => ordType,
    value: ({ ordType }) => ordType,
    isText: true,
    width: 84,
    wide: true,
  },
  { name: "id", text: ({ clOrdId }) => clOrdId, value: ({ clOrdId }) => clOrdId, isText: true, width: 150, wide: true },
];

export const fillColumns = (now: () => number): readonly TableColumn<FillRow>[] => [
  {
    name: "time",
    text: ({ at }) => clockText(at, now()),
    value: ({ at }) => at,
    title: ({ at }) => exactInstant(at),
    isText: true,
    width: 92,
    narrow: 68,
  },
  ...placeColumns,
  {
    name: "price",
    text: ({ px }) => shortFigure(px),
    value: ({ px }) => Number(px),
    title: ({ px }) => px,
    width: 92,
    narrow: 82,
  },
  {
    name: "quantity",
    text: ({ qty }) => shortFigure(qty),
    value: ({ qty }) => Number(qty),
    title: ({ qty }) => qty,
    width: 86,
    narrow: 52,
  },
  {
    name: "cost",
    label: "cost (fee)",
    text: ({ cost, currency }) => `${gainText(cost).replace("+", "")} ${currency}`,
    value: ({ cost }) => Number(cost),
    title: ({ cost }) => cost,
    width: 104,
    wide: true,
  },
  {
    name: "as",
    text: ({ liquidity }) => liquidity,
    value: ({ liquidity }) => liquidity,
    isText: true,
    width: 66,
    wide: true,
  },
  strategyColumn,
  {
    name: "held after",
    text: ({ position }) => shortFigure(position),
    value: ({ position }) => Number(position),
    width: 92,
    wide: true,
  },
];
