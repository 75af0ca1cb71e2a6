/** Options of one engine's part in a shared quota. */
import type { Clock } from "sluice/extension";
import type { ClaimStore } from "./claim.ts";
import type { Enrolling } from "./enrolment.ts";

/** Named as the engine is in its group; `of` is the sum of all shares. */
export interface SharedQuotaOptions extends Enrolling {
  readonly clock: Clock;
  readonly store: ClaimStore;
  /** Name of the address that all engines share. */
  readonly address: string;
  /** Called with the reason why all engines of the group halt; undefined when they may continue. */
  readonly onHalt: (reason: string | undefined) => void;
  /** Another process has taken the name over. */
  readonly onFenced: () => void;
  /** The group has no room for the engine's share, and why; it asks again and joins as soon as there is. */
  readonly onFull: (detail: string) => void;
  readonly onAnomaly: (what: string, detail: string) => void;
}
