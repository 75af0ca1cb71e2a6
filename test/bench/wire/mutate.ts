/**
 * A million damaged answers: npx tsx test/bench/wire/mutate.ts [count] [seed]
 *
 * Invariants: fails when an answer throws, when something that is no record is accepted, or when one takes longer than 50 ms.
 */
import { createRandom } from "../../../src/random.ts";
import { readDamaged } from "../../unit/client/transport/mutations.ts";

const slowMs = 50;
const [count = "1000000", seed = "a million"] = process.argv.slice(2);
const startedAt = performance.now();
const { kinds, records, slowestMs, wrong } = readDamaged(Number(count), createRandom(seed), () => performance.now());
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
process.stdout.write(
  `${count} damaged answers in ${seconds} s: ${JSON.stringify(kinds)}, ${records} records accepted, slowest ${slowestMs.toFixed(1)} ms\n`,
);
for (const line of wrong.slice(0, 10)) process.stderr.write(`${line.slice(0, 500)}\n`);
if (wrong.length > 0 || slowestMs > slowMs) {
  process.stderr.write(`${wrong.length} wrong; the bound of one answer is ${slowMs} ms\n`);
  process.exitCode = 1;
}
