/**
 * Public trades of an exchange, page by page: those of a span in order of time, each once.
 *
 * Invariants: a page is asked for from the last trade's own instant on, so that trades which share it are not lost, and those that
 * were there before are dropped: by their id, or without one by how often the same was seen; where a page does not join the one before
 * it, or an instant holds more than a page, that is told; each page comes nearer to the end, whatever the exchange answers.
 * Not here: what is kept of a page (page-store.ts).
 */
import { type CcxtTrade, calling, type Exchange } from "./ccxt-exchange.ts";
import { type NamedMarket, textOf } from "./ccxt-symbols.ts";
import type { Page, Pager, Span } from "./page-store.ts";

/** What the exchange counts is not base currency yet. */
export type TradeRow = readonly [at: number, side: 1 | -1, px: string, qty: string];

export interface TradeCursor {
  readonly at: number;
  /** Names of the trades of that instant that were taken. */
  readonly taken?: readonly string[];
  /** What lies right before it fills a page by itself. */
  readonly past?: true;
}

/** Exchanges that show a span of trades from an instant on show an hour at least. */
const quietMs = 3_600_000;

interface Named {
  readonly name: string;
  readonly row: TradeRow;
}

export const tradePager = (exchange: Exchange, { symbol }: NamedMarket, { from, to }: Span): Pager<TradeRow, TradeCursor> => {
  const { api, id } = exchange;
  const told = api.featureValue?.(symbol, "fetchTrades", "limit");
  const limit = typeof told === "number" && told > 0 ? told : undefined;
  let pageMost = limit ?? 0;
  const page = async ({ at, taken, past }: TradeCursor): Promise<Page<TradeRow, TradeCursor>> => {
    // One earlier, as some show what came after the instant and others what came at it, too.
    const answer = await calling(id, () => api.fetchTrades(symbol, past ? at : at - 1, limit));
    const shown = inOrder(answer.flatMap(namedOf));
    const unusable = answer.length - shown.length;
    const isFull = shown.length > 1 && shown.length >= pageMost;
    pageMost = Math.max(pageMost, shown.length);
    const fresh = without(shown, at, taken ?? []).filter(({ row }) => row[0] < to);
    const rows = fresh.map(({ row }) => row);
    const last = rows.at(-1)?.[0];
    if (last === undefined) {
      const isStuck = isFull && shown.every(({ row }) => row[0] <= at) && shown.some(({ row }) => row[0] === at);
      return isStuck
        ? { rows, next: { at: at + 1, past: true }, lost: [[at, at + 1]] }
        : { rows, next: { at: Math.min(to, at + quietMs) } };
    }
    const isJoined = taken === undefined || shown.some(({ row }) => row[0] <= at);
    const next = {
      at: last,
      taken: [...(last === at ? (taken ?? []) : []), ...fresh.flatMap(({ name, row }) => (row[0] === last ? [name] : []))],
    };
    return { rows, next, ...(unusable > 0 && { unusable }), ...(isJoined ? {} : { lost: [[at, rows[0]?.[0] ?? at]] }) };
  };
  return { begin: { at: from }, end: to, page };
};

/** By time; those of one instant as they came, which newest first is backwards. */
const inOrder = (shown: readonly Named[]): readonly Named[] => {
  const falls = (shown[0]?.row[0] ?? 0) > (shown.at(-1)?.row[0] ?? 0);
  return (falls ? shown.toReversed() : shown).toSorted((a, b) => a.row[0] - b.row[0]);
};

/** From `at` on, but for those that were taken, and for repetitions within the page by id. */
const without = (shown: readonly Named[], at: number, taken: readonly string[]): readonly Named[] => {
  const left = new Map<string, number>();
  for (const name of taken) left.set(name, (left.get(name) ?? 0) + 1);
  const ids = new Set<string>();
  return shown.filter(({ name, row }) => {
    if (row[0] < at) return false;
    const count = left.get(name) ?? 0;
    if (count > 0) left.set(name, count - 1);
    if (!name.startsWith("#")) return count === 0;
    if (ids.has(name)) return false;
    ids.add(name);
    return count === 0;
  });
};

const namedOf = ({ id, timestamp, side, price, amount }: CcxtTrade): readonly Named[] => {
  const [px, qty] = [textOf(price), textOf(amount)];
  if (!Number.isSafeInteger(timestamp) || px === undefined || qty === undefined || (side !== "buy" && side !== "sell")) return [];
  const row: TradeRow = [timestamp as number, side === "buy" ? 1 : -1, px, qty];
  // An id is marked, so that no row is mistaken for one.
  return [{ name: id === undefined || id === "" ? row.join(" ") : `#${id}`, row }];
};
