/** One engine in a process of its own: child.mjs <engine> <bars> <folder of compiled Sluice>; prints what it found as JSON. */
import { measure } from "./engines.mjs";

const [, , name, bars, compiled] = process.argv;
process.stdout.write(`\n${JSON.stringify(await measure(name, Number(bars), compiled))}\n`);
