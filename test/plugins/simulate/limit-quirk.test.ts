/** Services whose limits are not as described: what an answer shows then, and what an engine makes of it. */
import { describe, expect, it } from "vitest";
import shipped from "../../../config/backtest.ts";
import { type Fault, spellFault } from "../../../plugins/simulate/fault.ts";
import { driftingTime, LimitQuirk, quirkWordsOf } from "../../../plugins/simulate/limit-quirk.ts";
import { QuotaInvariants } from "../../../plugins/simulate/quota-invariants.ts";
import { runScenario } from "../../../plugins/simulate/scenario.ts";
import { marketOf } from "../../../plugins/simulate/simulated-market.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { checkConfig } from "../../../src/host/config.ts";
import { createRandom } from "../../../src/random.ts";
import averageCross from "../../../strategies/average-cross.ts";
import joinBest from "../../../strategies/join-best.ts";
import ladder from "../../../strategies/ladder.ts";

const pickOf = (words: string): number => {
  const pick = Array.from({ length: 50 }, (_, each) => each).find((each) => quirkWordsOf(each).includes(words));
  if (pick === undefined) throw new Error(`no quirk says "${words}"`);
  return pick;
};
const quirk = (words: string): LimitQuirk => new LimitQuirk(pickOf(words), createRandom("quirk"));
const faultOf = (words: string): Fault => ({ kind: "limit-quirk", at: 0, size: 0, forMs: 0, pick: pickOf(words) });

const noon = Date.UTC(2024, 0, 1, 12);
const shown = (used: number) => ({ date: "of the venue", "x-ratelimit-uid-weight-used": String(used) });
const dateOf = (of: LimitQuirk, at: number): string | undefined => of.headers(shown(1), "main", at)["date"];

describe("A quirk of the service's limits", () => {
  it("is told by the fault that brings it", () => {
    expect(spellFault(faultOf("rounded up"))).toBe(
      "the service's limits differ from their description: Date is rounded up",
    );
  });

  it("stamps answers otherwise", () => {
    expect(dateOf(quirk("second 37.42"), noon + 37_420)).toBe("Mon, 01 Jan 2024 12:00:00 GMT");
    expect(dateOf(quirk("rounded up"), noon + 1)).toBe("Mon, 01 Jan 2024 12:00:01 GMT");
    expect(dateOf(quirk("rounded up"), noon)).toBe("Mon, 01 Jan 2024 12:00:00 GMT");
    expect(dateOf(quirk("no answer has a Date"), noon)).toBeUndefined();
    const first = quirk("first answer");
    expect([dateOf(first, noon), dateOf(first, noon)]).toEqual([undefined, "Mon, 01 Jan 2024 12:00:00 GMT"]);
    const edges = quirk("two edges");
    const seconds = new Set(Array.from({ length: 50 }, () => dateOf(edges, noon + 200)?.slice(17, 25)));
    expect(seconds).toEqual(new Set(["11:59:59", "12:00:00"]));
  });

  it("shows each user the counts of its answer before, or none", () => {
    const behind = quirk("answer before");
    const used = (user: string, now: number) => behind.headers(shown(now), user, noon)["x-ratelimit-uid-weight-used"];
    expect([used("a", 10), used("a", 20), used("b", 5), used("a", 30), used("b", 6)]).toEqual([
      "10",
      "10",
      "5",
      "20",
      "5",
    ]);
    const bare = quirk("no counts");
    const counted = Array.from(
      { length: 300 },
      () => bare.headers(shown(1), "a", noon)["x-ratelimit-uid-weight-used"] ?? "none",
    );
    expect(counted.filter((each) => each === "none").length).toBeGreaterThan(60);
    expect(counted.filter((each) => each === "none").length).toBeLessThan(140);
  });

  it("lets the service's clock run faster or slower than the machine's", () => {
    const time = createVirtualClock(noon);
    const fast = driftingTime(time, pickOf("fast by 500 ppm"));
    const slow = driftingTime(time, pickOf("slow by 500 ppm"));
    const ran: number[] = [];
    fast.setTimer(noon + 60_030, () => ran.push(time.now()));
    time.advanceTo(noon + 60_000);
    expect([fast.now() - noon, slow.now() - noon, ran]).toEqual([60_030, 59_970, [noon + 60_000]]);
    expect(driftingTime(time, pickOf("rounded up"))).toBe(time);
  });
});

describe("Refusals by limits that differ from their description", () => {
  const rig = (isQuirky: boolean) => {
    const failed: string[] = [];
    let now = noon;
    const quota = new QuotaInvariants(
      createContract(),
      () => now,
      (invariant) => failed.push(invariant),
      isQuirky,
    );
    const request = { endpoint: "getOrder" } as Parameters<QuotaInvariants["arrived"]>[0];
    const refuse = (times: number): string[] => {
      for (let time = 0; time < times; time++) {
        quota.arrived(request, { status: 429, headers: {}, body: undefined }, 0);
        quota.heard(true);
      }
      return failed;
    };
    return { quota, refuse, wait: (ms: number) => (now += ms) };
  };

  it("are forgiven a process 24 in ten minutes", () => {
    const { refuse, wait, quota } = rig(true);
    expect(refuse(24)).toEqual([]);
    expect(refuse(1)).toEqual(["I7"]);
    wait(600_001);
    expect(refuse(24)).toEqual(["I7"]);
    quota.begin();
    expect(refuse(24)).toEqual(["I7"]);
    expect(refuse(1)).toEqual(["I7", "I7"]);
  });

  it("count where they are heard of", () => {
    const { quota, refuse } = rig(true);
    const request = { endpoint: "getOrder" } as Parameters<QuotaInvariants["arrived"]>[0];
    for (let time = 0; time < 100; time++) quota.arrived(request, { status: 429, headers: {}, body: undefined }, 0);
    expect(refuse(24)).toEqual([]);
  });

  it("are not forgiven where limits are as described", () => {
    expect(rig(false).refuse(1)).toEqual(["I7"]);
  });

  it.each([
    "weight of 600 a minute from",
    "5 requests a second from",
    "second 37.42",
    "answer before",
    "slow by 500 ppm",
  ])("are few: %s", async (words) => {
    // Of its own, because the bounds are for this load.
    const strategies = [
      joinBest({ notional: "200", keepWithin: "80", most: 2 }),
      ladder({ levels: 10, notional: "200", step: "0.0004" }),
      averageCross({ fast: 8, slow: 21, qty: "0.02" }),
    ];
    const config = checkConfig({ ...shipped, strategies });
    const story = {
      config,
      tape: marketOf(config)("q1", 8),
      seed: "q1",
      minutes: 8,
      faults: [faultOf(words)],
      plugins: false,
    };
    const { violations, refused } = await runScenario(story);
    expect(violations).toEqual([]);
    expect(refused).toBeLessThanOrEqual(words.includes("600") ? 5 : 0);
    if (words.includes("600")) expect(refused).toBeGreaterThan(0);
  });
});
