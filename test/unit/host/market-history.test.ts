/** Streams that begin with what came before: the seam between a history source and live bars. */
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { withHistory } from "../../../src/host/market-history.ts";
import type { CandleHistory, HistoryCandle, HistorySource } from "../../../src/market/history.ts";
import { candleOf } from "../../../src/market/history.ts";
import { HotStream } from "../../../src/market/hot-stream.ts";
import type { Candle, Market, Trade } from "../../../src/market/market-data.ts";
import { createStage, instId as listed } from "../../support/harness/live-market.ts";

const instId = "BTC-USDT-SWAP";
const minute = 60_000;
/** The start of an hour. */
const hour = 1_704_067_200_000;

/** A bar that opened `index` bars after the hour, with a close of its own. */
const bar = (index: number, close = String(100 + index), barMs = minute): HistoryCandle => ({
  openedAt: hour + index * barMs,
  at: hour + (index + 1) * barMs,
  open: "100",
  high: "1000",
  low: "10",
  close,
  volume: "1.5",
});

const bars = (from: number, to: number): HistoryCandle[] =>
  Array.from({ length: to - from }, (_, index) => bar(from + index));

interface Stand {
  readonly seen: string[];
  readonly anomalies: string[];
  readonly asks: (readonly [from: number, to: number, count: number])[];
  /** A live bar that opened `index` minutes after the hour, told when it closed. */
  live(index: number, close?: string): void;
  readonly clock: ReturnType<typeof createVirtualClock>;
  readonly market: Market;
}

/** Begins `startMs` after the hour. */
const standing = (source: CandleHistory | HistorySource | undefined, startMs: number): Stand => {
  const clock = createVirtualClock(hour + startMs);
  const candles = new HotStream<Candle>();
  const nothing = new HotStream<never>();
  const anomalies: string[] = [];
  const asks: Stand["asks"] = [];
  const noting: typeof source =
    typeof source === "function"
      ? (inst, barMs, from, to, count) => {
          asks.push([(from - hour) / minute, (to - hour) / minute, count]);
          return source(inst, barMs, from, to, count);
        }
      : source;
  const market = withHistory(
    {
      clock,
      market: {
        trades: () => nothing,
        quotes: () => nothing,
        books: () => nothing,
        candles: () => candles,
        lastPx: () => undefined,
      },
    },
    noting,
    (what, detail) => anomalies.push(`${what}: ${detail}`),
  );
  return {
    seen: [],
    anomalies,
    asks,
    clock,
    market,
    live: (index, close = String(100 + index)) => {
      clock.advanceTo(hour + (index + 1) * minute);
      candles.next(
        candleOf(instId, hour + (index + 1) * minute, minute, {
          open: "100",
          high: "1000",
          low: "10",
          close,
          volume: "1.5",
        }),
      );
    },
  };
};

const listen = (stand: Stand, history: number, barMs = minute) =>
  stand.market
    .candles(instId, barMs, { history })
    .subscribe(({ at, close }) => stand.seen.push(`${(at - hour) / minute}=${close}`));

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
};

describe("Bars with history", () => {
  it("come in order, each once, before the first live bar", () => {
    const stand = standing(
      (_inst, barMs, from, to) =>
        bars(0, 90)
          .filter((one) => one.openedAt >= from && one.openedAt + barMs <= to)
          .reverse(),
      10 * minute,
    );
    listen(stand, 3);
    expect(stand.seen).toEqual(["8=107", "9=108", "10=109"]);
    stand.live(10);
    stand.live(11);
    expect(stand.seen).toEqual(["8=107", "9=108", "10=109", "11=110", "12=111"]);
    expect(stand.asks).toEqual([[7, 10, 3]]);
    expect(stand.anomalies).toEqual([]);
  });

  it("wait for a promise, and so do live bars", async () => {
    let answer: (found: readonly HistoryCandle[]) => void = () => undefined;
    const stand = standing(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
      10 * minute,
    );
    listen(stand, 2);
    stand.clock.advanceTo(hour + 10 * minute + 5_000);
    expect(stand.seen).toEqual([]);
    answer(bars(8, 10));
    await settle();
    expect(stand.seen).toEqual(["9=108", "10=109"]);
    stand.live(10);
    expect(stand.seen).toEqual(["9=108", "10=109", "11=110"]);
  });

  it("of which history and live both tell one show it once", async () => {
    let answer: (found: readonly HistoryCandle[]) => void = () => undefined;
    const stand = standing(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
      10 * minute,
    );
    listen(stand, 2);
    const first = answer;
    stand.live(9);
    first(bars(8, 10));
    await settle();
    stand.live(10);
    expect(stand.seen).toEqual(["9=108", "10=109", "11=110"]);
  });

  it("leave out what is missing, as live leaves out quiet times, and tell it once", () => {
    const stand = standing(() => bars(0, 9).filter((_, index) => index !== 6), 10 * minute);
    listen(stand, 3);
    expect(stand.seen).toEqual(["6=105", "8=107", "9=108"]);
    stand.live(12);
    listen(stand, 3);
    expect(stand.seen.slice(3, 4)).toEqual(["13=112"]);
    expect(stand.anomalies).toEqual([
      "history.gap: 60000 ms bars of BTC-USDT-SWAP: 1 between history and live are missing or were quiet, the first from 2024-01-01T00:06:00.000Z to 2024-01-01T00:07:00.000Z; they are left out",
    ]);
  });

  it("tell of a gap between the last bar of history and the first live one", () => {
    const stand = standing(() => bars(0, 5), 10 * minute);
    listen(stand, 2);
    stand.live(10);
    expect(stand.seen).toEqual(["4=103", "5=104", "11=110"]);
    expect(stand.anomalies).toEqual([
      expect.stringMatching(/^history\.gap: .*: 5 between .* from 2024-01-01T00:05:00\.000Z to 2024-01-01T00:10:00/),
    ]);
  });

  it("take a bar that the source told late before the first live one", () => {
    let known = 9;
    const stand = standing(() => bars(0, known), 10 * minute);
    listen(stand, 2);
    expect(stand.seen).toEqual(["8=107", "9=108"]);
    known = 10;
    stand.live(10);
    expect(stand.seen).toEqual(["8=107", "9=108", "10=109", "11=110"]);
    expect(stand.anomalies).toEqual([]);
  });

  it("take the bar under way at the seam from the source, once it ended", () => {
    let known = 10;
    const stand = standing(() => bars(0, known), 10.5 * minute);
    listen(stand, 2);
    known = 11;
    stand.live(10, "7");
    stand.live(11, "8");
    expect(stand.seen).toEqual(["9=108", "10=109", "11=110", "12=8"]);
    expect(stand.asks.map(([from, to]) => [from, to])).toEqual([
      [8, 10.5],
      [10, 11],
    ]);
  });

  it("keep the live bar where the source does not have it", () => {
    const stand = standing(() => bars(0, 10), 10.5 * minute);
    listen(stand, 2);
    stand.live(10, "7");
    expect(stand.seen).toEqual(["9=108", "10=109", "11=7"]);
  });

  it("show nothing that closes after the instant of subscribing", () => {
    const stand = standing(() => bars(0, 20), 10.5 * minute);
    listen(stand, 3);
    expect(stand.seen).toEqual(["8=107", "9=108", "10=109"]);
    expect(stand.anomalies).toEqual([
      "history.ahead: 60000 ms bars of BTC-USDT-SWAP: config.history showed 10 that had not closed; they are left out",
    ]);
  });

  it("are joined from shorter ones, exactly", () => {
    const stand = standing(
      () => [
        { ...bar(0), open: "5", high: "9.5", low: "4", close: "6", volume: "0.1" },
        { ...bar(1), open: "6", high: "10.25", low: "5", close: "7", volume: "0.2" },
        { ...bar(4), open: "7", high: "8", low: "3.125", close: "7.5", volume: "0.3" },
        // The next five minutes are not over.
        { ...bar(5) },
      ],
      7 * minute,
    );
    const seen: Candle[] = [];
    stand.market.candles(instId, 5 * minute, { history: 1 }).subscribe((one) => seen.push(one));
    // 0.1 + 0.2 + 0.3 as a float is 0.6000000000000001.
    expect(seen).toEqual([
      candleOf(instId, hour + 5 * minute, 5 * minute, {
        open: "5",
        high: "10.25",
        low: "3.125",
        close: "7.5",
        volume: "0.6",
      }),
    ]);
  });

  it("that are fewer than asked for begin with those there are, and say so once", () => {
    const stand = standing(() => bars(8, 10), 10 * minute);
    listen(stand, 200);
    listen(stand, 200);
    expect(stand.seen).toEqual(["9=108", "10=109", "9=108", "10=109"]);
    expect(stand.anomalies).toEqual([
      "history.short: 60000 ms bars of BTC-USDT-SWAP: 200 were asked for, and there are 2",
    ]);
  });
});

const named = (candles: CandleHistory): HistorySource => ({ name: "archive", candles });

describe("A history source that cannot answer is told by name, and live bars begin", () => {
  it.each<[string, CandleHistory, RegExp]>([
    [
      "throws",
      () => {
        throw new Error("no disk");
      },
      /^history\.failed: .*: archive: no disk; live data begins without$/,
    ],
    ["rejects", () => Promise.reject(new Error("HTTP 500")), /^history\.failed: .*archive: HTTP 500/],
    ["answers nonsense", () => 7 as never, /^history\.failed: .*archive: it answered number, not a list of bars/],
    [
      "dates bars in seconds",
      () => [{ ...bar(0), openedAt: hour / 1_000 }],
      /archive: bar 1 .* in milliseconds, and this one seems to be in seconds/,
    ],
    [
      "has bars of another length",
      () => [{ ...bar(0), at: hour + 45_000 }],
      /archive: bar 1 of its answer is 45000 ms long/,
    ],
    [
      "gives numbers as prices",
      () => [{ ...bar(0), close: 7 as never }],
      /archive: bar 1 of its answer: close is 7, not decimal text/,
    ],
  ])("%s", async (_, source, told) => {
    const stand = standing(named(source), 10.5 * minute);
    listen(stand, 3);
    await settle();
    stand.live(10);
    expect(stand.seen).toEqual(["11=110"]);
    expect(stand.anomalies).toEqual([expect.stringMatching(told)]);
  });

  it("never answers", async () => {
    const stand = standing(
      named(() => new Promise(() => undefined)),
      10 * minute,
    );
    listen(stand, 3);
    stand.clock.advanceTo(hour + 10 * minute + 9_999);
    expect(stand.anomalies).toEqual([]);
    stand.live(10);
    expect(stand.seen).toEqual(["11=110"]);
    expect(stand.anomalies).toEqual([
      expect.stringMatching(/^history\.unanswered: .*: archive did not answer within 10 s; live data begins without$/),
    ]);
  });

  it("answers nobody who has left", async () => {
    let answer: (found: readonly HistoryCandle[]) => void = () => undefined;
    const stand = standing(
      named(
        () =>
          new Promise((resolve) => {
            answer = resolve;
          }),
      ),
      10 * minute,
    );
    listen(stand, 3).unsubscribe();
    answer(bars(0, 10));
    await settle();
    expect([stand.seen, stand.anomalies, stand.clock.nextAt()]).toEqual([[], [], Number.POSITIVE_INFINITY]);
  });

  it("is not there", () => {
    const stand = standing(undefined, 10 * minute);
    listen(stand, 3);
    stand.live(10);
    expect(stand.seen).toEqual(["11=110"]);
    expect(stand.anomalies).toEqual([
      expect.stringMatching(/^history\.none: .*name one in the config, such as history: fromFolder/),
    ]);
  });
});

describe("Live minutes of the service", () => {
  it("follow history, the half of a longer bar before the subscription included", () => {
    const stage = createStage({ startAt: hour + 7 * minute + 20_000 });
    const source: CandleHistory = (_inst, barMs) => {
      const finished = Math.floor((stage.clock.now() - hour) / minute);
      return barMs === 5 * minute ? bars(0, finished) : [];
    };
    const anomalies: string[] = [];
    const market = withHistory(stage, source, (what, detail) => anomalies.push(`${what}: ${detail}`));
    const seen: string[] = [];
    const five: Observable<Candle> = market.candles(listed, 5 * minute, { history: 1 });
    five.subscribe(({ at, close, volume }) => seen.push(`${(at - hour) / minute}=${close} ${volume}`));
    for (let index = 7; index < 15; index++) {
      stage.clock.advanceTo(hour + (index + 1) * minute);
      const { open, high, low, close } = bar(index);
      stage.say("candle1m", [
        { instId: listed, ts: String(hour + index * minute), open, high, low, close, volume: "1.5", confirm: "1" },
      ]);
    }
    // Five minutes of 1.5 each, also in the bar of which live saw three.
    expect(seen).toEqual(["5=104 7.5", "10=109 7.5", "15=114 7.5"]);
    expect(anomalies).toEqual([]);
  });
});

describe("Trades with history", () => {
  it("begin with those before the instant of subscribing", () => {
    const trade = (at: number): Trade => ({
      instId,
      at: hour + at,
      side: "buy",
      px: "100",
      qty: "1",
      pxFloat: 100,
      qtyFloat: 1,
    });
    const stand = standing({ name: "archive", candles: () => [], trades: () => [trade(3), trade(1), trade(10)] }, 10);
    const seen: number[] = [];
    stand.market.trades(instId, { history: 5 }).subscribe(({ at }) => seen.push(at - hour));
    expect(seen).toEqual([1, 3]);
    expect(stand.anomalies).toEqual([
      expect.stringMatching(
        /^history\.ahead: trades of .*archive returned 1 values that lie after the instant asked for/,
      ),
      expect.stringMatching(/^history\.short: trades of .*: 5 were asked for, and there are 2$/),
    ]);
    stand.market.quotes(instId, { history: 5 }).subscribe();
    expect(stand.anomalies[2]).toMatch(/^history\.failed: quotes of .*archive: it has no quotes/);
  });
});

describe("Options of history", () => {
  const { market } = standing(undefined, 0);
  it.each<[string, () => unknown, string]>([
    [
      "a bare count",
      () => market.candles(instId, minute, 200 as never),
      "candles: 200 is not an options object; write { history: 200 }.",
    ],
    [
      "none at all",
      () => market.candles(instId, minute, { history: 0 }),
      "candles: history is 0; give a whole number from 1 to 100000.",
    ],
    [
      "a fraction",
      () => market.trades(instId, { history: 1.5 }),
      "trades: history is 1.5; give a whole number from 1 to 100000.",
    ],
    [
      "a time",
      () => market.candles(instId, minute, { history: 3_600_000 }),
      "candles: history is 3600000; give a whole number from 1 to 100000. It counts bars: for 3600000 ms of 60000 ms bars write 60.",
    ],
    [
      "another word",
      () => market.quotes(instId, { count: 3 } as never),
      'quotes: there is no option "count"; there is history.',
    ],
  ])("refuse %s", (_, ask, message) => {
    expect(ask).toThrow(message);
  });

  it("come after the length of bars, which is in milliseconds", () => {
    const stage = createStage();
    const real = withHistory(stage, undefined, () => undefined);
    expect(() => real.candles(listed, 60, { history: 200 })).toThrow("for bars of 60 seconds write 60000");
    expect(() => real.candles(listed, 300, { history: 200 })).toThrow("for bars of 300 seconds write 300000");
  });
});

describe("Bars of a calendar with history", () => {
  const iso = (at: number): string => new Date(at).toISOString().slice(0, 16);
  const day = 24 * 60 * minute;
  /** A source that holds bars of every length, on a grid that begins at `phase`. */
  const sourceAt =
    (phase: number): CandleHistory =>
    (_inst, barMs, from, to) => {
      const found: HistoryCandle[] = [];
      const first = Math.ceil((from - phase) / barMs) * barMs + phase;
      for (let openedAt = first; openedAt + barMs <= to; openedAt += barMs)
        found.push({ ...bar(0), openedAt, at: openedAt + barMs });
      return found;
    };
  const spans = (source: CandleHistory, ...asked: Parameters<Market["candles"]>) => {
    // Monday, 1 January 2024.
    const stand = standing(source, 0);
    const seen: string[] = [];
    stand.market.candles(...asked).subscribe(({ openedAt, at }) => seen.push(`${iso(openedAt)} ${iso(at)}`));
    return { seen, anomalies: stand.anomalies };
  };

  it("takes weeks from Monday, as exchanges have them", () => {
    const { seen, anomalies } = spans(sourceAt(4 * day), instId, 7 * day, { history: 2 });
    expect(seen).toEqual(["2023-12-18T00:00 2023-12-25T00:00", "2023-12-25T00:00 2024-01-01T00:00"]);
    expect(anomalies).toEqual([]);
  });

  it("tells when weeks begin, where a source has others", () => {
    const { seen, anomalies } = spans(sourceAt(0), instId, 7 * day, { history: 2 });
    expect(seen).toEqual([]);
    expect(anomalies[0]).toMatch(
      /aligned bars of a length that divides it, and one of them begins at 2023-12-\d\dT00:00/,
    );
  });

  it("joins months of days", () => {
    expect(spans(sourceAt(0), instId, "month", { history: 2 }).seen).toEqual([
      "2023-11-01T00:00 2023-12-01T00:00",
      "2023-12-01T00:00 2024-01-01T00:00",
    ]);
  });

  it("joins days of a zone of hours, over a change of clocks too", () => {
    const options = { history: 59, anchor: "17:00", zone: "America/New_York" };
    const { seen } = spans(sourceAt(0), instId, "day", options);
    expect([seen[0], seen.at(-1), seen.length]).toEqual([
      "2023-11-02T21:00 2023-11-03T21:00",
      "2023-12-30T22:00 2023-12-31T22:00",
      59,
    ]);
    expect(seen).toContain("2023-11-04T21:00 2023-11-05T22:00");
  });

  it("names an option that there is not", () => {
    expect(() => spans(sourceAt(0), instId, "day", { offset: 1 } as object)).toThrow(
      'there is no option "offset"; there is history, anchor, zone, partial',
    );
  });
});
