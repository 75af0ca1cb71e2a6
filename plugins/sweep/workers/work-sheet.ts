/**
 * Work on many machines: the sheet with everything that all jobs of one sweep or simulation share.
 *
 * The submitter puts a sheet into Redis, and jobs into a queue of BullMQ named after it (queue-submitter.ts); workers
 * that can run the sheet take them (queue-worker.ts), and store results next to it (queue-store.ts).
 *
 * Invariants: a sheet holds no code and no secret: the worker runs its own files, and only if their fingerprint is that
 * of the sheet; equal sheets have equal names, so that submitting one twice has the effect of submitting it once; a
 * worker checks everything it reads, because others wrote it.
 * Not here: its use by a sweep (sweep-work.ts) or a simulation (`sluice/plugins/simulate`).
 */
import { createHash } from "node:crypto";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { SluiceError } from "sluice";
import { packageVersion, parseHuman } from "sluice/extension";

/** The config as files: its place below the working folder, and its fingerprints. */
interface SheetConfig {
  readonly path: string;
  /** Hash of the file and those it imports; compared before any of it runs. */
  readonly sources: string;
  /** Hash of the sources and of the resulting values. */
  readonly hash: string;
}

/** A recorded market: reports call it by its name, workers find it by its hash. */
interface SheetFixture {
  readonly name: string;
  readonly contentHash: string;
}

export interface WorkSheet {
  /** Name of the kind of work in a manifest: `sweep`. */
  readonly kind: string;
  /** Version of Sluice. */
  readonly version: string;
  readonly config: SheetConfig;
  readonly fixture?: SheetFixture;
  /** Other settings that the results depend on; plain data. */
  readonly settings: Readonly<Record<string, unknown>>;
}

const hash = { type: "string", pattern: "^[0-9a-f]{64}$" };
const text = { type: "string", maxLength: 4_096 };
const strict = { type: "object", additionalProperties: false };

const sheetSchema = {
  ...strict,
  required: ["kind", "version", "config", "settings"],
  properties: {
    kind: { type: "string", pattern: "^[a-z][a-z-]{0,40}$" },
    version: text,
    config: { ...strict, required: ["path", "sources", "hash"], properties: { path: text, sources: hash, hash } },
    fixture: { ...strict, required: ["name", "contentHash"], properties: { name: text, contentHash: hash } },
    settings: { type: "object" },
  },
};

/** Throws where the text is no sheet. */
export const readSheet = (json: string): WorkSheet =>
  parseHuman<WorkSheet>(sheetSchema, JSON.parse(json), "the sheet", "USAGE");

/** Returns the name of a sheet, which its queue and its stored data share. */
export const nameOfSheet = (sheet: WorkSheet): string =>
  createHash("sha256").update(JSON.stringify(sheet)).digest("hex").slice(0, 32);

/** Refuses settings that JSON does not carry, such as functions. */
export const checkPlain = (settings: WorkSheet["settings"]): void => {
  if (isDeepStrictEqual(JSON.parse(JSON.stringify(settings)), settings)) return;
  const [name] = Object.entries(settings).find(
    ([, value]) => !isDeepStrictEqual(JSON.parse(JSON.stringify([value])), [value]),
  ) ?? [""];
  throw new SluiceError(
    "USAGE",
    `--workers: ${name} is not plain data and cannot be sent. Write it in the config instead.`,
  );
};

/** The place of a config as workers look for it: below their own working folder. */
export const placeBelow = (path: string): string => {
  const place = relative(process.cwd(), resolve(path));
  if (place === "" || isAbsolute(place) || place.split(sep)[0] === "..")
    throw new SluiceError(
      "USAGE",
      `--workers: ${path} lies outside the working folder. Workers look for the config at the same place below theirs: go to the project's folder.`,
    );
  return place.split(sep).join("/");
};

/** Returns the reason for which this program must not run the sheet; undefined where versions agree. */
export const refusalOfVersion = ({ version }: WorkSheet): string | undefined =>
  version === packageVersion()
    ? undefined
    : `it is asked for by Sluice ${version}, and this worker is ${packageVersion()}: results of versions may differ. Install the same version`;
