/**
 * Refresh of product rules: reads the list of products when the service rejects an order for its tick, lot or listing although these
 * were checked before it was sent.
 *
 * Invariants: at most one read a minute for each product, however many of its orders are rejected; orders are not affected.
 * Not here: products that the list has never had (orders/refusals.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { Profile } from "../contract/profile.ts";
import type { TrackedOrder } from "../orders/tracked-order.ts";

const pauseMs = 60_000;

/** To be called with each order that the service rejected; calls `refresh` when the rules that are known should be read again. */
export const instrumentRefresh = ({ answers }: Profile, clock: Clock, refresh: () => void): ((rejected: TrackedOrder) => void) => {
  const codes = [answers.instrumentCode, answers.priceCode, answers.sizeCode];
  /** Time of the last read by product; for another product's rejection that list may be older than the change. */
  const askedAt = new Map<string, number>();
  return ({ reason, spec: { instId } }) => {
    if (!codes.some((code) => reason.startsWith(`${code} `))) return;
    if (clock.now() - (askedAt.get(instId) ?? Number.NEGATIVE_INFINITY) < pauseMs) return;
    askedAt.set(instId, clock.now());
    refresh();
  };
};
