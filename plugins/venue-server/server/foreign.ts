/**
 * Other programs of the same user: they spend its weight at moments of their own.
 *
 * Invariants: the mean is that of the plan, the moments are random (exponential gaps); weight in excess of the limit
 * blocks the user, as any of its requests would; nothing is spent after the agenda is cleared.
 */

import { type Random, SluiceError } from "sluice";
import type { Venue } from "sluice/backtest";
import { type Clock, didYouMean } from "sluice/extension";
import type { FaultPlan } from "./faults.ts";
import type { PendingTimers } from "./pending-timers.ts";

/** Weights of usual calls: list, read, read, place, cancel. */
const weights = [2, 5, 5, 10, 15] as const;
const meanWeight = weights.reduce((total, weight) => total + weight, 0) / weights.length;

/** `uids` are the users there are; the first is meant where the plan names none. */
export const spendForeign = (
  plan: NonNullable<FaultPlan["foreign"]>,
  uids: readonly string[],
  venue: Venue,
  clock: Clock,
  pendingTimers: PendingTimers,
  random: Random,
): void => {
  for (const [index, { uid = uids[0] ?? "", weightPerMinute }] of plan.entries()) {
    if (!uids.includes(uid)) {
      throw new SluiceError(
        "CONFIG_INVALID",
        `faults.foreign.${index}.uid: there is no user "${uid}".${didYouMean(uid, uids)}`,
      );
    }
    const chance = random.fork(`foreign ${index}`);
    const next = (): void => {
      pendingTimers.later(chance.exponential((60_000 * meanWeight) / weightPerMinute), () => {
        venue.spendElsewhere(uid, weights[chance.whole(0, weights.length - 1)] ?? 0, clock.now());
        next();
      });
    };
    next();
  }
};
