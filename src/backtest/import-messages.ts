/**
 * Recorded websocket messages, one a line with its receive time, as trades, quotes and book levels of one instrument.
 *
 * Invariants: the axis of time is the receive time in whole microseconds; lines are taken in the order of their times (stable),
 * and a disorder beyond the tolerance is refused by both lines; what is not taken is counted by reason; nothing is guessed.
 * Not here: the rules of book chains (import-book.ts), how values become ticks and lots (import-decimals.ts).
 */
import { SluiceError } from "../errors.ts";
import { type BookChain, createBookChain } from "./import-book.ts";
import { type DecimalColumn, type DecimalPool, importInvalid, type Parsed, parseDecimal } from "./import-decimals.ts";
import { lineAt, type TextLines } from "./import-file.ts";
import { linesInOrder, receiveTimes } from "./import-times.ts";

export type Note = (what: string, count?: number) => void;

export interface MessageOptions {
  readonly symbol?: string | undefined;
  readonly disorderMs: number;
  readonly prices: DecimalPool;
  readonly quantities: DecimalPool;
  readonly note: Note;
}

/** Rows in the making; their counts are ready when the pools are. */
export interface TradeRows {
  readonly at: number[];
  readonly side: (1 | -1)[];
  readonly px: DecimalColumn;
  readonly qty: DecimalColumn;
}

export interface LevelRows extends TradeRows {
  readonly snapshot: (0 | 1)[];
}

export interface QuoteRows {
  readonly at: number[];
  readonly bidPx: DecimalColumn;
  readonly bidQty: DecimalColumn;
  readonly askPx: DecimalColumn;
  readonly askQty: DecimalColumn;
}

export interface MessageRows {
  readonly trades: TradeRows;
  readonly quotes: QuoteRows;
  readonly levels: LevelRows;
}

interface Message {
  readonly file: string;
  readonly line: number;
  readonly at: number;
  readonly stream: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Sink extends MessageRows {
  readonly book: BookChain;
  readonly note: Note;
}

export const readMessages = (lines: TextLines, options: MessageOptions): MessageRows => {
  const { note } = options;
  const sink = createSink(options);
  const symbols = new Set<string>();
  const times = receiveTimes(lines);
  for (const index of linesInOrder(times, lines, options.disorderMs, note)) {
    const message = messageAt(lines, index, (times[index] as number) / 1000);
    const symbol = symbolOf(message);
    if (symbol !== undefined) symbols.add(symbol);
    const subject = options.symbol ?? symbols.values().next().value;
    if (symbol === undefined && symbols.size > 1) note("messages without a symbol in a recording of several, dropped");
    else if (symbol !== undefined && symbol !== subject) note(`messages of another symbol (${symbol}), dropped`);
    else take(message, sink);
  }
  checkSymbols(lines.file, symbols, options.symbol);
  sink.book.finish();
  return sink;
};

const createSink = ({ prices, quantities, note }: MessageOptions): Sink => {
  const sided = () => ({ at: [], side: [], px: prices.column(), qty: quantities.column() });
  const levels: LevelRows = { ...sided(), snapshot: [] };
  const quotes: QuoteRows = {
    at: [],
    bidPx: prices.column(),
    bidQty: quantities.column(),
    askPx: prices.column(),
    askQty: quantities.column(),
  };
  const pushSide = (at: number, line: number, side: 1 | -1, pairs: readonly Parsed[]): void => {
    for (let index = 0; index < pairs.length; index += 2) {
      levels.at.push(at);
      levels.side.push(side);
      levels.snapshot.push(0);
      levels.px.push(pairs[index] as Parsed, line);
      levels.qty.push(pairs[index + 1] as Parsed, line);
    }
  };
  const book = createBookChain((at, line, { bids, asks }, snapshot) => {
    const first = levels.at.length;
    pushSide(at, line, 1, bids);
    pushSide(at, line, -1, asks);
    if (snapshot && first < levels.at.length) levels.snapshot[first] = 1;
  }, note);
  return { trades: sided(), quotes, levels, book, note };
};

const checkSymbols = (file: string, symbols: ReadonlySet<string>, asked: string | undefined): void => {
  const found = [...symbols].sort().join(", ");
  if (asked !== undefined && !symbols.has(asked)) {
    throw new SluiceError("IMPORT_INVALID", `${file}: no message is about symbol "${asked}"; found ${found || "none"}.`);
  }
  if (asked === undefined && symbols.size > 1) {
    throw new SluiceError("IMPORT_INVALID", `${file}: the recording holds several symbols (${found}). Choose one with --symbol.`);
  }
};

const messageAt = (lines: TextLines, index: number, at: number): Message => {
  const { file } = lines;
  const line = lines.number[index] as number;
  const text = lineAt(lines, index);
  let value: unknown;
  try {
    value = JSON.parse(text.slice(text.indexOf(" ") + 1));
  } catch {
    throw importInvalid(file, line, `${shown(text)} is not a receive time followed by JSON.`);
  }
  if (!isObject(value)) throw importInvalid(file, line, `${shown(text)} holds no JSON object.`);
  const stream = typeof value["stream"] === "string" ? value["stream"] : "";
  const data = value["data"] ?? value;
  if (!isObject(data)) throw importInvalid(file, line, `"data" is ${shown(JSON.stringify(data))}, not an object.`);
  return { file, line, at, stream, data };
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const shown = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);

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

const decimalOf = ({ data, file, line }: Message, field: string) => parseDecimal(data[field], file, line, field);

const takeTrade = (message: Message, { trades, note }: Sink): void => {
  const { data, file, line, at } = message;
  const px = decimalOf(message, "p");
  const qty = decimalOf(message, "q");
  const makerBought = data["m"];
  if (typeof makerBought !== "boolean") throw importInvalid(file, line, `"m" is ${JSON.stringify(makerBought)}; expected true or false.`);
  const reason = reasonToSkip(data["X"], px.count === 0 || qty.count === 0);
  if (reason !== undefined) {
    note(reason);
    return;
  }
  trades.at.push(at);
  trades.side.push(makerBought ? -1 : 1);
  trades.px.push(px, line);
  trades.qty.push(qty, line);
};

const reasonToSkip = (origin: unknown, zero: boolean): string | undefined => {
  if (origin !== undefined && origin !== "MARKET") return `trades that are not of the market (${JSON.stringify(origin)}), skipped`;
  return zero ? "trades of price or quantity zero, skipped" : undefined;
};

const takeQuote = (message: Message, { quotes }: Sink): void => {
  const { line, at } = message;
  const [bidPx, bidQty, askPx, askQty] = [
    decimalOf(message, "b"),
    decimalOf(message, "B"),
    decimalOf(message, "a"),
    decimalOf(message, "A"),
  ];
  quotes.at.push(at);
  quotes.bidPx.push(bidPx, line);
  quotes.bidQty.push(bidQty, line);
  quotes.askPx.push(askPx, line);
  quotes.askQty.push(askQty, line);
};

const takeDelta = (message: Message, { book }: Sink): void => {
  const previousId = message.data["pu"] === undefined ? undefined : idOf(message, "pu");
  const levels = { bids: pairsOf(message, "b"), asks: pairsOf(message, "a") };
  book.delta(message.at, { line: message.line, firstId: idOf(message, "U"), lastId: idOf(message, "u"), previousId, levels });
};

const takeSnapshot = (message: Message, { book }: Sink): void => {
  const levels = { bids: pairsOf(message, "bids"), asks: pairsOf(message, "asks") };
  book.snapshot(message.at, message.line, idOf(message, "lastUpdateId"), levels);
};

const idOf = ({ data, file, line }: Message, field: string): number => {
  const id = data[field];
  if (typeof id === "number" && Number.isSafeInteger(id) && id >= 0) return id;
  throw importInvalid(file, line, `"${field}" is ${JSON.stringify(id) ?? "missing"}; expected a whole number.`);
};

const pairsOf = ({ file, line, data }: Message, field: string): readonly Parsed[] => {
  const entries = data[field];
  if (!Array.isArray(entries))
    throw importInvalid(file, line, `"${field}" is ${JSON.stringify(entries) ?? "missing"}; expected a list of levels.`);
  const pairs: Parsed[] = [];
  for (const entry of entries as readonly unknown[]) {
    if (!Array.isArray(entry)) throw importInvalid(file, line, `"${field}" holds ${JSON.stringify(entry)}; expected [price, quantity].`);
    pairs.push(parseDecimal(entry[0], file, line, field), parseDecimal(entry[1], file, line, field));
  }
  return pairs;
};

// A map and not an object: an event may be called "constructor".
const takers: ReadonlyMap<string, (message: Message, sink: Sink) => void> = new Map([
  ["trade", takeTrade],
  ["bookTicker", takeQuote],
  ["depthUpdate", takeDelta],
  ["snapshot", takeSnapshot],
]);
