/**
 * Log of placements on a disk that may fail for a while: decides what may leave meanwhile, and how writing resumes.
 *
 * Invariants: a failure is reported once and its end once; while it lasts only exits leave without a record, and no
 * order leaves if another process continues the journal; the disk is tried every five seconds, and a new segment begins
 * with a state that includes the missed records.
 * Not here: the records (placement-journal.ts), segments (journal/write-ahead-log.ts).
 */
import type { Clock } from "../clock/clock.ts";
import { messageOf } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { WriteAheadLog } from "../journal/write-ahead-log.ts";

const restartMs = 5_000;

export class RecoverableLog {
  readonly #log: WriteAheadLog;
  readonly #clock: Clock;
  readonly #events: Pick<EventLog, "append">;
  /** Reason why nothing can be written now. */
  #failed: string | undefined;
  /** Number of exits that left meanwhile without a record. */
  #unrecorded = 0;
  #isClosed = false;

  constructor(log: WriteAheadLog, clock: Clock, events: Pick<EventLog, "append">) {
    this.#log = log;
    this.#clock = clock;
    this.#events = events;
  }

  /** Reason why no order may be sent now. */
  refused(isExit: boolean): string | undefined {
    return isExit && !this.#log.isLost ? undefined : this.#failed;
  }

  /** Appends a record. If it cannot be written, it is part of the caller's state, with which writing resumes. */
  append(record: object): void {
    if (this.#failed === undefined) this.#log.append(record);
  }

  /** Resolves when the appended records are durable, or when the exit with this id may leave without its record. */
  async commit(exit?: string): Promise<void> {
    try {
      await this.#log.commit();
    } catch (error) {
      this.#fail(error);
      if (exit === undefined || this.#log.isLost) throw error;
      if (this.#unrecorded++ > 0) return;
      const detail = `the exit ${exit} leaves without a record, and so do those that follow while the journal cannot be written. Should the process end before, the next run finds it at the service by its id, and books what it executed`;
      this.#events.append({ type: "anomaly", what: "journal.unrecorded", detail });
    }
  }

  /** Makes the appended records durable, without waiting for it. */
  flush(): void {
    this.#log.commit().catch((error: unknown) => {
      this.#fail(error);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#failed !== undefined) await this.#restart();
    await this.#log.close();
  }

  #fail(error: unknown): void {
    if (this.#failed !== undefined) return;
    this.#failed = messageOf(error);
    this.#events.append({ type: "journal.failed", reason: this.#failed });
    this.#restartLater();
  }

  #restartLater(): void {
    if (this.#isClosed || this.#log.isLost) return;
    this.#clock.setTimer(this.#clock.now() + restartMs, () => {
      if (!this.#isClosed) void this.#restart();
    });
  }

  async #restart(): Promise<void> {
    try {
      await this.#log.restart();
    } catch (error) {
      this.#failed = messageOf(error);
      this.#restartLater();
      return;
    }
    this.#failed = undefined;
    this.#events.append({ type: "journal.restored", unrecorded: this.#unrecorded });
    this.#unrecorded = 0;
  }
}
