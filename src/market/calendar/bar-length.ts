/**
 * Lengths of bars that can be asked for: whole milliseconds, and none that is a number of seconds or minutes by
 * mistake.
 *
 * Invariants: the refusal of a length names the number to write instead.
 */
import { SluiceError } from "../../errors.ts";

const secondMs = 1_000;
/** Bars shorter than this hold next to no trades: such a number counts seconds or minutes. */
const shortestMs = 100;
/** Usual bars in seconds: 1 min to 15 min, 30 min, and hours to a week. */
const seconds = [
  60, 120, 180, 240, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 28_800, 43_200, 86_400, 604_800,
];

export const checkBarLength = (barMs: number): void => {
  if (!Number.isSafeInteger(barMs) || barMs <= 0) {
    throw invalid(`${barMs} is not a bar length; give whole milliseconds, such as 60000 for a minute.`);
  }
  if (barMs >= shortestMs && !seconds.includes(barMs)) return;
  const meant = `for bars of ${barMs} seconds write ${barMs * secondMs}`;
  throw invalid(`a bar length is in milliseconds, and ${barMs} would be ${barMs} ms; ${meant}.`);
};

const invalid = (problem: string): SluiceError => new SluiceError("CONFIG_INVALID", `candles: ${problem}`);
