/**
 * The full list: every canary within 200 seeds, two at a time, the seed known to catch it first. Ends with the first catch of each.
 *
 *   npx tsx test/plugins/simulate/canaries-run.ts [word of a name] [processes=2]
 */
import { type Canary, canaries } from "./canaries.ts";
import { type Catch, hunt, misfit } from "./canary-run.ts";

const [word = "", processes = "2"] = process.argv.slice(2);
const waiting = canaries.filter(({ name }) => name.includes(word));
const missed: string[] = [];

const seek = async (canary: Canary): Promise<Catch | undefined> =>
  (canary.seed === undefined ? undefined : await hunt(canary, canary.seed, 1)) ?? (await hunt(canary, 1, 200));

const worker = async (): Promise<void> => {
  for (let canary = waiting.shift(); canary !== undefined; canary = waiting.shift()) {
    const { name } = canary;
    const wrong = misfit(canary);
    const caught =
      wrong === undefined
        ? await seek(canary).catch((error: unknown) => ({
            seed: -1,
            invariant: "?",
            text: String(error).slice(0, 600),
          }))
        : undefined;
    if (caught === undefined || caught.seed < 0) missed.push(name);
    console.log(
      caught === undefined
        ? `MISSED  ${wrong ?? name}`
        : `seed ${String(caught.seed).padStart(3)}  ${caught.invariant.padEnd(3)}  ${name}: ${caught.text.slice(0, 160)}`,
    );
  }
};

await Promise.all(Array.from({ length: Number(processes) }, worker));
console.log(missed.length === 0 ? "all canaries were caught" : `${missed.length} missed: ${missed.join("; ")}`);
process.exitCode = missed.length === 0 ? 0 : 1;
