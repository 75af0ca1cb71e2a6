/** Which layers count a call, whose count each keeps, and what it counts. */
import { describe, expect, it } from "vitest";
import { createContract } from "../../../../src/contract/contract.ts";
import type { Allowances } from "../../../../src/scheduler/quota/allowance.ts";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import {
  type Charge,
  countsByProduct,
  extraOf,
  type LayerSpec,
  layersOf,
  touchedBy,
  unitsOf,
} from "../../../../src/scheduler/quota/layers.ts";
import type { LimitWindow } from "../../../../src/scheduler/quota/limit-window.ts";
import { layerStates, othersUseOf } from "../../../../src/scheduler/quota/quota-state.ts";
import { createServerClock } from "../../../../src/scheduler/quota/server-clock.ts";

const charge: Charge = { endpoint: "getOrder", weight: 5, elements: 3, ip: "home", uid: "u", key: "k" };
const layer = (given: Partial<LayerSpec>): LayerSpec => ({
  name: "some",
  scope: "ip",
  unit: "requests",
  capacity: 10,
  windowMs: 1_000,
  anchor: "wall_clock",
  banMs: 0,
  ...given,
});

describe("The layers of the service", () => {
  it("are its three, told of by these headers, and whatever the profile adds", () => {
    const extra = {
      ...layer({ name: "own", scope: "uid", unit: "elements", banMs: 300 }),
      endpoints: ["cancelBatch" as const],
    };
    expect(layersOf(createContract({ limits: { anchor: "sliding", extraLayers: [extra] } }))).toEqual([
      layer({
        name: "ip",
        capacity: 1_200,
        windowMs: 60_000,
        anchor: "sliding",
        header: { name: "x-ratelimit-ip-remaining", kind: "remaining" },
      }),
      layer({
        name: "uid",
        scope: "uid",
        unit: "weight",
        capacity: 1_200,
        windowMs: 60_000,
        anchor: "sliding",
        header: { name: "x-ratelimit-uid-weight-used", kind: "used" },
      }),
      layer({
        name: "key",
        scope: "key",
        anchor: "sliding",
        header: { name: "x-ratelimit-key-remaining", kind: "remaining" },
      }),
      extra,
    ]);
  });
});

describe("A call's charge:", () => {
  const layers = [
    layer({ name: "all of an address" }),
    layer({ name: "reads of a user", scope: "uid", endpoints: ["getOrder", "pendingOrders"] }),
    layer({ name: "cancels of an address", endpoints: ["cancelBatch"] }),
    layer({ name: "all of a key", scope: "key" }),
  ];
  const touched = (given: Partial<Charge>): string[] =>
    touchedBy(layers, { ...charge, ...given }).map(({ spec, scope }) => `${spec.name} ${scope}`);

  it.each<[string, Partial<Charge>, readonly string[]]>([
    ["signed", {}, ["all of an address home", "reads of a user u", "all of a key k"]],
    [
      "of another endpoint",
      { endpoint: "cancelBatch" },
      ["all of an address home", "cancels of an address home", "all of a key k"],
    ],
    ["unsigned", { uid: undefined, key: undefined }, ["all of an address home"]],
    ["of a user by no key", { key: undefined }, ["all of an address home", "reads of a user u"]],
  ])("%s is counted by those whose scope and endpoints it has", (_, given, names) => {
    expect(touched(given)).toEqual(names);
  });

  it.each<[string, Partial<Charge>, readonly string[]]>([
    ["about a product", { instId: "BTC-USDT" }, ["own u BTC-USDT"]],
    ["about no product", {}, ["own u"]],
    ["unsigned", { uid: undefined, instId: "BTC-USDT" }, []],
  ])("%s is counted by a layer of products for its user and product", (_, given, names) => {
    const products = [layer({ name: "own", scope: "instrument" })];
    expect(touchedBy(products, { ...charge, ...given }).map(({ spec, scope }) => `${spec.name} ${scope}`)).toEqual(
      names,
    );
  });

  it.each<[string, LayerSpec, boolean]>([
    ["a layer of products", layer({ scope: "instrument" }), true],
    ["one that counts this endpoint", layer({ scope: "instrument", endpoints: ["getOrder"] }), true],
    ["one that counts another endpoint", layer({ scope: "instrument", endpoints: ["cancelBatch"] }), false],
    ["a layer of users", layer({ scope: "uid", endpoints: ["getOrder"] }), false],
  ])("where there is %s, is counted by product: %#", (_, spec, counted) => {
    expect(countsByProduct([layer({}), spec], "getOrder")).toBe(counted);
  });

  it.each<[LayerSpec["unit"], number | undefined, number]>([
    ["requests", undefined, 1],
    ["requests", 2, 1],
    ["weight", undefined, 7],
    ["weight", 0, 7],
    ["weight", 2, 15],
    ["elements", undefined, 4],
    ["elements", 2, 4],
  ])("of four elements, by %s at %s each, counts %i", (unit, elementWeight, units) => {
    const batch = elementWeight === undefined ? charge : { ...charge, elementWeight };
    expect(unitsOf(layer({ unit }), { ...batch, weight: 7 }, 4)).toBe(units);
    expect(extraOf(batch, 4)).toBe(4 * (elementWeight ?? 0));
  });
});

describe("How the quota stands", () => {
  it("is a row for each scope, and others' use is part of what is used", () => {
    const clock = createServerClock({ driftPpm: 0, dateSlackMs: 0 });
    clock.observeDate(5_000, 5_000, 5_000);
    clock.observeDate(5_999, 5_999, 5_000);
    // The service is at most one millisecond ahead.
    const spec = layer({ name: "key", scope: "key", capacity: 10 });
    const one = new FixedWindow(spec, "k", clock);
    one.end(one.begin(3, 6_100), 6_100, 6_110, 5, true);
    one.begin(1, 6_120);
    const full = new FixedWindow(spec, "other", clock);
    full.begin(12, 6_100);
    const asked: unknown[] = [];
    const allowances: Pick<Allowances, "reserved"> = {
      reserved: (gauge, at, endAt) => {
        asked.push([gauge.scope, at, endAt]);
        return 4;
      },
    };
    const row = { layer: "key", capacity: 10, reserved: 4, windowEndsAt: 7_000, mode: "measured" };
    expect(layerStates(new Set([one, full]), allowances, 6_200)).toEqual([
      { ...row, scope: "k", used: 6, free: 4, foreign: 2 },
      { ...row, scope: "other", used: 12, free: 0, foreign: 0 },
    ]);
    expect(asked).toEqual([
      ["k", 6_200, 7_000],
      ["other", 6_200, 7_000],
    ]);
  });

  it("is one row for each window that others use, and the same empty list where none do", () => {
    const windowOf = (scope: string, foreign: number) =>
      ({
        spec: layer({ name: "uid" }),
        scope,
        capacity: 10,
        foreign: () => foreign,
        windowEndsAt: (at: number) => at + 500,
      }) as unknown as LimitWindow;
    const row = { layer: "uid", capacity: 10, windowEndsAt: 700 };
    expect(othersUseOf([windowOf("a", 3), windowOf("b", 0), windowOf("c", 1)], 200)).toEqual([
      { ...row, scope: "a", foreign: 3 },
      { ...row, scope: "c", foreign: 1 },
    ]);
    expect(othersUseOf([windowOf("b", 0)], 200)).toBe(othersUseOf([], 200));
  });
});
