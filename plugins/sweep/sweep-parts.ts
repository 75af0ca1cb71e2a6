/**
 * Parts of a sweep that run separately, such as one on each machine, and the assignment of runs to parts.
 *
 * Invariants: every run belongs to one part, independent of the contents of the others, so that parts need no
 * communication; with folds a part has whole folds, because a test depends on all trainings of its fold; a sweep that
 * cannot be divided in this way is refused.
 * Not here: putting parts together (merged-parts.ts).
 */
import { SluiceError } from "sluice";
import type { Choice } from "./sampling.ts";

/** `{ index: 3, of: 8 }` is the third of eight; the first has the index 1. */
export interface SweepPart {
  readonly index: number;
  readonly of: number;
}

const partsMax = 100_000;

const remedy =
  "Parts are counted from 1: write 1/8 to 8/8. From an index that begins at 0, such as JOB_COMPLETION_INDEX of Kubernetes, " +
  "make one that begins at 1: $((JOB_COMPLETION_INDEX + 1))/8.";

/** Parses `3/8`, the form of the command line; the error message contains the correct form. */
export const readPart = (text: string): SweepPart => {
  const [, index = 0, of = 0] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  const part = { index, of };
  checkPart(part);
  return part;
};

export const checkPart = ({ index, of }: SweepPart): void => {
  const fits = Number.isSafeInteger(index) && Number.isSafeInteger(of) && index >= 1 && index <= of && of <= partsMax;
  if (!fits) throw new SluiceError("USAGE", `--part: there is no such part. ${remedy}`);
};

export const spellPart = ({ index, of }: SweepPart): string => `${index}/${of}`;

interface Divided {
  readonly trials: number;
  readonly windows: readonly unknown[];
  readonly choice: Choice;
}

/** Throws `USAGE` if the sweep cannot be divided, or not into this number of parts. */
export const checkDivision = ({ trials, windows, choice }: Divided, { of }: SweepPart): void => {
  if (windows.length === 0 && choice.batch !== undefined)
    throw new SluiceError(
      "USAGE",
      "--part: with --sampler tpe or --prune a batch depends on the results before it, so that parts cannot run apart. " +
        "Add --folds N, which gives each part folds of its own, or leave --sampler tpe and --prune out.",
    );
  const [units, what] = windows.length === 0 ? [trials, "points"] : [windows.length, "folds"];
  if (of > units)
    throw new SluiceError(
      "USAGE",
      `--part: ${units} ${what} cannot be divided into ${of} parts. Take ${units} parts or fewer.`,
    );
};

/** The part to which a run belongs, by the run's index. */
export const partOfRun = (
  { trials, windows }: Pick<Divided, "trials" | "windows">,
  run: number,
  of: number,
): number => {
  if (windows.length === 0) return 1 + (run % of);
  const trainings = windows.length * trials;
  return 1 + ((run < trainings ? Math.floor(run / trials) : run - trainings) % of);
};

/** Returns the number of things in a part, when `all` things are dealt out in turn. */
export const countInPart = (all: number, { index, of }: SweepPart): number => Math.floor((all - index + of) / of);
