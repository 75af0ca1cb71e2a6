/**
 * Drain: waits before an engine closes for unanswered placements and unknown orders.
 *
 * Invariants: never longer than asked; nothing is sent for it that would not be sent anyway.
 */
import { filter, lastValueFrom, map, Observable, startWith, take, takeUntil } from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import type { TrackedOrder } from "../orders/tracked-order.ts";
import type { UserAccount } from "./user-account.ts";

const isOpenQuestion = ({ phase }: TrackedOrder): boolean => phase === "sent" || phase === "unknown";

/** Resolves when every order's fate is known, or after `ms`. */
export const drained = async (accounts: readonly UserAccount[], clock: Clock, ms: number): Promise<void> => {
  if (ms <= 0) return;
  const questions = (): number =>
    accounts.reduce((count, { orderManager }) => count + orderManager.orders().filter(isOpenQuestion).length, 0);
  const changed$ = new Observable<undefined>((subscriber) => {
    for (const { orderManager } of accounts) subscriber.add(orderManager.listen(() => subscriber.next(undefined)));
  });
  const none$ = changed$.pipe(
    startWith(undefined),
    map(questions),
    filter((count) => count === 0),
    take(1),
    takeUntil(after(clock, ms)),
  );
  await lastValueFrom(none$, { defaultValue: 0 });
};
