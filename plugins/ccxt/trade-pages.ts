/**
 * Public trades of an exchange, page by page: those of a span in order of time, each once.
 *
 * Invariants: a page is asked for from the last trade's own instant on, so that trades which share it are not lost, and
 * those that were there before are dropped: by their id, or without one by the number of equal trades seen; a page that
 * does not join the one before it, or an instant with more trades than a page, is reported; each page comes nearer to
 * the end, for any answer of the exchange.
 * Not here: storage of pages (page-store.ts).
 */
import { type CcxtTrade, calling, type Exchange } from "./ccxt-exchange.ts";
import { type NamedMarket, textOf } from "./ccxt-symbols.ts";
import type { Page, Pager, Span } from "./page-store.ts";

/** Row of a trade; `qty` is in the exchange's unit, not yet in base currency. */
export type TradeRow = readonly [at: number, side: 1 | -1, px: string, qty: string];

export interface TradeCursor {
  readonly at: number;
  /** Names of the trades of that instant that were taken. */
  readonly taken?: readonly string[];
  /** True if the trades right before `at` fill a page. */
  readonly past?: true;
}

/** Exchanges that show a span of trades from an instant on show an hour at least. */
const quietMs = 3_600_000;

interface Named {
  readonly name: string;
  readonly row: TradeRow;
  /** It has a price, a quantity and a side. */
  readonly isUsable: boolean;
}

export const tradePager = (
  exchange: Exchange,
  { symbol }: NamedMarket,
  { from, to }: Span,
): Pager<TradeRow, TradeCursor> => {
  const { api, id } = exchange;
  const told = api.featureValue?.(symbol, "fetchTrades", "limit");
  const limit = typeof told === "number" && told > 0 ? told : undefined;
  let pageMost = limit ?? 0;
  const page = async ({ at, taken, past }: TradeCursor): Promise<Page<TradeRow, TradeCursor>> => {
    // One earlier, as some show what came after the instant and others what came at it, too.
    const answer = await calling(id, () => api.fetchTrades(symbol, past ? at : at - 1, limit));
    const { shown, rows: fresh, next, unusable } = newTrades(answer, { at, taken: taken ?? [] });
    const left = unusable > 0 ? { unusable } : {};
    const isFull = shown.length > 1 && shown.length >= pageMost;
    pageMost = Math.max(pageMost, shown.length);
    const rows = fresh.filter(([when]) => when < to);
    if (next === undefined) {
      const isStuck = isFull && shown.every(({ row }) => row[0] <= at) && shown.some(({ row }) => row[0] === at);
      if (!isStuck) return { rows, next: { at: Math.min(to, at + quietMs) }, ...left };
      // Trades before it fill the page as well, or its own trades fill a page alone.
      const isCrowded = shown.some(({ row }) => row[0] < at);
      if (isCrowded && taken !== undefined && past === undefined)
        return { rows, next: { at, taken, past: true }, ...left };
      return { rows, next: { at: at + 1, past: true }, lost: [[at, at + 1]], ...left };
    }
    const isJoined = taken === undefined || shown.some(({ row }) => row[0] <= at);
    return { rows, next, ...left, ...(isJoined ? {} : { lost: [[at, rows[0]?.[0] ?? at]] }) };
  };
  return { begin: { at: from }, end: to, page };
};

/**
 * Returns the trades of an answer that were not there before, in order of time, and the cursor of the next answer;
 * undefined where there are none.
 */
export const newTrades = (answer: readonly CcxtTrade[], { at, taken = [] }: TradeCursor) => {
  const shown = inOrder(answer.flatMap(namedOf));
  const fresh = without(shown, at, taken);
  const last = fresh.at(-1)?.row[0];
  const names = fresh.flatMap(({ name, row }) => (row[0] === last ? [name] : []));
  const next: TradeCursor | undefined =
    last === undefined ? undefined : { at: last, taken: [...(last === at ? taken : []), ...names] };
  const rows = fresh.flatMap(({ row, isUsable }) => (isUsable ? [row] : []));
  return { shown, rows, next, unusable: fresh.length - rows.length + answer.length - shown.length };
};

/** By time; those of one instant as they came, which newest first is backwards. */
const inOrder = (shown: readonly Named[]): readonly Named[] => {
  const falls = (shown[0]?.row[0] ?? 0) > (shown.at(-1)?.row[0] ?? 0);
  return (falls ? shown.toReversed() : shown).toSorted((a, b) => a.row[0] - b.row[0]);
};

/** Returns the trades at and after `at`, without those already taken and repetitions within the page by id. */
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
  if (!Number.isSafeInteger(timestamp)) return [];
  const [px, qty] = [textOf(price), textOf(amount)];
  const isUsable = px !== undefined && qty !== undefined && (side === "buy" || side === "sell");
  const row: TradeRow = [timestamp as number, side === "buy" ? 1 : -1, px ?? "0", qty ?? "0"];
  // An id is marked, so that no row is mistaken for one.
  return [{ name: id === undefined || id === "" ? row.join(" ") : `#${id}`, row, isUsable }];
};
