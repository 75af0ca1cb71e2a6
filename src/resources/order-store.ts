/**
 * Everything the service has told us of orders, merged into one truthful set.
 *
 * Invariants: merging is monotone: a final state stays final, filled size never falls, so any order of arrival from listings,
 * pushes and replies gives the same record; fills are differences of filled size, so a repeat is harmless; finished orders are
 * kept up to a bound.
 * Not here: whose orders they are (orders/), reading listings (order-lists.ts).
 */
import { type Observable, Subject } from "rxjs";
import { isActive, rank } from "../contract/order-states.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { compare, isZero } from "../decimal.ts";

export interface OrderChange {
  readonly record: OrderRecord;
  readonly previous: OrderRecord | undefined;
}

export interface OrderStore {
  /** Takes in a record; false when it said nothing new. */
  merge(record: OrderRecord): boolean;
  /** The order is known not to exist any more although no final record was seen. */
  forget(ordId: string): void;
  find(id: { readonly ordId?: string; readonly clOrdId?: string }): OrderRecord | undefined;
  /** Active orders, newest first. */
  active(): readonly OrderRecord[];
  /** Finished orders, most recently finished first. */
  finished(): readonly OrderRecord[];
  readonly activeCount: number;
  readonly changes$: Observable<OrderChange>;
}

const finishedMax = 1_000;

const filledOf = (record: OrderRecord): string => (record.accFillSz === "" ? "0" : record.accFillSz);

/** True when `next` tells more than `known` does. */
export const isNewer = (next: OrderRecord, known: OrderRecord): boolean => {
  if (!isActive(known.state)) return false;
  const filled = compare(filledOf(next), filledOf(known));
  if (filled !== 0) return filled > 0;
  if (rank[next.state] !== rank[known.state]) return rank[next.state] > rank[known.state];
  return Number(next.updatedAt) > Number(known.updatedAt);
};

/** Newest first: ids are digits of growing value. */
const byAge = (a: OrderRecord, b: OrderRecord): number =>
  a.ordId.length === b.ordId.length ? (a.ordId < b.ordId ? 1 : a.ordId > b.ordId ? -1 : 0) : b.ordId.length - a.ordId.length;

export const createOrderStore = (): OrderStore => {
  const active = new Map<string, OrderRecord>();
  const finished = new Map<string, OrderRecord>();
  const byClient = new Map<string, string>();
  const changes$ = new Subject<OrderChange>();

  const finish = (record: OrderRecord): void => {
    active.delete(record.ordId);
    finished.set(record.ordId, record);
    if (finished.size <= finishedMax) return;
    for (const [ordId, oldest] of finished) {
      finished.delete(ordId);
      if (byClient.get(oldest.clOrdId) === ordId) byClient.delete(oldest.clOrdId);
      return;
    }
  };

  return {
    changes$,
    merge: (record) => {
      const previous = active.get(record.ordId) ?? finished.get(record.ordId);
      if (previous !== undefined && !isNewer(record, previous)) return false;
      if (record.clOrdId !== "") byClient.set(record.clOrdId, record.ordId);
      if (isActive(record.state)) active.set(record.ordId, record);
      else finish(record);
      changes$.next({ record, previous });
      return true;
    },
    forget: (ordId) => {
      active.delete(ordId);
    },
    find: ({ ordId, clOrdId }) => {
      const id = ordId ?? (clOrdId === undefined ? undefined : byClient.get(clOrdId));
      return id === undefined ? undefined : (active.get(id) ?? finished.get(id));
    },
    active: () => [...active.values()].sort(byAge),
    finished: () => [...finished.values()].reverse(),
    get activeCount() {
      return active.size;
    },
  };
};

export const hasFills = (record: OrderRecord): boolean => !isZero(filledOf(record));
