/**
 * Import of recordings that other programs made: CSV, JSON, Parquet, Arrow, npz and websocket messages into fixtures.
 *
 * @module sluice/plugins/import
 */
export { findingsOf } from "./fixture-findings.ts";
export { explainImport, type ImportMarketOptions, importMarket } from "./import-market.ts";
export type { Layout as MarketLayout } from "./table/layout.ts";
export { oneInstant as microsecondsOf } from "./time-forms.ts";
