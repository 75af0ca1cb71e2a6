/**
 * Order store: everything the service has reported of orders, merged into one consistent set.
 *
 * Invariants: a merge takes the most advanced version of each part (state, fills, time), so that listings, pushes and
 * replies give the same record in any sequence of arrival; a final state stays final and filled size never falls;
 * finished orders are kept up to a bound.
 * Not here: whose orders they are (orders/), reading listings (order-lists.ts).
 */

import type { OrderRecord, OrderState } from "../../contract/schemas.ts";
import { activeIn, rank } from "../../contract/schemas.ts";
import { abs, compare } from "../../decimal.ts";

/** `previous` is the earlier record of the order. */
type OrderListener = (record: OrderRecord, previous: OrderRecord | undefined) => void;

const finishedMax = 1_000;

const filledOf = (record: OrderRecord): string => (record.accFillSz === "" ? "0" : record.accFillSz);
const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
const fillsOf = (record: OrderRecord): string =>
  `${record.avgPx}|${record.fee}|${record.accFillSz}|${record.feeCcy ?? ""}`;
const bodyOf = (record: OrderRecord): string =>
  [
    record.instId,
    record.clOrdId,
    record.px,
    record.sz,
    record.ordType,
    record.side,
    record.createdAt,
    record.updatedAt,
  ].join("|");

/** If both states are final, `filled` wins. */
const standing: Readonly<Record<OrderState, number>> = { ...rank, filled: rank.filled + 0.5 };

// Each part is chosen by a total order that looks at that part alone. So the result does not depend on the sequence of
// arrival.
const byFills = (a: OrderRecord, b: OrderRecord): number =>
  (a.accFillSz === b.accFillSz ? 0 : compare(filledOf(a), filledOf(b))) ||
  byFee(a, b) ||
  byText(fillsOf(a), fillsOf(b));
/**
 * If two records have the same fills, the one with a fee wins: a fee of zero may not be computed yet.
 */
const byFee = (a: OrderRecord, b: OrderRecord): number => compare(abs(feeOf(a)), abs(feeOf(b)));
const feeOf = ({ fee }: OrderRecord): string => (fee === "" ? "0" : fee);
const byBody = (a: OrderRecord, b: OrderRecord): number =>
  Number(a.updatedAt) - Number(b.updatedAt) || (sameBody(a, b) ? 0 : byText(bodyOf(a), bodyOf(b)));

// Same result as comparing texts, without making them: nearly all records that are compared are equal.
const sameFills = (a: OrderRecord, b: OrderRecord): boolean =>
  a.avgPx === b.avgPx && a.fee === b.fee && a.accFillSz === b.accFillSz && a.feeCcy === b.feeCcy;
const sameBody = (a: OrderRecord, b: OrderRecord): boolean =>
  a.instId === b.instId &&
  a.clOrdId === b.clOrdId &&
  a.px === b.px &&
  a.sz === b.sz &&
  a.ordType === b.ordType &&
  a.side === b.side &&
  a.createdAt === b.createdAt &&
  a.updatedAt === b.updatedAt;

/** Merges two records of one order; `known` itself when `next` adds nothing. */
export const mergeRecords = (known: OrderRecord, next: OrderRecord): OrderRecord => {
  const state = standing[next.state] > standing[known.state] ? next : known;
  const body = byBody(next, known) > 0 ? next : known;
  const fills = sameFills(next, known) ? body : byFills(next, known) > 0 ? next : known;
  if (state === fills && fills === body) return state;
  const { instId, ordId, clOrdId, px, sz, ordType, side, createdAt, updatedAt } = body;
  const { avgPx, accFillSz, fee, feeCcy } = fills;
  const merged = {
    instId,
    ordId,
    clOrdId,
    px,
    sz,
    ordType,
    side,
    state: state.state,
    avgPx,
    accFillSz,
    fee,
    ...(feeCcy !== undefined && { feeCcy }),
    createdAt,
    updatedAt,
  };
  return state.state === known.state && isSame(merged, known) ? known : merged;
};

const isSame = (a: OrderRecord, b: OrderRecord): boolean =>
  a.state === b.state && a.ordId === b.ordId && sameFills(a, b) && sameBody(a, b);

/** Newest first. Ids are numbers that grow, written in digits. */
const byAge = (a: string, b: string): number => b.length - a.length || byText(b, a);

/** Active records, kept sorted so that making a list needs a copy and not a sort. */
class SortedRecords {
  readonly records: OrderRecord[] = [];

  put(record: OrderRecord): void {
    const index = this.#indexOf(record.ordId);
    if (this.records[index]?.ordId === record.ordId) this.records[index] = record;
    else if (index === this.records.length) this.records.push(record);
    else this.records.splice(index, 0, record);
  }

  remove(ordId: string): void {
    const index = this.#indexOf(ordId);
    if (this.records[index]?.ordId !== ordId) return;
    if (index === this.records.length - 1) this.records.pop();
    else this.records.splice(index, 1);
  }

  #indexOf(ordId: string): number {
    let low = 0;
    let high = this.records.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (byAge((this.records[middle] as OrderRecord).ordId, ordId) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** An order as far as the service has reported it. */
interface Entry {
  record: OrderRecord;
  /** True while an active order was canceled, so that its absence from the list of open orders is evidence. */
  isEnding: boolean;
}

export class OrderStore {
  readonly #entries = new Map<string, Entry>();
  readonly #active = new SortedRecords();
  /** Finished orders in the sequence in which they finished, from `#first` on. */
  #finished: Entry[] = [];
  #first = 0;
  readonly #byClient = new Map<string, Entry>();
  readonly #listeners: OrderListener[] = [];
  readonly #forgetters: ((record: OrderRecord) => void)[] = [];

  /** Calls `listener` for every record that is new or changed. */
  onChange(listener: OrderListener): void {
    this.#listeners.push(listener);
  }

  /** Calls `listener` with the last record of every order that the service does not know any more. */
  onForgotten(listener: (record: OrderRecord) => void): void {
    this.#forgetters.push(listener);
  }

  /** Merges a record. Returns false if it contains no news. */
  merge(next: OrderRecord): boolean {
    const known = this.#entries.get(next.ordId);
    const previous = known?.record;
    // All readers share the record. A pushed record is not frozen yet.
    const record = Object.freeze(previous === undefined ? next : mergeRecords(previous, next));
    if (record === previous) return false;
    const entry = known ?? { record, isEnding: false };
    entry.record = record;
    if (known === undefined) this.#entries.set(record.ordId, entry);
    if (previous?.clOrdId !== record.clOrdId) this.#name(entry);
    const wasActive = previous !== undefined && activeIn[previous.state];
    if (activeIn[record.state]) this.#active.put(record);
    else if (wasActive || previous === undefined) this.#finish(entry, wasActive);
    const listeners = this.#listeners;
    for (let index = 0; index < listeners.length; index++) (listeners[index] as OrderListener)(record, previous);
    return true;
  }

  /** Called when the service does not know the order any more although no final record was seen. */
  forget(ordId: string): void {
    const entry = this.#activeEntry(ordId);
    if (entry === undefined) return;
    this.#entries.delete(ordId);
    this.#active.remove(ordId);
    this.#unname(entry);
    for (const listener of this.#forgetters) listener(entry.record);
  }

  /**
   * Called when the order was canceled. Its absence from the list of open orders then is evidence, however young it is.
   */
  ending(ordId: string): void {
    const entry = this.#activeEntry(ordId);
    if (entry !== undefined) entry.isEnding = true;
  }

  isEnding(ordId: string): boolean {
    return this.#activeEntry(ordId)?.isEnding === true;
  }

  find({ ordId, clOrdId }: { readonly ordId?: string; readonly clOrdId?: string }): OrderRecord | undefined {
    if (ordId !== undefined) return this.#entries.get(ordId)?.record;
    return clOrdId === undefined ? undefined : this.#byClient.get(clOrdId)?.record;
  }

  /** Active orders, newest first. */
  active(): readonly OrderRecord[] {
    return Object.freeze(this.#active.records.slice());
  }

  /** Finished orders, most recently finished first. */
  finished(): readonly OrderRecord[] {
    const entries = this.#finished.slice(this.#first).reverse();
    return Object.freeze(entries.map(({ record }) => record));
  }

  #activeEntry(ordId: string): Entry | undefined {
    const entry = this.#entries.get(ordId);
    return entry !== undefined && activeIn[entry.record.state] ? entry : undefined;
  }

  #finish(entry: Entry, wasActive: boolean): void {
    if (wasActive) this.#active.remove(entry.record.ordId);
    this.#finished.push(entry);
    if (this.#finished.length - this.#first <= finishedMax) return;
    const oldest = this.#finished[this.#first++] as Entry;
    this.#unname(oldest);
    this.#entries.delete(oldest.record.ordId);
    if (this.#first < finishedMax) return;
    this.#finished = this.#finished.slice(this.#first);
    this.#first = 0;
  }

  /** A client may reuse an id after its order is over. The newest order counts. */
  #name(entry: Entry): void {
    const { clOrdId, ordId } = entry.record;
    if (clOrdId === "") return;
    const known = this.#byClient.get(clOrdId);
    if (known === undefined || byAge(ordId, known.record.ordId) <= 0) this.#byClient.set(clOrdId, entry);
  }

  #unname(entry: Entry): void {
    const { clOrdId } = entry.record;
    if (this.#byClient.get(clOrdId) === entry) this.#byClient.delete(clOrdId);
  }
}
