/** Time that moves when told. */
import { describe, expect, it } from "vitest";
import { every } from "../../../src/clock/clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createRandom } from "../../../src/random.ts";
import { testClock } from "../../support/contracts/clock.ts";

testClock("virtual clock", () => {
  const clock = createVirtualClock(1_000);
  return {
    clock,
    wait: async (ms) => {
      clock.advanceTo(clock.now() + ms);
    },
  };
});

describe("The virtual clock:", () => {
  it("a timer set by a timer runs at its own instant, not at the end of the step", () => {
    const clock = createVirtualClock();
    const ran: (readonly [string, number])[] = [];
    clock.setTimer(10, () => {
      ran.push(["first", clock.now()]);
      clock.setTimer(15, () => ran.push(["nested", clock.now()]));
    });
    clock.setTimer(20, () => ran.push(["last", clock.now()]));
    clock.advanceTo(30);
    expect(ran).toEqual([
      ["first", 10],
      ["nested", 15],
      ["last", 20],
    ]);
    expect(clock.now()).toBe(30);
  });

  it("a timer set for the present by a timer runs after the others of that instant, without time passing", () => {
    const clock = createVirtualClock();
    const order: string[] = [];
    clock.setTimer(5, () => {
      order.push("a");
      clock.setTimer(0, () => order.push(`late at ${clock.now()}`));
    });
    clock.setTimer(5, () => order.push("b"));
    clock.advanceTo(5);
    expect(order).toEqual(["a", "b", "late at 5"]);
  });

  it("runs timers in order of instant, then of setting, whatever the order of setting", () => {
    const random = createRandom("timers");
    const clock = createVirtualClock();
    const set = Array.from({ length: 300 }, (_, order) => ({ at: random.whole(0, 40), order }));
    const ran: typeof set = [];
    const timers = set.map((entry) => clock.setTimer(entry.at, () => ran.push(entry)));
    const kept = set.filter((_, index) => index % 3 !== 0);
    timers.forEach((timer, index) => {
      if (index % 3 === 0) timer.cancel();
    });
    expect(clock.pending).toBe(kept.length);
    clock.advanceTo(40);
    expect(ran).toEqual([...kept].sort((a, b) => a.at - b.at || a.order - b.order));
    expect(clock.pending).toBe(0);
  });

  it("to go backwards is a bug", () => {
    const clock = createVirtualClock(100);
    expect(() => clock.advanceTo(99)).toThrow("the clock does not go backwards: 100 to 99");
    expect(() => clock.setTimer(Number.NaN, () => undefined)).toThrow("a timer's instant is a number");
  });

  it("steps from timer to timer up to a limit and says when the next is", () => {
    const clock = createVirtualClock();
    clock.setTimer(7, () => undefined);
    expect(clock.nextAt()).toBe(7);
    expect(clock.step(6)).toBe(false);
    expect(clock.now()).toBe(0);
    expect(clock.step(7)).toBe(true);
    expect([clock.now(), clock.step(), clock.nextAt()]).toEqual([7, false, Number.POSITIVE_INFINITY]);
  });

  it("reaches an instant up to that of the next timer, and none after it", () => {
    const clock = createVirtualClock(10);
    const cancelled = clock.setTimer(20, () => undefined);
    clock.setTimer(30, () => undefined);
    expect([clock.reach(21), clock.now()]).toEqual([false, 10]);
    cancelled.cancel();
    expect([clock.reach(21), clock.now()]).toEqual([true, 21]);
    expect([clock.reach(30), clock.reach(31), clock.now()]).toEqual([true, false, 30]);
    expect(clock.pending).toBe(1);
    expect(() => clock.reach(29)).toThrow("the clock does not go backwards: 30 to 29");
    clock.step();
    expect([clock.reach(31), clock.now()]).toEqual([true, 31]);
  });

  it("the calendar steps apart from the steady scale", () => {
    const clock = createVirtualClock(50);
    clock.stepWall(-3_600_000);
    expect([clock.now(), clock.wallNow()]).toEqual([50, 50 - 3_600_000]);
  });

  it("ticks keep their schedule however late they run, and late ones are merged", () => {
    const clock = createVirtualClock();
    const instants: number[] = [];
    let slow = true;
    every(clock, 10).subscribe(() => {
      instants.push(clock.now());
      // The first tick keeps the program busy for three periods and a half: one late tick stands for three.
      if (slow) clock.advanceTo(clock.now() + 35);
      slow = false;
    });
    clock.advanceTo(80);
    expect(instants).toEqual([10, 45, 50, 60, 70, 80]);
  });

  it("a timer cancelled inside another timer of the same instant does not run", () => {
    const clock = createVirtualClock();
    const order: string[] = [];
    clock.setTimer(1, () => {
      order.push("a");
      doomed.cancel();
    });
    const doomed = clock.setTimer(1, () => order.push("doomed"));
    clock.advanceTo(2);
    expect(order).toEqual(["a"]);
  });
});
