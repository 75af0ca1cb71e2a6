/**
 * Values of command-line options: numbers within bounds, lengths of time, and names.
 *
 * Invariants: a text that is no such number is wrong usage, and the message states what to write.
 */
import { InvalidArgumentError } from "commander";
import { seedBounds, type Whole, wholeRemedy } from "../contract/option-check.ts";

type Read = (text: string) => number;

/**
 * Reads the value of an option as a whole number within bounds; for commander.
 *
 * @param bounds - smallest and greatest value
 * @returns a reader for commander
 */
export const wholeIn =
  (bounds: Whole): Read =>
  (text) => {
    const value = Number(text);
    if (/^\d{1,16}$/.test(text) && value >= bounds.least && value <= bounds.most) return value;
    throw new InvalidArgumentError(wholeRemedy(bounds));
  };

/**
 * `what` names the values, as in "Write a port from 0 to 65535."
 *
 * @param least - smallest value
 * @param most - greatest value
 * @param what - names the values, as in "Write a port from 0 to 65535."
 * @returns a reader for commander
 */
export const wholeFrom = (least: number, most: number, what?: string): Read =>
  wholeIn({ least, most, ...(what !== undefined && { what }) });

/** Reads the value of an option as a seed. */
export const seedOf = wholeIn(seedBounds);

const secondsMax = 366 * 86_400;

/**
 * Duration of a command in seconds, for commander.
 *
 * @param text - value of the option
 * @returns seconds
 */
export const secondsOf: Read = (text) => {
  const seconds = Number(text);
  if (/^\d+(\.\d{1,3})?$/.test(text) && seconds > 0 && seconds <= secondsMax) return seconds;
  throw new InvalidArgumentError(`Write a number of seconds above 0 and up to ${secondsMax}, such as 90 or 0.5.`);
};

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * A length of time such as 90s, 15m, 1h or 30d, for commander.
 *
 * @param text - value of the option
 * @returns milliseconds
 */
export const durationOf: Read = (text) => {
  const [, digits = "", unit = ""] = /^([1-9]\d{0,4})([smhd])$/.exec(text) ?? [];
  if (digits !== "") return Number(digits) * unitMs[unit as keyof typeof unitMs];
  throw new InvalidArgumentError("Write a whole number and a unit, such as 90s, 15m, 1h or 30d.");
};

/**
 * Names with commas between them, for commander.
 *
 * @param text - value of an option
 * @returns the names
 */
export const namesOf = (text: string): readonly string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
