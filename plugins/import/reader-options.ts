/**
 * Options of every reader of a recording, for any format.
 */
import type { DecimalPool } from "./import-decimals.ts";

/** Takes note of something that was met, and how often. */
export type Note = (what: string, count?: number) => void;

export interface ReaderOptions {
  readonly symbol?: string | undefined;
  readonly disorderMs: number;
  readonly axis: "receive" | "exchange";
  readonly prices: DecimalPool;
  readonly quantities: DecimalPool;
  readonly note: Note;
}
