/**
 * A generated market as a fixture, as programs and `sluice generate` ask for it.
 *
 * Invariants: the same options give the same contentHash everywhere; the manifest's source repeats the command that
 * makes it.
 * Not here: how prices move (generate.ts).
 */
import { checkOptions, type OptionRules } from "../../contract/option-check.ts";
import { SluiceError } from "../../errors.ts";
import { checkWritable, type WriteOptions, type WrittenFixture, writeFixture } from "./fixture.ts";
import { defaultStartAt, generateTape, instrumentFor } from "./generate.ts";

/** Options of `generateMarket`: those of the command `generate`. */
export interface GenerateMarketOptions extends WriteOptions {
  /** Folder of the new fixture. */
  readonly out: string;
  /** Such as `BTC-USDT-SWAP`. */
  readonly instruments: readonly string[];
  /** Seed of the random numbers; the same seed gives the same market. Default "1". */
  readonly seed?: string;
  /** Length of the market, default 60. */
  readonly minutes?: number;
  /** Changes of the best prices, on average; default 120. */
  readonly quotesPerMinute?: number;
  /** First instant, ISO 8601 in UTC; default 2024-01-01. */
  readonly start?: string;
  /** Minutes made, of how many, over all instruments. */
  readonly onProgress?: (done: number, all: number) => void;
}

export const lengthBounds = { least: 0, most: 999_999_999 };

const text = { type: "string" };
const rules: OptionRules = {
  required: ["out", "instruments"],
  wholes: { minutes: lengthBounds, quotesPerMinute: lengthBounds },
  others: {
    out: text,
    instruments: { type: "array", items: text },
    seed: text,
    start: text,
    force: { type: "boolean" },
    onProgress: {},
  },
};

export const generateDefaults = {
  seed: "1",
  minutes: 60,
  quotesPerMinute: 120,
  start: new Date(defaultStartAt).toISOString(),
};

/**
 * Makes a synthetic market (quotes and trades) and writes it as a fixture.
 *
 * @param options - the folder, instruments, length and seed
 * @returns the folder and what was written
 * @throws USAGE or CONFIG_INVALID for wrong options, and what `writeFixture` throws
 */
export const generateMarket = async (options: GenerateMarketOptions): Promise<WrittenFixture> => {
  checkOptions("generateMarket", rules, options);
  const {
    out,
    instruments,
    seed,
    minutes,
    quotesPerMinute,
    start,
    force = false,
    onProgress,
  } = { ...generateDefaults, ...options };
  checkWritable(out, { force });
  const startAt = instantOf(start);
  const listed = instruments.map(instrumentFor);
  const tape = generateTape({
    seed,
    minutes,
    instruments: listed,
    quotesPerMinute,
    startAt,
    ...(onProgress && { onProgress }),
  });
  const command = [
    `sluice generate --out ${out} --seed ${seed} --minutes ${minutes}`,
    ...(quotesPerMinute === generateDefaults.quotesPerMinute ? [] : [`--quotes-per-minute ${quotesPerMinute}`]),
    ...(startAt === defaultStartAt ? [] : [`--start ${new Date(startAt).toISOString()}`]),
    `--instrument ${instruments.join(" ")}`,
  ].join(" ");
  return { fixture: out, ...writeFixture(out, tape, { source: `A synthetic market, made by: ${command}` }, { force }) };
};

const instantOf = (given: string): number => {
  const at = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(given) ? Date.parse(given) : Number.NaN;
  if (at >= 0) return at;
  throw new SluiceError(
    "USAGE",
    `--start: "${given}" is not an instant in UTC. Write it like 2024-01-01 or 2024-01-01T12:00:00Z.`,
  );
};
