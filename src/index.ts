export type { Trade } from "./market/market-data.ts";
