/**
 * Recorded websocket messages, one a line with its receive time, as trades, quotes, book levels and marks of one
 * instrument.
 *
 * Invariants: the axis of time is the receive time or the exchange's, in whole microseconds; lines are taken in the
 * order of their times (stable), and a disorder of receive times beyond the tolerance is refused by both lines; skipped
 * messages are counted by reason; nothing is guessed.
 * Not here: messages of other exchanges (import-venues.ts), the exchange's axis (import-exchange.ts), rules of book
 * chains (import-book.ts), conversion to ticks and lots (import-decimals.ts).
 */
import { setImmediate as turn } from "node:timers/promises";
import { isDecimal, SluiceError } from "sluice";
import { askedBars, BarCalendar, type BarGrid } from "sluice/extension";
import { BestPrices } from "./import-best.ts";
import { BookChain } from "./import-book.ts";
import { importInvalid, parseDecimal } from "./import-decimals.ts";
import { type Axis, type Dated, exchangeAxis } from "./import-exchange.ts";
import type { TextLines } from "./import-file.ts";
import { createRows, type MessageRows, pushBar, pushLevels, pushQuote, pushTrade } from "./import-rows.ts";
import type { Terms } from "./import-terms.ts";
import { createInstants, linesInOrder, receiveTimes, timesOfExchange } from "./import-times.ts";
import { type Message, messagesAt } from "./message-lines.ts";
import type { Note, ReaderOptions } from "./reader-options.ts";
import { plainDigits } from "./table/cell-kinds.ts";
import { withoutFloat } from "./table/printed-floats.ts";
import { TradeIds } from "./table/repeated-trades.ts";

interface MessageOptions extends ReaderOptions {
  /** Base currency in one contract, as decimal text. */
  readonly contractSize?: string | undefined;
  /** Size of the file. `onRead` receives the progress; an exception that it throws ends the reading. */
  readonly ofBytes: number;
  readonly onRead?: ((bytes: number, rows: number) => void) | undefined;
  /** Destination of marks and funding. */
  readonly terms: Terms;
}

/** The next funding as last announced. */
interface NextFunding {
  at: number;
  rate: string;
}

interface Sink extends MessageRows {
  readonly terms: Terms;
  readonly next: NextFunding;
  readonly book: BookChain;
  readonly best: BestPrices;
  /** Returns the instant of the next row of a kind. */
  readonly instantOf: ReturnType<typeof createInstants>;
  readonly note: Note;
  /** Kind of prints used, single or aggregated trades, if the recording contains both. */
  prints: string | undefined;
  readonly tradeIds: TradeIds;
}

export const readMessages = async (
  lines: TextLines,
  options: MessageOptions,
): Promise<MessageRows & Pick<Axis, "feed">> => {
  const { note, onRead } = options;
  const sink = createSink(options);
  const symbols = new Set<string>();
  const { times, order, feed } = axisOf(lines, options);
  let done = 0;
  for (const index of order) {
    if (done++ % linesAtOnce === 0) {
      onRead?.(Math.round(options.ofBytes * (done / order.length)), done);
      await turn();
    }
    for (const message of messagesAt(lines, index, (times[index] as number) / 1000, options.contractSize)) {
      const symbol = symbolOf(message);
      if (symbol !== undefined) symbols.add(symbol);
      const subject = options.symbol ?? symbols.values().next().value;
      if (symbol === undefined && symbols.size > 1)
        note("messages without a symbol in a recording of several, dropped");
      else if (symbol !== undefined && symbol !== subject) note(`messages of another symbol (${symbol}), dropped`);
      else take(message, sink);
    }
  }
  checkSymbols(lines.file, symbols, options.symbol);
  sink.book.finish();
  return { ...sink, ...(feed && { feed }) };
};

/** Number of lines read between two checks for an abort. */
const linesAtOnce = 10_000;

const axisOf = (lines: TextLines, options: MessageOptions): Axis => {
  const { axis, disorderMs, note } = options;
  const dated = (index: number): Dated => datedAt(messagesAt(lines, index, 0, options.contractSize));
  if (lines.bytes[lines.from[0] ?? 0] === openingBrace) {
    const times = timesOfExchange(lines, dated);
    note("lines without a receive time, dated by the exchange's", times.length);
    return { times, order: linesInOrder(times, lines, disorderMs, note) };
  }
  const received = receiveTimes(lines);
  if (axis === "receive") return { times: received, order: linesInOrder(received, lines, disorderMs, note) };
  return exchangeAxis(received, lines, dated, note);
};

const openingBrace = 123;

const createSink = ({ prices, quantities, note, terms }: MessageOptions): Sink => {
  const rows = createRows(prices, quantities);
  const best = new BestPrices();
  const instantOf = createInstants();
  const book = new BookChain((messageAt, line, levels, lastId, snapshot) => {
    const at = instantOf("level", messageAt);
    const first = rows.levels.at.length;
    const { bids, asks } = best.corrected(lastId, levels, snapshot);
    if (bids !== levels.bids || asks !== levels.asks)
      note("book messages older than the best prices before them, corrected by these");
    pushLevels(rows.levels, at, line, 1, bids);
    pushLevels(rows.levels, at, line, -1, asks);
    if (snapshot && first < rows.levels.at.length) rows.levels.snapshot.values[first] = 1;
  }, note);
  return {
    ...rows,
    book,
    best,
    instantOf,
    note,
    terms,
    next: { at: 0, rate: "" },
    prints: undefined,
    tradeIds: new TradeIds(),
  };
};

/** Later counts are microseconds, which some exchanges can be asked for. */
const millisecondsMax = 1e14;

/** Returns the date of a line. The last of several messages in one line has the time at which it was sent. */
const datedAt = (messages: readonly Message[]): Dated => {
  const message = messages.at(-1);
  if (message === undefined) return { us: undefined, updateId: undefined, pushed: false };
  const event = eventOf(message);
  const at = exchangeTimeOf(message, event);
  const { u: id } = message.data;
  return {
    us: at === undefined || at >= millisecondsMax ? at : at * 1_000,
    updateId: (event === "depthUpdate" || event === "bookTicker") && typeof id === "number" ? id : undefined,
    pushed: pushedEvents.has(event),
  };
};

const pushedEvents: ReadonlySet<string> = new Set(["trade", "aggTrade", "bookTicker", "depthUpdate"]);

/** Returns the time of the event, else the time at which it was sent; a mark's `T` is that of the next funding. */
const exchangeTimeOf = (message: Message, event: string | undefined): number | undefined => {
  const { data } = message;
  if (data["T"] !== undefined && event !== "markPriceUpdate") return idOf(message, "T");
  return data["E"] === undefined ? undefined : idOf(message, "E");
};

const checkSymbols = (file: string, symbols: ReadonlySet<string>, asked: string | undefined): void => {
  const found = [...symbols].sort().join(", ");
  if (asked !== undefined && !symbols.has(asked)) {
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: no message is about symbol "${asked}"; found ${found || "none"}.`,
    );
  }
  if (asked === undefined && symbols.size > 1) {
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: the recording holds several symbols (${found}). Choose one with --symbol.`,
    );
  }
};

const symbolOf = ({ stream, data }: Message): string | undefined => {
  if (typeof data["s"] === "string") return data["s"];
  const at = stream.indexOf("@");
  return at > 0 ? stream.slice(0, at).toUpperCase() : undefined;
};

/** A spot best-price message names no event, a snapshot never does. */
const eventOf = ({ stream, data }: Message): string => {
  if (typeof data["e"] === "string") return data["e"];
  if ("lastUpdateId" in data) return "snapshot";
  if (stream.endsWith("@bookTicker") || ("b" in data && "B" in data && "a" in data && "A" in data)) return "bookTicker";
  return stream === "" ? "without event or stream" : stream;
};

const take = (message: Message, sink: Sink): void => {
  const event = eventOf(message);
  const taker = takers.get(event);
  if (taker === undefined) sink.note(`messages of a kind that is not imported (${event})`);
  else taker(message, sink);
};

/** Digits of a number, as in files of rows: `1E+6` is 1000000. Anything else stays as it is. */
const digitsOf = (value: unknown): unknown => {
  if (typeof value === "number") return plainDigits(String(value));
  return typeof value === "string" && /e/i.test(value) ? plainDigits(value) : value;
};

/** Decimal that the exchange sent: a recorder may have kept it as a binary float and printed that in full. */
const sentDecimal = (value: unknown, note: Note): unknown => {
  const digits = digitsOf(value);
  if (typeof digits !== "string") return digits;
  const sign = digits.startsWith("-") ? "-" : "";
  const unsigned = digits.slice(sign.length);
  const decimal = withoutFloat(unsigned, "decimal");
  if (decimal === unsigned) return digits;
  note("floats printed in full, read as the decimals they were rounded from");
  return `${sign}${decimal}`;
};

/** Decimals of a message in turn, as counts and places. */
const partsOf = ({ data, file, line }: Message, note: Note, ...fields: readonly string[]): readonly number[] =>
  fields.flatMap((field) => {
    const { count, places } = parseDecimal(sentDecimal(data[field], note), file, line, field);
    return [count, places];
  });

const takeTrade = (message: Message, sink: Sink): void => {
  const { data, file, line, at } = message;
  const parts = partsOf(message, sink.note, "p", "q");
  const makerBought = data["m"];
  if (typeof makerBought !== "boolean")
    throw importInvalid(file, line, `"m" is ${JSON.stringify(makerBought)}; expected true or false.`);
  sink.prints ??= eventOf(message);
  const isAggregated = eventOf(message) === "aggTrade";
  const reason =
    sink.prints === eventOf(message)
      ? (reasonToSkip(data["X"], parts[0] === 0 || parts[2] === 0) ??
        (sink.tradeIds.isRepeated(data[isAggregated ? "a" : "t"])
          ? "repeated trades by their ids, dropped"
          : undefined))
      : "repeated trades (single and aggregated), dropped";
  if (reason === undefined) pushTrade(sink.trades, sink.instantOf("trade", at), line, makerBought ? -1 : 1, parts);
  else sink.note(reason);
};

const reasonToSkip = (origin: unknown, zero: boolean): string | undefined => {
  if (origin !== undefined && origin !== "MARKET")
    return `trades that are not of the market (${JSON.stringify(origin)}), skipped`;
  return zero ? "trades of price or quantity zero, skipped" : undefined;
};

const takeQuote = (message: Message, { quotes, best, instantOf, note }: Sink): void => {
  const { u: id } = message.data;
  const parts = partsOf(message, note, "b", "B", "a", "A");
  best.note(typeof id === "number" ? id : undefined, parts);
  pushQuote(quotes, instantOf("quote", message.at), message.line, parts);
};

/**
 * A mark comes with the rate of the funding to come and its instant. The last rate announced before that instant is the
 * one charged, so a row is made when a message is past it.
 */
const takeMark = (message: Message, { terms, next, note }: Sink): void => {
  const { file, line, at, data } = message;
  const mark = sentDecimal(data["p"], note);
  parseDecimal(mark, file, line, "p");
  terms.marks.push({ at, file, line, value: mark as string });
  if (next.at > 0 && at >= next.at) {
    terms.funding.push({ at: next.at, file, line, value: next.rate });
    next.at = 0;
  }
  const rate = sentDecimal(data["r"], note);
  if (rate === "" || rate === undefined) return;
  if (!isDecimal(rate)) throw importInvalid(file, line, `"r" is ${JSON.stringify(rate)}; expected a decimal.`);
  const nextAt = idOf(message, "T");
  if (nextAt <= at) return;
  next.at = nextAt;
  next.rate = rate;
};

const takeDelta = (message: Message, { book, note }: Sink): void => {
  const previousId = message.data["pu"] === undefined ? undefined : idOf(message, "pu");
  const levels = { bids: pairsOf(message, note, "b"), asks: pairsOf(message, note, "a") };
  book.delta(message.at, {
    line: message.line,
    firstId: idOf(message, "U"),
    lastId: idOf(message, "u"),
    previousId,
    levels,
  });
};

const takeSnapshot = (message: Message, { book, note }: Sink): void => {
  const levels = { bids: pairsOf(message, note, "bids"), asks: pairsOf(message, note, "asks") };
  book.snapshot(message.at, message.line, idOf(message, "lastUpdateId"), levels, message.data["anew"] === true);
};

const takeBar = (message: Message, { bars, note }: Sink): void => {
  const { data, file, line } = message;
  if (data["closed"] !== true) {
    note("bars that had not ended, dropped");
    return;
  }
  const bar = barOf(message);
  const parts = partsOf(message, note, "o", "h", "l", "c", "v");
  const [o, h, l, c] = [0, 2, 4, 6].map((at) => (parts[at] as number) / 10 ** (parts[at + 1] as number)) as [
    number,
    number,
    number,
    number,
  ];
  if (!(l > 0 && l <= Math.min(o, c) && Math.max(o, c) <= h))
    throw importInvalid(file, line, `${[o, h, l, c].join()}: expected 0 < low <= open and close <= high.`);
  const reason = pushBar(bars, bar, line, parts);
  if (reason !== undefined) note(reason);
};

/** End and length of a bar. Months have no length in milliseconds; they begin at a time of day, in UTC. */
const barOf = (message: Message): { readonly endAt: number; readonly grid: number | BarGrid } => {
  const { data, file, line } = message;
  const openedAt = idOf(message, "t");
  const anchor = data["month"];
  if (typeof anchor !== "string") {
    const ms = idOf(message, "ms");
    return { endAt: openedAt + ms, grid: ms };
  }
  const { grid } = askedBars("month", { anchor });
  const calendar = new BarCalendar(grid);
  if (calendar.startOf(openedAt) === openedAt) return { endAt: calendar.endOf(openedAt), grid };
  const shown = new Date(openedAt).toISOString();
  throw importInvalid(file, line, `"t" is ${shown}; expected the begin of a month, at ${anchor} of UTC.`);
};

const idOf = ({ data, file, line }: Message, field: string): number => {
  const id = data[field];
  if (typeof id === "number" && Number.isSafeInteger(id) && id >= 0) return id;
  throw importInvalid(file, line, `"${field}" is ${JSON.stringify(id) ?? "missing"}; expected a whole number.`);
};

const pairsOf = ({ file, line, data }: Message, note: Note, field: string): readonly number[] => {
  const entries = data[field];
  if (!Array.isArray(entries))
    throw importInvalid(
      file,
      line,
      `"${field}" is ${JSON.stringify(entries) ?? "missing"}; expected a list of levels.`,
    );
  const parts: number[] = [];
  for (const entry of entries as readonly unknown[]) {
    if (!Array.isArray(entry))
      throw importInvalid(file, line, `"${field}" holds ${JSON.stringify(entry)}; expected [price, quantity].`);
    for (const text of [entry[0], entry[1]] as readonly unknown[]) {
      const { count, places } = parseDecimal(sentDecimal(text, note), file, line, field);
      parts.push(count, places);
    }
  }
  return parts;
};

// A map and not an object: an event may be called "constructor".
const takers: ReadonlyMap<string, (message: Message, sink: Sink) => void> = new Map([
  ["trade", takeTrade],
  ["aggTrade", takeTrade],
  ["bar", takeBar],
  ["bookTicker", takeQuote],
  ["depthUpdate", takeDelta],
  ["snapshot", takeSnapshot],
  ["markPriceUpdate", takeMark],
]);
