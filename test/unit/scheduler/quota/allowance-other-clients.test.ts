/** What ordinary actions leave to others under the same user, and when news of them is due. */
import { describe, expect, it } from "vitest";
import type { Allowances } from "../../../../src/scheduler/quota/allowance.ts";
import { poissonQuantile } from "../../../../src/scheduler/quota/foreign-usage.ts";
import type { Charge, LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import {
  charge,
  gaugeOf,
  minute,
  ordinary,
  second,
  stage,
  startedAt,
  type Use,
} from "../../../support/harness/allowance.ts";

describe("Other clients of the same user", () => {
  /** One of their calls of 20 in twenty seconds. */
  const calm = (allowances: Allowances): Allowances => {
    allowances.noteUse("u", startedAt - 20_000, 0);
    allowances.noteUse("u", startedAt, 20);
    return allowances;
  };
  /** Ten of them a second. */
  const busy = (allowances: Allowances): Allowances => {
    allowances.noteUse("u", startedAt - 10_000, 0);
    for (let call = 0; call < 100; call++) allowances.noteUse("u", startedAt, 20);
    return allowances;
  };
  /** What is left beside reserve and blind call, when we have had an equal part already. */
  const besides = (
    allowances: Allowances,
    remMs: number,
    use: Use = {},
    what: Partial<Charge> = {},
    at = startedAt,
  ): number =>
    1_200 -
    3 -
    (remMs <= 400 ? 0 : 10 * (1 + remMs / 15_000)) -
    ordinary(allowances, remMs, gaugeOf(minute, { used: 580, ...use }), at, 0, { ...charge, ...what });

  it("have room for what they are likely to spend: we have had less than half, and leave a little less than that", () => {
    // Eight calls in a minute in which three are expected: more happens once in two hundred times.
    expect(poissonQuantile(3, 0.005)).toBe(8);
    expect(besides(calm(stage()), 60_000)).toBeCloseTo(8 * 20 * 0.6, 9);
    expect(besides(calm(stage()), 60_000, { used: 600 })).toBeCloseTo(8 * 20 * 0.6, 9);
    expect(besides(calm(stage()), 60_000, { used: 900, foreign: 300 })).toBeCloseTo(8 * 20 * 0.6, 9);
  });

  it("have room for a call or two before the next answer when we have had less than an equal part of what is not reserved", () => {
    // Half of 1,200 less a reserve of 50 and sixty units.
    expect(besides(calm(stage()), 60_000, { used: 535 })).toBeCloseTo(20, 9);
    expect(besides(calm(stage()), 60_000, { used: 536 })).toBeCloseTo(8 * 20 * 0.6, 9);
    expect(besides(calm(stage()), 60_000, { used: 900, foreign: 365 })).toBeCloseTo(20, 9);
    // Three are expected in 300 ms; more than seven come less than twice in a hundred times.
    expect(besides(busy(stage()), 60_000, { used: 535 })).toBeCloseTo(7 * 20, 9);
    expect(besides(busy(stage()), 300, { used: 0 })).toBeCloseTo(7 * 20, 9);
  });

  it("have twice that when we have had more than half", () => {
    expect(besides(calm(stage()), 60_000, { used: 601 })).toBeCloseTo(8 * 20 * 2, 9);
    expect(besides(calm(stage()), 60_000, { used: 900, foreign: 299 })).toBeCloseTo(8 * 20 * 2, 9);
  });

  it("of whom nothing was seen, have none, nor has anybody a layer of another user", () => {
    expect(besides(stage(), 60_000, { open: 1 })).toBeCloseTo(0, 9);
    expect(besides(calm(stage()), 60_000, { open: 1, scope: "other" })).toBeCloseTo(0, 9);
    const watched = stage();
    watched.noteUse("u", startedAt - 20_000, 0);
    watched.noteUse("u", startedAt, 0);
    expect(besides(watched, 60_000, { open: 1 })).toBeCloseTo(0, 9);
  });

  it.each<["emergency" | "exit", number]>([
    ["emergency", 1_197],
    ["exit", 1_187],
  ])(
    "have room for a call of theirs in a window's last moments, where an %s too had better wait for the next",
    (rank, most) => {
      const left = (allowances: Allowances, remMs: number): number => {
        allowances.noteOpen("u", 1);
        return allowances.of(gaugeOf(minute), charge, rank)(startedAt + remMs, startedAt + remMs - 60_000, startedAt);
      };
      expect([401, 400, 1].map((remMs) => left(calm(stage()), remMs))).toEqual([most, most - 20, most - 20]);
      expect(left(stage(), 400)).toBe(most);
    },
  );

  it("are met one call at a time: while one is under way sixty units more are left", () => {
    expect(besides(calm(stage()), 60_000, { open: 1 })).toBeCloseTo(8 * 20 * 0.6 + 60, 9);
  });

  it.each<[string, number, number]>([
    ["three seconds before the end as before", 3_000, 600 * 0.6],
    ["then who has had how much does not matter", 2_999, 600],
    ["with 600 ms to go at the same risk", 600, 20 * poissonQuantile(6, 0.005)],
    ["with less at a greater one", 599, 20 * poissonQuantile(5.99, 0.02)],
    ["at the end nothing", 0, 0],
    ["and never more than half of all", 60_000, 600 * 0.6],
    ["as soon as that is less than they are likely to spend", 1_000, 20 * poissonQuantile(10, 0.005)],
  ])("have less the less time they have: %s", (_, remMs, units) => {
    expect(besides(busy(stage()), remMs)).toBeCloseTo(units, 9);
  });

  it("who may have gone on in a long silence, have room for that as well", () => {
    // Another twenty seconds in silence: one call more is expected.
    const silent = (quietMs: number): number => 20 * poissonQuantile((15_000 + quietMs) / 20_000, 0.005) * 0.6;
    const at = (quietMs: number, weight: number): number =>
      besides(calm(stage()), 15_000, {}, { weight }, startedAt + quietMs);
    expect(at(20_000, 6)).toBeCloseTo(silent(20_000), 9);
    expect(silent(20_000)).toBeGreaterThan(silent(0));
    // A light call brings an answer that tells.
    expect(at(20_000, 5)).toBeCloseTo(silent(0), 9);
    // A short silence is none.
    const short = (quietMs: number): number => besides(busy(stage()), 1_000, {}, { weight: 6 }, startedAt + quietMs);
    expect(short(3_000)).toBeCloseTo(20 * poissonQuantile(10, 0.005), 9);
    expect(short(3_001)).toBeCloseTo(20 * Math.min(30, poissonQuantile(40.01, 0.005)), 9);
  });

  it("what was heard before a disturbed clock is no silence", () => {
    const allowances = calm(stage());
    allowances.forget();
    expect(besides(allowances, 15_000, {}, {}, startedAt + 20_000)).toBeCloseTo(
      20 * poissonQuantile(0.75, 0.005) * 0.6,
      9,
    );
    allowances.noteUse("u", startedAt + 30_000, 0);
    const mean = (15_000 + 10_000) / 50_000;
    expect(besides(allowances, 15_000, {}, {}, startedAt + 40_000)).toBeCloseTo(
      20 * poissonQuantile(mean, 0.005) * 0.6,
      9,
    );
  });

  it("have room for a call more after a refusal, which of a user nothing is known of says nothing", () => {
    const allowances = calm(stage());
    allowances.noteRefusal("stranger", startedAt);
    expect(besides(allowances, 500)).toBeCloseTo(20, 9);
    allowances.noteRefusal("u", startedAt);
    expect(besides(allowances, 500)).toBeCloseTo(40, 9);
  });

  it("have room for their exits after a refusal, left by who has had more than an eighth and less than half", () => {
    const allowances = stage();
    for (let call = -4; call <= 4; call++)
      allowances.noteUse("u", startedAt + 10_000 * (call - 4), call < -3 ? 0 : 15, 0.9);
    // One of their calls, which ours may cross.
    const soon = 15;
    const late = 15 * poissonQuantile(3, 0.005);
    const left = (used: number): number => besides(allowances, 30_000, { used });
    expect([left(100), left(300)]).toEqual([expect.closeTo(soon, 9), expect.closeTo(soon, 9)]);
    allowances.noteRefusal("u", startedAt);
    expect([left(100), left(300), left(450)]).toEqual([
      expect.closeTo(2 * soon, 9),
      expect.closeTo(late, 9),
      expect.closeTo(late, 9),
    ]);
    allowances.forgetOthers();
    expect(left(300)).toBeCloseTo(0, 9);
  });

  it("have at least so much and the sixty units where the least is asked for", () => {
    const floor = (allowances: Allowances, remMs: number, use: Use = {}): number =>
      1_200 -
      3 -
      10 * (1 + remMs / 15_000) -
      allowances.floorOf(gaugeOf(minute, use), charge, "ordinary")(startedAt + remMs, startedAt, startedAt);
    expect(floor(calm(stage()), 60_000)).toBeCloseTo(8 * 20 * 2 + 60, 9);
    expect(floor(calm(stage()), 600)).toBeCloseTo(2 * 20 + 60, 9);
    expect(floor(stage(), 60_000)).toBeCloseTo(0, 9);
  });

  describe("at the same address", () => {
    const address: LayerSpec = { ...minute, name: "ip", scope: "ip", unit: "requests" };
    /** What is left beside the exits, with a forecast of one exit in fifteen seconds. */
    const left = (allowances: Allowances, remMs: number, use: Use = {}): number =>
      1_200 - (1 + remMs / 15_000) - ordinary(allowances, remMs, gaugeOf(address, { scope: "home", ...use }));
    /** Two of their requests a second. */
    const shared = (calls = 40): Allowances => {
      const allowances = stage();
      allowances.noteUse("address home", startedAt - 20_000, 0);
      for (let call = 0; call < calls; call++) allowances.noteUse("address home", startedAt, 1);
      return allowances;
    };

    it("have room for the requests they are likely to make, and six more while one of ours is under way", () => {
      expect(left(shared(), 30_000)).toBeCloseTo(poissonQuantile(60, 0.005), 9);
      expect(left(shared(), 30_000, { open: 1 })).toBeCloseTo(poissonQuantile(60, 0.005) + 6, 9);
      expect(left(stage(), 30_000, { open: 1 })).toBeCloseTo(0, 9);
    });

    it.each([
      [1_100, 1_101],
      [1_199, 1_200],
    ])(
      "leave us one call, whatever they are likely to make, where %i of the window are gone already",
      (missing, most) => {
        const gone = gaugeOf(address, { scope: "home", missing });
        expect(ordinary(shared(1_100), 30_000, gone)).toBe(most);
        const crowded = stage();
        crowded.noteOpen("u", 30_000);
        expect(ordinary(crowded, 30_000, gone)).toBe(Math.max(most, 1_200 - (1_200 - missing) / 2));
      },
    );

    it("are not mixed up with a user who is called alike", () => {
      expect(left(calm(stage()), 30_000, { scope: "u" })).toBeCloseTo(0, 9);
    });

    it("have more room after a refusal, and are counted as reserved", () => {
      expect(shared().reserved(gaugeOf(address, { scope: "home" }), startedAt, startedAt + 30_000)).toBe(
        3 + poissonQuantile(60, 0.005),
      );
      const allowances = shared(10);
      expect(left(allowances, 401)).toBeCloseTo(poissonQuantile(0.2005, 0.02), 9);
      allowances.noteRefusal("address home", startedAt);
      allowances.noteRefusal("address home", startedAt);
      allowances.noteRefusal("address home", startedAt);
      expect(left(allowances, 401)).toBeCloseTo(3, 9);
    });
  });

  describe("news of them", () => {
    it.each<[string, number, number]>([
      ["is due after a twentieth of what is left", 40_000, 2_000],
      ["after three seconds at the latest", 120_000, 3_000],
      ["not before 400 ms", 4_000, 400],
    ])("%s", (_, remMs, afterMs) => {
      // Heard of a second ago.
      const at = startedAt + 1_000;
      expect(calm(stage()).newsAt("u", at, at + remMs)).toBe(startedAt + afterMs);
    });

    it("is never due of a user without others", () => {
      expect(stage().newsAt("u", startedAt, startedAt + 40_000)).toBe(Number.POSITIVE_INFINITY);
      expect(calm(stage()).newsAt("other", startedAt, startedAt + 40_000)).toBe(Number.POSITIVE_INFINITY);
      const watched = stage();
      watched.noteUse("u", startedAt - 20_000, 0);
      watched.noteUse("u", startedAt, 0);
      expect(watched.newsAt("u", startedAt, startedAt + 40_000)).toBe(Number.POSITIVE_INFINITY);
    });

    it("counts from now after a disturbed clock", () => {
      const allowances = calm(stage());
      allowances.forget();
      expect(allowances.newsAt("u", startedAt + 5_000, startedAt + 45_000)).toBe(startedAt + 7_000);
    });
  });

  it("count for what is said to be reserved, in whole units and never less than none", () => {
    const allowances = calm(stage());
    const of = (spec: LayerSpec, remMs: number, at = startedAt): number =>
      allowances.reserved(gaugeOf(spec), at, at + remMs);
    expect(of(minute, 60_000)).toBe(50 + 96 + 3);
    // 10.4 for exits and one of their calls.
    expect(of(minute, 600)).toBe(33);
    // After a silence, with what they may have done in it: any call is heavier than one for news.
    expect(of(minute, 15_000, startedAt + 20_000)).toBe(Math.round(20 + 20 * poissonQuantile(1.75, 0.005) * 0.6 + 3));
    expect(of(second, 600)).toBe(2);
    expect(stage({ policy: { keySlots: -1 } }).reserved(gaugeOf(second), startedAt, startedAt + 600)).toBe(0);
    expect(stage({ policy: { probeUnits: -5 } }).reserved(gaugeOf(minute), startedAt, startedAt + 100)).toBe(0);
  });
});
