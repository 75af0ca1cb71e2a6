import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { interval, map, mergeMap, of, switchMap, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { ensureMarket, marketOf, writeMarket } from "../../../plugins/session/market-fixture.ts";
import { codecOf } from "../../../plugins/session/market-rows.ts";
import { readSession } from "../../../plugins/session/session-file.ts";
import { backtest, constant, runBacktest } from "../../../src/backtest.ts";
import { readFixture } from "../../../src/market/tape/fixture.ts";
import joinBest from "../../../strategies/join-best.ts";
import { linesOf, newFolder, record, rewrite, strategy } from "./harness/session.ts";

const swap = "BTC-USDT-SWAP";

describe("The market data of a session", () => {
  it("becomes a fixture beside it, on which the same strategies can be backtested", async () => {
    const strategies = [joinBest({ keepWithin: "2", notional: "500" })];
    const { dir } = await record(strategies, { ms: 40_000 });
    const manifest = writeMarket(readSession(dir));
    expect(manifest?.instruments).toEqual([{ instId: swap, tickSize: "0.1", lotSize: "0.001" }]);
    expect(manifest?.series.map(({ kind }) => kind).sort()).toEqual(["quote", "trade"]);
    expect(manifest?.notes).toEqual([]);
    const { tape } = readFixture(dir);
    const quotes = linesOf(dir).filter((line) => line.startsWith('{"in":"stream","stream":"quotes'));
    expect(tape.series.find(({ kind }) => kind === "quote")?.at.length).toBeGreaterThanOrEqual(quotes.length);
    const report = await runBacktest({ service: backtest({ fixture: dir, latency: constant(7) }), strategies });
    expect(report.orders.placed).toBeGreaterThan(1);
    expect(report.orders.filled).toBeGreaterThan(0);
    expect(readSession(dir).notes).toEqual([]);
  });

  it("is written once, and only when something was heard", async () => {
    const { dir } = await record([joinBest({})], { ms: 3_000 });
    const first = ensureMarket(readSession(dir));
    expect(ensureMarket(readSession(dir))).toEqual(first);
    expect(readdirSync(dir).filter((name) => name.startsWith("."))).toEqual([]);
    const deaf = await record([strategy("deaf", { run: () => of(1) })], { ms: 1_000 });
    expect(ensureMarket(readSession(deaf.dir))).toBeUndefined();
    expect(existsSync(`${deaf.dir}/manifest.json`)).toBe(false);
  });

  it("keeps bars, and trades whether or not anybody listened to them", async () => {
    const bars = strategy("bars", { wanted: ({ market }) => market.candles(swap, 2_000).pipe(map(() => [])) });
    const { dir } = await record([bars], { ms: 30_000 });
    const { tape } = marketOf(readSession(dir));
    const kinds = tape.series.map((series) => [series.kind, series.at.length] as const);
    expect(kinds.map(([kind]) => kind).sort()).toEqual(["candle", "trade"]);
    for (const [, rows] of kinds) expect(rows).toBeGreaterThan(3);
  });

  it("keeps once what a later listener was told again", async () => {
    const twice = strategy("twice", {
      run: ({ market }) => interval(900).pipe(switchMap(() => market.quotes(swap).pipe(take(1)))),
    });
    const { dir } = await record([twice], { ms: 10_000 });
    const lines = linesOf(dir);
    // Quotes as they came: news, and what was said to whoever began to listen.
    const quotes = lines.flatMap((line, index) => {
      const said =
        line.startsWith('{"in":"stream","stream":"quotes') ||
        (line.startsWith('{"re":"value"') && lines[index - 1]?.includes("watch"));
      const [row] = said ? (/\[[\d.]+,"[^\]]*\]/.exec(line) ?? []) : [];
      return row === undefined ? [] : [row];
    });
    const changes = quotes.filter((row, index) => row !== quotes[index - 1]);
    expect(changes.length).toBeLessThan(quotes.length);
    expect(marketOf(readSession(dir)).tape.series.find(({ kind }) => kind === "quote")?.at.length).toBe(changes.length);
  });

  it("dates rows by the calendar, not by the engine's clock", async () => {
    const { dir } = await record([joinBest({})], { ms: 2_000 });
    const apart = newFolder();
    const [header = "", ...rest] = linesOf(dir);
    mkdirSync(apart);
    rewrite(apart, [
      header,
      ...rest
        .slice(0, -1)
        .map((line) =>
          line.startsWith('{"in":"open"')
            ? line.replace(/"now":([\d.]+)/, (_, now: string) => `"now":${now},"wall":${Number(now) + 3_600_000}`)
            : line,
        ),
    ]);
    const shift = marketOf(readSession(apart)).tape.startAt - marketOf(readSession(dir)).tape.startAt;
    expect(shift).toBeCloseTo(3_600_000, 2);
  });

  it("says what could not be kept", async () => {
    const { dir } = await record([joinBest({})], { ms: 3_000 });
    const odd = newFolder();
    mkdirSync(odd);
    let count = 0;
    rewrite(
      odd,
      linesOf(dir)
        .slice(0, -1)
        .map((line) =>
          line.startsWith('{"in":"stream","stream":"quotes') && count++ === 0
            ? line.replace(/"value":\[([\d.]+),"[\d.]+","[\d.]+"/, '"value":[$1,"60000.17","1.0005"')
            : line,
        ),
    );
    expect(marketOf(readSession(odd)).notes).toEqual([
      { what: "prices that are not on the tick", count: 1 },
      { what: "quantities that are not whole lots", count: 1 },
    ]);
    rewrite(
      odd,
      linesOf(dir)
        .slice(0, -1)
        .map((line) => line.replaceAll('"instId":"BTC-USDT-SWAP","instType"', '"instId":"ETH-USDT-SWAP","instType"')),
    );
    expect(marketOf(readSession(odd)).tape.length).toBe(0);
    expect(marketOf(readSession(odd)).notes[0]?.what).toBe("rows of BTC-USDT-SWAP, which the service did not list");
  });
});

describe("Book rows of a session", () => {
  const level = (px: string, qty: string) => ({ px, qty });
  it("say the whole once and then what changed, and read back as the same books", () => {
    const codec = codecOf({ kind: "books", instId: swap });
    const books = [
      { instId: swap, at: 1, bids: [level("10", "1"), level("9", "2")], asks: [level("11", "3")] },
      { instId: swap, at: 2, bids: [level("10", "1.5"), level("8", "1")], asks: [level("11", "3")] },
      { instId: swap, at: 3, bids: [], asks: [level("10.5", "1"), level("11", "3"), level("100", "2")] },
    ];
    const rows = books.map((book) => codec.encode(book));
    expect(rows).toEqual([
      [
        1,
        1,
        [
          ["10", "1"],
          ["9", "2"],
        ],
        [["11", "3"]],
      ],
      [
        2,
        0,
        [
          ["9", "0"],
          ["10", "1.5"],
          ["8", "1"],
        ],
        [],
      ],
      [
        3,
        0,
        [
          ["10", "0"],
          ["8", "0"],
        ],
        [
          ["10.5", "1"],
          ["100", "2"],
        ],
      ],
    ]);
    const reader = codecOf({ kind: "books", instId: swap });
    expect(rows.map((row) => reader.decode(row))).toEqual(books);
  });
});

describe("A fixture of books", () => {
  it("holds the first book whole and each change after it", async () => {
    const { dir } = await record(
      [strategy("s", { run: ({ market }) => interval(500).pipe(mergeMap(() => market.quotes(swap))) })],
      {
        ms: 2_000,
      },
    );
    // The header says of which rows fills are made, and those may be quotes.
    const [head = "", ...rest] = linesOf(dir);
    const lines = [
      head,
      ...rest.filter((line) => !line.includes("quotes") && !line.includes('"tape"') && !line.startsWith('{"end"')),
    ];
    const at = 1_767_575_005_000;
    const made = newFolder();
    mkdirSync(made);
    rewrite(made, [
      ...lines,
      JSON.stringify({
        in: "stream",
        stream: `books ${swap}`,
        value: [
          at,
          1,
          [["10", "1"]],
          [
            ["11", "3"],
            ["12", "1"],
          ],
        ],
        now: at,
      }),
      JSON.stringify({ in: "stream", stream: `books ${swap}`, value: [at + 5, 0, [], [["12", "0"]]], now: at + 5 }),
    ]);
    const [series] = marketOf(readSession(made)).tape.series;
    expect(series).toMatchObject({ kind: "level" });
    expect(series?.kind === "level" && [...series.snapshot]).toEqual([1, 0, 0, 0]);
    expect(series?.kind === "level" && [...series.qty]).toEqual([1_000, 3_000, 1_000, 0]);
    expect(series?.kind === "level" && [...series.side]).toEqual([1, -1, -1, -1]);
  });
});
