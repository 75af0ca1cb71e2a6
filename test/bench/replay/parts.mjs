/**
 * What the replay bench measures, by name: how much of what, and what the figure counts.
 *
 * Invariants: a part runs in a process of its own; its `run` returns the number of things done, or throws when the run did
 * not do them. `bare` is what the part's strategies cost without the engine (bare.mjs), `countedPerRow` what a row of theirs counts.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bare } from "./bare.mjs";
import { counting, countingEach, countingOne, crossing, joining, peeking, quoting, trading } from "./strategies.mjs";
import { barTape, bookTape, instrumentsOf, quoteTape, tradeTape } from "./tapes.mjs";

const stored = ({ writeFixture }, tape) => {
  const root = mkdtempSync(join(tmpdir(), "sluice-replay-"));
  process.on("exit", () => rmSync(root, { recursive: true, force: true }));
  const dir = join(root, "tape");
  writeFixture(dir, tape, { source: "bench" });
  return dir;
};

/** Runs strategies on a fixture; `clocked` begins when the fixture has been read. */
const replay = async ({ backtest, constant, runBacktest }, fixture, strategies, { limits = true } = {}, clocked) => {
  const spec = backtest({ fixture, latency: constant(25), limits });
  const service = {
    ...spec,
    openWith: (...args) => {
      const opened = spec.openWith(...args);
      clocked.begin();
      return opened;
    },
  };
  const report = await runBacktest({ service, strategies });
  clocked.end();
  return report;
};

const expectCount = (found, expected) => {
  if (found !== expected) throw new Error(`${expected} were expected to be seen, ${found} were`);
  return found;
};

/** Trades counted by strategies of which each takes `take` of the instruments; `deliveries` counts what they see. */
const counted = (rows, instruments, strategyCount, take, several = counting) => {
  const ids = instrumentsOf(instruments).map(({ instId }) => instId);
  const mine = (index) => Array.from({ length: take }, (_, offset) => ids[(index * take + offset) % ids.length]);
  const make = (sluice, index, seen) =>
    take === 1
      ? countingOne(sluice, `s${index}`, mine(index)[0], seen)
      : several(sluice, `s${index}`, mine(index), seen);
  const strategiesOf = (sluice, seen) => Array.from({ length: strategyCount }, (_, index) => make(sluice, index, seen));
  const deliveries = (rows / instruments) * take * strategyCount;
  return {
    prepare: (sluice) => stored(sluice, tradeTape(sluice, rows, instruments)),
    run: async (sluice, fixture, clocked) => {
      const seen = { count: 0 };
      await replay(sluice, fixture, strategiesOf(sluice, seen), {}, clocked);
      return expectCount(seen.count, deliveries | 0);
    },
    bare: bare(rows, ids, (sluice) => strategiesOf(sluice, { count: 0 })),
    countedPerRow: deliveries / rows,
  };
};

const made = (ticks, limits) => ({
  prepare: (sluice) => stored(sluice, quoteTape(sluice, ticks)),
  run: async (sluice, fixture, clocked, extra) => {
    const seen = { count: 0 };
    const { orders } = await replay(sluice, fixture, [quoting(sluice, seen)], { limits }, clocked);
    extra.placed = orders.placed;
    return limits ? expectCount(seen.count, ticks) : Math.floor(orders.placed / 2);
  },
});

/** Bars crossed by a strategy that only looks. */
const looked = (bars) => ({
  unit: "bars",
  prepare: (sluice) => stored(sluice, barTape(sluice, bars)),
  run: async (sluice, fixture, clocked) => {
    const seen = { count: 0 };
    await replay(sluice, fixture, [crossing(sluice, seen)], {}, clocked);
    if (seen.count < bars / 100) throw new Error(`only ${seen.count} crosses`);
    return bars;
  },
  bare: bare(bars, ["BTC-USDT-SWAP"], (sluice) => [crossing(sluice, { count: 0 })]),
  countedPerRow: 1,
});

/** Bars traded by a strategy that follows bars of `barMs`. */
const traded = (bars, barMs, ordType) => ({
  unit: "bars",
  prepare: (sluice) => stored(sluice, barTape(sluice, bars)),
  run: async (sluice, fixture, clocked, extra) => {
    const { orders, quota } = await replay(
      sluice,
      fixture,
      [trading(sluice, { count: 0 }, barMs, ordType)],
      {},
      clocked,
    );
    if (orders.placed === 0) throw new Error("nothing was traded");
    extra.placed = orders.placed;
    extra.requests = quota.requests;
    return bars;
  },
});

/** Rows of a recorded book, with somebody who looks at it or trades in it. */
const booked = (messages, strategyOf, limits = true) => ({
  unit: "rows",
  prepare: (sluice) => {
    const tape = bookTape(sluice, messages);
    return { fixture: stored(sluice, tape), rows: tape.length };
  },
  run: async (sluice, { fixture, rows }, clocked, extra) => {
    const seen = { count: 0, digits: 0 };
    const { orders } = await replay(sluice, fixture, [strategyOf(sluice, seen)], { limits }, clocked);
    if (seen.count < messages) throw new Error(`only ${seen.count} of ${messages} book changes were seen`);
    extra.placed = orders.placed;
    return rows;
  },
});

/** `target` is in millions a second, of a machine that does nothing else. */
export const parts = {
  trades: { unit: "events", target: "25", ...counted(5_000_000, 1, 1, 1) },
  "trades 50M": { unit: "events", runs: 2, ...counted(50_000_000, 1, 1, 1) },
  "trades 1M": { unit: "events", ...counted(1_000_000, 1, 1, 1) },
  "trades 100k": { unit: "events", ...counted(100_000, 1, 1, 1) },
  "10 strategies": { unit: "deliveries", ...counted(500_000, 1, 10, 1) },
  "100 strategies": { unit: "deliveries", ...counted(100_000, 1, 100, 1) },
  "20x5": { unit: "deliveries", target: "20", ...counted(5_000_000, 20, 5, 4, countingEach) },
  "20x5 merged": { unit: "deliveries", ...counted(2_000_000, 20, 5, 4) },
  "20x5 all": { unit: "deliveries", ...counted(500_000, 20, 5, 20) },
  bars: { target: "8", ...looked(1_000_000) },
  "bars 5M": { runs: 3, ...looked(5_000_000) },
  "bars, traded": traded(100_000, 60_000, "limit"),
  "bars, a position held": traded(1_000_000, 3_600_000, "market"),
  maker: { unit: "ticks", target: "3.5", ...made(200_000, true) },
  "maker, no limits": { unit: "re-quotes", target: "2", ...made(20_000, false) },
  "books, best five": booked(10_000, peeking),
  "maker on a book": booked(4_000, joining, false),
  load: {
    unit: "rows",
    target: "12",
    prepare: (sluice) => stored(sluice, tradeTape(sluice, 5_000_000)),
    run: async ({ readFixture }, fixture, clocked, extra) => {
      clocked.begin();
      const { tape } = readFixture(fixture);
      clocked.end();
      const columns = [...tape.series.flatMap((series) => Object.values(series)), tape.order.series, tape.order.row];
      const bytesOf = (values) => values.reduce((sum, value) => sum + value, 0) / tape.length;
      extra.bytesOnDisk = bytesOf(readdirSync(fixture).map((file) => statSync(join(fixture, file)).size));
      extra.bytesInMemory = bytesOf(
        columns.filter((column) => ArrayBuffer.isView(column)).map(({ byteLength }) => byteLength),
      );
      return tape.length;
    },
  },
};
