/**
 * A recorded session as events and prices.
 *
 * Invariants: read record by record, from the first; an event happened at the instant of the entry that it follows; prices are those that
 * the recorded engine saw, and trades those kept beside them.
 * Not here: the file (verify/session/session-file.ts).
 */
import type { Event } from "../../journal/events.ts";
import type { Quote, Trade } from "../../market/market-data.ts";
import { codecOf, readName } from "../../verify/session/market-rows.ts";
import { readSession } from "../../verify/session/session-file.ts";
import { isEntry, isOutput, isTape } from "../../verify/session/session-records.ts";
import type { RecordedPrice } from "./price-rows.ts";

interface SessionRun {
  readonly events: readonly Event[];
  readonly prices: readonly RecordedPrice[];
}

export const readSessionRun = (dir: string): SessionRun => {
  const events: Event[] = [];
  const prices: RecordedPrice[] = [];
  let now = 0;
  for (const record of readSession(dir).records()) {
    if (isEntry(record)) now = record.now;
    if (isOutput(record) && record.out === "event") events.push({ ...record.event, seq: events.length, at: now } as unknown as Event);
    else if (isEntry(record) && record.in === "stream") prices.push(...priceOf(record.stream, record.value, now));
    else if (isTape(record)) prices.push(...priceOf(record.tape, record.value, now));
  }
  return { events, prices };
};

const priceOf = (stream: string, value: unknown, at: number): readonly RecordedPrice[] => {
  const name = readName(stream);
  if (name?.kind === "quotes") {
    const { instId, bidPx, askPx } = codecOf(name).decode(value) as Quote;
    return [{ at, instId, bid: bidPx, ask: askPx }];
  }
  if (name?.kind !== "trades") return [];
  const { instId, px } = codecOf(name).decode(value) as Trade;
  return [{ at, instId, last: px }];
};
