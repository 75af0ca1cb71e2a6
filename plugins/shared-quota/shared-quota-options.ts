/** What one engine's part in a shared quota is made of. */
import type { Clock } from "sluice/extension";
import type { ClaimStore } from "./claim.ts";
import type { Enrolling } from "./enrolment.ts";

/** Named as the engine is in its group; `of` is the sum of all shares. */
export interface SharedQuotaOptions extends Enrolling {
  readonly clock: Clock;
  readonly store: ClaimStore;
  /** What all engines call the address that they share. */
  readonly address: string;
  /** The store says why all engines of the group halt; undefined when they may go on. */
  readonly onHalt: (reason: string | undefined) => void;
  /** Another process has taken the name over. */
  readonly onFenced: () => void;
  /** The group has no room for the engine's share, and why; it asks again and joins as soon as there is. */
  readonly onFull: (detail: string) => void;
  readonly onAnomaly: (what: string, detail: string) => void;
}
