/**
 * Orders of a previous run, with the facts that protections need before the service reports these orders.
 *
 * Not here: what follows from them (protections.ts), the journal's own records (journal/intents.ts).
 */
import type { Protect } from "./protect.ts";

/**
 * An order of a previous run whose execution concerns a protection: the name of the protection or the slot of the
 * closing order, and for an entry its `protect`.
 */
export interface PlannedProtection {
  readonly slot: string;
  readonly protect?: Protect;
}

/** An order of a previous run that may still execute. */
export interface OpenOrder {
  readonly clOrdId: string;
  readonly strategy?: string;
  readonly instId: string;
}
