/** Spending in a window whose end is not known, in instants worked out by hand. */
import { describe, expect, it } from "vitest";
import { OpenEnd } from "../../../../src/scheduler/quota/open-end.ts";

const capacity = 1_000;
/** A 54th of it, after which a look is risked, is a second; a 20th, after which one is made that fits, 2.7 s. */
const windowMs = 54_000;
const since = 100_000;

const entered = (used = 300, refusedMs = 0): OpenEnd => {
  const end = new OpenEnd(capacity, windowMs);
  end.refusedMs = refusedMs;
  end.enter(since, used);
  return end;
};

interface Asked {
  readonly used: number;
  readonly now: number;
  readonly landedAt?: number;
  readonly most?: number;
  readonly isAlone?: boolean;
  readonly since?: number;
}

const blocked = (end: OpenEnd, { used, now, landedAt = since, most = 0, isAlone = true, since: from = since }: Asked) =>
  end.blockedUntil(used, most, { landedAt, since: from, now, isAlone });
/** When more than the window holds may be asked for. */
const riskAt = (end: OpenEnd): number | undefined => blocked(end, { used: capacity + 1, now: 0 });

describe("A window whose end is not known", () => {
  it("is spent evenly from what was used of it, a fiftieth at once", () => {
    const end = entered(300);
    expect([end.paced(since, since), end.paced(since + 27_000, since)]).toEqual([320, 820]);
  });

  it("lets one of its calls go at once, be it ever so small", () => {
    const end = new OpenEnd(10, windowMs);
    end.enter(since, 3);
    expect(end.paced(since, since)).toBe(4);
  });

  it("is looked at for its end where it lasts ten seconds or longer", () => {
    expect([9_999, 10_000].map((ms) => new OpenEnd(10, ms).looks)).toEqual([false, true]);
  });

  it.each<[string, Asked, number | undefined]>([
    ["lets go what may be used", { used: 700, most: 700, now: since }, undefined],
    ["waits a window's length with less than half used", { used: 500, now: since + 400 }, since + 400 + windowMs],
    ["counts that length from where it was found to run on", { used: 500, now: since - 400 }, since + windowMs],
    ["waits with another call under way", { used: 700, now: since + 400, isAlone: false }, since + 400 + windowMs],
    [
      "looks with room for it a twentieth of a window after the last answer",
      { used: 501, now: since - 301, landedAt: since - 3_000 },
      since - 300,
    ],
    ["looks then", { used: capacity, now: since - 300, landedAt: since - 3_000 }, undefined],
    ["looks after a second at the latest", { used: capacity, now: since + 999 }, since + 1_000],
    [
      "risks a look without room for it after a second",
      { used: capacity + 1, now: since + 999, landedAt: since - 3_000 },
      since + 1_000,
    ],
    ["risks it then", { used: capacity + 1, now: since + 1_000 }, undefined],
  ])("%s", (_, asked, until) => {
    expect(blocked(entered(), asked)).toBe(until);
  });

  it("that is too short to be looked at is waited for", () => {
    const end = new OpenEnd(10, 1_000);
    end.enter(since, 3);
    expect(blocked(end, { used: 9, now: since })).toBe(since + 1_000);
  });

  it("is looked at less and less often while looks are refused, and after its length at the latest", () => {
    const end = entered();
    expect(end.refuse(since + 999)).toBe(since + 1_000);
    expect(end.refusedMs).toBe(0);
    const waited = [1_000, 5_000, 25_000, windowMs, windowMs];
    let at = since + 1_000;
    for (const ms of waited) {
      expect([end.refuse(at), end.refusedMs]).toEqual([at + ms, ms]);
      at += ms;
    }
  });

  it("that goes on after a refused look is not looked at sooner than that", () => {
    expect([riskAt(entered(300, 7_000)), riskAt(entered(300, 500))]).toEqual([since + 7_000, since + 1_000]);
  });

  it("is looked at less and less often by calls that were counted, until its length is over", () => {
    const end = entered();
    end.noteBegun(since + 999, since);
    expect(riskAt(end)).toBe(since + 1_000);
    const looks = [1_000, 6_000, 31_000, windowMs, windowMs + 1];
    for (const [index, ms] of looks.slice(0, -1).entries()) {
      end.noteBegun(since + ms, since);
      expect(riskAt(end)).toBe(since + (looks[index + 1] as number));
    }
  });
});
