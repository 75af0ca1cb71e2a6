/**
 * The messages of which recordings mostly consist, read from their bytes: trades, best prices and book changes, several times as
 * fast as through JSON text and objects.
 *
 * Invariants: what is read here is what JSON.parse and import-messages.ts would read; a line with anything unusual in it (a space, an
 * escape, a member twice, another kind of value, anything beside "stream" and "data") is left to them, by answering undefined.
 * Not here: single values (import-bytes.ts), what a message means (import-messages.ts), receive times (import-times.ts).
 */
import { bytesOf, codeOf, decimal, digitsEnd, mark, matches, skipped, textEnd, textIn, truthEnd, wholeIn } from "./import-bytes.ts";
import type { TextLines } from "./import-file.ts";

/** One message. The next one takes its place. */
export interface Scan {
  event: (typeof events)[number]["name"];
  symbol: string;
  /** Count and places of each decimal in turn: price and quantity of a trade; bid, its quantity, ask, its quantity of a quote. */
  readonly parts: Float64Array;
  /** Of a trade. */
  makerBought: boolean;
  origin: string | undefined;
  /** Of a book change; four numbers a level: count and places of its price, count and places of its quantity. */
  bids: Float64Array;
  asks: Float64Array;
  firstId: number;
  lastId: number;
  previousId: number | undefined;
  /** Of a best price, where it carries one. */
  updateId: number | undefined;
  /** When it happened at the exchange, else when it was sent, in the exchange's unit; undefined where it tells neither. */
  exchangeAt: number | undefined;
}

interface State extends Scan {
  happenedAt: number;
  sentAt: number;
  /** Which members were there. */
  seen: number;
  symbolBytes: Uint8Array;
  /** Where levels are put, up to `used`. */
  levels: Float64Array;
  used: number;
}

const events = (["trade", "bookTicker", "depthUpdate"] as const).map((name) => ({ name, bytes: bytesOf(name) }));
const head = bytesOf('{"stream":"');
const middle = bytesOf('","data":{');
const quoteStream = bytesOf("@bookTicker");
const marketOrigin = bytesOf("MARKET");
const comma = codeOf(",");
const colon = codeOf(":");
const opening = codeOf("[");
const closing = codeOf("]");
const leave = codeOf("}");
const truth = codeOf("t");
/** A receive time and the space after it. */
const timeBytes = 20;

const bits = { e: 1, s: 2, p: 4, q: 8, m: 16, X: 32, b: 64, B: 128, a: 256, A: 512, U: 1024, u: 2048, pu: 4096, bids: 8192, asks: 16_384 };
const timeBits = { T: 131_072, E: 262_144 };
/** A member with a longer name than those we know: without an event such a message may be a snapshot. */
const longName = 32_768;
/** A side that is not a price: fine for a trade, which tells order numbers there. */
const noPrice = 65_536;
const needs = {
  trade: bits.s | bits.p | bits.q | bits.m,
  bookTicker: bits.s | bits.b | bits.B | bits.a | bits.A,
  depthUpdate: bits.s | bits.bids | bits.asks | bits.U | bits.u,
} as const;

/** Reads lines of `lines` by their index; undefined for whatever is not of the usual form. */
export const createScanner = ({ bytes, from, to }: TextLines): ((index: number) => Scan | undefined) => {
  const state = createState();
  return (index) => {
    const start = (from[index] as number) + timeBytes;
    const last = (to[index] as number) - 1;
    if (!matches(bytes, start, head)) return undefined;
    const streamEnd = textEnd(bytes, start + head.length);
    if (streamEnd < 0 || !matches(bytes, streamEnd, middle)) return undefined;
    state.seen = 0;
    state.origin = undefined;
    state.previousId = undefined;
    state.used = 0;
    const end = members(bytes, streamEnd + middle.length, state);
    if (end !== last || bytes[end] !== leave) return undefined;
    const { seen } = state;
    if ((seen & bits.e) === 0) {
      if ((seen & longName) !== 0 || !matches(bytes, streamEnd - quoteStream.length, quoteStream)) return undefined;
      state.event = "bookTicker";
    }
    const wanted = needs[state.event];
    if ((seen & wanted) !== wanted || (state.event === "bookTicker" && (seen & noPrice) !== 0)) return undefined;
    state.updateId = (seen & bits.u) === 0 ? undefined : state.lastId;
    state.exchangeAt = (seen & timeBits.T) !== 0 ? state.happenedAt : (seen & timeBits.E) !== 0 ? state.sentAt : undefined;
    return state;
  };
};

const createState = (): State => ({
  event: "trade",
  symbol: "",
  parts: new Float64Array(8),
  makerBought: false,
  origin: undefined,
  bids: new Float64Array(0),
  asks: new Float64Array(0),
  firstId: 0,
  lastId: 0,
  previousId: undefined,
  updateId: undefined,
  exchangeAt: undefined,
  happenedAt: 0,
  sentAt: 0,
  seen: 0,
  symbolBytes: new Uint8Array(0),
  levels: new Float64Array(4096),
  used: 0,
});

/** Members up to the brace that ends them; `start` is at the first one's name. */
const members = (bytes: Uint8Array, start: number, state: State): number => {
  for (let at = start; ; at++) {
    if (bytes[at] !== mark) return -1;
    const nameEnd = textEnd(bytes, at + 1);
    if (nameEnd < 0 || bytes[nameEnd + 1] !== colon) return -1;
    const taker = takerOf(bytes, at + 1, nameEnd);
    if (taker === undefined) {
      if (nameEnd - at > 2) state.seen |= longName;
      at = skipped(bytes, nameEnd + 2);
    } else {
      if ((state.seen & taker.bit) !== 0) return -1;
      state.seen |= taker.bit;
      at = taker.take(bytes, nameEnd + 2, state);
    }
    if (at < 0 || bytes[at] !== comma) return at < 0 || bytes[at] !== leave ? -1 : at + 1;
  }
};

/** `[["price","quantity"], …]`, from its first bracket on. */
const levels = (bytes: Uint8Array, start: number, state: State): number => {
  if (bytes[start] !== opening) return -1;
  if (bytes[start + 1] === closing) return start + 2;
  for (let at = start + 1; bytes[at] === opening; at++) {
    const { used } = state;
    const into = roomFor(state, used + 4);
    at = decimal(bytes, at + 1, into, used);
    if (at < 0 || bytes[at] !== comma) return -1;
    at = decimal(bytes, at + 1, into, used + 2);
    if (at < 0 || bytes[at++] !== closing) return -1;
    state.used = used + 4;
    if (bytes[at] === closing) return at + 1;
    if (bytes[at] !== comma) return -1;
  }
  return -1;
};

const roomFor = (state: State, length: number): Float64Array => {
  if (length <= state.levels.length) return state.levels;
  const larger = new Float64Array(2 * length);
  larger.set(state.levels);
  state.levels = larger;
  return larger;
};

interface Taker {
  readonly bit: number;
  readonly take: (bytes: Uint8Array, at: number, state: State) => number;
}

const decimalTaker = (bit: number, index: number): Taker => ({
  bit,
  take: (bytes, at, { parts }) => decimal(bytes, at, parts, 2 * index),
});

/** One side of a book change, where it is not a best price. */
const sideTaker = (bit: number, listBit: number, index: number, side: "bids" | "asks"): Taker => ({
  bit,
  take: (bytes, at, state) => {
    if (bytes[at] === mark) return decimal(bytes, at, state.parts, 2 * index);
    state.seen |= noPrice;
    if (bytes[at] !== opening) return skipped(bytes, at);
    state.seen |= listBit;
    const { used } = state;
    const end = levels(bytes, at, state);
    state[side] = state.levels.subarray(used, state.used);
    return end;
  },
});

const wholeTaker = (bit: number, field: "firstId" | "lastId" | "previousId" | "happenedAt" | "sentAt"): Taker => ({
  bit,
  take: (bytes, at, state) => {
    const end = digitsEnd(bytes, at);
    // Longer ones are beyond exact numbers, or near enough to be looked at by others.
    if (end < 0 || end - at > 15) return -1;
    state[field] = wholeIn(bytes, at, end);
    return end;
  },
});

const takeEvent: Taker["take"] = (bytes, at, state) => {
  const end = bytes[at] === mark ? textEnd(bytes, at + 1) : -1;
  for (const { name, bytes: wanted } of events) {
    if (end - at - 1 !== wanted.length || !matches(bytes, at + 1, wanted)) continue;
    state.event = name;
    return end + 1;
  }
  return -1;
};

const takeSymbol: Taker["take"] = (bytes, at, state) => {
  const end = bytes[at] === mark ? textEnd(bytes, at + 1) : -1;
  if (end < 0) return -1;
  if (end - at - 1 !== state.symbolBytes.length || !matches(bytes, at + 1, state.symbolBytes)) {
    state.symbolBytes = bytes.slice(at + 1, end);
    state.symbol = textIn(bytes, at + 1, end);
  }
  return end + 1;
};

const takeOrigin: Taker["take"] = (bytes, at, state) => {
  const end = bytes[at] === mark ? textEnd(bytes, at + 1) : -1;
  if (end < 0) return -1;
  state.origin = end - at - 1 === marketOrigin.length && matches(bytes, at + 1, marketOrigin) ? "MARKET" : textIn(bytes, at + 1, end);
  return end + 1;
};

const takeMaker: Taker["take"] = (bytes, at, state) => {
  state.makerBought = bytes[at] === truth;
  return truthEnd(bytes, at);
};

/** By the code of a name of one letter. */
const takers: (Taker | undefined)[] = Array.from({ length: 128 }, () => undefined);
for (const [name, taker] of Object.entries({
  e: { bit: bits.e, take: takeEvent },
  s: { bit: bits.s, take: takeSymbol },
  p: decimalTaker(bits.p, 0),
  q: decimalTaker(bits.q, 1),
  m: { bit: bits.m, take: takeMaker },
  X: { bit: bits.X, take: takeOrigin },
  b: sideTaker(bits.b, bits.bids, 0, "bids"),
  B: decimalTaker(bits.B, 1),
  a: sideTaker(bits.a, bits.asks, 2, "asks"),
  A: decimalTaker(bits.A, 3),
  U: wholeTaker(bits.U, "firstId"),
  u: wholeTaker(bits.u, "lastId"),
  T: wholeTaker(timeBits.T, "happenedAt"),
  E: wholeTaker(timeBits.E, "sentAt"),
})) {
  takers[codeOf(name)] = taker;
}
const previous = wholeTaker(bits.pu, "previousId");

const takerOf = (bytes: Uint8Array, at: number, end: number): Taker | undefined => {
  if (end - at === 1) return takers[bytes[at] as number];
  return end - at === 2 && bytes[at] === 112 && bytes[at + 1] === 117 ? previous : undefined;
};
