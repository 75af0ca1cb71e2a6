/** A calendar of this machine that is apart from the service's is told once, and again when that changes. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { watchCalendar } from "../../../src/engine/calendar-watch.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import { createServerClock } from "../../../src/scheduler/quota/server-clock.ts";

const startedAt = 1_767_600_000_000;

const rig = (aheadMs: number) => {
  const clock = createVirtualClock(startedAt);
  clock.stepWall(aheadMs);
  const journal = new EventLog(() => clock.now());
  const server = createServerClock();
  const told: string[] = [];
  journal.attach((event) => {
    if (event.type === "anomaly") told.push(`${event.what}: ${event.detail}`);
  });
  watchCalendar(journal, clock, server, 5_000);
  /** An answer, stamped unless the service has no Date header. */
  const answer = (stamped = true): void => {
    clock.advanceTo(clock.now() + 2_000);
    const now = clock.now();
    if (stamped) server.observeDate(now - 20, now, Math.floor(now / 1_000) * 1_000);
    journal.append({
      type: "action.answered",
      action: 1,
      endpoint: "getOrder",
      outcome: "done",
      status: 200,
      code: "",
      elapsedMs: 20,
    } as never);
  };
  return { clock, told, answer };
};

describe("The machine's calendar", () => {
  it.each([
    [600_000, "10 min ahead of"],
    [-600_000, "10 min behind"],
    [12_000, "11 s ahead of"],
  ])("%i ms apart is told once, however many answers show it", (aheadMs, words) => {
    const { told, answer } = rig(aheadMs);
    for (let count = 0; count < 20; count++) answer();
    expect(told).toEqual([
      `clock.apart: this machine's clock is ${words} the service's. Orders go by the service's; set the one that is wrong`,
    ]);
  });

  it.each([0, 4_000, -4_000])("%i ms apart is not worth a word", (aheadMs) => {
    const { told, answer } = rig(aheadMs);
    for (let count = 0; count < 20; count++) answer();
    expect(told).toEqual([]);
  });

  it("is told again when it steps, and when it agrees", () => {
    const { clock, told, answer } = rig(600_000);
    answer();
    clock.stepWall(600_000);
    answer();
    clock.stepWall(-1_200_000);
    answer();
    answer();
    expect(told.map((text) => text.slice(0, 45))).toEqual([
      "clock.apart: this machine's clock is 10 min a",
      "clock.apart: this machine's clock is 20 min a",
      "clock.agrees: this machine's clock agrees wit",
    ]);
  });

  it("is not compared with a service that does not say what time it is", () => {
    const { told, answer } = rig(600_000);
    for (let count = 0; count < 5; count++) answer(false);
    expect(told).toEqual([]);
  });
});
