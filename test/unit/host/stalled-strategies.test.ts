/** The watch for a process that stood still, on a clock that can be late. */
import { BehaviorSubject } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/clock/clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { detectStalls } from "../../../src/engine/stall-detector.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { Mode } from "../../../src/orders/risk/trading-mode.ts";

const setup = () => {
  const inner = createVirtualClock(0);
  let lost = 0;
  // What was lost is added to the time that timers were set by.
  const clock: Clock = {
    now: () => inner.now() + lost,
    wallNow: () => 0,
    setTimer: (at, run) => inner.setTimer(at - lost, run),
  };
  const journal = new EventLog(() => clock.now());
  const stalls: string[] = [];
  const modes: string[] = [];
  journal.attach((event) => {
    if (event.type === "engine.stalled") stalls.push(`${event.type} ${event.lateMs} ms`);
  });
  const pending$ = new BehaviorSubject({ value: [], at: 0, stale: false });
  const doubts: string[] = [];
  let mode: Mode = "active";
  const orderManager = {
    get mode() {
      return mode;
    },
    setMode: (next: Mode, reason: string) => {
      mode = next;
      modes.push(`${next}: ${reason}`);
    },
  };
  const pending = {
    value$: pending$,
    doubt: (problem: string) => {
      doubts.push(problem);
      pending$.next({ ...pending$.value, stale: true });
    },
  };
  const watch = detectStalls({ clock, journal, accounts: [{ orderManager, resources: { pending } }] });
  return {
    inner,
    watch,
    stalls,
    modes,
    doubts,
    setMode: (next: Mode) => {
      mode = next;
    },
    stand: (ms: number): void => {
      lost += ms;
      inner.advanceTo(inner.now() + 250);
    },
    read: (): void => pending$.next({ value: [], at: clock.now(), stale: false }),
  };
};

describe("A process that stands still", () => {
  it.each([
    [250, []],
    [251, ["engine.stalled 251 ms"]],
    [5_000, ["engine.stalled 5000 ms"]],
  ])("for %i ms is told when it was more than 250, and trades on", (ms, told) => {
    const { stand, stalls, modes } = setup();
    stand(ms);
    expect(stalls).toEqual(told);
    expect(modes).toEqual([]);
  });

  it("for more than five seconds only reduces until the state was read anew", () => {
    const { stand, stalls, modes, doubts, read } = setup();
    stand(5_001);
    const reason = "the process did not run for 5001 ms";
    expect([stalls, doubts]).toEqual([["engine.stalled 5001 ms"], [reason]]);
    expect(modes).toEqual([`reducing: ${reason}`]);
    read();
    read();
    expect(modes.slice(1)).toEqual(["active: the state was read again"]);
  });

  it("twice, before the state was read, goes on once it was", () => {
    const { stand, modes, read } = setup();
    stand(6_000);
    stand(7_000);
    expect(modes).toHaveLength(1);
    read();
    expect(modes).toHaveLength(2);
  });

  it("leaves alone what somebody else has decided", () => {
    const { stand, modes, read, setMode } = setup();
    stand(6_000);
    setMode("halted");
    read();
    expect(modes).toHaveLength(1);
    stand(6_000);
    expect(modes).toHaveLength(1);
  });

  it("is not watched any more after the end, and nothing is left behind", () => {
    const { stand, stalls, watch, inner, modes, read } = setup();
    stand(6_000);
    watch.unsubscribe();
    expect(inner.pending).toBe(0);
    stand(6_000);
    read();
    expect([stalls.length, modes.length]).toEqual([1, 1]);
  });

  it("never does so on a virtual clock", () => {
    const { inner, stalls } = setup();
    inner.advanceTo(3_600_000);
    expect(stalls).toEqual([]);
  });
});
