/**
 * Merge of the parts of a sweep: a pool that returns the answers of runs made elsewhere.
 *
 * Invariants: parts are of the sweep that is asked for (config, fixture, points, version) and each is named once; a run
 * that no part has ends the merge with an error that names the part to run; nothing is run.
 * Not here: the assignment of runs to parts (sweep-parts.ts), the report, which is made as if all had run here
 * (sweep.ts).
 */
import { isDeepStrictEqual } from "node:util";
import { SluiceError } from "sluice";
import { counted } from "sluice/extension";
import type { Answer, Job } from "./job.ts";
import type { Pool } from "./pool.ts";
import { readSweepFile } from "./results-file.ts";
import { partOfRun, type SweepPart, spellPart } from "./sweep-parts.ts";
import { runsOf, type SweepPlan } from "./sweep-plan.ts";
import type { Result } from "./sweep-report.ts";

interface ReadPart {
  readonly dir: string;
  readonly part: SweepPart;
  readonly results: ReadonlyMap<number, Result>;
}

/** `dirs` are the folders that `--part i/n --out` has written, in any order. */
export const mergedParts = (dirs: readonly string[], plan: SweepPlan): Pool => {
  const parts = dirs.map((dir) => readPartFile(dir, plan));
  checkTogether(parts);
  const byIndex = new Map(parts.map((one) => [one.part.index, one]));
  const of = parts[0]?.part.of ?? 1;
  const answerTo = ({ index, overrides }: Job): Answer | undefined => {
    const found = byIndex.get(partOfRun(plan, index, of))?.results.get(index);
    return found !== undefined && isDeepStrictEqual(found.options, flat(overrides)) ? answerIn(found) : undefined;
  };
  return {
    run: (jobs, answered) => {
      const answers = jobs.map((job) => [job, answerTo(job)] as const);
      const missing = answers.filter(([, answer]) => answer === undefined).map(([{ index }]) => index);
      if (missing.length > 0) throw incomplete(missing, byIndex, plan, of);
      for (const [job, answer] of answers) if (answer !== undefined) answered(job, answer);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
};

const readPartFile = (dir: string, plan: SweepPlan): ReadPart => {
  const { part, results } = readSweepFile(dir, plan.identity);
  const [index, of] = (typeof part === "string" ? part : "").split("/").map(Number) as [number, number | undefined];
  if (of === undefined)
    throw new SluiceError("USAGE", `--merge: ${dir} was written without --part. Name folders of parts only.`);
  const foreign = [...results.keys()].find((run) => run >= runsOf(plan) || partOfRun(plan, run, of) !== index);
  if (foreign !== undefined)
    throw new SluiceError(
      "JOURNAL_INVALID",
      `--merge: ${dir} holds run ${foreign}, which is not of part ${index}/${of}. Run that part again.`,
    );
  return { dir, part: { index, of }, results };
};

const checkTogether = (parts: readonly ReadPart[]): void => {
  const [first] = parts;
  for (const [at, { dir, part }] of parts.entries()) {
    if (part.of !== first?.part.of)
      throw new SluiceError(
        "USAGE",
        `--merge: ${dir} is part ${spellPart(part)}, and ${first?.dir} is part ${spellPart(first?.part ?? part)}. Merge parts of one division.`,
      );
    const other = parts.slice(0, at).find((one) => one.part.index === part.index);
    if (other !== undefined)
      throw new SluiceError("USAGE", `--merge: ${dir} and ${other.dir} are both part ${spellPart(part)}. Name one.`);
  }
};

const incomplete = (
  missing: readonly number[],
  byIndex: ReadonlyMap<number, ReadPart>,
  plan: SweepPlan,
  of: number,
): SluiceError => {
  const runs = new Map<number, number>();
  for (const run of missing) runs.set(partOfRun(plan, run, of), (runs.get(partOfRun(plan, run, of)) ?? 0) + 1);
  const issues = [...runs]
    .sort(([a], [b]) => a - b)
    .map(([index, count]) => {
      const part = `part ${spellPart({ index, of })}`;
      const dir = byIndex.get(index)?.dir;
      if (dir === undefined)
        return `${part} was not named (${counted(count, "run")}): run it with --part ${spellPart({ index, of })} --out DIR`;
      return `${part} lacks ${counted(count, "run")}: go on with --part ${spellPart({ index, of })} --out ${dir} --resume`;
    });
  return new SluiceError("USAGE", `--merge: ${missing.length} of ${runsOf(plan)} runs are missing:`, issues);
};

/** Values by `strategy.option`, as results spell them. */
const flat = (overrides: Job["overrides"]): Result["options"] =>
  Object.fromEntries(
    Object.entries(overrides).flatMap(([strategy, options]) =>
      Object.entries(options).map(([option, value]) => [`${strategy}.${option}`, value]),
    ),
  );

const answerIn = (result: Result): Answer => {
  const of = ["index", "part", "fold", "point", "options"];
  return Object.fromEntries(Object.entries(result).filter(([name]) => !of.includes(name))) as unknown as Answer;
};
