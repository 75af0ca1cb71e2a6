/**
 * Prices that come from somewhere as they are made, for the embedded service to trade on.
 *
 * Invariants: rows are dated by the clock they arrived on, and each tape has the products and series of the first one,
 * so that tapes follow each other.
 * Not here: where prices come from (plugins/ccxt), who plays them (backtest/live-paper.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { Tape } from "./tape/tape.ts";

interface FlatFees {
  readonly makerBps: string;
  readonly takerBps: string;
}

interface LivePricesParts {
  readonly clock: Clock;
  /** Receives faults, such as a connection that is lost: a short name and a sentence. */
  readonly tell: (what: string, detail: string) => void;
}

/**
 * A source of live prices, as a config names it: what `ccxtMarket` returns. Nothing is opened before the engine starts.
 */
export interface LivePrices {
  readonly name: string;
  /** Reads the terms of the products. Rejects where the source or a product is not there. */
  open(parts: LivePricesParts): Promise<OpenPrices>;
}

/** Prices while an engine runs on them. */
export interface OpenPrices {
  /** The products, and an empty series of each kind that may come of each. */
  readonly layout: Tape;
  /** Fees at the source for each type of product, where it publishes them. */
  readonly fees: { readonly SPOT?: FlatFees; readonly SWAP?: FlatFees };
  /** Why nothing is known of present prices, in words. */
  refusal(): string | undefined;
  /** Gives rows to `sink` as they come. */
  start(sink: (rows: Tape) => void): void;
  /** Nothing comes after it. Resolves when connections are closed. */
  stop(): Promise<void>;
}
