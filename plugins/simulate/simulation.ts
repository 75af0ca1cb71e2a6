/**
 * Simulation: many scenarios of one config, each with a seed and faults of its own; one that fails is shortened to the
 * fewest faults.
 *
 * Invariants: a seed gives the same scenario, for any number of parallel scenarios; strategies and options are the
 * config's own, the service is the embedded one; plugins take part only when asked, as they may write files.
 */

import { SluiceError } from "sluice";
import { type CheckedConfig, checkConfig, createSystemClock } from "sluice/extension";
import { CoverageMarks, markNames } from "./coverage-marks.ts";
import { type Fault, spellFault } from "./fault.ts";
import { sampleFaults } from "./fault-sampler.ts";
import { invariants, type Violation } from "./invariants.ts";
import { type Ending, runScenario, type Scenario } from "./scenario.ts";
import { shrink } from "./shrink.ts";
import { type MarketOf, marketOf } from "./simulated-market.ts";

export interface SimulateOptions {
  readonly seeds: number;
  /** Simulated minutes of market in each scenario; five quiet ones follow. */
  readonly minutes: number;
  readonly first?: number;
  readonly fixture?: string;
  readonly plugins?: boolean;
  /** Number of failed seeds after which the simulation stops. */
  readonly failuresMax?: number;
  /** False: leave the scenarios that fail as long as they are. */
  readonly shorten?: boolean;
  readonly onSeed?: (seed: number, ending: Ending) => void;
}

/** A scenario in which an invariant was violated, with the fewest faults that still do it. */
export interface Failure {
  readonly seed: number;
  readonly violation: Violation;
  /** The words of the invariant. */
  readonly statement: string;
  /** The shortest list of faults that still fails so, in words. */
  readonly faults: readonly string[];
  readonly drawn: number;
}

/** Result of a simulation: how much was run, and what failed. */
export interface Summary {
  readonly seeds: number;
  readonly minutes: number;
  readonly simulatedMs: number;
  readonly elapsedMs: number;
  readonly events: number;
  readonly requests: number;
  readonly weight: number;
  readonly processes: number;
  /** Refusals by a limit, and those other clients had caused. */
  readonly refused: number;
  readonly excused: number;
  readonly failures: readonly Failure[];
  readonly marks: Readonly<Record<string, number>>;
  readonly neverReached: readonly string[];
}

const shrinkTries = 200;

export const checkSimulated = (input: unknown): CheckedConfig => checkConfig(input);

const scenarioOf = (
  config: CheckedConfig,
  market: MarketOf,
  seed: number,
  { minutes, plugins = false }: SimulateOptions,
): Scenario => ({
  config,
  tape: market(String(seed), minutes),
  seed: String(seed),
  minutes,
  faults: sampleFaults(String(seed), minutes),
  plugins,
});

const shorten = async (
  scenario: Scenario,
  { invariant }: Violation,
): Promise<{ readonly faults: readonly Fault[]; readonly violation: Violation }> => {
  let violation: Violation | undefined;
  const fails = async (faults: readonly Fault[]): Promise<boolean> => {
    const { violations } = await runScenario({ ...scenario, faults });
    const same = violations.find((candidate) => candidate.invariant === invariant);
    violation = same ?? violation;
    return same !== undefined;
  };
  const faults = await shrink(scenario.faults, fails, shrinkTries);
  // The words of the shortest scenario, not of the last one tried.
  await fails(faults);
  return { faults, violation: violation as Violation };
};

export const simulate = (input: unknown, options: SimulateOptions): Promise<Summary> => {
  const config = checkSimulated(input);
  return playSeeds(config, marketOf(config, options.fixture), options);
};

/** Plays one seed at a call; config and recording are read once. */
export const seedPlayer = (
  input: unknown,
  options: Omit<SimulateOptions, "seeds" | "first">,
): ((seed: number) => Promise<Summary>) => {
  const config = checkSimulated(input);
  const market = marketOf(config, options.fixture);
  return (seed) => playSeeds(config, market, { ...options, seeds: 1, first: seed });
};

/** Number of failed scenarios after which the remaining ones are skipped. */
export const failuresMaxDefault = 3;

const playSeeds = async (config: CheckedConfig, market: MarketOf, options: SimulateOptions): Promise<Summary> => {
  const { seeds, minutes, first = 1, failuresMax = failuresMaxDefault, onSeed } = options;
  const marks = new CoverageMarks();
  const clock = createSystemClock();
  const startedAt = clock.now();
  const failures: Failure[] = [];
  const total = { simulatedMs: 0, events: 0, requests: 0, weight: 0, processes: 0, refused: 0, excused: 0 };
  let played = 0;
  for (let seed = first; seed < first + seeds && failures.length < failuresMax; seed++) {
    const scenario = scenarioOf(config, market, seed, options);
    const ending = await runScenario(scenario, { marks });
    played++;
    for (const name of ["events", "requests", "weight", "processes", "refused", "excused"] as const)
      total[name] += ending[name];
    total.simulatedMs += ending.ms;
    onSeed?.(seed, ending);
    const [violation] = ending.violations;
    if (violation !== undefined) failures.push(await failureOf(seed, scenario, violation, options.shorten ?? true));
  }
  const neverReached = markNames.filter((name) => !marks.counts.has(name));
  return {
    seeds: played,
    minutes,
    elapsedMs: Math.round(clock.now() - startedAt),
    ...total,
    failures,
    marks: byName(Object.fromEntries(marks.counts)),
    neverReached,
  };
};

const failureOf = async (seed: number, scenario: Scenario, found: Violation, short: boolean): Promise<Failure> => {
  const { faults, violation } = short ? await shorten(scenario, found) : { faults: scenario.faults, violation: found };
  return {
    seed,
    violation,
    statement: invariants[violation.invariant],
    faults: faults.map(lineOf),
    drawn: scenario.faults.length,
  };
};

const lineOf = (fault: Fault): string => `${timeText(fault.at)}  ${spellFault(fault)}`;

/** Minutes, seconds and milliseconds after the market began. */
export const timeText = (ms: number): string => {
  const whole = Math.round(Math.abs(ms));
  const pad = (value: number, width: number): string => String(value).padStart(width, "0");
  return `${ms < 0 ? "-" : ""}${pad(Math.floor(whole / 60_000), 2)}:${pad(Math.floor(whole / 1_000) % 60, 2)}.${pad(whole % 1_000, 3)}`;
};

export interface TraceListeners {
  readonly onLine: (line: string) => void;
  /** Receives a text for people before the fewest faults are looked for. */
  readonly onNotice?: ((text: string) => void) | undefined;
}

const shorteningText = (seed: number, drawn: number): string =>
  `Seed ${seed} fails with ${drawn} faults. Looking for the fewest that are enough: up to ${shrinkTries} runs of the scenario.`;

/**
 * One seed played line by line, with the shortest list of faults where it fails; gives the violation, if there is one.
 */
export const traceSeed = async (
  input: unknown,
  seed: number,
  options: SimulateOptions,
  { onLine, onNotice }: TraceListeners,
): Promise<Violation | undefined> => {
  const config = checkSimulated(input);
  const scenario = scenarioOf(config, marketOf(config, options.fixture), seed, options);
  const { violations } = await runScenario(scenario);
  const [found] = violations;
  if (found !== undefined) onNotice?.(shorteningText(seed, scenario.faults.length));
  const faults = found === undefined ? scenario.faults : (await shorten(scenario, found)).faults;
  const ending = await runScenario(
    { ...scenario, faults },
    { onLine: (at, line) => onLine(`${timeText(at)}  ${line}`) },
  );
  return ending.violations[0];
};

/** Sums of runs of different seeds. */
export const joinSummaries = (parts: readonly Summary[]): Summary => {
  const [head, ...rest] = parts;
  if (head === undefined) throw new SluiceError("BUG", "There is nothing to join.");
  return rest.reduce(joinTwo, head);
};

const joinTwo = (a: Summary, b: Summary): Summary => {
  const marks: Record<string, number> = { ...a.marks };
  for (const [name, count] of Object.entries(b.marks)) marks[name] = (marks[name] ?? 0) + count;
  return {
    seeds: a.seeds + b.seeds,
    minutes: a.minutes,
    // They ran at the same time.
    elapsedMs: Math.max(a.elapsedMs, b.elapsedMs),
    simulatedMs: a.simulatedMs + b.simulatedMs,
    events: a.events + b.events,
    requests: a.requests + b.requests,
    weight: a.weight + b.weight,
    processes: a.processes + b.processes,
    refused: a.refused + b.refused,
    excused: a.excused + b.excused,
    failures: [...a.failures, ...b.failures].sort((x, y) => x.seed - y.seed),
    marks: byName(marks),
    neverReached: markNames.filter((name) => marks[name] === undefined),
  };
};

const byName = (counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
