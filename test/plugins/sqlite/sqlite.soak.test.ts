/**
 * The sqlite plugin and `sluice report --db`: what is stored, once, and a report whose figures are those of the backtest that traded.
 */
import { copyFileSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { concat, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import journalFile from "../../../plugins/journal-file/index.ts";
import sqlite from "../../../plugins/sqlite/index.ts";
import { Queue } from "../../../plugins/sqlite/queue.ts";
import { type Entry, RunStore } from "../../../plugins/sqlite/run-store.ts";
import { Sqlite } from "../../../plugins/sqlite/sqlite.ts";
import { backtest, paper, type RunReport, runBacktest } from "../../../src/backtest.ts";
import { main } from "../../../src/cli/main.ts";
import { createEngine, defineStrategy, type OrderUpdate, type Strategy, sum } from "../../../src/index.ts";
import { testPlugin } from "../../../src/testing.ts";
import averageCross from "../../../strategies/average-cross.ts";
import ladder from "../../../strategies/ladder.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const hasSqlite = (): boolean => {
  try {
    new Sqlite(":memory:").close();
    return true;
  } catch {
    return false;
  }
};

const folder = temporaryFolder("sqlite");
let count = 0;
const fresh = (): string => join(folder, `${count++}.db`);

const reportOf = async (path: string, ...more: readonly string[]): Promise<RunReport> => {
  const io = capturedIo();
  const code = await main(["report", "--db", path, "--json", ...more], io, {});
  expect([code, io.errText]).toEqual([0, ""]);
  return JSON.parse(io.outText) as RunReport;
};

/** Trades the demo market and stores it. */
const traded = async (strategies: readonly Strategy[], path: string, more: object = {}): Promise<RunReport> =>
  runBacktest({
    service: backtest({ fixture: "test/fixtures/demo" }),
    strategies,
    plugins: [sqlite({ path, equityMs: 1_000, ...more })],
  });

const rowsOf = (path: string, sql: string): readonly Readonly<Record<string, unknown>>[] => {
  const database = new Sqlite(path, { readOnly: true });
  try {
    return database.all(sql);
  } finally {
    database.close();
  }
};

/** The figures that follow from fills alone. */
const moneyOf = ({ fills, volume, fees, realised, orders, perInstrument, perStrategy, trades }: RunReport) => ({
  ...{ fills, volume, fees, realised, orders },
  // An engine hears of a fill later than the exchange makes it.
  trades: { ...trades, inMarketPercent: "", inMarketMs: 0, averageMs: 0, longestMs: 0, open: "" },
  perInstrument: Object.values(perInstrument).map((one) => [one.fills, one.volume, one.realised, one.fees]),
  perStrategy: new Map(
    Object.entries(perStrategy).map(([name, one]) => [
      name,
      [one.placed, one.filled, one.fills, one.volume, one.realised, one.fees, one.weight],
    ]),
  ),
});

const heldOf = ({ positions }: RunReport) =>
  Object.fromEntries(
    positions.map(({ strategy, instId, qty, averagePx }) => [`${strategy} ${instId}`, [qty, averagePx]]),
  );

describe.skipIf(!hasSqlite())(
  "The sqlite plugin (skipped where Node has no SQLite and better-sqlite3 is not installed)",
  () => {
    it("stores what a report needs: its figures are those of the backtest, to the last digit", async () => {
      const path = fresh();
      const strategies = [
        averageCross({ instId: "BTC-USDT-SWAP", fast: 3, slow: 7 }),
        averageCross({ instId: "ETH-USDT-SWAP", fast: 2, slow: 5, qty: "0.1" }, { as: "second" }),
      ];
      const made = await traded(strategies, path);
      expect(made.trades.count).toBeGreaterThan(5);
      const read = await reportOf(path);
      expect(moneyOf(read)).toEqual(moneyOf(made));
      expect(read.quota.requests).toBeGreaterThan(0);
      // What is held counts at the last price stored, so profit may differ by that price alone.
      expect(heldOf(read)).toEqual(heldOf(made));
    });

    it("stores many resting orders as they end, and every event but those that are skipped", async () => {
      const [path, log] = [fresh(), join(folder, "events.ndjson")];
      await runBacktest({
        service: backtest({ fixture: "test/fixtures/demo" }),
        strategies: [ladder({ instId: "BTC-USDT-SWAP" })],
        plugins: [journalFile({ path: log }), sqlite({ path, skip: ["action.held"], batchMax: 7 })],
      });
      const events = readFileSync(log, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { seq: number; type: string; clOrdId?: string; phase?: string });
      expect(rowsOf(path, "SELECT seq, type FROM events ORDER BY seq")).toEqual(
        events.filter(({ type }) => type !== "action.held").map(({ seq, type }) => ({ seq, type })),
      );
      const phases = new Map(
        events.flatMap(({ type, clOrdId, phase }) => (type === "order.changed" ? [[clOrdId, phase] as const] : [])),
      );
      const orders = rowsOf(path, "SELECT clOrdId, phase FROM orders");
      expect(orders.length).toBe(phases.size);
      for (const { clOrdId, phase } of orders) expect(phase).toBe(phases.get(clOrdId as string));
    });

    it("keeps runs of one file apart, and reports a span of one", async () => {
      const path = fresh();
      const strategies = [averageCross({ instId: "BTC-USDT-SWAP", fast: 3, slow: 7 })];
      await traded(strategies, path);
      const whole = await reportOf(path);
      const fills = rowsOf(path, "SELECT at, cost, position FROM fills ORDER BY at") as readonly {
        at: number;
        cost: string;
        position: string;
      }[];
      const from = (fills[4]?.at ?? 0) + 1;
      const part = await reportOf(path, "--from", `${from}`);
      // What was held counts as bought at the beginning, without a fee.
      expect(part.fills).toBe(whole.fills - 5 + 1);
      expect(Number(part.fees)).toBeCloseTo(
        fills.slice(5).reduce((sum, { cost }) => sum + Number(cost), 0),
        9,
      );
      expect(part.assumptions).toContainEqual(
        expect.objectContaining({ what: "Holdings at the start", value: "1 positions" }),
      );
      await traded(strategies, path);
      expect(rowsOf(path, "SELECT run FROM runs")).toEqual([{ run: 1 }, { run: 2 }]);
    });

    it("answers the questions of its page", async () => {
      const path = fresh();
      await traded([averageCross({ instId: "BTC-USDT-SWAP", fast: 3, slow: 7 })], path);
      const queries = [...readFileSync("docs/guides/database.md", "utf8").matchAll(/\| `(SELECT [^`]+)` \|/g)].map(
        ([, query = ""]) => query,
      );
      expect(queries).toHaveLength(4);
      const [fees, last, refused, open] = queries.map((query) => rowsOf(path, query));
      const report = await reportOf(path);
      expect(fees).toEqual([
        { strategy: "average-cross", currency: "USDT", fees: expect.closeTo(Number(report.fees), 9) as number },
      ]);
      expect([last?.length, refused, open]).toEqual([Math.min(10, report.fills), [], []]);
    });

    it("writes a page, trades and text", async () => {
      const path = fresh();
      await traded([averageCross({ instId: "BTC-USDT-SWAP", fast: 3, slow: 7 })], path);
      const [html, trades] = [join(folder, "deep/report.html"), join(folder, "deep/trades.csv")];
      const io = capturedIo();
      expect(await main(["report", "--db", path, "--html", html, "--trades", trades], io, {})).toBe(0);
      expect(readFileSync(html, "utf8")).toContain("<!doctype html>");
      const report = await reportOf(path);
      expect(readFileSync(trades, "utf8").trim().split("\n")).toHaveLength(
        1 + report.trades.count + report.trades.held,
      );
      expect(io.outText).toContain("result");
    });

    it("writes in batches and never more than may wait; what is lost is said", async () => {
      const path = fresh();
      const t = await testPlugin(sqlite({ path, queueMax: 100, flushMs: 60_000 }));
      for (let round = 0; round < 100; round++) {
        t.engine.halt("round").subscribe();
        t.engine.resume("go on");
      }
      await t.stop();
      const lost = Number(/(\d+) entries were not written/.exec(t.printed.at(-1) ?? "")?.[1]);
      expect(t.printed[0]).toBe("sqlite: 100 entries wait to be written: what comes now is lost");
      const stored = rowsOf(path, "SELECT count(*) AS count FROM events")[0]?.["count"] as number;
      expect(stored + lost).toBe(t.events.length - 1 - t.events.findIndex(({ type }) => type === "engine.started"));
    });

    it("goes on when the file is locked for a while, and loses nothing", async () => {
      const path = fresh();
      const t = await testPlugin(sqlite({ path }));
      const other = new Sqlite(path);
      other.exec("BEGIN IMMEDIATE");
      t.engine.halt("locked").subscribe();
      await t.advance(300);
      other.exec("COMMIT");
      other.close();
      await t.advance(300);
      await t.stop();
      expect(t.printed.map((line) => line.replace(path, "FILE"))).toEqual([
        expect.stringMatching(/^sqlite: FILE cannot be written \(.*locked.*\); it is tried again$/),
        "sqlite: FILE is written again",
      ]);
      expect(rowsOf(path, "SELECT type FROM events WHERE type = 'mode.changed' AND body LIKE '%locked%'")).toHaveLength(
        1,
      );
    });

    it("removes old events a part at a time, and goes on when the file is locked then", async () => {
      const path = fresh();
      const t = await testPlugin(sqlite({ path, eventsMax: 1_000 }));
      const filling = new Sqlite(path);
      filling.exec(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) INSERT INTO events SELECT 0, i, i, 'x', '{}' FROM n`,
      );
      const old = (): number =>
        rowsOf(path, "SELECT count(*) AS count FROM events WHERE run = 0")[0]?.["count"] as number;
      await t.advance(599_000);
      const second = new Sqlite(path);
      second.exec("BEGIN IMMEDIATE");
      await t.advance(1_500);
      second.exec("COMMIT");
      second.close();
      expect(t.printed.filter((line) => line.includes("old events"))).toEqual([
        expect.stringMatching(/^sqlite: old events cannot be removed \(.*locked.*\); it is tried again$/),
      ]);
      expect(old()).toBe(6_000);
      await t.advance(598_000);
      const counts = new Set<number>();
      for (let turn = 0; turn < 20; turn++) {
        await t.advance(250);
        counts.add(old());
      }
      expect([...counts].slice(0, 3)).toEqual([6_000, 4_000, 2_000]);
      expect(counts.size).toBe(4);
      filling.close();
      await t.stop();
    });

    it.skipIf(process.platform === "win32")(
      "keeps what it makes for its owner, whatever the umask: the folder, the file and those beside it",
      async () => {
        const inside = join(folder, `own-${count++}`);
        const path = join(inside, "runs.db");
        const before = process.umask(0);
        try {
          const t = await testPlugin(sqlite({ path }));
          await t.advance(1_000);
          const modes = [inside, path, `${path}-wal`, `${path}-shm`].map((one) =>
            (statSync(one).mode & 0o777).toString(8),
          );
          expect(modes).toEqual(["700", "600", "600", "600"]);
          await t.stop();
        } finally {
          process.umask(before);
        }
      },
    );

    it.each([
      [
        "a file of another program",
        (path: string) => new Sqlite(path).exec("CREATE TABLE t (x)"),
        /database of another program/,
      ],
      [
        "a file of a later version",
        (path: string) => {
          new RunStore(path, { name: "x", startedAt: 0 }).close();
          new Sqlite(path).exec("PRAGMA user_version = 99");
        },
        /has version 99, and this program knows 2/,
      ],
    ] as const)("refuses %s, and leaves it as it is", async (_, make, message) => {
      const path = fresh();
      make(path);
      const t = await testPlugin(sqlite({ path }), { failures: "record" });
      expect(t.events.flatMap((event) => (event.type === "plugin.failed" ? [event.message] : []))).toEqual([
        expect.stringMatching(message),
      ]);
      await t.stop();
    });
  },
);

type Fill = Parameters<RunStore["write"]>[0][number] & { readonly kind: "fill" };
const fill = (seq: number, qty: string, more: Partial<Fill["fill"]> = {}, total?: string): Fill => ({
  kind: "fill",
  ...(total !== undefined && { total }),
  fill: {
    ...{
      type: "fill",
      seq,
      at: 1_000 + seq,
      strategy: "s",
      slot: "a",
      instId: "BTC-USDT-SWAP",
      clOrdId: "c1",
      ordId: "1",
    },
    ...{
      side: "buy",
      px: "100",
      qty,
      fee: "-0.1",
      cost: "0.1",
      currency: "USDT",
      liquidity: undefined,
      position: qty,
      recovered: false,
    },
    ...more,
  },
});

describe("Entries that wait", () => {
  it("are looked through once while the file cannot be written, and written a batch a turn then", () => {
    let isBroken = true;
    const written: (readonly Entry[])[] = [];
    const write = (entries: readonly Entry[]): void => {
      if (isBroken) throw new Error("disk full");
      written.push(entries);
    };
    const queue = new Queue(
      { write } as unknown as RunStore,
      { path: "x.db", batchMax: 20, queueMax: 100 },
      () => undefined,
    );
    let looks = 0;
    const totals = new Map<string, string>();
    totals.get = (clOrdId) => {
      looks++;
      return `total of ${clOrdId}`;
    };
    const turn = (): void => {
      queue.complete(totals);
      queue.flush();
    };
    const put = (from: number, to: number): void => {
      for (let seq = from; seq < to; seq++) queue.put(fill(seq, "1", { clOrdId: `c${seq}` }));
    };
    put(0, 50);
    for (let turns = 0; turns < 10; turns++) turn();
    expect(looks).toBe(50);
    isBroken = false;
    turn();
    put(50, 70);
    turn();
    expect([looks, written.length]).toEqual([70, 2]);
    queue.end();
    expect(written.flat().map((entry) => entry.kind === "fill" && entry.total)).toEqual(
      Array.from({ length: 70 }, (_, seq) => `total of c${seq}`),
    );
  });
});

describe.skipIf(!hasSqlite())("A database over restarts", () => {
  const buyOnce = defineStrategy({
    name: "buy-once",
    options: { type: "object", additionalProperties: false, properties: {} },
    wanted: () =>
      concat(
        of([{ slot: "a", instId: "BTC-USDT-SWAP", side: "buy" as const, ordType: "market" as const, qty: "0.002" }]),
        NEVER,
      ),
  });

  /** One run on a journal in real time until it holds so much; what was printed. */
  const runOn = async (path: string, dir: string, held: string): Promise<readonly string[]> => {
    const printed: string[] = [];
    const engine = createEngine(
      {
        service: paper({ instruments: ["BTC-USDT-SWAP"] }),
        journal: { dir },
        strategies: [buyOnce({})],
        plugins: [sqlite({ path, flushMs: 50 })],
      },
      { print: (line) => printed.push(line) },
    );
    await engine.start();
    await expect
      .poll(() => engine.strategies()[0]?.positions.get("BTC-USDT-SWAP")?.qty, { timeout: 20_000 })
      .toBe(held);
    await engine.stop();
    return printed;
  };

  it("adds up to what the journal says is held, and says where it does not", async () => {
    const [path, dir] = [fresh(), join(folder, "journal")];
    for (const held of ["0.002", "0.004"]) {
      const printed = await runOn(path, dir, held);
      const sides = rowsOf(path, "SELECT side, qty FROM fills") as readonly { side: string; qty: string }[];
      expect(sides.length).toBeGreaterThan(0);
      expect(sum(sides.map(({ qty }) => qty))).toBe(held);
      expect(printed).toEqual([]);
    }
    const database = new Sqlite(path);
    database.exec("UPDATE fills SET qty = '0.5' WHERE seq = (SELECT min(seq) FROM fills)");
    database.close();
    const printed = await runOn(path, dir, "0.006");
    expect(printed[0]).toMatch(
      /^sqlite: buy-once holds 0\.\d+ of BTC-USDT-SWAP, and its stored fills make [\d.]+: some are not stored$/,
    );
  });
});

describe.skipIf(!hasSqlite())("A fill in the database", () => {
  const stored = (path: string) =>
    rowsOf(path, "SELECT filledQty, qty, px, cost, fee, run FROM fills ORDER BY run, seq");

  it("is stored once when a later run meets its order again, and only what is missing is added", () => {
    const path = fresh();
    const first = new RunStore(path, { name: "x", startedAt: 0 });
    first.write([fill(1, "1"), fill(2, "0.5", { px: "110", cost: "0.2", fee: "-0.2" })]);
    first.close();
    const second = new RunStore(path, { name: "x", startedAt: 5_000 });
    // The run met the order with 1.5 executed, all of which is stored.
    second.write([fill(1, "1.5", { px: "103.333333333333", cost: "0.3", recovered: true }, "1.5")]);
    expect(stored(path)).toHaveLength(2);
    second.close();
    const third = new RunStore(path, { name: "x", startedAt: 9_000 });
    // Met with 2 at 105 on average: half a unit more, at (2 x 105 - 100 - 55) / 0.5 = 110.
    third.write([fill(1, "2", { px: "105", cost: "0.45", fee: "-0.45", recovered: true }, "2")]);
    expect(stored(path)[2]).toEqual({ filledQty: "2", qty: "0.5", px: "110", cost: "0.15", fee: "-0.15", run: 3 });
    expect(third.position("s", "BTC-USDT-SWAP")).toBe("2");
    third.close();
  });

  it("is stored once when a batch is written again", () => {
    const path = fresh();
    const store = new RunStore(path, { name: "x", startedAt: 0 });
    store.write([fill(1, "1")]);
    store.write([fill(1, "1")]);
    expect(stored(path)).toHaveLength(1);
    store.close();
  });

  it("of a batch that fails is not there, and neither is the rest of it", () => {
    const path = fresh();
    const store = new RunStore(path, { name: "x", startedAt: 0 });
    const broken = {
      kind: "order",
      at: 1,
      order: { clOrdId: "x", spec: { instId: undefined } } as unknown as OrderUpdate,
    } as const;
    expect(() => store.write([fill(1, "1"), broken])).toThrow();
    expect(stored(path)).toEqual([]);
    store.write([fill(1, "1")]);
    expect(stored(path)).toHaveLength(1);
    store.close();
  });

  it("survives a process that ends without closing the file", () => {
    const [path, copy] = [fresh(), fresh()];
    const store = new RunStore(path, { name: "x", startedAt: 0 });
    store.write([fill(1, "1")]);
    // What a killed process leaves: the file and its log, as they are.
    for (const end of ["", "-wal"]) if (existsSync(`${path}${end}`)) copyFileSync(`${path}${end}`, `${copy}${end}`);
    store.close();
    const next = new RunStore(copy, { name: "x", startedAt: 1 });
    expect([next.run, next.position("s", "BTC-USDT-SWAP")]).toEqual([2, "1"]);
    next.close();
  });
});

describe.skipIf(!hasSqlite())("A database of version 1", () => {
  const versionOne = (path: string): void => {
    const database = new Sqlite(path);
    database.exec(readFileSync("test/fixtures/formats/store-1.sql", "utf8"));
    database.close();
  };

  it("is brought to the present version with all it holds, and reported", async () => {
    const path = fresh();
    versionOne(path);
    const store = new RunStore(path, { name: "x", startedAt: 10_000 });
    expect([store.run, store.position("s", "BTC-USDT-SWAP")]).toEqual([2, "0"]);
    store.close();
    expect(rowsOf(path, "PRAGMA user_version")).toEqual([{ user_version: 2 }]);
    const report = await reportOf(path);
    // Bought 0.5 at 100 and sold at 120 with fees of 0.1 each.
    expect([report.realised, report.fees, report.pnl, report.trades.net]).toEqual(["10", "0.2", "9.8", "9.8"]);
  });

  it("is left alone by a report, which says what to do", async () => {
    const path = fresh();
    versionOne(path);
    const before = statSync(path).mtimeMs;
    const io = capturedIo();
    expect(await main(["report", "--db", path], io, {})).toBe(2);
    expect(io.errText).toMatch(/has version 1 of 2. Start an engine with it once/);
    expect(statSync(path).mtimeMs).toBe(before);
  });

  it("loses the oldest events above a bound, and no fill", () => {
    const path = fresh();
    versionOne(path);
    const store = new RunStore(path, { name: "x", startedAt: 10_000 });
    expect([store.eventsAbove(1), store.removeEvents(1), store.eventsAbove(1)]).toEqual([1, 1, 0]);
    store.close();
    expect(rowsOf(path, "SELECT seq FROM events")).toEqual([{ seq: 4 }]);
    expect(rowsOf(path, "SELECT count(*) AS count FROM fills")).toEqual([{ count: 2 }]);
  });
});

describe("A report of a file that is none", () => {
  it.each([
    ["that is not there", ["report", "--db", join(folder, "none.db")], /cannot be opened|no SQLite/],
    ["that is text", ["report", "--db", "package.json"], /cannot be read as a file of SQLite|no SQLite/],
    ["with a time that is none", ["report", "--db", "x.db", "--from", "yesterday"], /"yesterday" is no time/],
    ["with a capital that is none", ["report", "--db", "x.db", "--capital", "-5"], /no amount above zero/],
  ] as const)("%s fails by name", async (_, argv, message) => {
    const io = capturedIo();
    expect(await main([...argv], io, {})).toBeGreaterThan(0);
    expect(io.errText).toMatch(message);
  });
});
