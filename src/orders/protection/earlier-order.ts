/**
 * Orders of a previous run as far as protections have to know them before the service reports them.
 *
 * Not here: what follows from them (protections.ts), the journal's own records (journal/intents.ts).
 */
import type { Protect } from "./protect.ts";

/**
 * An order of a previous run whose execution concerns a protection: the name of the protection or the slot of the
 * closing order, and of an entry what protects it.
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
