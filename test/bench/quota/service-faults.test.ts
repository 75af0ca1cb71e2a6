/** The faults of the bench's service: windows, limits, stamps and counts. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../src/random.ts";
import { createMeter } from "./meter.ts";
import { asDescribed, createCounts, createStamps } from "./service-faults.ts";

describe("The bench service with a fault", () => {
  const home = { ip: "home", key: "a", user: "user" };

  it("begins its windows where it is told to", () => {
    const meter = createMeter({ ...asDescribed, minuteFromMs: 37_420, secondFromMs: 420 });
    for (let i = 0; i < 10; i++) expect(meter.judge(37_419, home, 1).accepted).toBe(true);
    expect(meter.judge(37_419, home, 1).accepted).toBe(false);
    expect(meter.judge(37_420, home, 5)).toMatchObject({ accepted: true, uidUsed: 5, keyRemaining: 9 });
    expect(meter.judge(60_000, home, 5)).toMatchObject({ accepted: true, uidUsed: 10 });
  });

  it("counts the last second and the last minute where windows slide", () => {
    const meter = createMeter({ ...asDescribed, sliding: true });
    for (let i = 0; i < 10; i++) expect(meter.judge(900, home, 100).accepted).toBe(true);
    expect(meter.judge(1_899, home, 1).accepted).toBe(false);
    expect(meter.judge(1_900, home, 200).accepted).toBe(true);
    expect(meter.judge(60_899, home, 1).accepted).toBe(false);
    expect(meter.judge(60_900, home, 1)).toMatchObject({ accepted: true, uidUsed: 201 });
  });

  it("moves its limits when it is told to", () => {
    const meter = createMeter({ ...asDescribed, changes: [{ atMs: 5_000, layer: "key", max: 1 }] }, 10_000);
    for (let i = 0; i < 10; i++) expect(meter.judge(14_999, home, 1).accepted).toBe(true);
    expect(meter.judge(15_000, home, 1)).toMatchObject({ accepted: true, keyRemaining: 0 });
    expect(meter.judge(15_000, home, 1).accepted).toBe(false);
  });

  it("slides one layer only when it is told to", () => {
    const meter = createMeter({ ...asDescribed, counting: { key: { kind: "sliding" } } });
    for (let i = 0; i < 10; i++) expect(meter.judge(900, home, 120).accepted).toBe(true);
    expect(meter.judge(1_899, home, 1).accepted).toBe(false);
    expect(meter.judge(60_000, home, 1)).toMatchObject({ accepted: true, uidUsed: 1 });
  });

  it("stretches its windows, and empties a minute late", () => {
    const stretched = createMeter({ ...asDescribed, counting: { uid: { kind: "stretched", times: 1.5 } } });
    stretched.judge(0, home, 100);
    expect(stretched.judge(89_999, home, 1).uidUsed).toBe(101);
    expect(stretched.judge(90_000, home, 1).uidUsed).toBe(1);
    const late = createMeter({ ...asDescribed, counting: { uid: { kind: "late", mostMs: 800 } } });
    late.judge(59_000, home, 100);
    expect(late.judge(60_000, home, 1)).toMatchObject({ uidUsed: 101, keyRemaining: 9 });
    expect(late.judge(60_800, home, 1).uidUsed).toBe(1);
  });

  it("drains a key's bucket evenly", () => {
    const meter = createMeter({ ...asDescribed, counting: { key: { kind: "bucket", holds: 10 } } });
    for (let i = 0; i < 10; i++) expect(meter.judge(1_000, home, 1).accepted).toBe(true);
    expect(meter.judge(1_000, home, 1).accepted).toBe(false);
    expect(meter.judge(1_100, home, 1)).toMatchObject({ accepted: true, keyRemaining: 0 });
  });

  it("counts on several nodes", () => {
    const meter = createMeter({ ...asDescribed, nodes: 3 });
    const used = Array.from({ length: 9 }, () => meter.judge(500, home, 1).uidUsed);
    expect(Math.max(...used)).toBeLessThan(9);
  });

  it("tells counts from before a call", () => {
    const meter = createMeter({ ...asDescribed, counts: { kind: "before-call" } });
    expect(meter.judge(0, home, 5)).toMatchObject({ ipRemaining: 1200, keyRemaining: 10, uidUsed: 0 });
    expect(meter.judge(1, home, 5)).toMatchObject({ ipRemaining: 1199, keyRemaining: 9, uidUsed: 5 });
  });

  it.each([
    [{ kind: "right" }, 1_000, 1_000, 2_000],
    [{ kind: "rounded-up" }, 1_000, 2_000, 3_000],
    [{ kind: "off", ms: -400 }, 0, 1_000, 2_000],
    [{ kind: "missing", share: 1 }, undefined, undefined, undefined],
    [{ kind: "missing-first" }, undefined, 1_000, 2_000],
  ] as const)("stamps %j", (fault, ...stamps) => {
    const stampOf = createStamps(fault, createRandom(1));
    expect([1_000, 1_500, 2_400].map(stampOf)).toEqual(stamps);
  });

  it("stamps by a clock that steps forth and back, and by two edges", () => {
    const stepping = createStamps({ kind: "steps", ms: 3_000 }, createRandom(1));
    expect([0, 600_000, 1_200_000].map(stepping)).toEqual([0, 603_000, 1_200_000]);
    const edges = createStamps({ kind: "edges", ms: 400 }, createRandom(1));
    expect(new Set(Array.from({ length: 20 }, () => edges(10_500)))).toEqual(new Set([10_000]));
    expect(new Set(Array.from({ length: 20 }, () => edges(10_700)))).toEqual(new Set([10_000, 11_000]));
  });

  it("shows each user the counts of the answer before", () => {
    const shown = createCounts({ kind: "behind" }, createRandom(1));
    expect(["1", "2", "3"].map((n) => shown("a", { n }, 0))).toEqual([{ n: "1" }, { n: "1" }, { n: "2" }]);
    expect(shown("b", { n: "7" }, 0)).toEqual({ n: "7" });
    expect(createCounts({ kind: "missing", share: 1 }, createRandom(1))("a", { n: "1" }, 0)).toEqual({});
  });

  it("shows counts that are another's, any, or kept for a second", () => {
    const remaining = "x-ratelimit-key-remaining";
    const told = { [remaining]: "77", other: "88" };
    const another = createCounts({ kind: "another", share: 1, layer: "key" }, createRandom(1))("a", told, 0);
    expect(Number(another[remaining])).toBeLessThanOrEqual(10);
    expect(another["other"]).toBe("88");
    const garbage = createCounts({ kind: "garbage", share: 1 }, createRandom(1))("a", told, 0);
    expect(Object.keys(garbage)).toEqual(Object.keys(told));
    expect(garbage).not.toEqual(told);
    const cached = createCounts({ kind: "cached" }, createRandom(1));
    expect([0, 999, 4_000].map((at) => cached("a", { n: String(at) }, at))).toEqual([
      { n: "0" },
      { n: "0" },
      { n: "4000" },
    ]);
  });
});
