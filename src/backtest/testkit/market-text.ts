/**
 * A market in a few lines of text, one row a line:
 *
 * ```
 * 00:00:01      quote BTC-USDT-SWAP 60000 x 5 / 60000.1 x 5
 * 00:00:01.250  trade BTC-USDT-SWAP sell 0.1 at 60000
 * +500ms        quote BTC-USDT-SWAP 59990 / 59990.1            # a quantity that is left out is 1000
 * 00:01:00      candle BTC-USDT-SWAP 1m 60000 60010 59990 59995 volume 12
 * ```
 *
 * A time is `hh:mm:ss` with up to three decimals, counted from the start of the test, or `+` and a duration (`ms`, `s`,
 * `m`, `h`) after the line before; a line without one has the time of the line before, the first one the present. A
 * candle has its length, then open, high, low and close; its time is its close. `#` begins a comment.
 * Invariants: what cannot be read is refused by line, with what it should look like.
 */
import { isSluiceError, SluiceError } from "../../errors.ts";
import type { HandMarket } from "./hand-market.ts";

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `hh:mm:ss.mmm`; undefined where it is none. */
export const readTime = (text: string): number | undefined => {
  const [, hours, minutes, seconds, parts = ""] = /^(\d{1,3}):([0-5]\d):([0-5]\d)(?:\.(\d{1,3}))?$/.exec(text) ?? [];
  if (hours === undefined) return undefined;
  return Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1_000 + Number(parts.padEnd(3, "0"));
};

const readDuration = (text: string): number | undefined => {
  const [, count, unit = ""] = /^(\d+)(ms|s|m|h)$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (units[unit] as number);
};

const forms: Readonly<Record<string, string>> = {
  quote: "quote BTC-USDT-SWAP 60000 x 5 / 60000.1 x 5",
  trade: "trade BTC-USDT-SWAP buy 0.1 at 60000.1",
  candle: "candle BTC-USDT-SWAP 1m 60000 60010 59990 59995 volume 12",
};

const patterns = {
  quote: /^(\S+) (\S+)(?: x (\S+))? \/ (\S+)(?: x (\S+))?$/,
  trade: /^(\S+) (buy|sell) (\S+) at (\S+)$/,
  candle: /^(\S+) (\d+(?:ms|s|m|h)) (\S+) (\S+) (\S+) (\S+)(?: volume (\S+))?$/,
} as const;

/**
 * Feeds every line; returns the instant of the last one. Nothing of a text with an error in it is fed before its line.
 */
export const feedText = (text: string, market: HandMarket, startAt: number): number => {
  let at = market.clock.now();
  for (const [index, source] of text.split("\n").entries()) {
    const line = source.replace(/#.*/, "").trim().replace(/\s+/g, " ");
    if (line === "") continue;
    try {
      at = feedLine(line, market, startAt, at);
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      throw new SluiceError(error.code, `Line ${index + 1}, "${line}": ${error.message}`);
    }
  }
  return at;
};

const feedLine = (line: string, market: HandMarket, startAt: number, before: number): number => {
  const [, time, kind = "", rest = ""] = /^(?:([\d+]\S*) )?(\S+) ?(.*)$/.exec(line) ?? [];
  const at = timeOf(time, startAt, before);
  const form = forms[kind];
  if (form === undefined) throw wrong(`"${kind}" is no kind of row. Write one of ${Object.values(forms).join("; ")}.`);
  const parts = patterns[kind as keyof typeof patterns].exec(rest);
  if (parts === null) throw wrong(`it does not read as a ${kind}. Write ${form}.`);
  if (at < market.clock.now())
    throw wrong(`its time is past: the test is at ${spellTime(market.clock.now() - startAt)}.`);
  const [, instId = "", first = "", second = "", third = "", fourth = "", fifth = "", sixth] = parts;
  if (kind === "quote") {
    const given = {
      ...(parts[3] !== undefined && { bidQty: parts[3] }),
      ...(parts[5] !== undefined && { askQty: parts[5] }),
    };
    market.quote(instId, { bidPx: first, askPx: third, ...given }, at);
  } else if (kind === "trade") market.trade(instId, { side: first as "buy" | "sell", qty: second, px: third }, at);
  else {
    const prices = { open: second, high: third, low: fourth, close: fifth };
    const barMs = readDuration(first) as number;
    market.candle(instId, { barMs, ...prices, ...(sixth !== undefined && { volume: sixth }) }, at);
  }
  return at;
};

const timeOf = (text: string | undefined, startAt: number, before: number): number => {
  if (text === undefined) return before;
  const ms = text.startsWith("+") ? readDuration(text.slice(1)) : readTime(text);
  if (ms === undefined)
    throw wrong(`"${text}" is no time. Write hh:mm:ss since the start of the test, or +500ms after the line before.`);
  return text.startsWith("+") ? before + ms : startAt + ms;
};

/** `hh:mm:ss.mmm` since the start. */
export const spellTime = (ms: number): string => new Date(Math.max(0, ms)).toISOString().slice(11, 23);

const wrong = (message: string): SluiceError => new SluiceError("CONFIG_INVALID", message);
