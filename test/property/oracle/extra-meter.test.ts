/** The service's own meter with layers besides the three: what they count, whom, and how long a ban lasts. */
import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { ExtraLayer, ProfileOverrides } from "../../../src/contract/profile.ts";
import { RateLimiter } from "../../../src/venue/rate-limiter.ts";

const noon = 1_767_600_000_000;
const plain: ExtraLayer = {
  name: "extra",
  scope: "uid",
  unit: "requests",
  capacity: 2,
  windowMs: 10_000,
  anchor: "wall_clock",
  banMs: 0,
};
const caller = { ip: "home", key: "k", uid: "u" };

const meterOf = (given: Partial<ExtraLayer>, limits: ProfileOverrides["limits"] = {}) => {
  const meter = new RateLimiter(createContract({ limits: { ...limits, extraLayers: [{ ...plain, ...given }] } }), true);
  return {
    meter,
    call: (at: number, { endpoint = "getOrder", elements = 1, weight = 5, who = caller } = {}): boolean =>
      meter.arrive(who.ip, who, weight, noon + at, { endpoint, elements }) &&
      meter.spend(who, weight, noon + at, { endpoint, elements }),
  };
};

describe("The oracle meter's added layer", () => {
  it("counts each user, key or address by itself", () => {
    const users = meterOf({});
    expect([0, 1, 2].map((at) => users.call(at))).toEqual([true, true, false]);
    expect(users.call(3, { who: { ip: "home", key: "other", uid: "other" } })).toBe(true);
    const addresses = meterOf({ scope: "ip" });
    expect([0, 1].map((at) => addresses.call(at))).toEqual([true, true]);
    expect(addresses.call(3, { who: { ip: "home", key: "other", uid: "other" } })).toBe(false);
    expect(addresses.meter.report().refused).toEqual({ ip: 1, key: 0, uid: 0 });
  });

  it("counts only the endpoints it names", () => {
    const { call } = meterOf({ endpoints: ["cancelBatch"], capacity: 1 });
    expect([0, 1, 2].map((at) => call(at))).toEqual([true, true, true]);
    expect(call(3, { endpoint: "cancelBatch" })).toBe(true);
    expect(call(4, { endpoint: "cancelBatch" })).toBe(false);
  });

  it("counts weight or elements where it says so", () => {
    const weighed = meterOf({ unit: "weight", capacity: 20 });
    expect([15, 10, 5].map((weight) => weighed.call(0, { weight }))).toEqual([true, false, true]);
    const batches = meterOf({ unit: "elements", capacity: 20 });
    expect([15, 10, 5].map((elements) => batches.call(0, { elements }))).toEqual([true, false, true]);
  });

  it("begins its windows where its anchor says", () => {
    const told = (anchor: ExtraLayer["anchor"]): boolean[] => {
      const { call } = meterOf({ anchor });
      return [6_000, 9_000, 10_500, 16_500, 17_000].map((at) => call(at));
    };
    expect(told("wall_clock")).toEqual([true, true, true, true, false]);
    expect(told("first_request")).toEqual([true, true, false, true, true]);
    expect(told("sliding")).toEqual([true, true, false, true, false]);
  });

  it("that bans is shut beyond the end of the window", () => {
    const { call } = meterOf({ banMs: 5_000 });
    expect([0, 1, 2].map((at) => call(at))).toEqual([true, true, false]);
    expect([14_999, 15_000].map((at) => call(at))).toEqual([false, true]);
  });

  it("charges refused calls as the profile says", () => {
    const used = (refusedCounts: "ip" | "all" | "none"): number[] => {
      const { meter, call } = meterOf({}, { refusedCounts });
      for (const at of [0, 1, 2]) call(at);
      return [meter.layers.ip.at("home", noon + 2).used, meter.layers.uid.at("u", noon + 2).used];
    };
    expect(used("ip")).toEqual([3, 10]);
    expect(used("all")).toEqual([3, 15]);
    expect(used("none")).toEqual([2, 10]);
  });

  it("takes a failed call's charge back", () => {
    const { meter, call } = meterOf({ unit: "elements", capacity: 20 });
    expect(call(0, { elements: 20 })).toBe(true);
    meter.forgive(caller, 5, noon, { endpoint: "getOrder", elements: 20 });
    expect(call(1, { elements: 20 })).toBe(true);
  });

  it("is not counted where limits are off", () => {
    const meter = new RateLimiter(createContract({ limits: { extraLayers: [plain] } }), false);
    expect([0, 1, 2].map((at) => meter.spend(caller, 5, noon + at))).toEqual([true, true, true]);
  });
});
