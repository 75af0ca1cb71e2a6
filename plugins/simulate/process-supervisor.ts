/**
 * Process supervisor of the simulation: restarts the engine after a crash or a failed stop.
 *
 * Invariants: at most one process at a time; the next begins when the last has released everything; requests a dead
 * process had sent still arrive.
 */

import type { Event } from "sluice";
import { letPromisesSettle, messageOf } from "sluice/extension";
import type { Environment } from "./environment.ts";
import {
  type CrashMoment,
  cancelsAtStop,
  crashMomentOf,
  diskFateOf,
  exitMoments,
  type Fault,
  type FaultKind,
} from "./fault.ts";
import { SimulatedProcess } from "./simulated-process.ts";

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

export class ProcessSupervisor {
  readonly #environment: Environment;
  readonly #options: ProcessSupervisorOptions;
  #current: SimulatedProcess | undefined;
  #processes = 0;
  #jobs: (() => Promise<void>)[] = [];
  #retired = false;

  constructor(environment: Environment, options: ProcessSupervisorOptions) {
    this.#environment = environment;
    this.#options = options;
  }

  get current(): SimulatedProcess | undefined {
    return this.#current;
  }

  /** Number of processes that were started. */
  get processes(): number {
    return this.#processes;
  }

  /** Something waits to be done between two steps. */
  get busy(): boolean {
    return this.#jobs.length > 0;
  }

  get retired(): boolean {
    return this.#retired && this.#current?.state !== "stopping" && this.#jobs.length === 0;
  }

  async tend(): Promise<void> {
    const due = this.#jobs;
    this.#jobs = [];
    for (const job of due) await job();
  }

  begin(): void {
    const { tell, marks } = this.#environment;
    if (this.#current !== undefined || this.#retired) return;
    this.#processes++;
    const { unrecorded } = this.#environment;
    if (unrecorded.size > 0) this.#environment.amnesia = true;
    unrecorded.clear();
    tell(`process #${this.#processes} starts`);
    this.#current = new SimulatedProcess(this.#environment, {
      ...this.#options,
      number: this.#processes,
      onFailedStart: (error) => {
        marks.mark("a start failed and was tried again");
        tell(`the start fails: ${messageOf(error)}`);
        this.#replace(failedStartMs);
      },
      onJournalFailure: () => {
        marks.mark("the journal failed");
        const failed = this.#current;
        this.#later(journalFailureMs, () => {
          if (this.#current === failed) this.#stopAndStart(false, 1_000);
        });
      },
    });
  }

  crash(fault: Fault): void {
    const process = this.#current;
    if (process === undefined) return;
    const { disk, random } = this.#environment;
    const fate = diskFateOf(fault);
    const die = (): void =>
      this.#kill(process, fault.size, () => {
        disk.crash(fate, random.fork(`disk ${fault.at}`));
        if (!forgets(fault)) return;
        this.#environment.amnesia = true;
        disk.wipe();
      });
    const moment = momentOf(fault);
    if (moment === "at once") {
      die();
      return;
    }
    process.dieAt(moment, die);
    // Exits are rare: a process that sends none lives on.
    if (!isAtExit(fault.kind)) this.#later(patienceMs, die);
  }

  restart(fault: Fault): void {
    this.#stopAndStart(cancelsAtStop(fault), fault.size);
  }

  /** Ends all faults: resumes a paused process, and replaces one that cannot continue. */
  calm(): void {
    const process = this.#current;
    if (process?.clock.paused === true) process.clock.resume();
    if (process === undefined) this.begin();
    else if (process.journalFailed) this.#stopAndStart(false, 1_000);
    if (this.#current?.state === "running" && this.#current.watched.mode === "halted")
      this.#current.engine.resume("quiet");
  }

  /** Stops the current process permanently; resolves while time passes. */
  retire(): void {
    this.#retired = true;
    const process = this.#current;
    if (process?.state !== "running") return;
    process.state = "stopping";
    const ended = (): void => {
      process.state = "over";
      this.#checkLeftovers(process);
    };
    process.engine.stop({ cancel: true }).then(ended, ended);
  }

  #later(ms: number, job: () => void): void {
    const { time } = this.#environment;
    time.setTimer(time.now() + ms, job);
  }

  #replace(ms: number): void {
    this.#current = undefined;
    this.#later(ms, () => this.begin());
  }

  /** Lets the process go to its end without time passing. */
  async #settle(promise: Promise<unknown>): Promise<void> {
    let done = false;
    const end = (): void => {
      done = true;
    };
    promise.then(end, end);
    for (let turn = 0; turn < turnsMax && !done; turn++) await letPromisesSettle();
    if (!done) this.#environment.fail("I12", "a dead process does not release what it holds");
  }

  #kill(process: SimulatedProcess, downMs: number, how: () => void): void {
    if (!process.clock.alive || process.state === "over") return;
    this.#environment.tell(`process #${process.number} dies`);
    process.clock.kill();
    // A stop that waits for cancels waits for time as well, which a dead process has none of.
    const stopped = process.state === "stopping" ? undefined : process.engine;
    process.state = "over";
    // It takes a while until a restarted client's quota counts again; what it had under way lands unannounced.
    this.#jobs.push(async () => {
      process.abandon();
      await this.#settle(Promise.allSettled([process.begun, stopped?.stop()]));
      how();
      if (this.#current === process) this.#replace(downMs);
    });
  }

  #stopAndStart(cancel: boolean, downMs: number): void {
    const { tell } = this.#environment;
    const process = this.#current;
    if (process === undefined || process.state !== "running" || process.clock.paused) return;
    tell(`process #${process.number} is stopped`);
    process.state = "stopping";
    const ended = (): void => {
      if (process.state !== "stopping") return;
      process.state = "over";
      tell(`process #${process.number} has stopped`);
      this.#checkLeftovers(process);
      if (this.#current === process) this.#replace(downMs);
    };
    process.engine.stop({ cancel }).then(ended, ended);
  }

  /** Checks that everything of a stopped process has ended after some time. */
  #checkLeftovers(process: SimulatedProcess): void {
    const { clock } = process;
    this.#later(leftoverMs, () => {
      if (!clock.alive) return;
      const { fail } = this.#environment;
      if (process.requestsAfterStop > 0)
        fail("I12", `${process.requestsAfterStop} requests left after the engine had stopped`);
      else if (clock.timers > 0) fail("I12", `${clock.timers} timers are left after the engine has stopped`);
      clock.kill();
    });
  }
}

const leftoverMs = 100_000;
const isOrphan = (kind: FaultKind): boolean => kind === "orphan" || kind === "first-orphan";
const forgets = ({ kind }: Fault): boolean => kind === "journal-lost" || isOrphan(kind);
const isAtExit = (kind: FaultKind): kind is keyof typeof exitMoments => kind in exitMoments;
const momentOf = (fault: Fault): CrashMoment => {
  if (isOrphan(fault.kind)) return "as an order leaves";
  if (isAtExit(fault.kind)) return exitMoments[fault.kind];
  return fault.kind === "crash" ? crashMomentOf(fault) : "at once";
};
