/** Refusals at the beginning of windows: later windows are entered later. */
import { describe, expect, it } from "vitest";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import { LatestDoubt } from "../../../../src/scheduler/quota/floor.ts";
import type { LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import { limiterParts } from "../../../../src/scheduler/quota/parts.ts";
import type { ServerClock } from "../../../../src/scheduler/quota/server-clock.ts";
import { lengthError, WindowLength } from "../../../../src/scheduler/quota/window-length.ts";
import { WindowPhase } from "../../../../src/scheduler/quota/window-phase.ts";
import { second, user } from "../../../support/harness/evidence.ts";
import { fixedClock } from "../../../support/harness/fixed-clock.ts";

/** A window after four beginnings where they were expected; window 5 was spent to `used`. */
const spent = (
  spec: LayerSpec,
  used: number,
  doubt = new LatestDoubt(),
): { gauge: FixedWindow; refused: (at: number) => boolean } => {
  const { windowMs } = spec;
  const gauge = new FixedWindow(spec, "s", fixedClock(0, 0), undefined, { doubt });
  const call = (at: number, units: number, told: number): void => {
    gauge.end(gauge.begin(units, at), at, at + 1, told, true);
  };
  for (let window = 1; window < 5; window++) {
    call(window * windowMs, 1, 1);
    call((window + 0.5) * windowMs, 1, 2);
  }
  call(5 * windowMs, 1, 1);
  call(5.5 * windowMs, used - 1, used);
  const refused = (at: number): boolean => {
    const part = gauge.begin(10, at);
    gauge.end(part, at, at + 1, undefined, false);
    return gauge.learnLate(part, at);
  };
  return { gauge, refused };
};
const all = (spec: LayerSpec) => (): number => spec.capacity;

describe("A call refused at the beginning of a window that had surely begun", () => {
  it("shows, where the window before was full, that windows begin late: the next is entered a sixtieth later", () => {
    const { gauge, refused } = spent(user, 1_195);
    expect(refused(360_100)).toBe(true);
    // Window 5 may run until 361.1 s: 100 ms late, and a second more.
    expect([gauge.blockedUntil(10, 360_200, all(user)), gauge.blockedUntil(10, 361_101, all(user))]).toEqual([
      361_100,
      undefined,
    ]);
    expect(gauge.windowEndsAt(400_000)).toBe(421_100);
  });

  it("is explained by nothing shortly after a doubtful count of any layer, though windows are entered later", () => {
    const doubt = new LatestDoubt();
    const { gauge, refused } = spent(user, 1_195, doubt);
    doubt.at = 300_000;
    expect([refused(360_100), gauge.windowEndsAt(400_000)]).toEqual([false, 421_100]);
  });

  it("shows that a short window began late, too, and the next is entered later", () => {
    const { gauge, refused } = spent(second, 10);
    const before = gauge.windowEndsAt(6_020);
    expect([refused(6_010), gauge.windowEndsAt(6_020) > before + 1_000 / 60]).toEqual([true, true]);
  });

  it.each([
    ["the window before had room", 1_190, 360_100],
    ["it left later than a twentieth of the window", 1_195, 363_001],
  ])("shows nothing where %s", (_, used, at) => {
    const { gauge, refused } = spent(user, used);
    expect([refused(at), gauge.widthMs(400_000)]).toEqual([false, gauge.widthMs(400_000)]);
    expect(gauge.windowEndsAt(400_000)).toBe(420_000);
  });

  it("shows so again for a window that begins later still, up to a twentieth of it", () => {
    const phase = new WindowPhase(60_000, fixedClock(0, 0));
    const late = (sentAt: number): readonly [boolean, number] => [phase.learnLate(6, sentAt), phase.begins(7, sentAt)];
    expect(late(360_000)).toEqual([true, 421_000]);
    expect(late(361_200)).toEqual([true, 422_200]);
    expect(late(363_001)).toEqual([false, 422_200]);
  });

  it("is remembered for an hour, and four times as long each time that windows begin late again", () => {
    const hour = 3_600_000;
    const phase = new WindowPhase(60_000, fixedClock(0, 0));
    const lateFor = (sentAt: number, ms: number): readonly number[] => {
      expect(phase.learnLate(sentAt / 60_000, sentAt)).toBe(true);
      return [phase.begins(0, sentAt + ms - 1), phase.begins(0, sentAt + ms)];
    };
    expect(lateFor(hour, hour)).toEqual([1_000, 0]);
    expect(lateFor(3 * hour, 4 * hour)).toEqual([1_000, 0]);
    // A refusal for another reason changes nothing.
    phase.learnLate(8 * 60, 8 * hour);
    phase.unlearnLate();
    expect(lateFor(9 * hour, 16 * hour)).toEqual([1_000, 0]);
  });

  it("shows of seconds that they may be longer than stated, and when one is refused again, that they are late", () => {
    const phase = new WindowPhase(1_000, fixedClock(-20_000, 20_000));
    const begin = (from: number, to: number): void => {
      for (let index = from; index <= to; index++)
        phase.fell(index * 1_000 - 20, index * 1_000 + 20, index - 1, index - 1);
    };
    begin(1, 6);
    expect(phase.learnLate(7, 7_030)).toBe(true);
    // Until counts show where the next second begins, it may be late.
    expect(phase.begins(8, 7_030)).toBeGreaterThan(8_040);
    begin(8, 10);
    expect(phase.begins(11, 11_000)).toBeLessThan(11_028);
    expect(phase.learnLate(11, 11_030)).toBe(true);
    begin(12, 20);
    expect(phase.begins(21, 21_000)).toBeGreaterThan(21_040);
  });

  it.each([
    ["a second", 1_000, 1],
    ["a minute", 60_000, 10],
  ])("lets one call at a time into %s that may be late, if it is short", (_, windowMs, entering) => {
    const phase = new WindowPhase(windowMs, fixedClock(0, 0), new WindowLength(windowMs, lengthError));
    const parts = { ...limiterParts, phase: () => phase };
    const gauge = new FixedWindow({ ...second, windowMs }, "k", fixedClock(0, 0), undefined, { parts });
    for (let used = 0; used < 60; used++) {
      const at = Math.round((1 + used / 10) * windowMs);
      gauge.end(gauge.begin(1, at), at, at + 10, 1 + (used % 10), true);
    }
    phase.learnLate(7, 7 * windowMs + 1);
    const at = 7.06 * windowMs;
    let left = 0;
    for (; gauge.blockedUntil(1, at, () => 10) === undefined; left++) gauge.begin(1, at);
    expect(left).toBe(entering);
  });

  it("shows nothing once a count tells that the window itself was full", () => {
    const { gauge, refused } = spent(user, 1_195);
    const part = gauge.begin(1, 360_000);
    expect([refused(360_100), gauge.windowEndsAt(400_000)]).toEqual([true, 421_100]);
    gauge.end(part, 360_000, 360_140, 1_195, true);
    expect(gauge.windowEndsAt(400_000)).toBe(420_000);
  });

  it("shows nothing where only the calendar says that the window has begun", () => {
    const gauge = new FixedWindow(user, "s", { ...fixedClock(0, 0) } satisfies ServerClock);
    gauge.end(gauge.begin(1_195, 30_000), 30_000, 30_010, 1_195, true);
    const part = gauge.begin(10, 60_100);
    expect(gauge.learnLate(part, 60_100)).toBe(false);
  });
});
