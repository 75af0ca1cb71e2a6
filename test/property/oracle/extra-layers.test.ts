/**
 * Layers besides the three, from one profile on both sides: nothing is refused, everything leaves, and who counts batches
 * wrongly is found.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ExtraLayer } from "../../../src/contract/profile.ts";
import { eachOf, endingsOf } from "../../support/harness/ledger.ts";
import { type ExtraPlan, mostIn, type Port, playExtra } from "./extra-world.ts";
import { networkKinds } from "./network.ts";

const windows = [1_000, 2_000, 5_000, 10_000, 60_000] as const;

/** Room for at least one call of each kind; in the long run for two units a second, or a weight of five. */
const layerOf = (index: number, given: Partial<ExtraLayer> = {}): fc.Arbitrary<ExtraLayer> =>
  fc
    .record({
      scope: fc.constantFrom("ip" as const, "uid" as const, "key" as const),
      unit: fc.constantFrom("elements" as const, "elements" as const, "requests" as const, "weight" as const),
      windowMs: fc.constantFrom(...windows),
      anchor: fc.constantFrom("wall_clock" as const, "sliding" as const, "first_request" as const),
      endpoints: fc.constantFrom<(readonly string[])[]>(
        [],
        ["cancelBatch"],
        ["placeOrder"],
        ["cancelBatch", "placeOrder"],
      ),
      banMs: fc.constantFrom(0, 0, 3_000, 120_000),
      ease: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ endpoints, ease, ...rest }) => {
      const layer = { ...rest, ...given };
      const least =
        layer.unit === "weight" ? Math.max(60, layer.windowMs / 200) : Math.max(1, Math.ceil(layer.windowMs / 500));
      const capacity = given.capacity ?? Math.round(least * (1 + 5 * ease));
      return { name: `extra ${index}`, ...layer, capacity, ...(endpoints.length === 0 ? {} : { endpoints }), ...given };
    });

const planOf = (given: Partial<ExtraLayer> = {}): fc.Arbitrary<ExtraPlan> =>
  fc.record({
    seed: fc.nat(1_000_000),
    layers: fc.oneof(
      fc.tuple(layerOf(0, given)),
      fc.tuple(layerOf(0, given), layerOf(1)),
      fc.tuple(layerOf(0, given), layerOf(1), layerOf(2)),
    ),
    skewMs: fc.integer({ min: -120_000, max: 120_000 }),
    driftPpm: fc.integer({ min: -100, max: 100 }),
    phaseMs: fc.integer({ min: 0, max: 59_999 }),
    network: fc.constantFrom(...networkKinds.filter((kind) => kind !== "windows")),
  });

const faultsOf = (plan: ExtraPlan, port?: Port): string[] => {
  const { refusals, passed, waiting, left } = playExtra(plan, port);
  const over = plan.layers
    .filter((layer) => mostIn(layer, passed) > layer.capacity)
    .map(({ name }) => `${name} held more than it may`);
  return [
    ...over,
    ...(refusals.length > 0 ? [`${refusals.length} refused`] : []),
    ...(waiting + left > 0 ? [`${waiting} calls and ${left} elements never left`] : []),
  ];
};

const wrong = (plan: ExtraPlan, port: Port): boolean => faultsOf(plan, port).some((fault) => fault.includes("refused"));

/** Finds a plan in which a faulty port is refused. */
const finds = (given: Partial<ExtraLayer>, port: Port): boolean =>
  fc.check(
    fc.property(planOf(given), (plan) => !wrong(plan, port)),
    { seed: 11, numRuns: 60, endOnFailure: true },
  ).failed;

/** Spends one element, whatever the batch may carry. */
const chargesOne: Port = (ledger) => {
  return {
    ...endingsOf(ledger),
    reserve: eachOf((charge, rank, now, elements) => {
      const verdict = ledger.ask(charge, rank, now, elements);
      return verdict.granted ? { ...ledger.spend(charge, now, 1), elements: verdict.elements } : verdict;
    }),
  };
};
/** Takes leave for some as leave for all. */
const packsAll: Port = (ledger) => {
  return {
    ...endingsOf(ledger),
    reserve: eachOf((charge, rank, now, elements) => {
      const verdict = ledger.ask(charge, rank, now, elements);
      return verdict.granted ? { ...ledger.spend(charge, now, verdict.elements), elements } : verdict;
    }),
  };
};

describe("Rate-limit layers added by the profile", () => {
  it("refuse nothing of ours, hold no more than they may, and let everything through", () => {
    fc.assert(
      fc.property(planOf(), (plan) => {
        expect(faultsOf(plan)).toEqual([]);
      }),
      { seed: 3, numRuns: 120 },
    );
  });

  it("that count elements are kept to, and batches leave as large as there is room for", () => {
    const layer: ExtraLayer = {
      name: "cancelled orders",
      scope: "uid",
      unit: "elements",
      capacity: 30,
      windowMs: 2_000,
      anchor: "wall_clock",
      endpoints: ["cancelBatch"],
      banMs: 0,
    };
    const plan: ExtraPlan = { seed: 4, layers: [layer], skewMs: 300, driftPpm: 20, phaseMs: 10, network: "usual" };
    const { passed, refusals } = playExtra(plan);
    const sizes = passed.filter(({ endpoint }) => endpoint === "cancelBatch").map(({ elements }) => elements);
    expect(refusals).toEqual([]);
    expect(Math.max(...sizes)).toBe(20);
    expect(sizes).toContain(10);
    expect(mostIn(layer, passed)).toBe(30);
  });

  it("find a client that charges one element for a batch", () => {
    expect(finds({ unit: "elements", endpoints: ["cancelBatch"] }, chargesOne)).toBe(true);
  });

  it("find a client that fills a batch beyond what was granted", () => {
    expect(finds({ unit: "elements", endpoints: ["cancelBatch"] }, packsAll)).toBe(true);
  });
});
