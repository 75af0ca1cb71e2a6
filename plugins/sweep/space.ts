/**
 * Search space of a sweep: the options that vary, and their values.
 *
 * Invariants: every value of every option, and every chosen combination, is accepted by its strategy before anything
 * runs; an unknown name is reported together with the nearest known one.
 * Not here: the choice of points (sampling.ts), the spelling of values (option-values.ts).
 */

import { isSluiceError, SluiceError, type Strategy } from "sluice";
import { type CheckedConfig, didYouMean, parseHuman } from "sluice/extension";
import { distinct, kindOf, readValues, type ValueKind } from "./option-values.ts";

/** One option of one strategy, and the values it takes. */
interface Dimension {
  /** Name as it was written: `ladder.levels`. */
  readonly name: string;
  readonly strategy: string;
  readonly option: string;
  readonly values: readonly unknown[];
  /** The values are numbers, so that neighbours are alike. */
  readonly ordered: boolean;
}

export type Space = readonly Dimension[];

/** An option to vary, with text in the grammar of option-values.ts, or the values themselves. */
export interface Variation {
  readonly name: string;
  readonly values: string | readonly unknown[];
  /** Place where the variation was written, for messages. */
  readonly place: string;
}

/** Options by strategy name. */
export type Overrides = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Parses `ladder.levels=1..5`, the form of the command line. */
export const readVariation = (text: string): Variation => {
  const at = text.indexOf("=");
  if (at > 0) return { name: text.slice(0, at).trim(), values: text.slice(at + 1), place: `--vary '${text}'` };
  throw new SluiceError("USAGE", `--vary '${text}': no "=" in it. Write --vary 'ladder.levels=1..5'.`);
};

/** Reads the `sweep` export of a config file: values by option, as text or as an array. */
export const variationsIn = (exported: unknown, file: string): readonly Variation[] => {
  if (exported === undefined) return [];
  const place = `${file}: export const sweep`;
  const remedy = 'Write export const sweep = { "ladder.levels": "1..5", "ladder.step": ["0.001", "0.002"] };';
  if (typeof exported !== "object" || exported === null || Array.isArray(exported)) {
    throw new SluiceError("CONFIG_INVALID", `${place} is not an object. ${remedy}`);
  }
  return Object.entries(exported).map(([name, values]: [string, unknown]) => {
    if (typeof values === "string" || (Array.isArray(values) && values.length > 0))
      return { name, values, place: `${place} "${name}"` };
    throw new SluiceError("CONFIG_INVALID", `${place} "${name}" is neither text nor an array of values. ${remedy}`);
  });
};

export const spaceOf = (strategies: readonly Strategy[], variations: readonly Variation[]): Space => {
  if (variations.length === 0) throw nothingVaries(strategies);
  const space = variations.map((variation) => dimensionOf(strategies, variation));
  const names = space.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new SluiceError("USAGE", `${twice} is varied twice. Write all its values in one list.`);
  return space;
};

/** Returns the number of points in the space. */
export const sizeOf = (space: Space): number => space.reduce((product, { values }) => product * values.length, 1);

/** The options of one point, which is one index of a value for each dimension. */
export const overridesOf = (space: Space, point: readonly number[]): Overrides => {
  const overrides: Record<string, Record<string, unknown>> = {};
  for (const [index, { strategy, option, values }] of space.entries()) {
    const own = overrides[strategy] ?? {};
    own[option] = values[point[index] ?? 0];
    overrides[strategy] = own;
  }
  return overrides;
};

/** `ladder.levels=3 ladder.step=0.001`: the name of a point wherever people meet it. */
export const nameOf = (space: Space, point: readonly number[]): string =>
  space.map(({ name, values }, index) => `${name}=${spelled(values[point[index] ?? 0])}`).join(" ");

/** A dash where there is no value yet, such as that of a choice before all trainings are done. */
export const spelled = (value: unknown): string =>
  typeof value === "string" ? value : ((JSON.stringify(value) as string | undefined) ?? "-");

/** The config with other options; throws what its strategies have against them. */
export const varied = <C extends Pick<CheckedConfig, "strategies">>(config: C, overrides: Overrides): C => ({
  ...config,
  strategies: config.strategies.map((strategy) => {
    const changes = overrides[strategy.name];
    return changes === undefined ? strategy : renewable(strategy).with(changes);
  }),
});

const renewable = (strategy: Strategy): Strategy & Required<Pick<Strategy, "with" | "schema">> => {
  const { with: renew, schema } = strategy;
  if (renew !== undefined && schema !== undefined) return { ...strategy, with: renew, schema };
  throw new SluiceError(
    "CONFIG_INVALID",
    `strategy "${strategy.name}" cannot take other options. Make it with defineStrategy({ name, options, … }).`,
  );
};

const dimensionOf = (strategies: readonly Strategy[], { name, values, place }: Variation): Dimension => {
  const dot = name.lastIndexOf(".");
  if (dot < 1) {
    throw new SluiceError(
      "USAGE",
      `${place}: "${name}" names no strategy and option. Write --vary '${suggestedName(strategies, name)}=${typeof values === "string" ? values : "VALUES"}'.`,
    );
  }
  const [owner, option] = [name.slice(0, dot), name.slice(dot + 1)];
  const strategy = strategies.find((one) => one.name === owner);
  if (strategy === undefined) {
    const known = strategies.map((one) => one.name);
    throw new SluiceError(
      "USAGE",
      `${place}: no strategy is named "${owner}"; there is ${known.join(", ")}.${didYouMean(owner, known)}`,
    );
  }
  const schemas = propertiesOf(strategy);
  if (schemas[option] === undefined) {
    const known = Object.keys(schemas);
    const there = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
    throw new SluiceError(
      "USAGE",
      `${place}: strategy "${owner}" has no option "${option}"; ${there}.${didYouMean(option, known)}`,
    );
  }
  const kind = kindOf(schemas[option]);
  const read = typeof values === "string" ? readValues(values, kind, place) : distinct(values);
  checkEach(strategy, option, read, place);
  return { name, strategy: owner, option, values: read, ordered: isRanged({ kind }) };
};

/** Checks each value separately, so that a message names it; combinations are checked where points are chosen. */
const checkEach = (strategy: Strategy, option: string, values: readonly unknown[], place: string): void => {
  const schema = { type: "object", properties: { [option]: propertiesOf(strategy)[option] } };
  for (const value of values) {
    try {
      parseHuman(schema, { [option]: value }, `options of strategy "${strategy.name}"`);
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      throw new SluiceError(
        "USAGE",
        `${place}: ${strategy.name} does not take ${option}=${spelled(value)}:`,
        error.issues,
      );
    }
  }
};

const propertiesOf = (strategy: Strategy): Readonly<Record<string, unknown>> =>
  (renewable(strategy).schema as { readonly properties?: Readonly<Record<string, unknown>> }).properties ?? {};

const optionsIn = (strategies: readonly Strategy[]) =>
  strategies.flatMap((strategy) =>
    strategy.schema === undefined
      ? []
      : Object.entries(propertiesOf(strategy)).map(([option, schema]) => ({
          name: `${strategy.name}.${option}`,
          option,
          kind: kindOf(schema),
        })),
  );

const isRanged = ({ kind }: { readonly kind: ValueKind }): boolean =>
  kind === "whole" || kind === "number" || kind === "decimal";

/**
 * Returns the name of an option to suggest: the one called `option` of any strategy, else the first that can be varied
 * over a range.
 */
const suggestedName = (strategies: readonly Strategy[], option?: string): string => {
  const known = optionsIn(strategies);
  const found = known.find((one) => one.option === option) ?? known.find(isRanged) ?? known[0];
  return found?.name ?? "STRATEGY.OPTION";
};

const nothingVaries = (strategies: readonly Strategy[]): SluiceError => {
  const names = optionsIn(strategies).map(({ name }) => name);
  const there = names.length === 0 ? "The strategies of this config have no options." : `There is ${names.join(", ")}.`;
  return new SluiceError(
    "USAGE",
    `Nothing is varied. Write --vary '${suggestedName(strategies)}=VALUES', such as 1..5 or 0.001,0.002. ${there}`,
  );
};
