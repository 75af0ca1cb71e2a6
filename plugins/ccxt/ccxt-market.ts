/**
 * `ccxtMarket(…)`: live prices of an exchange through ccxt, as a config names them for paper trading.
 *
 * Invariants: options are checked at once; ccxt is loaded when an engine starts.
 * Not here: following prices (ccxt-prices.ts).
 */

import type { LivePrices } from "sluice/backtest";
import { checkOptions, type OptionRules } from "sluice/extension";
import type { ExchangeChoice } from "./ccxt-exchange.ts";
import type { CcxtMarketOptions } from "./ccxt-prices.ts";

const aWhile = { least: 100, most: 3_600_000, what: "whole milliseconds" };
const rules: OptionRules = {
  required: ["instruments"],
  wholes: { staleMs: aWhile, pollMs: aWhile },
  others: { instruments: { type: "array", minItems: 1, items: { type: "string", minLength: 1 } } },
};

/**
 * Live public prices of an exchange through ccxt (`npm install ccxt`), for `paper({ market })`: best bid and ask, and
 * trades. `exchange` is its id at ccxt, or an exchange of `ccxt.pro` that you made, without a key.
 */
export const ccxtMarket = (exchange: ExchangeChoice, options: CcxtMarketOptions): LivePrices => {
  checkOptions("ccxtMarket", rules, options);
  return {
    name: typeof exchange === "string" ? exchange : exchange.id,
    open: async (parts) => {
      const { openCcxtPrices } = await import("./ccxt-prices.ts");
      return openCcxtPrices(exchange, options, parts);
    },
  };
};
