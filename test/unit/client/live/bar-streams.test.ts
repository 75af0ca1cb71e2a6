import { describe, expect, it } from "vitest";
import { candle, createStage, instId, type StageOptions, trade } from "../../../support/harness/live-market.ts";

const minute = 60_000;

/** Bars of one length as `openedAt: open high low close volume`. */
const bars = (stage: ReturnType<typeof createStage>, barMs: number): string[] => {
  const seen: string[] = [];
  stage.market.candles(instId, barMs).subscribe(({ at, openedAt, open, high, low, close, volume }) => {
    expect(at - openedAt).toBe(barMs);
    seen.push(`${openedAt}: ${open} ${high} ${low} ${close} ${volume}`);
  });
  return seen;
};
const at = (startAt: number, options: StageOptions = {}) => createStage({ ...options, startAt });

describe("Live bars built from trades:", () => {
  it("open, high, low, close and volume, emitted at their end by themselves", () => {
    const stage = at(10_000);
    const seen = bars(stage, 5_000);
    stage.say("trades", [trade("10", "1"), trade("12.50", "0.5"), trade("9", "1.5")]);
    stage.pass(4_999);
    stage.say("trades", [trade("11", "1")]);
    expect(seen).toEqual([]);
    stage.pass(1);
    expect(seen).toEqual(["10000: 10 12.5 9 11 4"]);
    stage.say("trades", [trade("20", "1")]);
    stage.pass(5_000);
    expect(seen.slice(1)).toEqual(["15000: 20 20 20 20 1"]);
    expect([...stage.subscribed.keys()]).toEqual(["trades"]);
  });

  it("a time without trades gives no bar and holds no timer", () => {
    const stage = at(10_000);
    const seen = bars(stage, 5_000);
    stage.say("trades", [trade("10", "1")]);
    stage.pass(50_000);
    expect(seen).toHaveLength(1);
    expect(stage.clock.pending).toBe(0);
  });

  it("several lengths live side by side", () => {
    const stage = at(10_000);
    const [short, long] = [bars(stage, 1_000), bars(stage, 2_500)];
    for (let turn = 0; turn < 5; turn++) {
      stage.say("trades", [trade(String(turn), "1")]);
      stage.pass(1_000);
    }
    expect(short).toHaveLength(5);
    expect(long).toEqual(["10000: 0 2 0 2 3", "12500: 3 4 3 4 2"]);
  });

  it("a bar in which something was missed is not emitted, the next one is", () => {
    const stage = at(10_000);
    const seen = bars(stage, 5_000);
    stage.say("trades", [trade("10", "1")]);
    stage.pass(1_000);
    stage.turn("trades", "waiting");
    stage.pass(1_000);
    stage.turn("trades", "live");
    stage.say("trades", [trade("11", "1")]);
    stage.pass(3_000);
    stage.say("trades", [trade("12", "1")]);
    stage.pass(5_000);
    expect(seen).toEqual(["15000: 12 12 12 12 1"]);
  });

  it("an outage over several bars leaves none of them", () => {
    const stage = at(10_000);
    const seen = bars(stage, 5_000);
    stage.turn("trades", "waiting");
    stage.pass(11_000);
    stage.turn("trades", "live");
    stage.say("trades", [trade("11", "1")]);
    stage.pass(4_000);
    stage.say("trades", [trade("12", "1")]);
    stage.pass(5_000);
    expect(seen).toEqual(["25000: 12 12 12 12 1"]);
  });

  it("who comes after all have left begins anew, whatever was missed before", () => {
    const stage = at(10_000);
    const first = stage.market.candles(instId, 5_000).subscribe();
    stage.turn("trades", "waiting");
    stage.turn("trades", "live");
    first.unsubscribe();
    const seen = bars(stage, 5_000);
    stage.say("trades", [trade("11", "1")]);
    stage.pass(5_000);
    expect(seen).toEqual(["10000: 11 11 11 11 1"]);
  });

  it("who stops listening in the middle of a bar leaves no timer", () => {
    const stage = at(10_000);
    const listener = stage.market.candles(instId, 5_000).subscribe();
    stage.say("trades", [trade("10", "1")]);
    listener.unsubscribe();
    stage.pass(5_000);
    expect(stage.clock.pending).toBe(0);
    expect(stage.subscribed.size).toBe(0);
  });
});

describe("Live bars built from the service's minute bars:", () => {
  it("a minute is passed on when it is confirmed, with the service's instants, and once", () => {
    const stage = at(10 * minute + 7);
    const seen = bars(stage, minute);
    stage.say("candle1m", [candle(9 * minute, "1.50", "0")]);
    stage.say("candle1m", [candle(9 * minute, "1.60", "1", "3.0")]);
    stage.say("candle1m", [candle(9 * minute, "1.60", "1", "3.0"), candle(10 * minute, "2")]);
    expect(seen).toEqual(["540000: 1.6 1.6 1.6 1.6 3", "600000: 2 2 2 2 1"]);
    expect(stage.market.lastPx(instId)).toBe("2");
    expect([...stage.subscribed.keys()]).toEqual(["candle1m"]);
  });

  it("longer ones end with their last minute, or with the first one after it", () => {
    const stage = at(10 * minute);
    const seen = bars(stage, 5 * minute);
    for (const [index, px] of ["10", "14", "8", "9", "11"].entries())
      stage.say("candle1m", [candle((10 + index) * minute, px)]);
    expect(seen).toEqual(["600000: 10 14 8 11 5"]);
    stage.say("candle1m", [candle(16 * minute, "20")]);
    stage.say("candle1m", [candle(21 * minute, "30")]);
    expect(seen.slice(1)).toEqual(["900000: 20 20 20 20 1"]);
  });

  it("a loss within one minute costs nothing, as the minute is told as a whole", () => {
    const stage = at(11 * minute + 10_000);
    const seen = bars(stage, 2 * minute);
    stage.turn("candle1m", "waiting");
    stage.pass(minute - 5_000);
    stage.turn("candle1m", "live");
    // Lost at 11:10 and back at 12:05: the minute from 11 was missed, the one from 12 was not.
    stage.say("candle1m", [candle(12 * minute, "1"), candle(13 * minute, "2")]);
    expect(seen).toEqual(["720000: 1 2 1 2 2"]);
  });

  it("a bar of which a minute was missed is not emitted; single minutes are, as far as they are told", () => {
    const stage = at(12 * minute);
    const [two, one] = [bars(stage, 2 * minute), bars(stage, minute)];
    stage.say("candle1m", [candle(12 * minute, "1")]);
    stage.pass(minute + 5_000);
    stage.turn("candle1m", "waiting");
    stage.turn("candle1m", "live");
    stage.say("candle1m", [candle(13 * minute, "2")]);
    stage.say("candle1m", [candle(14 * minute, "3"), candle(15 * minute, "4")]);
    expect(two).toEqual(["840000: 3 4 3 4 2"]);
    expect(one).toHaveLength(4);
  });

  it("the service's calendar decides what was missed, not ours", () => {
    const stage = at(0, { aheadMs: 13 * minute + 59_000 });
    const seen = bars(stage, 2 * minute);
    stage.say("candle1m", [candle(12 * minute, "1")]);
    stage.turn("candle1m", "waiting");
    stage.pass(2_000);
    stage.turn("candle1m", "live");
    stage.say("candle1m", [candle(14 * minute, "3"), candle(15 * minute, "4")]);
    expect(seen).toEqual(["840000: 3 4 3 4 2"]);
  });

  it("where they are refused, trades build minutes too, and never half a bar of each", () => {
    const stage = at(10 * minute, { live: false });
    const seen = bars(stage, minute);
    stage.turn("candle1m", "refused");
    stage.turn("trades", "live");
    stage.say("trades", [trade("1", "1")]);
    stage.pass(minute);
    stage.say("trades", [trade("2", "1")]);
    stage.pass(minute - 1);
    expect(seen).toEqual([]);
    stage.pass(1);
    expect(seen).toEqual(["660000: 2 2 2 2 1"]);
    stage.say("trades", [trade("3", "1")]);
    stage.turn("candle1m", "live");
    stage.pass(minute);
    stage.say("candle1m", [candle(12 * minute, "4"), candle(13 * minute, "5")]);
    expect(seen.slice(1)).toEqual(["780000: 5 5 5 5 1"]);
    stage.pass(5_000);
    expect([...stage.subscribed.keys()]).toEqual(["candle1m"]);
  });

  it("a length that is none is refused by name", () => {
    expect(() => createStage().market.candles(instId, 0.5)).toThrow(/candles: 0.5 is not a bar length/);
  });
});

describe("Live bars of a part of their time:", () => {
  const partials = (stage: ReturnType<typeof createStage>, barMs: number): string[] => {
    const seen: string[] = [];
    stage.market.candles(instId, barMs).subscribe((bar) => seen.push(`${bar.at} ${bar.partial === true}`));
    return seen;
  };

  it("the first from trades is marked, unless it began with the subscription", () => {
    const [late, sharp] = [at(12_000), at(10_000)];
    for (const stage of [late, sharp]) {
      const seen = partials(stage, 5_000);
      stage.pass(500);
      stage.say("trades", [trade("10", "1")]);
      stage.pass(5_000);
      stage.say("trades", [trade("10", "1")]);
      stage.pass(5_000);
      expect(seen).toEqual([`15000 ${stage === late}`, "20000 false"]);
    }
  });

  it("the first from minutes is marked, unless its first minute came", () => {
    const [late, whole] = [at(7 * minute), at(5 * minute)];
    for (const [stage, first] of [
      [late, 7],
      [whole, 5],
    ] as const) {
      const seen = partials(stage, 5 * minute);
      for (let index = first; index < 15; index++) stage.say("candle1m", [candle(index * minute, "1", "1")]);
      expect(seen).toEqual([`${10 * minute} ${stage === late}`, `${15 * minute} false`]);
    }
  });
});

describe("Live bars after quiet minutes:", () => {
  it("end ten seconds after their time, once", () => {
    const stage = at(5 * minute);
    const seen = bars(stage, 5 * minute);
    stage.pass(minute);
    stage.say("candle1m", [candle(5 * minute, "1", "1")]);
    stage.pass(4 * minute + 9_999);
    expect(seen).toEqual([]);
    stage.pass(1);
    expect(seen.map((bar) => bar.split(":")[0])).toEqual([String(5 * minute)]);
    stage.say("candle1m", [candle(9 * minute, "2", "1"), candle(10 * minute, "3", "1")]);
    expect(seen).toHaveLength(1);
  });
});

describe("Live bars of a calendar:", () => {
  it("are weeks from Monday, and days of a zone, whose clocks change on this one", () => {
    const monday = Date.parse("2024-03-11T00:00Z");
    const stage = at(monday - 3 * minute);
    const seen: string[] = [];
    const iso = (instant: number): string => new Date(instant).toISOString().slice(0, 16);
    const take = (name: string) => (bar: { readonly openedAt: number; readonly at: number }) =>
      seen.push(`${name} ${iso(bar.openedAt)} ${iso(bar.at)}`);
    stage.market.candles(instId, "week").subscribe(take("week"));
    stage.market.candles(instId, "day", { anchor: "20:01", zone: "America/New_York" }).subscribe(take("day"));
    for (let index = -3; index < 2; index++) stage.say("candle1m", [candle(monday + index * minute, "1", "1")]);
    expect(seen).toEqual(["week 2024-03-04T00:00 2024-03-11T00:00", "day 2024-03-10T01:01 2024-03-11T00:01"]);
  });
});
