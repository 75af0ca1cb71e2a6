/**
 * Order listings with a delay: pending orders and the history in an earlier state.
 *
 * Invariants: the venue judges limits, permissions and form, and only the records of a success are replaced; a record
 * shown is one that was true at that earlier moment; pages follow the profile's rules of order and cursors; a completed
 * order is kept as long as the service would have shown it.
 * Not here: getOrder, which is always up to date, as at services whose listings come from a copy of the order data.
 */
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { EndpointName } from "../contract/endpoints.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import { paging } from "../contract/limits.ts";
import type { Profile } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { isActive } from "../contract/schemas.ts";
import { isZero } from "../decimal.ts";
import { cursorsOf } from "./queries.ts";
import type { Venue, VenueResponse } from "./venue.ts";

interface Listings {
  /** `answer` with earlier records, if it is a listing of orders. */
  asOf(endpoint: EndpointName | undefined, uid: string, query: Query, answer: VenueResponse): VenueResponse;
  stop(): void;
}

type Query = Readonly<Record<string, string>>;

interface Version {
  readonly at: number;
  readonly record: OrderRecord;
}

/**
 * Keeps versions of the venue's orders, so that listings can show how they were `lagMs` ago.
 *
 * @param venue - the exchange
 * @param contract - its service
 * @param clock - the clock of the exchange
 * @param lagMs - age of what listings show
 * @returns listings of `lagMs` ago
 */
export const lateListings = (venue: Venue, { profile }: Contract, clock: Clock, lagMs: number): Listings => {
  /** By user and order id, oldest version first. */
  const users = new Map<string, Map<string, readonly Version[]>>();
  /** Completed orders in the order of their ends; those before `first` were dropped. */
  let ended: { readonly at: number; readonly drop: () => void }[] = [];
  let first = 0;
  const dropOld = (at: number): void => {
    for (let end = ended[first]; end !== undefined && end.at < at; end = ended[++first]) end.drop();
    if (first < Math.max(gatheredMax, ended.length / 2)) return;
    ended = ended.slice(first);
    first = 0;
  };
  const stop = venue.onOrder((uid, record, at) => {
    const orders = users.get(uid) ?? new Map<string, readonly Version[]>();
    users.set(uid, orders);
    orders.set(record.ordId, [...sinceOf(orders.get(record.ordId) ?? [], at - lagMs), { at, record }]);
    dropOld(at - lagMs - profile.history.retentionMs);
    if (!isActive(record.state)) ended.push({ at, drop: () => orders.delete(record.ordId) });
  });
  const recordsAt = (uid: string, at: number): readonly OrderRecord[] =>
    [...(users.get(uid)?.values() ?? [])].flatMap(
      (versions) => versions.findLast((version) => version.at <= at)?.record ?? [],
    );
  return {
    stop,
    asOf: (endpoint, uid, query, answer) => {
      const { body } = answer;
      if ((endpoint !== "pendingOrders" && endpoint !== "orderHistory") || !isSuccess(answer.status, body))
        return answer;
      const open = endpoint === "pendingOrders";
      const shown = recordsAt(uid, clock.now() - lagMs).filter(
        (record) => isActive(record.state) === open && fits(record, query) && !vanishes(profile, record),
      );
      return { ...answer, body: { ...body, data: pageOf(profile, shown, query) } };
    },
  };
};

/** Number of dropped ends that may still be in the array. */
const gatheredMax = 256;

const isSuccess = (status: number, body: unknown): body is object =>
  status === 200 && body !== null && typeof body === "object" && "code" in body && body.code === "0";

/** Entries that are needed to know the state at `at` or later. */
const sinceOf = (versions: readonly Version[], at: number): readonly Version[] => {
  const known = versions.findLastIndex((version) => version.at <= at);
  return known <= 0 ? versions : versions.slice(known);
};

const vanishes = ({ history }: Profile, { state, accFillSz }: OrderRecord): boolean =>
  history.unfilledCanceledVanish && state === "canceled" && (accFillSz === "" || isZero(accFillSz));

const fits = (record: OrderRecord, { instType, instId, state }: Query): boolean =>
  (instType === undefined || instTypeOf(record.instId) === instType) &&
  (instId === undefined || record.instId === instId) &&
  (state === undefined || record.state === state);

/** The venue has accepted the query: cursors are digits, the limit is a number. */
const pageOf = (profile: Profile, records: readonly OrderRecord[], query: Query): readonly OrderRecord[] => {
  const { after, before, widen, isNearest } = cursorsOf(profile, query);
  const below = after === undefined ? undefined : BigInt(after) + BigInt(widen);
  const above = before === undefined ? undefined : BigInt(before) - BigInt(widen);
  const fitting = records
    .map((record) => ({ record, id: BigInt(record.ordId) }))
    .filter(({ id }) => (below === undefined || id < below) && (above === undefined || id > above))
    .sort((x, y) => (x.id < y.id ? 1 : -1));
  const { limit } = query;
  const most = Math.min(Number(limit ?? paging.limitDefault), paging.limitMax);
  const page = (isNearest ? fitting.slice(-most) : fitting.slice(0, most)).map(({ record }) => ({ ...record }));
  return profile.paging.newestFirst ? page : page.reverse();
};
