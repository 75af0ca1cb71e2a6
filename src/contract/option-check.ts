/**
 * Options that a program or a command line gives to a function: their names, kinds and bounds.
 *
 * Invariants: all problems are reported at once, with the nearest right name; a number out of its bounds is reported in
 * the same words to a program and on the command line.
 * Not here: texts of a command line (cli/option-values.ts), options of strategies (host/define.ts).
 */
import { SluiceError } from "../errors.ts";
import { parseHuman } from "./validate.ts";

/** Whole numbers that an option takes, both ends included. */
export interface Whole {
  readonly least: number;
  readonly most: number;
  /** Kind of the values, as in "whole milliseconds". */
  readonly what?: string;
}

/**
 * Rules for the options of a function: which must be given, which are whole numbers, and JSON Schemas of the others.
 */
export interface OptionRules {
  readonly required?: readonly string[];
  readonly wholes?: Readonly<Record<string, Whole>>;
  /** JSON Schemas of the others; `{}` for callbacks and signals. */
  readonly others?: Readonly<Record<string, object>>;
}

/** Bounds of a seed that is a number. */
export const seedBounds = { least: 0, most: Number.MAX_SAFE_INTEGER } as const satisfies Whole;

/** Remedy: the values that are permitted. */
export const wholeRemedy = ({ least, most, what = "a whole number" }: Whole): string =>
  `Write ${what} from ${least} to ${most}.`;

/**
 * Checks the options of a function.
 *
 * @param root - name of the function
 * @param rules - what may and must be given
 * @param given - the options
 * @throws USAGE with all that is wrong
 */
export const checkOptions = (
  root: string,
  { required = [], wholes = {}, others = {} }: OptionRules,
  given: object,
): void => {
  const properties = { ...Object.fromEntries(Object.keys(wholes).map((name) => [name, {}])), ...others };
  parseHuman({ type: "object", additionalProperties: false, required, properties }, given, root, "USAGE");
  const issues = Object.entries(wholes).flatMap(([name, bounds]) => {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    const fits = Number.isSafeInteger(value) && (value as number) >= bounds.least && (value as number) <= bounds.most;
    return value === undefined || fits
      ? []
      : [`${root}.${name}: ${JSON.stringify(value)} is invalid. ${wholeRemedy(bounds)}`];
  });
  if (issues.length > 0) throw new SluiceError("USAGE", `${root} is not valid:`, issues);
};
