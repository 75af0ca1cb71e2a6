/**
 * A recorded session as events, prices, books and what its quota was spent on.
 *
 * Invariants: read record by record, from the first; an event happened at the instant of the entry that it follows;
 * prices and books are those that the recorded engine saw, and trades those kept beside them; of a book its best levels
 * are kept, at most ten times a second.
 * Not here: the file (session-file.ts), how it is played (`sluice ui`).
 */

import type { BookView, Event, Quote, Trade } from "sluice";
import type { EventOf } from "sluice/extension";
import { definePlayableRuns, type PlayableRun } from "sluice/plugins/playback";
import { codecOf, readName } from "./market-rows.ts";
import { readSession } from "./session-file.ts";
import { isEntry, isOutput, isTape, type SessionRecord } from "./session-records.ts";

const bookEveryMs = 100;
const levelsMax = 10;

type BookRow = PlayableRun["books"][number];
type QuotaStep = PlayableRun["quota"][number];

const readSessionRun = (dir: string): PlayableRun => {
  const session = readSession(dir);
  const market = new RecordedMarket();
  const events: Event[] = [];
  const quota: QuotaStep[] = [];
  const stepOf = quotaSteps();
  let now = 0;
  for (const record of session.records()) {
    if (isEntry(record)) now = record.now;
    const step = stepOf(record, now);
    if (step !== undefined) quota.push(step);
    if (isOutput(record) && record.out === "event")
      events.push({ ...record.event, seq: events.length, at: now } as unknown as Event);
    else if (isEntry(record) && record.in === "stream") market.take(record.stream, record.value, now);
    else if (isTape(record)) market.take(record.tape, record.value, now);
  }
  return { facts: session.header, events, prices: market.prices, books: market.books, quota };
};

class RecordedMarket {
  readonly prices: PlayableRun["prices"][number][] = [];
  readonly books: BookRow[] = [];
  /** A book is written as what has changed, so that each stream is read by one codec from its first row on. */
  readonly #codecs = new Map<string, ReturnType<typeof codecOf>>();
  readonly #last = new Map<string, number>();

  take(stream: string, value: unknown, at: number): void {
    const name = readName(stream);
    if (name === undefined || name.kind === "candles") return;
    const codec = this.#codecs.get(stream) ?? codecOf(name);
    this.#codecs.set(stream, codec);
    const row = codec.decode(value);
    if (name.kind === "quotes") {
      const { instId, bidPx, askPx } = row as Quote;
      this.prices.push({ at, instId, bid: bidPx, ask: askPx });
    } else if (name.kind === "trades") {
      const { instId, px } = row as Trade;
      this.prices.push({ at, instId, last: px });
    } else this.#takeBook(row as BookView, at);
  }

  #takeBook({ instId, bids, asks }: BookView, at: number): void {
    const row = { instId, at, bids: levelsOf(bids), asks: levelsOf(asks) };
    const place = this.#last.get(instId);
    const last = place === undefined ? undefined : this.books[place];
    // Of those within one step the last is what is shown.
    if (
      place !== undefined &&
      last !== undefined &&
      Math.floor(last.at / bookEveryMs) === Math.floor(at / bookEveryMs)
    ) {
      this.books[place] = { ...row, at: last.at };
      return;
    }
    this.#last.set(instId, this.books.push(row) - 1);
  }
}

const levelsOf = (levels: BookView["bids"]): BookRow["bids"] =>
  levels.slice(0, levelsMax).map(({ px, qty }) => [px, qty] as const);

/** Picks the steps out of the records of a session, one record after the other. */
const quotaSteps = (): ((record: SessionRecord, now: number) => QuotaStep | undefined) => {
  let sent: EventOf<"action.sent"> | undefined;
  let ip = "";
  return (record, at) => {
    if (isEntry(record)) {
      if (record.in === "open") return { at, step: "opened" };
      if (record.in === "answer")
        return { at, step: "answered", request: record.request, status: record.status, headers: record.headers };
      if (record.in === "failure") return { at, step: "lost", request: record.request };
      if (record.in === "leave") ip = record.ip;
    } else if (isOutput(record)) {
      if (record.out === "event" && record.event["type"] === "action.sent")
        sent = record.event as unknown as EventOf<"action.sent">;
      else if (record.out === "leave" && record.until === undefined) return { at, step: "left", ip };
      else if (record.out === "request" && sent !== undefined) {
        const { endpoint, class: kind, weight, key } = sent;
        sent = undefined;
        return { at, step: "sent", request: record.request, action: { endpoint, class: kind, weight, key } };
      }
    }
    return undefined;
  };
};

export default definePlayableRuns({ read: readSessionRun });
