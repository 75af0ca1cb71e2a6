/**
 * A recorded session as a script: what comes next, and whether what the engine does is what it did then.
 *
 * Invariants: after the first divergence, and after the last record, nothing is compared any more and every question is answered
 * with nothing; the instant is that of the last entry taken.
 * Not here: handing the entries to an engine (replayer.ts), the words for a difference (divergence.ts).
 */
import { SluiceError } from "../../errors.ts";
import { type Divergence, type DivergenceKind, describe, differences, type FieldDifference, type Passed } from "./divergence.ts";
import type { Session } from "./session-file.ts";
import { type Entry, isEntry, isOutput, isReply, isTape, type Output, type Reply, type SessionRecord } from "./session-records.ts";

interface Counts {
  /** Requests that left, inputs that came, and facts of the journal that were compared. */
  commands: number;
  entries: number;
  facts: number;
}

export interface ReplayScript {
  readonly now: number;
  readonly wallNow: number;
  readonly startedAt: number;
  readonly counts: Readonly<Counts>;
  /** Nothing is left to compare: it diverged, or the session is over. */
  readonly over: boolean;
  readonly divergence: Divergence | undefined;
  /** The next entry, which becomes the present; undefined when the script is over. */
  take(): Entry | undefined;
  /** The engine does something. Returns what the service replied then, if anything. */
  act(output: Output): Reply | undefined;
  /** The entry taken last cannot be handed over. */
  fail(kind: DivergenceKind, replayed: string, fields?: readonly FieldDifference[]): void;
}

const beforeMax = 8;

/** `onLeave` answers the service's question for leave, at the place where it was asked. */
export const createReplayScript = (session: Session, onLeave: (ip: string) => void): ReplayScript => {
  const records = session.records();
  const counts: Counts = { commands: 0, entries: 0, facts: 0 };
  const passed: Passed[] = [];
  let index = 0;
  let next = read();
  let entry: Entry | undefined;
  let last: SessionRecord | undefined;
  let startedAt = 0;
  let divergence: Divergence | undefined;

  function read(): SessionRecord | undefined {
    // Not a loop over the generator itself: leaving one would end it.
    for (let step = records.next(); step.done !== true; step = records.next()) {
      if (!isTape(step.value)) return step.value;
      index++;
    }
    return undefined;
  }
  const now = (): number => entry?.now ?? 0;
  const advance = (record: SessionRecord): void => {
    last = record;
    passed.push({ index, at: now(), text: describe(record) });
    if (passed.length > beforeMax + 1) passed.shift();
    index++;
    next = read();
  };
  const diverge = (
    kind: DivergenceKind,
    at: number,
    words: Pick<Divergence, "recorded" | "replayed">,
    fields: readonly FieldDifference[],
  ): void => {
    if (divergence !== undefined) return;
    const before = passed.filter((one) => one.index < at).slice(-beforeMax);
    divergence = { kind, index: at, line: at + 2, at: now(), sinceMs: now() - startedAt, ...words, fields, before };
  };
  const isOver = (): boolean => divergence !== undefined || next === undefined;

  /** What the service replied before the call returned; it may have asked for leave meanwhile. */
  const replies = (): Reply | undefined => {
    let answer: Reply | undefined;
    while (!isOver() && next !== undefined && isReply(next)) {
      const reply: Reply = next;
      advance(reply);
      if (reply.re === "leave") onLeave(reply.ip);
      else answer = reply;
    }
    return answer;
  };
  const act = (output: Output): Reply | undefined => {
    if (isOver() || next === undefined) return undefined;
    const plain = JSON.parse(JSON.stringify(output)) as Output;
    const replayed = describe(plain);
    if (!isOutput(next)) {
      diverge("unexpected", index, { recorded: `nothing more before: ${describe(next)}`, replayed }, []);
      return undefined;
    }
    const fields = next.out === plain.out ? differences(next, plain) : [{ path: "out", recorded: next.out, replayed: plain.out }];
    if (fields.length > 0) {
      diverge("differs", index, { recorded: describe(next), replayed }, fields);
      return undefined;
    }
    if (plain.out === "request") counts.commands++;
    if (plain.out === "event") counts.facts++;
    advance(next);
    return replies();
  };
  const take = (): Entry | undefined => {
    if (isOver() || next === undefined) return undefined;
    if (isOutput(next)) {
      diverge("missing", index, { recorded: describe(next), replayed: "nothing before the next entry" }, []);
      return undefined;
    }
    if (!isEntry(next)) {
      const place = `${session.name}: record ${index}`;
      throw new SluiceError("FIXTURE_INVALID", `${place} is a reply to nothing. The session is damaged; record it again.`);
    }
    entry = next;
    if (index === 0) startedAt = entry.now;
    counts.entries++;
    advance(entry);
    return entry;
  };

  return {
    get now() {
      return now();
    },
    get wallNow() {
      return entry?.wall ?? now();
    },
    get startedAt() {
      return startedAt;
    },
    counts,
    get over() {
      return isOver();
    },
    get divergence() {
      return divergence;
    },
    take,
    act,
    fail: (kind, replayed, fields = []) => {
      diverge(kind, index - 1, { ...(last !== undefined && { recorded: describe(last) }), replayed }, fields);
    },
  };
};
