/** When a layer falls to its floor, how it is spent there, and when counts are used again. */
import { describe, expect, it } from "vitest";
import { createContract } from "../../../../src/contract/contract.ts";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import { Floor, LatestDoubt, type OnMode } from "../../../../src/scheduler/quota/floor.ts";
import { type LayerSpec, layersOf } from "../../../../src/scheduler/quota/layers.ts";
import type { Unexplained } from "../../../../src/scheduler/quota/limit-window.ts";
import { fixedClock } from "../../../support/harness/fixed-clock.ts";

const [, user, key] = layersOf(createContract()) as [never, never, never];

const falls = (floor: Floor, instants: readonly number[]): boolean | undefined =>
  instants.map((at) => floor.refuse(at - 5, at)).at(-1);

describe("A floor", () => {
  it.each([
    ["two refusals within twenty windows", [10, 20_010], true],
    ["refusals further apart", [10, 20_011], false],
    ["one refusal", [10], false],
  ])("after %s: %s", (_, instants, expected) => {
    expect(falls(new Floor(key), instants)).toBe(expected);
  });

  it("follows one refusal within sixty windows after a doubtful count", () => {
    const [soon, late] = [new Floor(key), new Floor(key)];
    expect([soon.doubt(1_000, 1_000), late.doubt(1_000, 1_000)]).toEqual([false, false]);
    expect([falls(soon, [60_999]), falls(late, [61_000])]).toEqual([true, false]);
  });

  it("follows one refusal after a doubtful count of another layer, and is not left until its counts agree", () => {
    const latest = new LatestDoubt();
    const [ofKey, ofUser] = [new Floor(key, latest), new Floor(user, latest)];
    ofUser.doubt(1_000, 1_000);
    expect(falls(ofKey, [60_999])).toBe(true);
    ofKey.enter(61_000, 10);
    ofUser.doubt(62_000, 62_000);
    expect([ofKey.mayLeave(121_999), ofKey.mayLeave(122_000)]).toEqual([false, true]);
  });

  it("counts calls that were under way together as one refusal", () => {
    const floor = new Floor(key);
    expect([floor.refuse(5, 10), floor.refuse(6, 12), floor.refuse(10, 14), floor.refuse(11, 20)]).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it("follows three doubtful ones of a long window's last forty counts, and none of a short one's", () => {
    const [floor, apart, short] = [new Floor(user), new Floor(user), new Floor(key)];
    expect([0, 1, 2].map((at) => floor.doubt(at, at))).toEqual([false, false, true]);
    expect([0, 1, 2].map((at) => short.doubt(at, at))).toEqual([false, false, false]);
    apart.doubt(0, 0);
    for (let count = 0; count < 39; count++) apart.agree();
    expect([apart.doubt(1, 1), apart.doubt(2, 2)]).toEqual([false, false]);
  });

  it("is left after five windows without a refusal, and after four times as many when it follows again soon", () => {
    const floor = new Floor(key);
    floor.enter(0, 10);
    expect([floor.mayLeave(4_999), floor.mayLeave(5_000)]).toEqual([false, true]);
    floor.refused(2_000);
    expect([floor.mayLeave(6_999), floor.mayLeave(7_000)]).toEqual([false, true]);
    floor.leave(7_000);
    floor.enter(10_000, 10);
    expect([floor.mayLeave(29_999), floor.mayLeave(30_000)]).toEqual([false, true]);
  });

  it("counts doubtful counts of calls that were under way together as one", () => {
    const floor = new Floor(user);
    expect([floor.doubt(0, 50), floor.doubt(10, 60), floor.doubt(40, 70), floor.doubt(50, 80)]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(floor.doubt(80, 90)).toBe(true);
  });

  it("is shared for five minutes by the layers of a service where a long window's counts are contradictory", () => {
    const latest = new LatestDoubt();
    const [ofKey, ofUser] = [new Floor(key, latest), new Floor(user, latest)];
    ofKey.enter(0, 10);
    for (const at of [0, 1, 2]) ofUser.doubt(at, at);
    expect([ofKey.isDistrusted(300_001), ofKey.isDistrusted(300_002)]).toEqual([true, false]);
    expect([ofKey.mayLeave(300_001), ofKey.mayLeave(300_002)]).toEqual([false, true]);
  });

  it("is not left within sixty windows after a doubtful count", () => {
    const floor = new Floor(key);
    floor.enter(0, 10);
    floor.doubt(4_000, 4_000);
    expect([floor.mayLeave(63_999), floor.mayLeave(64_000)]).toEqual([false, true]);
  });

  it("holds 95 % of what is stated, a tenth of it at once, less after a refusal, and still less after each within five windows of another, once in a window", () => {
    const floor = new Floor(user);
    const { spending } = floor;
    spending.land(500, 0);
    floor.enter(0, 1_200);
    expect([spending.capacity, spending.landed(0), spending.credit(0)]).toEqual([1_140, 500, 0]);
    expect(spending.room(1_000)).toBeCloseTo(19, 9);
    expect([spending.room(60_000), spending.landed(60_000)]).toEqual([114, 0]);
    expect([floor.refused(60_000), spending.capacity]).toEqual([75_000, 1_083]);
    // Refused while it was shut: the same episode.
    expect([floor.refused(60_010), spending.capacity]).toEqual([75_000, 1_083]);
    expect([floor.refused(360_000), spending.capacity]).toEqual([375_000, 1_083]);
    expect([floor.refused(659_999), spending.capacity]).toEqual([689_999, 866]);
    expect([floor.refused(719_998), spending.capacity]).toEqual([779_998, 866]);
    // It does not raise what is spent.
    expect([floor.refused(1_200_000), spending.capacity]).toEqual([1_215_000, 866]);
    for (let time = 2; time < 40; time++) floor.refused(660_000 + 60_000 * time);
    expect(spending.capacity).toBe(120);
  });

  it("is entered again by one refusal for as long as its last stay was", () => {
    const fallsAgain = (afterMs: number): boolean => {
      const floor = new Floor(key);
      floor.enter(0, 10);
      floor.leave(5_000);
      return floor.refuse(5_000 + afterMs, 5_000 + afterMs);
    };
    expect([fallsAgain(4_999), fallsAgain(5_000)]).toEqual([true, false]);
  });

  it("counts a call from its answer, less the shortest round trip beyond 3 % of a window", () => {
    const landedBy = (spec: LayerSpec, low: number): number =>
      new Floor(spec, undefined, { low, slow: 900 }).landedBy(10_000);
    expect([30, 31, 433].map((low) => landedBy(key, low))).toEqual([10_000, 9_999, 9_597]);
    expect([433, 1_800, 2_000].map((low) => landedBy(user, low))).toEqual([10_000, 10_000, 9_800]);
  });

  it("is kept for sixty windows at first where a call was refused before any other into its window was counted", () => {
    const stayAfter = (...how: readonly Unexplained[]): number => {
      const floor = new Floor(key);
      for (const [index, one] of how.entries()) floor.refuse(100 * index, 100 * index + 10, one);
      floor.enter(1_000, 10);
      return floor.neededMs(1_000);
    };
    expect([stayAfter("single", "entering"), stayAfter("single", "single")]).toEqual([60_000, 5_000]);
    // The last refusal decides.
    expect(stayAfter("entering", "single")).toBe(5_000);
  });

  it("is kept four times as long as that when it follows again soon, and for five windows when it does much later", () => {
    const staysAfter = (afterMs: number, how?: Unexplained): number => {
      const floor = new Floor(key);
      floor.refuse(0, 10, "entering");
      floor.enter(10, 10);
      floor.leave(60_010);
      const at = 60_010 + afterMs;
      // Without one it follows for another reason than a refusal.
      if (how !== undefined) floor.refuse(at, at, how);
      floor.enter(at, 10);
      return floor.neededMs(at);
    };
    expect([staysAfter(359_999, "single"), staysAfter(359_999, "entering")]).toEqual([240_000, 240_000]);
    expect([staysAfter(360_000, "single"), staysAfter(360_000, "entering")]).toEqual([5_000, 60_000]);
    expect(staysAfter(360_000)).toBe(5_000);
  });

  it("tries a minute that stays shut after a quarter of it, a half, and each whole one, and after a quarter again five minutes later", () => {
    const floor = new Floor(user);
    floor.enter(0, 1_200);
    let at = 0;
    const waits = (count: number): readonly number[] =>
      Array.from({ length: count }, () => {
        const from = at;
        at = floor.refused(at);
        return at - from;
      });
    expect(waits(4)).toEqual([15_000, 30_000, 60_000, 60_000]);
    at += 300_000;
    expect(waits(1)).toEqual([15_000]);
  });
});

describe("A short window on its floor", () => {
  /** Capacity after each of the refusals; the floor is entered at 0. */
  const cut = (floor: Floor, instants: readonly number[]): readonly number[] =>
    instants.map((at) => {
      floor.refused(at);
      return floor.spending.capacity;
    });
  const fallen = (spec: LayerSpec = key): Floor => {
    const floor = new Floor(spec);
    floor.enter(0, spec.capacity);
    return floor;
  };

  it("is cut by a twentieth by the refusal that led to it, and once by one unit by rare refusals after that", () => {
    expect(cut(fallen(), [0, 5_000, 10_000, 600_000, 660_000])).toEqual([9, 8, 8, 8, 8]);
    expect(cut(fallen({ ...(key as LayerSpec), capacity: 100 }), [0, 5_000, 10_000])).toEqual([90, 90, 90]);
  });

  it("is cut by one unit by its first refusal, if another reason led to it", () => {
    expect(cut(fallen(), [1, 5_001, 10_001])).toEqual([8, 8, 8]);
  });

  it("is cut to four fifths by a refusal within five windows of another", () => {
    expect(cut(fallen(), [0, 4_999, 9_998])).toEqual([9, 7, 5]);
    expect(cut(fallen(), [0, 5_000, 9_999, 14_999])).toEqual([9, 8, 6, 6]);
  });

  it("is cut by one unit of the part that an engine spends, and by a twentieth if it is a long one", () => {
    const floor = new Floor({ ...(key as LayerSpec), capacity: 20 });
    floor.part = 1 / 2;
    floor.enter(0, 20);
    expect(cut(floor, [1, 5_001])).toEqual([8, 8]);
    expect(cut(fallen({ ...(user as LayerSpec), capacity: 10 }), [1, 300_001])).toEqual([9, 9]);
  });

  it("is cut by one unit only twenty windows after a further cut, and four times as late when it is cut again as soon", () => {
    const raisedAfter = (floor: Floor, from: number, ms: number): readonly number[] =>
      [ms - 1, ms].map((after) => {
        floor.raise(from + after);
        return floor.spending.capacity;
      });
    const floor = fallen();
    cut(floor, [0, 1_000, 2_000]);
    expect(raisedAfter(floor, 2_000, 20_000)).toEqual([5, 8]);
    // A refusal by itself is no further cut.
    cut(floor, [30_000]);
    expect(floor.spending.capacity).toBe(8);
    cut(floor, [40_000, 41_000]);
    expect(raisedAfter(floor, 41_000, 80_000)).toEqual([6, 8]);
    cut(floor, [130_000, 131_000]);
    expect(raisedAfter(floor, 131_000, 320_000)).toEqual([6, 8]);
    cut(floor, [500_000, 501_000]);
    expect(raisedAfter(floor, 501_000, 20_000)).toEqual([6, 8]);
  });

  it("is not raised after its first cut, not even after hours without a refusal", () => {
    const floor = fallen();
    cut(floor, [6_000]);
    floor.raise(10_000_000);
    expect(floor.spending.capacity).toBe(8);
  });

  it("is cut from the beginning again when it is entered again", () => {
    const floor = fallen();
    cut(floor, [0, 5_000, 10_000]);
    floor.leave(20_000);
    floor.enter(30_000, 10);
    expect(cut(floor, [30_000, 40_000])).toEqual([9, 8]);
    floor.raise(100_000);
    expect(floor.spending.capacity).toBe(8);
  });

  it("is raised by an answer, unlike a long one", () => {
    const capacityAfter = (spec: LayerSpec): readonly number[] => {
      const gauge = new FixedWindow(spec, "s", fixedClock(0, 0));
      const { windowMs } = spec;
      gauge.fall(0, "a test");
      gauge.floor.othersUntil = Number.POSITIVE_INFINITY;
      for (const at of [0, 5, 9]) gauge.shut(at * windowMs);
      const before = gauge.capacity;
      gauge.end(gauge.begin(1, 300 * windowMs), 300 * windowMs, 300 * windowMs, undefined, true);
      return [before, gauge.capacity, gauge.floor.spending.capacity];
    };
    expect(capacityAfter(key)).toEqual([6, 8, 8]);
    expect(capacityAfter(user)).toEqual([866, 866, 866]);
  });
});

describe("Calls without an answer on the floor", () => {
  const stage = (spec: LayerSpec, unanswered: number): FixedWindow => {
    const gauge = new FixedWindow(spec, "s", fixedClock(0, 0));
    gauge.fall(0, "a test");
    for (let count = 0; count < unanswered; count++) gauge.begin(1, 100);
    return gauge;
  };
  const all = (): number => 10;

  it("count in the two windows after their own of a key, and as long as they are not answered of a user", () => {
    const [ofKey, ofUser] = [stage(key, 4), stage(user, 4)];
    expect([ofKey.used(2_999), ofKey.used(3_000)]).toEqual([4, 4]);
    // Others may leave meanwhile.
    expect([ofKey.blockedUntil(5, 2_999, all), ofKey.blockedUntil(5, 3_000, all)]).toEqual([undefined, undefined]);
    ofKey.begin(5, 3_000);
    expect([ofKey.used(3_000), ofKey.blockedUntil(1, 3_000, all)]).toEqual([9, 4_000]);
    expect([ofUser.used(179_999), ofUser.used(600_000)]).toEqual([4, 4]);
  });

  it("leave room of a key for others when they are few, and for none when they are all that a second holds", () => {
    const room = (unanswered: number, at: number): number => {
      const gauge = stage(key, unanswered);
      for (let count = 0; count < 4; count++) gauge.end(gauge.begin(1, at), at, at + 10, undefined, true);
      return 9 - gauge.used(at + 20);
    };
    expect([room(4, 2_900), room(4, 3_000), room(9, 3_000)]).toEqual([1, 5, 0]);
  });
});

describe("A key's window whose service counts another layer in contradictions", () => {
  it("falls to the floor with its next answer", () => {
    const doubt = new LatestDoubt();
    const gauge = new FixedWindow(key, "k", fixedClock(0, 0), undefined, { doubt });
    const ofUser = new Floor(user, doubt);
    for (const at of [100, 200, 300]) ofUser.doubt(at, at);
    gauge.end(gauge.begin(1, 400), 400, 410, 1, true);
    expect([gauge.mode, gauge.capacity]).toEqual(["floor", 9]);
  });
});

describe("An address whose limit was cut to a third", () => {
  it("stays measured where a new minute's counts are little below the last ones", () => {
    const [address] = layersOf(createContract()) as [LayerSpec];
    const gauge = new FixedWindow(address, "home", fixedClock(0, 0));
    const call = (at: number, used: number): void => {
      gauge.end(gauge.begin(1, at), at, at + 10, used, true);
    };
    for (let minute = 1; minute <= 3; minute++) {
      for (let count = 1; count <= 290; count++) call(minute * 60_000 + 100 * count, 800 + count);
      call(minute * 60_000 + 59_900, 1_091);
    }
    for (let count = 1; count <= 5; count++) call(240_000 + 100 * count, 800 + count);
    expect([gauge.mode, gauge.missing]).toEqual(["measured", 800]);
  });
});

describe("A key's window on the floor", () => {
  const stage = () => {
    const changes: Parameters<OnMode>[0][] = [];
    const gauge = new FixedWindow(key, "k", fixedClock(0, 0), undefined, { onMode: (change) => changes.push(change) });
    const call = (at: number, used?: number): void => {
      gauge.end(gauge.begin(1, at), at, at + 10, used, true);
    };
    return { gauge, changes, call };
  };
  const all = (): number => 10;

  it("disregards counts, spends nine calls in any second, and reports both changes", () => {
    const { gauge, changes, call } = stage();
    for (let count = 1; count <= 4; count++) call(400 + count, count);
    const flying = gauge.begin(1, 420);
    gauge.noteUnexplained(430, 440);
    gauge.noteUnexplained(450, 460);
    expect([gauge.mode, gauge.flows, gauge.capacity, gauge.used(460)]).toEqual(["floor", true, 9, 5]);
    // A call that left before ends on the floor.
    gauge.end(flying, 420, 470, 5, true);
    expect([gauge.used(470), gauge.open, gauge.foreign(470), gauge.blockedUntil(5, 470, all)]).toEqual([
      5, 0, 0, 1_414,
    ]);
    // Counts that agree with seconds of a clock are no doubt.
    const second = (from: number): void => {
      for (let count = 1; count <= 4; count++) call(from + 100 + 200 * count, count);
    };
    for (let from = 1_000; from < 5_000; from += 1_000) second(from);
    expect(gauge.mode).toBe("floor");
    second(5_000);
    expect([gauge.mode, gauge.capacity, gauge.used(5_950) >= 4]).toEqual(["measured", 10, true]);
    expect(changes.map(({ layer, mode }) => [layer, mode])).toEqual([
      ["key", "floor"],
      ["key", "measured"],
    ]);
  });

  it("counts an answered call for a second, less the shortest round trip beyond 30 ms, and a lost one for a second", () => {
    const usedAfter = (over: "answered" | "lost", ...instants: readonly number[]): readonly number[] => {
      const trips = { low: 433, slow: 500 };
      const gauge = new FixedWindow(key, "k", fixedClock(0, 0), undefined, { trips });
      gauge.fall(9_000, "a test");
      const part = gauge.begin(1, 9_567);
      if (over === "lost") gauge.lose(part, 10_000);
      else gauge.end(part, 9_567, 10_000, undefined, true);
      return instants.map((at) => gauge.used(at));
    };
    expect(usedAfter("answered", 10_596, 10_597)).toEqual([1, 0]);
    expect(usedAfter("lost", 10_999, 11_000)).toEqual([1, 0]);
  });

  it("reports one misreading of each stay, however many counts fall where no window begins", () => {
    const told: string[] = [];
    const gauge = new FixedWindow(key, "k", fixedClock(0, 0), undefined, { onMisread: (_, what) => told.push(what) });
    const call = (at: number, used: number): void => {
      gauge.end(gauge.begin(1, at), at, at + 10, used, true);
    };
    /** Two refusals, and then seconds in whose middle counts fall. */
    const slides = (from: number): void => {
      gauge.noteUnexplained(from, from + 10);
      gauge.noteUnexplained(from + 20, from + 30);
      for (let at = from + 1_000; at < from + 9_000; at += 1_000) {
        const within = 100 + ((at / 1_000) % 3) * 300;
        call(at + within, 7);
        call(at + within + 40, 2);
      }
    };
    slides(0);
    expect([gauge.mode, told]).toEqual(["floor", ["a window began where none was expected; its counts are not used"]]);
    // Counts agree with seconds of a clock for long enough.
    for (let from = 9_000; gauge.mode === "floor"; from += 1_000) {
      call(from + 100, 1);
      call(from + 200, 2);
    }
    told.length = 0;
    slides(100_000);
    expect([gauge.mode, told.length]).toEqual(["floor", 1]);
  });

  it("never takes more than its capacity in any second, however calls are answered", () => {
    const { gauge } = stage();
    gauge.noteUnexplained(0, 10);
    gauge.noteUnexplained(20, 30);
    const sent: number[] = [];
    for (let at = 30; at < 5_000; at += 7) {
      if (gauge.blockedUntil(1, at, () => Math.min(9, gauge.paced(at))) !== undefined) continue;
      sent.push(at);
      gauge.end(gauge.begin(1, at), at, at + 5, undefined, true);
    }
    const inSecond = sent.map((from) => sent.filter((at) => at >= from && at < from + 1_000).length);
    expect(Math.max(...inSecond)).toBeLessThanOrEqual(9);
    expect(sent.length).toBeGreaterThan(40);
  });
});

describe("A user's window on the floor, divided among engines", () => {
  const stage = (part: number) => {
    const gauge = new FixedWindow(user, "u", fixedClock(0, 0));
    gauge.divided = true;
    gauge.floor.part = part;
    return gauge;
  };

  it("is spent to the engine's part, also after refusals and after another limit is stated", () => {
    const gauge = stage(0.25);
    gauge.noteUnexplained(0, 10);
    gauge.noteUnexplained(20, 30);
    expect([gauge.mode, gauge.capacity]).toEqual(["floor", 285]);
    for (let count = 0, at = 100; count < 20; count++, at = gauge.shut(at) + 1);
    // A tenth of the part is the least.
    expect(gauge.capacity).toBe(30);
    gauge.floor.restate(600);
    expect(gauge.floor.spending.capacity).toBe(15);
  });

  it("has no use by others, whatever its counts say", () => {
    const gauge = stage(0.5);
    gauge.strangers = 40;
    expect(gauge.foreign(0)).toBe(40);
    gauge.fall(0, "a test");
    expect(gauge.foreign(0)).toBe(0);
  });

  it("gives nothing to ordinary actions for a minute, also after an exit, and then as much as is earned", () => {
    const gauge = stage(0.5);
    gauge.fall(1_000, "a test");
    const credit = (at: number): number => gauge.paced(at) - gauge.used(at);
    expect([credit(1_000), credit(60_999)]).toEqual([0, 0]);
    gauge.end(gauge.begin(15, 30_000), 30_000, 30_010, undefined, true);
    expect([credit(30_010), credit(61_000), credit(64_000)]).toEqual([-15, -15, 570 / 20 - 15]);
  });

  it("is left when neither its own evidence nor that of other engines needs it", () => {
    const [own, others] = [stage(0.5), stage(0.5)];
    own.fall(0, "a test");
    others.fall(0, "a test", false);
    expect([own.floor.neededMs(1_000), others.floor.neededMs(1_000)]).toEqual([599_000, 0]);
    others.floor.othersUntil = 5_000;
    others.leaveFloor(4_999);
    expect(others.mode).toBe("floor");
    others.leaveFloor(5_000);
    own.leaveFloor(599_999);
    expect([others.mode, own.mode]).toEqual(["measured", "floor"]);
    own.leaveFloor(600_000);
    expect([own.mode, own.floor.neededMs(600_000)]).toEqual(["measured", 0]);
  });

  it("is needed by an engine that fell with others once it is refused itself", () => {
    const gauge = stage(0.5);
    gauge.fall(0, "a test", false);
    gauge.shut(2_000);
    expect(gauge.floor.neededMs(2_000)).toBe(600_000);
  });
});
