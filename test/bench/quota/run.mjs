#!/usr/bin/env node
/**
 * The quota bench: node test/bench/quota/run.mjs [--scenario A,B] [--minutes 100] [--seeds 5] [--peers all] [--jobs 1] [--json]
 *
 * Invariants: runs from a fresh checkout without a build; installs the peers once, and only when they are asked for.
 * Exit code: 0 when ours kept every required figure, 1 when not, 2 for a wrong command line.
 */
import { register } from "tsx/esm/api";
import { installPeers } from "../install.mjs";

register();
const { optionsFrom } = await import("./options.ts");
const { report } = await import("./report.ts");

let options;
try {
  options = optionsFrom(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
}
if (options.contenders.some(({ role }) => role === "peer")) installPeers();
process.exitCode = (await report(options)) ? 0 : 1;
