/** The machine's own time: only what a few milliseconds can show. */
import { describe, expect, it } from "vitest";
import { createSystemClock } from "../../../src/clock/system-clock.ts";

describe("The system clock:", () => {
  it("starts near the calendar and never falls", () => {
    const clock = createSystemClock();
    expect(Math.abs(clock.now() - clock.wallNow())).toBeLessThan(60_000);
    const readings = Array.from({ length: 1_000 }, () => clock.now());
    expect(readings).toEqual([...readings].sort((a, b) => a - b));
  });

  it("a timer runs at or after its instant, once, and not inside the call that set it", async () => {
    const clock = createSystemClock();
    const at = clock.now() + 3;
    let inside = true;
    const ranAt = await new Promise<number>((resolve) => {
      clock.setTimer(at, () => resolve(inside ? -1 : clock.now()));
      inside = false;
    });
    expect(ranAt).toBeGreaterThanOrEqual(at);
  });

  it("an instant beyond the platform's longest delay does not run at once", async () => {
    const clock = createSystemClock();
    let ran = false;
    const timer = clock.setTimer(clock.now() + 2 ** 33, () => {
      ran = true;
    });
    await new Promise<void>((resolve) => {
      clock.setTimer(clock.now() + 3, resolve);
    });
    timer.cancel();
    expect(ran).toBe(false);
  });

  it("a timer that is due runs in the next turn, before what is asked for later", async () => {
    const clock = createSystemClock();
    const ran: string[] = [];
    await new Promise<void>((resolve) => {
      // Within such a turn no time passes before the next one.
      setImmediate(() => {
        clock.setTimer(clock.now(), () => ran.push("first"));
        clock.setTimer(clock.now(), () => ran.push("second"));
        setImmediate(() => {
          ran.push("turn");
          resolve();
        });
      });
    });
    expect(ran).toEqual(["first", "second", "turn"]);
  });

  it("a timer that is due and set by one that was due waits for the platform's", async () => {
    const clock = createSystemClock();
    const count = (what: string): number => process.getActiveResourcesInfo().filter((name) => name === what).length;
    const waits = await new Promise<number>((resolve) => {
      clock.setTimer(clock.now(), () => {
        const before = count("Timeout");
        clock.setTimer(clock.now(), () => resolve(waiting));
        const waiting = count("Timeout") - before;
      });
    });
    expect(waits).toBe(1);
  });

  it("a cancelled timer does not run", async () => {
    const clock = createSystemClock();
    let ran = false;
    clock
      .setTimer(clock.now(), () => {
        ran = true;
      })
      .cancel();
    await new Promise<void>((resolve) => {
      clock.setTimer(clock.now() + 2, resolve);
    });
    expect(ran).toBe(false);
  });
});
