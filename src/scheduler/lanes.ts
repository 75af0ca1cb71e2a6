/**
 * The waiting actions, sorted into lanes whose members are alike to the ledger.
 *
 * Invariants: if the head of a lane has no room, none behind it has; lanes are few (classes × weights × accounts) and kept in the
 * order of their heads. While somebody probes, the lightest call comes first.
 */
import type { EndpointName } from "../contract/endpoints.ts";
import type { Account, Action } from "./action.ts";
import { classRules, createFairShares } from "./priority.ts";
import { PriorityQueue } from "./priority-queue.ts";
import { type Landing, type Lane, QueuedAction, type UserRound } from "./queued-action.ts";
import type { Charge } from "./quota/layers.ts";
import type { Ledger } from "./quota/ledger.ts";

interface Lanes {
  add(action: Action, now: number): QueuedAction;
  take(lane: Lane): void;
  /** Takes a waiting entry out; false when it has left already. */
  withdraw(entry: QueuedAction): boolean;
  /** Lanes with something to send, best head first, valid until the next call. */
  ready(): readonly Lane[];
  readonly count: number;
}

/** Owners for whom `apart` holds get lanes of their own, so that they can be held back without holding back others. */
export const createLanes = (
  ledger: Pick<Ledger, "probing" | "turns">,
  landing: Landing,
  shares: Readonly<Record<string, number>> | undefined,
  apart: (owner: string) => boolean,
): Lanes => {
  const lanes: Lane[] = [];
  const byName = new Map<string, Lane>();
  const parties = new Map<string, UserRound>();
  const byAccount = new WeakMap<Account, Map<EndpointName, Lane[]>>();
  const fair = createFairShares(shares);
  const found: Lane[] = [];
  /** `found` is still in order, but for heads that came or went since. */
  let sorted = false;
  let turns = 0;
  let lastAccount: Account | undefined;
  let lastOwn: Map<EndpointName, Lane[]> | undefined;
  let count = 0;
  let sequence = 0;

  const open = (action: Action, owner: string | undefined): Lane => {
    const { class: kind, endpoint, weight, elements = 1, elementWeight = 0, account } = action;
    // Account objects that say the same share a lane.
    const size = `${weight}|${elements}|${elementWeight}`;
    const name = `${kind}${endpoint}|${owner ?? ""}|${size}|${account.uid}|${account.ip}|${account.keys.join()}`;
    let lane = byName.get(name);
    if (lane !== undefined) return lane;
    const party = parties.get(account.uid) ?? { round: 0, lighterThan: 0 };
    parties.set(account.uid, party);
    lane = openLane(action, owner, lanes.length, party, landing);
    lanes.push(lane);
    byName.set(name, lane);
    return lane;
  };
  const laneOf = (action: Action): Lane => {
    const { class: kind, endpoint, weight, elements = 1, elementWeight = 0, account } = action;
    let own = account === lastAccount ? lastOwn : byAccount.get(account);
    if (own === undefined) {
      own = new Map();
      byAccount.set(account, own);
    }
    lastAccount = account;
    lastOwn = own;
    let near = own.get(endpoint);
    if (near === undefined) {
      near = [];
      own.set(endpoint, near);
    }
    const owner = apart(action.owner) ? action.owner : undefined;
    for (const lane of near) {
      const alike = lane.class === kind && lane.weight === weight && lane.elements === elements && lane.elementWeight === elementWeight;
      if (alike && lane.owner === owner) return lane;
    }
    const lane = open(action, owner);
    near.push(lane);
    return lane;
  };
  const sort = (): void => {
    found.length = 0;
    for (const lane of lanes) {
      if (lane.queue.head() === undefined) continue;
      // A call sent blind should be the lightest one: it must not be the one that overruns the minute.
      lane.order = ledger.probing(lane.charges[0] as Charge) ? lane.weight - 1_000 : classRules[lane.class].order;
      lane.key = lane.queue.headKey();
      found.push(lane);
    }
    found.sort(compare);
    sorted = true;
    turns = ledger.turns;
  };
  /** The best lane has lost its head: the others stay in order. */
  const sink = (lane: Lane): void => {
    if (lane.queue.head() === undefined) {
      found.shift();
      return;
    }
    lane.key = lane.queue.headKey();
    let position = 0;
    for (; position + 1 < found.length && compare(found[position + 1] as Lane, lane) < 0; position++)
      found[position] = found[position + 1] as Lane;
    found[position] = lane;
  };

  return {
    get count() {
      return count;
    },
    add: (action, now) => {
      const lane = laneOf(action);
      const share = fair.of(action.owner, now);
      const key = share.enter(action.weight, now) - classRules[action.class].headStartMs;
      sequence++;
      const entry = new QueuedAction(sequence, action, lane, share, now);
      lane.queue.push(entry, key, sequence);
      // What is not the new head leaves the order of the lanes alone.
      if (sorted && lane.queue.head() === entry) sorted = false;
      count++;
      return entry;
    },
    take: (lane) => {
      const entry = lane.queue.pop();
      if (entry === undefined) return;
      entry.removed = true;
      entry.share.queued--;
      count--;
      if (sorted && found[0] === lane) sink(lane);
      else sorted = false;
    },
    withdraw: (entry) => {
      if (entry.removed) return false;
      entry.lane.queue.remove(entry);
      entry.share.queued--;
      count--;
      sorted = false;
      return true;
    },
    ready: () => {
      if (!sorted || turns !== ledger.turns) sort();
      return found;
    },
  };
};

const compare = (a: Lane, b: Lane): number => a.order - b.order || a.key - b.key || a.age - b.age;

const openLane = (action: Action, owner: string | undefined, age: number, party: UserRound, landing: Landing): Lane => {
  const { class: kind, endpoint, weight, elements = 1, elementWeight = 0, account } = action;
  const { ip, uid, keys } = account;
  const charge = (key: string | undefined): Charge => ({
    endpoint,
    weight,
    elements,
    elementWeight,
    ip,
    uid: key === undefined ? undefined : uid,
    key,
  });
  return {
    class: kind,
    rank: classRules[kind].rank,
    weight,
    elements,
    elementWeight,
    account,
    owner,
    party,
    landing,
    queue: new PriorityQueue<QueuedAction>(),
    charges: keys.length === 0 ? [charge(undefined)] : keys.map(charge),
    blockedIn: 0,
    asking: false,
    order: 0,
    key: 0,
    age,
  };
};
