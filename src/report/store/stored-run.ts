/**
 * Report of a span of stored time, as a backtest makes it: the same counting over the fills that an engine stored.
 *
 * Invariants: trades, profit and fees come from the fills alone, by the code that counts for backtests; what is not stored (the
 * recording, peaks of the service's own count, latency) is left empty and said.
 * Not here: the file (run-store.ts).
 */
import { div, isPositive, sub, sum } from "../../decimal.ts";
import { SluiceError } from "../../errors.ts";
import type { Event } from "../../journal/events.ts";
import type { Fill } from "../../venue/venue.ts";
import { noDetails, type RunDetails } from "../details.ts";
import { drawdownOf, type EquityPoint, thin } from "../equity.ts";
import { exposureReport } from "../portfolio.ts";
import { overTime, peaksIn, QuotaMinutes, waitedIn } from "../quota-minutes.ts";
import { hashOf, latenciesOf, type RunReport, type StrategyReport } from "../report.ts";
import { returnSeries } from "../return-series.ts";
import { returnsOf } from "../returns.ts";
import { TradeStatistics } from "../trade-statistics.ts";
import { orderCounts } from "../traded.ts";
import { warningsOf } from "../warnings.ts";
import { readSpan } from "./run-store.ts";
import type { Row } from "./sqlite.ts";
import { Samples, text } from "./stored-samples.ts";

interface StoredRunOptions {
  /** Milliseconds since the epoch, both included; the whole file when left out. */
  readonly from?: number;
  readonly to?: number;
  /** Of all money; that of most fills when left out. */
  readonly currency?: string;
  /** What the equity begins with, for returns and percentages. */
  readonly capital?: string;
}

interface StoredRun {
  readonly report: RunReport;
  readonly details: RunDetails;
}

const defaultCapital = "10000";
const endless = 8_640_000_000_000_000;

/** Throws CONFIG_INVALID where the file is no database of runs, or holds nothing of the span. */
export const storedRun = (
  path: string,
  { from = 0, to = endless, currency: asked, capital = defaultCapital }: StoredRunOptions = {},
): StoredRun => {
  const span = readSpan(path, from, to);
  if (span.events.length === 0 && span.fills.length === 0) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `${path} holds nothing of this span. Leave --from and --to out to see all of it.`,
    );
  }
  const currency = asked ?? commonest(span.fills.map((fill) => text(fill, "currency"))) ?? "USDT";
  const names = strategiesOf(span);
  const counted = { currency, fromAt: span.from, untilAt: span.to, keepsLots: true };
  const tally = new TradeStatistics(names, counted);
  const samples = new Samples(tally, capital);
  const heard = listen(span.events, tally);
  const held = carried(tally, names, span.before, counted);
  replay(span, tally, samples);
  const marks = samples.prices;
  const report = reportOf({ path, span, names, currency, capital, tally, samples, heard, marks, held });
  const details = {
    ...noDetails(samples.equity),
    trades: tally.tradeLists(marks, () => undefined),
    strategies: names.map((strategy) => ({ strategy, points: samples.ofStrategy(strategy) })),
    exposure: samples.exposure,
    minutes: heard.minutes.minutes(span.from, span.to),
    returns: returnSeries(samples.equity, span.to - span.from),
  };
  return { report, details };
};

type Span = ReturnType<typeof readSpan>;

const commonest = (values: readonly string[]): string | undefined => {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
};

const strategiesOf = ({ events, fills, before }: Span): readonly string[] => [
  ...new Set([
    ...events.flatMap((event) => ("strategy" in event && event.strategy !== "" ? [event.strategy] : [])),
    ...[...before, ...fills].map((fill) => text(fill, "strategy")),
  ]),
];

const fillOf = (row: Row): Fill => ({
  uid: "",
  instId: text(row, "instId"),
  ordId: text(row, "ordId"),
  clOrdId: text(row, "clOrdId"),
  side: text(row, "side") as Fill["side"],
  px: text(row, "px"),
  qty: text(row, "qty"),
  fee: text(row, "fee"),
  cost: text(row, "cost"),
  // Records of limit orders do not tell.
  liquidity: text(row, "liquidity") === "taker" ? "taker" : "maker",
  at: Number(row["at"]),
});

/** Counts orders and calls from events. */
const listen = (events: readonly Event[], tally: TradeStatistics) => {
  const minutes = new QuotaMinutes(0);
  const calls = { requests: 0, weight: 0, refused: 0 };
  for (const event of events) {
    tally.onEvent(event);
    minutes.onEvent(event);
    if (event.type === "action.sent") {
      calls.requests++;
      calls.weight += event.weight;
      minutes.arrived({ at: event.at, key: event.key, uid: "", weight: event.weight, status: 200 });
    }
    if (event.type === "action.answered" && event.status === 429) calls.refused++;
  }
  return { minutes, calls };
};

/** Each row names its strategy: the fills of one close of the account's position may belong to several. */
const takeRow = (tally: TradeStatistics, row: Row): void => {
  const fill = fillOf(row);
  tally.onFill(fill, fill.at, text(row, "strategy"));
};

/** What was held at the beginning counts as bought there at its average price, without a fee; how many positions that were. */
const carried = (
  tally: TradeStatistics,
  names: readonly string[],
  before: readonly Row[],
  counted: ConstructorParameters<typeof TradeStatistics>[1],
): number => {
  const earlier = new TradeStatistics(names, counted);
  for (const row of before) {
    takeRow(earlier, row);
  }
  const held = earlier.positions(new Map());
  for (const { strategy, instId, qty, averagePx } of held) {
    const clOrdId = `held ${strategy} ${instId}`;
    const [side, size] = isPositive(qty) ? (["buy", qty] as const) : (["sell", sub("0", qty)] as const);
    const fill: Fill = {
      uid: "",
      instId,
      ordId: clOrdId,
      clOrdId,
      side,
      px: averagePx,
      qty: size,
      fee: "0",
      cost: "0",
      liquidity: "maker",
      at: counted.fromAt,
    };
    tally.onFill(fill, fill.at, strategy);
  }
  return held.length;
};

/** Fills and marks in the order of time, with a sample at each instant of marks. */
const replay = ({ fills, marks, from, to }: Span, tally: TradeStatistics, samples: Samples): void => {
  let next = 0;
  for (const row of marks.filter(({ at }) => Number(at) <= from)) samples.mark(row);
  samples.take(from);
  const later = marks.filter(({ at }) => Number(at) > from);
  for (const row of fills) {
    for (; next < later.length && Number(later[next]?.["at"]) < Number(row["at"]); next++)
      samples.markAt(later[next] as Row);
    takeRow(tally, row);
    samples.priced(text(row, "instId"), text(row, "px"));
  }
  for (; next < later.length; next++) samples.markAt(later[next] as Row);
  samples.take(to);
};

interface Counted {
  readonly path: string;
  readonly span: Span;
  readonly names: readonly string[];
  readonly currency: string;
  readonly capital: string;
  readonly tally: TradeStatistics;
  readonly samples: Samples;
  readonly heard: ReturnType<typeof listen>;
  readonly marks: ReadonlyMap<string, string>;
  readonly held: number;
}

/** Their sizes are in the service's units, which the file does not explain. */
const restingOf = (orders: readonly Row[]): StrategyReport["open"] => ({ count: orders.length, notional: "0" });

const reportOf = (counted: Counted): RunReport => {
  const { path, span, names, currency, tally, samples, heard, marks } = counted;
  const ms = span.to - span.from;
  const { equity } = samples;
  const [first, last] = [equity[0], equity.at(-1)] as [EquityPoint, EquityPoint];
  const positions = tally.positions(marks);
  const minutes = heard.minutes.used(span.from, span.to);
  const returns = returnsOf(equity, ms);
  const told: Omit<RunReport, "resultHash" | "wallMs" | "warnings"> = {
    fixture: {
      name: path,
      contentHash: "",
      startAt: new Date(span.from).toISOString(),
      endAt: new Date(span.to).toISOString(),
      rows: span.events.length,
    },
    seed: "",
    events: tally.events,
    virtualMs: ms,
    orders: orderCounts(tally),
    fills: tally.total("fills"),
    open: restingOf(span.open),
    volume: tally.volume,
    turnover: isPositive(first.equity) ? div(tally.volume, first.equity, 4) : "0",
    pnl: sub(last.equity, first.equity),
    fees: tally.fees,
    realised: tally.realised,
    unrealised: sum(positions.map((position) => position.unrealised)),
    elsewhere: "0",
    liquidity: tally.liquidity,
    trades: tally.trades(marks),
    positions,
    perInstrument: tally.instruments(marks),
    exposure: exposureReport(samples.exposure),
    currency,
    equity: thin(equity),
    drawdown: drawdownOf(equity),
    ...(returns && { returns }),
    quota: {
      limits: true,
      ...{
        requests: heard.calls.requests,
        weight: heard.calls.weight,
        rejected429: heard.calls.refused,
        blockedMinutes: 0,
      },
      perLayerPeak: peaksIn(minutes),
      heldMs: tally.waits.report,
      reserveUsed: tally.reserveUsed,
      waitedMs: waitedIn(minutes),
      overTime: overTime(minutes),
    },
    latency: { p50: 0, p99: 0, cancel: latenciesOf([]), place: latenciesOf([]) },
    perStrategy: Object.fromEntries(names.map((name) => [name, strategyOf(counted, name)])),
    turnedDown: tally.reasons.list(),
    turnedDownMore: tally.reasons.more(),
    coverage: { gapMs: 0, series: [], missing: [] },
    assumptions: assumptionsOf(counted),
  };
  const report = { ...told, warnings: warningsOf(told) };
  return { resultHash: hashOf(report), wallMs: 0, ...report };
};

const strategyOf = ({ tally, marks, span }: Counted, name: string): StrategyReport => {
  const failed = span.events.findLast((event) => event.type === "strategy.failed" && event.strategy === name);
  const restarted = span.events.findLast((event) => event.type === "strategy.restarted" && event.strategy === name);
  const isFailed = failed !== undefined && (restarted === undefined || restarted.at < failed.at);
  return {
    ...tally.of(name, marks),
    open: restingOf(span.open.filter((row) => text(row, "strategy") === name)),
    state: isFailed ? "failed" : "running",
    ...(isFailed && failed.type === "strategy.failed" && { error: failed.message }),
  };
};

const assumptionsOf = ({ span, currency, capital, held }: Counted): readonly string[] => {
  const others = span.fills.filter((fill) => text(fill, "currency") !== currency).length;
  const untold = span.fills.filter((fill) => text(fill, "liquidity") === "").length;
  return [
    `from the fills that the engine stored; held positions at the last price stored; returns are of a capital of ${capital} ${currency}`,
    "funding and liquidations are not stored; requests are counted by this engine, not by the service",
    "trades: from flat to flat, after fees; prices between fills are not stored, so the furthest moves of a trade are those of its own fills",
    ...(span.open.length === 0 ? [] : ["resting orders are counted, not valued"]),
    ...(held === 0
      ? []
      : [`${held} positions were held at the beginning: they count as traded there at their average price`]),
    ...(untold === 0 ? [] : [`fills of which it is not known count as maker: ${untold}`]),
    ...(others === 0 ? [] : [`fills in another currency, counted and not valued: ${others}`]),
  ];
};
