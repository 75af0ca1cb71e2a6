/**
 * What every clock promises, whatever moves it.
 *
 * Invariants: a clock under test is driven only through `wait`; no test waits longer than a few milliseconds of it.
 */
import { describe, expect, it } from "vitest";
import { type Clock, after as emitAfter, every } from "../../../src/clock/clock.ts";

export interface DrivenClock {
  readonly clock: Clock;
  /** Lets at least `ms` of this clock pass. */
  readonly wait: (ms: number) => Promise<void>;
}

export const testClock = (name: string, make: () => DrivenClock): void => {
  describe(`${name} keeps the promises of a clock`, () => {
    it("now never falls and passes", async () => {
      const { clock, wait } = make();
      const before = clock.now();
      expect(clock.now()).toBeGreaterThanOrEqual(before);
      await wait(1);
      expect(clock.now()).toBeGreaterThanOrEqual(before + 1);
    });

    it("a timer runs once, not before its instant, never inside the call that set it", async () => {
      const { clock, wait } = make();
      const ran: number[] = [];
      const at = clock.now() + 1.5;
      clock.setTimer(at, () => ran.push(clock.now()));
      clock.setTimer(clock.now() - 5, () => ran.push(Number.NEGATIVE_INFINITY));
      expect(ran).toEqual([]);
      await wait(4);
      expect(ran).toHaveLength(2);
      expect(Math.max(...ran)).toBeGreaterThanOrEqual(at);
    });

    it("timers of one instant run in the order they were set", async () => {
      const { clock, wait } = make();
      const order: string[] = [];
      const at = clock.now();
      for (const label of ["a", "b", "c"]) clock.setTimer(at, () => order.push(label));
      await wait(2);
      expect(order).toEqual(["a", "b", "c"]);
    });

    it("a cancelled timer does not run, and cancelling late or twice does nothing", async () => {
      const { clock, wait } = make();
      let ran = 0;
      const cancelled = clock.setTimer(clock.now() + 1, () => ran++);
      const kept = clock.setTimer(clock.now(), () => ran++);
      cancelled.cancel();
      cancelled.cancel();
      await wait(2);
      kept.cancel();
      expect(ran).toBe(1);
    });

    it("after emits once and completes; unsubscribing cancels", async () => {
      const { clock, wait } = make();
      const heard: string[] = [];
      emitAfter(clock, 1).subscribe({ next: () => heard.push("next"), complete: () => heard.push("complete") });
      emitAfter(clock, 1)
        .subscribe(() => heard.push("unwanted"))
        .unsubscribe();
      await wait(3);
      expect(heard).toEqual(["next", "complete"]);
    });

    it("every counts from 0 until it is unsubscribed", async () => {
      const { clock, wait } = make();
      const counts: number[] = [];
      const ticks = every(clock, 1).subscribe((count) => {
        counts.push(count);
        if (count === 1) ticks.unsubscribe();
      });
      await wait(4);
      expect(counts).toEqual([0, 1]);
    });
  });
};
