/**
 * Serialises engine inputs: each is processed to quiescence, synchronously and in microtasks, before the next.
 *
 * Invariants: inputs have one order, the order in which they came; while one is processed, the clock stands still; what was canceled
 * while it waited is neither processed nor recorded; when recording fails, it is given up and the engine goes on without it.
 * Not here: what the inputs are (recorder.ts), where they are written (session-file.ts).
 */

import type { Clock } from "../../clock/clock.ts";
import { letPromisesSettle } from "../../clock/microtasks.ts";
import { outside } from "../../host/execution-context.ts";
import type { EntryBody, Output, Reply, SessionRecord, TapeRow } from "./session-records.ts";

export interface RecordWriter {
  write(record: SessionRecord): void;
  /** Nothing waits any more: what was written should be where a crash cannot take it. */
  flush(): void;
  end(reason: string): void;
}

export interface InputSequencer {
  readonly now: () => number;
  readonly wallNow: () => number;
  /** Lets `run` in at once or when its turn comes. `body` is asked then; undefined, as when nobody waits any more, skips it. */
  enter(body: () => EntryBody | undefined, run: () => void): void;
  /**
   * For what cannot wait, as it is asked for a reply: goes in at once. Other code of the machine runs only when the promises of
   * the entry before have settled, so the order is one that a replay can keep.
   */
  interject(body: EntryBody, run: () => void): void;
  /** Runs a call of the engine into the service. */
  asking<T>(call: () => T): T;
  /** True inside such a call. */
  readonly asked: boolean;
  /** The engine does something; without an entry that caused it, it becomes one that cannot be replayed. */
  touch(): void;
  note(output: Output): void;
  reply(reply: Reply): void;
  /** Something that does not enter the engine. */
  keep(row: TapeRow): void;
  /** Runs when nothing is written any more. */
  onClose(run: () => void): void;
  /** Resolves when nothing is in and nothing waits. */
  readonly settled: () => Promise<void>;
  /** Nothing is written from here on; whatever happens goes straight through. */
  close(reason: string): void;
}

interface Waiting {
  readonly body: () => EntryBody | undefined;
  readonly run: () => void;
}

const waitingMax = 100_000;

/** `onGivenUp` is told why, when recording cannot go on. */
export const createInputSequencer = (clock: Clock, writer: RecordWriter, onGivenUp: (why: string) => void): InputSequencer => {
  /** Those before `first` have had their turn: taking from the front of a long list would move all of it. */
  let waiting: Waiting[] = [];
  let first = 0;
  let busy = false;
  let holds = 0;
  let depth = 0;
  let closed = false;
  let now = clock.now();
  let wall = clock.wallNow();
  let idle: (() => void)[] = [];
  const closers: (() => void)[] = [];

  const guard = (work: () => void): void => {
    if (closed) return;
    try {
      work();
    } catch (error) {
      giveUp(`the session could not be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const giveUp = (why: string): void => {
    close(why);
    onGivenUp(why);
  };
  const close = (reason: string): void => {
    if (closed) return;
    guard(() => {
      writer.end(reason);
    });
    closed = true;
    for (const run of closers) run();
  };
  const write = (record: SessionRecord): void => {
    guard(() => {
      writer.write(record);
    });
  };
  const begin = (body: EntryBody): void => {
    busy = true;
    holds++;
    now = Math.max(now, clock.now());
    wall = clock.wallNow();
    write({ ...body, now, ...(wall !== now && { wall }) });
    // The next turn of the machine: by then every promise that could settle has settled.
    void letPromisesSettle().then(release);
  };
  const letIn = ({ body, run }: Waiting): boolean => {
    const entry = body();
    if (entry === undefined) return false;
    begin(entry);
    run();
    return true;
  };
  const take = (): Waiting | undefined => {
    const next = waiting[first++];
    if (next === undefined || (first > 1_024 && first * 2 > waiting.length)) {
      waiting = waiting.slice(first);
      first = 0;
    }
    return next;
  };
  const pass = ({ body, run }: Waiting): void => {
    if (body() !== undefined) run();
  };
  const release = (): void => {
    if (--holds > 0) return;
    busy = false;
    let next = take();
    // After the end of recording nobody has to wait for anybody.
    for (; next !== undefined; next = take()) {
      if (closed) pass(next);
      else if (letIn(next)) return;
    }
    guard(() => {
      writer.flush();
    });
    const resolve = idle;
    idle = [];
    for (const one of resolve) one();
  };
  const enter: InputSequencer["enter"] = (body, run) => {
    const one = { body, run };
    outside(() => {
      if (closed && waiting.length === 0) pass(one);
      else if (busy || waiting.length > 0) waiting.push(one);
      else letIn(one);
    });
    if (waiting.length - first > waitingMax && !closed) giveUp(`more than ${waitingMax} entries waited for their turn`);
  };
  const touch = (): void => {
    if (!busy && !closed) outside(() => begin({ in: "stray" }));
  };

  return {
    now: () => (busy && !closed ? now : Math.max(now, clock.now())),
    wallNow: () => (busy && !closed ? wall : clock.wallNow()),
    enter,
    touch,
    interject: (body, run) => {
      outside(() => {
        if (!closed) begin(body);
        run();
      });
    },
    asking: (call) => {
      depth++;
      try {
        // What the service begins, such as a socket, is not the strategy's that made it do so.
        return outside(call);
      } finally {
        depth--;
      }
    },
    get asked() {
      return depth > 0;
    },
    note: (output) => {
      touch();
      write(output);
    },
    reply: write,
    keep: write,
    onClose: (run) => {
      closers.push(run);
    },
    settled: () =>
      new Promise((resolve) => {
        if (!busy && waiting.length === 0) resolve();
        else idle.push(resolve);
      }),
    close: (reason) => {
      close(reason);
      const late = waiting.slice(first);
      waiting = [];
      first = 0;
      // Nobody is told of them in the session any more, but whoever waits for one, as a journal for its disk, gets it.
      for (const one of late) pass(one);
    },
  };
};
