/**
 * The four order states.
 *
 * Invariants: `filled` and `canceled` are final; an unknown word is never silently read as one of the four.
 */
import type { Profile } from "./profile.ts";
import { type OrderState, orderStates } from "./schemas.ts";

export const isActive = (state: OrderState): boolean => state === "live" || state === "partially_filled";

/** Later states win over earlier ones when two records of one order disagree. */
export const rank: Readonly<Record<OrderState, number>> = { live: 0, partially_filled: 1, filled: 2, canceled: 2 };

/** One of the four states, an alias's state, or undefined for an unknown word. */
export const readState = (word: string, profile: Profile): OrderState | undefined => {
  const state = profile.order.stateAliases[word] ?? word;
  return (orderStates as readonly string[]).includes(state) ? (state as OrderState) : undefined;
};
