import { expect, it } from "vitest";
import type { Clock } from "../../../src/clock/clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { HealthWatch } from "../../../src/engine/health-watch.ts";
import { EventLog } from "../../../src/journal/event-log.ts";

const setup = () => {
  const inner = createVirtualClock(0);
  let lateMs = 0;
  // Timers of this clock run as late as the test says.
  const clock: Clock = {
    now: () => inner.now(),
    wallNow: () => inner.wallNow(),
    setTimer: (at, run) => inner.setTimer(at + lateMs, run),
  };
  const journal = new EventLog(clock.now);
  const watch = new HealthWatch(clock, journal);
  const answer = (endpoint: "placeOrder" | "positions", elapsedMs: number, status = 200): void =>
    journal.append({ type: "action.answered", endpoint, outcome: "done", status, code: "", elapsedMs });
  const block = (ms: number): void => {
    lateMs = ms;
    // The timer that is set next is the late one.
    inner.advanceTo(inner.now() + 250);
    lateMs = 0;
    inner.advanceTo(inner.now() + 250 + ms);
  };
  return { inner, watch, answer, block };
};

it("Health in real time tells how late timers ran in the last minute and at most", () => {
  const { inner, watch, block } = setup();
  watch.start();
  inner.advanceTo(10_000);
  expect(watch.state().eventLoop).toEqual({ lateMs: 0, lateMsMax: 0 });
  block(700);
  expect(watch.state().eventLoop).toEqual({ lateMs: 700, lateMsMax: 700 });
  inner.advanceTo(50_000);
  block(300);
  expect(watch.state().eventLoop).toEqual({ lateMs: 700, lateMsMax: 700 });
  inner.advanceTo(80_000);
  expect(watch.state().eventLoop).toEqual({ lateMs: 300, lateMsMax: 700 });
  inner.advanceTo(200_000);
  expect(watch.state().eventLoop).toEqual({ lateMs: 0, lateMsMax: 700 });
});

it("Health in real time tells percentiles of answers by endpoint, at most a fifth above a sorted list's, without those that never came", () => {
  const { watch, answer } = setup();
  const took = Array.from({ length: 1_000 }, (_, index) => ((index * 37) % 1_000) / 4 + 0.5);
  for (const ms of took) answer("placeOrder", ms);
  answer("positions", 90_000);
  answer("positions", 0, 0);
  const sorted = took.toSorted((a, b) => a - b);
  const [orders, positions] = watch.state().latency;
  for (const [told, part] of [
    [orders?.p50Ms, 0.5],
    [orders?.p99Ms, 0.99],
  ] as const) {
    const exact = sorted[Math.ceil(part * 1_000) - 1] as number;
    expect(told).toBeGreaterThanOrEqual(exact);
    expect(told).toBeLessThanOrEqual(exact * 1.2);
  }
  expect(orders).toMatchObject({ endpoint: "placeOrder", count: 1_000, maxMs: Math.max(...took) });
  expect(positions).toEqual({ endpoint: "positions", count: 1, p50Ms: 90_000, p99Ms: 90_000, maxMs: 90_000 });
});
