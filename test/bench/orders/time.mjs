/**
 * Processor time of backtests in a process of its own that is told when to run one: node time.mjs <compiled folder>.
 *
 * Invariants: two of these take turns, so that whatever the machine does to one it does to the other; the time is that of the whole
 * process, its compiler's and collector's threads included, and not that of loading modules.
 */
import { loadPackage } from "../compile.mjs";
import { prepare, prepareQuotes, prepareResting } from "./scenarios.mjs";

const sluice = await loadPackage(process.argv[2]);
const prepared = new Map();
const runOf = (name) => {
  const own = { requotes: prepareQuotes, resting: prepareResting }[name];
  if (!prepared.has(name)) prepared.set(name, own === undefined ? prepare(sluice, name) : own(sluice));
  return prepared.get(name);
};

const measure = async ({ scenario, orders }) => {
  const run = runOf(scenario);
  const from = process.cpuUsage();
  const done = await run(orders);
  const { user, system } = process.cpuUsage(from);
  process.send({ us: user + system, done });
};
process.on("message", (asked) => void measure(asked));
process.on("disconnect", () => process.exit(0));
process.send({ ready: true });
