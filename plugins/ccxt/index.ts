/**
 * Public market data of exchanges through ccxt: fetched into fixtures, as history, and as live prices for paper
 * trading.
 *
 * @module sluice/plugins/ccxt
 */
export type { CcxtExchange, ExchangeChoice } from "./ccxt-exchange.ts";
export { fromCcxt } from "./ccxt-history.ts";
export { ccxtMarket } from "./ccxt-market.ts";
export type { CcxtMarketOptions } from "./ccxt-prices.ts";
export type { InstrumentTerms } from "./ccxt-symbols.ts";
export { fetchInstruments, fetchMarketData } from "./fetch-data.ts";
export type { FetchInstrumentsOptions, FetchMarketOptions } from "./fetch-market.ts";
export type { FetchedFixture, FetchedGap } from "./fetched-rows.ts";
