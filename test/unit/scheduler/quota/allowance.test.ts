/** How much of a window each rank may use, in numbers worked out by hand from what is kept and for whom. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/random.ts";
import type { Allowances } from "../../../../src/scheduler/quota/allowance.ts";
import type { Charge, LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import type { Rank } from "../../../../src/scheduler/quota/reserve.ts";
import {
  charge,
  gaugeOf,
  minute,
  ordinary,
  type Scene,
  second,
  stage,
  startedAt,
} from "../../../support/harness/allowance.ts";

describe("In a user's minute ordinary actions leave", () => {
  it.each<[string, number, number]>([
    ["the exit at hand and two that half a minute may bring", 30_000, 30],
    ["at the beginning four", 60_000, 50],
    ["never more than a whole window may bring", 90_000, 50],
    ["near the end hardly more than the one", 450, 10.3],
    ["when the reserve is lent out, the blind call alone", 400, 0],
    ["after the end as well", -5_000, 0],
  ])("%s", (_, remMs, reserve) => {
    expect(ordinary(stage(), remMs)).toBeCloseTo(1_200 - reserve - 3, 9);
  });

  it("what it takes to cancel all that rests, of each user for himself", () => {
    const allowances = stage();
    allowances.noteOpen("u", 56);
    expect(ordinary(allowances, 30_000)).toBeCloseTo(1_200 - 140 - 3, 9);
    expect(ordinary(allowances, 30_000, gaugeOf(minute, { scope: "other" }))).toBeCloseTo(1_200 - 30 - 3, 9);
    allowances.noteOpen("u", 0);
    expect(ordinary(allowances, 30_000)).toBeCloseTo(1_200 - 30 - 3, 9);
  });

  it("no more than half of a layer that the service tells nothing of", () => {
    const { header: _, ...untold } = minute;
    const allowances = stage();
    allowances.noteOpen("u", 1_000);
    expect(ordinary(allowances, 30_000, gaugeOf({ ...untold, capacity: 300 }))).toBe(300 - 150 - 3);
    expect(ordinary(allowances, 30_000)).toBe(1_200 - 2_020 - 3);
    expect(ordinary(stage(), 30_000, gaugeOf({ ...untold, capacity: 300 }))).toBe(300 - 30 - 3);
  });

  it("when spending is paced, what is not yet their part, but for windows still to come", () => {
    const allowances = stage({ policy: { spending: "paced" } });
    expect(ordinary(allowances, 30_000)).toBeCloseTo(720, 9);
    expect(ordinary(allowances, 60_000, gaugeOf(minute), startedAt, 0)).toBeCloseTo(120, 9);
    expect(ordinary(allowances, 60_000, gaugeOf(minute), startedAt, -1)).toBeCloseTo(1_200 - 50 - 3, 9);
    expect(ordinary(allowances, 3_000)).toBeCloseTo(1_200 - 12 - 3, 9);
  });
});

describe("The forecast of exits", () => {
  const least = 1 / 15_000;
  /** Exits a millisecond, from what is left free with half a minute to go. */
  const rate = (allowances: Allowances, at: number): number =>
    ((1_200 - 3 - ordinary(allowances, 30_000, gaugeOf(minute), at)) / 10 - 1) / 30_000;

  it("is what was asked for in the time remembered, beside four exits in the minute before the start", () => {
    const allowances = stage();
    expect(rate(allowances, startedAt + 10_000)).toBeCloseTo(least, 12);
    for (let exit = 0; exit < 4; exit++) allowances.noteExit(startedAt + 10_000);
    const keep = Math.exp(-10_000 / 300_000);
    const spanMs = 60_000 * keep + 300_000 * (1 - keep);
    expect(rate(allowances, startedAt + 10_000)).toBeCloseTo((4 * keep + 4) / spanMs, 12);
    const later = Math.exp(-20_000 / 300_000);
    const laterMs = spanMs * later + 300_000 * (1 - later);
    expect(rate(allowances, startedAt + 30_000)).toBeCloseTo(((4 * keep + 4) * later) / laterMs, 12);
  });

  it("fades over minutes, never quite to nothing", () => {
    const allowances = stage();
    for (let exit = 0; exit < 30; exit++) allowances.noteExit(startedAt + 10_000);
    const [high, low] = [10_000, 610_000].map((ms) => rate(allowances, startedAt + ms)) as [number, number];
    expect(high).toBeGreaterThan(6 * least);
    expect(low).toBeLessThan(high / 4);
    expect(rate(allowances, startedAt + 3_600_000)).toBeCloseTo(least, 12);
  });

  it.each([6, 20, 120])(
    "of %i exits a minute at random is within a fifth of that, in the mean and mostly each time",
    (perMinute) => {
      const random = createRandom("exits");
      const allowances = stage();
      const ratios: number[] = [];
      for (let at = startedAt; at < startedAt + 36_000_000; at += random.exponential(60_000 / perMinute)) {
        allowances.noteExit(at);
        if (at > startedAt + 900_000) ratios.push((rate(allowances, at) * 60_000) / perMinute);
      }
      const within = ratios.filter((ratio) => ratio > 0.8 && ratio < 1.2).length / ratios.length;
      const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
      expect(mean).toBeCloseTo(1, 1);
      expect(within).toBeGreaterThan(0.8);
    },
  );
});

describe("The allowance of exits and emergencies:", () => {
  it.each<[string, Rank, number, number]>([
    ["an emergency may use all but the blind call", "emergency", 0, 1_197],
    ["whatever rests", "emergency", 100, 1_197],
    ["so may an exit when nothing rests", "exit", 0, 1_197],
    ["which otherwise leaves what cancels it all once", "exit", 31, 1_197 - 70],
    ["but never more than a quarter", "exit", 5_000, 1_197 - 300],
  ])("%s", (_, rank, open, most) => {
    const allowances = stage();
    allowances.noteOpen("u", open);
    const asked = [startedAt + 30_000, startedAt - 30_000, startedAt] as const;
    expect(allowances.of(gaugeOf(minute), charge, rank)(...asked)).toBe(most);
    expect(allowances.floorOf(gaugeOf(minute), charge, rank)(...asked)).toBe(most);
  });

  it.each<[Rank, LayerSpec]>([
    ["emergency", second],
    ["exit", second],
    ["exit", { ...second, scope: "ip", unit: "elements" }],
  ])("of rank %s may use all of a layer that does not count weight", (rank, spec) => {
    const allowances = stage();
    allowances.noteOpen("u", 100);
    expect(allowances.of(gaugeOf(spec), charge, rank)(startedAt + 100, startedAt, startedAt)).toBe(10);
  });
});

describe("In a key's second the allowance", () => {
  /** Slots an ordinary call may use with `remMs` of the second to go. */
  const slots = (
    scene: Scene,
    remMs: number,
    what: Charge = charge,
    gauge = gaugeOf(second, { width: (scene.hi ?? 0) - (scene.lo ?? 0) }),
  ): number => stage(scene).of(gauge, what, "ordinary")(startedAt + remMs, startedAt + remMs - 1_000, startedAt);

  it.each<[string, Scene, number, number]>([
    ["two slots are kept for exits", {}, 500, 8],
    ["until no exit could make use of them any more", {}, 40, 10],
    ["a moment before that they are kept", {}, 40.5, 8],
    ["longer when it is in doubt where the second ends", { lo: -20, hi: 20 }, 80.5, 8],
    ["no longer", { lo: -20, hi: 20 }, 80, 10],
    // The stretch is 90 wide: the last slot goes where it ends, half a width and half a quick answer before.
    ["the last of them is sent where its landing tells most", { lo: -40, hi: 50 }, 51, 9],
    ["from there on", { lo: -40, hi: 50 }, 50, 10],
    ["only where telling is worth it", { lo: 0, hi: 45 }, 80, 10],
    ["which it is a little above", { lo: 0, hi: 45.5 }, 80, 9],
    ["with a slow answer sooner", { lo: -40, hi: 50, low: 40 }, 65, 10],
  ])("%s", (_, scene, remMs, most) => {
    expect(slots(scene, remMs)).toBe(most);
  });

  it.each([
    ["are kept for exits", 190.5, 0, 8],
    ["are asked for by one call, where not all use is ours", 190, 0, 9],
    ["wait for its answer", 40, 1, 9],
    ["are used when it came", 40, 0, 10],
  ])("where now and then something else is counted, the last slots %s", (_, remMs, open, most) => {
    expect(slots({}, remMs, charge, gaugeOf(second, { unsteady: true, open }))).toBe(most);
  });

  it("gives ordinary actions one slot, however few there are", () => {
    const few: LayerSpec = { ...second, capacity: 2 };
    expect(slots({}, 500, charge, gaugeOf(few))).toBe(1);
    expect(slots({}, 500, charge, gaugeOf({ ...second, unit: "requests", scope: "ip", capacity: 1 }))).toBe(1);
    expect(slots({ policy: { keySlots: 12 } }, 500)).toBe(1);
  });

  it("beside other layers that do not count weight, keeps its slots to the end", () => {
    expect(slots({}, 10, charge, gaugeOf({ ...second, scope: "uid", unit: "elements" }))).toBe(8);
    expect(stage().floorOf(gaugeOf({ ...second, scope: "uid", unit: "elements" }), charge, "ordinary")(0, 0, 0)).toBe(
      8,
    );
  });

  it("holds at least what is left without its kept slots, and without the last", () => {
    const floor = (keySlots: number): number =>
      stage({ policy: { keySlots } }).floorOf(gaugeOf(second), charge, "ordinary")(0, 0, 0);
    expect([floor(2), floor(0), floor(1), floor(20)]).toEqual([8, 9, 9, 1]);
  });

  describe("keeps its slots to the end where weight runs out before it", () => {
    const most = (used: number, leftMs: number, what: Charge = charge): number =>
      slots({ weight: gaugeOf(minute, { used, endsAt: startedAt + leftMs }) }, 10, what);

    it.each<[string, number, number, number]>([
      // Ten seconds of eight slots are eighty calls, of ten units each when nothing else was seen.
      ["just enough for all slots", 400, 10_000, 10],
      ["less", 401, 10_000, 8],
      ["with a second to go", 1_121, 1_000, 8],
      ["enough with a second to go", 1_120, 1_000, 10],
      ["less than a second to go, whatever is left", 1_200, 999, 10],
    ])("%s", (_, used, leftMs, slotsLeft) => {
      expect(most(used, leftMs)).toBe(slotsLeft);
    });

    it("of a user nothing is known of it cannot tell", () => {
      expect(most(1_200, 10_000, { ...charge, uid: "other" })).toBe(10);
      expect(most(1_200, 10_000, { ...charge, uid: undefined })).toBe(10);
    });

    it("by the mean weight of the last calls", () => {
      const allowances = stage({ weight: gaugeOf(minute, { used: 401, endsAt: startedAt + 10_000 }) });
      const most = (): number =>
        allowances.of(gaugeOf(second), charge, "ordinary")(startedAt + 10, startedAt - 990, startedAt);
      expect(most()).toBe(8);
      // Thirty-two calls make a mean: one of 9 lowers it to 9.97, and 799 units are enough for eighty calls.
      allowances.noteWeight(9);
      expect(most()).toBe(10);
      allowances.noteWeight(11.5);
      expect(most()).toBe(8);
    });
  });
});
