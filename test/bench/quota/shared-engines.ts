/**
 * Engines that divide one quota by a store in memory, which is as far away as one in the same building and may fail.
 *
 * Invariants: instants of failures are of true time, counted from the first engine's start.
 * Not here: the store in Redis (test/unit/scheduler/shared/redis-claim-store.test.ts).
 */
import { NotSent } from "../../../plugins/redis/not-sent.ts";
import type { ClaimStore } from "../../../plugins/shared-quota/claim.ts";
import { MemoryClaimStore } from "../../../plugins/shared-quota/memory-claim-store.ts";
import { SharedQuota } from "../../../plugins/shared-quota/shared-quota.ts";
import type { Bench } from "./limiter.ts";

export interface SharingTroubles {
  /** Milliseconds of one way, on average; 0.35 when left out. */
  readonly legMs?: number;
  /** It takes what it is told and never answers, from and to. */
  readonly hangs?: readonly (readonly [number, number])[];
  /** It cannot be reached, and has lost its memory afterwards. */
  readonly away?: readonly (readonly [number, number])[];
  /** Engines that alone do not reach it, from and to. */
  readonly cutOffOf?: Readonly<Record<string, readonly (readonly [number, number])[]>>;
  /** Part of the statements that are carried out and not answered. */
  readonly lostShare?: number;
  readonly shareOf?: (member: string) => number;
  /** Told what an engine halted for. */
  readonly onHalt?: (member: string, reason: string | undefined) => void;
  readonly onFenced?: (member: string) => void;
  /** `at` is counted as those of failures are. */
  readonly onAnomaly?: (member: string, what: string, detail: string, at: number) => void;
  /** Told of the store when it is made. */
  readonly onStore?: (store: MemoryClaimStore) => void;
}

const answerMs = 1_000;

/** Makes the part of each engine of a cell. What befalls the group is said by its scenario, unless it is said here. */
export const sharedQuotaOf = (given?: SharingTroubles): ((bench: Bench) => SharedQuota) => {
  const stores = new WeakMap<object, { readonly store: MemoryClaimStore; readonly bornAt: number; lost: number }>();
  return (bench) => {
    const troubles = given ?? bench.group.sharing;
    const { shareOf = () => 1, onHalt, onFenced } = troubles;
    const { clock, group } = bench;
    let known = stores.get(group.cell);
    if (known === undefined) {
      known = { store: new MemoryClaimStore(group.now), bornAt: group.now(), lost: 0 };
      stores.set(group.cell, known);
      troubles.onStore?.(known.store);
    }
    const { bornAt } = known;
    return new SharedQuota({
      clock,
      store: farStore(known, bench, troubles),
      member: group.member,
      share: shareOf(group.member),
      of: Array.from({ length: group.engines }, (_, index) => shareOf(`engine-${index}`)).reduce(
        (sum, share) => sum + share,
        0,
      ),
      address: "home",
      gone: true,
      onHalt: (reason) => onHalt?.(group.member, reason),
      onFenced: () => onFenced?.(group.member),
      onFull: () => undefined,
      onAnomaly: (what, detail) => troubles.onAnomaly?.(group.member, what, detail, group.now() - bornAt),
    });
  };
};

const farStore = (
  known: { readonly store: MemoryClaimStore; readonly bornAt: number; lost: number },
  { clock, random, group }: Bench,
  { legMs = 0.35, hangs = [], away = [], cutOffOf = {}, lostShare = 0 }: SharingTroubles,
): ClaimStore => {
  const { store } = known;
  const leg = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.setTimer(clock.now() + ms, resolve);
    });
  const isIn = (spans: readonly (readonly [number, number])[]): boolean => {
    const at = group.now() - known.bornAt;
    return spans.some(([from, to]) => at >= from && at < to);
  };
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    const ended = away.filter(([, to]) => group.now() - known.bornAt >= to).length;
    if (ended > known.lost) {
      known.lost = ended;
      store.lose();
    }
    if (isIn(away) || isIn(cutOffOf[group.member] ?? [])) throw new NotSent("refused");
    await leg(random.exponential(legMs));
    const answer = isIn(hangs) ? undefined : await call();
    if (answer === undefined || (lostShare > 0 && random.next() < lostShare)) {
      await leg(answerMs);
      throw new Error("no answer");
    }
    await leg(random.exponential(legMs));
    return answer;
  };
  return {
    register: (...all) => through(() => store.register(...all)),
    leave: (...all) => through(() => store.leave(...all)),
    members: () => store.members(),
    claim: (statement) => through(() => store.claim(statement)),
    ping: async () => void (await through(async () => true)),
    halt: (reason) => store.halt(reason),
    halted: () => store.halted(),
    holdings: () => store.holdings(),
    close: () => undefined,
  };
};
