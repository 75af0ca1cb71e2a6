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
    expect(["1", "2", "3"].map((n) => shown("a", { n }))).toEqual([{ n: "1" }, { n: "1" }, { n: "2" }]);
    expect(shown("b", { n: "7" })).toEqual({ n: "7" });
    expect(createCounts({ kind: "missing", share: 1 }, createRandom(1))("a", { n: "1" })).toEqual({});
  });
});
