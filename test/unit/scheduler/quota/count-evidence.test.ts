/** What counts prove of one scope's windows, in counts and instants worked out by hand. */
import { describe, expect, it } from "vitest";
import { address, lagging, type Stage, second, stage, user } from "../../../support/harness/evidence.ts";

describe("A window that is found to run on", () => {
  it("has the number and the use of the one before, and is spent from there", () => {
    const of = stage(second);
    of.told(7, 6, 7_900);
    of.doubt.judge(
      { window: 8, used: 9, sentAt: 8_010, receivedAt: 8_030, ours: 0 },
      { before: of.heard.top, top: of.heard.top, isFirst: true, lags: false },
    );
    of.evidence.runOn(8, 8_100, 7);
    expect([of.phase.openEnded, of.heard.top?.window, of.usage.used(8), of.doubt.current]).toEqual([
      { index: 8, since: 8_100 },
      8,
      7,
      undefined,
    ]);
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
  const isStale = (of: Stage, used: number, { at = 510_000, counted = true } = {}): boolean =>
    of.evidence.isStale(8, used, 5, at - 20, at, counted, 8);
  const minute = (options = {}): Stage => {
    const of = stage(user, options);
    of.told(7, 400, 470_000);
    return of;
  };

  it("is its own where it does not go on from the one before, and is heard", () => {
    const of = minute();
    expect([isStale(of, 400), of.heard.top]).toEqual([false, { window: 8, used: 400, at: 510_000 }]);
  });

  it("is not heard where the call was not counted", () => {
    const of = minute();
    expect([isStale(of, 30, { counted: false }), of.heard.top?.window]).toEqual([false, 7]);
    expect([isStale(of, 900, { counted: false }), of.heard.top?.window, of.doubt.current]).toEqual([
      false,
      7,
      undefined,
    ]);
  });

  it("is another's, and not heard, where it goes on from the one before; its units are noted", () => {
    const of = minute();
    expect([isStale(of, 900), of.heard.top?.window, of.doubt.current?.used, of.stale.noted]).toEqual([
      true,
      7,
      900,
      [[8, 5]],
    ]);
  });

  it("is its own where this engine or others of ours hold as much", () => {
    // 301 of 1,200 that are not ours are more than a quarter, 300 are not.
    const judged = (held: number, ours: number, used: number): boolean => {
      const of = minute({ held });
      of.usage.begin(8, ours);
      return isStale(of, used);
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
    const judged = (of: Stage, used: number): boolean => of.evidence.isStale(8, used, 1, 8_010, 8_030, true, 8);
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
    of.heard.hear(509_970, 509_990, 1, 8, 8);
    expect([isStale(of, 900), of.heard.top, of.doubt.current]).toEqual([
      true,
      { window: 8, used: 1, at: 509_990 },
      undefined,
    ]);
  });

  it("ends the doubt about the one before it where it begins anew", () => {
    const of = minute();
    isStale(of, 900);
    expect([isStale(of, 3, { at: 510_100 }), of.doubt.current, of.heard.top?.used]).toEqual([false, undefined, 3]);
  });

  it("does not go on from a window that is not the one before", () => {
    const of = stage(user);
    of.told(6, 400, 410_000);
    expect(isStale(of, 900)).toBe(false);
  });

  it("is confirmed by a second call: the window before runs on, with what was counted of it", () => {
    const of = minute();
    expect([isStale(of, 900), isStale(of, 905, { at: 510_100 })]).toEqual([true, false]);
    expect([of.phase.openEnded, of.usage.used(8), of.heard.top]).toEqual([
      { index: 8, since: 510_100 },
      905,
      { window: 8, used: 905, at: 510_100 },
    ]);
    expect(of.misread).toEqual(["uid: a window that should have begun went on counting; its beginning is looked for"]);
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
    expect(settled(3, 510_000).misread).toEqual([]);
  });

  it("is another's where counts lag and the first one is above what was sent", () => {
    const noted = (used: number, isFirst = true): number => {
      const of = lagging(stage(second));
      if (!isFirst) of.heard.hear(8_001, 8_005, 1, 8, 8);
      of.usage.begin(8, 3);
      expect(of.evidence.isStale(8, used, 1, 8_010, 8_030, true, 8)).toBe(of.stale.noted.length > 0);
      return of.stale.noted.length;
    };
    // Three were sent, and the count is that before its own call.
    expect([noted(2), noted(3), noted(3, false)]).toEqual([0, 1, 0]);
  });

  it("is compared, where counts lag, with what was begun and what is missing", () => {
    const of = lagging(stage(second));
    of.usage.missing = 2;
    of.usage.begin(8, 3);
    expect([
      of.evidence.isStale(8, 4, 1, 8_010, 8_030, true, 8),
      of.evidence.isStale(8, 5, 1, 8_011, 8_031, true, 8),
    ]).toEqual([false, true]);
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
  it("takes back what was learned from them, and the window that may be the latest runs on", () => {
    const of = stage(second, { lo: -100, hi: 100 });
    of.told(7, 6, 7_900);
    of.usage.missing = 3;
    of.usage.strayIn = 7;
    lagging(of);
    expect([of.evidence.lagTurns, of.evidence.noteLag(8_950), of.evidence.lagTurns]).toEqual([0, 0, 1]);
    expect([of.usage.missing, of.usage.strayIn, of.heard.top]).toEqual([0, Number.NEGATIVE_INFINITY, undefined]);
    expect(of.phase.openEnded).toEqual({ index: 9, since: 8_950 });
    expect(of.misread).toEqual(["key: counts are those from before the call they come with"]);
  });

  it("is no misreading when it is over", () => {
    const of = stage(second);
    of.lag.turns = 2;
    of.evidence.noteLag(8_950);
    expect([of.misread, of.phase.openEnded?.index]).toEqual([[], 8]);
  });
});
