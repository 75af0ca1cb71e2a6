/**
 * Several threads that work off lists of jobs.
 *
 * Invariants: every job is answered once, or the pool was closed; a job whose thread died has failed, and a new thread
 * takes the next one; a thread is opened on demand and kept for later lists; when `close` settles none is left. A
 * sparing pool opens a further thread at once only where there are several jobs for it, else when work has gone on for
 * as long as opening the first took.
 * Not here: the order of results (sweep.ts keeps them by index), threads (thread.ts).
 */
import type { Clock, Timer } from "sluice/extension";
import type { Answer, Job } from "./job.ts";
import type { Thread } from "./thread.ts";

type Answered = (job: Job, answer: Answer) => void;

export interface Pool {
  /** Runs the jobs. `answered` is called as answers arrive, in any order. Rejects when a thread cannot be opened. */
  run(jobs: readonly Job[], answered: Answered): Promise<void>;
  /** Abandons the running jobs; `run` settles. */
  close(): Promise<void>;
}

interface PoolOptions {
  /** Most threads at a time. */
  readonly size: number;
  /** On whose time it is judged whether another thread pays; without it all are opened at once. */
  readonly sparing?: Clock;
}

/** Number of jobs per thread at which opening the thread pays off for jobs of any duration. */
const jobsWorthAThread = 4;

export const createPool = ({ size, sparing }: PoolOptions, open: () => Promise<Thread>): Pool => {
  const threads = new Set<Thread>();
  const idle: Thread[] = [];
  let closed = false;
  let openingMs: number | undefined;
  const opened = async (): Promise<Thread> => {
    const askedAt = sparing?.now() ?? 0;
    const kept = idle.pop();
    const thread = kept ?? (await open());
    if (kept === undefined) openingMs ??= (sparing?.now() ?? 0) - askedAt;
    threads.add(thread);
    if (closed) await thread.close();
    return thread;
  };
  /** Returns the number of threads opened at once for a list of this many jobs. */
  const atOnce = (jobs: number): number =>
    sparing === undefined ? size : Math.max(1, idle.length, Math.floor(jobs / jobsWorthAThread));
  const lane = async (next: () => Job | undefined, answered: Answered, onOpen?: () => void): Promise<void> => {
    let thread: Thread | undefined;
    for (let job = next(); job !== undefined; job = next()) {
      thread ??= await opened();
      onOpen?.();
      const ended = await thread.run(job);
      if (closed) return;
      if (ended.kind === "answer") answered(job, ended.answer);
      else {
        threads.delete(thread);
        thread = undefined;
        answered(job, { status: "failed", error: `its worker died: ${ended.reason}` });
      }
    }
    if (thread !== undefined) idle.push(thread);
  };
  return {
    run: async (jobs, answered) => {
      let taken = 0;
      const next = (): Job | undefined => (closed ? undefined : jobs[taken++]);
      const lanes = Math.min(size, jobs.length);
      const early = Math.min(lanes, atOnce(jobs.length));
      const working = createPatience(sparing, () => openingMs ?? 0);
      const first = Array.from({ length: early }, () => lane(next, answered, working.begun));
      const over = Promise.all(first).finally(working.over);
      const later = Array.from({ length: lanes - early }, async () => {
        if (await working.long) await lane(next, answered);
      });
      await Promise.all([over, ...later]);
    },
    close: async () => {
      closed = true;
      await Promise.all([...threads].map((thread) => thread.close()));
    },
  };
};

interface Patience {
  /** True once work has gone on for as long as opening a thread takes; false when it was over before. */
  readonly long: Promise<boolean>;
  readonly begun: () => void;
  readonly over: () => void;
}

const createPatience = (clock: Clock | undefined, openingMs: () => number): Patience => {
  let timer: Timer | undefined;
  let settle: (long: boolean) => void = () => undefined;
  const long = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  return {
    long,
    begun: () => {
      timer ??= clock?.setTimer(clock.now() + openingMs(), () => {
        settle(true);
      });
    },
    over: () => {
      timer?.cancel();
      settle(false);
    },
  };
};
