/**
 * A tape played to a venue and its board: what the public channels show of it, and when.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PublicChannels } from "../../../plugins/venue-server/server/public-channels.ts";
import { replayMarket } from "../../../src/backtest/serve/market-replay.ts";
import type { Clock } from "../../../src/clock/clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import {
  type BookMessage,
  bookMessage,
  candleMessage,
  tickerMessage,
  tradeMessage,
} from "../../../src/contract/channels.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { requestProblems } from "../../../src/contract/validate.ts";
import { mul } from "../../../src/decimal.ts";
import { generateTape, instrumentFor } from "../../../src/market/tape/generate.ts";
import { createTape, type Series, type SeriesKind, seriesOf, type Tape } from "../../../src/market/tape/tape.ts";
import { createVenue } from "../../../src/venue/venue.ts";

const btc = { instId: "BTC-USDT-SWAP", tickSize: "0.1", lotSize: "0.001" };
const eth = { instId: "ETH-USDT", tickSize: "0.05", lotSize: "0.25" };
const swap = btc.instId;
const recordedAt = 1_704_067_200_000;
/** A whole minute, much later than the recording. */
const startAt = 1_700_000_040_000 + 60_000_000_000;

/** Rows `[ms after the start, …columns]`. */
const series = (kind: SeriesKind, rows: readonly (readonly number[])[], { instrument = 0, barMs = 0 } = {}): Series =>
  seriesOf(
    kind,
    instrument,
    Float64Array.from(rows, ([ms]) => recordedAt + (ms as number)),
    (rows[0] ?? []).slice(1).map((_, column) => Float64Array.from(rows, (row) => row[column + 1] as number)),
    barMs,
  );
const tapeOf = (...all: readonly Series[]): Tape => createTape([btc, eth], all);

const served = (tape: Tape, options: Parameters<typeof replayMarket>[4] = {}, at = startAt) => {
  const contract = createContract();
  const clock = createVirtualClock(at);
  const board = new PublicChannels(contract);
  const venue = createVenue({
    contract,
    instruments: tape.instruments,
    users: [
      { uid: "ann", keys: [{ name: "ann-1", permissions: ["read", "trade_futures"] }], balances: { USDT: "100000" } },
    ],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: false,
  });
  const heard: { after: number; message: Parameters<Parameters<PublicChannels["subscribe"]>[2]>[0] }[] = [];
  const listen = (channel: string, instId = swap) =>
    board.subscribe(channel, instId, (message) => heard.push({ after: clock.now() - at, message }));
  return {
    clock,
    board,
    venue,
    heard,
    listen,
    /** `[ms after the start, data]` of a channel. */
    of: (channel: string) =>
      heard
        .filter(({ message }) => message.channel === channel)
        // biome-ignore lint/suspicious/noExplicitAny: each test reads the fields that it expects.
        .map(({ after, message }) => [after, message.data[0] as any] as const),
    market: () => replayMarket(tape, venue, board, clock, options),
  };
};

describe("Trade and ticker channels", () => {
  const tape = tapeOf(
    series("quote", [
      [0, 600_000, 1_500, 600_001, 2],
      [300, 600_000, 0, 600_002, 7],
    ]),
    series("trade", [
      [100, 1, 600_001, 1],
      [100, -1, 600_000, 1_250],
      [400, 1, 600_002, 10],
    ]),
    series("trade", [[200, 1, 41, 3]], { instrument: 1 }),
  );

  it("are shown when they happened, the first row at once, in exact decimal text", () => {
    const { market, listen, of, clock } = served(tape);
    for (const channel of ["trades", "tickers"]) listen(channel);
    listen("trades", eth.instId);
    market();
    clock.advanceTo(startAt + 1_000);
    const at = (ms: number) => String(startAt + ms);
    expect(of("trades")).toEqual([
      [100, { instId: swap, tradeId: "1", px: "60000.1", sz: "0.001", side: "buy", ts: at(100) }],
      [100, { instId: swap, tradeId: "2", px: "60000", sz: "1.25", side: "sell", ts: at(100) }],
      [200, { instId: "ETH-USDT", tradeId: "1", px: "2.05", sz: "0.75", side: "buy", ts: at(200) }],
      [400, { instId: swap, tradeId: "3", px: "60000.2", sz: "0.01", side: "buy", ts: at(400) }],
    ]);
    expect(of("tickers")).toEqual([
      [0, { instId: swap, last: "", bidPx: "60000", bidSz: "1.5", askPx: "60000.1", askSz: "0.002", ts: at(0) }],
      [300, { instId: swap, last: "60000", bidPx: "", bidSz: "", askPx: "60000.2", askSz: "0.007", ts: at(300) }],
    ]);
  });

  it("reach the venue too, so that its orders meet them", () => {
    const through = tapeOf(
      series("quote", [[0, 600_000, 1, 600_001, 1]]),
      series("trade", [
        [100, -1, 600_000, 1],
        [200, -1, 599_999, 1],
      ]),
    );
    const { market, venue, clock } = served(through, { speed: 2 });
    market();
    const body = { instId: swap, side: "buy", ordType: "limit", px: "60000", sz: "60" };
    venue.handle({ method: "POST", path: "/api/v1/trade/order", query: {}, body, key: "ann-1", ip: "1" }, clock.now());
    clock.advanceTo(startAt + 99);
    expect(venue.truth("ann").orders[0]).toMatchObject({ state: "live" });
    clock.advanceTo(startAt + 100);
    expect(venue.truth("ann").orders[0]).toMatchObject({
      state: "filled",
      avgPx: "60000",
      updatedAt: String(startAt + 100),
    });
  });

  it("of a product that is no longer listed stop", () => {
    const { market, listen, of, venue, clock } = served(tape);
    listen("trades");
    market();
    clock.advanceTo(startAt + 200);
    venue.delist(swap, clock.now());
    clock.advanceTo(startAt + 1_000);
    expect(of("trades")).toHaveLength(2);
  });

  it("at another speed keep their order and are dated on the clock", () => {
    const { market, listen, of, clock } = served(tape, { speed: 0.5 });
    listen("trades");
    market();
    clock.advanceTo(startAt + 10_000);
    expect(of("trades").map(([after, { ts }]) => [after, Number(ts) - startAt])).toEqual([
      [200, 200],
      [200, 200],
      [800, 800],
    ]);
  });

  it("looped go on for ever, later each time, with a pause like those before between the rounds", () => {
    const { market, listen, of, clock, heard } = served(tape, { loop: true });
    listen("trades");
    const playing = market();
    clock.advanceTo(startAt + 1_200);
    expect(of("trades").map(([after, { tradeId }]) => [after, tradeId])).toEqual([
      [100, "1"],
      [100, "2"],
      [400, "3"],
      [580, "4"],
      [580, "5"],
      [880, "6"],
      [1_060, "7"],
      [1_060, "8"],
    ]);
    playing.stop();
    expect(clock.pending).toBe(0);
    const before = heard.length;
    clock.advanceTo(startAt + 100_000);
    expect(heard).toHaveLength(before);
  });

  it("after the end the last prices stay, and no timer does", () => {
    const { market, listen, of, clock, board } = served(tape);
    market();
    clock.advanceTo(startAt + 120_000);
    expect(clock.pending).toBe(0);
    listen("tickers");
    listen("books");
    expect(of("tickers")[0]?.[1]).toMatchObject({ last: "60000", askPx: "60000.2" });
    expect(of("books")[0]?.[1]).toMatchObject({ bids: [], asks: [["60000.2", "0.007"]] });
    expect(board.listeners).toBe(2);
  });

  it("a listener that stops the market hears no more of it", () => {
    const { market, board, clock, listen, of } = served(tape, { loop: true });
    const handle: { stop?: () => void } = {};
    listen("trades");
    board.subscribe("trades", swap, () => handle.stop?.());
    const playing = market();
    handle.stop = () => playing.stop();
    clock.advanceTo(startAt + 10_000);
    expect(of("trades")).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });
});

describe("Book channels", () => {
  it("of quotes alone are the best level of each side, and change with them only", () => {
    const tape = tapeOf(
      series("quote", [
        [0, 10, 1, 12, 2],
        [10, 10, 1, 12, 2],
        [20, 10, 3, 11, 2],
        [30, 9, 3, 11, 0],
      ]),
    );
    const { market, listen, of, clock, heard } = served(tape);
    listen("books");
    market();
    clock.advanceTo(startAt + 100);
    expect(of("books").map(([after, { bids, asks }]) => [after, bids, asks])).toEqual([
      [0, [], []],
      [0, [["1", "0.001"]], [["1.2", "0.002"]]],
      [
        20,
        [["1", "0.003"]],
        [
          ["1.2", "0"],
          ["1.1", "0.002"],
        ],
      ],
      [
        30,
        [
          ["1", "0"],
          ["0.9", "0.003"],
        ],
        [["1.1", "0"]],
      ],
    ]);
    expect(heard.map(({ message }) => message.action)).toEqual(["snapshot", "update", "update", "update"]);
  });

  it("without quotes make the ticker, once for all rows of an instant", () => {
    const tape = tapeOf(
      series("level", [
        [0, 1, 10, 1, 1],
        [0, 1, 9, 1, 0],
        [0, -1, 12, 4, 0],
        [10, 1, 8, 5, 0],
        [20, 1, 10, 0, 0],
        [20, -1, 11, 1, 0],
      ]),
    );
    const { market, listen, of, clock } = served(tape);
    listen("tickers");
    market();
    clock.advanceTo(startAt + 100);
    expect(of("tickers").map(([after, { bidPx, bidSz, askPx, askSz }]) => [after, bidPx, bidSz, askPx, askSz])).toEqual(
      [
        [0, "1", "0.001", "1.2", "0.004"],
        [20, "0.9", "0.001", "1.1", "0.001"],
      ],
    );
  });

  it("beside quotes are the recorded levels alone, and the ticker is the quote", () => {
    const tape = tapeOf(
      series("quote", [
        [0, 10, 1, 12, 2],
        [10, 9, 1, 13, 2],
      ]),
      series("level", [
        [0, 1, 8, 1, 1],
        [5, -1, 14, 4, 0],
      ]),
    );
    const { market, listen, of, clock } = served(tape);
    listen("books");
    listen("tickers");
    market();
    clock.advanceTo(startAt + 100);
    expect(of("books").map(([after, { bids, asks }]) => [after, bids, asks])).toEqual([
      [0, [], []],
      [0, [["0.8", "0.001"]], []],
      [5, [], [["1.4", "0.004"]]],
    ]);
    expect(of("tickers").map(([after, { bidPx }]) => [after, bidPx])).toEqual([
      [0, "1"],
      [10, "0.9"],
    ]);
  });

  it("begin another round without losing the places in the queue that it shows again", () => {
    const tape = tapeOf(
      series("level", [
        [0, 1, 600_000, 1_500, 1],
        [0, -1, 600_010, 1, 0],
        [50, 1, 599_000, 1, 0],
      ]),
      series("trade", [[100, -1, 600_000, 1]]),
    );
    const { market, venue, clock, listen, of } = served(tape, { loop: true });
    const playing = market();
    const body = { instId: swap, side: "buy", ordType: "limit", px: "60000", sz: "60" };
    venue.handle({ method: "POST", path: "/api/v1/trade/order", query: {}, body, key: "ann-1", ip: "1" }, clock.now());
    clock.advanceTo(startAt + 1_000);
    expect(venue.truth("ann").orders[0]?.state).toBe("live");
    playing.stop();
    listen("books");
    expect(of("books")[0]?.[1].asks).toEqual([["60001", "0.001"]]);
  });

  /** Any recording of a book: rows in groups of one instant, some of which are whole books. */
  const group = fc.record({
    gap: fc.integer({ min: 1, max: 40 }),
    whole: fc.boolean(),
    rows: fc.array(fc.tuple(fc.constantFrom(1, -1), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 3 })), {
      minLength: 1,
      maxLength: 6,
    }),
  });
  const rowsOf = (groups: readonly { gap: number; whole: boolean; rows: readonly (readonly number[])[] }[]) => {
    let ms = 0;
    return groups.flatMap(({ gap, whole, rows }) => {
      ms += gap;
      return rows.map((row, index) => [ms, ...row, whole && index === 0 ? 1 : 0]);
    });
  };

  it("built by any listener from its snapshot and the updates is what the tape says, at every moment", () => {
    const options = fc.record({ loop: fc.boolean(), speed: fc.constantFrom(1, 3) });
    fc.assert(
      fc.property(fc.array(group, { minLength: 2, maxLength: 12 }), options, fc.nat(200), (groups, how, joinsAfter) => {
        const rows = rowsOf(groups);
        const tape = tapeOf(series("level", rows));
        const { market, board, clock } = served(tape, how);
        const own = { bids: new Map<string, string>(), asks: new Map<string, string>() };
        let messages = 0;
        clock.setTimer(startAt + joinsAfter, () => {
          board.subscribe("books", swap, ({ action, data }) => {
            expect(action).toBe(messages++ === 0 ? "snapshot" : "update");
            for (const side of ["bids", "asks"] as const) {
              for (const [px, sz] of (data[0] as BookMessage)[side]) {
                if (sz === "0") expect(own[side].delete(px)).toBeDefined();
                else own[side].set(px, sz);
              }
            }
          });
        });
        const playing = market();
        // The other opinion: the rows themselves, in the tape's own counts and times.
        const span = (rows.at(-1)?.[0] as number) - (rows[0]?.[0] as number);
        const period = span + Math.max(1, span / (rows.length - 1));
        const expected = new Map<string, number>();
        let played = 0;
        const dueAt = (index: number) =>
          (Math.floor(index / rows.length) * period +
            ((rows[index % rows.length]?.[0] as number) - (rows[0]?.[0] as number))) /
          how.speed;
        for (let ms = 0; ms <= 240; ms++) {
          clock.advanceTo(startAt + ms + 0.5);
          while ((how.loop || played < rows.length) && dueAt(played) <= ms + 0.5) {
            const [, side, px, qty, whole] = rows[played % rows.length] as [number, number, number, number, number];
            if (whole === 1 || (played > 0 && played % rows.length === 0)) expected.clear();
            if (qty === 0) expected.delete(`${side} ${px}`);
            else expected.set(`${side} ${px}`, qty);
            played++;
          }
          if (messages === 0) continue;
          const shown = [...own.bids]
            .map(([px, sz]) => `1 ${px} ${sz}`)
            .concat([...own.asks].map(([px, sz]) => `-1 ${px} ${sz}`));
          const said = [...expected].map(([key, qty]) => {
            const [side, px] = key.split(" ") as [string, string];
            return `${side} ${mul(px, "0.1")} ${mul(String(qty), "0.001")}`;
          });
          expect(shown.sort()).toEqual(said.sort());
        }
        expect(messages).toBeGreaterThan(0);
        playing.stop();
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  it("the rows of one instant are one message, the last of a price counting", () => {
    const tape = tapeOf(
      series("level", [
        [0, 1, 10, 1, 0],
        [5, 1, 10, 2, 0],
        [5, 1, 10, 3, 0],
        [5, -1, 11, 1, 0],
        [5, -1, 11, 0, 0],
      ]),
    );
    const { market, listen, of, clock } = served(tape);
    market();
    listen("books");
    clock.advanceTo(startAt + 10);
    expect(of("books").slice(1)).toEqual([
      [5, { instId: swap, bids: [["1", "0.003"]], asks: [["1.1", "0"]], ts: String(startAt + 5) }],
    ]);
  });

  it("whoever joins gets the book of that moment, and messages of one moment are shared", () => {
    const board = new PublicChannels(createContract());
    const books: unknown[] = [];
    const join = () => board.subscribe("books", swap, (message) => books.push(message));
    join();
    board.level({ instId: swap, side: "buy", px: "1", sz: "1", at: 5 });
    board.flush(5);
    join();
    join();
    expect(books.slice(2)).toMatchObject([
      { data: [{ bids: [["1", "1"]], ts: "5" }] },
      { data: [{ bids: [["1", "1"]], ts: "5" }] },
    ]);
    expect(books[2]).toBe(books[3]);
    board.level({ instId: swap, side: "buy", px: "1", sz: "2", at: 6 });
    board.flush(6);
    join();
    expect(books.at(-1)).toMatchObject({ action: "snapshot", data: [{ bids: [["1", "2"]], ts: "6" }] });
  });

  it("rows that nobody flushes are shown when the next instant begins", () => {
    const board = new PublicChannels(createContract());
    const told: unknown[] = [];
    board.subscribe("books", swap, ({ data }) => told.push(data[0]));
    board.level({ instId: swap, side: "buy", px: "1", sz: "1", at: 5 });
    expect(told).toHaveLength(1);
    board.level({ instId: swap, side: "buy", px: "2", sz: "1", at: 6 });
    board.subscribe("books", swap, ({ data }) => told.push(data[0]))();
    // Rows that wait are shown to nobody, not even to who joins.
    expect(told.pop()).toEqual({ instId: swap, bids: [["1", "1"]], asks: [], ts: "5" });
    expect(told.slice(1)).toEqual([{ instId: swap, bids: [["1", "1"]], asks: [], ts: "5" }]);
    board.flush(6);
    expect(told.slice(2)).toEqual([{ instId: swap, bids: [["2", "1"]], asks: [], ts: "6" }]);
  });
});

describe("The minute bar channel:", () => {
  const bar = (after: number, ms: number, prices: readonly string[], volume: string, confirm: string) => {
    const [open, high, low, close] = prices;
    return [after, { instId: swap, ts: String(startAt + ms), open, high, low, close, volume, confirm }];
  };

  it("are built from trades: shown as they run, once a second at most, and when the minute is over", () => {
    const tape = tapeOf(
      series("trade", [
        [0, 1, 100, 1],
        [200, 1, 105, 2],
        [900, -1, 95, 4],
        [1_500, 1, 101, 8],
        [61_500, 1, 102, 1],
      ]),
    );
    const { market, listen, of, clock } = served(tape);
    listen("candle1m");
    market();
    clock.advanceTo(startAt + 300_000);
    expect(of("candle1m")).toEqual([
      bar(1_000, 0, ["10", "10.5", "9.5", "9.5"], "0.007", "0"),
      bar(2_000, 0, ["10", "10.5", "9.5", "10.1"], "0.015", "0"),
      bar(60_000, 0, ["10", "10.5", "9.5", "10.1"], "0.015", "1"),
      bar(62_000, 60_000, ["10.2", "10.2", "10.2", "10.2"], "0.001", "0"),
      bar(120_000, 60_000, ["10.2", "10.2", "10.2", "10.2"], "0.001", "1"),
    ]);
    expect(clock.pending).toBe(0);
  });

  it("a trade at the very end of a minute belongs to the next one, after the bar before it was shown", () => {
    const tape = tapeOf(
      series("trade", [
        [0, 1, 100, 1],
        [60_000, 1, 105, 2],
      ]),
    );
    const { market, listen, of, clock } = served(tape);
    listen("candle1m");
    market();
    clock.advanceTo(startAt + 200_000);
    expect(of("candle1m").slice(1)).toEqual([
      bar(60_000, 0, ["10", "10", "10", "10"], "0.001", "1"),
      bar(60_000, 60_000, ["10.5", "10.5", "10.5", "10.5"], "0.002", "0"),
      bar(120_000, 60_000, ["10.5", "10.5", "10.5", "10.5"], "0.002", "1"),
    ]);
  });

  const candles = series(
    "candle",
    [
      [60_000, 100, 110, 90, 105, 4_001],
      [120_000, 105, 106, 95, 96, 8_000],
    ],
    { barMs: 60_000 },
  );

  it("where they are recorded are shown as recorded, and made of their prints while they run", () => {
    const { market, listen, of, clock } = served(tapeOf(candles));
    listen("candle1m");
    listen("trades");
    market();
    clock.advanceTo(startAt + 300_000);
    expect(of("trades").map(([after, { px, sz }]) => [after, px, sz])).toEqual([
      [0, "10.5", "1"],
      [0, "10.5", "2"],
      [20_000, "10.6", "2"],
      [40_000, "9.5", "2"],
      [60_000, "9.6", "2"],
    ]);
    expect(of("candle1m")).toEqual([
      bar(0, -60_000, ["10", "11", "9", "10.5"], "4.001", "1"),
      bar(1_000, 0, ["10.5", "10.5", "10.5", "10.5"], "2", "0"),
      bar(21_000, 0, ["10.5", "10.6", "10.5", "10.6"], "4", "0"),
      bar(41_000, 0, ["10.5", "10.6", "9.5", "9.5"], "6", "0"),
      bar(60_000, 0, ["10.5", "10.6", "9.5", "9.6"], "8", "1"),
    ]);
    expect(clock.pending).toBe(0);
  });

  it("recorded ones end with the clock's minutes, for which the first row waits", () => {
    const { market, listen, of, clock } = served(tapeOf(candles), { loop: true }, startAt + 23_456);
    listen("candle1m");
    listen("trades");
    market();
    clock.advanceTo(startAt + 250_000);
    expect(of("trades")[0]?.[0]).toBe(60_000 - 23_456);
    const ends = of("candle1m").filter(([, { confirm }]) => confirm === "1");
    expect(ends.map(([after, { ts }]) => [after + 23_456, Number(ts) - startAt])).toEqual([
      [60_000, 0],
      [120_000, 60_000],
      [180_000, 120_000],
      [240_000, 180_000],
    ]);
  });

  it("recorded ones begin with their first print, whatever fractions the clock has", () => {
    for (let start = 1_000; start < 1_040; start++) {
      const { market, listen, of, clock } = served(tapeOf(candles), {}, start / 7);
      listen("candle1m");
      market();
      clock.advanceTo(60_000 + 1_000);
      expect(of("candle1m").map(([, { open, volume, confirm }]) => [open, volume, confirm])).toEqual([
        ["10", "4.001", "1"],
        ["10.5", "2", "0"],
      ]);
    }
  });

  it("recorded ones stay whole minutes in every round, whatever else is on the tape", () => {
    const other = series("trade", [[61_234, 1, 41, 3]], { instrument: 1 });
    const tape = tapeOf(series("candle", [[60_000, 100, 110, 90, 105, 4_001]], { barMs: 60_000 }), other);
    const { market, listen, of, clock } = served(tape, { loop: true });
    listen("candle1m");
    market();
    clock.advanceTo(startAt + 300_000);
    const ends = of("candle1m").filter(([, { confirm }]) => confirm === "1");
    expect(ends.map(([, { ts }]) => (Number(ts) - startAt) / 60_000)).toEqual([-1, 1, 3]);
  });

  it("recorded ones beside trades are not shown: the bars are those of the trades", () => {
    const { market, listen, of, clock } = served(tapeOf(candles, series("trade", [[60_500, 1, 100, 1]])));
    listen("candle1m");
    market();
    clock.advanceTo(startAt + 100_000);
    expect(of("candle1m")).toEqual([
      bar(1_000, 0, ["10", "10", "10", "10"], "0.001", "0"),
      bar(60_000, 0, ["10", "10", "10", "10"], "0.001", "1"),
    ]);
  });

  it("recorded ones follow each other in every round of a loop", () => {
    const { market, listen, of, clock } = served(tapeOf(candles), { loop: true });
    listen("candle1m");
    market();
    clock.advanceTo(startAt + 185_000);
    const ends = of("candle1m").filter(([, { confirm }]) => confirm === "1");
    expect(ends.map(([after, { ts, close }]) => [after, Number(ts) - startAt, close])).toEqual([
      [0, -60_000, "10.5"],
      [60_000, 0, "9.6"],
      [120_000, 60_000, "10.5"],
      [180_000, 120_000, "9.6"],
    ]);
    const running = of("candle1m").filter(([after, { confirm }]) => confirm === "0" && after > 120_000);
    expect(running.map(([after, { ts }]) => [after, Number(ts) - startAt])).toEqual([
      [121_000, 120_000],
      [141_000, 120_000],
      [161_000, 120_000],
    ]);
  });

  it("at another speed are those of the clock's minutes, as recorded ones are no minutes any more", () => {
    const { market, listen, of, clock } = served(tapeOf(candles), { speed: 2 });
    listen("candle1m");
    market();
    clock.advanceTo(startAt + 120_000);
    expect(of("candle1m").filter(([, { confirm }]) => confirm === "1")).toEqual([
      bar(60_000, 0, ["10.5", "10.6", "9.5", "9.6"], "9", "1"),
    ]);
  });

  it("prints of a bar between its rows are shown in the book at once", () => {
    const { market, listen, of, clock } = served(tapeOf(candles));
    market();
    clock.advanceTo(startAt + 100);
    listen("books");
    clock.advanceTo(startAt + 40_000);
    // The print after a third of the bar has the same best prices around it.
    expect(of("books").map(([after, { bids, asks }]) => [after, bids, asks])).toEqual([
      [100, [["10.5", "2"]], [["10.6", "2"]]],
      [
        40_000,
        [
          ["10.5", "0"],
          ["9.5", "2"],
        ],
        [
          ["10.6", "0"],
          ["9.6", "2"],
        ],
      ],
    ]);
  });
});

describe("The market replay", () => {
  it("shows nothing that does not fit the schema of its channel", () => {
    const schemas = { trades: tradeMessage, tickers: tickerMessage, books: bookMessage, candle1m: candleMessage };
    const levels = series("level", [
      [7, 1, 10, 1, 1],
      [7.125, -1, 12, 4, 0],
      [8.5, 1, 10, 0, 0],
    ]);
    const made = generateTape({ seed: 1, instruments: [instrumentFor(swap)], minutes: 2, startAt: recordedAt });
    const candle = series("candle", [[0.25, 100, 110, 90, 105, 4_001]], { barMs: 60_000 });
    for (const tape of [tapeOf(levels), tapeOf(candle), made]) {
      const { market, listen, heard, clock } = served(tape, {}, startAt + 0.375);
      for (const channel of Object.keys(schemas)) listen(channel);
      market();
      clock.advanceTo(startAt + 200_000);
      expect(new Set(heard.map(({ message }) => message.channel)).size).toBeGreaterThanOrEqual(2);
      for (const { message } of heard) {
        const schema = schemas[message.channel as keyof typeof schemas];
        expect(message.data.flatMap((record) => requestProblems(schema, record))).toEqual([]);
        expect(JSON.parse(message.text)).toEqual(message.data);
      }
    }
  });

  it("shows all of a generated market, however fast, and is never further ahead than the clock", () => {
    const tape = generateTape({ seed: 1, instruments: [instrumentFor(swap)], minutes: 2, startAt: recordedAt });
    const count = (kind: SeriesKind) => tape.series.find((one) => one.kind === kind)?.at.length;
    for (const speed of [1, 7, 1_000]) {
      const { market, listen, of, clock } = served(tape, { speed }, 12_345.678);
      listen("trades");
      listen("tickers");
      market();
      clock.advanceTo(12_345.678 + 60_000 / speed);
      expect(of("trades").length).toBeLessThan(count("trade") as number);
      clock.advanceTo(12_345.678 + 125_000 / speed);
      expect(of("trades")).toHaveLength(count("trade") as number);
      expect(of("tickers")).toHaveLength(count("quote") as number);
    }
  });

  it("far behind a clock that jumps gives others their turn before it has caught up", () => {
    const tape = tapeOf(
      series(
        "trade",
        Array.from({ length: 9_000 }, (_, ms) => [ms, 1, 10, 1]),
      ),
    );
    const { clock, venue, board, heard, listen } = served(tape);
    let jumpMs = 0;
    const now = () => clock.now() + jumpMs;
    const jumpy: Clock = {
      now,
      wallNow: clock.wallNow,
      setTimer: (at, run) => clock.setTimer(clock.now() + Math.max(0, at - now()), run),
    };
    listen("trades");
    replayMarket(tape, venue, board, jumpy);
    jumpMs = 8_000;
    const turns: number[] = [];
    clock.setTimer(startAt + 1, () => turns.push(heard.length));
    clock.advanceTo(startAt + 1);
    expect(turns).toEqual([2_001]);
    expect(heard).toHaveLength(8_002);
  });

  it("plays a round of no length as often as the clock allows", () => {
    const { market, listen, heard, clock } = served(tapeOf(series("trade", [[0, 1, 10, 1]])), {
      loop: true,
      speed: 10_000,
    });
    listen("trades");
    const playing = market();
    clock.advanceTo(startAt + 100);
    expect(heard).toHaveLength(1_001);
    playing.stop();
  });

  it("an empty tape shows nothing and leaves nothing", () => {
    const { market, clock } = served(tapeOf(), { loop: true });
    const playing = market();
    expect(clock.pending).toBe(0);
    playing.stop();
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 10_001])("refuses a speed of %s", (speed) => {
    const { market } = served(tapeOf(), { speed });
    expect(market).toThrow(`serveMarket: speed is ${speed}; give a number above 0, at most 10000.`);
  });

  it("refuses a tape whose products the venue does not list", () => {
    const { venue, board, clock } = served(createTape([btc], []));
    expect(() => replayMarket(tapeOf(), venue, board, clock)).toThrow(
      /the tape has ETH-USDT, which the venue does not list/,
    );
  });
});
