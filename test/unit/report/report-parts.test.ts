/** The parts of a report that are computed apart: quota over time, coverage of a recording, figures per year, warnings, what limits cost. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mul } from "../../../src/decimal.ts";
import type { Event } from "../../../src/journal/events.ts";
import { askedBars } from "../../../src/market/calendar/bar-calendar.ts";
import { createTape } from "../../../src/market/tape/tape.ts";
import { coverageOf } from "../../../src/report/coverage.ts";
import { limitCostOf, limitCostText } from "../../../src/report/limit-cost.ts";
import { priceLines } from "../../../src/report/price-lines.ts";
import { overTime, QuotaMinutes } from "../../../src/report/quota-minutes.ts";
import type { RunReport } from "../../../src/report/report.ts";
import { returnSeries } from "../../../src/report/return-series.ts";
import { perDay, returnsOf } from "../../../src/report/returns.ts";
import { warningsOf } from "../../../src/report/warnings.ts";
import { btc, calm, candles, candleTape, quoteTape, startAt, swap } from "../../support/harness/backtest.ts";
import { sampleReport, strategy } from "../../support/harness/sample-report.ts";

const minuteMs = 60_000;

describe("Quota use over time", () => {
  const arrival = { key: "k1", uid: "u1", weight: 10, status: 200 };
  const sent = (at: number, waitedMs: number): Event =>
    ({
      seq: 1,
      at,
      type: "action.sent",
      action: 1,
      endpoint: "placeOrder",
      class: "place",
      owner: "a",
      weight: 10,
      key: "k1",
      waitedMs,
    }) as Event;
  const held = (at: number, layer: string, until: number): Event =>
    ({ seq: 1, at, type: "action.held", action: 1, endpoint: "placeOrder", class: "place", layer, until }) as Event;

  it("counts each minute where requests arrive, the fullest user and the fullest second of a key", () => {
    const quota = new QuotaMinutes(0);
    for (const [at, change] of [
      [100, {}],
      [900, {}],
      [1_100, { key: "k2", uid: "u2", weight: 15 }],
      [59_999, { status: 429 }],
      [60_000, {}],
      [61_000, { key: undefined, uid: undefined }],
    ] as const) {
      quota.arrived({ ...arrival, ...change, at });
    }
    expect(quota.minutes(0, 119_999)).toEqual([
      expect.objectContaining({ at: 0, weight: 35, peakWeight: 20, requests: 4, peakKey: 2, refused: 1 }),
      expect.objectContaining({ at: minuteMs, weight: 10, peakWeight: 10, requests: 2, peakKey: 1, refused: 0 }),
    ]);
  });

  it("puts a wait down to the layer that held the queue, and to its turn when none did", () => {
    const quota = new QuotaMinutes(0);
    quota.onEvent(held(1_000, "uid", 60_000));
    quota.onEvent(sent(60_001, 59_000));
    quota.onEvent(held(61_000, "key", 62_000));
    quota.onEvent(sent(62_000, 500));
    quota.onEvent(sent(70_000, 200));
    quota.onEvent(sent(70_000, 0));
    expect(quota.minutes(0, 119_999)[1]).toMatchObject({
      waited: 3,
      waitedMs: { uid: 59_000, key: 500, ip: 0, other: 0, turn: 200 },
    });
  });

  it("keeps the minutes of the service's clock, and clamps what comes before the start and after the end", () => {
    const quota = new QuotaMinutes(2_000);
    for (const at of [-5_000, 57_999, 58_000, 130_000]) quota.arrived({ ...arrival, at });
    const minutes = quota.minutes(0, 100_000);
    expect(minutes.map(({ at, requests }) => [at, requests])).toEqual([
      [0, 2],
      [minuteMs, 2],
    ]);
    // Two minutes counted as one keep the peak of each.
    expect(minutes[0]?.peakWeight).toBe(10);
  });

  it("can leave out the minutes in which nothing was counted, without a difference to any sum, peak or span", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -3, max: 400 }), { maxLength: 12 }),
        fc.integer({ min: 0, max: 300 }),
        (found, length) => {
          const quota = new QuotaMinutes(0);
          for (const [index, minute] of found.entries()) {
            quota.arrived({ ...arrival, at: minute * minuteMs + index });
            quota.onEvent(sent(minute * minuteMs, 0.1 * index));
          }
          const all = quota.minutes(0, length * minuteMs);
          const used = quota.used(0, length * minuteMs);
          const [first, last] = [all[0], all[all.length - 1]];
          expect(all).toHaveLength(length + 1);
          expect(used).toEqual(all.filter((minute) => minute === first || minute === last || minute.requests > 0));
          expect(overTime(used)).toEqual(overTime(all));
        },
      ),
      { numRuns: 50 },
    );
  });

  it("joins minutes into round spans, adding sums and keeping peaks", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_200), { minLength: 1, maxLength: 2_000 }), fc.nat(10_000), (weights, first) => {
        const minutes = weights.map((weight, index) => {
          const waitedMs = { uid: weight, key: 0, ip: 0, other: 0, turn: 0 };
          return {
            at: (first + index) * minuteMs,
            weight,
            peakWeight: weight,
            requests: 1,
            peakKey: 1,
            waited: 1,
            waitedMs,
            refused: 0,
          };
        });
        const { spanMs, spans } = overTime(minutes);
        expect(spans.length).toBeLessThanOrEqual(120);
        expect(spans.every(({ at }, index) => at % spanMs === 0 && at === (spans[0]?.at ?? 0) + index * spanMs)).toBe(
          true,
        );
        expect(spans.reduce((sum, { weight }) => sum + weight, 0)).toBe(
          weights.reduce((sum, weight) => sum + weight, 0),
        );
        expect(Math.max(...spans.map(({ peakWeight }) => peakWeight))).toBe(Math.max(...weights));
      }),
      { numRuns: 50 },
    );
  });

  it("is empty for no minutes", () => {
    expect(overTime([])).toEqual({ spanMs: minuteMs, spans: [] });
  });
});

describe("Market data coverage:", () => {
  it("finds gaps, those at the ends included, and the time in which both sides were quoted", () => {
    const tape = quoteTape([
      [0, 600_000, 5, 600_010, 5],
      [60_000, 600_000, 0, 600_010, 5],
      [120_000, 600_000, 5, 600_010, 5],
      [720_000, 600_000, 5, 600_010, 5],
    ]);
    expect(coverageOf(tape, []).series).toEqual([
      {
        instId: swap,
        kind: "quote",
        rows: 4,
        gaps: 1,
        gapMs: 600_000,
        longest: { fromAt: new Date(startAt + 120_000).toISOString(), ms: 600_000 },
        quotedPercent: "91.6",
      },
    ]);
  });

  it("counts a gap from the first instant of the recording when another series starts later", () => {
    const tape = createTape([btc], [...calm(2).series, candles([[1, 1, 1, 1]], 3_600_000)]);
    expect(coverageOf(tape, []).series[1]).toMatchObject({ kind: "candle 1 h", rows: 1, gaps: 0 });
    expect(coverageOf(tape, []).series[0]).toMatchObject({ kind: "quote", gaps: 1 });
  });

  it.each([
    ["quotes it holds", { kind: "quote", instId: swap }, []],
    ["books it does not hold", { kind: "level", instId: swap }, [`books of ${swap}`]],
    ["trades it does not hold", { kind: "trade", instId: swap }, [`trades of ${swap}`]],
    [
      "bars of neither trades nor shorter bars",
      { kind: "candle", instId: swap, bars: askedBars(60_000) },
      [`candles of 1 min of ${swap}`],
    ],
  ] as const)("tells what was asked for in vain: %s", (_, asked, missing) => {
    expect(coverageOf(calm(600), [asked]).missing).toEqual(missing);
  });

  it.each([
    [60_000, []],
    [120_000, []],
    [90_000, [`candles of 90 s of ${swap}`]],
    [1_200_000, [`candles of 20 min of ${swap}`]],
  ])("bars of %i ms come from recorded minutes when they divide it and fit the recording", (barMs, missing) => {
    const tape = createTape(
      [btc],
      [
        candles(
          Array.from({ length: 10 }, () => [1, 2, 1, 2]),
          60_000,
        ),
      ],
    );
    expect(coverageOf(tape, [{ kind: "candle", instId: swap, bars: askedBars(barMs) }]).missing).toEqual(missing);
  });
});

describe("Price lines", () => {
  it("are every change of price where these are few", () => {
    const rows = [600_000, 600_000, 600_002, 600_000].map((px, index) => [index * 250, px, 5, 600_010, 5] as const);
    expect(priceLines(quoteTape(rows))).toEqual([
      {
        instId: swap,
        of: "quote",
        barMs: 0,
        unit: "0.05",
        at: [0, 500, 750].map((ms) => startAt + ms),
        open: [1_200_010, 1_200_012, 1_200_010],
        high: [1_200_010, 1_200_012, 1_200_010],
        low: [1_200_010, 1_200_012, 1_200_010],
        close: [1_200_010, 1_200_012, 1_200_010],
      },
    ]);
  });

  it("are bars of the shortest round length that fits where changes are many, with every extreme", () => {
    const px = (index: number): number => (index === 250_000 ? 700_000 : 600_000 + (index % 7));
    const [line] = priceLines(
      quoteTape(Array.from({ length: 400_000 }, (_, index) => [index * 250, px(index), 5, px(index) + 10, 5])),
    );
    expect([line?.barMs, line?.at.length]).toEqual([1_000, 100_000]);
    expect(line?.at.every((at) => at % 1_000 === 0)).toBe(true);
    expect(line?.high.filter((high) => high === 1_400_010)).toHaveLength(1);
    expect([line?.open[0], line?.high[0], line?.low[0], line?.close[0]]).toEqual([
      1_200_010, 1_200_016, 1_200_010, 1_200_016,
    ]);
  });

  it("are recorded bars at the instants at which they begin", () => {
    const bars = candleTape([
      [600_000, 600_100, 599_900, 600_050],
      [600_050, 600_060, 600_000, 600_010],
    ]);
    const [line] = priceLines(bars);
    expect([line?.of, line?.barMs, line?.at[1]]).toEqual(["candle", 60_000, (line?.at[0] ?? 0) + 60_000]);
    expect([line?.open[0], line?.high[0], line?.low[0], line?.close[0]]).toEqual([
      1_200_000, 1_200_200, 1_199_800, 1_200_100,
    ]);
  });

  it("leave out instants at which a side was empty", () => {
    expect(priceLines(quoteTape([[0, 600_000, 0, 600_010, 5]]))[0]?.at).toEqual([]);
  });
});

describe("Returns", () => {
  const dayMs = 86_400_000;
  const line = (days: number, values: readonly string[]) =>
    values.map((equity, index) => ({ at: (index * days * dayMs) / (values.length - 1), equity }));

  it("are not annualised in less than a week, and not stated of nothing", () => {
    const short = returnsOf(line(6.9, ["100", "101", "100"]), 6.9 * dayMs);
    expect(short).toMatchObject({ per: "run", percent: "0", startEquity: "100" });
    expect(short).not.toHaveProperty("cagrPercent");
    expect(returnsOf(line(8, ["0", "101"]), 8 * dayMs)).toBeUndefined();
  });

  // Returns of 1 % and -0.5 % in turn: mean 0.25 %, spread 0.866 %, downside 0.3536 %.
  const values = ["100", "101", "100.495", "101.49995", "100.99245025"];

  it("of days compound to 365 of them, and their spread is scaled to them, by hand", () => {
    const twice = values.slice(1).map((value) => mul(value, "1.0099245025"));
    const returns = returnsOf(line(8, [...values, ...twice]), 8 * dayMs);
    // 1.0099245025 ^ 2 over 8 days: e ^ (365 / 8 × 2 × 0.00987557) = 2.46242.
    expect(returns).toMatchObject({ per: "year", percent: "1.9947", samples: 8, everyMs: dayMs });
    expect(Number(returns?.cagrPercent)).toBeCloseTo(146.242, 2);
    expect(Number(returns?.sharpe)).toBeCloseTo((0.0025 / 0.0080178) * Math.sqrt(365), 2);
    expect(Number(returns?.sortino)).toBeCloseTo((0.0025 / 0.0035355) * Math.sqrt(365), 2);
    expect(returns?.single).toMatchObject({
      bestPercent: "1",
      worstPercent: "-0.5",
      averagePercent: "0.25",
      risingPercent: "50",
    });
  });

  it("of a short run have the ratios of the run itself, and nothing that is scaled to a year", () => {
    const returns = returnsOf(line(4, values), 4 * dayMs);
    expect(Number(returns?.sharpe)).toBeCloseTo((0.0025 / 0.0086603) * Math.sqrt(4), 3);
    expect(returns).toMatchObject({ per: "run", months: [], rolling: [] });
    for (const name of ["cagrPercent", "calmar"]) expect(returns).not.toHaveProperty(name);
  });

  it("are of days in UTC: a run that begins and ends within a day has a part of it, and a moment is no day", () => {
    const from = 10 * dayMs + 43_200_000;
    const daysOf = (ms: number) => {
      const equity = Array.from({ length: 40 }, (_, index) => ({
        at: from + (index * ms) / 39,
        equity: String(100 + index),
      }));
      return returnSeries(equity, ms).map(({ day }) => day);
    };
    expect(daysOf(7.2 * dayMs)).toEqual(Array.from({ length: 8 }, (_, index) => `1970-01-${11 + index}`));
    // Half a minute beyond midnight.
    expect(daysOf(7.5 * dayMs + 30_000)).toEqual(Array.from({ length: 8 }, (_, index) => `1970-01-${11 + index}`));
    expect(daysOf(7.5 * dayMs + 90_000).at(-1)).toBe("1970-01-19");
  });

  it.each([
    ["a fifth lost in a week", "80", 7, -99.9991],
    ["almost everything lost", "0.001", 7, -100],
    ["more lost than there was", "-50", 30, -100],
    ["doubled in half a year", "200", 182.5, 298.488],
    ["half lost in two years", "50", 730, -29.2893],
    ["nothing made", "100", 9, 0],
  ])("never lose more than everything: %s", (_, end, days, expected) => {
    expect(Number(returnsOf(line(days, ["100", "90", end]), days * dayMs)?.cagrPercent)).toBeCloseTo(expected, 3);
  });

  it("compound as the platform's own power does, wherever that is not beyond measure", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 7, max: 3_000 }), (cents, days) => {
        const power = 100 * ((cents / 10_000) ** (365 / days) - 1);
        const own = returnsOf(line(days, ["100", "100", (cents / 100).toFixed(2)]), days * dayMs)?.cagrPercent;
        if (power > 1_000_000 * 1.0001) expect(own).toBeUndefined();
        else if (power < 1_000_000 * 0.9999)
          expect(Math.abs(Number(own) - power)).toBeLessThan(1e-4 + Math.abs(power) * 1e-9);
      }),
    );
  });

  it("of parts of different lengths are compared by the day", () => {
    expect(perDay(2, "run", 4 * dayMs)).toBeCloseTo(1, 9);
    expect(perDay(Math.sqrt(365), "year", 30 * dayMs)).toBeCloseTo(1, 9);
  });

  it("have no ratio where they never varied or never fell", () => {
    const flat = returnsOf(line(10, ["100", "100", "100"]), 10 * dayMs);
    expect(flat).toMatchObject({ percent: "0", cagrPercent: "0", volatilityPercent: "0" });
    expect(flat).not.toHaveProperty("sharpe");
    expect(flat).not.toHaveProperty("sortino");
  });

  it("leave out a last sample that comes right after the one before", () => {
    const even = line(8, ["100", "101", "100", "102"]);
    const tail = [...even, { at: 8 * dayMs + 1_000, equity: "102" }];
    expect(returnsOf(tail, 8 * dayMs)).toEqual(returnsOf(even, 8 * dayMs));
  });
});

describe("Report warnings", () => {
  const warned = (change: Partial<RunReport>): readonly string[] => warningsOf({ ...sampleReport(), ...change });
  const orders = { placed: 0, canceled: 0, filled: 0, rejected: 0, refused: 0 };

  it.each<[string, Partial<RunReport>, RegExp | undefined]>([
    ["nothing of an ordinary run", {}, undefined],
    [
      "that every order was refused",
      { orders: { ...orders, refused: 12 }, fills: 0 },
      /^No order was accepted: all 12 orders refused before sending, most often: 51026 /,
    ],
    [
      "that every order was rejected",
      { orders: { ...orders, placed: 3, rejected: 3 }, fills: 0 },
      /^No order was accepted: all 3 orders rejected by the service, most often: /,
    ],
    ["that nothing was wanted", { orders, fills: 0 }, /^No order was wanted/],
    ["that nothing was filled", { orders: { ...orders, placed: 3 }, fills: 0 }, /^No order was filled/],
    ["that limits were lifted", { quota: { ...sampleReport().quota, limits: false } }, /^Limits were not enforced/],
    [
      "which strategy failed",
      { perStrategy: { a: strategy({ state: "failed", error: "x" }) } },
      /^The strategy a failed/,
    ],
    [
      "what the recording lacks",
      { coverage: { ...sampleReport().coverage, missing: ["books of X-Y"] } },
      /no books of X-Y/,
    ],
    [
      "that nothing is left",
      {
        equity: [
          { at: 0, equity: "10" },
          { at: 1, equity: "-0.5" },
        ],
      },
      /^Nothing is left/,
    ],
  ])("say %s", (_, change, expected) => {
    expect(warned(change)).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)]);
  });
});

describe("The cost of the limits", () => {
  const lifted = { ...sampleReport(), resultHash: "other", pnl: "130.4012", fills: 800 };

  it("is without less with, exact", () => {
    const cost = limitCostOf(sampleReport(), lifted);
    expect(cost.difference).toMatchObject({ pnl: "2", fills: 98, placed: 0, volume: "0", waitedMs: 0 });
    expect([cost.with.resultHash, cost.without.resultHash]).toEqual([sampleReport().resultHash, "other"]);
  });

  it("is told side by side within the width", () => {
    const text = limitCostText(sampleReport(), lifted, { columns: 60, colour: false });
    expect(text).toMatch(/result +\+128\.40 +\+130\.40 +\+2\.00/);
    expect(text).toMatch(/fills +702 +800 +\+98/);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
  });
});
