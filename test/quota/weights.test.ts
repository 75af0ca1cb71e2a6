/** Weights learned from the service's own count. */
import { describe, expect, it } from "vitest";
import { createContract } from "../../src/contract/contract.ts";
import { layersOf } from "../../src/quota/layers.ts";
import { createLedger } from "../../src/quota/ledger.ts";
import { createWeights } from "../../src/quota/weights.ts";

describe("learned weights", () => {
  const serial = (weights: ReturnType<typeof createWeights>, counts: readonly number[]): void => {
    for (const used of counts) {
      weights.noteSent("u");
      weights.noteUsed("u", "getOrder", used, 1, true);
    }
  };

  it("need three neighbouring differences and take the least, since others can only add", () => {
    const weights = createWeights();
    serial(weights, [100, 107, 114]);
    expect(weights.charged("getOrder", 5)).toBe(5);
    serial(weights, [131]);
    expect(weights.learned.get("getOrder")).toBe(7);
    expect(weights.charged("getOrder", 5)).toBe(7);
  });

  it("never make a call cheaper than it is said to be", () => {
    const weights = createWeights();
    serial(weights, [0, 2, 4, 6]);
    expect(weights.learned.get("getOrder")).toBe(2);
    expect(weights.charged("getOrder", 5)).toBe(5);
  });

  it.each([
    ["another call under way", (weights: ReturnType<typeof createWeights>) => weights.noteUsed("u", "getOrder", 20, 1, false)],
    ["a new window", (weights: ReturnType<typeof createWeights>) => weights.noteUsed("u", "getOrder", 20, 2, true)],
    [
      "two calls between the counts",
      (weights: ReturnType<typeof createWeights>) => {
        weights.noteSent("u");
        weights.noteUsed("u", "getOrder", 20, 1, true);
      },
    ],
  ])("teach nothing after %s", (_, disturb) => {
    const weights = createWeights();
    serial(weights, [0, 9, 18]);
    weights.noteSent("u");
    disturb(weights);
    serial(weights, []);
    expect(weights.learned.get("getOrder")).toBeUndefined();
  });

  it("reach the ledger: a heavier call than stated is charged as heavy as it is", () => {
    const noon = 1_767_600_000_000;
    const ledger = createLedger({
      layers: layersOf(createContract()),
      startedAt: noon,
      quietMs: 0,
      clock: { dateSlackMs: 0, driftPpm: 0 },
    });
    const charge = { endpoint: "getOrder", weight: 5, elements: 1, ip: "home", uid: "u", key: "k" } as const;
    ledger.clock.observeDate(noon + 400, noon + 400, noon - 600);
    ledger.clock.observeDate(noon + 400, noon + 400, noon + 400);
    for (let call = 1; call <= 4; call++) {
      const at = noon + 1_000 * call;
      const ticket = ledger.spend(charge, at);
      const headers = { date: new Date(at).toUTCString(), "x-ratelimit-uid-weight-used": String(8 * call) };
      ledger.settle(ticket, { status: 200, headers }, at + 10);
    }
    expect(ledger.learned.get("getOrder")).toBe(8);
    const used = (): number => ledger.state(noon + 6_000).find(({ layer }) => layer === "uid")?.used ?? -1;
    const before = used();
    ledger.spend(charge, noon + 6_000);
    expect(used() - before).toBe(8);
  });
});
