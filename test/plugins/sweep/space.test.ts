import { NEVER } from "rxjs";
import { describe, expect, it } from "vitest";
import { type Choice, choose, type Point } from "../../../plugins/sweep/sampling.ts";
import {
  nameOf,
  overridesOf,
  readVariation,
  type Space,
  sizeOf,
  spaceOf,
  variationsIn,
  varied,
} from "../../../plugins/sweep/space.ts";
import { defineStrategy } from "../../../src/index.ts";

const maker = defineStrategy({
  name: "maker",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      levels: { type: "integer", minimum: 1, maximum: 20, default: 3 },
      step: { type: "string", format: "decimal", default: "0.001" },
      mode: { type: "string", enum: ["calm", "wild"], default: "calm" },
      most: { type: "integer" },
    },
    // Wild ones stay small.
    not: {
      type: "object",
      required: ["mode", "levels"],
      properties: { mode: { type: "string", const: "wild" }, levels: { type: "integer", minimum: 3 } },
    },
  } as const,
  wanted: () => NEVER,
});
const strategies = [maker({}), maker({ levels: 5 }, { as: "maker v1.1" })];

const space = (...texts: readonly string[]): Space => spaceOf(strategies, texts.map(readVariation));

describe("A sweep's option space", () => {
  it("holds the values of each option under the strategy's own name, dots and blanks included", () => {
    expect(space("maker.levels=1..3", "maker v1.1.step=0.1,0.2")).toEqual([
      { name: "maker.levels", strategy: "maker", option: "levels", values: [1, 2, 3], ordered: true },
      { name: "maker v1.1.step", strategy: "maker v1.1", option: "step", values: ["0.1", "0.2"], ordered: true },
    ]);
  });

  it.each([
    [
      "an unknown strategy",
      ["makr.levels=1"],
      'no strategy is named "makr"; there is maker, maker v1.1. Did you mean "maker"?',
    ],
    [
      "an unknown option",
      ["maker.level=1"],
      'strategy "maker" has no option "level"; it has levels, step, mode, most. Did you mean "levels"?',
    ],
    [
      "an option without its strategy",
      ["step=0.1"],
      `"step" names no strategy and option. Write --vary 'maker.step=0.1'.`,
    ],
    ["a word that is no option", ["speed=1"], `"speed" names no strategy and option. Write --vary 'maker.levels=1'.`],
    [
      "a value out of bounds",
      ["maker.levels=19..21"],
      'maker does not take levels=21:\n  - options of strategy "maker".levels: must be <= 20',
    ],
    ["a word that is not one of the allowed", ["maker.mode=calm,wild,clam"], 'Did you mean "calm"?'],
    [
      "an option varied twice",
      ["maker.levels=1", "maker.levels=2"],
      "maker.levels is varied twice. Write all its values in one list.",
    ],
    ["nothing", [], "Nothing is varied. Write --vary 'maker.levels=VALUES'"],
  ])("refuses %s", (_, texts, message) => {
    expect(() => space(...texts)).toThrow(message);
  });

  it("refuses text without an equals sign", () => {
    expect(() => readVariation("maker.levels")).toThrow(
      `--vary 'maker.levels': no "=" in it. Write --vary 'ladder.levels=1..5'.`,
    );
  });

  it("refuses a strategy that was not made by defineStrategy", () => {
    const bare = { kind: "strategy" as const, name: "bare", options: {}, start: () => ({}) };
    expect(() => spaceOf([bare], [readVariation("bare.x=1")])).toThrow('strategy "bare" cannot take other options.');
  });

  it("takes what a config file exports, as text or as values", () => {
    const read = variationsIn({ "maker.levels": "1..2", "maker.step": ["0.1"] }, "config.ts");
    expect(spaceOf(strategies, read).map(({ values }) => values)).toEqual([[1, 2], ["0.1"]]);
    expect(variationsIn(undefined, "config.ts")).toEqual([]);
    expect(() => variationsIn([1], "config.ts")).toThrow(
      "config.ts: export const sweep is not an object. Write export const sweep = {",
    );
    expect(() => variationsIn({ "maker.levels": 3 }, "config.ts")).toThrow(
      '"maker.levels" is neither text nor an array of values',
    );
  });

  it("gives a config whose strategies have the options of a point, and leaves the others and all else alone", () => {
    const two = space("maker.levels=1,2", "maker.step=0.5");
    const config = varied({ strategies, seed: 7 }, overridesOf(two, [1, 0]));
    expect(config.seed).toBe(7);
    expect(config.strategies.map(({ name, options }) => [name, options])).toEqual([
      ["maker", { levels: 2, step: "0.5", mode: "calm" }],
      ["maker v1.1", { levels: 5, step: "0.001", mode: "calm" }],
    ]);
    expect(strategies[0]?.options).toEqual({ levels: 3, step: "0.001", mode: "calm" });
    expect(nameOf(two, [1, 0])).toBe("maker.levels=2 maker.step=0.5");
  });

  it("refuses two values that are allowed alone and not together", () => {
    const wild = space("maker.levels=1,3", "maker.mode=calm");
    expect(() => varied({ strategies }, { maker: { ...overridesOf(wild, [1, 0])["maker"], mode: "wild" } })).toThrow(
      "must NOT be valid",
    );
  });
});

describe("Points of an option space", () => {
  const three = space("maker.levels=1..3", "maker.mode=calm", "maker.step=0.1,0.2");
  const grid: Choice = { kind: "grid" };
  const random = (count: number, seed = "1"): Choice => ({ kind: "random", count, seed });

  it("of a grid are all, the last option turning fastest", () => {
    expect(sizeOf(three)).toBe(6);
    const all = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [2, 0, 0], [2, 0, 1]]; // biome-ignore format: a table
    expect(choose(three, grid, 10)).toEqual(all);
  });

  it("by chance are distinct, and the same for the same seed", () => {
    const large = space("maker.levels=1..20", "maker.step=0.1..2/0.1");
    const drawn = choose(large, random(50), 100);
    expect(new Set(drawn.map(String)).size).toBe(50);
    expect(drawn.every(([x = -1, y = -1]) => x >= 0 && x < 20 && y >= 0 && y < 20)).toBe(true);
    expect(choose(large, random(50), 100)).toEqual(drawn);
    expect(choose(large, random(50, "2"), 100)).not.toEqual(drawn);
  });

  it("by chance reach nearly all, and all when all are asked for", () => {
    const sorted = (points: readonly Point[]): readonly string[] => points.map(String).sort();
    expect(new Set(choose(three, random(5), 10).map(String)).size).toBe(5);
    expect(sorted(choose(three, random(600), 10))).toEqual(sorted(choose(three, grid, 10)));
  });

  it("are refused beyond the bound, with their number and what to do", () => {
    expect(() => choose(three, grid, 5)).toThrow(
      "6 points (3 of maker.levels × 1 of maker.mode × 2 of maker.step) are more than --max 5. Allow them with --max 6, or draw some with --random 5.",
    );
    expect(() => choose(three, random(6), 5)).toThrow("more than --max 5");
  });
});
