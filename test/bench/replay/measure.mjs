/**
 * One part in a process of its own: node measure.mjs <part> <compiled folder> <seconds>, a JSON line on stdout.
 *
 * Invariants: the clock's time is told and the processor's beside it, which also counts what other threads of this process do (they
 * compile code and collect garbage) and does not count what the machine does besides; the least of several runs is reported, and
 * the median, beside a raw loop over columns and, where strategies look on, beside their own operators on plain RxJS; no run
 * begins once the seconds are over.
 */
import { loadPackage } from "../compile.mjs";
import { parts } from "./parts.mjs";

const [name, compiled, seconds] = process.argv.slice(2);
const part = parts[name];
const sluice = await loadPackage(compiled);
if (typeof sluice.runBacktest !== "function") throw new Error(`${compiled} exports no runBacktest`);

const cpuNs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1_000;
};

const wallNs = () => performance.now() * 1e6;

/** What a loop over the columns and nothing else costs a row, in nanoseconds: the limit of any replay. */
const rawNs = () => {
  const rows = 5_000_000;
  const px = new Float64Array(rows).map((_, row) => row % 1_000);
  const at = new Float64Array(rows).map((_, row) => row);
  const pass = () => {
    let sum = 0;
    for (let row = 0; row < rows; row++) if (at[row] >= 0) sum += px[row];
    return sum;
  };
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 5; turn++) {
    const from = wallNs();
    if (pass() < 0) throw new Error("a sum of positive numbers is positive");
    least = Math.min(least, (wallNs() - from) / rows);
  }
  return least;
};

/** What the strategies' own operators cost on plain RxJS, for each thing the part counts. */
const bareNs = ({ bare, countedPerRow }) => {
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 5; turn++) {
    const pass = bare();
    const from = wallNs();
    const rows = pass();
    least = Math.min(least, (wallNs() - from) / (rows * countedPerRow));
  }
  return least;
};

const prepared = part.prepare(sluice);
const raw = rawNs();
const extra = {};
const figures = [];
const processor = [];
const until = performance.now() + Number(seconds) * 1_000;
do {
  let from = [0, 0];
  let spent = from;
  const clocked = {
    begin: () => {
      from = [wallNs(), cpuNs()];
    },
    end: () => {
      spent = [wallNs() - from[0], cpuNs() - from[1]];
    },
  };
  const count = await part.run(sluice, prepared, clocked, extra);
  figures.push(spent[0] / count);
  processor.push(spent[1] / count);
} while (figures.length < (part.runs ?? 5) && performance.now() < until);
figures.sort((a, b) => a - b);
const median = figures[figures.length >> 1];
// Last, so that the engine does not find RxJS prepared for other receivers than its own.
if (part.bare !== undefined) extra.bare = bareNs(part);
const cpu = Math.min(...processor);
process.stdout.write(
  `${JSON.stringify({ name, unit: part.unit, runs: figures.length, least: figures[0], median, cpu, raw, ...extra })}\n`,
);
process.exit(0);
