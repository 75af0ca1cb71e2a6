/**
 * Engines that divide one quota, a few virtual minutes each, judged by the bench's meter: no refusal of their own doing, whatever becomes
 * of the store.
 */
import { describe, expect, it } from "vitest";
import type { MemoryClaimStore } from "../../../plugins/shared-quota/memory-claim-store.ts";
import { type CellOptions, runCell } from "./cell.ts";
import { comparison, type Scenario } from "./scenarios.ts";
import { type SharingTroubles, sharedQuotaOf } from "./shared-engines.ts";
import { createSluice } from "./sluice.ts";
import { addTallies, figuresOf, type Tally } from "./tally.ts";

const minute = 60_000;
const saturated = comparison["A"] as Scenario;
const light = { mix: saturated.mix, load: { kind: "bursts", size: 3, everyMs: 20_000 }, many: 3 } as const;

const run = async (scenario: Partial<Scenario>, troubles: SharingTroubles = {}, minutes = 4) => {
  const createLimiter = createSluice({}, sharedQuotaOf(troubles));
  const tally = await runCell({ scenario: { ...saturated, ...scenario }, seed: 2, minutes, createLimiter });
  return { ...figuresOf(tally), refused: tally.refused, byEngine: Object.values(tally.byEngine) };
};

const runSeeds = async (seeds: readonly number[], cell: Omit<CellOptions, "seed">): Promise<Tally> => {
  const tallies: Tally[] = [];
  for (const seed of seeds) tallies.push(await runCell({ ...cell, seed }));
  return addTallies(tallies);
};

describe("Engines that divide one quota", () => {
  it.each<[string, Partial<Scenario>, SharingTroubles, number]>([
    ["two", { engines: 2 }, {}, 99],
    ["four", { engines: 4 }, {}, 99],
    ["six", { engines: 6 }, {}, 99],
    ["one that is busy beside three that are not", { engines: 1, beside: light }, {}, 98],
    ["four whose store is 40 ms away", { engines: 4 }, { legMs: 20 }, 99],
    ["four of whose statements one in fifty is not answered", { engines: 4 }, { lostShare: 0.02 }, 98.5],
    ["two on machines that sleep and whose calendars step", { engines: 2, upsets: true, skewMsMax: 120_000 }, {}, 97],
    ["four on clocks two minutes off that drift", { engines: 4, skewMsMax: 120_000, driftPpm: 100 }, {}, 99],
    ["four whose store hangs for half a minute", { engines: 4 }, { hangs: [[2.2 * minute, 2.7 * minute]] }, 90],
    [
      "four whose store hangs for two minutes and a half",
      { engines: 4 },
      { hangs: [[1.2 * minute, 3.7 * minute]] },
      45,
    ],
    ["four whose store is restarted without its memory", { engines: 4 }, { away: [[2.2 * minute, 2.3 * minute]] }, 97],
  ])("%s: no refusal, exits within a second and most of the quota used", async (_, scenario, troubles, least) => {
    const { refused, utilisationPct, urgentMsP99 } = await run(scenario, troubles);
    expect(refused).toBe(0);
    expect(utilisationPct).toBeGreaterThanOrEqual(least);
    if (least >= 97) expect(urgentMsP99).toBeLessThanOrEqual(1_100);
  });

  it("four whose store hangs for four minutes: exits go on at once, on what each of them has left for them", async () => {
    const { refused, utilisationPct, urgentMsP99 } = await run(
      { engines: 4 },
      { hangs: [[5.2 * minute, 9.2 * minute]] },
      12,
    );
    expect(refused).toBe(0);
    expect(utilisationPct).toBeGreaterThanOrEqual(88);
    expect(urgentMsP99).toBeLessThanOrEqual(5_000);
  });

  it("three that are not busy hold nothing in a minute's last second that nothing of theirs waits for", async () => {
    const scenario = { ...saturated, engines: 1, beside: light };
    const together = await runSeeds([1, 2, 3], {
      scenario,
      minutes: 20,
      createLimiter: createSluice({}, sharedQuotaOf()),
    });
    const { utilisationPct, urgentMsP99 } = figuresOf(together);
    expect(together.refused).toBe(0);
    expect(utilisationPct).toBeGreaterThanOrEqual(98.9);
    expect(urgentMsP99).toBeLessThanOrEqual(800);
  });

  it.each([
    [5_000, 95],
    [40_000, 92],
    [61_000, 95],
  ])(
    "three, one of which misreads where minutes begin by %i ms: no refusal, exits within a second, and it says so",
    async (off, usedLeast) => {
      const told: string[] = [];
      const onAnomaly = (member: string, what: string): void => void told.push(`${member} ${what}`);
      const scenario = { ...saturated, engines: 3, dateOffMsOf: { "engine-1": off } };
      const tally = await runSeeds([1, 2, 3], {
        scenario,
        minutes: 6,
        createLimiter: createSluice({}, sharedQuotaOf({ onAnomaly })),
      });
      const { utilisationPct, urgentMsP99 } = figuresOf(tally);
      expect(tally.refused).toBe(0);
      expect(utilisationPct).toBeGreaterThanOrEqual(usedLeast);
      expect(urgentMsP99).toBeLessThanOrEqual(1_100);
      expect(told).toContain("engine-1 quota.astray");
    },
  );

  it.each([
    [101, 1],
    [109, 2],
    [64, 4],
    [74, 7],
  ])("four, one of which stands still for 80 s from second %i and another for 15 s: no refusal", async (from, seed) => {
    const stops = {
      "engine-1": [[from * 1_000, (from + 80) * 1_000]],
      "engine-2": [[(from + 30) * 1_000, (from + 45) * 1_000]],
    } as const;
    const scenario: Scenario = { ...saturated, engines: 4, stopsOf: stops };
    const tally = await runCell({ scenario, seed, minutes: 5, createLimiter: createSluice({}, sharedQuotaOf()) });
    expect(tally.refused).toBe(0);
    expect(figuresOf(tally).utilisationPct).toBeGreaterThanOrEqual(96);
    // Who stood still is one of them again: it has used some of every minute but the one and a third that it missed.
    expect(tally.byEngine["engine-1"] as number).toBeGreaterThan(0.5 * (tally.byEngine["engine-0"] as number));
  });

  // They ask before they know when minutes begin, so that first answers may be of two: each of these seeds was refused when one was misplaced.
  it.each([13, 65, 88, 97])(
    "four whose first calls are answered about the edge of a minute (seed %i): no refusal",
    async (seed) => {
      const tally = await runCell({
        scenario: { ...saturated, engines: 4 },
        seed,
        minutes: 2,
        createLimiter: createSluice({}, sharedQuotaOf()),
      });
      expect(tally.refused).toBe(0);
      expect(figuresOf(tally).utilisationPct).toBeGreaterThanOrEqual(98.5);
    },
  );

  it("four, one of which reaches the store late: it goes by its part until then, and divides from then on", async () => {
    const told: string[] = [];
    const onAnomaly = (member: string, what: string, _: string, at: number): void =>
      void told.push(`${member} ${what} ${Math.round(at / 1_000)}`);
    const cutOffOf = { "engine-1": [[0, 9_000]] } as const;
    const { refused, byEngine } = await run({ engines: 4 }, { onAnomaly, cutOffOf }, 3);
    expect(told).toEqual(["engine-1 quota.alone 5", "engine-1 quota.divided 9"]);
    expect(refused).toBe(0);
    expect(Math.min(...byEngine)).toBeGreaterThan(0.8 * Math.max(...byEngine));
  });

  it("three users behind one address divide its requests", async () => {
    const { refused, utilisationPct } = await run({
      engines: 3,
      userEach: true,
      binding: "ip",
      mix: [{ share: 1, kind: "instruments", weight: 1 }],
    });
    expect(refused).toBe(0);
    expect(utilisationPct).toBeGreaterThanOrEqual(99);
  });

  it("shares of three to one are given to within a tenth", async () => {
    const { byEngine } = await run({ engines: 2 }, { shareOf: (member) => (member === "engine-0" ? 3 : 1) }, 10);
    const [most = 0, least = 1] = byEngine.toSorted((a, b) => b - a);
    expect(most / least).toBeGreaterThan(2.7);
    expect(most / least).toBeLessThan(3.3);
  });

  it("all of them hear of a halt, and what they read and cancel meanwhile is not refused", async () => {
    const heard: string[] = [];
    let store: MemoryClaimStore | undefined;
    const { refused, utilisationPct } = await run(
      { engines: 4 },
      {
        onStore: (made) => {
          store = made;
          void made.halt("test");
        },
        onHalt: (member, reason) => heard.push(`${member} ${reason}`),
      },
    );
    expect(await store?.halted()).toBe("test");
    expect(heard.toSorted()).toEqual(["engine-0 test", "engine-1 test", "engine-2 test", "engine-3 test"]);
    expect(refused).toBe(0);
    expect(utilisationPct).toBeGreaterThan(90);
  });
});
