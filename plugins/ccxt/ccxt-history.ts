/**
 * Bars of an exchange as a history source: `history: fromCcxt("binance")`.
 *
 * Invariants: only bars that had closed are shown; requests keep to the exchange's limit, together with those for live
 * prices of the same exchange; ccxt is loaded before the run begins, the exchange asked when history is.
 * Not here: paging (candle-pages.ts), the seam to live bars (host/market-history.ts).
 */

import { type HistoryCandle, type HistorySource, mul, SluiceError } from "sluice";
import type { ExchangeChoice } from "./ccxt-exchange.ts";

type Ask = (
  choice: ExchangeChoice,
  instId: string,
  barMs: number,
  from: number,
  to: number,
) => Promise<readonly HistoryCandle[]>;

/**
 * Bars of an exchange through ccxt (`npm install ccxt`), for `{ history: n }` over a network and on paper. `exchange`
 * is its id at ccxt, or an exchange of ccxt that you made, without a key. Bars that it does not have are joined from
 * shorter ones.
 */
export const fromCcxt = (exchange: ExchangeChoice): HistorySource => {
  const name = `fromCcxt(${JSON.stringify(typeof exchange === "string" ? exchange : exchange.id)})`;
  let ask: Ask | undefined;
  const load = async (): Promise<void> => {
    ask ??= await asker();
  };
  return {
    name,
    load,
    candles: async (instId, barMs, from, to) => {
      await load();
      return (ask as Ask)(exchange, instId, barMs, from, to);
    },
  };
};

const asker = async (): Promise<Ask> => {
  const [{ sharedExchange }, { marketNamed, barUnitOf }, { barMsOf, barPager, timeframeOf }, { createSystemClock }] =
    await Promise.all([
      import("./ccxt-exchange.ts"),
      import("./ccxt-symbols.ts"),
      import("./candle-pages.ts"),
      import("sluice/extension"),
    ]);
  return async (choice, instId, barMs, from, to) => {
    const exchange = await sharedExchange(choice, createSystemClock());
    const market = marketNamed(exchange, instId);
    const timeframe = timeframeOf(exchange, barMs);
    if (timeframe === undefined)
      throw new SluiceError("DATA_UNAVAILABLE", `${exchange.id} has no bars that ${barMs} ms can be joined from`);
    const ms = barMsOf(timeframe) as number;
    const unit = barUnitOf(exchange, market);
    const { begin, end, page } = barPager(exchange, market, { from, to, barMs: ms, timeframe });
    const found: HistoryCandle[] = [];
    for (let cursor = begin; cursor.at < end; ) {
      const { rows, next } = await page(cursor);
      for (const [openedAt, open, high, low, close, volume] of rows)
        found.push({ openedAt, at: openedAt + ms, open, high, low, close, volume: mul(volume, unit) });
      cursor = next;
    }
    return found;
  };
};
