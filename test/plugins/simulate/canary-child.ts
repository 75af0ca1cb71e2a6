/** Looks for the first seed that fails, in a copy of the tree that somebody has broken on purpose, and prints it as JSON. */
import { simulate } from "../../../plugins/simulate/simulation.ts";
import busy from "../../support/configs/busy-quota.ts";
import brimful from "../../support/configs/full-quota.ts";
import guarded from "../../support/configs/protected-positions.ts";

const [first = "1", seeds = "200", minutes = "4", config = "busy"] = process.argv.slice(2);
const configs: Readonly<Record<string, unknown>> = { brimful, protected: guarded };
const { failures } = await simulate(configs[config] ?? busy, {
  first: Number(first),
  seeds: Number(seeds),
  minutes: Number(minutes),
  failuresMax: 1,
  shorten: false,
});
const [failure] = failures;
process.stdout.write(
  `${JSON.stringify(failure === undefined ? null : { seed: failure.seed, ...failure.violation })}\n`,
);
process.exit();
