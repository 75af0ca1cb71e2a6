/**
 * Process supervisor of the simulation: restarts the engine after a crash or a failed stop.
 *
 * Invariants: at most one process at a time; the next begins when the last has released everything; requests a dead process had
 * sent still arrive.
 */
import { letPromisesSettle } from "../../clock/microtasks.ts";
import type { Event } from "../../journal/events.ts";
import type { Environment } from "./environment.ts";
import { type CrashMoment, cancelsAtStop, crashMomentOf, diskFateOf, type Fault, type FaultKind } from "./fault.ts";
import { type SimulatedProcess, startSimulatedProcess } from "./simulated-process.ts";

export interface ProcessSupervisor {
  readonly current: SimulatedProcess | undefined;
  /** Something waits to be done between two steps. */
  readonly busy: boolean;
  tend(): Promise<void>;
  begin(): void;
  crash(fault: Fault): void;
  restart(fault: Fault): void;
  /** No more faults: whatever stands still goes on, whatever cannot is replaced. */
  calm(): void;
  /** Stops the current process for good; resolves while time passes. */
  retire(): void;
  readonly retired: boolean;
  readonly lives: number;
}

interface ProcessSupervisorOptions {
  readonly seed: string;
  readonly plugins: boolean;
  readonly log: (event: Event) => void;
}

/** A crash that waits for its moment happens anyway after this. */
const patienceMs = 10_000;
const failedStartMs = 5_000;
const journalFailureMs = 30_000;
const turnsMax = 200;

export const createProcessSupervisor = (environment: Environment, options: ProcessSupervisorOptions): ProcessSupervisor => {
  const { time, disk, random, marks, tell } = environment;
  let current: SimulatedProcess | undefined;
  let lives = 0;
  let jobs: (() => Promise<void>)[] = [];
  let retired = false;

  const later = (ms: number, job: () => void): void => {
    time.setTimer(time.now() + ms, job);
  };
  /** Lets the process go to its end without time passing. */
  const settle = async (promise: Promise<unknown>): Promise<void> => {
    let done = false;
    const end = (): void => {
      done = true;
    };
    promise.then(end, end);
    for (let turn = 0; turn < turnsMax && !done; turn++) await letPromisesSettle();
    if (!done) environment.fail("I12", "a dead process does not let go of what it holds");
  };
  const begin = (): void => {
    if (current !== undefined || retired) return;
    lives++;
    tell(`process #${lives} starts`);
    current = startSimulatedProcess(environment, {
      ...options,
      number: lives,
      onFailedStart: (error) => {
        marks.mark("a start failed and was tried again");
        tell(`the start fails: ${error instanceof Error ? error.message : String(error)}`);
        replace(failedStartMs);
      },
      onJournalFailure: () => {
        marks.mark("the journal failed");
        const failed = current;
        later(journalFailureMs, () => {
          if (current === failed) stopAndStart(false, 1_000);
        });
      },
    });
  };
  const replace = (ms: number): void => {
    current = undefined;
    later(ms, begin);
  };
  const bury = async (life: SimulatedProcess, how: () => void, downMs: number): Promise<void> => {
    life.abandon();
    await settle(Promise.allSettled([life.begun, life.engine.stop()]));
    how();
    if (current === life) replace(downMs);
  };
  const kill = (life: SimulatedProcess, how: () => void, downMs: number): void => {
    if (!life.clock.alive || life.state === "over") return;
    tell(`process #${life.number} dies`);
    life.clock.kill();
    life.state = "over";
    // It takes a while until a restarted client's quota counts again; what it had under way lands unannounced.
    jobs.push(async () => bury(life, how, downMs));
  };
  const stopAndStart = (cancel: boolean, downMs: number): void => {
    const life = current;
    if (life === undefined || life.state !== "running" || life.clock.paused) return;
    tell(`process #${life.number} is stopped`);
    life.state = "stopping";
    const ended = (): void => {
      if (life.state !== "stopping") return;
      life.state = "over";
      tell(`process #${life.number} has stopped`);
      checkLeftovers(life);
      if (current === life) replace(downMs);
    };
    life.engine.stop({ cancel }).then(ended, ended);
  };
  /** What a stop left running is given some time to end by itself. */
  const checkLeftovers = (life: SimulatedProcess): void => {
    later(leftoverMs, () => {
      if (!life.clock.alive) return;
      if (life.requestsAfterStop() > 0) environment.fail("I12", `${life.requestsAfterStop()} requests left after the engine had stopped`);
      else if (life.clock.timers > 0) environment.fail("I12", `${life.clock.timers} timers are left after the engine has stopped`);
      life.clock.kill();
    });
  };

  return {
    get current() {
      return current;
    },
    get lives() {
      return lives;
    },
    get busy() {
      return jobs.length > 0;
    },
    get retired() {
      return retired && current?.state !== "stopping" && jobs.length === 0;
    },
    tend: async () => {
      const due = jobs;
      jobs = [];
      for (const job of due) await job();
    },
    begin,
    crash: (fault) => {
      const life = current;
      if (life === undefined) return;
      const fate = diskFateOf(fault);
      const how = (): void => {
        disk.crash(fate, random.fork(`disk ${fault.at}`));
        if (!forgets(fault)) return;
        environment.amnesia = true;
        disk.wipe();
      };
      const die = (): void => {
        kill(life, how, fault.size);
      };
      const moment = momentOf(fault);
      if (moment === "at once") {
        die();
        return;
      }
      life.dieAt(moment, die);
      later(patienceMs, die);
    },
    restart: (fault) => {
      stopAndStart(cancelsAtStop(fault), fault.size);
    },
    calm: () => {
      if (current?.clock.paused === true) current.clock.resume();
      if (current === undefined) begin();
      else if (current.journalFailed()) stopAndStart(false, 1_000);
      if (current?.state === "running" && current.watched.mode === "halted") current.engine.resume("quiet");
    },
    retire: () => {
      retired = true;
      const life = current;
      if (life?.state !== "running") return;
      life.state = "stopping";
      const ended = (): void => {
        life.state = "over";
        checkLeftovers(life);
      };
      life.engine.stop({ cancel: true }).then(ended, ended);
    },
  };
};

const leftoverMs = 100_000;
const isOrphan = (kind: FaultKind): boolean => kind === "orphan" || kind === "first-orphan";
const forgets = ({ kind }: Fault): boolean => kind === "journal-lost" || isOrphan(kind);
const momentOf = (fault: Fault): CrashMoment =>
  isOrphan(fault.kind) ? "as an order leaves" : fault.kind === "crash" ? crashMomentOf(fault) : "at once";
