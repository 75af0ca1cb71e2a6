/**
 * Page data of a backtest: its details as columns.
 *
 * Invariants: everything is in: no fill, order or trade is left out; what is named often is a word once and then its
 * place; a fill whose order is not known is marked as such.
 * Not here: shapes (page-data.ts), how they travel (packing.ts).
 */

import type { FillDetail, OrderLife, PriceLine, QuotaMinute, RunDetails, RunReport } from "sluice/backtest";
import { layers } from "sluice/dialect";
import type {
  FillData,
  InstrumentData,
  LineData,
  OrderData,
  PageData,
  QuotaData,
  TradeData,
} from "sluice/plugins/ui-kit";

/** Words, each with a place. */
class Words {
  readonly list: string[] = [];
  readonly #places = new Map<string, number>();

  constructor(known: readonly string[] = []) {
    for (const word of known) this.at(word);
  }

  at(word: string): number {
    let place = this.#places.get(word);
    if (place === undefined) {
      place = this.list.push(word) - 1;
      this.#places.set(word, place);
    }
    return place;
  }
}

interface Sheet {
  readonly startAt: number;
  readonly instruments: Words;
  readonly strategies: Words;
  readonly slots: Words;
  readonly types: Words;
  readonly phases: Words;
  readonly reasons: Words;
  readonly endings: Words;
  readonly since: (at: number) => number;
  readonly spanMs: number;
}

/** `places`: fraction digits of money. */
export const pageContents = (report: RunReport, details: RunDetails, places: number): PageData => {
  const startAt = Date.parse(report.fixture.startAt);
  const sheet: Sheet = {
    startAt,
    instruments: new Words(tradedFirst(details)),
    strategies: new Words(Object.keys(report.perStrategy)),
    slots: new Words(),
    types: new Words(),
    phases: new Words(),
    reasons: new Words(),
    endings: new Words(),
    spanMs: Math.max(1, Date.parse(report.fixture.endAt) - startAt),
    // Microseconds are what a recording keeps.
    since: (at) => Math.round((at - startAt) * 1_000) / 1_000,
  };
  const orders = ordersOf(details, sheet);
  const { benchmark } = details;
  return {
    startAt,
    spanMs: sheet.spanMs,
    currency: report.currency,
    places,
    equity: lineOf("equity", details.equity, sheet),
    byStrategy: details.strategies.map(({ strategy, points }) => lineOf(strategy, points, sheet)),
    ...(benchmark !== undefined && { benchmark: lineOf(`buy and hold ${benchmark.instId}`, benchmark.points, sheet) }),
    fills: fillsOf(details, sheet),
    orders,
    trades: tradesOf(details, sheet),
    quota: quotaOf(details, sheet),
    plots: details.plots.map(({ strategy, name, pane, instId, points }) => ({
      strategy,
      pane,
      instrument: instId === undefined ? -1 : sheet.instruments.at(instId),
      name: details.plots.some((other) => other.name === name && other.strategy !== strategy)
        ? `${name} of ${strategy}`
        : name,
      at: column(points, ({ at }) => sheet.since(at)),
      value: column(points, ({ value }) => value),
    })),
    // Last, as the columns above may bring words of their own.
    instruments: sheet.instruments.list.map((instId) => instrumentOf(instId, details, sheet)),
    strategies: sheet.strategies.list,
    slots: sheet.slots.list,
    types: sheet.types.list,
    phases: sheet.phases.list,
    reasons: sheet.reasons.list,
    endings: sheet.endings.list,
  };
};

/** Those with most fills first. */
const tradedFirst = ({ fills, prices }: RunDetails): readonly string[] => {
  const counts = new Map(prices.map(({ instId }) => [instId, 0]));
  for (const { instId } of fills) counts.set(instId, (counts.get(instId) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([instId]) => instId);
};

const column = <T>(rows: readonly T[], value: (row: T) => number): Float64Array => Float64Array.from(rows, value);

const lineOf = (name: string, points: RunDetails["equity"], { since }: Sheet): LineData => ({
  name,
  at: column(points, ({ at }) => since(at)),
  value: column(points, ({ equity }) => Number(equity)),
});

const noPrices: Omit<PriceLine, "instId"> = {
  of: "trade",
  barMs: 0,
  unit: "1",
  at: [],
  open: [],
  high: [],
  low: [],
  close: [],
};

const instrumentOf = (instId: string, { prices, positions }: RunDetails, { since, spanMs }: Sheet): InstrumentData => {
  const line = prices.find((one) => one.instId === instId) ?? noPrices;
  const points = positions.find((one) => one.instId === instId)?.points ?? [];
  return {
    instId,
    base: instId.split("-")[0] ?? "",
    places: line.unit.split(".")[1]?.length ?? 0,
    of: line.of,
    barMs: line.barMs,
    unit: Number(line.unit),
    at: column(line.at, since),
    open: Float64Array.from(line.open),
    high: Float64Array.from(line.high),
    low: Float64Array.from(line.low),
    close: Float64Array.from(line.close),
    position: held(
      points.map(({ at }) => since(at)),
      points.map(({ qty }) => Number(qty)),
      spanMs,
    ),
  };
};

/** From nothing at the start to the end; nothing where nothing was ever held. */
const held = (at: readonly number[], qty: readonly number[], spanMs: number): InstrumentData["position"] =>
  at.length === 0
    ? { at: Float64Array.of(), qty: Float64Array.of() }
    : {
        at: Float64Array.from([Math.min(0, at[0] ?? 0), ...at, Math.max(spanMs, at.at(-1) ?? 0)]),
        qty: Float64Array.from([0, ...qty, qty.at(-1) ?? 0]),
      };

const fillsOf = ({ fills, orders }: RunDetails, { since, instruments, strategies }: Sheet): FillData => {
  const places = new Map(orders.map(({ clOrdId }, index) => [clOrdId, index]));
  const of = (value: (fill: FillDetail) => number): Float64Array => column(fills, value);
  return {
    at: of(({ at }) => since(at)),
    order: of(({ clOrdId }) => places.get(clOrdId) ?? -1),
    strategy: of(({ strategy }) => (strategy === "" ? -1 : strategies.at(strategy))),
    instrument: of(({ instId }) => instruments.at(instId)),
    buy: of(({ side }) => (side === "buy" ? 1 : 0)),
    maker: of(({ liquidity }) => (liquidity === "maker" ? 1 : 0)),
    px: of(({ px }) => Number(px)),
    qty: of(({ qty }) => Number(qty)),
    fee: of(({ fee }) => Number(fee)),
  };
};

const ordersOf = ({ orders }: RunDetails, sheet: Sheet): OrderData => {
  const phases = orders.flatMap((order) => order.phases);
  return {
    id: orders.map(({ clOrdId }) => clOrdId),
    strategy: column(orders, ({ strategy }) => (strategy === "" ? -1 : sheet.strategies.at(strategy))),
    slot: column(orders, ({ slot }) => sheet.slots.at(slot)),
    instrument: column(orders, ({ instId }) => sheet.instruments.at(instId)),
    buy: column(orders, ({ side }) => (side === "buy" ? 1 : 0)),
    type: column(orders, ({ ordType }) => sheet.types.at(ordType)),
    px: column(orders, ({ px }) => Number(px)),
    sz: column(orders, ({ sz }) => Number(sz)),
    waited: column(orders, ({ waitedMs }) => waitedMs),
    reason: column(orders, ({ reason = "" }) => (reason === "" ? -1 : sheet.reasons.at(reason))),
    phases: column(orders, (order) => order.phases.length),
    phase: column(phases, ({ phase }) => sheet.phases.at(phase)),
    phaseAt: column(phases, ({ at }) => sheet.since(at)),
  };
};

const tradesOf = (details: RunDetails, { since, strategies, instruments, endings }: Sheet): TradeData => {
  const trades = details.trades.position;
  const lives = new Map(details.orders.map((order) => [order.clOrdId, order]));
  const opening = new Set(trades.flatMap(({ entries }) => entries));
  return {
    strategy: column(trades, ({ strategy }) => strategies.at(strategy)),
    instrument: column(trades, ({ instId }) => instruments.at(instId)),
    long: column(trades, ({ side }) => (side === "long" ? 1 : 0)),
    qty: column(trades, ({ qty }) => Number(qty)),
    openedAt: column(trades, ({ openedAt }) => since(openedAt)),
    closedAt: column(trades, ({ closedAt }) => (closedAt === undefined ? -1 : since(closedAt))),
    entryPx: column(trades, ({ entryPx }) => Number(entryPx)),
    exitPx: column(trades, ({ exitPx }) => Number(exitPx)),
    gross: column(trades, ({ gross }) => Number(gross)),
    fees: column(trades, ({ fees }) => Number(fees)),
    funding: column(trades, ({ funding }) => Number(funding)),
    net: column(trades, ({ net }) => Number(net)),
    best: column(trades, ({ mfe }) => Number(mfe)),
    worst: column(trades, ({ mae }) => Number(mae)),
    ending: column(trades, (trade) => endings.at(endingOf(trade, lives, opening))),
  };
};

type Trade = RunDetails["trades"]["position"][number];

const protectionWords = { stopLoss: "stop", takeProfit: "take-profit", trailing: "trailing stop" } as const;

/**
 * Cause of a trade's end, by its last closing order.
 *
 * @param opening - client order ids of orders that opened a trade
 */
const endingOf = (
  { closedAt, exits }: Trade,
  lives: ReadonlyMap<string, OrderLife>,
  opening: ReadonlySet<string>,
): string => {
  if (closedAt === undefined) return "still open";
  const last = exits.at(-1);
  if (last === undefined) return "closed by the service";
  if (opening.has(last)) return "reversed";
  const life = lives.get(last);
  if (life === undefined) return "closed for the account";
  return life.protection === undefined ? `slot ${life.slot}` : protectionWords[life.protection];
};

/** Of minutes in a row in which nothing was used or waited for only the first is in. */
const quotaOf = ({ minutes }: RunDetails, { since }: Sheet): QuotaData => {
  const isIdle = (minute: QuotaMinute | undefined): boolean => minute?.requests === 0 && minute.waited === 0;
  const last = minutes.at(-1);
  const used = [
    ...minutes.filter((minute, index) => !(isIdle(minute) && isIdle(minutes[index - 1]))),
    ...(last === undefined ? [] : [{ ...last, at: last.at + 60_000 }]),
  ];
  return {
    at: column(used, ({ at }) => since(at)),
    weight: column(used, ({ peakWeight }) => peakWeight),
    weightMax: layers.uid.capacity,
    requests: column(used, ({ peakKey }) => peakKey),
    requestsMax: layers.key.capacity,
    waited: column(used, ({ waitedMs }) => Object.values(waitedMs).reduce((total, ms) => total + ms, 0) / 1_000),
    refused: column(used, ({ refused }) => refused),
  };
};
