/**
 * Volumes of candles as whole lots. They are sums, often of binary floats, so unlike prices they may be brought down to a step.
 *
 * Invariants: never rounded up; how many were brought down is said; a step that was found keeps every count below 10^13, which
 * leaves room for adding bars up.
 */
import { grid } from "../../decimal.ts";
import { commonDivisor, decimalOf, importInvalid, type Parsed, parseDecimal } from "./import-decimals.ts";

export interface Volumes {
  readonly lotSize: string;
  readonly counts: Float64Array;
  /** How many lay between two lots. */
  readonly rounded: number;
}

export interface ParsedVolume extends Parsed {
  readonly line: number;
  /** Whether digits that no count below 2^53 can hold were left off. */
  readonly cut: boolean;
}

const foundLimit = 1e13;

export const parseVolume = (text: string, file: string, line: number): ParsedVolume => {
  const whole = parseDecimal(text, file, line, "volume");
  if (Number.isSafeInteger(whole.count)) return { ...whole, line, cut: false };
  // A binary float printed in full has more digits than mean anything, such as 218102.59507500002.
  for (let end = text.length - 1; end > text.indexOf(".") + 1; end--) {
    const shorter = parseDecimal(text.slice(0, end), file, line, "volume");
    if (text.includes(".") && Number.isSafeInteger(shorter.count)) return { ...shorter, line, cut: true };
  }
  throw importInvalid(file, line, `"volume" is ${text}, which is too large.`);
};

export const volumesOf = (volumes: readonly ParsedVolume[], lotSize: string | undefined, file: string): Volumes => {
  const given = lotSize === undefined ? undefined : grid(lotSize);
  const places = given?.places ?? placesFor(volumes);
  const scaled = Float64Array.from(volumes, (volume) => scaledTo(places, volume, file));
  const exact = volumes.every((volume) => isExact(places, volume));
  // What was brought down shares no step worth finding.
  const found = exact ? scaled.reduce(commonDivisor, 0) : 1;
  const unit = given === undefined ? Math.max(1, found) : Number(given.step.replace(".", ""));
  return {
    lotSize: given?.step ?? decimalOf(unit, places),
    counts: scaled.map((value) => (value - (value % unit)) / unit),
    rounded: volumes.filter((volume, index) => (scaled[index] as number) % unit !== 0 || !isExact(places, volume)).length,
  };
};

const isExact = (places: number, { count, places: own, cut }: ParsedVolume): boolean =>
  !cut && (own <= places || count % 10 ** (own - places) === 0);

/** As many places as the volumes have, but not more than keep the largest below the limit. */
const placesFor = (volumes: readonly ParsedVolume[]): number => {
  const largest = volumes.reduce((most, { count, places }) => Math.max(most, count / 10 ** places), 0);
  let places = volumes.reduce((most, volume) => Math.max(most, volume.places), 0);
  while (places > 0 && largest * 10 ** places >= foundLimit) places--;
  return places;
};

/** Divided by way of the remainder: the quotient of two large doubles could come out one too high. */
const scaledTo = (places: number, { count, places: own, line }: ParsedVolume, file: string): number => {
  const divisor = 10 ** Math.max(0, own - places);
  const value = ((count - (count % divisor)) / divisor) * 10 ** Math.max(0, places - own);
  if (Number.isSafeInteger(value)) return value;
  throw importInvalid(file, line, `the volume is beyond 2^53 lots. Give a coarser --lot-size.`);
};
