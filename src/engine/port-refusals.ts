/**
 * Orders that the service's port refuses for a while, as it does before an account is confirmed or while live prices are
 * missing.
 *
 * Invariants: what was refused meanwhile is tried again within a second of the end, also where its strategy does not
 * emit again; without a refusal there is no timer.
 */
import type { OpenService } from "../client/service-port.ts";
import type { UserAccount } from "./user-account.ts";

const checkMs = 1_000;

/** The port's question, watched until it takes orders again; undefined for a port that never refuses. */
export const watchRefusals = (
  { clock, ordersRefused }: OpenService,
  accounts: () => readonly Pick<UserAccount, "orderManager">[],
): (() => string | undefined) | undefined => {
  if (ordersRefused === undefined) return undefined;
  let isWatched = false;
  const checkLater = (): void => {
    isWatched = true;
    clock.setTimer(clock.now() + checkMs, () => {
      isWatched = false;
      if (ordersRefused() !== undefined) checkLater();
      else for (const { orderManager } of accounts()) orderManager.reconsider();
    });
  };
  return () => {
    const reason = ordersRefused();
    if (reason !== undefined && !isWatched) checkLater();
    return reason;
  };
};
