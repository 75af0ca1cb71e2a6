/**
 * Notices that a product's rules have changed: the service refuses an order by its tick, its lot or its listing, which were checked
 * here before it left.
 *
 * Invariants: asks for the list of products at most once a minute, however many orders are refused; decides nothing about orders.
 * Not here: products that the list has never had (orders/refusals.ts).
 */
import { filter, type Observable } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { Profile } from "../contract/profile.ts";
import type { OrderUpdate } from "../orders/orders.ts";

const pauseMs = 60_000;

/** Emits when the rules that are known should be read anew. */
export const rulesDoubted = (updates$: Observable<OrderUpdate>, { answers }: Profile, clock: Clock): Observable<OrderUpdate> => {
  const codes = [answers.instrumentCode, answers.priceCode, answers.sizeCode];
  let askedAt = Number.NEGATIVE_INFINITY;
  return updates$.pipe(
    filter(({ phase, reason }) => {
      const doubted = phase === "rejected" && codes.some((code) => reason.startsWith(`${code} `)) && clock.now() - askedAt >= pauseMs;
      if (doubted) askedAt = clock.now();
      return doubted;
    }),
  );
};
