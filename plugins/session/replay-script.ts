/**
 * A recorded session as a script: what comes next, and whether what the engine does is what it did then.
 *
 * Invariants: after the first divergence, and after the last record, nothing is compared any more and every question is
 * answered with nothing; the instant is that of the last entry taken.
 * Not here: handing the entries to an engine (replayer.ts), the words for a difference (divergence.ts).
 */
import { SluiceError } from "sluice";
import {
  type Divergence,
  type DivergenceKind,
  describe,
  differences,
  type FieldDifference,
  type Passed,
} from "./divergence.ts";
import type { Session } from "./session-file.ts";
import {
  type Entry,
  isEntry,
  isOutput,
  isReply,
  isTape,
  type Output,
  type Reply,
  type SessionRecord,
} from "./session-records.ts";

const beforeMax = 8;

export class ReplayScript {
  /** Requests that left, inputs that came, and facts of the journal that were compared. */
  readonly counts = { commands: 0, entries: 0, facts: 0 };
  readonly #name: string;
  readonly #records: ReturnType<Session["records"]>;
  readonly #onLeave: (ip: string) => void;
  readonly #passed: Passed[] = [];
  #index = 0;
  #next: SessionRecord | undefined;
  #last: SessionRecord | undefined;
  #entry: Entry | undefined;
  #startedAt = 0;
  #divergence: Divergence | undefined;

  /** `onLeave` answers the service's request for leave, at the place where it was asked. */
  constructor(session: Session, onLeave: (ip: string) => void) {
    this.#name = session.name;
    this.#records = session.records();
    this.#onLeave = onLeave;
    this.#next = this.#read();
  }

  get now(): number {
    return this.#entry?.now ?? 0;
  }

  get wallNow(): number {
    return this.#entry?.wall ?? this.now;
  }

  get startedAt(): number {
    return this.#startedAt;
  }

  get divergence(): Divergence | undefined {
    return this.#divergence;
  }

  /** Nothing is left to compare: it diverged, or the session is over. */
  get over(): boolean {
    return this.#divergence !== undefined || this.#next === undefined;
  }

  /** The next entry, which becomes the present; undefined when the script is over. */
  take(): Entry | undefined {
    const next = this.#next;
    if (this.over || next === undefined) return undefined;
    if (isOutput(next)) {
      this.#diverge(
        "missing",
        this.#index,
        { recorded: describe(next), replayed: "nothing before the next entry" },
        [],
      );
      return undefined;
    }
    if (!isEntry(next)) {
      const place = `${this.#name}: record ${this.#index}`;
      throw new SluiceError(
        "FIXTURE_INVALID",
        `${place} is a reply to nothing. The session is damaged; record it again.`,
      );
    }
    this.#entry = next;
    if (this.#index === 0) this.#startedAt = next.now;
    this.counts.entries++;
    this.#advance(next);
    return next;
  }

  /** The engine does something. Returns what the service replied then, if anything. */
  act(output: Output): Reply | undefined {
    const next = this.#next;
    if (this.over || next === undefined) return undefined;
    const plain = JSON.parse(JSON.stringify(output)) as Output;
    const replayed = describe(plain);
    if (!isOutput(next)) {
      this.#diverge("unexpected", this.#index, { recorded: `nothing more before: ${describe(next)}`, replayed }, []);
      return undefined;
    }
    const fields =
      next.out === plain.out ? differences(next, plain) : [{ path: "out", recorded: next.out, replayed: plain.out }];
    if (fields.length > 0) {
      this.#diverge("differs", this.#index, { recorded: describe(next), replayed }, fields);
      return undefined;
    }
    if (plain.out === "request") this.counts.commands++;
    if (plain.out === "event") this.counts.facts++;
    this.#advance(next);
    return this.#replies();
  }

  /** The entry taken last cannot be handed over. */
  fail(kind: DivergenceKind, replayed: string, fields: readonly FieldDifference[] = []): void {
    this.#diverge(
      kind,
      this.#index - 1,
      { ...(this.#last !== undefined && { recorded: describe(this.#last) }), replayed },
      fields,
    );
  }

  #read(): SessionRecord | undefined {
    // Not a loop over the generator itself: leaving one would end it.
    for (let step = this.#records.next(); step.done !== true; step = this.#records.next()) {
      if (!isTape(step.value)) return step.value;
      this.#index++;
    }
    return undefined;
  }

  #advance(record: SessionRecord): void {
    this.#last = record;
    this.#passed.push({ index: this.#index, at: this.now, text: describe(record) });
    if (this.#passed.length > beforeMax + 1) this.#passed.shift();
    this.#index++;
    this.#next = this.#read();
  }

  #diverge(
    kind: DivergenceKind,
    index: number,
    words: Pick<Divergence, "recorded" | "replayed">,
    fields: readonly FieldDifference[],
  ): void {
    if (this.#divergence !== undefined) return;
    const before = this.#passed.filter((one) => one.index < index).slice(-beforeMax);
    this.#divergence = {
      kind,
      index,
      line: index + 2,
      at: this.now,
      sinceMs: this.now - this.#startedAt,
      ...words,
      fields,
      before,
    };
  }

  /** Replies of the service before the call returned; it may have asked for leave in the meantime. */
  #replies(): Reply | undefined {
    let answer: Reply | undefined;
    while (!this.over && this.#next !== undefined && isReply(this.#next)) {
      const reply: Reply = this.#next;
      this.#advance(reply);
      if (reply.re === "leave") this.#onLeave(reply.ip);
      else answer = reply;
    }
    return answer;
  }
}
