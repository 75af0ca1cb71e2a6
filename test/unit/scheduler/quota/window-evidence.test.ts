/** What falling counts and refusals prove of one scope's windows and limit, in instants worked out by hand. */
import { describe, expect, it } from "vitest";
import { address, lagging, type Stage, second, silent, stage, user } from "../../../support/harness/evidence.ts";

describe("A count that fell below that of a call before", () => {
  /** A call that left at 7,100, after one at 7,080, told 6 of window 7; the next count is read at `receivedAt`. */
  const fell = (of: Stage, receivedAt: number, used: number, last = 7) => {
    const before = { sentAt: 7_100, receivedAt: 7_120, used: 6, first: 7, last, beforeAt: 7_080 };
    return { ...of, fall: of.evidence.learnBoundary(before, receivedAt - 20, receivedAt, used) };
  };

  it("tells the calendar of a key's second that began in between, within nine tenths of one", () => {
    expect(fell(stage(second), 7_999, 5).boundaries).toEqual([[7_100, 7_999, 1_000]]);
    expect([
      fell(stage(second), 8_000, 5).boundaries,
      fell(stage({ ...second, scope: "uid" }), 7_999, 5).boundaries,
    ]).toEqual([[], []]);
    // A count that lags is that of the call before.
    expect(fell(lagging(stage(second)), 7_979, 5).boundaries).toEqual([[7_080, 7_979, 1_000]]);
    expect(fell(lagging(stage(second)), 7_980, 5).boundaries).toEqual([]);
  });

  it("begins the next window of its scope, where the calendar says so or not", () => {
    const expected = fell(stage(second, { lo: -100, hi: 100 }), 7_980, 5);
    expect([expected.phase.proofs, expected.fall]).toEqual([1, "begins"]);
    // 8 is taken to have begun by 7,980 at the latest.
    expect([expected.phase.lo(7_980), expected.phase.first(7_980)]).toEqual([20, 8]);
    const elsewhere = fell(stage(second), 7_500, 5);
    expect([elsewhere.phase.proofs, elsewhere.phase.first(7_500), elsewhere.fall]).toEqual([1, 8, "moved"]);
  });

  it("is of the window the call before the last can have landed in, where counts lag", () => {
    // Window 7 itself may have begun between 7,080 and 7,110.
    const late = fell(lagging(stage(second, { lo: -110, hi: -50 })), 7_110, 5);
    expect([late.phase.lo(7_110), late.fall]).toEqual([-110, "begins"]);
    expect(fell(stage(second, { lo: -110, hi: -50 }), 7_110, 5).fall).toBe("moved");
  });

  it("proves nothing where it stood still and calls may weigh nothing, or counts lag", () => {
    const phases = [stage({ ...second, unit: "weight" }), lagging(stage(second)), stage(second)].map((of) =>
      fell(of, 7_500, 6),
    );
    expect(phases.map(({ phase }) => phase.proofs)).toEqual([0, 0, 1]);
    // The calendar is told all the same.
    expect(phases.map(({ boundaries }) => boundaries.length)).toEqual([1, 1, 1]);
  });

  it("ends a window that runs on, and leaves what was heard to be compared", () => {
    const of = stage(second);
    of.evidence.runOn(7, 7_050);
    of.told(7, 6, 7_120);
    fell(of, 7_500, 5);
    expect([of.phase.openEnded, of.phase.first(7_500), of.evidence.fallTo(6, 7_600)?.sentAt]).toEqual([
      undefined,
      8,
      7_100,
    ]);
  });

  it("begins another that runs on, where it may have been at any time: nothing heard before can be compared", () => {
    const of = stage(second);
    of.evidence.runOn(7, 7_050);
    of.told(7, 6, 7_120);
    of.usage.missing = 2;
    fell(of, 8_000, 5);
    expect([of.phase.openEnded, of.evidence.fallTo(6, 8_100), of.evidence.top?.used]).toEqual([
      { index: 8, since: 8_000 },
      undefined,
      6,
    ]);
    expect(of.openEnd.paced(8_000, 8_000)).toBe(3);
    // Nothing new is said of it by a refusal.
    expect([of.evidence.noteRefused(8_100), of.phase.openEnded]).toEqual([false, { index: 8, since: 8_000 }]);
  });
});

describe("A refusal that no other layer did", () => {
  /** Minute 1 was seen to begin, and told 500 of 1,200 at second 20. */
  const proven = (spec = user): Stage => {
    const of = stage(spec);
    of.phase.fell(59_000, 60_100, 0, 0);
    of.told(1, 500, 80_000, 5);
    return of;
  };
  const refused = (of: Stage, sentAt = 80_100) => of.evidence.learnRefusal(sentAt, 80_110, 0);

  it("lowers the limit to what was counted, and says so", () => {
    const of = proven();
    expect([refused(of), of.limit.capacity]).toEqual(["learned", 500]);
    // One that left before is the same lesson.
    expect(refused(of)).toBe("expected");
  });

  it("is no surprise where the window is full", () => {
    const of = proven();
    of.usage.report(1, 1_200);
    expect([refused(of), of.limit.capacity]).toEqual(["unmoved", 1_200]);
  });

  it.each<[string, () => Stage]>([
    ["answers tell what remains, which moves with the limit", () => proven(address)],
    ["answers tell nothing", () => proven(silent)],
    ["counts lag", () => lagging(proven())],
    [
      "no window was seen to begin",
      () => {
        const of = stage(user);
        of.told(1, 500, 80_000, 5);
        return of;
      },
    ],
    [
      "a window runs on",
      () => {
        const of = proven();
        of.evidence.runOn(1, 70_000);
        of.phase.proofs = 1;
        return of;
      },
    ],
  ])("proves nothing where %s", (_, of) => {
    const proved = of();
    expect([refused(proved), proved.limit.capacity]).toEqual(["unmoved", proved.spec.capacity]);
  });

  it("proves nothing where its call may have landed in the window before", () => {
    expect([refused(proven(), 59_900), refused(proven(), 60_200)]).toEqual(["unmoved", "learned"]);
  });

  it("counts what other engines of ours may have used", () => {
    const of = stage(user);
    of.phase.fell(479_000, 480_100, 7, 7);
    of.told(8, 500, 500_000, 5);
    expect([of.evidence.learnRefusal(500_100, 500_110, 700), of.limit.capacity]).toEqual(["unmoved", 1_200]);
  });
});

describe("A window that only the calendar says has begun", () => {
  /** Window 7 told 6 of ten at 7,900; two calls went into 8. */
  const entered = (): Stage => {
    const of = stage(second);
    of.told(7, 6, 7_900);
    of.usage.begin(8, 2);
    return of;
  };

  it("is risky where the one before could not have held its calls as well, until it is proved", () => {
    const of = entered();
    expect(of.evidence.isRisky(3, 8_100, 10)).toBe(false);
    of.usage.begin(8, 3);
    expect([
      of.evidence.isRisky(0, 8_100, 10),
      of.evidence.isRisky(0, 8_100, 11),
      of.evidence.isRisky(0, 8_900, 10),
    ]).toEqual([true, false, false]);
  });

  it("has not begun where a call is refused: it runs on with the use of the one before", () => {
    const of = entered();
    expect([of.evidence.noteRefused(8_100), of.phase.openEnded, of.usage.used(8)]).toEqual([
      true,
      { index: 8, since: 8_100 },
      8,
    ]);
    expect([of.evidence.noteRefused(8_200), of.phase.openEnded?.since]).toEqual([false, 8_100]);
  });

  it("has begun for all that a refusal tells where it is not in question", () => {
    const of = entered();
    expect([of.evidence.noteRefused(8_900), of.phase.openEnded]).toEqual([false, undefined]);
  });
});

describe("A call is risky", () => {
  it("where a window runs on and cannot hold it", () => {
    const of = stage(second);
    of.evidence.runOn(8, 8_100, 6);
    expect([of.evidence.isRisky(4, 8_200, 10), of.evidence.isRisky(5, 8_200, 10)]).toEqual([false, true]);
  });

  it("where more was used than was proven of a limit that was learned", () => {
    const of = stage(user);
    of.phase.fell(59_000, 60_100, 0, 0);
    of.told(1, 500, 80_000, 5);
    of.evidence.learnRefusal(80_100, 80_110, 0);
    // Half of 500 is believed.
    const risky = (used: number): boolean => {
      of.usage.begin(9, used);
      return of.evidence.isRisky(1, 560_000, 500);
    };
    expect([risky(250), risky(1)]).toEqual([false, true]);
  });
});
