/**
 * Bars of an exchange, page by page: whole bars of a span in order of time, each once.
 *
 * Invariants: a bar that has not closed is left out; a page that begins later than requested is accepted only when the
 * exchange also answers that there is nothing before it, because some return the newest bars of a span first, or fewer
 * than requested; each page comes nearer to the end, for any answer of the exchange.
 * Not here: storage of pages (page-store.ts), gaps (fetched-rows.ts).
 */
import { type CcxtBar, calling, type Exchange } from "./ccxt-exchange.ts";
import { type NamedMarket, textOf } from "./ccxt-symbols.ts";
import type { Page, Pager, Span } from "./page-store.ts";

/** Opened at, and the five values as text. */
export type BarRow = readonly [
  openedAt: number,
  open: string,
  high: string,
  low: string,
  close: string,
  volume: string,
];

/** Begin of the next page. */
export interface BarCursor {
  readonly at: number;
  /** Most bars a page holds, where the exchange shows the end of a span rather than its beginning. */
  readonly bounded?: number;
}

interface BarSpan extends Span {
  readonly barMs: number;
  /** ccxt's name of the length. */
  readonly timeframe: string;
}

interface Shown {
  readonly rows: readonly BarRow[];
  /** Number of bars that the exchange returned, before any were left out. */
  readonly shown: number;
  readonly unusable: number;
}

const [limitDefault, skippedDefault] = [500, 100];

/** Lengths of bars that ccxt names, milliseconds. */
const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns the milliseconds of a length such as "5m"; undefined for lengths that vary, such as months. */
export const barMsOf = (timeframe: string): number | undefined => {
  const [, count = "", unit = ""] = /^([1-9]\d{0,3})([smhd])$/.exec(timeframe) ?? [];
  const ms = Number(count) * (unitMs[unit] ?? 0);
  return ms > 0 ? ms : undefined;
};

/** The length at the exchange that is `barMs`, or the longest that divides it. */
export const timeframeOf = ({ api: { timeframes = {} } }: Exchange, barMs: number): BarSpan["timeframe"] | undefined =>
  Object.keys(timeframes)
    .flatMap((name) => [{ name, ms: barMsOf(name) ?? Number.POSITIVE_INFINITY }])
    .filter(({ ms }) => barMs % ms === 0)
    .sort((a, b) => b.ms - a.ms)[0]?.name;

/**
 * Returns the step of which begins of bars are multiples: a day for weeks, because exchanges begin them on a Monday or
 * a Thursday.
 */
export const beginStep = (barMs: number): number => (barMs % weekMs === 0 ? weekMs / 7 : barMs);

const weekMs = 604_800_000;

export const barPager = (
  exchange: Exchange,
  { symbol }: NamedMarket,
  { from, to, barMs, timeframe }: BarSpan,
): Pager<BarRow, BarCursor> => {
  const { api, id } = exchange;
  const told = api.featureValue?.(symbol, "fetchOHLCV", "limit");
  const isTold = typeof told === "number" && told > 0;
  const limit = isTold ? told : limitDefault;
  /** An answer without bars is believed for as many. */
  const skipped = isTold ? told : skippedDefault;
  const step = beginStep(barMs);
  const first = Math.ceil(from / step) * step;
  const end = Math.floor(to / step) * step;
  /** Whole bars that opened from `since` on, before `until` where that is given. */
  const ask = async (since: number, most: number, until?: number): Promise<Shown> => {
    const params = until === undefined ? {} : { until: until - 1 };
    // One earlier, as some show what opened after the instant and others what opened at it, too.
    const shown = await calling(id, () => api.fetchOHLCV(symbol, timeframe, since - 1, most, params));
    const read = shown.flatMap(rowOf);
    const isAsked = ([at]: BarRow): boolean =>
      at >= since && at < (until ?? Number.POSITIVE_INFINITY) && at % step === 0;
    const byTime = new Map(read.filter(isAsked).map((row) => [row[0], row]));
    return {
      rows: [...byTime.values()].sort((a, b) => a[0] - b[0]),
      shown: shown.length,
      unusable: shown.length - read.length,
    };
  };
  const page = async ({ at: since, bounded }: BarCursor): Promise<Page<BarRow, BarCursor>> => {
    const windowEnd = Math.min(end, since + (bounded ?? skipped) * barMs);
    const { rows, unusable } = await ask(since, bounded ?? limit, bounded === undefined ? undefined : windowEnd);
    const earliest = rows[0]?.[0];
    const kept = bounded === undefined ? {} : { bounded };
    if (earliest === undefined) return { rows: [], next: { at: windowEnd, ...kept } };
    if (earliest > since && bounded === undefined) {
      const before = await ask(Math.max(since, earliest - skipped * barMs), limit, earliest);
      if (before.rows.length > 0) return { rows: [], next: { at: since, bounded: Math.min(skipped, before.shown) } };
    }
    const whole = rows.filter(([at]) => at < end);
    return {
      rows: whole,
      next: { at: (whole.at(-1)?.[0] ?? end - barMs) + barMs, ...kept },
      ...(unusable > 0 && { unusable }),
    };
  };
  return { begin: { at: first }, end, page };
};

const rowOf = ([at, ...values]: CcxtBar): readonly BarRow[] => {
  const texts = values.map(textOf);
  const [open, high, low, close, volume = "0"] = texts;
  if (
    at === undefined ||
    !Number.isSafeInteger(at) ||
    open === undefined ||
    high === undefined ||
    low === undefined ||
    close === undefined
  )
    return [];
  return [[at, open, high, low, close, volume]];
};
