/** Where unanswered and lost calls of one scope are charged, window by window, in counts worked out by hand. */
import { describe, expect, it } from "vitest";
import { WindowUsage } from "../../../../src/scheduler/quota/window-usage.ts";

const never = Number.POSITIVE_INFINITY;

/** `units` leave in `window`, are answered there, and are told the count. */
const answered = (usage: WindowUsage, window: number, units: number, count: number): void => {
  usage.begin(window, units);
  usage.end(window, window, window, units, true);
  usage.report(window, count);
};
const usedIn = (usage: WindowUsage, ...windows: readonly number[]): readonly number[] =>
  windows.map((index) => usage.used(index));

describe("Where only ours count, an unanswered call that lands late", () => {
  /** One left in window 1 and is not answered; of window 2 one was answered, and two were counted. */
  const late = (): WindowUsage => {
    const usage = new WindowUsage(true);
    usage.begin(1, 1);
    answered(usage, 2, 1, 2);
    return usage;
  };

  it("is in no window after the one whose count includes it, and comes on top of that count until it is over", () => {
    const usage = late();
    expect([usedIn(usage, 1, 2, 3), usage.open, usage.unlanded]).toEqual([[1, 3, 0], 1, 0]);
    expect([usage.landedBy(1), usage.landedBy(2), usage.landedBy(3)]).toEqual([2, 2, never]);
  });

  it("is charged up to there when it is answered in no time, or given up", () => {
    const answer = late();
    answer.end(1, 1, 5, 1);
    expect(usedIn(answer, 1, 2, 3, 5)).toEqual([1, 2, 0, 0]);
    const lost = late();
    lost.lose(1, 5, 1);
    expect(usedIn(lost, 1, 2, 3, 5)).toEqual([1, 2, 0, 0]);
  });

  it("is in every later window where the count includes one of two", () => {
    const usage = late();
    usage.begin(1, 1);
    expect([usedIn(usage, 1, 2, 3), usage.unlanded, usage.landedBy(1)]).toEqual([[2, 4, 1], 1, never]);
  });

  it("is not proved by a count that was taken over from another window, nor by one that others are in", () => {
    const adopted = new WindowUsage(true);
    adopted.begin(1, 1);
    adopted.adopt(2, 4);
    expect([adopted.unlanded, adopted.used(3), adopted.landedBy(1)]).toEqual([1, 1, never]);
    const missing = new WindowUsage(true);
    missing.missing = 2;
    missing.begin(1, 1);
    answered(missing, 2, 1, 3);
    // One of ours, and two that the service has not got.
    expect([missing.unlanded, missing.used(3), missing.landedBy(1)]).toEqual([1, 3, never]);
  });

  it("is not proved where others count, or more was told than can be ours", () => {
    const shared = new WindowUsage();
    shared.begin(1, 1);
    answered(shared, 2, 1, 2);
    expect([shared.unlanded, shared.landedBy(1), shared.used(3)]).toEqual([1, never, 1]);
    shared.end(1, 1, 1, 1, true);
    expect(shared.landedBy(1)).toBe(never);
    const usage = new WindowUsage(true);
    usage.begin(2, 1);
    expect(usage.report(2, 3)).toBe(2);
    usage.begin(2, 1);
    // Three were counted when one of ours was under way: two that are not ours may come with it.
    expect([usage.unlanded, usage.landedBy(2)]).toEqual([1, never]);
  });

  it("is proved by the count of its own window even beside an older one that may be anywhere", () => {
    const usage = new WindowUsage(true);
    usage.begin(1, 1);
    answered(usage, 2, 1, 1);
    expect(usage.landedBy(2)).toBe(never);
    usage.begin(2, 1);
    usage.report(2, 2);
    expect([usage.landedBy(2), usage.landedBy(1)]).toEqual([2, never]);
  });

  it("is still carried when its window is not kept any more, and its landing is known from what was counted then", () => {
    const usage = late();
    for (let window = 3; window < 12; window++) answered(usage, window, 1, 1);
    expect([usedIn(usage, 2, 11, 12), usage.unlanded, usage.landedBy(1)]).toEqual([[3, 1, 0], 0, 2]);
    usage.lose(1, 11, 1);
    expect([usedIn(usage, 2, 3, 11, 12), usage.open]).toEqual([[2, 1, 1, 0], 0]);
  });
});

describe("A lost call", () => {
  it("is charged to no window in between that counted another one of its own", () => {
    const usage = new WindowUsage(true);
    usage.begin(1, 1);
    usage.begin(2, 1);
    usage.report(2, 1);
    // One of the two landed in 2; the other may be anywhere from 1 to 4.
    expect([usedIn(usage, 1, 2, 3, 4), usage.unlanded]).toEqual([[1, 3, 1, 1], 1]);
    usage.lose(1, 4, 1);
    expect([usedIn(usage, 1, 2, 3, 4, 5), usage.unlanded]).toEqual([[1, 2, 1, 1, 0], 0]);
  });

  it("may be the one that was counted in the window it was begun in, or in the last: another one counts in all of them still", () => {
    const first = new WindowUsage(true);
    first.begin(1, 2);
    first.report(1, 1);
    expect(usedIn(first, 1, 2, 3)).toEqual([3, 1, 1]);
    first.lose(1, 3, 1);
    expect(usedIn(first, 1, 2, 3, 4)).toEqual([2, 2, 2, 1]);
    const last = new WindowUsage(true);
    last.begin(1, 1);
    last.begin(3, 1);
    last.report(3, 1);
    last.lose(1, 3, 1);
    expect(usedIn(last, 1, 2, 3, 4)).toEqual([1, 1, 2, 1]);
  });

  it("comes on top of what others' windows counted, except where its own window's count proves it", () => {
    const lost = (count: number): WindowUsage => {
      const usage = new WindowUsage(true);
      usage.seesOthers = true;
      usage.begin(1, 1);
      answered(usage, 1, 1, count);
      usage.lose(1, 3, 1);
      return usage;
    };
    expect([usedIn(lost(2), 1, 2, 3, 4), usedIn(lost(1), 1, 2, 3, 4)]).toEqual([
      [2, 0, 0, 0],
      [2, 1, 1, 0],
    ]);
  });
});

describe("Of ours in a window", () => {
  it("everything counts that may have landed there: what was answered, and all that was under way by then", () => {
    const usage = new WindowUsage();
    usage.begin(1, 3);
    usage.begin(2, 2);
    usage.end(2, 2, 2, 1, true);
    usage.report(2, 9);
    expect(usage.ownOf(3)).toEqual({ begun: 4, settled: 0, reported: 0 });
    usage.begin(3, 4);
    expect([1, 2, 3, 4].map((index) => usage.ownOf(index))).toEqual([
      { begun: 3, settled: 0, reported: 0 },
      { begun: 5, settled: 1, reported: 9 },
      { begun: 8, settled: 0, reported: 0 },
      { begun: 8, settled: 0, reported: 0 },
    ]);
    expect([1, 2, 3, 4].map((index) => usage.openIn(index))).toEqual([3, 1, 4, 0]);
    expect([1, 2, 3, 4].map((index) => usage.heard(index))).toEqual([false, true, false, false]);
  });

  it("what was begun in a window that is not kept any more counts as well", () => {
    const usage = new WindowUsage();
    usage.begin(1, 3);
    for (let window = 2; window < 9; window++) answered(usage, window, 1, 1);
    expect([usage.ownOf(8), usage.openIn(1)]).toEqual([{ begun: 4, settled: 1, reported: 1 }, 0]);
    usage.end(1, 8, 8, 3);
    expect([usage.ownOf(8), usage.open]).toEqual([{ begun: 4, settled: 4, reported: 1 }, 0]);
  });
});

describe("A count that was taken over from the window before", () => {
  it("is nobody's in particular: only what is counted beyond it, and beyond ours, is others'", () => {
    const usage = new WindowUsage();
    usage.begin(8, 2);
    usage.end(8, 8, 8, 2, true);
    usage.adopt(8, 6);
    expect([usage.used(8), usage.foreign(8), usage.report(8, 6), usage.report(8, 7), usage.foreign(8)]).toEqual([
      6, 0, 0, 1, 1,
    ]);
    // What was others' before is not taken over again.
    usage.adopt(8, 9);
    expect([usage.used(8), usage.report(8, 9), usage.report(8, 10)]).toEqual([9, 0, 1]);
    usage.adopt(8, 4);
    expect([usage.used(8), usage.report(8, 10)]).toEqual([10, 0]);
  });

  it("is not missing of a limit that others use as well", () => {
    const usage = new WindowUsage();
    usage.adopt(8, 6);
    usage.learnShortfall(8, 8, true, 1);
    expect(usage.missing).toBe(2);
    usage.learnShortfall(8, 9, false, 1);
    expect(usage.missing).toBe(2);
  });
});

describe("Windows that lost their meaning", () => {
  it("are open again, and no more is said of others", () => {
    const usage = new WindowUsage();
    usage.closedThrough = 5;
    usage.report(5, 3);
    expect(usage.seesOthers).toBe(true);
    usage.reset();
    expect([usage.closedThrough, usage.seesOthers, usage.used(5)]).toEqual([Number.NEGATIVE_INFINITY, false, 0]);
  });
});

describe("An answered call that nothing was told with", () => {
  it("comes on top of a count that others may be in", () => {
    const usage = new WindowUsage();
    usage.begin(1, 2);
    usage.begin(1, 3);
    usage.report(1, 10);
    usage.end(1, 1, 1, 2);
    usage.end(1, 1, 1, 3, true);
    expect(usage.used(1)).toBe(12);
  });

  it.each([
    [300, 5],
    [301, 4],
  ])(
    "is in a count that only ours are in; in window %i, after something else was in window 1, %i may be used",
    (window, used) => {
      const usage = new WindowUsage(true);
      usage.missing = 2;
      usage.learnMissing(1, 0);
      usage.begin(window, 3);
      usage.end(window, window, window, 1, true);
      usage.report(window, 3);
      usage.end(window, window, window, 1);
      // Three were counted, and one is under way still.
      expect(usage.used(window)).toBe(used);
    },
  );
});

describe("Calls that stay silent", () => {
  /** One leaves in `window` and is given up `windows` later, where another was answered and `count` were counted. */
  const lose = (usage: WindowUsage, window: number, windows: number, count = 1): void => {
    usage.begin(window, 1);
    answered(usage, window + windows, 1, count);
    usage.lose(window, window + windows, 1);
  };
  const loseMany = (times: number, windows = 9, count = 1, usage = new WindowUsage(true), from = 1): WindowUsage => {
    for (let index = 0; index < times; index++) lose(usage, from + 20 * index, windows, count);
    return usage;
  };
  /** What counts in the window after, where one left in window 5,000 and another was answered three windows later. */
  const heldBy = (usage: WindowUsage): number => {
    usage.begin(5_000, 1);
    answered(usage, 5_003, 1, 1);
    return usage.used(5_004);
  };

  it("are held for no longer once twenty were given up after three windows or more, and in no count", () => {
    expect([heldBy(loseMany(19, 3)), heldBy(loseMany(20, 2)), heldBy(loseMany(20, 3))]).toEqual([1, 1, 0]);
    expect(heldBy(loseMany(20, 3, 2))).toBe(1);
  });

  it("are not charged either when they are given up", () => {
    const usage = loseMany(20);
    expect(heldBy(usage)).toBe(0);
    usage.lose(5_000, 5_010, 1);
    expect(usedIn(usage, 5_000, 5_003, 5_004, 5_010)).toEqual([0, 1, 0, 0]);
  });

  it("are held for again after one was answered three windows later, until forty are given up", () => {
    const heard = (windows: number, more: number): number => {
      const usage = loseMany(20);
      usage.begin(1_000, 1);
      usage.end(1_000, 1_000 + windows, 1_000 + windows, 1, true);
      usage.report(1_000 + windows, 1);
      return heldBy(loseMany(more, 9, 1, usage, 2_000));
    };
    expect([heard(2, 0), heard(3, 0), heard(3, 39), heard(3, 40)]).toEqual([0, 1, 1, 0]);
  });
});
