/**
 * Figures of a run in words: the rows of a report, on a terminal and on pages.
 *
 * Invariants: pure text from the report alone, rounded for show; what has no value is a dash; what a run had none of is
 * left out.
 * Not here: the figures (report.ts), statistics of trades (trade-facts.ts), their place on a page (report-text.ts,
 * plugins/report-html).
 */
import { abs, compare, div, isPositive, isZero, mul } from "../decimal.ts";
import { amount, counted, duration, grouped, percent, placesFor, signed } from "./number-format.ts";
import type { WaitedFor } from "./quota-minutes.ts";
import { feeBpsOf, grossOf, type Latencies, type Liquidity, type RunReport, type StrategyReport } from "./report.ts";

/** A figure: what it is, its value, and what explains it. Gains and losses have a sign. */
export type Fact = readonly [label: string, value: string, note?: string];

export const moneyFacts = (report: RunReport, places: number): readonly Fact[] => {
  const { pnl, fees, volume, turnover, drawdown, equity, realised, unrealised, elsewhere } = report;
  const start = equity[0]?.equity ?? "0";
  const cost = abs(fees);
  return [
    ["result", signed(pnl, places), isPositive(start) ? `${signed(div(mul(pnl, "100"), start, 4), 2)} %` : ""],
    ["before fees", signed(grossOf(report), places)],
    ["  realised", signed(realised, places), "closed"],
    ["  unrealised", signed(unrealised, places), "still held"],
    ...(isZero(elsewhere) ? [] : [["  elsewhere", signed(elsewhere, places), "of others"] satisfies Fact]),
    [
      compare(fees, "0") < 0 ? "rebates earned" : "fees paid",
      amount(cost, places),
      `${amount(feeBpsOf(cost, volume), 2)} bp`,
    ],
    ...chargedFacts(report, places),
    ["volume", amount(volume, places), isPositive(start) ? `${amount(turnover, 2)} × equity` : ""],
    ["drawdown", amount(drawdown.max, places), isPositive(start) ? `${amount(drawdown.maxPercent, 2)} %` : ""],
  ];
};

/** Charges and payments of the service other than fees. */
const chargedFacts = ({ funding, liquidations }: RunReport, places: number): readonly Fact[] => [
  ...(funding === undefined
    ? []
    : [
        [
          compare(funding, "0") < 0 ? "funding received" : "funding paid",
          amount(abs(funding), places),
          "longs and shorts",
        ] satisfies Fact,
      ]),
  ...(liquidations === undefined
    ? []
    : ([
        ["LIQUIDATED", counted(liquidations.count, "position"), amount(liquidations.value, places)],
        ["  fee", amount(liquidations.fees, places), `${amount(liquidations.covered, places)} covered`],
      ] satisfies readonly Fact[])),
];

export const orderFacts = ({ orders, fills, open, liquidity }: RunReport, places: number): readonly Fact[] => {
  const { placed, filled, canceled, rejected, refused } = orders;
  // A run also ends orders of those before it, which it did not place.
  const share = (ended: number): string => (ended > placed ? "earlier ones too" : percent(ended, placed));
  const rate = ({ fees, volume }: Liquidity): string =>
    isPositive(volume) ? `at ${amount(feeBpsOf(fees, volume), 2)} bp` : "";
  return [
    ["placed", grouped(placed), counted(fills, "fill")],
    ["filled", grouped(filled), share(filled)],
    ["canceled", grouped(canceled), share(canceled)],
    ["rejected", grouped(rejected), "by the service"],
    ["refused", grouped(refused), "before sending"],
    ["open at end", grouped(open.count), open.count === 0 ? "" : amount(open.notional, places)],
    ["maker fills", grouped(liquidity.maker.fills), rate(liquidity.maker)],
    ["taker fills", grouped(liquidity.taker.fills), rate(liquidity.taker)],
  ];
};

interface StrategyColumn {
  readonly name: string;
  /** A narrow page keeps the lowest; one without a rank is for wide pages alone. */
  readonly rank?: number;
  readonly cell: (strategy: StrategyReport, places: number) => string;
}

const strategyColumns: readonly StrategyColumn[] = [
  { name: "placed", rank: 1, cell: ({ placed }) => grouped(placed) },
  { name: "filled", rank: 2, cell: ({ filled }) => grouped(filled) },
  { name: "canceled", rank: 6, cell: ({ canceled }) => grouped(canceled) },
  { name: "rejected", rank: 8, cell: ({ rejected }) => grouped(rejected) },
  { name: "refused", rank: 9, cell: ({ refused }) => grouped(refused) },
  { name: "open", cell: ({ open }) => grouped(open.count) },
  { name: "fills", rank: 7, cell: ({ fills }) => grouped(fills) },
  { name: "result", rank: 0, cell: ({ pnl }, places) => signed(pnl, places) },
  { name: "realised", cell: ({ realised }, places) => signed(realised, places) },
  { name: "unrealised", cell: ({ unrealised }, places) => signed(unrealised, places) },
  { name: "volume", cell: ({ volume }, places) => amount(volume, places) },
  { name: "fees", rank: 5, cell: ({ fees }, places) => amount(fees, places) },
  { name: "funding", rank: 5.5, cell: ({ funding = "0" }, places) => amount(funding, places) },
  { name: "weight", rank: 3, cell: ({ weight }) => grouped(weight) },
  { name: "delay", rank: 4, cell: ({ heldMs }) => duration(heldMs) },
];

/** Columns that have a value in a run. */
export const columnsFor = ({ perStrategy }: RunReport): readonly StrategyColumn[] => {
  const funded = Object.values(perStrategy).some(({ funding }) => funding !== undefined);
  return strategyColumns.filter(({ name }) => funded || name !== "funding");
};

export const strategyName = (name: string, { state }: StrategyReport): string =>
  `${name}${state === "running" ? "" : ` (${state})`}`;

export const positionColumns = ["strategy", "instrument", "quantity", "average", "mark", "unrealised"] as const;

export const positionRows = ({ positions }: RunReport, places: number): readonly (readonly string[])[] =>
  positions.map(({ strategy, instId, qty, averagePx, markPx, unrealised }) => [
    strategy,
    instId,
    isPositive(qty) ? `+${qty}` : qty,
    price(averagePx),
    price(markPx),
    signed(unrealised, places),
  ]);

/** Number of digits that distinguish prices of this size. */
const price = (px: string): string => amount(px, Math.max(2, placesFor(px)));

export const waitNames: Readonly<Record<WaitedFor, string>> = {
  uid: "weight",
  key: "the key's second",
  ip: "the address",
  other: "other layers",
  turn: "earlier actions",
};

export const windowNames = { uid: "weight a minute", key: "requests a second", ip: "requests a minute" } as const;

/** `tone` is for what went wrong. */
export const quotaSentence = ({ quota }: RunReport, tone: (text: string) => string = String): string => {
  const { requests, weight, rejected429, blockedMinutes, reserveUsed } = quota;
  const refusals = rejected429 === 0 ? "no 429" : tone(`${grouped(rejected429)} × 429`);
  const blocked = blockedMinutes === 0 ? "no minute blocked" : tone(`${counted(blockedMinutes, "minute")} blocked`);
  const reserve = `reserve used ${reserveUsed === 0 ? "never" : counted(reserveUsed, "time")}`;
  return `${counted(requests, "request")}, weight ${grouped(weight)}, ${refusals}, ${blocked}, ${reserve}`;
};

interface DelayFact {
  readonly what: string;
  readonly p50: string;
  readonly p99: string;
  readonly note: string;
}

/** Durations of actions. */
export const delayFacts = ({ quota: { heldMs }, latency: { place, cancel } }: RunReport): readonly DelayFact[] => {
  const fact = (what: string, { count, p50, p99 }: Latencies, note: string): DelayFact =>
    count === 0 ? { what, p50: "-", p99: "-", note: "none" } : { what, p50: duration(p50), p99: duration(p99), note };
  return [
    fact("scheduling delay", heldMs, `max ${duration(heldMs.max)}`),
    fact("submit to placed", place, counted(place.count, "order")),
    fact("submit to canceled", cancel, counted(cancel.count, "cancel")),
  ];
};
