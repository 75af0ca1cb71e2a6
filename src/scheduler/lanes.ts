/**
 * The waiting actions, sorted into lanes whose members are alike to the ledger.
 *
 * Invariants: if the head of a lane has no room, none behind it has; lanes are few (classes × weights × accounts) and kept in the
 * order of their heads.
 */
import type { EndpointName } from "../contract/endpoints.ts";
import type { ActionClass } from "../journal/events.ts";
import type { Charge } from "../quota/layers.ts";
import type { Account, Action, Ending } from "./action.ts";
import { classRules, createFairShares } from "./priority.ts";
import { PriorityQueue, type Queued } from "./priority-queue.ts";

export interface Entry extends Queued {
  readonly action: Action;
  readonly lane: Lane;
  readonly submittedAt: number;
  /** It is no longer in its lane: sent, dropped or withdrawn. */
  left: boolean;
  done: ((ending: Ending) => void) | undefined;
}

export interface Lane {
  readonly class: ActionClass;
  readonly weight: number;
  readonly elements: number;
  readonly account: Account;
  readonly queue: PriorityQueue<Entry>;
  /** One charge per key that may carry the call. */
  readonly charges: readonly Charge[];
  /** Nothing of this lane can leave before quota comes back or the next wake. */
  blocked: boolean;
  /** Leave was asked for and has not been answered yet. */
  asking: boolean;
  /** Rank and key of the head when the lanes were last sorted, and the age of the lane where these are alike. */
  order: number;
  key: number;
  readonly age: number;
  /** The owner it is kept for, where it is kept apart. */
  readonly owner: string | undefined;
}

/** Those whose standing with the service is one. */
interface Party {
  readonly charge: Charge;
  probing: boolean;
}

export interface Lanes {
  add(action: Action, now: number, done: (ending: Ending) => void): Entry;
  take(lane: Lane): void;
  /** Takes a waiting entry out; false when it has left already. */
  withdraw(entry: Entry): boolean;
  /** Lanes with something to send, best head first, valid until the next call; `probing` accounts send their lightest call first. */
  ready(probing: (charge: Charge) => boolean): readonly Lane[];
  /** Quota came back: every lane may be asked again. */
  unblock(): void;
  readonly count: number;
}

/** Owners for whom `apart` holds get lanes of their own, so that they can be held back without holding back others. */
export const createLanes = (shares?: Readonly<Record<string, number>>, apart: (owner: string) => boolean = () => false): Lanes => {
  const lanes = new Map<string, Lane>();
  const parties = new Map<string, Party>();
  const byAccount = new WeakMap<Account, Map<EndpointName, Lane[]>>();
  const fair = createFairShares(shares);
  const found: Lane[] = [];
  /** `found` is still in order, but for heads that came or went since. */
  let sorted = false;
  let lastAccount: Account | undefined;
  let lastOwn: Map<EndpointName, Lane[]> | undefined;
  let count = 0;
  let sequence = 0;

  const open = (action: Action, owner: string | undefined): Lane => {
    const { class: kind, endpoint, weight, elements = 1, account } = action;
    // Account objects that say the same share a lane.
    const name = `${kind}${endpoint}|${owner ?? ""}|${weight}|${elements}|${account.uid}|${account.ip}|${account.keys.join()}`;
    let lane = lanes.get(name);
    if (lane !== undefined) return lane;
    lane = openLane(action, owner, lanes.size);
    lanes.set(name, lane);
    const [charge] = lane.charges as readonly [Charge];
    const party = charge.uid ?? `ip:${charge.ip}`;
    if (!parties.has(party)) parties.set(party, { charge, probing: false });
    return lane;
  };
  const laneOf = (action: Action): Lane => {
    const { class: kind, endpoint, weight, elements = 1, account } = action;
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
      if (lane.class === kind && lane.weight === weight && lane.elements === elements && lane.owner === owner) return lane;
    }
    const lane = open(action, owner);
    near.push(lane);
    return lane;
  };
  /** Whether anybody began or ended to probe since the lanes were sorted. */
  const turned = (probing: (charge: Charge) => boolean): boolean => {
    let any = false;
    for (const party of parties.values()) {
      const now = probing(party.charge);
      if (now === party.probing) continue;
      party.probing = now;
      any = true;
    }
    return any;
  };
  const sort = (probing: (charge: Charge) => boolean): void => {
    found.length = 0;
    for (const lane of lanes.values()) {
      const head = lane.queue.head();
      if (head === undefined) continue;
      // A call sent blind should be the lightest one: it must not be the one that overruns the minute.
      lane.order = probing(lane.charges[0] as Charge) ? lane.weight - 1_000 : classRules[lane.class].order;
      lane.key = head.key;
      found.push(lane);
    }
    found.sort(compare);
    sorted = true;
  };
  /** The best lane has lost its head: the others stay in order. */
  const sink = (lane: Lane): void => {
    const head = lane.queue.head();
    let position = 0;
    if (head !== undefined) {
      lane.key = head.key;
      for (; position + 1 < found.length && compare(found[position + 1] as Lane, lane) < 0; position++)
        found[position] = found[position + 1] as Lane;
      found[position] = lane;
    } else found.shift();
  };
  const leave = (entry: Entry): void => {
    entry.left = true;
    count--;
    fair.leave(entry.action.owner);
  };

  return {
    get count() {
      return count;
    },
    add: (action, now, done) => {
      const lane = laneOf(action);
      const key = fair.enter(action.owner, action.weight, now) - classRules[action.class].headStartMs;
      sequence++;
      const entry: Entry = { key, order: sequence, removed: false, action, lane, submittedAt: now, left: false, done };
      lane.queue.push(entry);
      if (lane.queue.head() === entry) sorted = false;
      count++;
      return entry;
    },
    take: (lane) => {
      const entry = lane.queue.pop();
      if (entry === undefined) return;
      leave(entry);
      if (sorted && found[0] === lane) sink(lane);
      else sorted = false;
    },
    withdraw: (entry) => {
      if (entry.left) return false;
      entry.lane.queue.remove(entry);
      leave(entry);
      sorted = false;
      return true;
    },
    unblock: () => {
      for (const lane of lanes.values()) lane.blocked = false;
    },
    ready: (probing) => {
      if (turned(probing) || !sorted) sort(probing);
      return found;
    },
  };
};

const compare = (a: Lane, b: Lane): number => a.order - b.order || a.key - b.key || a.age - b.age;

const openLane = ({ class: kind, endpoint, weight, elements = 1, account }: Action, owner: string | undefined, age: number): Lane => {
  const { ip, uid, keys } = account;
  const charge = (key: string | undefined): Charge => ({
    endpoint,
    weight,
    elements,
    ip,
    uid: key === undefined ? undefined : uid,
    key,
  });
  const charges = keys.length === 0 ? [charge(undefined)] : keys.map(charge);
  const queue = new PriorityQueue<Entry>();
  return { class: kind, weight, elements, account, owner, queue, charges, blocked: false, asking: false, order: 0, key: 0, age };
};
