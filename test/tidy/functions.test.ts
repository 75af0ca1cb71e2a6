/**
 * Rules for functions and module-level state: complexity at most 15, at most 5 parameters, no state that a whole process shares.
 *
 * What exceeds a bound today is listed with its figure. A list only shrinks: a figure that has fallen is lowered, and a name that is gone
 * or within the bound is removed. Rows of a plugin whose folder was removed do not count.
 */
import { describe, expect, it } from "vitest";
import { type SourceFunction, sourceTree } from "../support/source-tree.ts";
import { complexFunctions, functionsOfManyParameters, sharedState } from "./exceptions.ts";

const complexityMax = 15;
const parametersMax = 5;

const files = sourceTree("src", "plugins", "strategies").filter(({ path }) => path.endsWith(".ts"));

/** Rows of plugins that are here, and of the core. */
const present = <Row>(rows: Readonly<Record<string, Row>>): Readonly<Record<string, Row>> =>
  Object.fromEntries(
    Object.entries(rows).filter(([name]) => {
      const plugin = /^plugins\/[\w-]+\//.exec(name)?.[0];
      return plugin === undefined || files.some(({ path }) => path.startsWith(plugin));
    }),
  );

/** The highest figure of each name in a file, where it exceeds the bound. */
const exceeding = (figureOf: (one: SourceFunction) => number, bound: number): Record<string, number> => {
  const found: Record<string, number> = {};
  for (const { path, functions } of files) {
    for (const one of functions) {
      const name = `${path} ${one.name}`;
      if (figureOf(one) > bound) found[name] = Math.max(found[name] ?? 0, figureOf(one));
    }
  }
  return found;
};

describe("Functions", () => {
  it("have a complexity of at most 15, listed exceptions aside", () => {
    expect(
      exceeding(({ complexity }) => complexity, complexityMax),
      "split a function that is not listed; lower or remove what is listed in test/tidy/exceptions.ts",
    ).toEqual(present(complexFunctions));
  });

  it("have at most 5 parameters, listed exceptions aside", () => {
    expect(
      exceeding(({ parameters }) => parameters, parametersMax),
      "pass an object; lower or remove what is listed in test/tidy/exceptions.ts",
    ).toEqual(present(functionsOfManyParameters));
  });
});

describe("Modules", () => {
  it("have no state that can change, listed exceptions aside", () => {
    const found = files.flatMap(({ path, state }) => state.map((name) => `${path} ${name}`));
    const advice = "keep it in an object that its user creates; an exported variable never changes";
    expect(
      found.filter((name) => !(name in sharedState)),
      advice,
    ).toEqual([]);
    expect(
      Object.keys(present(sharedState)).filter((name) => !found.includes(name)),
      "remove these from test/tidy/exceptions.ts",
    ).toEqual([]);
  });
});
