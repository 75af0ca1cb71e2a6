/**
 * Split read: a read that the service answers only in parts, such as a listing by kind of instrument, requested part by
 * part and merged.
 *
 * Invariants: each part is a read of its own, charged and repeated as one; the whole is done when every part is, and
 * otherwise has the outcome of the first part that was not; listings of orders stay newest first and within the limit
 * that was asked for, so that the oldest record of a page is still the cursor of the next.
 */
import { forkJoin, map, type Observable } from "rxjs";
import type { EndpointName, InputOf, RecordOf } from "../contract/endpoints.ts";
import { paging } from "../contract/limits.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { Outcome } from "./outcome.ts";

type Input = Readonly<Record<string, unknown>>;

/** The inputs that a read is made of; itself where it needs no parts. */
type SplitRead = (endpoint: EndpointName, input: Input) => readonly Input[];

/** Asks for a read in the parts that a service answers it in; `read` asks for one of them. */
export type ReadInParts = <E extends EndpointName>(
  endpoint: E,
  input: InputOf<E>,
  read: (part: InputOf<E>) => Observable<Outcome<RecordOf<E>>>,
) => Observable<Outcome<RecordOf<E>>>;

type Done<R> = Extract<Outcome<R>, { kind: "done" }>;

export const inPartsOf =
  (split: SplitRead): ReadInParts =>
  (endpoint, input, read) => {
    const parts = split(endpoint, input as Input);
    if (parts.length === 1) return read(parts[0] as typeof input);
    return forkJoin(parts.map((part) => read(part as typeof input))).pipe(
      map((outcomes) => {
        const failed = outcomes.find(({ kind }) => kind !== "done");
        return failed ?? joined(endpoint, input as Input, outcomes as Done<never>[]);
      }),
    );
  };

/** The records of all parts of a read with this input, as those of the whole. */
export const joinedRecords = <R>(endpoint: EndpointName, { limit }: Input, records: readonly R[]): readonly R[] =>
  endpoint === "pendingOrders" || endpoint === "orderHistory"
    ? (newest(records as unknown as OrderRecord[], Number(limit ?? paging.limitDefault)) as unknown as R[])
    : records;

const joined = <R>(endpoint: EndpointName, input: Input, parts: readonly Done<R>[]): Done<R> => {
  const records = parts.flatMap((part) => part.records);
  const unread = parts.flatMap((part) => part.unread ?? []);
  return {
    kind: "done",
    // The whole is as old as the oldest part: later changes may be missing in it.
    at: Math.min(...parts.map(({ at }) => at)),
    records: joinedRecords(endpoint, input, records),
    problems: parts.flatMap(({ problems }) => problems),
    ...(unread.length > 0 && { unread }),
  };
};

/** Returns the newest orders. Order ids grow with time, because they serve as cursors. */
const newest = (records: readonly OrderRecord[], limit: number): readonly OrderRecord[] =>
  records.toSorted((a, b) => b.ordId.length - a.ordId.length || (b.ordId > a.ordId ? 1 : -1)).slice(0, limit);
