/** What counts prove of one scope's windows, in counts and instants worked out by hand. */
import { describe, expect, it } from "vitest";
import { address, lagging, type Stage, second, stage, user } from "../../../support/harness/evidence.ts";

describe("A window that is found to run on", () => {
  it("has the number and the use of the one before, and is spent from there", () => {
    const of = stage(second);
    of.told(7, 6, 7_900);
    of.evidence.runOn(8, 8_100, 7);
    expect([of.phase.openEnded, of.evidence.top?.window, of.usage.used(8)]).toEqual([{ index: 8, since: 8_100 }, 8, 7]);
    // Seven are used, and one may leave at once.
    expect(of.openEnd.paced(8_100, 8_100)).toBe(8);
  });

  it("is followed by the next when it has ended for certain, of which only what is missing is used", () => {
    const of = stage(second);
    of.evidence.runOn(8, 8_100, 7);
    of.usage.missing = 2;
    of.evidence.outlast(9_200);
    expect([of.phase.openEnded, of.openEnd.paced(9_200, 9_200)]).toEqual([{ index: 9, since: 9_200 }, 3]);
  });
});

describe("A count told in a window", () => {
  /** Window 7 was told 400 of 1,200; what window 8 is told first, at second 30 of it. */
  const isStale = (of: Stage, used: number, { at = 510_000, elsewhere = 0 } = {}): boolean =>
    of.evidence.judge({ window: 8, used, units: 5, sentAt: at - 20, receivedAt: at, heardTo: 8, elsewhere }) ===
    "stale";
  const isStaleCall = (of: Stage, used: number, sentAt = 8_010): boolean =>
    of.evidence.judge({ window: 8, used, units: 1, sentAt, receivedAt: sentAt + 20, heardTo: 8, elsewhere: 0 }) ===
    "stale";
  const minute = (): Stage => {
    const of = stage(user);
    of.told(7, 400, 470_000);
    return of;
  };

  it("is its own where it does not go on from the one before, and is heard", () => {
    const of = minute();
    expect([isStale(of, 400), of.evidence.top]).toEqual([false, { window: 8, used: 400, at: 510_000 }]);
  });

  it("is another's, and not heard, where it goes on from the one before; its units are noted", () => {
    const of = minute();
    expect([isStale(of, 900), of.evidence.top?.window, of.evidence.isDoubting, of.stale.noted]).toEqual([
      true,
      7,
      true,
      [[8, 5]],
    ]);
  });

  it("is its own where this engine or others of ours hold as much", () => {
    // 301 of 1,200 that are not ours are more than a quarter, 300 are not.
    const judged = (held: number, ours: number, used: number): boolean => {
      const of = minute();
      of.usage.begin(8, ours);
      return isStale(of, used, { elsewhere: held });
    };
    expect([judged(0, 600, 900), judged(0, 600, 901), judged(500, 100, 900), judged(500, 100, 901)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  it("is its own where the service told as much of its window before, lag or not, but of a key's second where counts lag", () => {
    const reported = (of: Stage, told: number, later: number): Stage => {
      of.told(7, told, 7_900);
      of.usage.report(8, later);
      return of;
    };
    const judged = (of: Stage, used: number): boolean => isStaleCall(of, used);
    expect([
      judged(reported(stage(user), 400, 800), 900),
      judged(reported(lagging(stage(user)), 400, 800), 700),
    ]).toEqual([false, false]);
    expect([judged(reported(stage(second), 2, 6), 6), judged(reported(lagging(stage(second)), 2, 6), 5)]).toEqual([
      false,
      true,
    ]);
  });

  it("is the old window's where a call beside it was told less of the new one", () => {
    const of = minute();
    of.evidence.hear(509_970, 509_990, 1, 8, 8);
    expect([isStale(of, 900), of.evidence.top, of.evidence.isDoubting]).toEqual([
      true,
      { window: 8, used: 1, at: 509_990 },
      false,
    ]);
  });

  it("ends the doubt about the one before it where it begins anew", () => {
    const of = minute();
    isStale(of, 900);
    expect([isStale(of, 3, { at: 510_100 }), of.evidence.isDoubting, of.evidence.top?.used]).toEqual([false, false, 3]);
  });

  it("does not go on from a window that is not the one before", () => {
    const of = stage(user);
    of.told(6, 400, 410_000);
    expect(isStale(of, 900)).toBe(false);
  });

  it("is confirmed by a second call: the window before runs on, with what was counted of it", () => {
    const of = minute();
    expect([isStale(of, 900), isStale(of, 905, { at: 510_100 })]).toEqual([true, false]);
    expect([of.phase.openEnded, of.usage.used(8), of.evidence.top]).toEqual([
      { index: 8, since: 510_100 },
      905,
      { window: 8, used: 905, at: 510_100 },
    ]);
  });

  it("is others' when three windows began as expected and this one long ago", () => {
    const settled = (windows: number, at: number): Stage => {
      const of = stage(user, { lo: -500, hi: 500 });
      for (let index = 8 - windows; index < 8; index++)
        of.phase.fell(index * 60_000 - 600, index * 60_000 + 600, index - 1, index - 1);
      of.told(7, 400, 470_000);
      isStale(of, 900, { at });
      isStale(of, 905, { at: at + 100 });
      return of;
    };
    expect([settled(2, 510_000), settled(3, 510_000)].map(({ phase }) => phase.openEnded === undefined)).toEqual([
      false,
      true,
    ]);
    // It is young for six seconds after its beginning at the latest.
    const beginsAt = settled(3, 510_000).phase.begins(8, 486_000);
    expect(
      [settled(3, beginsAt + 5_899), settled(3, beginsAt + 5_921)].map(({ phase }) => phase.openEnded === undefined),
    ).toEqual([false, true]);
  });

  it("is another's where counts lag and the first one is above what was sent", () => {
    const noted = (used: number, isFirst = true): number => {
      const of = lagging(stage(second));
      if (!isFirst) of.evidence.hear(8_001, 8_005, 1, 8, 8);
      of.usage.begin(8, 3);
      expect(isStaleCall(of, used)).toBe(of.stale.noted.length > 0);
      return of.stale.noted.length;
    };
    // Three were sent, and the count is that before its own call.
    expect([noted(2), noted(3), noted(3, false)]).toEqual([0, 1, 0]);
  });

  it("is compared, where counts lag, with what was begun and what is missing", () => {
    const of = lagging(stage(second));
    of.usage.missing = 2;
    of.usage.begin(8, 3);
    expect([isStaleCall(of, 4), isStaleCall(of, 5, 8_011)]).toEqual([false, true]);
  });
});

describe("What a count tells to be missing", () => {
  const missing = (of: Stage, used: number, at: number, told = 0): number =>
    of.evidence.learnMissing(1, used, at, told);

  it("is, of an address, what was gone of a young window: for a tenth of its length", () => {
    expect([
      missing(stage(address), 500, 66_000),
      missing(stage(address), 500, 66_001),
      missing(stage(address), 500, 66_000, 1),
    ]).toEqual([500, 0, 0]);
  });

  it("is, of an address, what goes by more than a quarter of the capacity at once", () => {
    const leap = (used: number): number => {
      const of = stage(address);
      of.usage.report(1, 10);
      return missing(of, used, 100_000, 10);
    };
    expect([leap(260), leap(261)]).toEqual([0, 251]);
  });

  it("is, of a key's second, all that is not ours, whenever it is told", () => {
    const of = stage(second);
    of.told(1, 1, 1_020);
    expect([missing(of, 4, 1_900, 1), of.usage.missing]).toEqual([3, 3]);
  });
});

describe("A lag of counts that was found", () => {
  /** Use of window 7 was counted after `begun` windows in a row were seen to begin. */
  const found = (begun: number): Stage => {
    const of = stage(second, { lo: -100, hi: 100 });
    for (let window = 8 - begun; window < 8; window++)
      of.phase.fell(window * 1_000 - 50, window * 1_000 + 50, window - 1, window - 1);
    of.told(7, 6, 7_900);
    of.usage.missing = 3;
    of.usage.strayIn = 7;
    lagging(of);
    return of;
  };

  it("takes back what was learned from them of the use, and a window runs on of which no other was seen to begin", () => {
    const of = found(1);
    of.evidence.noteLag(8_900);
    expect([of.evidence.lagTurns, of.usage.missing, of.usage.strayIn, of.evidence.top]).toEqual([
      1,
      0,
      Number.NEGATIVE_INFINITY,
      undefined,
    ]);
    expect(of.phase.openEnded).toEqual({ index: 8, since: 8_900 });
  });

  it("changes nothing of where windows begin, if two in a row were seen to", () => {
    const of = found(2);
    const bounds = [of.phase.lo(8_950), of.phase.hi(8_950)];
    of.evidence.noteLag(8_950);
    expect([of.phase.openEnded, of.phase.lo(8_950), of.phase.hi(8_950)]).toEqual([undefined, ...bounds]);
  });
});
