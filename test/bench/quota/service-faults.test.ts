/** The faults of the bench's service: windows, limits, stamps and counts. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createRandom } from "../../../src/random.ts";
import type { Answer } from "./limiter.ts";
import { createMachine } from "./machine.ts";
import { createMeter } from "./meter.ts";
import { asDescribed, createCounts, createStamps, type ServiceFaults } from "./service-faults.ts";
import { createWire } from "./wire.ts";

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

  it("shows no counts for a while, counts that stick, those of replicas, and rounded ones", () => {
    const shownBy = (kind: Parameters<typeof createCounts>[0], instants: readonly number[]) => {
      const counts = createCounts(kind, createRandom(1));
      return instants.map((at) => counts("a", { n: String(at) }, at)["n"]);
    };
    expect(shownBy({ kind: "mute", everyMs: 10, forMs: 3 }, [9, 10, 12, 13])).toEqual([
      "9",
      undefined,
      undefined,
      "13",
    ]);
    const seconds = Array.from({ length: 600 }, (_, second) => second * 1_000);
    const stuck = shownBy({ kind: "stuck", everyMs: 20_000, mostMs: 8_000 }, seconds);
    const lags = stuck.map((shown, second) => second * 1_000 - Number(shown));
    expect(Math.max(...lags)).toBeGreaterThan(4_000);
    expect(Math.max(...lags)).toBeLessThanOrEqual(8_000);
    expect(lags.filter((ms) => ms === 0).length).toBeGreaterThan(300);
    const tenths = Array.from({ length: 100 }, (_, tenth) => tenth * 100);
    const replicas = shownBy({ kind: "replicas" }, tenths).map(Number);
    expect(replicas.some((shown, index) => shown < (replicas[index - 1] ?? 0))).toBe(true);
    expect(Math.max(...tenths.map((at, index) => at - (replicas[index] ?? 0)))).toBeLessThan(1_000);
    expect(shownBy({ kind: "rounded", to: 10 }, [4, 5, 14])).toEqual(["0", "10", "10"]);
  });

  it("enforces less than it states, and a limit that it does not state", () => {
    const tight = createMeter({ ...asDescribed, enforcedShare: 0.95 });
    for (let i = 0; i < 9; i++) expect(tight.judge(0, home, 100).accepted).toBe(true);
    expect(tight.judge(0, home, 1)).toMatchObject({ accepted: false, keyRemaining: 1 });
    expect(tight.judge(1_000, home, 241).accepted).toBe(false);
    const unstated = { weight: 10, most: 2, windowMs: 10_000 };
    const limited = createMeter({ ...asDescribed, unstated });
    const accepted = [10, 10, 10, 5].map((weight) => limited.judge(0, home, weight).accepted);
    expect(accepted).toEqual([true, true, false, true]);
    expect(limited.judge(10_000, home, 10).accepted).toBe(true);
  });

  it("counts refused calls", () => {
    const meter = createMeter({ ...asDescribed, counting: { key: { kind: "sliding" } }, countsRefused: true });
    for (let i = 0; i < 10; i++) meter.judge(0, home, 1);
    expect(meter.judge(900, home, 1)).toMatchObject({ accepted: false, uidUsed: 11 });
    for (let i = 0; i < 9; i++) meter.judge(1_000, home, 1);
    expect(meter.judge(1_000, home, 1).accepted).toBe(false);
  });

  it("is set forth by its clock's step and back again, each after ten minutes", () => {
    const meter = createMeter({ ...asDescribed, clockStepMs: 2_000 });
    meter.judge(539_000, home, 5);
    expect(meter.judge(659_000, home, 5).uidUsed).toBe(5);
    expect(meter.judge(1_198_500, home, 5).uidUsed).toBe(5);
    expect(meter.judge(1_200_500, home, 5).uidUsed).toBe(10);
  });

  const answersOf = async (faults: Partial<ServiceFaults>, weight: number, instants: readonly number[]) => {
    const truth = createVirtualClock(1_800_000);
    const random = createRandom(1);
    const machine = createMachine({ truth, random, skewMs: 0, driftPpm: 0, stopsAsleep: false });
    const all = { ...asDescribed, ...faults };
    const legMs = { kind: "uniform", from: 1, to: 1 } as const;
    const meter = createMeter(all, truth.now());
    const wire = createWire({ truth, machine, meter, legMs, dateOffMs: 0, faults: all, random });
    const answers: Promise<Answer>[] = [];
    for (const at of instants) {
      truth.advanceTo(1_800_000 + at);
      answers.push(wire.send(home, weight, () => undefined));
    }
    truth.advanceTo(truth.now() + 10);
    const used = meter.judge(truth.now(), home, 0).uidUsed;
    return { answers: await Promise.all(answers), used };
  };

  it("answers 503 while it is out, and counts nothing", async () => {
    const outages = { everyMs: 10_000, forMs: 2_000, retryAfter: { kind: "seconds", seconds: 7 } } as const;
    const { answers, used } = await answersOf({ outages }, 5, [7_000, 8_000, 9_900, 10_000]);
    expect(answers.map(({ status }) => status)).toEqual([200, 503, 503, 200]);
    expect(answers[1]?.headers).toMatchObject({ "retry-after": "7", date: "Thu, 01 Jan 1970 00:30:08 GMT" });
    expect(used).toBe(10);
  });

  it.each([
    [{ kind: "nothing" }, undefined],
    [{ kind: "seconds", seconds: 0 }, "0"],
    [{ kind: "date", seconds: 2 }, "Thu, 01 Jan 1970 00:30:02 GMT"],
  ] as const)("refuses with Retry-After %j, before or after it has counted", async (retryAfter, text) => {
    const strays = { strayShare: 1, retryAfter };
    const { answers, used } = await answersOf(strays, 5, [0]);
    expect(answers[0]).toMatchObject({ status: 429 });
    expect(answers[0]?.headers["retry-after"]).toBe(text);
    expect(used).toBe(0);
    expect((await answersOf({ ...strays, strayCounted: true }, 5, [0])).used).toBe(5);
  });

  it("weighs calls otherwise than stated", async () => {
    const weighs = { stated: 5, as: [20] };
    expect((await answersOf({ weighs }, 5, [0])).used).toBe(20);
    expect((await answersOf({ weighs }, 10, [0])).used).toBe(10);
  });
});
