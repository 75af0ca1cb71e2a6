/**
 * Results on disk as they come, so that a sweep which was stopped can go on.
 *
 * The file holds one JSON object a line: first what the sweep is, then one line a result.
 *
 * Invariants: a line is written whole before the next; a last line that was cut off is taken away before anything is added; results
 * of one sweep are never continued by another, and never overwritten without being asked; the last line of a run counts.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { SluiceError } from "../../errors.ts";
import type { Result } from "./sweep-report.ts";

export const resultsFormat = "sluice-sweep/3";
const fileName = "results.ndjson";

export interface ResultsFile {
  /** What an earlier run has finished, by index. Failed runs are tried again. */
  readonly kept: ReadonlyMap<number, Result>;
  append(result: Result): void;
}

type Identity = Readonly<Record<string, unknown>>;

export const openResults = (dir: string, identity: Identity, resume: boolean): ResultsFile => {
  const path = join(dir, fileName);
  const header = JSON.parse(JSON.stringify({ format: resultsFormat, ...identity })) as Identity;
  const kept = new Map<number, Result>();
  if (existsSync(path)) {
    if (!resume) throw new SluiceError("USAGE", `${path} exists. Go on with it by --resume, or name another folder with --out.`);
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
  };
};

const readResults = (path: string, header: Identity): readonly Result[] => {
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(10) + 1;
  const [first, ...lines] = bytes.subarray(0, end).toString("utf8").split("\n").slice(0, -1);
  const found = first === undefined ? undefined : (parsed(first, path, 1) as Identity);
  const format = String(found?.["format"]);
  if (found === undefined || format !== resultsFormat) {
    const problem = format.startsWith("sluice-sweep/") ? `was written by another version (${format})` : "is not the head of a sweep";
    throw new SluiceError("JOURNAL_INVALID", `${path}: line 1 ${problem}. Name another folder with --out.`);
  }
  checkSame(path, found, header);
  const results = lines.map((line, index) => parsed(line, path, index + 2) as Result);
  if (end < bytes.length) truncateSync(path, end);
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

const checkSame = (path: string, found: Identity, header: Identity): void => {
  const differs = Object.keys(header).find((key) => !isDeepStrictEqual(found[key], header[key]));
  if (differs === undefined) return;
  throw new SluiceError(
    "USAGE",
    `--resume: ${path} belongs to another sweep: ${words[differs] ?? differs} has changed since. Ask for the same again, or start another sweep with another --out.`,
  );
};
