/**
 * Work on many machines: the sheet that tells workers what all jobs of one sweep or simulation share.
 *
 * Who submits puts a sheet into Redis, and jobs into a queue of BullMQ named after it (queue-submitter.ts); workers
 * that can do what the sheet says take them (queue-worker.ts), and leave results beside it (queue-store.ts).
 *
 * Invariants: a sheet holds no code and no secret: what runs is the worker's own files, and only where their
 * fingerprint is the sheet's; equal sheets have equal names, so that asking twice is asking once; what a worker reads
 * was written by others and is checked.
 * Not here: what a sweep (sweep-work.ts) or a simulation (`sluice/plugins/simulate`) does with it.
 */
import { createHash } from "node:crypto";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { SluiceError } from "sluice";
import { packageVersion, parseHuman } from "sluice/extension";

/** The config as files: its place below the working folder, and its fingerprints. */
interface SheetConfig {
  readonly path: string;
  /** Of the file and those it imports; compared before any of it runs. */
  readonly sources: string;
  /** Of these and of the values they came to. */
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
  /** Of Sluice. */
  readonly version: string;
  readonly config: SheetConfig;
  readonly fixture?: SheetFixture;
  /** What else the results depend on; plain data. */
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

/** The name of a sheet, of its queue, and of what is kept beside it. */
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

/** Why this program must not do what the sheet says; undefined where versions agree. */
export const refusalOfVersion = ({ version }: WorkSheet): string | undefined =>
  version === packageVersion()
    ? undefined
    : `it is asked for by Sluice ${version}, and this worker is ${packageVersion()}: results of versions may differ. Install the same version`;
