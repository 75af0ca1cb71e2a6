/**
 * Calls or allocated bytes of one order by function: node count.mjs <compiled folder> <scenario> <calls|bytes>, a JSON line on stdout.
 *
 * Invariants: what is told is a run of many orders less one of few on the same tape, divided by the orders between them, so that the
 * start, the quotes and the polls cancel out; what this bench's own strategy does is left out. Only calls of functions written in
 * JavaScript are counted, and nothing is inlined while they are. Bytes of either run are those of the first session of a process: they
 * agree with the collector's own log, while every later session of a process counts a quarter to two fifths too much.
 */
import { execFileSync } from "node:child_process";
import { Session } from "node:inspector/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { loadPackage } from "../compile.mjs";
import { few, many, prepare } from "./scenarios.mjs";

const [compiled, scenario, measure, sampled] = process.argv.slice(2);
const own = new URL(".", import.meta.url).href;
const sources = `${pathToFileURL(compiled).href}/`;
const session = new Session();
session.connect();

/** Rooms are folders, and those within them. */
const placeOf = (url) => {
  if (url.startsWith(sources)) {
    const path = url.slice(sources.length).replace(/\.js$/, "");
    return { room: path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : path, file: path };
  }
  const library = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\/(.*)/.exec(url);
  if (library !== null) return { room: library[1] === "rxjs" ? "RxJS" : library[1], file: library[2] };
  if (url.startsWith("node:")) return { room: "node", file: url };
  return { room: "built-in and generated", file: url };
};

/** Counts by function; the key is its script, its name and where it begins. */
const coverage = async (orders) => {
  await run(orders);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result.flatMap(({ url, functions }) =>
    functions.map(({ functionName, ranges: [{ startOffset, count }] }) => [url, functionName, startOffset, count]),
  );
};

const sampling = {
  samplingInterval: 4_096,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
};
const allocation = async (orders) => {
  await run(many);
  await session.post("HeapProfiler.enable");
  await session.post("HeapProfiler.startSampling", sampling);
  await run(orders);
  const { profile } = await session.post("HeapProfiler.stopSampling");
  const found = [];
  const walk = ({ callFrame, selfSize, children }) => {
    if (selfSize > 0) found.push([callFrame.url, callFrame.functionName, callFrame.lineNumber, selfSize]);
    children.forEach(walk);
  };
  walk(profile.head);
  return found;
};

const measures = {
  calls: async () => {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await session.post("Profiler.takePreciseCoverage");
    return [await coverage(few), await coverage(many)];
  },
  bytes: () => [few, many].map(sampledApart),
};

/** Functions and bytes of so many orders, in a process of its own. */
const sampledApart = (orders) =>
  JSON.parse(
    execFileSync(process.execPath, [fileURLToPath(import.meta.url), compiled, scenario, "bytes", String(orders)], {
      encoding: "utf8",
      maxBuffer: 1 << 26,
    }),
  );

/** What an order more adds to each function. */
const eachOf = ([less, more]) => {
  const functions = new Map();
  for (const [rows, sign] of [
    [less, -1],
    [more, 1],
  ]) {
    for (const [url, name, at, count] of rows) {
      if (url.startsWith(own) || url.startsWith("node:inspector")) continue;
      const key = `${url}#${name}#${at}`;
      const known = functions.get(key) ?? { ...placeOf(url), name: name || `(at ${at})`, each: 0 };
      known.each += (sign * count) / (many - few);
      functions.set(key, known);
    }
  }
  return [...functions.values()].filter(({ each }) => Math.abs(each) >= 0.01).sort((a, b) => b.each - a.each);
};

const run = prepare(await loadPackage(compiled), scenario);
// What is done once, and what the compiler takes away while it warms up, belongs to no order.
await run(many);
const found = sampled === undefined ? eachOf(await measures[measure]()) : await allocation(Number(sampled));
process.stdout.write(`${JSON.stringify(found)}\n`, () => process.exit(0));
