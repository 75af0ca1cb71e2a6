/** Fixed windows to the millisecond and to the unit: what proves a boundary, where an answer belongs, and when to ask again. */
import { describe, expect, it } from "vitest";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import type { LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import type { Ceiling, LimitWindow } from "../../../../src/scheduler/quota/limit-window.ts";
import type { ServerClock } from "../../../../src/scheduler/quota/server-clock.ts";
import { unasked } from "../../../support/harness/fixed-clock.ts";

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

/** A clock whose bounds are what was last said of them. */
const stage = (given: Partial<LayerSpec> = {}, lo = 0, hi = lo) => {
  const bounds = { lo, hi, known: true };
  let revision = 0;
  const proofs: (readonly [number, number, number])[] = [];
  const clock: ServerClock = {
    bounds: (at) => ({ at, lo: bounds.lo, hi: bounds.hi }),
    near: unasked,
    far: unasked,
    lo: () => bounds.lo,
    hi: () => bounds.hi,
    get known() {
      return bounds.known;
    },
    observeDate: () => undefined,
    observeBoundary: (...proof) => proofs.push(proof) > 0,
    forget: () => undefined,
    conflicts: 0,
    // Bounds are set at will: what was said before does not hold.
    get revision() {
      return ++revision;
    },
  };
  const gauge = new FixedWindow({ ...spec, ...given }, "k", clock);
  /** A call that is answered, with the service's number. */
  const call = (sentAt: number, receivedAt: number, used?: number, units = 1): number =>
    gauge.end(gauge.begin(units, sentAt), sentAt, receivedAt, used, true);
  const usedIn = (...windows: readonly number[]): readonly number[] =>
    windows.map((index) => gauge.used(index * 1_000 - bounds.hi));
  return { bounds, proofs, gauge, call, usedIn };
};

describe("A window boundary is proven", () => {
  it.each<[string, readonly (readonly [number, number, number])[], readonly (readonly [number, number, number])[]]>([
    [
      "by a count that stood still",
      [
        [100, 120, 6],
        [200, 220, 6],
      ],
      [[100, 220, 1_000]],
    ],
    [
      "by one that fell",
      [
        [100, 120, 6],
        [200, 220, 5],
      ],
      [[100, 220, 1_000]],
    ],
    [
      "not by one that rose",
      [
        [100, 120, 6],
        [200, 220, 7],
      ],
      [],
    ],
    [
      "not by a call that left as the other's answer came",
      [
        [100, 200, 6],
        [200, 220, 5],
      ],
      [],
    ],
    [
      "after the latest of those that counted as much, in whatever order they were answered",
      [
        [100, 120, 6],
        [200, 230, 7],
        [210, 250, 8],
        [150, 260, 9],
        [400, 420, 7],
      ],
      [[210, 420, 1_000]],
    ],
    [
      "within less than nine tenths of a window",
      [
        [100, 120, 6],
        [980, 999.9, 5],
      ],
      [[100, 999.9, 1_000]],
    ],
    [
      "not within more",
      [
        [100, 120, 6],
        [980, 1_000, 5],
      ],
      [],
    ],
  ])("%s", (_, calls, proven) => {
    const { call, proofs } = stage({}, -2_000, 2_000);
    for (const [sentAt, receivedAt, used] of calls) call(sentAt, receivedAt, used);
    expect(proofs).toEqual(proven);
  });

  it("by any of the last sixteen answers, and by none from before them", () => {
    const { call, proofs } = stage({ windowMs: 60_000 }, -60_000, 60_000);
    call(0, 1, 100);
    for (let count = 1; count <= 16; count++) call(10 * count, 10 * count + 1, count);
    expect(proofs.map(([after, by]) => [after, by])).toEqual(
      Array.from({ length: 16 }, (_, index) => [0, 10 * index + 11]),
    );
    proofs.length = 0;
    for (let count = 17; count <= 40; count++) call(10 * count, 10 * count + 1, count);
    expect(proofs).toEqual([]);
    call(1_000, 1_001, 40);
    call(1_010, 1_011, 33);
    expect(proofs).toEqual([
      [400, 1_001, 60_000],
      [1_000, 1_011, 60_000],
    ]);
  });

  it("across answers that bring no number", () => {
    const { call, proofs } = stage({}, -2_000, 2_000);
    call(0, 1, 6);
    for (let count = 1; count <= 16; count++) call(10 * count, 10 * count + 1);
    call(200, 201, 6);
    expect(proofs).toEqual([[0, 201, 1_000]]);
  });

  it("not by what was heard before the windows were named anew", () => {
    const { call, proofs, gauge } = stage({}, -2_000, 2_000);
    call(100, 120, 6);
    call(130, 140, 7);
    gauge.reset();
    call(200, 220, 5);
    expect(proofs).toEqual([]);
    call(300, 320, 5);
    expect(proofs).toEqual([[200, 320, 1_000]]);
  });
});

describe("Before the service's time is known,", () => {
  it("there is one window, whose end cannot be told", () => {
    const { bounds, gauge } = stage({}, 7_000);
    bounds.known = false;
    const ticket = gauge.begin(3, 5_000);
    expect(ticket).toEqual({ units: 3, first: 0, knownThen: 0, unheardThen: 0, surelyThen: 0 });
    expect(look(gauge, 5_000)).toEqual({ used: 3, foreign: 0, windowEndsAt: 5_000, open: 3 });
    expect(gauge.end(ticket, 5_000, 5_100, 7, true)).toBe(4);
    expect(look(gauge, 9_000)).toEqual({ used: 7, foreign: 4, windowEndsAt: 9_000, open: 0 });
    gauge.lose(gauge.begin(2, 9_000), 9_500);
    expect([gauge.used(9_500), gauge.open, gauge.begun]).toEqual([9, 0, 5]);
    // A calendar that is told later does not end it: a count that falls does.
    bounds.known = true;
    bounds.lo = bounds.hi = -8_500;
    expect(gauge.used(9_500)).toBe(9);
    gauge.end(gauge.begin(1, 9_600), 9_600, 9_650, 1, true);
    expect(gauge.used(9_700)).toBe(1);
  });

  it("what is blocked may ask again in a window's time", () => {
    const { bounds, gauge } = stage();
    bounds.known = false;
    gauge.begin(4, 300);
    expect([gauge.blockedUntil(6, 500, all), gauge.blockedUntil(7, 500, all), gauge.room(500, all)]).toEqual([
      undefined,
      1_500,
      6,
    ]);
  });

  it("a call that left then is placed by what is known when its answer comes", () => {
    const { bounds, gauge, usedIn } = stage();
    bounds.known = false;
    const ticket = gauge.begin(1, 5_500);
    bounds.known = true;
    gauge.end(ticket, 5_500, 5_600, undefined, true);
    expect(usedIn(4, 5, 6)).toEqual([0, 1, 0]);
  });
});

describe("An answer is placed in a window:", () => {
  it("never before the window its call left in, whatever is thought of the clock by then", () => {
    const { bounds, gauge, usedIn } = stage({}, 5_000);
    const tickets = [gauge.begin(1, 500), gauge.begin(1, 500)] as const;
    bounds.lo = bounds.hi = 2_000;
    gauge.end(tickets[0], 500, 600, undefined, true);
    gauge.lose(tickets[1], 600);
    expect(usedIn(2, 3, 4, 5, 6)).toEqual([0, 0, 0, 2, 0]);
  });

  it.each<[string, number | undefined, readonly number[]]>([
    ["all three it may be of, when its count is high", 9, [1, 1, 1]],
    ["the later two, when it was too low for the first", 3, [3, 1, 1]],
    ["all when there is none", undefined, [4, 1, 1]],
  ])("is %s", (_, used, counts) => {
    const { call, gauge, usedIn } = stage();
    if (used !== 9) call(100, 110, 3);
    const ticket = gauge.begin(1, 990);
    gauge.end(ticket, 990, 2_010, used, true);
    expect(usedIn(0, 1, 2)).toEqual(counts);
  });

  it.each<[string, number, readonly number[]]>([
    // The new window has three that the service told of and this one under way; with this one landed there it says five at most.
    ["both, when its count is just possible in the new one", 5, [1, 4]],
    ["the old one, when it is more", 6, [6, 3]],
  ])("is %s", (_, used, counts) => {
    const { call, gauge, usedIn } = stage();
    const ticket = gauge.begin(1, 990);
    call(1_005, 1_010, 3, 3);
    gauge.end(ticket, 990, 1_020, used, true);
    expect(usedIn(0, 1)).toEqual(counts);
  });
});

describe("A count that fell", () => {
  it("begins another window, whatever the calendar says", () => {
    const { call, usedIn } = stage();
    call(100, 110, 1);
    call(200, 210, 0);
    expect(usedIn(0, 1)).toEqual([1, 1]);
  });
});

describe("The retry instant of a limit window:", () => {
  it("the ceiling is asked for each window that can be meant, as seen from now", () => {
    const { gauge } = stage({}, -50, 50);
    const asked: unknown[] = [];
    const note: Ceiling = (...window) => {
      asked.push(window);
      return 10;
    };
    const windows = [
      [2_050, 1_050, 1_960],
      [3_050, 2_050, 1_960],
    ];
    expect(gauge.blockedUntil(10, 1_960, note)).toBeUndefined();
    expect(asked).toEqual(windows);
    expect(gauge.room(1_960, note)).toBe(10);
    expect(asked).toEqual([...windows, ...windows]);
    expect(gauge.windowEndsAt(1_960)).toBe(3_050);
  });

  it.each([
    ["the next but one", 2_000, 3_000],
    ["the one after that", 3_000, undefined],
  ])("a window still to come of which something is known counts, up to the next but one: %s", (_, ahead, until) => {
    const { bounds, call, gauge } = stage({}, ahead);
    call(500, 510, undefined, 10);
    bounds.lo = bounds.hi = 0;
    expect([gauge.blockedUntil(1, 500, all), gauge.room(500, all)]).toEqual([until, until === undefined ? 10 : 0]);
  });

  it("what is in flight counts, however far off the window it was begun in", () => {
    const { bounds, gauge } = stage({}, 8_000);
    gauge.begin(9, 500);
    bounds.lo = bounds.hi = 0;
    expect([gauge.blockedUntil(1, 500, all), gauge.blockedUntil(2, 500, all), gauge.room(500, all)]).toEqual([
      undefined,
      1_500,
      1,
    ]);
  });

  it("shut twice, it stays shut for the longer", () => {
    const { gauge } = stage({ banMs: 2_000 });
    expect([gauge.shut(1_500), gauge.shut(500)]).toEqual([4_000, 4_000]);
    expect([gauge.blockedUntil(1, 3_999, all), gauge.room(3_999, all)]).toEqual([4_000, 0]);
    expect([gauge.blockedUntil(1, 4_000, all), gauge.room(4_000, all)]).toEqual([undefined, 10]);
    gauge.reset();
    expect(gauge.blockedUntil(1, 1_500, all)).toBeUndefined();
  });

  it("calls that leave alike are counted each", () => {
    const { gauge } = stage();
    const ticket = gauge.begin(3, 500);
    gauge.again(ticket, 500);
    expect([gauge.begun, gauge.open, gauge.used(500), gauge.room(500, all)]).toEqual([6, 6, 6, 4]);
    gauge.undo(ticket);
    expect([gauge.begun, gauge.open, gauge.used(500), gauge.used(1_500)]).toEqual([6, 3, 3, 3]);
  });
});

describe("A short window whose end is not known", () => {
  it("lets a call go once a window's length is over, whatever is missing of its limit", () => {
    const { bounds, gauge, call } = stage({ header: { name: "x-ratelimit-key-remaining", kind: "remaining" } });
    bounds.known = false;
    // Six that are not ours are gone of the first second that is told of.
    call(0, 20, 7);
    expect([gauge.missing, gauge.used(21)]).toEqual([6, 7]);
    const leaves = (from: number): number => {
      for (let at = from; at < from + 5_000; ) {
        const until = gauge.blockedUntil(1, at, (_end, _start, now) => gauge.paced(now));
        if (until === undefined) return at;
        at = until;
      }
      return Number.POSITIVE_INFINITY;
    };
    expect(leaves(1_100)).toBeLessThan(3_200);
  });
});
