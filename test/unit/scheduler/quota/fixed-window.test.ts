/** What a fixed window does with the evidence of its parts, in instants and units worked out by hand. */
import { describe, expect, it } from "vitest";
import { CountLag } from "../../../../src/scheduler/quota/count-lag.ts";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import type { LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import { fixedClock } from "../../../support/harness/fixed-clock.ts";

const minute: LayerSpec = {
  name: "uid",
  scope: "uid",
  unit: "weight",
  capacity: 1_000,
  windowMs: 60_000,
  banMs: 0,
  anchor: "wall_clock",
  header: { kind: "used", name: "used" },
};
const second: LayerSpec = {
  ...minute,
  name: "key",
  scope: "key",
  unit: "requests",
  capacity: 10,
  windowMs: 1_000,
  header: { kind: "remaining", name: "left" },
};
const most = (units: number) => (): number => units;
/** A call that is answered ten milliseconds later. */
const call = (gauge: FixedWindow, at: number, used?: number, units = 1): number =>
  gauge.end(gauge.begin(units, at), at, at + 10, used, true);

describe("The count of a call that the service did not count", () => {
  /** A window whose count was `used` for a call that was counted, and then `next` for one that was not. */
  const uncounted = (used: number, next: number): FixedWindow => {
    const gauge = new FixedWindow(minute, "u", fixedClock(0, 0));
    call(gauge, 30_000, used, 5);
    gauge.end(gauge.begin(10, 31_000), 31_000, 31_010, next, false);
    return gauge;
  };

  it("is the use of the window, as that of any other call", () => {
    const gauge = uncounted(400, 700);
    expect([gauge.used(31_020), gauge.open, gauge.foreign(31_020)]).toEqual([700, 0, 685]);
    expect(gauge.blockedUntil(301, 31_020, most(1_000))).toBe(60_000);
    expect(gauge.blockedUntil(300, 31_020, most(1_000))).toBeUndefined();
  });

  it("is no evidence of a beginning, of a doubt, or of the limit, where it is lower or impossible", () => {
    const lower = uncounted(400, 3);
    expect([lower.used(31_020), lower.ambiguous, lower.mode]).toEqual([400, false, "measured"]);
    for (let at = 32_000; at < 40_000; at += 1_000) lower.end(lower.begin(1, at), at, at + 10, 3, false);
    expect([lower.mode, lower.windowEndsAt(40_000), lower.capacity]).toEqual(["measured", 60_000, 1_000]);
  });
});

describe("A second whose beginnings only old counts have shown, where no time is told", () => {
  it("runs on once they may be nearly a second apart, so that counts show its beginning again", () => {
    const gauge = new FixedWindow(second, "k", fixedClock(0, 0, false));
    call(gauge, 900, 2);
    call(gauge, 1_100, 1);
    expect(gauge.widthMs(1_110)).toBeCloseTo(210, 0);
    // One call a second, too far apart to tell of one beginning.
    for (let at = 2_100; at < 532_000; at += 1_000) call(gauge, at, 1);
    expect(gauge.widthMs(532_000)).toBeGreaterThan(890);
    for (let at = 532_100; at < 540_000; at += 1_000) call(gauge, at, 1);
    expect(gauge.widthMs(540_000)).toBe(0);
    call(gauge, 540_900, 2);
    call(gauge, 541_100, 1);
    expect(gauge.widthMs(541_110)).toBeCloseTo(210, 0);
  });
});

describe("A minute whose end is not known", () => {
  /** Since 1,010 it has run on; 400 of 1,000 were told of it. */
  const open = (): FixedWindow => {
    const gauge = new FixedWindow(minute, "u", fixedClock(0, 0, false));
    call(gauge, 1_000, 400, 5);
    return gauge;
  };

  it("is spent evenly from what was under way when it was found to run on, and has no room for many at once", () => {
    const gauge = open();
    expect([gauge.paced(1_010), gauge.paced(31_010), gauge.room(31_010, most(1_000)), gauge.spanAt(31_010)]).toEqual([
      25,
      525,
      0,
      undefined,
    ]);
  });

  it("holds what its ceiling says, which is asked for its latest end", () => {
    const gauge = open();
    const asked: unknown[] = [];
    const note = (...window: readonly number[]): number => asked.push(window) && 405;
    expect([gauge.blockedUntil(5, 2_000, note), gauge.blockedUntil(6, 2_000, note)]).toEqual([undefined, 62_000]);
    expect(asked).toEqual([
      [61_010, 1_010, 2_000],
      [61_010, 1_010, 2_000],
    ]);
  });

  it("is looked at by one call at a time once it is half full, and after each more seldom", () => {
    const gauge = open();
    // A 54th of a minute after it was found to run on.
    expect(gauge.blockedUntil(200, 2_000, most(0))).toBeCloseTo(2_121.11, 2);
    const ticket = gauge.begin(200, 2_200);
    expect(gauge.blockedUntil(200, 2_201, most(0))).toBe(62_201);
    gauge.end(ticket, 2_200, 2_210, 600, true);
    expect(gauge.blockedUntil(100, 2_220, most(0))).toBe(5_210);
  });

  it("has ended a window's length after the last answer, when nothing is under way", () => {
    const usedAt = (at: number, isAlone = true): number => {
      const gauge = open();
      if (!isAlone) gauge.begin(5, 50_000);
      gauge.blockedUntil(5, at, most(1_000));
      return gauge.used(at);
    };
    expect([usedAt(61_009), usedAt(61_010), usedAt(61_010, false)]).toEqual([400, 0, 405]);
  });

  it("keeps its number for those who ask by its beginning", () => {
    expect(open().indexOf(240_000, 31_010)).toBe(0);
  });
});

describe("A second whose end is not known", () => {
  it("is closed by a refusal until a window's length after the last answer", () => {
    const gauge = new FixedWindow(second, "k", fixedClock(0, 0, false));
    call(gauge, 110, 3);
    expect(gauge.blockedUntil(1, 200, most(10))).toBeUndefined();
    expect([gauge.shut(200), gauge.blockedUntil(1, 200, most(10))]).toEqual([1_120, 1_120]);
    gauge.begin(1, 900);
    expect(gauge.blockedUntil(1, 1_500, most(10))).toBe(1_501);
  });

  it("is shut for a window's length by a refusal, also by the first answer of all", () => {
    const gauge = new FixedWindow(second, "k", fixedClock(0, 0, false));
    gauge.end(gauge.begin(1, 100_000), 100_000, 100_010, undefined, false);
    gauge.shut(100_010);
    expect([gauge.blockedUntil(1, 100_011, most(10)), gauge.blockedUntil(1, 101_010, most(10))]).toEqual([
      101_010,
      undefined,
    ]);
  });
});

describe("A minute whose end is not known", () => {
  const usedAt = (at: number, last: "refused" | "rejected" | "lost"): number => {
    const gauge = new FixedWindow(minute, "u", fixedClock(0, 0, false));
    call(gauge, 1_000, 400, 5);
    const ticket = gauge.begin(5, 30_000);
    if (last === "lost") gauge.lose(ticket, 30_010);
    else gauge.end(ticket, 30_000, 30_010, undefined, false);
    if (last === "refused") gauge.shut(30_010);
    gauge.blockedUntil(5, at, most(1_000));
    return gauge.used(at);
  };

  it.each([
    ["answered", "a call that was refused since did not land", "refused", 61_010],
    ["rejected", "the service may have counted it", "rejected", 90_010],
    ["lost", "it may have landed until then", "lost", 90_010],
  ] as const)("has ended a minute after the last call that was %s: %s", (_, __, last, ended) => {
    expect([usedAt(ended - 1, last), usedAt(ended, last)]).toEqual([405, 0]);
  });
});

describe("A count that reports nothing left, in the answer to a call that used nothing", () => {
  const address: LayerSpec = { ...minute, name: "ip", scope: "ip", header: { kind: "remaining", name: "left" } };

  it.each<[string, LayerSpec]>([
    ["a key's second", second],
    ["an address's minute", address],
  ])("leaves one unit of %s, because only another count can show that the others are back", (_, spec) => {
    const { capacity, windowMs } = spec;
    const gauge = new FixedWindow(spec, "s", fixedClock(0, 0));
    call(gauge, windowMs, capacity, 0);
    const next = 3 * windowMs;
    expect([gauge.missing, gauge.used(next)]).toEqual([capacity - 1, capacity - 1]);
    expect([1, 2].map((units) => gauge.blockedUntil(units, next, most(capacity)))).toEqual([undefined, 4 * windowMs]);
    call(gauge, next, 1);
    expect([gauge.missing, gauge.used(next + 20)]).toEqual([0, 1]);
  });
});

describe("A minute whose first count is in doubt", () => {
  /** Minute 0 told 400, and minute 1 first 900, more than a minute after that. */
  const doubted = (): FixedWindow => {
    const gauge = new FixedWindow(minute, "u", fixedClock(0, 0));
    call(gauge, 50_000, 400);
    call(gauge, 115_000, 900);
    return gauge;
  };
  const until = (gauge: FixedWindow): number | undefined => gauge.blockedUntil(5, 115_030, most(1_000));

  it("has no room for many at once, and lets one call leave", () => {
    const gauge = doubted();
    expect([gauge.room(115_030, most(1_000)), until(gauge)]).toEqual([0, undefined]);
    gauge.begin(5, 115_020);
    expect(until(gauge)).toBe(116_030);
  });

  it.each<[string, (gauge: FixedWindow, ticket: ReturnType<FixedWindow["begin"]>) => void]>([
    ["is answered", (gauge, ticket) => gauge.end(ticket, 115_020, 115_025, undefined, true)],
    ["is lost", (gauge, ticket) => gauge.lose(ticket, 115_025)],
    ["never left", (gauge, ticket) => gauge.undo(ticket)],
  ])("lets the next one leave when that %s", (_, over) => {
    const gauge = doubted();
    over(gauge, gauge.begin(5, 115_020));
    expect(until(gauge)).toBeUndefined();
  });
});

describe("A second that only the calendar says has begun", () => {
  it("has no room for many at once, and is entered by one call", () => {
    const gauge = new FixedWindow(second, "k", fixedClock(0, 0));
    call(gauge, 7_890, 10);
    expect([gauge.room(8_001, most(10)), gauge.room(8_900, most(10))]).toEqual([0, 1]);
    gauge.begin(1, 8_001);
    expect([gauge.blockedUntil(1, 8_002, () => 99), gauge.blockedUntil(1, 9_001, () => 99)]).toEqual([
      9_002,
      undefined,
    ]);
  });
});

describe("A fixed window", () => {
  it("tells whether counts lag, and what strangers used of it where it is divided", () => {
    const lag = new CountLag();
    const gauge = new FixedWindow(minute, "u", fixedClock(0, 0), lag);
    expect([gauge.lags, gauge.ambiguous]).toEqual([false, false]);
    lag.lagging = true;
    call(gauge, 70_000, 50);
    gauge.strangers = 7;
    gauge.divided = true;
    expect([gauge.lags, gauge.foreign(70_020)]).toEqual([true, 7]);
  });

  it("counts a call on top of a count that lags", () => {
    const lag = new CountLag();
    lag.lagging = true;
    const gauge = new FixedWindow(minute, "u", fixedClock(0, 0), lag);
    call(gauge, 70_000, 3, 5);
    call(gauge, 70_100, 8, 5);
    expect(gauge.used(70_200)).toBe(13);
  });

  it("tells its number by its beginning, when it ends, and what is ours of it", () => {
    const gauge = new FixedWindow(minute, "u", fixedClock(-100, 100));
    call(gauge, 200_000, 30, 5);
    gauge.begin(4, 201_000);
    expect([gauge.endOf(3, 200_000), gauge.indexOf(240_100, 200_000), gauge.spanAt(239_950)]).toEqual([
      240_100,
      4,
      { first: 3, last: 4 },
    ]);
    expect(gauge.ownOf(3)).toEqual({ begun: 9, settled: 5, reported: 30 });
  });

  it("takes what a key's second counts for ours only where requests are counted", () => {
    const left = (unit: LayerSpec["unit"]): number => {
      const gauge = new FixedWindow({ ...second, unit }, "k", fixedClock(0, 0));
      gauge.begin(1, 7_100);
      call(gauge, 7_100, 2);
      return gauge.used(8_000);
    };
    // Two were counted, of which one is not answered: it has landed.
    expect([left("requests"), left("weight")]).toEqual([0, 1]);
  });
});

describe("A minute on the floor", () => {
  /** 40 of 1,000 are used when the second refusal that nothing explains is noted. */
  const fallen = (): FixedWindow => {
    const gauge = new FixedWindow(minute, "u", fixedClock(0, 0));
    call(gauge, 30_000, 40, 40);
    gauge.noteUnexplained(30_500, 30_510);
    gauge.noteUnexplained(31_500, 31_510);
    expect(gauge.mode).toBe("floor");
    return gauge;
  };

  it("is paced by what it has spent, also by calls that leave alike", () => {
    const [once, twice] = [fallen(), fallen()];
    const before = once.paced(32_000) - once.used(32_000);
    once.begin(10, 32_000);
    twice.again(twice.begin(10, 32_000), 32_000);
    expect([once.used(32_000), twice.used(32_000)]).toEqual([50, 60]);
    expect(before - (once.paced(32_000) - once.used(32_000))).toBeCloseTo(10);
    expect(before - (twice.paced(32_000) - twice.used(32_000))).toBeCloseTo(20);
  });

  it("finds no new use by others in a count, which a measured one does", () => {
    const measured = new FixedWindow(minute, "u", fixedClock(0, 0));
    expect([call(fallen(), 33_000, 700, 5), call(measured, 33_000, 700, 5)]).toEqual([0, 695]);
  });

  it("is not closed to the end of the minute by a refusal, and spends less after it, and much less after one in the next minute", () => {
    const gauge = fallen();
    const before = gauge.capacity;
    const until = gauge.shut(34_000);
    expect([until < 60_000, gauge.capacity]).toEqual([true, Math.floor(before * 0.95)]);
    gauge.shut(until);
    expect(gauge.capacity).toBe(Math.floor(before * 0.95));
    gauge.shut(34_000 + 60_000);
    expect(gauge.capacity).toBeLessThan(before * 0.8);
  });

  it("reports no use of others, and learns no limit from a refusal", () => {
    const gauge = fallen();
    call(gauge, 33_000, 700, 5);
    expect([gauge.foreign(33_010), gauge.learnRefusal(33_100, 33_110)]).toEqual([0, false]);
  });

  it("is left with the use that was counted meanwhile, and not entered again for that", () => {
    const gauge = fallen();
    let at = 33_000;
    for (; gauge.mode === "floor" && at < 3_600_000; at += 1_000)
      call(gauge, at, 10 * (1 + Math.floor((at % 60_000) / 1_000)), 10);
    expect([gauge.mode, gauge.used(at), gauge.foreign(at)]).toEqual(["measured", ((at % 60_000) / 1_000) * 10, 0]);
    for (const end = at + 180_000; at < end; at += 1_000) {
      call(gauge, at, 10 * (1 + Math.floor((at % 60_000) / 1_000)), 10);
      expect(gauge.mode).toBe("measured");
    }
  });
});

describe("A key's second on the floor", () => {
  it("is left with the next second, wherever counts showed that it begins", () => {
    const gauge = new FixedWindow(second, "k", fixedClock(0, 0));
    call(gauge, 7_100, 1);
    gauge.noteUnexplained(7_200, 7_210);
    gauge.noteUnexplained(7_300, 7_310);
    expect(gauge.mode).toBe("floor");
    let at = 8_200;
    for (; gauge.mode === "floor" && at < 60_000; at += 1_000) call(gauge, at, 1);
    expect(gauge.mode).toBe("measured");
    const left = at - 1_000;
    expect([gauge.blockedUntil(1, left + 100, () => 10), gauge.blockedUntil(1, left + 801, () => 10)]).toEqual([
      left + 800,
      undefined,
    ]);
  });

  it("is left a second later for the measured one, where nothing has shown when seconds begin", () => {
    const gauge = new FixedWindow(second, "k", fixedClock(0, 0, false));
    gauge.fall(7_000, "a test");
    // The floor is left once counts have shown a beginning. What they showed is not used afterwards.
    call(gauge, 7_900, 2);
    call(gauge, 8_100, 1);
    call(gauge, 11_980);
    expect(gauge.mode).toBe("floor");
    call(gauge, 12_500);
    expect([gauge.mode, gauge.used(12_510)]).toEqual(["measured", 10]);
    expect([12_520, 13_509, 13_510].map((at) => gauge.blockedUntil(1, at, most(10)) !== undefined)).toEqual([
      true,
      true,
      false,
    ]);
  });
});
