/**
 * The simulation of a config file, as programs and `sluice simulate` ask for it.
 *
 * Invariants: several processes find what one finds, each with a part of the seeds.
 * Not here: scenarios (simulate.ts, scenario.ts), words (summary-text.ts).
 */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { SluiceError } from "sluice";
import {
  checkConfig,
  checkOptions,
  createSystemClock,
  loadConfigFile,
  type OptionRules,
  seedBounds,
  starter,
} from "sluice/extension";
import { checkPart, type SweepPart } from "sluice/plugins/sweep";
import type { Violation } from "./invariants.ts";
import type { QueuedRun } from "./queued-simulation.ts";
import type { Summary } from "./simulation.ts";

interface ScenarioOptions {
  /** Minutes of market in each scenario, default 10. */
  readonly minutes?: number;
  /** Folder of a recorded market to use, instead of the config's. */
  readonly fixture?: string;
  /** Let the config's plugins take part; they may write files. */
  readonly plugins?: boolean;
}

/** Options of `simulate`: those of the command. */
export interface SimulateOptions extends ScenarioOptions {
  /** Number of scenarios, default 50. */
  readonly seeds?: number;
  /** Seed of the first scenario, default 1; the others follow. */
  readonly first?: number;
  /** Processes to use, default 1. */
  readonly jobs?: number;
  /**
   * Run this part of the seeds alone, to be merged with the others; needs `out`. `{ index: 1, of: 4 }` is the first of
   * four.
   */
  readonly part?: SweepPart;
  /** File to keep the part in. */
  readonly out?: string;
  /** Files of all parts, in any order: nothing is run, and the summary is that of all seeds. */
  readonly merge?: readonly string[];
  /** Address of a Redis or Valkey, `redis://` or `rediss://`: workers there play the seeds (`sluice worker`). */
  readonly workers?: string;
  /** Called with `workers`: receives the number of workers, and the workers that refuse with their reasons. */
  readonly onNotice?: (text: string) => void;
  /** With `workers`: ends the simulation early with `STOPPED`; scenarios that were played are kept in the queue. */
  readonly signal?: AbortSignal;
  /**
   * Called with the number of finished scenarios, their total, and the seed of the last; with `jobs` each process
   * reports its part when it is done.
   */
  readonly onProgress?: (done: number, all: number, seed: number) => void;
}

/** Options of `traceScenario`. */
export interface TraceOptions extends ScenarioOptions {
  /** Called with the events of the run with the fewest faults that still fails, line by line. */
  readonly onLine?: (line: string) => void;
  /** Text for people while the fewest faults are looked for, which takes many runs of the scenario. */
  readonly onNotice?: (text: string) => void;
}

/** One scenario, and the invariant it violates, if it does. */
export interface ScenarioTrace {
  readonly seed: number;
  readonly violation: Violation | null;
}

export const simulateBounds = {
  seeds: { least: 1, most: 1_000_000 },
  minutes: { least: 1, most: 1_440 },
  first: seedBounds,
  jobs: { least: 1, most: 64 },
} as const;

export const simulateDefaults = { seeds: 50, minutes: 10, first: 1, jobs: 1 } as const;

const shared = { fixture: { type: "string" }, plugins: { type: "boolean" } };
const rules: OptionRules = {
  wholes: simulateBounds,
  others: {
    ...shared,
    part: {
      type: "object",
      required: ["index", "of"],
      properties: { index: { type: "number" }, of: { type: "number" } },
    },
    out: { type: "string" },
    merge: { type: "array", items: { type: "string" }, minItems: 1 },
    workers: { type: "string" },
    onNotice: {},
    signal: {},
    onProgress: {},
  },
};
const traceRules: OptionRules = {
  wholes: { seed: seedBounds, minutes: simulateBounds.minutes },
  others: { ...shared, onLine: {}, onNotice: {} },
};

/**
 * Runs the strategies of the config in this file on a service, a network and a disk that fail, many times over. The
 * summary is what `sluice simulate --json` prints; violated invariants are its `failures`, and no error.
 */
export const simulate = async (path: string, options: SimulateOptions = {}): Promise<Summary> => {
  checkOptions("simulate", rules, options);
  checkParts(options);
  const {
    onProgress,
    part,
    out,
    merge,
    workers,
    onNotice = () => undefined,
    signal,
    ...given
  } = { ...simulateDefaults, ...options };
  if (merge !== undefined) return (await partsOf(path, given)).merged(merge);
  if (workers !== undefined)
    return onWorkers(path, given, { url: workers, onNotice, ...(signal !== undefined && { signal }) }, onProgress);
  if (part === undefined || out === undefined) return simulateAll(path, given, onProgress);
  const { seedsOf, write } = await partsOf(path, given, out);
  const summary = await simulateAll(path, { ...given, ...seedsOf(part) }, onProgress);
  write(part, summary);
  return summary;
};

const onWorkers = async (
  path: string,
  given: Given,
  queue: Pick<QueuedRun, "url" | "onNotice" | "signal">,
  onProgress: SimulateOptions["onProgress"],
): Promise<Summary> => {
  const config = await loadConfigFile(path, { command: "simulate" });
  const { simulateOnWorkers } = await import("./queued-simulation.ts");
  let done = 0;
  const onSeed = (seed: number): void => {
    done++;
    onProgress?.(done, given.seeds, seed);
  };
  return simulateOnWorkers(path, config, given, { ...queue, clock: createSystemClock(), onSeed });
};

const checkParts = ({ part, out, merge, workers }: SimulateOptions): void => {
  if (workers !== undefined && (part !== undefined || merge !== undefined))
    throw new SluiceError("USAGE", "--workers divides the seeds itself: leave --part and --merge out.");
  if (part !== undefined) checkPart(part);
  if ((part === undefined) !== (out === undefined))
    throw new SluiceError("USAGE", "--part and --out FILE belong together: the file keeps the part for --merge.");
  if (merge !== undefined && part !== undefined)
    throw new SluiceError("USAGE", "--merge runs nothing: leave --part and --out out.");
};

/** Opens the parts of a divided simulation; loaded only if there are parts. */
const partsOf = async (path: string, given: Given, out = "") => {
  const { identityOf, mergeParts, seedsOfPart, writePart, checkPartFile } = await import("./seed-parts.ts");
  const identity = identityOf(path, checkConfig(await loadConfigFile(path, { command: "simulate" })), given);
  checkPartFile(out);
  return {
    seedsOf: (part: SweepPart) => seedsOfPart(given, part),
    write: (part: SweepPart, summary: Summary) => {
      writePart(out, identity, part, summary);
    },
    merged: (files: readonly string[]) => mergeParts(files, identity),
  };
};

const simulateAll = async (path: string, given: Given, onProgress: SimulateOptions["onProgress"]): Promise<Summary> => {
  if (given.jobs > 1) return inProcesses(path, given, onProgress);
  const config = await loadConfigFile(path, { command: "simulate" });
  // Loaded when it is needed: help and mistakes should not wait for an engine.
  const { simulate: simulateHere } = await import("./simulation.ts");
  let done = 0;
  const onSeed = (seed: number): void => {
    done++;
    onProgress?.(done, given.seeds, seed);
  };
  return simulateHere(config, { ...given, onSeed });
};

/** Plays the scenario of one seed line by line: what `sluice simulate --seed N --trace` prints. */
export const traceScenario = async (path: string, seed: number, options: TraceOptions = {}): Promise<ScenarioTrace> => {
  checkOptions("traceScenario", traceRules, { ...options, seed });
  const { minutes = simulateDefaults.minutes, onLine = () => undefined, onNotice, ...rest } = options;
  const config = await loadConfigFile(path, { command: "simulate" });
  const { traceSeed } = await import("./simulation.ts");
  return {
    seed,
    violation: (await traceSeed(config, seed, { seeds: 1, minutes, ...rest }, { onLine, onNotice })) ?? null,
  };
};

/**
 * Plays the whole scenario of one seed with the config's plugins, and gives the invariant that it violates, if it does.
 */
export const playScenario = async (
  config: unknown,
  seed: number,
  options: Required<Pick<ScenarioOptions, "minutes">> & Pick<ScenarioOptions, "fixture">,
): Promise<Violation | undefined> => {
  const { traceSeed } = await import("./simulation.ts");
  return traceSeed(config, seed, { seeds: 1, plugins: true, ...options }, { onLine: () => undefined });
};

type Given = Required<Pick<SimulateOptions, "seeds" | "minutes" | "first" | "jobs">> &
  Pick<SimulateOptions, "fixture" | "plugins">;

const run = promisify(execFile);
const outputBytesMax = 64 * 1024 * 1024;

/** Each process runs a part of the seeds and prints its summary. */
const inProcesses = async (
  path: string,
  { seeds, first, jobs, minutes, fixture, plugins }: Given,
  onProgress: SimulateOptions["onProgress"],
): Promise<Summary> => {
  const { joinSummaries } = await import("./simulation.ts");
  const share = Math.ceil(seeds / jobs);
  const parts = Array.from({ length: Math.ceil(seeds / share) }, (_, index) => {
    const count = Math.min(share, seeds - index * share);
    const args = ["simulate", path, "--json", "--seeds", count, "--first", first + index * share, "--minutes", minutes];
    return [
      ...args,
      ...(fixture === undefined ? [] : ["--fixture", fixture]),
      ...(plugins === true ? ["--plugins"] : []),
    ];
  });
  let done = 0;
  const ended = parts.map(async (args, index) => {
    const part = await inProcess(args.map(String));
    done += part.seeds;
    onProgress?.(done, seeds, first + index * share + part.seeds - 1);
    return part;
  });
  return joinSummaries(await Promise.all(ended));
};

const inProcess = async (args: readonly string[]): Promise<Summary> => {
  try {
    const { stdout } = await run(process.execPath, [starter(), ...args], { maxBuffer: outputBytesMax });
    return JSON.parse(stdout) as Summary;
  } catch (error) {
    // A violation ends its process with code 1, but its summary is still printed.
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    if (stdout.startsWith("{")) return JSON.parse(stdout) as Summary;
    throw new SluiceError("USAGE", `A part of the simulation failed: ${stderr.trim() || String(error)}`);
  }
};
