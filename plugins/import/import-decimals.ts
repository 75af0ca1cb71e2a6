/**
 * Decimal texts of a recording as whole counts of one step, which is found while reading unless it was given.
 *
 * Invariants: exact integers throughout; the step found divides every value read (their greatest common divisor); a
 * value that needs more than 2^53 is refused at its line, never rounded.
 */
import { div, SluiceError } from "sluice";
import { grid } from "sluice/extension";
import { type Growing, growing, held, makeRoom } from "./import-columns.ts";

/**
 * `count` divided by ten to the `places`. A count of 2^53 or more has lost digits and is refused where it is stored.
 */
export interface Parsed {
  readonly count: number;
  readonly places: number;
}

/** Decimals in turn, each as its count and its places. */
export type Parts = ArrayLike<number>;

/** A column of decimals, kept as counts of the step that its pool finds. */
export interface DecimalColumn {
  /** In the pool's present unit, for comparing rows of one pool with each other. */
  readonly values: Readonly<ArrayLike<number>>;
  push(value: Parsed, line: number): void;
  /** Adds a value, given by its two parts. */
  add(count: number, places: number, line: number): void;
  /** Adds the values that begin at `from` and every `step` after it. */
  addEvery(parts: Parts, from: number, step: number, line: number): void;
  /** Counts of the pool's step; ask when everything has been read. */
  counts(): Float64Array;
}

/** Values that share a step: all prices of an instrument, or all its quantities. */
export interface DecimalPool {
  column(): DecimalColumn;
  /** The step given or found, as decimal text; "1" when every value was zero. */
  step(): string;
}

interface DecimalPoolOptions {
  /** File and name of the values, for messages. */
  readonly file: string;
  readonly name: "tick size" | "lot size";
  /** Given by the user; values that are not multiples of it are refused. */
  readonly step?: string | undefined;
}

export const importInvalid = (file: string, line: number, problem: string): SluiceError =>
  new SluiceError("IMPORT_INVALID", `${file}:${line}: ${problem}`);

export const contractsUnknown = (subject: string): string =>
  `quantities of ${subject} count contracts. Give the base currency of one contract: --contract-size 0.01 (1 where the file counts base currency).`;

/**
 * Reads plain digits with an optional fraction. Signs, exponents, hex and empty text are refused by line, field and
 * value.
 */
export const parseDecimal = (text: unknown, file: string, line: number, field: string): Parsed => {
  const parsed = typeof text === "string" ? scan(text) : undefined;
  if (parsed !== undefined) return parsed;
  throw importInvalid(
    file,
    line,
    `"${field}" is ${JSON.stringify(text) ?? "missing"}; expected a decimal of plain digits that is not negative.`,
  );
};

/** The digits without the zeros that end a fraction, which many venues print and which would only waste precision. */
const scan = (text: string): Parsed | undefined => {
  const point = text.indexOf(".");
  let end = text.length;
  if (end === 0 || point === 0 || point === end - 1) return undefined;
  if (point > 0) while (text.charCodeAt(end - 1) === 48) end--;
  let count = 0;
  for (let index = 0; index < end; index++) {
    if (index === point) continue;
    const digit = text.charCodeAt(index) - 48;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    count = count * 10 + digit;
  }
  return { count, places: point < 0 || end <= point + 1 ? 0 : end - point - 1 };
};

/** Looked up, because a power costs more than all the rest. */
const tens = Array.from({ length: 16 }, (_, power) => 10 ** power);

/** Columns of decimals that share a step, such as all prices of an instrument: given, or the finest that is read. */
export const createDecimalPool = ({ file, name, step }: DecimalPoolOptions): DecimalPool => {
  const columns: Growing<Float64Array>[] = [];
  const given = step === undefined ? undefined : grid(step);
  let places = given?.places ?? 0;
  let unit = given === undefined ? 0 : Number(given.step.replace(".", ""));
  const refine = (to: number, line: number): void => {
    const factor = 10 ** (to - places);
    for (const { values, length } of columns) {
      for (let index = 0; index < length; index++) values[index] = whole((values[index] as number) * factor, line, to);
    }
    unit = whole(unit * factor, line, to);
    places = to;
  };
  /** `to` is the number of places that the value is counted in. */
  const whole = (value: number, line: number, to = places): number => {
    if (Number.isSafeInteger(value)) return value;
    throw importInvalid(
      file,
      line,
      `the values need a ${name} of 10^-${to} and one of them is then beyond 2^53. Are the digits of all of them meant? Round them in the file.`,
    );
  };
  const settle = (value: number, line: number): void => {
    if (given === undefined) unit = commonDivisor(unit, value);
    else if (value % unit !== 0) throw notMultiple(spelled(value), line);
  };
  const notMultiple = (value: string, line: number): SluiceError =>
    importInvalid(file, line, `${value} is not a multiple of the ${name} ${given?.step ?? ""}.`);
  const spelled = (value: number): string => decimalOf(value, places);
  /** The value in the present unit, which it may refine. */
  const taken = (count: number, fraction: number, line: number): number => {
    if (fraction > places) {
      if (given !== undefined) throw notMultiple(decimalOf(count, fraction), line);
      refine(fraction, line);
    }
    const value = whole(
      fraction === places ? count : count * (tens[places - fraction] ?? 10 ** (places - fraction)),
      line,
    );
    // Every value is a multiple of one.
    if (unit !== 1) settle(value, line);
    return value;
  };
  return {
    column: () => {
      const column = growing(Float64Array);
      columns.push(column);
      const add: DecimalColumn["add"] = (count, fraction, line) => {
        makeRoom(column, 1);
        column.values[column.length] = taken(count, fraction, line);
        column.length++;
      };
      return {
        get values() {
          return column.values;
        },
        add,
        addEvery: (parts, from, step, line) => {
          makeRoom(column, parts.length / step);
          for (let at = from; at < parts.length; at += step) {
            column.values[column.length] = taken(parts[at] as number, parts[at + 1] as number, line);
            // One by one: a refinement reaches the rows that are counted.
            column.length++;
          }
        },
        push: ({ count, places: fraction }, line) => {
          add(count, fraction, line);
        },
        counts: () => {
          const divisor = unit === 0 ? 1 : unit;
          const counts = held(column);
          if (divisor !== 1)
            for (let row = 0; row < counts.length; row++) counts[row] = (counts[row] as number) / divisor;
          return counts;
        },
      };
    },
    step: () => given?.step ?? (unit === 0 ? "1" : spelled(unit)),
  };
};

/** `count` divided by ten to the `places`, as text. */
export const decimalOf = (count: number, places: number): string =>
  div(String(count), `1${"0".repeat(places)}`, places);

/** The greatest common divisor of two counts; the other one where one is 0. */
const commonDivisor = (a: number, b: number): number => {
  let divisor = b;
  for (let rest = a; rest !== 0; ) {
    const next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  return divisor;
};
