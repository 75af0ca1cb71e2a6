/**
 * A subscription that is there while it is needed.
 *
 * Invariants: opened at most once at a time; closed as soon as the need ends.
 */
import type { Subscription } from "rxjs";

export const createGuard = (open: () => Subscription): { need(needed: boolean): void } => {
  let held: Subscription | undefined;
  return {
    need: (needed) => {
      if (needed === (held !== undefined)) return;
      held?.unsubscribe();
      held = needed ? open() : undefined;
    },
  };
};
