/**
 * Everything the service has told us of orders, merged into one truthful set.
 *
 * Invariants: a merge takes the most advanced of each part (state, fills, time), so any order of arrival from listings, pushes
 * and replies gives the same record, a final state stays final and filled size never falls; finished orders are kept up to a bound.
 * Not here: whose orders they are (orders/), reading listings (order-lists.ts).
 */
import { type Observable, Subject } from "rxjs";
import { isActive, rank } from "../../contract/order-states.ts";
import type { OrderRecord } from "../../contract/schemas.ts";
import { abs, compare, isZero } from "../../decimal.ts";

export interface OrderChange {
  readonly record: OrderRecord;
  readonly previous: OrderRecord | undefined;
}

export interface OrderStore {
  /** Takes in a record; false when it said nothing new. */
  merge(record: OrderRecord): boolean;
  /** The service does not know the order any more although no final record was seen. */
  forget(ordId: string): void;
  /** The order was cancelled: that it is in no list of open orders is news, however young it is. */
  ending(ordId: string): void;
  readonly isEnding: (ordId: string) => boolean;
  find(id: { readonly ordId?: string; readonly clOrdId?: string }): OrderRecord | undefined;
  /** Active orders, newest first. */
  readonly active: () => readonly OrderRecord[];
  /** Finished orders, most recently finished first. */
  readonly finished: () => readonly OrderRecord[];
  readonly activeCount: number;
  readonly changes$: Observable<OrderChange>;
  readonly forgotten$: Observable<OrderRecord>;
}

const finishedMax = 1_000;

const filledOf = (record: OrderRecord): string => (record.accFillSz === "" ? "0" : record.accFillSz);
const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
const byTime = (a: OrderRecord, b: OrderRecord): number => Number(a.updatedAt) - Number(b.updatedAt);
const fillsOf = (record: OrderRecord): string => `${record.avgPx}|${record.fee}|${record.accFillSz}`;
const bodyOf = (record: OrderRecord): string =>
  [record.instId, record.clOrdId, record.px, record.sz, record.ordType, record.side, record.createdAt, record.updatedAt].join("|");

/** Of two that say how the order ended, the one that traded to its end. */
const standing = ({ state }: OrderRecord): number => rank[state] + (state === "filled" ? 0.5 : 0);

// Each part is chosen by a total order that looks at nothing but the part: that makes merging blind to the order of arrival.
const byState = (a: OrderRecord, b: OrderRecord): number => standing(a) - standing(b);
const byFills = (a: OrderRecord, b: OrderRecord): number =>
  (a.accFillSz === b.accFillSz ? 0 : compare(filledOf(a), filledOf(b))) ||
  (sameFills(a, b) ? 0 : byFee(a, b) || byText(fillsOf(a), fillsOf(b)));
/** Of two that tell the same fills, the one that tells what they cost: a fee of nothing may not have been reckoned yet. */
const byFee = (a: OrderRecord, b: OrderRecord): number => compare(abs(feeOf(a)), abs(feeOf(b)));
const feeOf = ({ fee }: OrderRecord): string => (fee === "" ? "0" : fee);
const byBody = (a: OrderRecord, b: OrderRecord): number => byTime(a, b) || (sameBody(a, b) ? 0 : byText(bodyOf(a), bodyOf(b)));

// The same without making texts: nearly all that is compared is alike.
const sameFills = (a: OrderRecord, b: OrderRecord): boolean => a.avgPx === b.avgPx && a.fee === b.fee && a.accFillSz === b.accFillSz;
const sameBody = (a: OrderRecord, b: OrderRecord): boolean =>
  a.instId === b.instId &&
  a.clOrdId === b.clOrdId &&
  a.px === b.px &&
  a.sz === b.sz &&
  a.ordType === b.ordType &&
  a.side === b.side &&
  a.createdAt === b.createdAt &&
  a.updatedAt === b.updatedAt;

/** What two records of one order say together; `known` itself when `next` adds nothing. */
export const mergeRecords = (known: OrderRecord, next: OrderRecord): OrderRecord => {
  const state = byState(next, known) > 0 ? next : known;
  const fills = byFills(next, known) > 0 ? next : known;
  const body = byBody(next, known) > 0 ? next : known;
  if (state === fills && fills === body) return state;
  const { instId, ordId, clOrdId, px, sz, ordType, side, createdAt, updatedAt } = body;
  const { avgPx, accFillSz, fee } = fills;
  const merged = { instId, ordId, clOrdId, px, sz, ordType, side, state: state.state, avgPx, accFillSz, fee, createdAt, updatedAt };
  return isSame(merged, known) ? known : merged;
};

const isSame = (a: OrderRecord, b: OrderRecord): boolean => a.state === b.state && a.ordId === b.ordId && sameFills(a, b) && sameBody(a, b);

/** Newest first: ids are digits of growing value. */
const byAge = (a: string, b: string): number => b.length - a.length || byText(b, a);

/** Active records kept sorted, so that a list is a copy and not a sort. */
const createSorted = () => {
  const records: OrderRecord[] = [];
  const indexOf = (ordId: string): number => {
    let low = 0;
    let high = records.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (byAge((records[middle] as OrderRecord).ordId, ordId) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const holds = (index: number, ordId: string): boolean => records[index]?.ordId === ordId;
  return {
    records,
    put: (record: OrderRecord): void => {
      const index = indexOf(record.ordId);
      records.splice(index, holds(index, record.ordId) ? 1 : 0, record);
    },
    find: (ordId: string): OrderRecord | undefined => {
      const index = indexOf(ordId);
      return holds(index, ordId) ? records[index] : undefined;
    },
    remove: (ordId: string): void => {
      const index = indexOf(ordId);
      if (holds(index, ordId)) records.splice(index, 1);
    },
  };
};

export const createOrderStore = (): OrderStore => {
  const active = createSorted();
  const finished = new Map<string, OrderRecord>();
  /** Ids of the finished ones in the order they came, from `first` on. */
  let queue: string[] = [];
  let first = 0;
  const byClient = new Map<string, string>();
  const endings = new Set<string>();
  const changes$ = new Subject<OrderChange>();
  const forgotten$ = new Subject<OrderRecord>();

  const finish = (record: OrderRecord): void => {
    active.remove(record.ordId);
    endings.delete(record.ordId);
    if (!finished.has(record.ordId)) queue.push(record.ordId);
    finished.set(record.ordId, record);
    if (finished.size <= finishedMax) return;
    // A map looks for its oldest entry behind all that were taken out before.
    const oldest = queue[first++] as string;
    unname(finished.get(oldest) as OrderRecord);
    finished.delete(oldest);
    if (first < finishedMax) return;
    queue = queue.slice(first);
    first = 0;
  };
  /** Ids of a client may come again once their order is over; the newest order counts. */
  const name = ({ clOrdId, ordId }: OrderRecord): void => {
    const known = byClient.get(clOrdId);
    if (clOrdId !== "" && (known === undefined || byAge(ordId, known) <= 0)) byClient.set(clOrdId, ordId);
  };
  const unname = ({ clOrdId, ordId }: OrderRecord): void => {
    if (byClient.get(clOrdId) === ordId) byClient.delete(clOrdId);
  };
  const byId = (ordId: string): OrderRecord | undefined => active.find(ordId) ?? finished.get(ordId);

  return {
    changes$,
    forgotten$,
    merge: (next) => {
      const previous = byId(next.ordId);
      // Shared by everybody who looks; a push brings a record nobody has frozen yet.
      const record = Object.freeze(previous === undefined ? next : mergeRecords(previous, next));
      if (record === previous) return false;
      name(record);
      if (isActive(record.state)) active.put(record);
      else finish(record);
      changes$.next({ record, previous });
      return true;
    },
    forget: (ordId) => {
      const record = active.find(ordId);
      if (record === undefined) return;
      active.remove(ordId);
      endings.delete(ordId);
      unname(record);
      forgotten$.next(record);
    },
    ending: (ordId) => {
      if (active.find(ordId) !== undefined) endings.add(ordId);
    },
    isEnding: (ordId) => endings.has(ordId),
    find: ({ ordId, clOrdId }) => {
      const id = ordId ?? (clOrdId === undefined ? undefined : byClient.get(clOrdId));
      return id === undefined ? undefined : byId(id);
    },
    active: () => Object.freeze(active.records.slice()),
    finished: () => Object.freeze([...finished.values()].reverse()),
    get activeCount() {
      return active.records.length;
    },
  };
};

export const hasFills = (record: OrderRecord): boolean => !isZero(filledOf(record));
