/**
 * The comparison from command line to tables.
 *
 * Invariants: progress goes to stderr and results to stdout; with --json stdout holds one JSON document; the exit code is 1 when
 * ours misses a required figure.
 */

import { readFileSync } from "node:fs";
import { scenarios } from "./all-scenarios.ts";
import type { Options } from "./options.ts";
import { runAll } from "./pool.ts";
import type { Contender } from "./roster.ts";
import { cellsOf, figuresLine, lineHead, lineOf, type Row, tableOf } from "./table.ts";
import { addTallies, type Figures, figuresOf, type Tally } from "./tally.ts";
import { type Check, checksOf } from "./targets.ts";

interface Result {
  readonly scenario: string;
  readonly title: string;
  readonly rows: readonly Row[];
  readonly checks: readonly Check[];
}

/** Only ours divides a quota, and is compared with itself unaware of the others; alone it has nobody to divide with. */
const contendersIn = (id: string, { contenders }: Options): readonly Contender[] =>
  scenarios[id]?.sharing === undefined
    ? contenders.filter(({ configuration, role }) => role !== "ours" || configuration !== "shared")
    : contenders.filter(({ configuration, role }) => role === "ours" && configuration !== "paced");

const resultOf = async (id: string, options: Options): Promise<Result> => {
  const contenders = contendersIn(id, options);
  const tallies = new Map<string, readonly Tally[]>();
  const seeds = Array.from({ length: options.seeds }, (_, index) => index + 1);
  const all = contenders.map((contender) => ({ contender, scenario: id, seeds, minutes: options.minutesPerSeed }));
  await runAll(all, options.jobs, ({ contender }, done) => {
    process.stderr.write(`${id}  ${contender.label}\n`);
    tallies.set(contender.label, done);
  });
  const rows = contenders.map(({ label }) => ({ label, figures: figuresOf(addTallies(tallies.get(label) ?? [])) }));
  const ours = contenders.findIndex(({ role }) => role === "ours");
  const mine = rows[ours];
  return {
    scenario: id,
    title: scenarios[id]?.title ?? id,
    rows,
    checks: mine === undefined ? [] : checksOf(id, mine.figures),
  };
};

const textOf = ({ scenario, rows, checks }: Result): string => {
  const row = scenarios[scenario];
  if (row === undefined) return "";
  const verdicts = checks.map(({ text, passed }) => `${passed ? "pass" : "FAIL"}  ${text}`);
  return [tableOf(scenario, row, rows), ...(verdicts.length > 0 ? ["", ...verdicts] : []), ""].join("\n");
};

/** Figures of our default configuration in an earlier run; JSON has no NaN and writes null. */
const figuresBefore = (file: string): ReadonlyMap<string, Figures> => {
  const { results } = JSON.parse(readFileSync(file, "utf8")) as { readonly results: readonly Result[] };
  return new Map(
    results.flatMap(({ scenario, rows }) => {
      const figures = rows[0]?.figures;
      if (figures === undefined) return [];
      const numbers = Object.entries(figures).map(([name, value]) => [name, value ?? Number.NaN]);
      return [[scenario, Object.fromEntries(numbers) as Figures] as const];
    }),
  );
};

/** Runs scenarios side by side, prints a line for each; tells whether ours kept every required figure. */
const reportLines = async (options: Options): Promise<boolean> => {
  const before = options.against === undefined ? new Map<string, Figures>() : figuresBefore(options.against);
  const headBefore = options.against === undefined ? "" : `  | before ${figuresLine(lineHead.slice(1))}`;
  process.stdout.write(`${lineOf(lineHead)}${headBefore}\n`);
  const seeds = Array.from({ length: options.seeds }, (_, index) => index + 1);
  const all = options.scenarios.flatMap((scenario) =>
    contendersIn(scenario, options)
      .slice(0, 1)
      .map((contender) => ({ contender, scenario, seeds, minutes: options.minutesPerSeed })),
  );
  let kept = true;
  await runAll(all, options.jobs, ({ scenario }, tallies) => {
    const figures = figuresOf(addTallies(tallies));
    const cells = lineOf([scenario, ...cellsOf(figures)]);
    const then = before.get(scenario);
    const failed = checksOf(scenario, figures).filter(({ passed }) => !passed);
    kept &&= failed.length === 0;
    const beside = then === undefined ? "" : `  |        ${figuresLine(cellsOf(then))}`;
    process.stdout.write(`${cells}${beside}${failed.map(({ text }) => `  FAIL ${text}`).join("")}\n`);
  });
  return kept;
};

/** Tells whether ours kept every required figure. */
export const report = async (options: Options): Promise<boolean> => {
  if (options.lines) return reportLines(options);
  const results: Result[] = [];
  for (const id of options.scenarios) {
    const result = await resultOf(id, options);
    results.push(result);
    if (!options.json) process.stdout.write(`${textOf(result)}\n`);
  }
  const { seeds, minutesPerSeed } = options;
  if (options.json) process.stdout.write(`${JSON.stringify({ seeds, minutesPerSeed, results }, undefined, 2)}\n`);
  return results.every(({ checks }) => checks.every(({ passed }) => passed));
};
