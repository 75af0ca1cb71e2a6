/**
 * Parser of socket messages of an exchange that identifies channels by `arg` and acknowledges by `event`.
 *
 * Invariants: pure; a message of unknown form throws, which is reported as malformed; a push keeps every record, in
 * order.
 * Not here: whether the records are what their channel promises (the live service).
 */

import { fromApproximate } from "sluice";
import type { ChannelArg, ParsedMessage, Push } from "sluice/dialect";
import { listOf, recordOf } from "./exchange-answer.ts";
import { exact, isNone, isRaw, type Raw } from "./record-table.ts";

interface PushTable {
  /** The channel and instrument in our words. */
  readonly argOf: (arg: Raw) => ChannelArg;
  /** The records of a channel's push in our words. */
  readonly records: Readonly<Record<string, (data: unknown, arg: ChannelArg) => readonly unknown[]>>;
  /** The one record of a book. */
  readonly bookOf: (data: unknown) => Raw;
  /** Parses an event besides the usual ones; undefined for unknown events. */
  readonly event?: (message: Raw) => readonly ParsedMessage[] | undefined;
}

export const hearIn =
  (table: PushTable) =>
  (text: string): readonly ParsedMessage[] => {
    if (text === "ping" || text === "pong") return [{ kind: text }];
    const message = recordOf(JSON.parse(text));
    const { event } = message;
    const arg = isRaw(message["arg"]) ? table.argOf(message["arg"]) : undefined;
    if (event === "login" && codeOf(message) === "0") return [{ kind: "login", refused: undefined }];
    if (event === "login") return [{ kind: "login", refused: reasonOf(message) }];
    if (event === "error") return [{ kind: "error", arg, reason: reasonOf(message) }];
    if (event === "subscribe" && arg !== undefined) return [{ kind: "subscribed", arg }];
    if (event === "unsubscribe" && arg !== undefined) return [{ kind: "unsubscribed", arg }];
    if (event === undefined && arg !== undefined) return pushesOf(table, arg, message);
    const heard = table.event?.(message);
    if (heard !== undefined) return heard;
    throw new TypeError("a message of no known kind");
  };

const pushesOf = ({ records, bookOf }: PushTable, arg: ChannelArg, { action, data }: Raw): readonly ParsedMessage[] => {
  if (arg.channel === "books") return bookPush(arg, action, bookOf(data));
  const read = records[arg.channel];
  if (read === undefined) throw new TypeError("a channel that was not asked for");
  return [pushOf({ arg, data: read(data, arg), action: undefined, seqId: undefined, prevSeqId: undefined })];
};

/**
 * Parses a book message. Sequence numbers are in the record. The first message of a book follows none, in any spelling
 * of the exchange; a repeated one without levels is a heartbeat.
 */
const bookPush = (arg: ChannelArg, action: unknown, book: Raw): readonly ParsedMessage[] => {
  const [seqId, told] = [sequence(book["seqId"]), sequence(book["prevSeqId"])];
  const [bids, asks] = [levelsOf(book["bids"]), levelsOf(book["asks"])];
  if (action !== "snapshot" && action !== "update") throw new TypeError("a book that is neither whole nor a change");
  if (action === "update" && seqId === told && bids.length === 0 && asks.length === 0) return [];
  const record = { instId: arg.instId, bids, asks, ts: book["ts"] };
  return [pushOf({ arg, data: [record], action, seqId, prevSeqId: action === "snapshot" ? first : told })];
};

const textMax = 120;

/** Text of the exchange as one short line. */
const shown = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  const line = text.replaceAll(/\p{C}+/gu, " ");
  return line.length > textMax ? `${line.slice(0, textMax - 3)}...` : line;
};

const pushOf = (push: Push): ParsedMessage => ({ kind: "push", push });

/** The described service's `prevSeqId` of a first message. */
const first = -1;
const placesMax = 15;

/** A number where the text is one; without it a gap could not be seen. */
const sequence = (value: unknown): number => {
  const number = typeof value === "string" && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  if (Number.isSafeInteger(number)) return number as number;
  throw new TypeError("a book without its place in the sequence");
};

/** Price and size of each level; exchanges put more behind them. */
const levelsOf = (levels: unknown): readonly unknown[] =>
  listOf(levels).map((level) => (Array.isArray(level) ? level.slice(0, 2).map(decimalOf) : level));

/** Decimal text, from a number too: what JSON wrote with few digits is read back digit by digit. */
const decimalOf = (value: unknown): unknown =>
  typeof value === "number" && Number.isFinite(value) ? fromApproximate(value, placesMax) : exact(value);

/**
 * A bar of a minute: opening time, four prices, volumes, and last whether it is over. `volumeAt` is the place of the
 * volume in base currency.
 */
export const minuteOf =
  (volumeAt: number, instId: string | undefined) =>
  (row: unknown): unknown => {
    if (!Array.isArray(row)) return row;
    const [ts, open, high, low, close] = row;
    const volume = row[volumeAt];
    return {
      instId,
      ts,
      open: exact(open),
      high: exact(high),
      low: exact(low),
      close: exact(close),
      volume: exact(volume),
      confirm: row.at(-1),
    };
  };

const codeOf = ({ code }: Raw): string => (isNone(code) ? "0" : String(code));
const reasonOf = ({ code, msg }: Raw): string => shown(`${shown(code ?? "")} ${shown(msg ?? "")}`.trim());
