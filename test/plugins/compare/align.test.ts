import { describe, expect, it } from "vitest";
import { pairOrders } from "../../../plugins/compare/align.ts";
import { eventsOf, type OrderStory, runOf } from "./harness/run-events.ts";

const ordersOf = (stories: readonly OrderStory[]) => runOf(eventsOf(stories)).orders ?? [];

/** `100|100` for a pair by price, a dash for nobody. */
const spelled = (a: readonly OrderStory[], b: readonly OrderStory[], shiftMs = 0): readonly string[] =>
  pairOrders(ordersOf(a), ordersOf(b), 1_000, shiftMs).map(
    (pair) => `${pair.a?.spec?.px ?? "-"}|${pair.b?.spec?.px ?? "-"}`,
  );

const at = (ms: number, px = "100", slot = "bid"): OrderStory => ({ at: ms, px, slot });

describe("Aligned orders of two runs", () => {
  it.each<readonly [string, readonly OrderStory[], readonly OrderStory[], readonly string[]]>([
    ["wanted alike are pairs", [at(0), at(5_000)], [at(100), at(4_900)], ["100|100", "100|100"]],
    ["too far apart stand alone", [at(0)], [at(1_001)], ["100|-", "-|100"]],
    ["of other slots are never a pair", [at(0, "100", "bid")], [at(0, "100", "ask")], ["100|-", "-|100"]],
    ["with another content are a pair that differs", [at(0, "100")], [at(0, "101")], ["100|101"]],
    [
      "an extra one of the first is left out",
      [at(800, "99"), at(1_000, "100")],
      [at(1_000, "100")],
      ["99|-", "100|100"],
    ],
    [
      "an extra one of the second is left out",
      [at(1_000, "100")],
      [at(800, "99"), at(1_000, "100")],
      ["-|99", "100|100"],
    ],
    [
      "what fits exactly but much later is not waited for",
      [at(1_000, "99"), at(5_000, "100")],
      [at(1_900, "100")],
      ["99|100", "100|-"],
    ],
  ])("%s", (_, a, b, expected) => {
    expect(spelled(a, b)).toEqual(expected);
  });

  it("are brought onto one scale", () => {
    expect(spelled([at(5_000)], [at(1_000)], 4_000)).toEqual(["100|100"]);
  });
});
