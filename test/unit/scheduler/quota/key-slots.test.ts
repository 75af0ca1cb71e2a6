/** The last slots of a key's second: when they may go, and where counts lag, what they are used to find out. */
import { describe, expect, it } from "vitest";
import { CountLag } from "../../../../src/scheduler/quota/count-lag.ts";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import type { LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import { lateFrom, lateSlots, looksIn } from "../../../../src/scheduler/quota/reserve.ts";
import { gaugeOf } from "../../../support/harness/allowance.ts";
import { lagging, stage } from "../../../support/harness/evidence.ts";
import { fixedClock } from "../../../support/harness/fixed-clock.ts";

const second: LayerSpec = {
  name: "key",
  scope: "key",
  unit: "requests",
  capacity: 10,
  windowMs: 1_000,
  anchor: "wall_clock",
  banMs: 0,
  header: { name: "x-ratelimit-key-remaining", kind: "remaining" },
};
const trips = { low: 10, high: 40 };

describe("Where counts lag, a second's calls", () => {
  it.each([
    [45, 0],
    [46, 2],
    [360, 2],
    [361, 20],
  ])("look into a stretch of %i ms in %i of sixty seconds", (width, looks) => {
    const gauge = gaugeOf(second, { lags: true });
    expect(
      Array.from({ length: 60 }, (_, index) => looksIn(gauge, index * 1_000 + 300, width)).filter(Boolean),
    ).toHaveLength(looks);
  });

  it.each([
    ["all go at once where none looks", false, 850, 0, 10],
    ["those for exits are kept until the middle of the stretch", true, 944, 0, 8],
    ["look from there on", true, 945, 0, 10],
    ["look one after the other", true, 945, 1, 7],
  ])("%s", (_, looks, at, open, slots) => {
    const gauge = gaugeOf(second, { lags: true, width: 100, open });
    expect(lateSlots(gauge, 8, at, 1_000, trips, looks)).toBe(slots);
  });

  it("leave no earlier because something else was counted: a count that lags does not tell of it at once", () => {
    const gaugeThat = (lags: boolean) => gaugeOf(second, { lags, unsteady: true, width: 100 });
    expect([lateFrom(gaugeThat(false), 1_000, 100, 40), lateFrom(gaugeThat(true), 1_000, 100, 40)]).toEqual([710, 860]);
    expect([
      lateSlots(gaugeThat(false), 8, 800, 1_000, trips, false),
      lateSlots(gaugeThat(true), 8, 870, 1_000, trips, false),
    ]).toEqual([9, 10]);
  });

  it("that is told the count of the second before, late and beside others under way, tells nothing of this one", () => {
    const lag = new CountLag();
    lag.lagging = true;
    const gauge = new FixedWindow(second, "k", fixedClock(0, 0), lag);
    gauge.end(gauge.begin(1, 4_500), 4_500, 4_520, 9, true);
    const tickets = Array.from({ length: 8 }, () => gauge.begin(1, 5_010));
    for (const [index, told] of [3, 10, 1, 2, 4, 5, 6, 7].entries())
      gauge.end(tickets[index] as (typeof tickets)[number], 5_010, 5_030 + index, told, true);
    expect([gauge.used(5_100), gauge.missing, gauge.unsteady]).toEqual([8, 0, false]);
  });
});

it("What was taken for missing of a limit is forgotten where counts are found to lag", () => {
  const lag = new CountLag();
  const gauge = new FixedWindow(second, "k", fixedClock(0, 0), lag);
  gauge.end(gauge.begin(1, 4_500), 4_500, 4_520, 3, true);
  gauge.end(gauge.begin(1, 5_500), 5_500, 5_520, 2, true);
  expect([gauge.missing, gauge.unsteady]).toEqual([1, true]);
  lag.lagging = true;
  lag.turns++;
  gauge.end(gauge.begin(1, 6_500), 6_500, 6_520, 1, true);
  expect([gauge.missing, gauge.unsteady]).toEqual([0, false]);
});

describe("A count that was read at the instant at which another call left", () => {
  it.each([
    ["was told before, where counts lag", true, 4_900, 4_850],
    ["may be told later, where they do not", false, 4_900, undefined],
    ["of a call that left with it may be told later in any case", true, 4_960, undefined],
  ])("%s", (_, lags, otherSentAt, leftAt) => {
    const of = stage(second);
    const heard = (lags ? lagging(of) : of).evidence;
    heard.hear(4_850, 4_880, 7, 4, 4);
    heard.hear(otherSentAt, 4_960, 8, 4, 5);
    expect(heard.fallTo(8, 4_960)?.beforeAt).toBe(leftAt);
  });
});
