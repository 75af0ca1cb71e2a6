/**
 * Notices that a product's rules have changed: the service rejects an order by its tick, its lot or its listing, which were checked
 * here before it left.
 *
 * Invariants: asks for the list of products at most once a minute for each product, however many of its orders are rejected; decides
 * nothing about orders.
 * Not here: products that the list has never had (orders/refusals.ts).
 */
import { filter, type Observable } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { Profile } from "../contract/profile.ts";
import type { OrderUpdate } from "../orders/manual-orders.ts";

const pauseMs = 60_000;

/** Emits when the rules that are known should be read anew. */
export const rulesDoubted = (updates$: Observable<OrderUpdate>, { answers }: Profile, clock: Clock): Observable<OrderUpdate> => {
  const codes = [answers.instrumentCode, answers.priceCode, answers.sizeCode];
  /** When the list was asked for because of a product; at another's next rejection it may be older than the change. */
  const askedAt = new Map<string, number>();
  return updates$.pipe(
    filter(({ phase, reason, spec }) => {
      if (phase !== "rejected" || spec === undefined || !codes.some((code) => reason.startsWith(`${code} `))) return false;
      const { instId } = spec;
      if (clock.now() - (askedAt.get(instId) ?? Number.NEGATIVE_INFINITY) < pauseMs) return false;
      askedAt.set(instId, clock.now());
      return true;
    }),
  );
};
