/**
 * Volumes of candles as whole lots. They are sums, often of binary floats, so unlike prices they may be rounded down to
 * a step.
 *
 * Invariants: never rounded up; the number of rounded volumes is reported; the lot size is not inferred from volumes:
 * it is given, or a power of ten that keeps every count below 10^13, which leaves room for adding bars up.
 */
import { grid } from "sluice/extension";
import { append, growing } from "./import-columns.ts";
import { decimalOf, importInvalid, type Parsed, parseDecimal } from "./import-decimals.ts";

interface Volumes {
  readonly lotSize: string;
  readonly counts: Float64Array;
  /** Number of volumes that lay between two lots. */
  readonly rounded: number;
}

interface ParsedVolume extends Parsed {
  /** True if digits beyond the range of a count below 2^53 were left off. */
  readonly cut: boolean;
}

export interface VolumeColumn {
  /** `unit` is what one of the volume is in base currency. */
  push(text: string, file: string, line: number, unit?: Parsed): void;
  /** All of them in lots of one size; ask when everything has been read. */
  volumes(lotSize: string | undefined, file: string): Volumes;
}

const foundLimit = 1e13;
/** Finest lot that is assumed: 10^-8. Below the limit, so that files of larger volumes can be added. */
const assumedPlaces = 8;
const assumedLimit = 1e11;

export const volumeColumn = (): VolumeColumn => {
  const [counts, lines] = [growing(Float64Array), growing(Float64Array)];
  const [places, cuts] = [growing(Uint8Array), growing(Uint8Array)];
  const valueAt = (row: number): ParsedVolume => ({
    count: counts.values[row] as number,
    places: places.values[row] as number,
    cut: cuts.values[row] === 1,
  });
  return {
    push: (text, file, line, unit) => {
      const volume = parseVolume(text, file, line);
      const count = volume.count * (unit?.count ?? 1);
      if (!Number.isSafeInteger(count)) throw importInvalid(file, line, `"volume" is ${text}, which is too large.`);
      append(counts, count);
      append(places, volume.places + (unit?.places ?? 0));
      append(cuts, volume.cut ? 1 : 0);
      append(lines, line);
    },
    volumes: (lotSize, file) => {
      const given = lotSize === undefined ? undefined : grid(lotSize);
      const to = given?.places ?? placesFor(counts.length, valueAt);
      const scaled = new Float64Array(counts.length);
      const isRounded = new Uint8Array(counts.length);
      for (let row = 0; row < scaled.length; row++) {
        const value = valueAt(row);
        scaled[row] = scaledTo(to, value, file, lines.values[row] as number);
        isRounded[row] = isExact(to, value) ? 0 : 1;
      }
      const step = given === undefined ? 1 : Number(given.step.replace(".", ""));
      const rounded = isRounded.reduce(
        (total, flag, row) => total + (flag === 1 || (scaled[row] as number) % step !== 0 ? 1 : 0),
        0,
      );
      return {
        lotSize: given?.step ?? decimalOf(step, to),
        counts: scaled.map((value) => (value - (value % step)) / step),
        rounded,
      };
    },
  };
};

/** Returns volumes of recorded bars in lots that are not inferred from them. `step` is the unit of `counts`. */
export const inAssumedLots = (counts: Float64Array, step: string): Pick<Volumes, "lotSize" | "counts"> => {
  const { places, step: text } = grid(step);
  const unit = Number(text.replace(".", ""));
  const largest = counts.reduce((most, count) => Math.max(most, count * unit), 0) / 10 ** places;
  const finer = withRoom(places, largest);
  return { lotSize: decimalOf(1, finer), counts: counts.map((count) => count * unit * 10 ** (finer - places)) };
};

const parseVolume = (text: string, file: string, line: number): ParsedVolume => {
  const whole = parseDecimal(text, file, line, "volume");
  if (Number.isSafeInteger(whole.count)) return { ...whole, cut: false };
  // A binary float printed in full has more digits than mean anything, such as 218102.59507500002.
  for (let end = text.length - 1; end > text.indexOf(".") + 1; end--) {
    const shorter = parseDecimal(text.slice(0, end), file, line, "volume");
    if (text.includes(".") && Number.isSafeInteger(shorter.count)) return { ...shorter, cut: true };
  }
  throw importInvalid(file, line, `"volume" is ${text}, which is too large.`);
};

const isExact = (places: number, { count, places: own, cut }: ParsedVolume): boolean =>
  !cut && (own <= places || count % 10 ** (own - places) === 0);

/**
 * Returns the number of places: those of the volumes, but not more than keep the largest below the limit. If there is
 * room it is greater, because sums of many trades are no evidence of the smallest one.
 */
const placesFor = (rows: number, valueAt: (row: number) => ParsedVolume): number => {
  let [largest, places] = [0, 0];
  for (let row = 0; row < rows; row++) {
    const value = valueAt(row);
    largest = Math.max(largest, value.count / 10 ** value.places);
    places = Math.max(places, value.places);
  }
  while (places > 0 && largest * 10 ** places >= foundLimit) places--;
  return withRoom(places, largest);
};

/** Returns more places as long as the largest volume stays below the limit. */
const withRoom = (places: number, largest: number): number => {
  let finer = places;
  while (finer < assumedPlaces && largest * 10 ** (finer + 1) < assumedLimit) finer++;
  return finer;
};

/** Divided by way of the remainder: the quotient of two large doubles could come out one too high. */
const scaledTo = (places: number, { count, places: own }: ParsedVolume, file: string, line: number): number => {
  const divisor = 10 ** Math.max(0, own - places);
  const value = ((count - (count % divisor)) / divisor) * 10 ** Math.max(0, places - own);
  if (Number.isSafeInteger(value)) return value;
  throw importInvalid(file, line, `the volume is beyond 2^53 lots. Give a coarser --lot-size.`);
};
