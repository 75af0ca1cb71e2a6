/** Why orders came to nothing. */
import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/journal/events.ts";
import { RejectionReasons } from "../../../src/report/rejection-reasons.ts";

const refused = (reason: string): Event => ({ seq: 1, at: 0, type: "order.refused", strategy: "a", slot: "s", reason });
const changed = (phase: "rejected" | "filled", reason: string): Event => ({
  seq: 1,
  at: 0,
  type: "order.changed",
  strategy: "a",
  slot: "s",
  instId: "BTC-USDT-SWAP",
  clOrdId: "x",
  phase,
  record: undefined,
  reason,
});

describe("Rejection reasons", () => {
  it("are counted by who gave them, commonest first, and equal ones by their text", () => {
    const reasons = new RejectionReasons();
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
      {
        count: 2,
        by: "engine",
        reason: "too small",
        strategies: ["a"],
        example: { strategy: "a", slot: "s", reason: "too small" },
      },
      { count: 1, by: "service", reason: "a", strategies: ["a"], example: { strategy: "a", slot: "s", reason: "a" } },
      { count: 1, by: "service", reason: "b", strategies: ["a"], example: { strategy: "a", slot: "s", reason: "b" } },
    ]);
    expect(reasons.more()).toEqual({ reasons: 0, orders: 0 });
  });

  it.each([
    [
      "amounts",
      "the size 0.0004 is below the minimum of 0.001",
      "the size 12.5 is below the minimum of 1",
      "the size … is below the minimum of …",
    ],
    ["grouped and signed amounts", "px -1,200.5 is too low", "px 3 is too low", "px … is too low"],
    ["ids", "duplicate clOrdId s1a2b3c4d5", "duplicate clOrdId s9z8y7x6w5", "duplicate clOrdId …"],
    ["amounts after a code", "51008 needs 12.5 USDT", "51008 needs 13 USDT", "51008 needs … USDT"],
  ])("that differ in %s only are one, told with a gap and an example", (_, one, other, expected) => {
    const reasons = new RejectionReasons();
    for (const reason of [one, other, one]) reasons.onEvent(refused(reason));
    expect(reasons.list()).toEqual([
      {
        count: 3,
        by: "engine",
        reason: expected,
        strategies: ["a"],
        example: { strategy: "a", slot: "s", reason: one },
      },
    ]);
  });

  it.each([
    ["the code of the service", "51026 refused", "51008 refused"],
    ["words", "the size 1 is too small", "the price 1 is too small"],
    ["products, whose names may hold digits", "no 1INCH-USDT here", "no 2INCH-USDT here"],
  ])("that differ in %s stay apart", (_, one, other) => {
    const reasons = new RejectionReasons();
    for (const reason of [one, other]) reasons.onEvent(refused(reason));
    expect(reasons.list().map(({ reason }) => reason)).toEqual([one, other].sort());
  });

  it("name every strategy they happened to, and the first slot", () => {
    const reasons = new RejectionReasons();
    reasons.onEvent(refused("no"));
    reasons.onEvent({ ...refused("no"), strategy: "b", slot: "t" } as Event);
    expect(reasons.list()[0]).toMatchObject({ strategies: ["a", "b"], example: { strategy: "a", slot: "s" } });
  });

  it("are bounded, however many there are, and what is left out is counted", () => {
    const reasons = new RejectionReasons();
    const word = (i: number): string => Array.from(String(i), (digit) => "abcdefghij"[Number(digit)]).join("");
    for (let i = 0; i < 5_000; i++) reasons.onEvent(refused(`reason ${word(i)}`));
    expect(reasons.list()).toHaveLength(8);
    expect(reasons.list(10_000)).toHaveLength(1_000);
    expect(reasons.more()).toEqual({ reasons: 992, orders: 4_992 });
  });
});
