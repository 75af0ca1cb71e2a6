/**
 * Threads of a worker that run the jobs of one sheet.
 *
 * Invariants: a thread runs one job at a time and is kept for the next; one that dies is replaced; when `close` settles
 * none is left.
 * Not here: how many jobs there are at a time (queue-worker.ts).
 */
import type { Ended, Thread } from "../thread.ts";

export class WorkThreads<J, A> {
  readonly #open: () => Promise<Thread<J, A>>;
  readonly #all = new Set<Thread<J, A>>();
  readonly #idle: Thread<J, A>[] = [];
  #closed = false;

  constructor(open: () => Promise<Thread<J, A>>) {
    this.#open = open;
  }

  async run(job: J): Promise<Ended<A>> {
    if (this.#closed) return { kind: "died", reason: "it was closed" };
    const thread = this.#idle.pop() ?? (await this.#open());
    this.#all.add(thread);
    if (this.#closed) await thread.close();
    const ended = await thread.run(job);
    if (ended.kind === "answer") this.#idle.push(thread);
    else this.#all.delete(thread);
    return ended;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((thread) => thread.close()));
  }
}
