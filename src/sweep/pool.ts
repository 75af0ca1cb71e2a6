/**
 * Several threads that work off lists of jobs.
 *
 * Invariants: every job is answered once, or the pool was closed; a job whose thread died has failed, and a new thread takes the
 * next one; a thread is opened when it is needed and kept for later lists; when `close` settles none is left.
 * Not here: the order of results (sweep.ts keeps them by index), what a thread is (thread.ts).
 */
import type { Answer, Job } from "./job.ts";
import type { Thread } from "./thread.ts";

export type Answered = (job: Job, answer: Answer) => void;

export interface Pool {
  /** `answered` is called as answers come, in whatever order. Rejects when a thread cannot be opened. */
  run(jobs: readonly Job[], answered: Answered): Promise<void>;
  /** What is running is abandoned, and `run` settles. */
  close(): Promise<void>;
}

export const createPool = (size: number, open: () => Promise<Thread>): Pool => {
  const threads = new Set<Thread>();
  const idle: Thread[] = [];
  let closed = false;
  const opened = async (): Promise<Thread> => {
    const thread = idle.pop() ?? (await open());
    threads.add(thread);
    if (closed) await thread.close();
    return thread;
  };
  const lane = async (next: () => Job | undefined, answered: Answered): Promise<void> => {
    let thread: Thread | undefined;
    for (let job = next(); job !== undefined; job = next()) {
      thread ??= await opened();
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
      await Promise.all(Array.from({ length: Math.min(size, jobs.length) }, () => lane(next, answered)));
    },
    close: async () => {
      closed = true;
      await Promise.all([...threads].map((thread) => thread.close()));
    },
  };
};
