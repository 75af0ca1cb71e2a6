/**
 * Contents of a fixture's manifest, as a schema and as a quick check.
 *
 * Invariants: what the quick check takes the schema takes, too; file names stay inside the folder.
 * Not here: reading one (fixture-manifest.ts).
 */
import { readInstId } from "../../contract/inst-id.ts";
import { isDecimal } from "../../decimal.ts";
import { columnNames, type SeriesKind, type TapeInstrument } from "./tape.ts";

export const manifestFormat = "sluice-fixture/1";

export interface FixtureSeries {
  readonly file: string;
  readonly kind: SeriesKind;
  readonly instId: string;
  /** Candles only. */
  readonly barMs?: number;
  /**
   * Name of the grid of bars that are not all equally long, such as `month` or `86400000@-25200000@America/New_York`.
   */
  readonly bars?: string;
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256 of the file on disk. */
  readonly sha256: string;
  /** SHA-256 of the rows before compression. */
  readonly content: string;
  /** `at` and the columns of the kind, for people who read the file with something else. */
  readonly columns: readonly string[];
}

/** Something the import noticed, and how often. */
export interface FixtureNote {
  readonly what: string;
  readonly count: number;
}

/** Time that messages took from the exchange to the recorder, where a recording contains it. */
export interface FixtureFeed {
  /** Smallest lag of the recorder's clock behind the exchange's. */
  readonly clockBehindMs: number;
  /** Quantiles from the shortest to the longest, in equal steps. */
  readonly delaysMs: readonly number[];
}

/** The file `manifest.json` of a fixture: where its data came from, its instruments, series, times and hash. */
export interface FixtureManifest {
  readonly format: typeof manifestFormat;
  /** Origin of the data, in words. */
  readonly source: string;
  readonly instruments: readonly TapeInstrument[];
  readonly series: readonly FixtureSeries[];
  readonly rows: number;
  readonly startAt: string;
  readonly endAt: string;
  readonly startAtMs: number;
  readonly endAtMs: number;
  readonly notes: readonly FixtureNote[];
  readonly contentHash: string;
  readonly feed?: FixtureFeed;
}

const count = { type: "integer", minimum: 0 } as const;
const text = { type: "string" } as const;
/** No way out of the folder. */
const filePattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$";
const barsPattern = "^(month|[1-9][0-9]*)(@-?[0-9]+@[A-Za-z0-9_+/-]+)?$";
const hash = { type: "string", pattern: "^[0-9a-f]{64}$" } as const;

const objectOf = (required: Readonly<Record<string, object>>, optional: Readonly<Record<string, object>> = {}) => ({
  type: "object",
  required: Object.keys(required),
  additionalProperties: false,
  properties: { ...required, ...optional },
});

const instrumentSchema = objectOf({
  instId: { type: "string", format: "inst-id" },
  tickSize: { type: "string", format: "decimal" },
  lotSize: { type: "string", format: "decimal" },
});

const seriesSchema = objectOf(
  {
    file: { type: "string", pattern: filePattern },
    kind: { enum: Object.keys(columnNames) },
    instId: { type: "string", format: "inst-id" },
    rows: count,
    bytes: count,
    sha256: hash,
    content: hash,
    columns: { type: "array", items: text },
  },
  { barMs: { type: "integer", minimum: 1 }, bars: { type: "string", pattern: barsPattern } },
);

const delay = { type: "number", minimum: 0 } as const;

export const manifestSchema = objectOf(
  {
    format: { const: manifestFormat },
    source: text,
    instruments: { type: "array", items: instrumentSchema },
    series: { type: "array", items: seriesSchema },
    rows: count,
    startAt: text,
    endAt: text,
    startAtMs: { type: "number" },
    endAtMs: { type: "number" },
    notes: { type: "array", items: objectOf({ what: text, count }) },
    contentHash: hash,
  },
  { feed: objectOf({ clockBehindMs: delay, delaysMs: { type: "array", items: delay } }) },
);

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isDelay: Check = (value) => Number.isFinite(value) && (value as number) >= 0;
const matches =
  (pattern: string): Check =>
  (value) =>
    typeof value === "string" && new RegExp(pattern, "u").test(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
/** Object with all of `required`, and no other key than those of both. */
const shaped =
  (required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check =>
  (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const checks = new Map(Object.entries({ ...optional, ...required }));
    return (
      Object.keys(required).every((name) => Object.hasOwn(value, name)) &&
      Object.entries(value).every(([name, one]) => checks.get(name)?.(one) === true)
    );
  };

const isInstId: Check = (value) => readInstId(value) !== undefined;
const isHash = matches(hash.pattern);
const isSeries = shaped(
  {
    file: matches(filePattern),
    kind: (value) => typeof value === "string" && Object.hasOwn(columnNames, value),
    instId: isInstId,
    rows: isCount,
    bytes: isCount,
    sha256: isHash,
    content: isHash,
    columns: listOf(isText),
  },
  { barMs: (value) => isCount(value) && value !== 0, bars: matches(barsPattern) },
);

/**
 * A quick check of a manifest: compiling the schema takes longer than reading a million rows.
 * Any other value is left to the schema, whose message gives the reason.
 */
export const isPlainManifest = shaped(
  {
    format: (value) => value === manifestFormat,
    source: isText,
    instruments: listOf(shaped({ instId: isInstId, tickSize: isDecimal, lotSize: isDecimal })),
    series: listOf(isSeries),
    rows: isCount,
    startAt: isText,
    endAt: isText,
    startAtMs: Number.isFinite,
    endAtMs: Number.isFinite,
    notes: listOf(shaped({ what: isText, count: isCount })),
    contentHash: isHash,
  },
  { feed: shaped({ clockBehindMs: isDelay, delaysMs: listOf(isDelay) }) },
) as (value: unknown) => value is FixtureManifest;
