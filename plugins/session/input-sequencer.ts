/**
 * Serialises engine inputs: each is processed to quiescence, synchronously and in microtasks, before the next.
 *
 * Invariants: inputs have one order, the order in which they came; while one is processed, the clock does not move;
 * what was canceled while it waited is neither processed nor recorded; when recording fails, it is given up and the
 * engine continues without it.
 * Not here: what the inputs are (recorder.ts), where they are written (session-file.ts).
 */

import { type Clock, letPromisesSettle, messageOf, outside } from "sluice/extension";
import type { EntryBody, Output, Reply, SessionRecord, TapeRow } from "./session-records.ts";

export interface RecordWriter {
  write(record: SessionRecord): void;
  /** No input waits: what was written should be where a crash cannot take it. */
  flush(): void;
  end(reason: string): void;
}

interface Waiting {
  readonly body: () => EntryBody | undefined;
  readonly run: () => void;
}

const waitingMax = 100_000;

export class InputSequencer {
  readonly #clock: Clock;
  readonly #writer: RecordWriter;
  readonly #onGivenUp: (why: string) => void;
  readonly #closers: (() => void)[] = [];
  /** Those before `#first` have been processed: taking from the front of a long list would move all of it. */
  #waiting: Waiting[] = [];
  #first = 0;
  #busy = false;
  #holds = 0;
  #depth = 0;
  #closed = false;
  #now: number;
  #wall: number;
  #idle: (() => void)[] = [];

  /** `onGivenUp` gets the reason when recording cannot go on. */
  constructor(clock: Clock, writer: RecordWriter, onGivenUp: (why: string) => void) {
    this.#clock = clock;
    this.#writer = writer;
    this.#onGivenUp = onGivenUp;
    this.#now = clock.now();
    this.#wall = clock.wallNow();
  }

  now(): number {
    return this.#busy && !this.#closed ? this.#now : Math.max(this.#now, this.#clock.now());
  }

  wallNow(): number {
    return this.#busy && !this.#closed ? this.#wall : this.#clock.wallNow();
  }

  /** True while a call of the engine into the service runs. */
  get asked(): boolean {
    return this.#depth > 0;
  }

  /**
   * Processes an input at once or in its turn. `body` is asked then; undefined, as when it is not needed any more,
   * skips it.
   */
  enter(body: () => EntryBody | undefined, run: () => void): void {
    const one = { body, run };
    outside(() => {
      if (this.#closed && this.#waiting.length === 0) pass(one);
      else if (this.#busy || this.#waiting.length > 0) this.#waiting.push(one);
      else this.#process(one);
    });
    if (this.#waiting.length - this.#first > waitingMax && !this.#closed)
      this.#giveUp(`more than ${waitingMax} entries waited for their turn`);
  }

  /**
   * For what cannot wait, as it is asked for a reply: processed at once. Other code of the machine runs only when the
   * promises of the entry before have settled, so the order is one that a replay can keep.
   */
  interject(body: EntryBody, run: () => void): void {
    outside(() => {
      if (!this.#closed) this.#begin(body);
      run();
    });
  }

  /** Runs a call of the engine into the service. */
  asking<T>(call: () => T): T {
    this.#depth++;
    try {
      // What the service begins, such as a socket, is not the strategy's that made it do so.
      return outside(call);
    } finally {
      this.#depth--;
    }
  }

  /** The engine does something; without an entry that caused it, it becomes one that cannot be replayed. */
  touch(): void {
    if (!this.#busy && !this.#closed) outside(() => this.#begin({ in: "stray" }));
  }

  note(output: Output): void {
    this.touch();
    this.#write(output);
  }

  reply(reply: Reply): void {
    this.#write(reply);
  }

  /** Records what does not enter the engine. */
  keep(row: TapeRow): void {
    this.#write(row);
  }

  /** Runs when nothing is written any more. */
  onClose(run: () => void): void {
    this.#closers.push(run);
  }

  /** Resolves when nothing is processed and nothing waits. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#busy && this.#waiting.length === 0) resolve();
      else this.#idle.push(resolve);
    });
  }

  /** Nothing is written from here on; inputs go straight through. */
  close(reason: string): void {
    this.#end(reason);
    const late = this.#waiting.slice(this.#first);
    this.#waiting = [];
    this.#first = 0;
    // They are not in the session any more, but what waits for one, as a journal for its disk, gets it.
    for (const one of late) pass(one);
  }

  #guard(work: () => void): void {
    if (this.#closed) return;
    try {
      work();
    } catch (error) {
      this.#giveUp(`the session could not be written: ${messageOf(error)}`);
    }
  }

  #giveUp(why: string): void {
    this.#end(why);
    this.#onGivenUp(why);
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#guard(() => this.#writer.end(reason));
    this.#closed = true;
    for (const run of this.#closers) run();
  }

  #write(record: SessionRecord): void {
    this.#guard(() => this.#writer.write(record));
  }

  #begin(body: EntryBody): void {
    this.#busy = true;
    this.#holds++;
    this.#now = Math.max(this.#now, this.#clock.now());
    this.#wall = this.#clock.wallNow();
    this.#write({ ...body, now: this.#now, ...(this.#wall !== this.#now && { wall: this.#wall }) });
    // The next turn of the machine: by then every promise that could settle has settled.
    void letPromisesSettle().then(() => this.#release());
  }

  #process({ body, run }: Waiting): boolean {
    const entry = body();
    if (entry === undefined) return false;
    this.#begin(entry);
    run();
    return true;
  }

  #take(): Waiting | undefined {
    const next = this.#waiting[this.#first++];
    if (next === undefined || (this.#first > 1_024 && this.#first * 2 > this.#waiting.length)) {
      this.#waiting = this.#waiting.slice(this.#first);
      this.#first = 0;
    }
    return next;
  }

  #release(): void {
    if (--this.#holds > 0) return;
    this.#busy = false;
    // After the end of recording nothing has to wait.
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      if (this.#closed) pass(next);
      else if (this.#process(next)) return;
    }
    this.#guard(() => this.#writer.flush());
    const resolve = this.#idle;
    this.#idle = [];
    for (const one of resolve) one();
  }
}

const pass = ({ body, run }: Waiting): void => {
  if (body() !== undefined) run();
};
