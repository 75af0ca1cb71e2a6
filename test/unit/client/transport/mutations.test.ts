/**
 * Damaged answers by the thousand: nothing throws, nothing that is not a record is accepted. The long run is
 * test/bench/wire/mutate.ts.
 */
import { describe, expect, it } from "vitest";
import type { EndpointName } from "../../../../src/contract/endpoints.ts";
import { createRandom } from "../../../../src/random.ts";
import { swap } from "../../../support/harness/transport.ts";
import { orderText } from "./body-faults.ts";
import { readDamaged, wrongWith } from "./mutations.ts";

describe("A damaged answer", () => {
  it("never throws, and is accepted only in what is left whole", () => {
    const { kinds, records, wrong } = readDamaged(20_000, createRandom("damaged answers"), () => 0);
    expect(wrong.slice(0, 5)).toEqual([]);
    // Every kind of ending was met, or the damage would prove little.
    for (const kind of ["done", "rejected", "unknown", "limited"]) expect(kinds[kind]).toBeGreaterThan(500);
    expect(records).toBeGreaterThan(3_000);
  });
});

describe("The second opinion on records", () => {
  const order = JSON.parse(orderText()) as Record<string, unknown>;
  it.each<[EndpointName, unknown, string | undefined]>([
    ["getOrder", order, undefined],
    ["getOrder", { ...order, px: 1 }, "has px of 1"],
    ["getOrder", { ...order, extra: "" }, 'has extra of ""'],
    ["getOrder", { ...order, sz: "1e5" }, 'has sz of "1e5"'],
    ["positions", { instId: swap, pos: "1" }, "lacks avgPx"],
    ["positions", [], "not a plain object"],
  ])("%s %j: %s", (endpoint, record, problem) => {
    expect(wrongWith(endpoint, record)).toBe(problem);
  });
});
