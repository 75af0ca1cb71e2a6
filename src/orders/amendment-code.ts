/**
 * Code that changes orders in place, loaded for services that can: most cannot, and their starts do without it.
 *
 * Invariants: once loaded, it is there for every engine of the process.
 */
import type { Profile } from "../contract/profile.ts";

/** Undefined while it is not loaded. */
export let amendmentCode: typeof import("./amendment.ts") | undefined;

const loadAmendments = async (): Promise<void> => {
  amendmentCode = await import("./amendment.ts");
};

/** What is left to load for a service with this profile. */
export const amendmentCodeFor = ({ capabilities }: Profile): (() => Promise<void>) | undefined =>
  capabilities.amend && amendmentCode === undefined ? loadAmendments : undefined;
