/**
 * One cell of the comparison: one limiter, one scenario, one seed, on virtual time.
 *
 * Invariants: between any two steps of time every microtask has run, as between two timers of the platform; the same cell
 * gives the same tally.
 * Not here: many cells at once (pool.ts), loading peers (worker.mjs).
 */
import { setImmediate as whenIdle } from "node:timers";
import type { Clock } from "../../../src/clock/clock.ts";
import { createVirtualClock, type VirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createRandom, type Random } from "../../../src/random.ts";
import type { CreateLimiter } from "./limiter.ts";
import { createLoad, type Load } from "./load.ts";
import { createMachine, type Machine } from "./machine.ts";
import { type Caller, createMeter, type Meter } from "./meter.ts";
import type { Scenario } from "./scenarios.ts";
import { type Counter, createCounter, type Tally } from "./tally.ts";
import { createWire } from "./wire.ts";

export interface CellOptions {
  readonly scenario: Scenario;
  readonly seed: number;
  /** Whole minutes that count; the partial one before them does not. */
  readonly minutes: number;
  readonly createLimiter: CreateLimiter;
  /** Told the client's clock before any client code runs. */
  readonly onClock?: (clock: Clock) => void;
}

const day = Date.UTC(2026, 0, 5);
const upsetEveryMs = 240_000;

interface Stage {
  readonly scenario: Scenario;
  readonly truth: VirtualClock;
  readonly machine: Machine;
  /** All that engines run on. */
  readonly machines: Set<Machine>;
  readonly meter: Meter;
  readonly counter: Counter;
  readonly random: Random;
}

const between = (random: Random, from: number, to: number): number => from + (to - from) * random.next();

/** Judges and counts; the user's own calls and the stranger's pass through here alike. */
const countedMeter = ({ truth, meter, counter }: Pick<Stage, "truth" | "meter" | "counter">): Meter => ({
  judge: (at, caller, weight) => {
    const foreign = caller.key.startsWith("stranger") || caller.copy === true;
    const verdict = meter.judge(at, caller, weight);
    if (verdict.accepted) counter.accepted(truth.now(), weight, foreign, caller.key.split(" ")[0]);
    else if (!foreign) counter.refused(truth.now());
    if (verdict.blocksForMs > 0) counter.blocked(truth.now(), verdict.blocksForMs);
    return verdict;
  },
});

const besides = ({ beside }: Scenario): number => (beside === undefined ? 0 : (beside.many ?? 1));

/** The machine of all engines, or one for an engine whose process stands still now and then. */
const machineOf = ({ truth, machine, random }: Stage, { stopsOf, driftPpm = 0 }: Scenario, name: string): Machine => {
  const stops = stopsOf?.[name];
  if (stops === undefined) return machine;
  const own = createMachine({ truth, random: random.fork(`${name} timers`), skewMs: 0, driftPpm, stopsAsleep: false });
  for (const [from, to] of stops) truth.setTimer(truth.now() + from, () => own.sleep(to - from));
  return own;
};

const engineOf = (stage: Stage, scenario: Scenario, name: string, createLimiter: CreateLimiter): Load => {
  const { truth, meter, counter } = stage;
  const random = stage.random.fork(name);
  const machine = machineOf(stage, scenario, name);
  stage.machines.add(machine);
  const owner = scenario.userEach ? name : "user";
  const users = Array.from({ length: scenario.users }, (_, index) => (index === 0 ? owner : `${owner}-${index}`));
  const callerOf = (user: string, key = ""): Caller => ({
    ip: "home",
    key: user === owner && key === "" ? name : `${name} ${user} ${key}`,
    user,
  });
  const dateOffMs =
    scenario.dateOffMsOf?.[name] ?? between(stage.random.fork("date"), -scenario.dateOffMsMax, scenario.dateOffMsMax);
  const wire = createWire({
    truth,
    machine,
    meter,
    legMs: scenario.legMs,
    dateOffMs,
    faults: scenario.faults,
    random: random.fork("wire"),
  });
  const limiterRandom = random.fork("limiter");
  const { changes, announced: isAnnounced } = scenario.faults;
  const startAt = truth.now();
  const announced = (isAnnounced ? changes : []).map(({ layer, atMs, max }) => ({
    layer,
    at: new Date(startAt + atMs).toISOString(),
    capacity: max,
  }));
  return createLoad({
    scenario,
    truth,
    machine,
    random,
    counter,
    createLimiter: () =>
      createLimiter({
        clock: machine.clock,
        random: limiterRandom,
        probe: (_kind, weight) => wire.send(callerOf(owner), weight, () => undefined),
        meanWeight: scenario.mix.reduce((sum, { share, weight }) => sum + share * weight, 0),
        urgentPerMinute: scenario.urgentPerMinute,
        sliding: scenario.faults.sliding,
        announced,
        openOrders: scenario.openOrders ?? 0,
        truth: { now: () => truth.now(), nextLegMs: () => wire.nextLegMs() },
        group: {
          cell: truth,
          member: name,
          engines: stage.scenario.engines + besides(stage.scenario),
          sharing: stage.scenario.sharing ?? {},
          now: () => truth.now(),
        },
      }),
    send: (user, key, weight, judged) => wire.send(callerOf(user, key), weight, judged),
    users,
  });
};

/** Calls `run` at random instants, `meanMs` apart on average. */
const poisson = (truth: VirtualClock, random: Random, meanMs: number, run: () => void): void => {
  truth.setTimer(truth.now() + random.exponential(meanMs), () => {
    run();
    poisson(truth, random, meanMs, run);
  });
};

/** As a time daemon does it: two minutes fast, three minutes right, two minutes slow, three minutes right. */
const slew = (truth: VirtualClock, machine: Machine, ppm: number): void => {
  const parts = [
    [ppm, 120_000],
    [0, 180_000],
    [-ppm, 120_000],
    [0, 180_000],
  ] as const;
  const turn = (index: number): void => {
    const [rate, forMs] = parts[index % parts.length] as (typeof parts)[number];
    machine.drift(rate);
    truth.setTimer(truth.now() + forMs, () => turn(index + 1));
  };
  turn(0);
};

const troubleOn = ({ scenario, truth, machine, meter, counter, random }: Stage, loads: readonly Load[]): void => {
  if (scenario.strangerPerMinute > 0) {
    poisson(truth, random.fork("stranger"), 60_000 / scenario.strangerPerMinute, () => {
      meter.judge(truth.now(), { ip: "elsewhere", key: "stranger", user: "user" }, 10);
    });
  }
  const { strangerBurst } = scenario;
  if (strangerBurst !== undefined) {
    poisson(truth, random.fork("stranger bursts"), strangerBurst.everyMs, () => {
      for (let spent = 0; spent < strangerBurst.weight; spent += 10)
        meter.judge(truth.now(), { ip: "elsewhere", key: `stranger ${spent}`, user: "user" }, 10);
    });
  }
  if (scenario.neighbourPerMinute > 0) {
    poisson(truth, random.fork("neighbour"), 60_000 / scenario.neighbourPerMinute, () => {
      meter.judge(truth.now(), { ip: "home", key: "stranger", user: "neighbour" }, 0);
    });
  }
  const { neighbourBurst } = scenario;
  if (neighbourBurst !== undefined) {
    poisson(truth, random.fork("neighbour bursts"), neighbourBurst.everyMs, () => {
      for (let sent = 0; sent < neighbourBurst.requests; sent++)
        meter.judge(truth.now(), { ip: "home", key: `stranger ${sent}`, user: `neighbour ${sent}` }, 0);
    });
  }
  if (scenario.slewPpm > 0) slew(truth, machine, scenario.slewPpm);
  if (scenario.restartEveryMs > 0) {
    const restart = (): void => {
      machine.restart();
      for (const load of loads) load.resume();
      truth.setTimer(truth.now() + scenario.restartEveryMs, restart);
    };
    truth.setTimer(truth.now() + scenario.restartEveryMs, restart);
  }
  if (scenario.upsets) {
    const upsets = random.fork("upsets");
    poisson(truth, upsets, upsetEveryMs, () => {
      const kind = upsets.next();
      if (kind < 0.5) {
        machine.stepWall(kind < 0.25 ? 3_600_000 : -3_600_000);
        return;
      }
      if (machine.asleep()) return;
      const ms = 1_000 * 600 ** upsets.next();
      machine.sleep(ms);
      counter.slept(truth.now(), truth.now() + ms);
    });
  }
};

export const runCell = async ({ scenario, seed, minutes, createLimiter, onClock }: CellOptions): Promise<Tally> => {
  const random = createRandom(`quota bench ${seed}`);
  const setting = random.fork("setting");
  const truth = createVirtualClock(day + 60_000 * setting.next());
  const counter = createCounter(truth.now(), minutes, scenario.binding, scenario.faults.changes);
  const machine = createMachine({
    truth,
    random: random.fork("timers"),
    skewMs: between(setting, -scenario.skewMsMax, scenario.skewMsMax),
    driftPpm: scenario.driftPpm ?? between(setting, -50, 50),
    stopsAsleep: seed % 2 === 1,
  });
  onClock?.(machine.clock);
  const meter = countedMeter({
    truth,
    meter: createMeter(scenario.faults, truth.now(), random.fork("meter")),
    counter,
  });
  const stage: Stage = { scenario, truth, machine, machines: new Set([machine]), meter, counter, random };
  const loads = Array.from({ length: scenario.engines }, (_, index) =>
    engineOf(stage, scenario, `engine-${index}`, createLimiter),
  );
  const { beside } = scenario;
  for (let index = 0; index < besides(scenario); index++)
    loads.push(engineOf(stage, { ...scenario, ...beside }, index === 0 ? "beside" : `beside-${index}`, createLimiter));
  for (const load of loads) load.start();
  troubleOn(stage, loads);
  const settle = (): Promise<void> =>
    new Promise((resolve) => {
      whenIdle(resolve);
    });
  await settle();
  const takeTouched = (): boolean => [...stage.machines].filter((one) => one.takeTouched()).length > 0;
  while (truth.step(counter.until)) if (takeTouched()) await settle();
  truth.advanceTo(counter.until);
  for (const load of loads) load.finish();
  return counter.total();
};
