/**
 * Paging: reads a listing to its end, with order ids as the cursor.
 *
 * Invariants: pages are requested from new to old with `after` only; a page that repeats or ignores the cursor is a
 * failure; a result is complete or a failure.
 */
import { EMPTY, expand, type Observable, of, reduce, map as rxMap, tap } from "rxjs";
import { paging } from "../contract/limits.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { Gateway, ReadOptions } from "./gateway.ts";
import type { Outcome } from "./outcome.ts";

const areDigits = (a: string, b: string): boolean => /^\d+$/.test(a) && /^\d+$/.test(b);

/** Older ids are smaller. Ids that are not all digits cannot be compared and are assumed to be in order. */
const isOlder = (id: string, than: string): boolean => !areDigits(id, than) || BigInt(id) < BigInt(than);

export interface WalkOptions extends ReadOptions {
  /** Reads the newest page only. */
  readonly newestOnly?: boolean;
  readonly pagesMax?: number;
  /** Receives the records of each page as they arrive, even if a later page fails. */
  readonly onPage?: (records: readonly OrderRecord[]) => void;
  /** Stops after the page that reaches orders created before this instant, in the unit of the service's records. */
  readonly since?: number;
}

type Walk = { readonly outcome: Outcome<OrderRecord>; readonly cursor: string | undefined; readonly pages: number };

/**
 * Emits one outcome with every record of the listing, page by page from new to old.
 *
 * @param gateway - calls of a user
 * @param endpoint - the listing
 * @param query - of every page
 * @param options - where it ends
 * @returns a stream of one outcome, with records from new to old
 */
export const walkOrders = (
  gateway: Gateway,
  endpoint: "pendingOrders" | "orderHistory",
  query: Readonly<Record<string, string>>,
  options: WalkOptions,
): Observable<Outcome<OrderRecord>> => {
  const { pagesMax = 50, since, newestOnly = false, onPage, ...call } = options;
  const page = (cursor: string | undefined, pages: number): Observable<Walk> => {
    const input = { ...query, limit: String(paging.limitMax), ...(cursor === undefined ? {} : { after: cursor }) };
    return gateway.read(endpoint, input, call).pipe(
      rxMap((outcome) =>
        judged(outcome as Outcome<OrderRecord>, cursor, pages + 1, newestOnly ? Number.POSITIVE_INFINITY : since),
      ),
      tap(({ outcome }) => {
        if (outcome.kind === "done") onPage?.(outcome.records);
      }),
    );
  };
  return page(undefined, 0).pipe(
    expand((walk) =>
      walk.cursor === undefined
        ? EMPTY
        : walk.pages >= pagesMax
          ? of(tooLong(endpoint, pagesMax))
          : page(walk.cursor, walk.pages),
    ),
    reduce((whole: Outcome<OrderRecord> | undefined, { outcome }) => joined(whole, outcome), undefined),
    rxMap((whole) => whole ?? { kind: "unknown", message: `${endpoint}: no page was read` }),
  );
};

const judged = (
  outcome: Outcome<OrderRecord>,
  cursor: string | undefined,
  pages: number,
  since: number | undefined,
): Walk => {
  if (outcome.kind !== "done") return { outcome, cursor: undefined, pages };
  // Some services include the order that the cursor names in the page.
  const records = outcome.records.filter(({ ordId }) => ordId !== cursor);
  if (cursor !== undefined && records.some(({ ordId }) => !isOlder(ordId, cursor))) {
    return {
      outcome: { kind: "unknown", message: `the page after ${cursor} holds orders that are not older` },
      cursor: undefined,
      pages,
    };
  }
  const last = oldestOf(records);
  const reached =
    since === Number.POSITIVE_INFINITY || (since !== undefined && last !== undefined && Number(last.createdAt) < since);
  const ended = outcome.records.length + outcome.problems.length < paging.limitMax || reached;
  const whole: Outcome<OrderRecord> = { ...outcome, records };
  if (ended) return { outcome: whole, cursor: undefined, pages };
  const next = (outcome.unread ?? []).reduce((oldest, { ordId }) => olderOf(oldest, ordId), last?.ordId);
  if (next !== undefined && next !== cursor) return { outcome: whole, cursor: next, pages };
  return {
    outcome: { kind: "unknown", message: "a whole page of orders has no ids that can be read" },
    cursor: undefined,
    pages,
  };
};

/** The cursor of the next page. It is chosen by the ids, because a service may list a page from old to new. */
const oldestOf = (records: readonly OrderRecord[]): OrderRecord | undefined => {
  const [first] = records;
  const last = records[records.length - 1];
  if (first === undefined || last === undefined) return undefined;
  return areDigits(first.ordId, last.ordId) && isOlder(first.ordId, last.ordId) ? first : last;
};

/** Cursor of the next page. It lies beyond unreadable records at the end of a page. */
const olderOf = (oldest: string | undefined, ordId: string | undefined): string | undefined =>
  oldest === undefined || (ordId !== undefined && areDigits(ordId, oldest) && isOlder(ordId, oldest)) ? ordId : oldest;

const tooLong = (endpoint: string, pagesMax: number): Walk => ({
  outcome: { kind: "unknown", message: `${endpoint}: more than ${pagesMax} pages` },
  cursor: undefined,
  pages: pagesMax,
});

const joined = (whole: Outcome<OrderRecord> | undefined, next: Outcome<OrderRecord>): Outcome<OrderRecord> => {
  if (whole === undefined || whole.kind !== "done" || next.kind !== "done")
    return whole !== undefined && whole.kind !== "done" ? whole : next;
  const problems = [...whole.problems, ...next.problems];
  const unread = [whole, next].flatMap((part) => part.problems.map((_, index) => part.unread?.[index] ?? {}));
  return { kind: "done", records: [...whole.records, ...next.records], problems, unread, at: next.at };
};
