/** The marks of how long answers take: where they begin, how they follow, and where they settle. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/random.ts";
import { RoundTripTime } from "../../../../src/scheduler/quota/server-clock.ts";

const marksAfter = (...answers: readonly number[]) => {
  const trips = new RoundTripTime();
  for (const ms of answers) trips.observe(ms);
  return { low: trips.low, high: trips.high };
};

describe("Round-trip times", () => {
  it.each<[string, readonly number[], number, number]>([
    ["before anything was measured, safe values", [], 0, 60],
    ["the first answer is the shortest seen, however slow", [100], 100, 60 + 0.2 * 19],
    ["a slower one lifts the high mark by a fifth of the difference", [70], 70, 62],
    ["a quicker one lowers the high mark by a fifth of a millisecond", [40], 40, 59.8],
    ["less than a millisecond quicker, by a fifth of that", [59.5], 59.5, 59.9],
    ["as slow as the high mark changes nothing there", [60], 60, 60],
    ["the low mark follows slower answers by a hundredth", [40, 80], 40.4, 59.8 + 0.2 * 19],
    ["of fifty milliseconds at most", [40, 140], 40.5, 59.8 + 0.2 * 19],
    ["and quicker ones at once", [40, 140, 7], 7, 59.8 + 0.2 * 19 - 0.2],
  ])("%s", (_, answers, low, high) => {
    const marks = marksAfter(...answers);
    expect(marks.low).toBeCloseTo(low, 9);
    expect(marks.high).toBeCloseTo(high, 9);
  });

  it("plan for no more than 200 ms, and fall again from where they really are", () => {
    const slow = [10, ...Array.from({ length: 60 }, () => 1_000)];
    expect(marksAfter(...slow).high).toBe(200);
    const trips = new RoundTripTime();
    for (const ms of slow) trips.observe(ms);
    // 60 steps of 3.8 from 59.8 are 287.8: 439 steps of a fifth down is where the plan begins to fall.
    let steps = 0;
    for (; trips.high === 200; steps++) trips.observe(10);
    expect(steps).toBe(440);
  });

  it("plan for half more than the shortest where every answer is slow", () => {
    expect(marksAfter(...Array.from({ length: 120 }, () => 300)).high).toBeCloseTo(300, 0);
    expect(marksAfter(300, ...Array.from({ length: 300 }, () => 5_000)).high).toBeCloseTo(1.5 * (300 + 300 * 0.5), 9);
  });

  it("follow slow answers beyond what is planned for", () => {
    const trips = new RoundTripTime();
    trips.observe(10);
    for (let answer = 0; answer < 600; answer++) trips.observe(1_000);
    // The shortest is 310 by then: half a millisecond more after each answer.
    expect([trips.slow, trips.high]).toEqual([expect.closeTo(1_000, 0), expect.closeTo(465, 9)]);
  });

  it("settle where about one answer in twenty is slower, when slow ones are much slower", () => {
    const random = createRandom("round trips");
    const trips = new RoundTripTime();
    let slower = 0;
    for (let answer = 0; answer < 12_000; answer++) {
      const ms = -60 * Math.log(1 - random.next());
      if (answer >= 2_000 && ms > trips.high) slower++;
      trips.observe(ms);
    }
    expect(slower / 10_000).toBeGreaterThan(0.04);
    expect(slower / 10_000).toBeLessThan(0.07);
    expect(trips.low).toBeLessThan(10);
  });
});
