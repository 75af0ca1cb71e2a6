/** What the charts of a page show of long columns in a stretch of time. */
import { describe, expect, it } from "vitest";
import { barsBetween, fillGroups, lastPlace, lineBetween, placeOf } from "../../../../plugins/ui-kit/client/columns.ts";
import { livesOf, restingBetween } from "../../../../plugins/ui-kit/client/orders.ts";
import { lasting, placesOf, spanText, splitTexts, timeSplits } from "../../../../plugins/ui-kit/client/texts.ts";
import type { InstrumentData, PageData } from "../../../../plugins/ui-kit/page-data.ts";

const minute = 60_000;
const day = 1_440 * minute;
const startAt = Date.UTC(2024, 0, 1);

/** A price a second that swings, with one spike. */
const seconds = (count: number): InstrumentData => {
  const price = Float64Array.from({ length: count }, (_, index) => (index === 777 ? 99_999 : 1_000 + (index % 60)));
  const at = Float64Array.from({ length: count }, (_, index) => index * 1_000);
  const none = new Float64Array();
  const position = { at: none, qty: none };
  return {
    instId: "x",
    base: "X",
    places: 1,
    of: "quote",
    barMs: 0,
    unit: 0.5,
    at,
    open: price,
    high: price,
    low: price,
    close: price,
    position,
  };
};

describe("Bars in sight", () => {
  it("are each price where they are few", () => {
    const bars = barsBetween(seconds(3_600), startAt, 10_500, 20_500, 100);
    expect([bars.barMs, bars.at.length, bars.at[0], bars.close[0]]).toEqual([0, 11, 10_000, 505]);
  });

  it("begin on round times, keep every extreme, and are no more than asked for", () => {
    const bars = barsBetween(seconds(3_600), startAt + 17_000, 0, 3_600_000, 100);
    expect(bars.barMs).toBe(minute);
    expect(bars.at.every((at) => (at + startAt + 17_000) % minute === 0)).toBe(true);
    expect(bars.at.length).toBeLessThanOrEqual(101);
    expect(Math.max(...bars.high)).toBe(49_999.5);
    expect(bars.open[0]).toBe(500);
    expect(bars.open[1]).toBe(500 + 43 / 2);
  });

  it("are none where nothing is recorded", () => {
    expect(barsBetween(seconds(0), startAt, 0, 1_000, 10).at).toEqual([]);
  });
});

describe("A line in sight", () => {
  const at = Float64Array.from({ length: 10_000 }, (_, index) => index);
  const value = Float64Array.from({ length: 10_000 }, (_, index) =>
    index === 5_003 ? -7 : index === 5_007 ? 9 : Math.sin(index),
  );

  it("has its extremes, in order, and reaches beyond both edges", () => {
    const [times, values] = lineBetween({ at, value }, 1_000.5, 9_000.5, 100);
    expect(times.length).toBeLessThanOrEqual(404);
    expect([Math.min(...values), Math.max(...values)]).toEqual([-7, 9]);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect([times[0], times.at(-1)]).toEqual([1_000, 9_001]);
  });

  it("finds places by time, the last of equal ones", () => {
    const some = [1, 2, 2, 2, 5];
    expect([0, 1, 2, 3, 9].map((time) => placeOf(some, time))).toEqual([0, 0, 1, 4, 5]);
    expect([0, 1, 2, 3, 9].map((time) => lastPlace(some, time))).toEqual([-1, 0, 3, 3, 4]);
  });
});

describe("Fills in sight", () => {
  const count = 10_000;
  const fills = {
    at: Float64Array.from({ length: count }, (_, index) => index * 100),
    buy: Float64Array.from({ length: count }, (_, index) => (index % 4 === 0 ? 1 : 0)),
    px: Float64Array.from({ length: count }, (_, index) => 100 + (index % 10)),
    qty: new Float64Array(count).fill(0.5),
    fee: new Float64Array(count).fill(0.01),
  };
  const all = Uint32Array.from({ length: count }, (_, index) => index);

  it("are all in a group, whatever the zoom", () => {
    for (const [from, to] of [
      [0, 1_000_000],
      [0, 10_000],
      [333, 1_777],
    ] as const) {
      const groups = fillGroups(fills, all, { startAt, from, to, most: 50, groupMs: (to - from) / 20 });
      const inside = [...fills.at].filter((at) => at >= from && at < to).length;
      expect(groups.reduce((total, group) => total + group.count, 0)).toBe(inside);
      expect(groups.length).toBeLessThanOrEqual(Math.max(50, 2 * 22));
    }
  });

  it("stand alone where they are few, and else tell mean, extremes and sums of a side", () => {
    expect(
      fillGroups(fills, all, { startAt, from: 0, to: 1_000, most: 50, groupMs: 1 }).map(({ count: size, px }) => [
        size,
        px,
      ]),
    ).toEqual(Array.from({ length: 10 }, (_, index) => [1, 100 + index]));
    const groups = fillGroups(fills, all, { startAt, from: 0, to: 100_000, most: 50, groupMs: 10_000 });
    const buys = groups.find(({ buy }) => buy);
    // Of a hundred fills every fourth is a buy: at 100, 104, 108, 102, 106 in turn.
    expect(buys).toMatchObject({ count: 25, low: 100, high: 108, qty: 12.5 });
    expect(buys?.px).toBeCloseTo(104, 9);
    expect(buys?.fee).toBeCloseTo(0.25, 9);
  });
});

describe("Orders in sight", () => {
  /** Each rests for a second from its own second on. */
  const dataOf = (count: number): PageData =>
    ({
      spanMs: count * 1_000,
      phases: ["sent", "live", "canceled"],
      orders: {
        px: Float64Array.from({ length: count }, (_, index) => 100 + (index % 7)),
        buy: Float64Array.from({ length: count }, (_, index) => index % 2),
        phases: new Float64Array(count).fill(3),
        phase: Float64Array.from({ length: 3 * count }, (_, index) => index % 3),
        phaseAt: Float64Array.from(
          { length: 3 * count },
          (_, index) => Math.floor(index / 3) * 1_000 + (index % 3) * 500,
        ),
      },
    }) as unknown as PageData;
  const placesOf = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, index) => index);

  it("rest from their first phase at the service to their last", () => {
    const data = dataOf(3);
    expect([...livesOf(data).from]).toEqual([500, 1_500, 2_500]);
    const { each, count } = restingBetween(data.orders, placesOf(3), { from: 1_100, to: 1_900 }, 10);
    expect([count, each]).toEqual([1, [{ order: 1, from: 1_500, to: 1_900, px: 101, buy: true }]]);
  });

  it("are counted and keep their lowest and highest where they are many", () => {
    const data = dataOf(5_000);
    livesOf(data);
    const { each, bands, count } = restingBetween(data.orders, placesOf(5_000), { from: 0, to: 5_000_000 }, 100);
    expect([count, each.length, bands.length]).toEqual([5_000, 0, 200]);
    expect(bands.every(({ low, high }) => low === 100 && high === 106)).toBe(true);
  });
});

describe("The axis of time", () => {
  it.each([
    ["an hour", 0, 60 * minute, 6, ["01-01", "00:10", "00:20", "00:30", "00:40", "00:50", "01:00"]],
    [
      "part of a second",
      1_234,
      1_334,
      5,
      ["00:00:01.240", "00:00:01.260", "00:00:01.280", "00:00:01.300", "00:00:01.320"],
    ],
    ["two days", 0, 2 * day, 5, ["01-01", "12:00", "01-02", "12:00", "01-03"]],
    ["a week", 0, 7 * day, 8, ["2024-01-01", "01-02", "01-03", "01-04", "01-05", "01-06", "01-07", "01-08"]],
    ["months", 0, 200 * day, 8, ["2024-01", "2024-02", "2024-03", "2024-04", "2024-05", "2024-06", "2024-07"]],
    ["years", 0, 3_000 * day, 9, ["2024", "2025", "2026", "2027", "2028", "2029", "2030", "2031", "2032"]],
  ])("has round instants over %s", (_, from, to, most, texts) => {
    expect(splitTexts(startAt, timeSplits(startAt, from, to, most))).toEqual(texts);
  });

  it("never crowds, however long the span", () => {
    for (let span = 50; span < 40 * 365 * day; span *= 1.37) {
      const splits = timeSplits(startAt, 12_345, 12_345 + span, 8);
      expect(splits.length).toBeGreaterThan(1);
      expect(splits.length).toBeLessThanOrEqual(10);
    }
  });

  it("has as many digits as tell steps of values apart", () => {
    expect([500, 1, 2.5, 0.2, 0.025, 0.00005].map(placesOf)).toEqual([0, 0, 1, 1, 3, 5]);
  });

  it("spells spans and durations", () => {
    expect([0.25, 25, 999, 1_340, 59_900, 61_000, 3_600_000, 90_000_000].map(lasting)).toEqual([
      "0.3 ms",
      "25 ms",
      "999 ms",
      "1.34 s",
      "59.9 s",
      "1 min 1 s",
      "1 h",
      "1 d 1 h",
    ]);
    expect(spanText(startAt, 0, 3_600_000)).toBe("2024-01-01 00:00:00 – 01:00:00 UTC");
  });
});
