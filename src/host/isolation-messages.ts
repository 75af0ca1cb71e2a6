/**
 * Messages between an engine and the thread of an isolated strategy.
 *
 * Invariants: plain data only; no message holds a key; the thread can send wanted orders and request nothing else.
 */
import type { InstrumentRecord } from "../contract/schemas.ts";
import type { Wanted } from "../orders/wanted-order.ts";
import type { Occasion } from "./failure.ts";

/** Data that the thread is started with. */
export interface IsolatedFacts {
  /** The file that defines the strategy. */
  readonly file: string | undefined;
  readonly name: string;
  readonly options: unknown;
  /** JSON of the schema of its options, by which the definition is recognised. */
  readonly schema: string;
}

/** A stream of the engine, by its place in a strategy's context. */
export const streamPaths = [
  "market.trades",
  "market.quotes",
  "market.books",
  "market.candles",
  "orders.place",
  "orders.cancel",
  "account.pending$",
  "account.history$",
  "account.balances$",
  "account.positions$",
  "account.equity$",
  "own.positions$",
  "own.equity$",
  "own.orders$",
  "own.updates$",
  "instruments$",
  "quota$",
] as const;
export type StreamPath = (typeof streamPaths)[number];

export type ToThread =
  | {
      readonly kind: "begin";
      readonly now: number;
      readonly seed: number;
      readonly listed: readonly InstrumentRecord[];
    }
  /** Values of several streams in the sequence in which they arrived. */
  | { readonly kind: "values"; readonly values: readonly (readonly [stream: number, value: unknown])[] }
  | { readonly kind: "ended"; readonly stream: number; readonly error?: string }
  | { readonly kind: "listed"; readonly listed: readonly InstrumentRecord[] }
  /** Answered when every earlier message was processed. */
  | { readonly kind: "ping" };

export type FromThread =
  | { readonly kind: "loaded" }
  | {
      readonly kind: "subscribe";
      readonly stream: number;
      readonly path: StreamPath;
      readonly args: readonly unknown[];
    }
  | { readonly kind: "unsubscribe"; readonly stream: number }
  | { readonly kind: "want"; readonly wanted: readonly Wanted[] }
  | { readonly kind: "failed"; readonly message: string; readonly occasion?: Occasion }
  /** `completed` is true if its streams have ended. */
  | { readonly kind: "pong"; readonly completed: boolean };
