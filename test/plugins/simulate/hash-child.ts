/** Runs scenarios in a process of their own and prints what identifies them. */
import config from "../../../config/backtest.ts";
import { simulate } from "../../../plugins/simulate/simulation.ts";

const hashes: string[] = [];
await simulate(config, { seeds: 4, minutes: 3, onSeed: (_seed, { hash }) => hashes.push(hash) });
process.stdout.write(JSON.stringify(hashes), () => process.exit());
