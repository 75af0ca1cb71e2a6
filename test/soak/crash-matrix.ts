/**
 * Every boundary of the journal, the dispatch and the answer × what the disk kept × seeds: a life dies there, and the next one has
 * to end with every wanted order resting once and none taken for absent that exists.
 *
 *   npx tsx test/soak/crash-matrix.ts [seeds=20] [first=1]
 */
import { Dead } from "../support/harness/engine.ts";
import { type CrashCase, crashStory } from "../support/scenarios/crash.ts";

// What a life was doing when it died ends with its death, which nobody is left to hear of.
process.on("unhandledRejection", (reason) => {
  if (!(reason instanceof Dead)) throw reason;
});

const [seeds = 20, first = 1] = process.argv.slice(2).map(Number);
const startedAt = process.cpuUsage();
const boundaries = new Set<number>();
const problems: string[] = [];
let stories = 0;
let steps = 0;

for (let seed = first; seed < first + seeds; seed++) {
  for (const fate of ["lost", "kept", "torn"] as const satisfies readonly CrashCase["fate"][]) {
    // How far a life comes depends on what dies with it: the next boundary is tried until there is none.
    for (let stopAt = 1, reached = true; reached; stopAt++) {
      const end = await crashStory({ fate, stopAt, seed: String(seed) });
      reached = end.steps.length >= stopAt;
      stories++;
      steps += end.steps.length;
      if (reached) boundaries.add(stopAt);
      for (const problem of end.problems)
        problems.push(`seed ${seed}, ${fate}, dead at step ${stopAt} (${end.steps.at(-1) ?? "none"}): ${problem}`);
    }
  }
}
const cpuMs = Math.round(process.cpuUsage(startedAt).user / 1_000);
process.stdout.write(
  `${JSON.stringify({ seeds, fates: 3, boundaries: boundaries.size, stories, steps, cpuMs, problems })}\n`,
);
process.exit(problems.length > 0 ? 1 : 0);
