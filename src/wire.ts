/**
 * Parts of the described service on the wire: the namespace `wire` of `sluice/dialect`.
 *
 * Not here: what a dialect is made of (dialect.ts).
 */
export type { BookMessage, CandleMessage, TickerMessage, TradeMessage } from "./contract/channels.ts";
export type { SignedParts } from "./contract/signing.ts";
