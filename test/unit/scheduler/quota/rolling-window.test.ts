/** Windows that begin anywhere, to the millisecond and to the unit. */
import { describe, expect, it } from "vitest";
import type { LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import type { Ceiling, LimitWindow } from "../../../../src/scheduler/quota/limit-window.ts";
import { RollingWindow } from "../../../../src/scheduler/quota/rolling-window.ts";

const spec: LayerSpec = {
  name: "key",
  scope: "key",
  unit: "requests",
  capacity: 10,
  windowMs: 1_000,
  anchor: "wall_clock",
  banMs: 0,
};
const all: Ceiling = () => 10;

/** All there is to see of a window. */
const look = (gauge: LimitWindow, at: number) => ({
  used: gauge.used(at),
  foreign: gauge.foreign(at),
  windowEndsAt: gauge.windowEndsAt(at),
  open: gauge.open,
});

describe("A rolling limit window", () => {
  const rolling = (given: Partial<LayerSpec> = {}, driftPpm?: number): LimitWindow =>
    new RollingWindow({ ...spec, anchor: "sliding", ...given }, "k", driftPpm);

  it("holds a call until one window after its answer, by the faster of both clocks", () => {
    for (const [gauge, ms] of [
      [rolling(), 1_000],
      [rolling({}, 2_000), 1_002],
    ] as const) {
      const ticket = gauge.begin(3, 100);
      expect(ticket).toEqual({ units: 3, first: 0, knownThen: 0, unheardThen: 0, surelyThen: 0 });
      expect(look(gauge, 5_000)).toEqual({ used: 3, foreign: 0, windowEndsAt: 5_000, open: 3 });
      expect(gauge.end(ticket, 100, 200, 9, true)).toBe(0);
      gauge.lose(gauge.begin(2, 300), 400);
      expect(look(gauge, 500)).toEqual({ used: 5, foreign: 0, windowEndsAt: 200 + ms, open: 0 });
      expect([gauge.used(199 + ms), gauge.used(200 + ms)]).toEqual([5, 2]);
      expect([gauge.windowEndsAt(399 + ms), gauge.windowEndsAt(400 + ms)]).toEqual([400 + ms, 400 + ms]);
      expect([gauge.used(400 + ms), gauge.begun]).toEqual([0, 5]);
    }
  });

  it("asks again when the first of its calls leaves the count, a millisecond from now at least", () => {
    const gauge = rolling({ scope: "uid" });
    gauge.end(gauge.begin(6, 0), 0, 100, undefined, true);
    const open = gauge.begin(2, 50);
    expect([gauge.blockedUntil(2, 500, all), gauge.blockedUntil(3, 500, all), gauge.room(500, all)]).toEqual([
      undefined,
      1_100,
      2,
    ]);
    expect(gauge.blockedUntil(3, 1_099.5, all)).toBe(1_100.5);
    expect([gauge.blockedUntil(8, 1_100, all), gauge.blockedUntil(9, 1_100, all)]).toEqual([undefined, 2_100]);
    gauge.undo(open);
    expect([gauge.blockedUntil(10, 1_100, all), gauge.room(1_100, all)]).toEqual([undefined, 5]);
  });

  it("the ceiling is asked for the tenth of a window in which quota comes free again", () => {
    const gauge = rolling({ scope: "uid" });
    const asked: unknown[] = [];
    const note: Ceiling = (...window) => {
      asked.push(window);
      return 4;
    };
    gauge.begin(1, 500);
    expect([gauge.room(700, note), gauge.blockedUntil(3, 700, note), gauge.blockedUntil(4, 700, note)]).toEqual([
      3,
      undefined,
      1_700,
    ]);
    expect(asked).toEqual(Array.from({ length: 3 }, () => [800, 700, 700]));
  });

  it("looked at, forgets what has left it, whoever looks", () => {
    const looks: ((gauge: LimitWindow) => unknown)[] = [
      (gauge) => gauge.room(1_100, all) + 8.8,
      (gauge) => gauge.used(1_100) + 10,
      (gauge) => (gauge.blockedUntil(10, 1_100, all) ?? 0) + 10,
      (gauge) => gauge.windowEndsAt(1_100) - 1_090,
    ];
    for (const look of looks) {
      const gauge = rolling();
      gauge.end(gauge.begin(10, 0), 0, 100, undefined, true);
      expect(look(gauge)).toBe(10);
    }
  });

  it("is spent evenly by ordinary actions, but for half of it where no key is counted", () => {
    const gauge = rolling({ scope: "uid" });
    const fits = (at: number): boolean => gauge.used(at) + 1 <= gauge.paced(at);
    for (let call = 0; call < 5; call++) gauge.end(gauge.begin(1, 0), 0, 10, undefined, true);
    expect([fits(10), fits(99), fits(100), fits(250)]).toEqual([false, false, true, true]);
    gauge.begin(1, 100);
    expect([fits(100), fits(200), gauge.blockedUntil(5, 100, all)]).toEqual([false, true, 1_010]);
  });

  it("shut, has no room until it opens, and a reset does not open it", () => {
    const gauge = rolling({ banMs: 500 });
    gauge.begin(1, 0);
    expect(gauge.shut(100)).toBe(1_600);
    gauge.reset();
    expect([gauge.room(1_599, all), gauge.room(1_600, all), gauge.used(1_600)]).toEqual([0, 1.2, 1]);
  });

  it("is always measured, and its counts never lag", () => {
    const gauge = rolling();
    expect([gauge.mode, gauge.lags]).toEqual(["measured", false]);
  });

  it("has no limit for certain while the service's time is unknown and a change is declared", () => {
    const gauge = rolling({ changes: [{ at: 5_000, capacity: 4 }] });
    expect([gauge.limitBetween(100, 200), gauge.limitBetween(9_000, 9_100)]).toEqual([undefined, undefined]);
    expect(rolling().limitBetween(100, 200)).toBe(10);
  });

  it("calls that leave alike are counted each", () => {
    const gauge = rolling();
    gauge.again(gauge.begin(3, 500), 500);
    expect([gauge.begun, gauge.open, gauge.used(500)]).toEqual([6, 6, 6]);
  });
});
