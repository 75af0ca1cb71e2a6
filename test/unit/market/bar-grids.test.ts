/** Bars of calendars and anchors, built by the feed and by history from recorded bars and trades. */
import { describe, expect, it } from "vitest";
import { askedBars } from "../../../src/market/calendar/bar-calendar.ts";
import { createFeed } from "../../../src/market/feed.ts";
import type { Candle, CandleOptions } from "../../../src/market/market-data.ts";
import { historyOfTape } from "../../../src/market/recorded-history.ts";
import { seriesBuilder } from "../../../src/market/tape/series-builder.ts";
import { createTape, type Series, type Tape } from "../../../src/market/tape/tape.ts";

const btc = "BTC-USDT";
const instruments = [{ instId: btc, tickSize: "1", lotSize: "1" }];
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const iso = (at: number): string => new Date(at).toISOString().slice(0, 16);

/** Bars that began at these instants; the number of a bar is its price. */
const bars = (barMs: number, opened: readonly number[]): Series => {
  const builder = seriesBuilder("candle", 0, barMs);
  for (const [index, at] of opened.entries()) builder.push(at + barMs, index + 1, index + 1, index + 1, index + 1, 1);
  return builder.series();
};

const from = (text: string, stepMs: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => Date.parse(`${text}Z`) + index * stepMs);

interface Seen {
  readonly at: number;
  readonly bar: Candle;
}

const play = (tape: Tape, length: Parameters<typeof askedBars>[0], options: CandleOptions = {}): readonly Seen[] => {
  const feed = createFeed(instruments);
  const seen: Seen[] = [];
  let now = 0;
  feed.candles(btc, length, options).subscribe((bar) => seen.push({ at: now, bar }));
  feed.routesOf(tape);
  for (let index = 0; index < tape.length; index++) {
    const at = tape.series[tape.order.series[index] ?? 0]?.at[tape.order.row[index] ?? 0] ?? 0;
    while (feed.nextBarAt < at) {
      now = feed.nextBarAt;
      feed.tick(now);
    }
    now = at;
    feed.deliver(tape, index, at);
  }
  return seen;
};

const span = ({ bar }: Seen): string =>
  `${iso(bar.openedAt)} ${iso(bar.at)} ${bar.open}-${bar.close}${bar.partial === true ? " partial" : ""}`;

describe("Bars built from recorded bars", () => {
  it("of days are weeks from Monday to Monday", () => {
    const tape = createTape(instruments, [bars(day, from("2024-01-01T00:00", day, 20))]);
    expect(play(tape, 7 * day).map(span)).toEqual([
      "2024-01-01T00:00 2024-01-08T00:00 1-7",
      "2024-01-08T00:00 2024-01-15T00:00 8-14",
    ]);
    expect(play(tape, "week").map(span)).toEqual(play(tape, 7 * day).map(span));
  });

  it("of days are months", () => {
    const tape = createTape(instruments, [bars(day, from("2024-01-30T00:00", day, 65))]);
    expect(play(tape, "month").map(span)).toEqual([
      "2024-01-01T00:00 2024-02-01T00:00 1-2 partial",
      "2024-02-01T00:00 2024-03-01T00:00 3-31",
      "2024-03-01T00:00 2024-04-01T00:00 32-62",
    ]);
  });

  it.each<[string, number, string, number, readonly string[]]>([
    ["hours from half past", hour, "2024-03-01T13:30", 2 * hour, ["2024-03-01T13:30 2024-03-01T15:30 1-2"]],
    ["days from 16:00", day, "2024-03-01T16:00", 2 * day, ["2024-03-01T16:00 2024-03-03T16:00 1-2"]],
    ["days from 16:00", day, "2024-03-01T16:00", 7 * day, ["2024-03-03T16:00 2024-03-10T16:00 3-9"]],
  ])("of %s begin as those do", (_, barMs, first, length, whole) => {
    const tape = createTape(instruments, [bars(barMs, from(first, barMs, 10))]);
    const seen = play(tape, length);
    expect(seen.filter(({ bar }) => bar.partial !== true).map(span)).toEqual(expect.arrayContaining([...whole]));
    for (const { at, bar } of seen) expect(bar.at).toBe(at);
  });

  it("never end before their last data, whatever the grid of the recording", () => {
    for (const phase of [1, 15, 37, 59]) {
      const opened = from("2024-03-01T00:00", hour, 60).map((at) => at + phase * minute);
      const tape = createTape(instruments, [bars(hour, opened)]);
      for (const length of [2 * hour, 4 * hour, day] as const) {
        for (const { bar } of play(tape, length)) {
          const last = opened[Number(bar.close) - 1] ?? 0;
          expect(bar.at).toBeGreaterThanOrEqual(last + hour);
          expect(bar.openedAt).toBeLessThanOrEqual(opened[Number(bar.open) - 1] ?? 0);
        }
      }
    }
  });

  it("follow an anchor and a zone that are asked for", () => {
    // Hours over the change of clocks in New York on 10 March 2024; the day is 23 hours long.
    const tape = createTape(instruments, [bars(hour, from("2024-03-08T00:00", hour, 100))]);
    expect(play(tape, "day", { anchor: "17:00", zone: "America/New_York" }).map(span)).toEqual([
      "2024-03-07T22:00 2024-03-08T22:00 1-22 partial",
      "2024-03-08T22:00 2024-03-09T22:00 23-46",
      "2024-03-09T22:00 2024-03-10T21:00 47-69",
      "2024-03-10T21:00 2024-03-11T21:00 70-93",
    ]);
  });

  it("are not made where recorded bars lie in two of them", () => {
    const tape = createTape(instruments, [bars(day, from("2024-03-01T00:00", day, 10))]);
    expect(play(tape, "day", { anchor: "08:00" })).toEqual([]);
    expect(play(createTape(instruments, [bars(7 * day, from("2024-01-01T00:00", 7 * day, 10))]), "month")).toEqual([]);
  });

  it("end at their time where bars are missing, and not with the next one", () => {
    const opened = [...from("2024-03-01T09:00", minute, 58), ...from("2024-03-01T13:00", minute, 61)];
    const seen = play(createTape(instruments, [bars(minute, opened)]), hour);
    expect(seen.map(({ at, bar }) => `${iso(at)} ${iso(bar.at)}`)).toEqual([
      "2024-03-01T10:00 2024-03-01T10:00",
      "2024-03-01T14:00 2024-03-01T14:00",
    ]);
  });

  it("are marked where they begin before the recording", () => {
    const tape = createTape(instruments, [bars(minute, from("2024-03-01T08:37", minute, 100))]);
    expect(play(tape, hour).map(span)).toEqual([
      "2024-03-01T08:00 2024-03-01T09:00 1-23 partial",
      "2024-03-01T09:00 2024-03-01T10:00 24-83",
    ]);
  });
});

describe("Bars built from trades", () => {
  const trades = (...at: readonly string[]): Series => {
    const builder = seriesBuilder("trade", 0);
    for (const [index, text] of at.entries()) builder.push(Date.parse(`${text}Z`), 1, index + 1, 1);
    return builder.series();
  };

  it("are days of a zone", () => {
    const tape = createTape(instruments, [
      trades("2024-03-10T05:00:00", "2024-03-11T03:59:59", "2024-03-11T04:00:00", "2024-03-12T04:00:00"),
    ]);
    expect(play(tape, "day", { zone: "America/New_York" }).map(span)).toEqual([
      "2024-03-10T05:00 2024-03-11T04:00 1-2",
      "2024-03-11T04:00 2024-03-12T04:00 3-3",
    ]);
  });

  it("are marked only where the recording begins within them", () => {
    const rows = ["2024-03-01T08:00:20", "2024-03-01T08:01:20", "2024-03-01T08:02:20"];
    const early = createTape(instruments, [trades("2024-03-01T08:00:00", ...rows)]);
    const late = createTape(instruments, [trades(...rows)]);
    expect(play(early, minute).map(({ bar }) => bar.partial)).toEqual([false, false]);
    expect(play(late, minute).map(({ bar }) => bar.partial)).toEqual([true, false]);
  });
});

describe("History of recorded bars", () => {
  it("has the bars of the stream", () => {
    const tape = createTape(instruments, [bars(hour, from("2024-01-01T00:00", hour, 24 * 100))]);
    for (const [length, options] of [
      ["month", {}],
      ["week", { anchor: "17:00", zone: "America/New_York" }],
      [7 * day, {}],
      [4 * hour, { zone: "America/New_York" }],
    ] as const) {
      const streamed = play(tape, length, options).filter(({ bar }) => bar.partial !== true);
      const found = historyOfTape(tape).candles(btc, askedBars(length, options), tape.endAt, 3);
      expect(found.map((bar) => span({ at: 0, bar }))).toEqual(streamed.slice(-3).map(span));
    }
  });

  it("has a bar whose end has passed, though no data came after it", () => {
    const tape = createTape(instruments, [bars(minute, from("2024-03-01T09:00", minute, 50))]);
    const found = historyOfTape(tape).candles(btc, hour, Date.parse("2024-03-01T10:30Z"), 1);
    expect(found.map(({ at }) => iso(at))).toEqual(["2024-03-01T10:00"]);
  });
});
