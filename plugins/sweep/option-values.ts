/**
 * The values an option is to take, as people write them: `1..5`, `1..9/2`, `0.001..0.1/log9`, `0.001,0.002`,
 * `["a","b,c"]`.
 *
 * Invariants: steps are exact decimals, so `0.1..0.3/0.1` ends with 0.3; parsed values have the type of the option's
 * schema; no value comes twice; a range is bounded before it is counted out.
 * Not here: whether the option allows a value (its strategy checks that), the options (space.ts).
 */
import { add, compare, isDecimal, isPositive, SluiceError } from "sluice";
import { plain } from "sluice/extension";

/** Kind of an option's values, from its schema; defines their spelling. */
export type ValueKind = "whole" | "number" | "decimal" | "text" | "truth" | "json";

export const kindOf = (schema: unknown): ValueKind => {
  const { type, format } = (schema ?? {}) as { readonly type?: unknown; readonly format?: unknown };
  if (type === "integer") return "whole";
  if (type === "number") return "number";
  if (type === "boolean") return "truth";
  if (type === "string") return format === "decimal" ? "decimal" : "text";
  return "json";
};

const valuesMax = 10_000;

/** The values in the order in which they were written. `place` begins every complaint. */
export const readValues = (text: string, kind: ValueKind, place: string): readonly unknown[] => {
  const trimmed = text.trim();
  if (trimmed === "") throw wrong(place, "no value is given", examples[kind]);
  const values = trimmed.startsWith("[")
    ? listOf(trimmed, place)
    : trimmed.split(",").flatMap((part) => partOf(part.trim(), kind, place));
  return distinct(values);
};

export const distinct = (values: readonly unknown[]): readonly unknown[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];

const examples: Readonly<Record<ValueKind, string>> = {
  whole: "Write whole numbers such as 1..5, 1..9/2 or 1,3,8.",
  number: "Write numbers such as 0.5,1,2 or 0.1..0.5/0.1.",
  decimal: "Write decimals such as 0.0005,0.001 or 0.001..0.005/0.001.",
  text: 'Write words such as a,b; words with a comma as ["a","b,c"].',
  truth: "Write true,false.",
  json: 'Write the values as a JSON array, such as [1,"a"].',
};

const wrong = (place: string, problem: string, remedy: string): SluiceError =>
  new SluiceError("USAGE", `${place}: ${problem}. ${remedy}`);

const listOf = (text: string, place: string): readonly unknown[] => {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch (error) {
    throw wrong(place, `${text} is not a JSON array (${(error as Error).message})`, examples.json);
  }
  if (Array.isArray(values) && values.length > 0) return values;
  throw wrong(place, `${text} holds no values`, examples.json);
};

const range = /^(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)(?:\/(-?\d+(?:\.\d+)?|log\d+))?$/;

const partOf = (part: string, kind: ValueKind, place: string): readonly unknown[] => {
  if (kind === "text") return [part];
  if (kind === "json") throw wrong(place, `"${part}" is not a JSON array`, examples.json);
  const match = kind === "truth" ? null : range.exec(part);
  if (match === null) return [readValue(part, kind, place)];
  const [, from = "", to = "", step] = match;
  if (step?.startsWith("log") === true)
    return byRatio(part, from, to, Number(step.slice(3)), kind, place).map((value) => readValue(value, kind, place));
  return counted(from, to, stepOf(part, from, to, step, place), place).map((value) => readValue(value, kind, place));
};

const readValue = (text: string, kind: ValueKind, place: string): unknown => {
  if (kind === "truth" && /^(true|false)$/.test(text)) return text === "true";
  if (kind === "whole" && /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  if (kind === "number" && isDecimal(text)) return Number(text);
  if (kind === "decimal" && isDecimal(text)) return text;
  throw wrong(place, `"${text}" is not ${asked[kind]}`, examples[kind]);
};

const asked: Readonly<Record<ValueKind, string>> = {
  whole: "a whole number",
  number: "a number",
  decimal: "a decimal",
  text: "a word",
  truth: "true or false",
  json: "a JSON value",
};

const whole = /^-?\d+$/;

const stepOf = (part: string, from: string, to: string, step: string | undefined, place: string): string => {
  if (![from, to, step ?? "1"].every(isDecimal))
    throw wrong(place, `"${part}" has too many digits`, "Write at most 40.");
  if (compare(from, to) > 0) throw wrong(place, `"${part}" falls`, `Write it upwards: ${to}..${from}.`);
  if (step === undefined) {
    if (whole.test(from) && whole.test(to)) return "1";
    throw wrong(place, `"${part}" names no step`, `Write ${part}/STEP, such as ${part}/0.1.`);
  }
  if (isPositive(step)) return step;
  throw wrong(place, `"${part}" has a step that does not rise`, "Write one above 0.");
};

/** `count` values in equal ratios, between the ends rounded to three digits, or to whole numbers. */
const byRatio = (
  part: string,
  from: string,
  to: string,
  count: number,
  kind: ValueKind,
  place: string,
): readonly string[] => {
  const [low, high] = [Number(from), Number(to)];
  if (!(low > 0 && high > low))
    throw wrong(place, `"${part}" does not rise from above 0`, "Ratios need that, such as 0.001..0.1/log9.");
  if (count < 2 || count > valuesMax)
    throw wrong(place, `"${part}" asks for ${count} values`, `Write a number from 2 to ${valuesMax}.`);
  return Array.from({ length: count }, (_, index) => {
    if (index === 0 || index === count - 1) return plain(index === 0 ? from : to);
    const value = low * (high / low) ** (index / (count - 1));
    return kind === "whole" ? String(Math.round(value)) : plain(value.toPrecision(3));
  });
};

const counted = (from: string, to: string, step: string, place: string): readonly string[] => {
  const values: string[] = [];
  for (let value = plain(from); compare(value, to) <= 0; value = add(value, step)) {
    if (values.length === valuesMax)
      throw wrong(place, `${from}..${to}/${step} has more than ${valuesMax} values`, "Take a larger step.");
    values.push(value);
  }
  return values;
};
