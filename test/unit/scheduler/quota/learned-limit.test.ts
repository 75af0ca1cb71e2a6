/** A limit that was moved and is not told: what refusals and counts teach of it. */
import { describe, expect, it } from "vitest";
import { LearnedLimit } from "../../../../src/scheduler/quota/learned-limit.ts";

const minuteMs = 60_000;
const learned = (used = 600, shared = false): LearnedLimit => {
  const limit = new LearnedLimit(1_200, minuteMs);
  expect(limit.refuse(used, used + 10, shared, -20, 0)).toBe("learned");
  return limit;
};
/** Whether it is tried to go beyond it in the last `ms` of the minute `index` from now, the last second unless told otherwise. */
const tries = (limit: LearnedLimit, index: number, ms = 1_000): boolean =>
  limit.triesAt(index * minuteMs) === index * minuteMs - ms;

describe("The limit of a layer", () => {
  it("is as stated until a refusal comes as a surprise", () => {
    const limit = new LearnedLimit(1_200, minuteMs);
    limit.accept(1_180);
    expect(limit.refuse(1_180, 1_200, false, -20, 0)).toBe("unmoved");
    expect([limit.capacity, limit.most(minuteMs, true), limit.triesAt(minuteMs)]).toEqual([
      1_200,
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
  });

  it.each([
    [false, 1_199, "learned"],
    [false, 1_200, "unmoved"],
    [true, 1_079, "learned"],
    [true, 1_080, "unmoved"],
  ])("shared %s, and refused with %i likely to be used, is %s", (shared, likely, verdict) => {
    expect(new LearnedLimit(1_200, minuteMs).refuse(900, likely, shared, -20, 0)).toBe(verdict);
  });

  it("is not learned where next to nothing was counted: something else refused", () => {
    expect(new LearnedLimit(1_200, minuteMs).refuse(119, 130, false, -20, 0)).toBe("unmoved");
    expect(new LearnedLimit(1_200, minuteMs).refuse(120, 130, false, -20, 0)).toBe("learned");
  });

  it("is where it was refused, and spent above the half of it late in the next window only, one call at a time", () => {
    const limit = learned(800);
    expect(limit.capacity).toBe(800);
    expect([60_000, 7_500, 3_750, 0].map((remMs) => limit.most(remMs, true))).toEqual([400, 400, 600, 800]);
    expect(limit.most(3_750, false)).toBe(400);
    limit.accept(500);
    expect([7_500, 3_750].map((remMs) => limit.most(remMs, true))).toEqual([500, 650]);
    limit.accept(800);
    expect(limit.most(60_000, false)).toBe(Number.POSITIVE_INFINITY);
  });

  it("is learned again where it is refused lower", () => {
    const limit = learned(1_000);
    expect(limit.refuse(590, 600, false, minuteMs - 20, minuteMs)).toBe("learned");
    expect([limit.capacity, limit.most(minuteMs, true)]).toEqual([590, 295]);
  });

  it("is gone beyond after ten minutes, and after an hour and a half again when that was refused", () => {
    const limit = learned(590);
    expect([tries(limit, 10), tries(limit, 11)]).toEqual([false, true]);
    expect(limit.refuse(590, 600, false, 11 * minuteMs - 20, 11 * minuteMs)).toBe("expected");
    expect([limit.capacity, tries(limit, 12), tries(limit, 101), tries(limit, 102)]).toEqual([590, false, false, true]);
  });

  it("is lower where a call is refused that should have fitted, and gone beyond as soon as after the first lesson", () => {
    const limit = learned(611);
    limit.accept(600);
    expect(limit.refuse(600, 610, false, 2 * minuteMs - 20, 2 * minuteMs)).toBe("expected");
    expect([limit.capacity, tries(limit, 12), tries(limit, 13)]).toEqual([600, false, true]);
  });

  it("stays what it is where the call is refused that goes beyond it, however little was told of that window", () => {
    const limit = learned(600);
    limit.accept(600);
    expect(limit.refuse(590, 605, false, 11 * minuteMs - 20, 11 * minuteMs)).toBe("expected");
    expect(limit.capacity).toBe(600);
  });

  it("stays what it is where others may have caused the refusal", () => {
    const limit = learned(611, true);
    limit.accept(600);
    expect(limit.refuse(600, 610, true, 2 * minuteMs - 20, 2 * minuteMs)).toBe("expected");
    expect(limit.capacity).toBe(611);
  });

  it("is learned once of calls that were under way together", () => {
    const limit = learned(590);
    expect([limit.refuse(590, 600, false, -30, 10), limit.refuse(500, 510, false, 0, 20)]).toEqual([
      "expected",
      "expected",
    ]);
    expect([limit.capacity, tries(limit, 11)]).toEqual([590, true]);
  });

  it("is gone beyond in the next window where others may have caused the refusal", () => {
    expect(tries(learned(600, true), 1)).toBe(true);
  });

  it("rises with what is counted above it, window after window until it is as stated", () => {
    const limit = learned(600);
    limit.accept(660);
    // A call more than was learned does not say that it was moved.
    expect([limit.capacity, tries(limit, 2)]).toEqual([660, false]);
    limit.accept(661);
    // Once it is known to have been raised it is gone beyond for longer.
    expect([limit.capacity, tries(limit, 2, 3_000), limit.most(minuteMs, false)]).toEqual([
      661,
      true,
      Number.POSITIVE_INFINITY,
    ]);
    limit.accept(1_164);
    expect([limit.capacity, tries(limit, 3, 3_000)]).toEqual([1_164, true]);
    limit.accept(1_165);
    expect([limit.capacity, limit.triesAt(4 * minuteMs)]).toEqual([1_200, Number.POSITIVE_INFINITY]);
  });
});
