/** Recordings of market data over days, on virtual time: what is read back is what was streamed, to the last digit. */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Subject } from "rxjs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MarketRecorder, type MarketRecorderOptions } from "../../../plugins/session/market-recorder.ts";
import type { StreamName } from "../../../plugins/session/market-rows.ts";
import { readIndex, type SealedSegment, sealSegment } from "../../../plugins/session/segment-seal.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { BookView, Candle, Market, Quote, Trade } from "../../../src/market/market-data.ts";
import { readFixture } from "../../../src/market/tape/fixture.ts";

const instId = "BTC-USDT-SWAP";
const eth = "ETH-USDT-SWAP";
const instruments = [
  { instId, tickSize: "0.1", lotSize: "0.001" },
  { instId: eth, tickSize: "0.01", lotSize: "0.01" },
];
const streams: readonly StreamName[] = [
  { kind: "trades", instId },
  { kind: "quotes", instId },
  { kind: "books", instId },
  { kind: "candles", instId, barMs: 60_000 },
  { kind: "trades", instId: eth },
];
const startedAt = Date.UTC(2026, 0, 31, 9, 10);
const hour = 3_600_000;

let dir: string;
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), "recorder-")), "recording");
});
afterEach(() => {
  rmSync(join(dir, ".."), { recursive: true, force: true });
});

const stage = () => {
  const clock = createVirtualClock(5_000);
  clock.stepWall(startedAt - 5_000);
  const trades = { [instId]: new Subject<Trade>(), [eth]: new Subject<Trade>() };
  const [quotes, books, candles] = [new Subject<Quote>(), new Subject<BookView>(), new Subject<Candle>()];
  const market = {
    trades: (id: keyof typeof trades) => trades[id],
    quotes: () => quotes,
    books: () => books,
    candles: () => candles,
    lastPx: () => undefined,
  } as unknown as Market;
  const sealed: SealedSegment[] = [];
  const failed: string[] = [];
  const start = (over: Partial<MarketRecorderOptions> = {}) =>
    MarketRecorder.start({
      dir,
      clock,
      market,
      streams,
      instruments,
      source: "a test",
      segmentMs: hour,
      onSealed: (segment) => sealed.push(segment),
      onFailed: ({ message }) => failed.push(message),
      seal: async (path, endedAt) => sealSegment(path, endedAt),
      ...over,
    });
  const trade = (px: string, qty: string, id: keyof typeof trades = instId) =>
    trades[id].next({ instId: id, at: clock.now(), side: "buy", px, qty, pxFloat: 0, qtyFloat: 0 });
  const book = (bids: readonly [string, string][], asks: readonly [string, string][]) => {
    const levels = (rows: readonly [string, string][]) => rows.map(([px, qty]) => ({ px, qty }));
    books.next({ instId, at: clock.now(), bids: levels(bids), asks: levels(asks) });
  };
  /** Files are written in real time, which the clock does not know. */
  const run = async (ms: number): Promise<void> => {
    clock.advanceTo(clock.now() + ms);
    await vi.waitFor(
      () => expect(readdirSync(dir).filter((file) => file.startsWith(".segment"))).toHaveLength(1),
      60_000,
    );
  };
  return { clock, quotes, candles, trades, sealed, failed, start, trade, book, run };
};

const dated = (at: number): number => startedAt + at - 5_000;
/** Rows of a fixture as texts. */
const rowsIn = (fixture: string): readonly string[] => {
  const { tape } = readFixture(join(dir, fixture));
  return tape.series.flatMap((series) => {
    const one = tape.instruments[series.instrument];
    const px = (count: number): string => String(Math.round(count * Number(one?.tickSize) * 1e6) / 1e6);
    const qty = (count: number): string => String(Math.round(count * Number(one?.lotSize) * 1e6) / 1e6);
    return Array.from(series.at, (at, row) => {
      const place = `${series.kind} ${one?.instId} ${at - startedAt + 5_000}`;
      if (series.kind === "trade") return `${place} ${px(series.px[row] as number)} ${qty(series.qty[row] as number)}`;
      if (series.kind === "level")
        return `${place} ${series.side[row] === 1 ? "bid" : "ask"} ${px(series.px[row] as number)} ${qty(series.qty[row] as number)}${series.snapshot[row] === 1 ? " whole" : ""}`;
      if (series.kind === "quote")
        return `${place} ${px(series.bidPx[row] as number)} ${px(series.askPx[row] as number)}`;
      return `${place} ${series.kind}`;
    });
  });
};

describe("A market recording", () => {
  it("is a fixture an hour on the calendar's hours, each whole in itself, with what was streamed and when", async () => {
    const { clock, sealed, failed, start, trade, book, quotes, run } = stage();
    const recorder = await start();
    trade("60000.1", "0.123");
    quotes.next({
      ...{ instId, at: clock.now(), bidPx: "59999.9", bidQty: "1", askPx: "60000.2", askQty: "2", mid: "60000.05" },
      ...{ bidFloat: 0, askFloat: 0, midFloat: 0 },
    });
    book([["59999.9", "1"]], [["60000.2", "2"]]);
    await run(60_000);
    trade("3000.01", "0.5", eth);
    await run(50 * 60_000);
    // A minute past ten: the second hour began at ten.
    book(
      [
        ["59999.9", "1"],
        ["59999.8", "3"],
      ],
      [["60000.2", "2"]],
    );
    trade("60000.3", "2");
    await run(1_000);
    await recorder.stop();
    expect(failed).toEqual([]);
    expect(sealed.map(({ fixture, rows, gaps }) => [fixture, rows, gaps])).toEqual([
      ["2026-01-31T09-10-00-000Z", 5, []],
      [expect.stringMatching(/^2026-01-31T10-0/), 4, []],
    ]);
    expect(rowsIn(sealed[0]?.fixture ?? "")).toEqual([
      "trade BTC-USDT-SWAP 5000 60000.1 0.123",
      "quote BTC-USDT-SWAP 5000 59999.9 60000.2",
      "level BTC-USDT-SWAP 5000 bid 59999.9 1 whole",
      "level BTC-USDT-SWAP 5000 ask 60000.2 2",
      "trade ETH-USDT-SWAP 65000 3000.01 0.5",
    ]);
    expect(rowsIn(sealed[1]?.fixture ?? "")).toEqual([
      "level BTC-USDT-SWAP 3065000 bid 59999.9 1 whole",
      "level BTC-USDT-SWAP 3065000 bid 59999.8 3",
      "level BTC-USDT-SWAP 3065000 ask 60000.2 2",
      "trade BTC-USDT-SWAP 3065000 60000.3 2",
    ]);
    expect(readIndex(dir)).toEqual(sealed);
    // Nothing lies between two segments.
    expect(sealed[1]?.from).toBe(sealed[0]?.to);
    for (const { fixture, contentHash } of sealed)
      expect(readFixture(join(dir, fixture)).manifest.contentHash).toBe(contentHash);
  });

  it("marks what may be missing, from the last row before it to the first one after it, and tells the book whole again", async () => {
    const { clock, sealed, start, trade, book, run } = stage();
    const recorder = await start();
    trade("60000", "1");
    book([["59999", "1"]], [["60001", "1"]]);
    await run(10_000);
    recorder.cut("socket.lost: 1006");
    await run(20_000);
    recorder.cut("socket.lost: again");
    trade("60001", "1");
    book([["59999", "1"]], [["60002", "1"]]);
    await run(1_000);
    expect(recorder.gaps).toBe(2);
    await recorder.stop();
    const gap = (stream: string, from: number, to: number) => ({
      stream,
      from: dated(from),
      to: dated(to),
      why: "socket.lost: 1006",
    });
    expect(sealed[0]?.gaps.slice(0, 2)).toEqual([
      gap(`trades ${instId}`, 5_000, 35_000),
      gap(`books ${instId}`, 5_000, 35_000),
    ]);
    // The others have not come back before the end.
    expect(sealed[0]?.gaps.slice(2).map(({ stream, to }) => [stream, to])).toEqual(
      [`quotes ${instId}`, `candles ${instId} 60000`, `trades ${eth}`].map((stream) => [stream, dated(clock.now())]),
    );
    expect(rowsIn(sealed[0]?.fixture ?? "").filter((row) => row.includes("whole"))).toHaveLength(2);
    const { notes } = JSON.parse(readFileSync(join(dir, sealed[0]?.fixture ?? "", "manifest.json"), "utf8")) as {
      notes: { what: string }[];
    };
    expect(notes[0]?.what).toBe(
      `trades ${instId} may lack rows from 2026-01-31T09:10:00.000Z to 2026-01-31T09:10:30.000Z: socket.lost: 1006`,
    );
  });

  it("goes on after a process that was killed: its rows are sealed first, but for the line it was writing, and the time between is a gap", async () => {
    const first = stage();
    // Killed: it holds the folder no more and has ended nothing.
    const killed = await first.start();
    first.trade("60000", "1");
    first.trade("60001", "2");
    await first.run(2_000);
    const [file = ""] = readdirSync(dir).filter((name) => name.startsWith(".segment"));
    await vi.waitFor(() => expect(readFileSync(join(dir, file), "utf8").split("\n")).toHaveLength(4), 60_000);
    const text = readFileSync(join(dir, file), "utf8");
    await killed.stop();
    for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true });
    appendFileSync(join(dir, file), `${text}{"row":"trades BTC-USD`);

    const second = stage();
    second.clock.advanceTo(600_000);
    const recorder = await second.start();
    expect(second.sealed.map(({ rows }) => rows)).toEqual([2]);
    expect(rowsIn(second.sealed[0]?.fixture ?? "")).toEqual([
      "trade BTC-USDT-SWAP 5000 60000 1",
      "trade BTC-USDT-SWAP 5000 60001 2",
    ]);
    await second.run(1_000);
    second.trade("60002", "1");
    await recorder.stop();
    expect(second.sealed[1]?.gaps[0]).toEqual({
      stream: `trades ${instId}`,
      from: dated(5_000),
      to: dated(601_000),
      why: "the recorder did not run",
    });
  });

  it("marks what was missing when the process was killed before it came again", async () => {
    const { sealed, start, trade, run } = stage();
    const recorder = await start({
      // As the next process does it: it knows nothing but the file.
      seal: async (path) => sealSegment(path),
    });
    trade("60000", "1");
    trade("3000", "1", eth);
    await run(10_000);
    recorder.cut("socket.lost: 1006");
    await run(5_000);
    trade("60001", "1");
    await run(1_000);
    const [file = ""] = readdirSync(dir).filter((name) => name.startsWith(".segment"));
    await vi.waitFor(() => expect(readFileSync(join(dir, file), "utf8")).toContain("60001"), 60_000);
    const text = readFileSync(join(dir, file), "utf8");
    await recorder.stop();
    for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true });
    appendFileSync(join(dir, file), text);
    sealed.push(sealSegment(join(dir, file)) as SealedSegment);
    expect(sealed.at(-1)?.gaps.map(({ stream, from, to }) => [stream, from, to])).toEqual([
      [`trades ${instId}`, dated(5_000), dated(20_000)],
      ...[`quotes ${instId}`, `books ${instId}`, `candles ${instId} 60000`].map((stream) => [
        stream,
        dated(15_000),
        dated(20_000),
      ]),
      [`trades ${eth}`, dated(5_000), dated(20_000)],
    ]);
  });

  it("ends a segment before its time when it has grown long, and loses no row by it", async () => {
    const { sealed, start, trade, run } = stage();
    const recorder = await start({ lengthMax: 2_000 });
    for (let count = 0; count < 60; count++) {
      trade(String(60_000 + count), "1");
      if (count % 30 !== 29) continue;
      await run(1_000);
      await vi.waitFor(() => expect(sealed).toHaveLength((count + 1) / 30), 60_000);
    }
    await recorder.stop();
    expect(sealed.length).toBeGreaterThan(1);
    const prices = sealed
      .flatMap(({ fixture }) => (fixture === "" ? [] : rowsIn(fixture)))
      .map((row) => Number(row.split(" ")[3]));
    expect(prices).toEqual(Array.from({ length: 60 }, (_, count) => 60_000 + count));
  });

  it("replaces a line of the index that was cut off, and names one that cannot be read", async () => {
    const { sealed, start, trade, run } = stage();
    mkdirSync(dir);
    appendFileSync(join(dir, "segments.ndjson"), '{"fixture":"2026-01-');
    const recorder = await start();
    trade("60000", "1");
    await run(1_000);
    await recorder.stop();
    expect(readIndex(dir)).toEqual(sealed);
    appendFileSync(join(dir, "segments.ndjson"), "nonsense\n");
    expect(() => readIndex(dir)).toThrow(/segments\.ndjson:2: expected a line of JSON .* Remove the line\./);
  });

  it("is sealed once, also where the process was killed between the fixture and its line in the index", async () => {
    const { sealed, start, trade, run } = stage();
    const recorder = await start({
      seal: async (path, endedAt) => {
        const text = readFileSync(path);
        sealSegment(path, endedAt);
        appendFileSync(path, text);
        return sealSegment(path, endedAt);
      },
    });
    trade("60000", "1");
    await run(1_000);
    await recorder.stop();
    expect(readIndex(dir)).toEqual(sealed);
    expect(readdirSync(dir).sort()).toEqual(["2026-01-31T09-10-00-000Z", "segments.ndjson"]);
  });

  it("removes fixtures that are older than asked, and nothing else", async () => {
    const { sealed, start, trade, run } = stage();
    const recorder = await start({ keepMs: 90 * 60_000 });
    for (let turn = 0; turn < 4; turn++) {
      trade("60000", "1");
      await run(hour);
      await vi.waitFor(() => expect(sealed).toHaveLength(turn + 1), 60_000);
    }
    await recorder.stop();
    const kept = sealed.map(({ fixture }) => fixture !== "" && existsSync(join(dir, fixture)));
    expect(kept.slice(0, 2)).toEqual([false, false]);
    expect(kept.slice(2, 4)).toEqual([true, true]);
    expect(readIndex(dir)).toHaveLength(sealed.length);
  });

  it("is written by one process at a time", async () => {
    const { start } = stage();
    const recorder = await start();
    await expect(start()).rejects.toThrow(/another process records here/);
    await recorder.stop();
    await (await start()).stop();
  });

  it("is said to have failed when its segment cannot be sealed, and keeps the segment", async () => {
    const { failed, start, trade, run } = stage();
    const recorder = await start({
      seal: async () => {
        throw new Error("no space left");
      },
    });
    trade("60000", "1");
    await run(1_000);
    await recorder.stop();
    expect(failed).toEqual([expect.stringContaining("cannot be written (no space left)")]);
    expect(readdirSync(dir).filter((name) => name.startsWith(".segment"))).toHaveLength(1);
  });
});
