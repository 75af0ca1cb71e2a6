/**
 * Walks a listing to its end by the cursor of ids.
 *
 * Invariants: pages are asked for from new to old with `after` only; a page that repeats or ignores the cursor voids the walk;
 * the result is complete or it is no result.
 */
import { EMPTY, expand, type Observable, of, reduce, map as rxMap } from "rxjs";
import { paging } from "../contract/limits.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { CallOptions, Gateway } from "./gateway.ts";
import type { Outcome } from "./outcome.ts";

/** Older ids are smaller; ids that are not all digits cannot be compared and are trusted to be in order. */
const isOlder = (id: string, than: string): boolean => !/^\d+$/.test(id) || !/^\d+$/.test(than) || BigInt(id) < BigInt(than);

export interface WalkOptions extends CallOptions {
  readonly pagesMax?: number;
  /** Stops after the page that reaches orders created before this instant of the service. */
  readonly since?: number;
}

type Walk = { readonly outcome: Outcome<OrderRecord>; readonly cursor: string | undefined; readonly pages: number };

/** Emits one outcome with every record of the listing, newest first. */
export const walkOrders = (
  gateway: Gateway,
  endpoint: "pendingOrders" | "orderHistory",
  query: Readonly<Record<string, string>>,
  options: WalkOptions,
): Observable<Outcome<OrderRecord>> => {
  const { pagesMax = 50, since, ...call } = options;
  const page = (cursor: string | undefined, pages: number): Observable<Walk> => {
    const input = { ...query, limit: String(paging.limitMax), ...(cursor === undefined ? {} : { after: cursor }) };
    return gateway.read(endpoint, input, call).pipe(rxMap((outcome) => judged(outcome as Outcome<OrderRecord>, cursor, pages + 1, since)));
  };
  return page(undefined, 0).pipe(
    expand((walk) =>
      walk.cursor === undefined ? EMPTY : walk.pages >= pagesMax ? of(tooLong(endpoint, pagesMax)) : page(walk.cursor, walk.pages),
    ),
    reduce((whole: Outcome<OrderRecord> | undefined, { outcome }) => joined(whole, outcome), undefined),
    rxMap((whole) => whole ?? { kind: "unknown", message: `${endpoint}: no page was read` }),
  );
};

const judged = (outcome: Outcome<OrderRecord>, cursor: string | undefined, pages: number, since: number | undefined): Walk => {
  if (outcome.kind !== "done") return { outcome, cursor: undefined, pages };
  const { records } = outcome;
  if (cursor !== undefined && records.some(({ ordId }) => !isOlder(ordId, cursor))) {
    return { outcome: { kind: "unknown", message: `the page after ${cursor} holds orders that are not older` }, cursor: undefined, pages };
  }
  const last = records[records.length - 1];
  const reached = since !== undefined && last !== undefined && Number(last.createdAt) < since;
  const ended = records.length + outcome.problems.length < paging.limitMax || last === undefined || reached;
  return { outcome, cursor: ended ? undefined : last.ordId, pages };
};

const tooLong = (endpoint: string, pagesMax: number): Walk => ({
  outcome: { kind: "unknown", message: `${endpoint}: more than ${pagesMax} pages` },
  cursor: undefined,
  pages: pagesMax,
});

const joined = (whole: Outcome<OrderRecord> | undefined, next: Outcome<OrderRecord>): Outcome<OrderRecord> => {
  if (whole === undefined || whole.kind !== "done" || next.kind !== "done")
    return whole !== undefined && whole.kind !== "done" ? whole : next;
  return { kind: "done", records: [...whole.records, ...next.records], problems: [...whole.problems, ...next.problems], at: next.at };
};
