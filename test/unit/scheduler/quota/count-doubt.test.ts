/** Doubt about a first count that goes on from the window before: when it comes up, and what ends it. Of a capacity of 100. */
import { describe, expect, it } from "vitest";
import { CountDoubt } from "../../../../src/scheduler/quota/count-doubt.ts";

type Told = Parameters<CountDoubt["judge"]>[0];
type Known = Parameters<CountDoubt["judge"]>[1];

const before = { window: 7, used: 40, at: 7_900 };

/** Window 7 was told 40; the first count of window 8 is 41, read at 8,030. */
const judgeOf =
  (doubt: CountDoubt) =>
  (told: Partial<Told> = {}, known: Partial<Known> = {}) =>
    doubt.judge(
      { window: 8, used: 41, sentAt: 8_010, receivedAt: 8_030, ours: 0, ...told },
      { before, top: before, isFirst: true, lags: false, ...known },
    );

describe("A first count", () => {
  it.each<[string, Partial<Told>, Partial<Known>]>([
    ["it is no more than that of the window before", { used: 40 }, {}],
    ["nothing was told of the window before", {}, { before: undefined }],
    ["what was told is of an older window", {}, { before: { ...before, window: 6 } }],
    ["all but a quarter of the capacity is ours", { ours: 16 }, {}],
    ["another of its window was answered before its call left", {}, { isFirst: false }],
  ])("is believed where %s", (_, told, known) => {
    const doubt = new CountDoubt(100);
    expect([judgeOf(doubt)(told, known), doubt.current]).toEqual(["believed", undefined]);
  });

  it("is doubted where it goes on from the window before, by more than a quarter of the capacity that is not ours", () => {
    const doubt = new CountDoubt(100);
    expect(judgeOf(doubt)({ ours: 15 })).toBe("doubted");
    expect(doubt.current).toEqual({ window: 8, used: 41, receivedAt: 8_030, looks: 1 });
  });

  it("is the old window's where a call beside it was told less of the new one, and raises no doubt", () => {
    const doubt = new CountDoubt(100);
    expect([judgeOf(doubt)({}, { top: { window: 8, used: 1, at: 8_020 } }), doubt.current]).toEqual([
      "doubted",
      undefined,
    ]);
  });
});

describe("A count in doubt", () => {
  const doubted = () => {
    const doubt = new CountDoubt(100);
    const judge = judgeOf(doubt);
    judge();
    return { doubt, judge };
  };

  it("is confirmed by a call that left once it was read and goes on as well, first or not", () => {
    const { doubt, judge } = doubted();
    expect(judge({ used: 42, sentAt: 8_030, receivedAt: 8_050 }, { isFirst: false })).toBe("confirmed");
    expect(doubt.current).toBeUndefined();
  });

  it("is not confirmed by one that left before: the highest and the earliest of them are kept", () => {
    const { doubt, judge } = doubted();
    expect(judge({ used: 44, sentAt: 8_029, receivedAt: 8_050 })).toBe("doubted");
    expect(judge({ used: 43, sentAt: 8_029, receivedAt: 8_060 })).toBe("doubted");
    expect(doubt.current).toEqual({ window: 8, used: 44, receivedAt: 8_030, looks: 1 });
  });

  it("is taken back by one that is no higher and does not go on", () => {
    const { doubt, judge } = doubted();
    expect([judge({ used: 40, sentAt: 8_040 }), doubt.current]).toEqual(["believed", undefined]);
    expect([judge({ used: 41 }), judge({ used: 41, ours: 20, sentAt: 8_040 }), doubt.current]).toEqual([
      "doubted",
      "believed",
      undefined,
    ]);
  });

  it("is not taken back by a higher one that is believed for itself", () => {
    const { doubt, judge } = doubted();
    expect([judge({ used: 42, ours: 20, sentAt: 8_040 }), doubt.current?.used]).toEqual(["believed", 41]);
  });

  it("takes three looks where counts lag, each after the one before was read", () => {
    const { doubt, judge } = doubted();
    const look = (used: number, sentAt: number) =>
      judge({ used, sentAt, receivedAt: sentAt + 20 }, { lags: true, isFirst: false });
    expect(look(42, 8_040)).toBe("doubted");
    expect(doubt.current).toEqual({ window: 8, used: 42, receivedAt: 8_060, looks: 2 });
    expect([look(43, 8_070), look(44, 8_100), doubt.current]).toEqual(["doubted", "confirmed", undefined]);
  });

  it("says nothing of the window after it, whose own count may be doubted in turn", () => {
    const { doubt, judge } = doubted();
    const later = { before: { window: 8, used: 41, at: 8_030 } };
    expect(judge({ window: 9, used: 60, sentAt: 9_010, receivedAt: 9_030 }, later)).toBe("doubted");
    expect(doubt.current).toEqual({ window: 9, used: 60, receivedAt: 9_030, looks: 1 });
  });

  it("lets one call leave at a time, for a second, of those into its window", () => {
    const { doubt } = doubted();
    expect(doubt.holds(8, 8_040)).toBe(false);
    doubt.noteBegun(8_040);
    expect([doubt.holds(8, 8_041), doubt.holds(8, 9_039), doubt.holds(8, 9_040)]).toEqual([true, true, false]);
    // A call that left before the doubt came up is over: the one that looks is not.
    doubt.noteEnded(8_029);
    expect(doubt.holds(8, 8_041)).toBe(true);
    doubt.noteEnded(8_030);
    expect(doubt.holds(8, 8_041)).toBe(false);
  });

  it("is over when a call goes into another window", () => {
    const { doubt } = doubted();
    doubt.noteBegun(8_040);
    expect([doubt.holds(9, 8_041), doubt.current]).toEqual([false, undefined]);
  });

  it("is forgotten with the call that looks", () => {
    const { doubt, judge } = doubted();
    doubt.noteBegun(8_040);
    doubt.forget();
    expect([doubt.current, doubt.holds(8, 8_041)]).toEqual([undefined, false]);
    judge({ sentAt: 8_042, receivedAt: 8_043 });
    expect(doubt.holds(8, 8_044)).toBe(false);
  });

  it("is looked at by no call that left while there was none", () => {
    const doubt = new CountDoubt(100);
    doubt.noteBegun(8_005);
    expect(doubt.holds(8, 8_006)).toBe(false);
    doubt.noteEnded(8_005);
    judgeOf(doubt)();
    expect(doubt.holds(8, 8_031)).toBe(false);
  });
});
