/** Why orders came to nothing. */
import { describe, expect, it } from "vitest";
import { createReasons } from "../../src/backtest/turned-down.ts";
import type { Event } from "../../src/journal/events.ts";

const refused = (reason: string): Event => ({ seq: 1, at: 0, type: "order.refused", strategy: "a", slot: "s", reason });
const changed = (phase: "rejected" | "filled", reason: string): Event => ({
  seq: 1,
  at: 0,
  type: "order.changed",
  strategy: "a",
  slot: "s",
  clOrdId: "x",
  phase,
  record: undefined,
  reason,
});

describe("reasons", () => {
  it("are counted by who gave them, commonest first, and equal ones by their text", () => {
    const reasons = createReasons();
    for (const event of [
      refused("too small"),
      changed("rejected", "b"),
      changed("rejected", "a"),
      refused("too small"),
      changed("filled", "c"),
    ]) {
      reasons.onEvent(event);
    }
    expect(reasons.list()).toEqual([
      { count: 2, by: "engine", reason: "too small" },
      { count: 1, by: "service", reason: "a" },
      { count: 1, by: "service", reason: "b" },
    ]);
  });

  it("are bounded, however many there are", () => {
    const reasons = createReasons();
    for (let i = 0; i < 5_000; i++) reasons.onEvent(refused(`reason ${i}`));
    expect(reasons.list()).toHaveLength(8);
    expect(reasons.list(10_000)).toHaveLength(1_000);
  });
});
