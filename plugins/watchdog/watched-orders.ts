/**
 * Open orders of one user as the watchdog sees them: listed through its own gateway, and canceled together.
 *
 * Invariants: a record that cannot be read counts as one of ours unless its client id differs.
 * Not here: repetition of the cancels (client/cancel-all.ts), when to begin (heartbeat-monitor.ts), which order is ours
 * (watchdog.ts).
 */
import { map, type Observable } from "rxjs";
import type { OrderRecord } from "sluice";
import type { Contract } from "sluice/dialect";
import {
  type CancelNews,
  type Clock,
  cancelAll,
  type Gateway,
  isCancelable,
  isTurnedDown,
  type Listed,
  type Outcome,
  walkOrders,
} from "sluice/extension";

export interface WatchedUser {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly gateway: Gateway;
  readonly isOurs: (order: Pick<OrderRecord, "clOrdId">) => boolean;
}

const call = { class: "emergency", owner: "watchdog" } as const;

/** One listing of everything of ours that is open. */
export const listOpen = ({
  gateway,
  isOurs,
}: Pick<WatchedUser, "gateway" | "isOurs">): Observable<Listed<OrderRecord>> =>
  walkOrders(gateway, "pendingOrders", {}, call).pipe(map((outcome) => readListing(outcome, isOurs)));

const readListing = (outcome: Outcome<OrderRecord>, isOurs: WatchedUser["isOurs"]): Listed<OrderRecord> => {
  switch (outcome.kind) {
    case "done": {
      // A record of another client that cannot be read is none of ours, and does not keep ours from being canceled.
      const isHidden = (_: string, index: number): boolean => {
        const { clOrdId } = outcome.unread?.[index] ?? {};
        return clOrdId === undefined || isOurs({ clOrdId });
      };
      const orders = outcome.records.filter(isOurs);
      const problem = outcome.problems.find(isHidden);
      return problem === undefined ? { kind: "orders", orders } : { kind: "orders", orders, hidden: problem };
    }
    case "rejected":
      return { kind: "rejected", why: `${outcome.code} ${outcome.msg}`.trim() };
    case "limited":
      return { kind: "unread", why: "refused by a rate limit" };
    case "unknown":
      return { kind: "unread", why: outcome.message };
    case "dropped":
      return { kind: "unread", why: outcome.reason };
  }
};

/** Completes when nothing is open that can be canceled; unsubscribing stops it. */
export const cancelOpen = ({ clock, contract, ...user }: WatchedUser): Observable<CancelNews> =>
  cancelAll<OrderRecord>({
    clock,
    elementsMax: contract.profile.cancelBatch.elementsMax,
    isStuck: ({ instId }) => !isCancelable(instId, contract.profile),
    list: () => listOpen(user),
    cancel: (batch) => {
      const elements = batch.map(({ instId, ordId }) => ({ instId, ordId }));
      return user.gateway.call("cancelBatch", elements, call).pipe(map(isTurnedDown));
    },
  });
