/**
 * Record types of the journal of placements, and the check of records that are read back.
 *
 * Invariants: an unknown kind is refused, not skipped.
 * Not here: their meaning (intents.ts, decisions.ts, holdings.ts, protection-records.ts), the file
 * (write-ahead-log.ts).
 */
import { SluiceError } from "../errors.ts";
import type { DecisionRecord } from "./decisions.ts";
import type { HeldRecord } from "./holdings.ts";
import type { IntentRecord } from "./intents.ts";
import type { ProtectedRecord } from "./protection-records.ts";

export type JournalRecord = IntentRecord | DecisionRecord | HeldRecord | ProtectedRecord;

const recordTypes = [
  "life",
  "sent",
  "unsent",
  "over",
  "mode",
  "limits",
  "held",
  "protection",
] satisfies readonly JournalRecord["type"][];

/**
 * Throws for an unknown kind: a record of a later version may forbid trading, so an engine that cannot read it must not
 * continue.
 */
export const knownRecord = (record: object, place: string): JournalRecord => {
  const { type } = record as JournalRecord;
  if (recordTypes.includes(type)) return record as JournalRecord;
  throw new SluiceError(
    "JOURNAL_INVALID",
    `${place}: it holds a record of type "${String(type)}", which this version does not know. Use the version that wrote it.`,
  );
};
