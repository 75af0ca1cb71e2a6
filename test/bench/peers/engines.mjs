/**
 * The same strategy, where a mean of 10 closes crosses one of 30, in the words of each engine.
 *
 * Invariants: an entry prepares outside the measured time what a user has before he starts (bars in the engine's own shape, modules
 * loaded) and returns a run; a run returns its trades and what it knows of quantities and money as decimal text, and `expected`
 * counts the same by hand under that engine's rules.
 */
import { loadPackage } from "../compile.mjs";
import { barMs, fast, longTrades, makeBars, mean, sides, slow, startAt, turned } from "./bars.mjs";

const rowsOf = (columns) =>
  Array.from(columns.close, (close, row) => ({
    time: new Date(startAt + row * barMs),
    open: columns.open[row],
    high: columns.high[row],
    low: columns.low[row],
    close,
    volume: columns.volume[row],
  }));

const instId = "BTC-USDT-SWAP";
const takerBps = 5;

/** Changes of side, the first included. */
const crossings = (close) => {
  let before = 0;
  return sides(close).reduce((count, side) => {
    if (side === 0 || side === before) return count;
    before = side;
    return count + 1;
  }, 0);
};

const closed = { type: "object", additionalProperties: false, properties: {} };

const sidesOf = ({ distinctUntilChanged, filter, map }, candles$) => {
  const [quick, calm] = [mean(fast), mean(slow)];
  return candles$.pipe(
    map(({ closeFloat }) => quick(closeFloat) - calm(closeFloat)),
    filter((difference) => difference > 0 || difference < 0),
    map((difference) => difference > 0),
    distinctUntilChanged(),
  );
};

/** Wants the position turned by a market order at each crossing. */
const turning = (rxjs, { defineStrategy }) =>
  defineStrategy({
    name: "cross",
    options: closed,
    wanted: ({ market }) =>
      sidesOf(rxjs, market.candles(instId, barMs)).pipe(
        rxjs.map((up, round) => [
          {
            slot: "position",
            instId,
            side: up ? "buy" : "sell",
            ordType: "market",
            qty: round === 0 ? "0.01" : "0.02",
            round,
          },
        ]),
      ),
  })({});

/** Counts the crossings. */
const counting = (rxjs, { defineStrategy }, seen) =>
  defineStrategy({
    name: "cross",
    options: closed,
    run: ({ market }) =>
      sidesOf(rxjs, market.candles(instId, barMs)).pipe(
        rxjs.tap(() => {
          seen.count++;
        }),
        rxjs.ignoreElements(),
      ),
  })({});

/** The strategy as a user writes it, on made bars; the service enforces its limits, and answers after 25 ms. */
const sluiceWith = (strategyOf, figuresOf) => async (columns, compiled) => {
  const [sluice, rxjs] = await Promise.all([loadPackage(compiled), import("rxjs")]);
  const { backtest, constant, createTape, defineConfig, runBacktest } = sluice;
  const at = Float64Array.from(columns.close, (_, row) => startAt + (row + 1) * barMs);
  const tape = createTape(
    [{ instId, tickSize: "1", lotSize: "0.001" }],
    [{ kind: "candle", instrument: 0, barMs, at, ...columns }],
  );
  const service = backtest({
    latency: constant(25),
    balances: { USDT: "100000000" },
    fees: { makerBps: "2", takerBps: String(takerBps) },
  });
  return async () => {
    const seen = { count: 0 };
    const config = defineConfig({ service, strategies: [strategyOf(rxjs, sluice, seen)] });
    const market = { tape, facts: { name: "bench", contentHash: "" } };
    const report = await runBacktest(config, { market, print: () => undefined });
    return figuresOf(report, seen);
  };
};

const money = ({ orders, positions, fees, pnl }) => ({
  trades: orders.filled,
  position: positions.find((position) => position.instId === instId)?.qty ?? "0",
  fees,
  profit: pnl,
});

/** Averages worked out by a loop over the rows beforehand, within the measured time: its own way by data frames is slower. */
const grademark = async (columns) => {
  const [{ backtest }, { DataFrame }] = (await Promise.all([import("grademark"), import("data-forge")])).map(
    (module) => module.default ?? module,
  );
  const rows = rowsOf(columns);
  const strategy = {
    entryRule: (enterPosition, { bar }) => {
      if (bar.fast > bar.slow) enterPosition();
    },
    exitRule: (exitPosition, { bar }) => {
      if (bar.fast < bar.slow) exitPosition();
    },
  };
  return async () => {
    const [quick, calm] = [mean(fast), mean(slow)];
    const series = new DataFrame(rows.map((row) => ({ ...row, fast: quick(row.close), slow: calm(row.close) })));
    const trades = backtest(strategy, series);
    return {
      trades: trades.length,
      profit: String(trades.reduce((sum, { entryPrice, exitPrice }) => sum + exitPrice - entryPrice, 0)),
    };
  };
};

const script = `//@version=6
strategy("Cross", initial_capital=100000000, default_qty_type=strategy.fixed, default_qty_value=1)
quick = ta.sma(close, ${fast})
calm = ta.sma(close, ${slow})
if ta.crossover(quick, calm)
    strategy.entry("Long", strategy.long)
if ta.crossunder(quick, calm)
    strategy.entry("Short", strategy.short)
`;

const pinets = async (columns) => {
  const { PineTS } = await import("pinets");
  const rows = rowsOf(columns).map(({ time, ...bar }) => ({
    openTime: time.getTime(),
    closeTime: time.getTime() + barMs,
    ...bar,
  }));
  return async () => {
    const { strategy } = await new PineTS(rows, "BTCUSDT", "1", rows.length).run(script);
    return { trades: strategy.closedtrades.length };
  };
};

/** How many bars each bears in the quick and in the thorough mode. */
export const engines = {
  Sluice: {
    make: sluiceWith(turning, money),
    bars: [100_000, 1_000_000],
    expected: (columns) => turned(columns, { unit: 0.01, takerBps }),
    counts: "orders filled",
  },
  "Sluice, signals alone": {
    make: sluiceWith(counting, (_, { count }) => ({ trades: count })),
    bars: [300_000, 1_000_000],
    expected: ({ close }) => ({ trades: crossings(close) }),
    counts: "crossings",
  },
  "grademark 0.3.0": { make: grademark, bars: [100_000, 1_000_000], expected: longTrades, counts: "long trades" },
  // Memory grows by about two kilobytes a bar. The first side is no crossing, and the last position is not closed.
  "pinets 0.9.34": {
    make: pinets,
    version: "0.9.34",
    bars: [30_000, 300_000],
    expected: ({ close }) => ({ trades: crossings(close) - 2 }),
    counts: "closed trades",
  },
};

/** One engine once: seconds of processor and clock, trades, memory. */
export const measure = async (name, rows, compiled) => {
  const { make, expected } = engines[name];
  const columns = makeBars(rows);
  const run = await make(columns, compiled);
  // Once on a few bars, as the others do: what is measured is not how fast a process starts.
  await (await make(makeBars(2_000), compiled))();
  const before = { at: performance.now(), ...process.cpuUsage() };
  const found = await run();
  const { user, system } = process.cpuUsage();
  return {
    rows,
    found,
    expected: expected(columns),
    wall: (performance.now() - before.at) / 1_000,
    cpu: (user + system - before.user - before.system) / 1e6,
    rssMb: Math.round(process.resourceUsage().maxRSS / 1_024),
  };
};
