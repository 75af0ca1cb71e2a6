/** A route is opened once for a charge, found again, and opened anew when routes are forgotten. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { createChargeCache, type Route } from "../../../../src/scheduler/quota/charge-cache.ts";
import type { Charge } from "../../../../src/scheduler/quota/layers.ts";
import { createProbeState } from "../../../../src/scheduler/quota/probe-state.ts";

const chargeOf = (weight: number): Charge => ({ endpoint: "getOrder", weight, elements: 1, ip: "home", uid: "u", key: "k" });

const stage = () => {
  const opened: Charge[] = [];
  const routes = createChargeCache((charge): Route => {
    opened.push(charge);
    const measures = { emergency: [], exit: [], ordinary: [] };
    return { windows: [], measures, standing: createProbeState(0), last: undefined, lastEpoch: 0 };
  });
  return { opened, routes };
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe("Cached charges", () => {
  it("are opened once for each charge, however many there are", () => {
    const { opened, routes } = stage();
    const charges = Array.from({ length: 20 }, (_, index) => chargeOf(index));
    const first = charges.map((charge) => routes.of(charge));
    expect(new Set(first).size).toBe(20);
    for (const index of [19, 0, 3, 3, 18, 0, 1, 2, 3, 4, 5, 6, 7, 19]) expect(routes.of(charges[index] as Charge)).toBe(first[index]);
    expect(opened).toEqual(charges);
  });

  it("belong to the charge itself, not to one that is equal", () => {
    const { routes } = stage();
    expect(routes.of(chargeOf(1))).not.toBe(routes.of(chargeOf(1)));
  });

  it("forgotten, are opened anew: those used lately and those used long ago", () => {
    const { opened, routes } = stage();
    const charges = Array.from({ length: 9 }, (_, index) => chargeOf(index));
    const before = charges.map((charge) => routes.of(charge));
    routes.forget();
    const after = charges.map((charge) => routes.of(charge));
    expect(after.some((route, index) => route === before[index])).toBe(false);
    expect(opened).toHaveLength(18);
  });

  it("of the last six charges are at hand; that of the one before has to be looked up", () => {
    const { routes } = stage();
    const charges = Array.from({ length: 7 }, (_, index) => chargeOf(index));
    for (const charge of charges) routes.of(charge);
    const lookUp = vi.spyOn(WeakMap.prototype, "get");
    // The tools of the tests look things up as well.
    const lookedUp = (): number => lookUp.mock.calls.filter(([key]) => charges.includes(key as Charge)).length;
    for (const charge of charges.slice(1)) routes.of(charge);
    expect(lookedUp()).toBe(0);
    routes.of(charges[0] as Charge);
    expect(lookedUp()).toBe(1);
    // Which put the next oldest out of reach, and itself within.
    routes.of(charges[0] as Charge);
    routes.of(charges[2] as Charge);
    expect(lookedUp()).toBe(1);
    routes.of(charges[1] as Charge);
    expect(lookedUp()).toBe(2);
  });
});
