/** Counts a scope was told: which of them can be compared, and what is kept of the newest windows. */
import { describe, expect, it } from "vitest";
import type { CountEvidence } from "../../../../src/scheduler/quota/count-evidence.ts";
import { lagging, second, stage } from "../../../support/harness/evidence.ts";

/** When a call left, when it was answered, and the count it was told, all of window 7. */
type Told = readonly [sentAt: number, receivedAt: number, used: number];

const heardOf = (...told: readonly Told[]): CountEvidence => {
  const heard = stage(second).evidence;
  for (const [sentAt, receivedAt, used] of told) heard.hear(sentAt, receivedAt, used, 7, 7);
  return heard;
};

describe("A count that does not rise", () => {
  const three: readonly Told[] = [
    [0, 10, 5],
    [20, 30, 7],
    [40, 50, 6],
  ];

  it.each([
    ["as much as the last one", 6, 60, 40],
    ["less than all", 4, 60, 40],
    ["as much as the one before that", 7, 60, 20],
    ["as much, and the last had not been told yet", 6, 50, 20],
    ["as much, and only the first had been told", 5, 30, 0],
    ["more than any that had been told", 6, 30, undefined],
    ["more than all", 8, 60, undefined],
  ])("is held against the call that left last and was told at least that: %s", (_, used, sentAt, leftAt) => {
    expect(heardOf(...three).fallTo(used, sentAt)?.sentAt).toBe(leftAt);
  });

  it("is held against the one that left last, in whatever order they were answered", () => {
    expect(heardOf([40, 50, 6], [20, 55, 7]).fallTo(6, 60)).toMatchObject({
      sentAt: 40,
      receivedAt: 50,
      used: 6,
    });
  });

  it("proves nothing where nothing was told", () => {
    expect(heardOf().fallTo(0, 100)).toBeUndefined();
  });

  it("is, where counts lag, a count of the call before: the first one says nothing of when a window began", () => {
    const heard = lagging(stage(second)).evidence;
    heard.hear(0, 10, 5, 7, 7);
    expect(heard.fallTo(5, 100)).toBeUndefined();
    heard.hear(20, 30, 6, 7, 7);
    expect(heard.fallTo(5, 100)).toMatchObject({ sentAt: 20, beforeAt: 0 });
  });
});

describe("The call that surely landed before another", () => {
  it("is the latest of those that were answered before it left", () => {
    const heard = heardOf([0, 10, 1], [12, 30, 3], [5, 40, 2], [41, 60, 9]);
    // At 41 the answers of the first three were in, and the third had left last.
    expect(heard.fallTo(9, 100)?.beforeAt).toBe(12);
  });

  it("is not one whose answer came as the other left", () => {
    expect(heardOf([0, 10, 1], [5, 20, 2], [20, 30, 9]).fallTo(9, 100)?.beforeAt).toBe(0);
  });

  it("is none for the first call", () => {
    expect(heardOf([0, 10, 1]).fallTo(1, 100)?.beforeAt).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe("Of the counts that were heard", () => {
  it("the last sixteen are kept, each as it was told", () => {
    const heard = heardOf(
      [0, 1, 100],
      ...Array.from({ length: 15 }, (_, index): Told => [10 * index + 10, 10 * index + 11, index]),
    );
    expect(heard.fallTo(100, 1_000)?.sentAt).toBe(0);
    heard.hear(500, 520, 50, 8, 9);
    expect(heard.fallTo(51, 1_000)).toBeUndefined();
    expect(heard.fallTo(50, 1_000)).toEqual({
      sentAt: 500,
      receivedAt: 520,
      used: 50,
      first: 8,
      last: 9,
      beforeAt: 150,
    });
    // The next takes the place of the second.
    heard.hear(600, 620, 49, 9, 9);
    expect([heard.isFirst(9, 1_000), heard.fallTo(0, 25)?.sentAt]).toEqual([false, 20]);
    expect(heard.fallTo(0, 15)).toBeUndefined();
  });

  it("none is higher than the highest, which is looked up anew by each comparison", () => {
    const heard = heardOf();
    expect(heard.highest).toBe(Number.NEGATIVE_INFINITY);
    heard.hear(0, 1, 100, 7, 7);
    heard.hear(2, 3, 40, 7, 7);
    expect(heard.highest).toBe(100);
    for (let index = 1; index <= 16; index++) heard.hear(10 * index, 10 * index + 1, index, 7, 7);
    heard.fallTo(30, 1_000);
    expect(heard.highest).toBe(16);
  });

  it("nothing is left once they are forgotten", () => {
    const heard = heardOf([0, 10, 5]);
    heard.hear(20, 30, 1, 8, 8);
    expect(heard.top?.window).toBe(8);
    heard.forget();
    expect([heard.top, heard.fallTo(0, 100)]).toEqual([undefined, undefined]);
  });
});

describe("The first call of a window", () => {
  it("is one before which no other that surely landed in it was answered", () => {
    const heard = heardOf([0, 10, 5]);
    expect([heard.isFirst(7, 10), heard.isFirst(7, 11), heard.isFirst(8, 11), heard.isFirst(6, 11)]).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });
});

describe("The highest count of a window", () => {
  it("rises, and is as recent as the last answer of the window", () => {
    const heard = heardOf([0, 10, 3], [20, 30, 5]);
    expect(heard.top).toEqual({ window: 7, used: 5, at: 30 });
    heard.hear(15, 25, 4, 7, 7);
    expect(heard.top).toEqual({ window: 7, used: 5, at: 30 });
    heard.hear(31, 40, 4, 7, 7);
    expect(heard.top).toEqual({ window: 7, used: 5, at: 40 });
  });

  it("is that of the newest window", () => {
    const heard = heardOf([0, 10, 3]);
    heard.hear(1_000, 1_010, 1, 8, 8);
    expect(heard.top).toEqual({ window: 8, used: 1, at: 1_010 });
    // A late answer of the old window changes nothing.
    heard.hear(5, 1_020, 9, 7, 7);
    expect(heard.top).toEqual({ window: 8, used: 1, at: 1_010 });
  });

  it("is not told by a count that may be of two", () => {
    const heard = heardOf([0, 10, 3]);
    heard.hear(20, 1_010, 9, 7, 8);
    expect(heard.top).toEqual({ window: 7, used: 3, at: 10 });
  });

  it("is of another window once that turned out to run on, as is all that was heard", () => {
    const heard = heardOf([0, 10, 5]);
    heard.hear(20, 30, 7, 8, 8);
    heard.hear(40, 50, 8, 8, 9);
    heard.runOn(6, 60);
    expect(heard.top).toEqual({ window: 6, used: 7, at: 30 });
    expect([heard.isFirst(6, 100), heard.isFirst(7, 100), heard.isFirst(8, 100)]).toEqual([false, true, true]);
    expect(heard.fallTo(8, 100)).toMatchObject({ first: 6, last: 6 });
  });

  it("is none of a window that was never told of, whatever it is taken for", () => {
    const heard = heardOf();
    heard.runOn(6, 60);
    expect(heard.top).toBeUndefined();
  });
});
