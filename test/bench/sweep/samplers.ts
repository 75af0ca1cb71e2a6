/**
 * What the samplers of a sweep find in a hundred trials, over thirty seeds: `npx tsx test/bench/sweep/samplers.ts [batch]`.
 *
 * Not here: the functions (plugins/sweep/harness/search-problems.ts), figures of other optimisers (README.md).
 */
import { found, medianOf, problems } from "../../plugins/sweep/harness/search-problems.ts";

const batch = Number(process.argv[2] ?? 8);
for (const [name, problem] of Object.entries(problems)) {
  const figures = (["random", "tpe"] as const).map((kind) => {
    const values = Array.from({ length: 30 }, (_, seed) => found(problem, kind, seed, 100, batch));
    return `${kind} ${medianOf(values).toFixed(3)} (mean ${(values.reduce((a, b) => a + b, 0) / 30).toFixed(3)})`;
  });
  process.stdout.write(`${name}: ${figures.join(", ")}\n`);
}
