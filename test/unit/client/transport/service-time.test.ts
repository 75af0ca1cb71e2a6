/**
 * The calendar of the service, as its Date headers let it be known.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createServiceTime, type ServiceTime } from "../../../../src/client/transport/service-time.ts";
import { createVirtualClock, type VirtualClock } from "../../../../src/clock/virtual-clock.ts";

const startedAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const toleranceMs = 5_000;

/** A service whose calendar is `aheadMs` before ours. */
const rig = (aheadMs: number) => {
  const clock = createVirtualClock(startedAt);
  const time = createServiceTime(clock);
  const ahead = { ms: aheadMs };
  const answer = (outMs = 20, backMs = 20): void => {
    const sentAt = clock.now();
    clock.advanceTo(sentAt + outMs);
    const date = new Date(clock.now() + ahead.ms).toUTCString();
    clock.advanceTo(clock.now() + backMs);
    time.observe(date, sentAt, clock.now());
  };
  const wrongBy = (): number => Math.abs(time.wallNow() - clock.now() - ahead.ms);
  return { clock, time, ahead, answer, wrongBy };
};
const tell = (time: ServiceTime, clock: VirtualClock, text: string | undefined): void => {
  time.observe(text, clock.now(), clock.now());
};

describe("The service's calendar", () => {
  it("is ours until something was heard", () => {
    const { clock, time } = rig(0);
    clock.stepWall(7);
    expect([time.wallNow(), time.offsetMs]).toEqual([startedAt + 7, 0]);
  });

  it.each([0, 400, -400, 30_000, -30_000, 3_600_000, -86_400_000, 7 * 86_400_000])(
    "is known within tolerance after one answer when ours is %i ms off",
    (aheadMs) => {
      const { answer, wrongBy, time } = rig(aheadMs);
      answer(300, 700);
      expect(wrongBy()).toBeLessThanOrEqual(1_000);
      expect(Math.abs(time.offsetMs - aheadMs)).toBeLessThanOrEqual(1_000);
    },
  );

  it("is known again after the one answer that refused a signature because it had stepped", () => {
    const { clock, time, answer, ahead, wrongBy } = rig(0);
    for (let count = 0; count < 5; count++) answer();
    ahead.ms = 600_000;
    const date = new Date(clock.now() + ahead.ms).toUTCString();
    time.observe(date, clock.now(), clock.now(), false);
    expect(wrongBy()).toBeGreaterThan(toleranceMs);
    ahead.ms = -600_000;
    time.observe(new Date(clock.now() + ahead.ms).toUTCString(), clock.now(), clock.now(), true);
    expect(wrongBy()).toBeLessThanOrEqual(1_000);
    // A key that is refused for another reason says nothing new.
    answer();
    time.observe(new Date(clock.now() + ahead.ms).toUTCString(), clock.now(), clock.now(), true);
    expect(wrongBy()).toBeLessThanOrEqual(1_000);
  });

  it("is known better with every answer, and never left by the truth", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -100_000, max: 100_000 }),
        fc.array(
          fc.tuple(
            fc.integer({ min: 0, max: 3_000 }),
            fc.integer({ min: 0, max: 400 }),
            fc.integer({ min: 0, max: 400 }),
          ),
          {
            minLength: 30,
            maxLength: 60,
          },
        ),
        (aheadMs, answers) => {
          const { clock, answer, wrongBy } = rig(aheadMs);
          for (const [pauseMs, outMs, backMs] of answers) {
            clock.advanceTo(clock.now() + pauseMs);
            answer(outMs, backMs);
            expect(wrongBy()).toBeLessThanOrEqual(500 + 400);
          }
          expect(wrongBy()).toBeLessThanOrEqual(450);
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each([
    undefined,
    "",
    "yesterday",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Fri, 02 Jan 2150 03:04:05 GMT",
    "Fri, 02 Jan 2026 03:04:05 GMT, Fri, 02 Jan 2026 03:04:05 GMT",
    "2026-01-02T03:04:05Z",
    "Fri, 99 Jan 2026 03:04:05 GMT",
    "1767323045",
  ])("is not learned from %j", (text) => {
    const { clock, time } = rig(0);
    tell(time, clock, text);
    expect([time.wallNow(), time.offsetMs]).toEqual([startedAt, 0]);
  });

  it("does not follow one stray answer, and follows two", () => {
    const { answer, wrongBy, ahead } = rig(0);
    for (let i = 0; i < 5; i++) answer();
    ahead.ms = 60_000;
    answer();
    expect(wrongBy()).toBeGreaterThan(59_000);
    ahead.ms = 0;
    expect(wrongBy()).toBeLessThanOrEqual(1_000);
    answer();
    ahead.ms = 60_000;
    answer();
    ahead.ms = -60_000;
    answer();
    ahead.ms = 0;
    expect(wrongBy()).toBeLessThanOrEqual(1_000);
    ahead.ms = 60_000;
    answer();
    answer();
    expect(wrongBy()).toBeLessThanOrEqual(1_000);
  });

  it("is not thrown about by machines that disagree", () => {
    const { answer, wrongBy, ahead } = rig(0);
    for (let i = 0; i < 40; i++) {
      ahead.ms = i % 2 === 0 ? 0 : 900;
      answer(10, 10);
      expect(wrongBy()).toBeLessThan(2_000);
    }
  });

  it("is not moved by a step of our calendar", () => {
    const { clock, answer, wrongBy, time } = rig(0);
    answer();
    clock.stepWall(3_600_000);
    expect(wrongBy()).toBeLessThanOrEqual(1_000);
    expect(time.offsetMs).toBeLessThan(-3_598_000);
    answer();
    expect(wrongBy()).toBeLessThanOrEqual(1_000);
  });

  it("is learned anew from one answer after a suspend, in which only our calendar went on", () => {
    const { clock, answer, wrongBy, ahead } = rig(0);
    for (let i = 0; i < 3; i++) answer();
    clock.stepWall(3_600_000);
    ahead.ms = 3_600_000;
    answer();
    expect(wrongBy()).toBeLessThanOrEqual(1_000);
  });

  it("stays within tolerance through a day of silence with a clock that drifts", () => {
    const { clock, answer, wrongBy, ahead } = rig(0);
    for (let i = 0; i < 20; i++) answer();
    clock.advanceTo(clock.now() + 86_400_000);
    ahead.ms = 86_400_000 * 50e-6;
    expect(wrongBy()).toBeLessThan(toleranceMs);
    answer();
    expect(wrongBy()).toBeLessThan(1_000);
  });
});
