/** What engines of a group leave together, in numbers worked out by hand. */
import { describe, expect, it } from "vitest";
import { GroupReserve } from "../../../plugins/shared-quota/group-reserve.ts";
import type { DivisionFacts } from "../../../src/scheduler/quota/division.ts";
import type { FixedWindow } from "../../../src/scheduler/quota/fixed-window.ts";
import { defaultReserve } from "../../../src/scheduler/quota/reserve.ts";
import { minute } from "../../support/harness/allowance.ts";

/** Half of the group, which asks for an exit in ten seconds and has nothing at rest. */
const reserveOf = (exitsPerMs: number): GroupReserve => {
  const facts = {
    policy: { ...defaultReserve, exitWeight: 10, confidence: 3, probeUnits: 2 },
    openOrders: () => 0,
    exitRate: () => exitsPerMs,
  };
  return new GroupReserve({ spec: minute, scope: "u" } as FixedWindow, facts as unknown as DivisionFacts, 0.5);
};

describe("The reserve of a group", () => {
  it("is one for all exits, four deviations more than are expected, less what each keeps for its first", () => {
    // Before the store has told of others they are taken to be like this one: nine exits in 45 s, which deviate by three.
    expect(reserveOf(1 / 10_000).leave(45_000, 0)).toBe(10 * (1 + 9 + 4 * 3) - 10 + 2);
  });

  it("counts what the store told of all of them", () => {
    const reserve = reserveOf(1 / 10_000);
    const sums = { openOrders: 0, exitsPerHour: 1_280, members: 4 };
    reserve.hear(1, { ...sums, ordinary: 0, exits: 0, free: 0, foreign: 0, astrayMs: 0 }, 0);
    // Sixteen in 45 s.
    expect(reserve.leave(45_000, 0)).toBe(10 * (1 + 16 + 4 * 4) - 4 * 10 + 2);
  });

  it("leaves an engine's own exits with the deviations that one engine leaves", () => {
    expect(reserveOf(1 / 5_000).own(1_000, 45_000, 0)).toBe(10 * (1 + 9 + 3 * 3));
  });
});
