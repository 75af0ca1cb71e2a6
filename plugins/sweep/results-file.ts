/**
 * Results on disk, written as they arrive, so that a stopped sweep can be resumed.
 *
 * The file holds one JSON object a line: first the identity of the sweep, then one line for each result.
 *
 * Invariants: a line is written whole before the next; a last line that was cut off is taken away before anything is
 * added; results of one sweep are never continued by another, and never overwritten without being asked; the last line
 * of a run counts.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { SluiceError } from "sluice";
import type { Result } from "./sweep-report.ts";

export const resultsFormat = "sluice-sweep/3";
const fileName = "results.ndjson";

export interface ResultsFile {
  /** Finished runs of an earlier sweep, by index. Failed runs are tried again. */
  readonly kept: ReadonlyMap<number, Result>;
  append(result: Result): void;
  /** Called when all were added. */
  end(): void;
}

type Identity = Readonly<Record<string, unknown>>;

export const openResults = (dir: string, identity: Identity, resume: boolean): ResultsFile => {
  const path = join(dir, fileName);
  const header = headOf(identity);
  const kept = new Map<number, Result>();
  if (existsSync(path)) {
    if (!resume)
      throw new SluiceError("USAGE", `${path} exists. Go on with it by --resume, or name another folder with --out.`);
    for (const result of readResults(path, header)) if (result.status !== "failed") kept.set(result.index, result);
  } else {
    if (resume) throw new SluiceError("USAGE", `--resume: there is no ${path}. Leave --resume out to begin.`);
    mkdirSync(dir, { recursive: true });
    writeFileSync(path, `${JSON.stringify(header)}\n`, { flag: "wx" });
  }
  return {
    kept,
    append: (result) => {
      appendFileSync(path, `${JSON.stringify(result)}\n`);
    },
    end: () => undefined,
  };
};

/** A new file that is written at its end, so that there is none where that is not reached. */
export const collectResults = (dir: string, identity: Identity): ResultsFile => {
  const results: Result[] = [];
  return {
    kept: new Map(),
    append: (result) => results.push(result),
    end: () => {
      const file = openResults(dir, identity, false);
      for (const result of results) file.append(result);
    },
  };
};

/** Reads the results in the folder `dir` of the sweep with this identity, including failed runs; changes nothing. */
export const readSweepFile = (
  dir: string,
  identity: Identity,
): { readonly part: unknown; readonly results: ReadonlyMap<number, Result> } => {
  const path = join(dir, fileName);
  if (!existsSync(path))
    throw new SluiceError("USAGE", `--merge: there is no ${path}. Name folders that --part … --out has written.`);
  const { head, results } = linesOf(path);
  const { part, ...found } = head;
  checkSame("--merge", path, found, headOf(identity));
  return { part, results: new Map(results.map((result) => [result.index, result])) };
};

const headOf = (identity: Identity): Identity =>
  JSON.parse(JSON.stringify({ format: resultsFormat, ...identity })) as Identity;

const linesOf = (
  path: string,
): { readonly head: Identity; readonly results: readonly Result[]; readonly end: number } => {
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(10) + 1;
  const [first, ...lines] = bytes.subarray(0, end).toString("utf8").split("\n").slice(0, -1);
  const found = first === undefined ? undefined : (parsed(first, path, 1) as Identity);
  const format = String(found?.["format"]);
  if (found === undefined || format !== resultsFormat) {
    const problem = format.startsWith("sluice-sweep/")
      ? `was written by another version (${format})`
      : "is not the head of a sweep";
    throw new SluiceError("JOURNAL_INVALID", `${path}: line 1 ${problem}. Name another folder with --out.`);
  }
  return { head: found, results: lines.map((line, index) => parsed(line, path, index + 2) as Result), end };
};

const readResults = (path: string, header: Identity): readonly Result[] => {
  const { head, results, end } = linesOf(path);
  checkSame("--resume", path, head, header);
  if (end < statSync(path).size) truncateSync(path, end);
  return results;
};

const parsed = (line: string, path: string, number: number): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    throw new SluiceError(
      "JOURNAL_INVALID",
      `${path}: line ${number} is damaged. Remove that line, or begin in another folder with --out.`,
    );
  }
};

const words: Readonly<Record<string, string>> = {
  version: "Sluice's version",
  part: "--part",
  name: "the fixture's name, which result hashes cover,",
  config: "the config, or a file it imports,",
  fixture: "the fixture",
  space: "what is varied",
  choice: "the choice of points (--sampler, --trials, --random, --batch)",
  folds: "--folds or --train",
  by: "--by or --objective",
  prune: "--prune",
  seed: "the seed",
  limits: "--no-limits",
};

const checkSame = (option: string, path: string, found: Identity, header: Identity): void => {
  const keys = new Set([...Object.keys(header), ...Object.keys(found)]);
  const differs = [...keys].find((key) => !isDeepStrictEqual(found[key], header[key]));
  if (differs === undefined) return;
  throw new SluiceError(
    "USAGE",
    `${option}: ${path} belongs to another sweep: ${words[differs] ?? differs} ${remedies[option]}`,
  );
};

const remedies: Readonly<Record<string, string>> = {
  "--resume": "has changed since. Ask for the same again, or start another sweep with another --out.",
  "--merge": "is another. Ask for what the parts were asked for, or run them again.",
};
