/**
 * Backtests that differ in nothing but the number of their orders: one made quote tape, and a strategy that orders on some of its rows.
 *
 * Invariants: a run depends on its scenario and its number of orders alone; it fails when its orders did not end as the scenario
 * says, so that no figure is one of orders that were refused.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { concatWith, filter, map, NEVER, take } from "rxjs";
import { quoting } from "../replay/strategies.mjs";
import { quoteTape } from "../replay/tapes.mjs";

const rows = 4_000;
/** The number of orders on every row of the tape but the first, and on every other one. */
export const many = 3_980;
export const few = many / 2;

const instId = "BTC-USDT-SWAP";
const rowMs = 2_000;
const closed = { type: "object", additionalProperties: false, properties: {} };

/** Best quotes two seconds apart, as the service's limits want it; the price does not move, so that all orders are alike. */
const quotes = ({ createTape }) => {
  const filled = (value) => new Float64Array(rows).fill(value);
  return createTape(
    [{ instId, tickSize: "0.1", lotSize: "0.001" }],
    [
      {
        kind: "quote",
        instrument: 0,
        at: filled(1_704_067_200_000).map((at, row) => at + row * rowMs),
        bidPx: filled(600_000),
        bidQty: filled(5_000_000),
        askPx: filled(600_001),
        askQty: filled(5_000_000),
      },
    ],
  );
};

/** The rows that order, counted from 0 (each, or every other one), and the last one, which withdraws what rests. */
const ordering = (market, orders) => {
  const every = many / orders;
  return market.quotes(instId).pipe(
    map((_, row) => row - (rows - many - 1)),
    filter((row) => row >= 0 && row % every === 0),
    map((row) => row / every),
  );
};

/** What a set of one order says, beside what is the scenario's own: spread last, as a field written after a spread costs Node 20 a microsecond. */
const one = { slot: "one", instId, qty: "0.01" };

export const scenarios = {
  fill: {
    text: "a market order that is filled",
    orderOf: (round) => ({ side: round % 2 === 0 ? "buy" : "sell", ordType: "market", round, ...one }),
    ended: ({ filled }) => filled,
  },
  rest: {
    text: "a limit order that is placed, rests and is withdrawn for the next",
    orderOf: (round) => ({ side: "buy", ordType: "post_only", px: round % 2 === 0 ? "59000" : "59000.1", ...one }),
    ended: ({ canceled }) => canceled,
  },
};

const stored = ({ writeFixture }, tape) => {
  const root = mkdtempSync(join(tmpdir(), "sluice-orders-"));
  process.on("exit", () => rmSync(root, { recursive: true, force: true }));
  const fixture = join(root, "tape");
  writeFixture(fixture, tape, { source: "bench" });
  return fixture;
};

/** Reads the tape once; the returned function runs one backtest of so many orders. */
export const prepare = (sluice, name) => {
  const { orderOf, ended } = scenarios[name];
  const fixture = stored(sluice, quotes(sluice));
  return async (orders) => {
    const strategy = sluice.defineStrategy({
      name,
      options: closed,
      wanted: ({ market }) => ordering(market, orders).pipe(map((round) => (round < orders ? [orderOf(round)] : []))),
    })({});
    const service = sluice.backtest({ fixture, latency: sluice.constant(25), balances: { USDT: "1000000" } });
    const report = await sluice.runBacktest({ service, strategies: [strategy] });
    if (report.orders.placed !== orders || ended(report.orders) !== orders)
      throw new Error(`${orders} orders were meant, ${JSON.stringify(report.orders)}`);
    return report;
  };
};

const ticks = 20_000;

/** A bid and an ask that follow every quote, with nothing that limits requests; the returned function returns its number of re-quotes. */
export const prepareQuotes = (sluice) => {
  const fixture = stored(sluice, quoteTape(sluice, ticks));
  return async () => {
    const service = sluice.backtest({ fixture, latency: sluice.constant(25), limits: false });
    const { orders } = await sluice.runBacktest({ service, strategies: [quoting(sluice, { count: 0 })] });
    if (orders.placed < ticks / 4) throw new Error(`only ${orders.placed} orders were placed on ${ticks} quotes`);
    return orders.placed / 2;
  };
};

/** Slots of one strategy at most. */
const slotsMax = 1_000;

const restingSet = (from, count) =>
  Array.from({ length: count }, (_, index) => ({
    slot: `r${index}`,
    side: "buy",
    ordType: "post_only",
    px: (50_000 - (from + index) * 0.1).toFixed(1),
    instId,
    qty: "0.001",
  }));

/** The returned function runs a backtest in which one order moves so many times beside so many that rest; it returns its moves. */
export const prepareResting = (sluice) => {
  const fixture = stored(sluice, quotes(sluice));
  const strategyOf = (name, wantedOf) =>
    sluice.defineStrategy({ name, options: closed, wanted: ({ market }) => wantedOf(market.quotes(instId)) })({});
  return async ({ resting, moves }) => {
    const holders = Array.from({ length: Math.ceil(resting / slotsMax) }, (_, holder) => {
      const from = holder * slotsMax;
      const set = restingSet(from, Math.min(slotsMax, resting - from));
      return strategyOf(`holder-${holder}`, (quotes$) =>
        quotes$.pipe(
          take(1),
          map(() => set),
          concatWith(NEVER),
        ),
      );
    });
    const { orderOf } = scenarios.rest;
    const mover = strategyOf("mover", (quotes$) =>
      quotes$.pipe(
        take(moves),
        map((_, row) => [orderOf(row)]),
        concatWith(NEVER),
      ),
    );
    const service = sluice.backtest({
      fixture,
      latency: sluice.constant(25),
      limits: false,
      balances: { USDT: "100000000" },
    });
    const report = await sluice.runBacktest({
      service,
      strategies: [mover, ...holders],
      orders: { openPerStrategy: 2 * resting, openInAll: 2 * resting },
    });
    if (report.orders.placed !== resting + moves)
      throw new Error(`${resting + moves} orders were meant, ${JSON.stringify(report.orders)}`);
    return moves;
  };
};
