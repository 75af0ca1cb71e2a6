/**
 * The waiting actions, sorted into lanes whose members are alike to the ledger.
 *
 * Invariants: if the head of a lane has no room, none behind it has; lanes are few (classes × weights × accounts), so the best
 * head is found by looking at each.
 */
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
  readonly account: Account;
  readonly queue: PriorityQueue<Entry>;
  /** One charge per key that may carry the call. */
  readonly charges: readonly Charge[];
  /** Nothing of this lane can leave before quota comes back or the next wake. */
  blocked: boolean;
  /** Leave was asked for and has not been answered yet. */
  asking: boolean;
  /** Rank and key of the head when the lanes were last sorted. */
  order: number;
  key: number;
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
  const byAccount = new WeakMap<Account, Map<string, Lane>>();
  const fair = createFairShares(shares);
  const found: Lane[] = [];
  let count = 0;
  let sequence = 0;

  const laneOf = (action: Action): Lane => {
    const { class: kind, endpoint, weight, account } = action;
    let own = byAccount.get(account);
    if (own === undefined) {
      own = new Map();
      byAccount.set(account, own);
    }
    // Objects that say the same share a lane; the name is only built for a lane not met by this object before.
    const short = apart(action.owner) ? `${kind}${endpoint}|${action.owner}` : kind + endpoint;
    const near = own.get(short);
    if (near !== undefined && near.weight === weight) return near;
    const name = `${short}|${weight}|${account.uid}|${account.ip}|${account.keys.join()}`;
    const lane = lanes.get(name) ?? openLane(action);
    lanes.set(name, lane);
    own.set(short, lane);
    return lane;
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
      count++;
      return entry;
    },
    take: (lane) => {
      const entry = lane.queue.pop();
      if (entry !== undefined) leave(entry);
    },
    withdraw: (entry) => {
      if (entry.left) return false;
      entry.lane.queue.remove(entry);
      leave(entry);
      return true;
    },
    unblock: () => {
      for (const lane of lanes.values()) lane.blocked = false;
    },
    ready: (probing) => {
      found.length = 0;
      for (const lane of lanes.values()) {
        const head = lane.queue.head();
        if (head === undefined) continue;
        // A call sent blind should be the lightest one: it must not be the one that overruns the minute.
        lane.order = probing(lane.charges[0] as Charge) ? lane.weight - 1_000 : classRules[lane.class].order;
        lane.key = head.key;
        let position = found.length;
        while (position > 0 && isBefore(lane, found[position - 1] as Lane)) position--;
        found.splice(position, 0, lane);
      }
      return found;
    },
  };
};

const isBefore = (a: Lane, b: Lane): boolean => a.order < b.order || (a.order === b.order && a.key < b.key);

const openLane = ({ class: kind, endpoint, weight, account }: Action): Lane => {
  const { ip, uid, keys } = account;
  const charge = (key: string | undefined): Charge => ({
    endpoint,
    weight,
    elements: 1,
    ip,
    uid: key === undefined ? undefined : uid,
    key,
  });
  const charges = keys.length === 0 ? [charge(undefined)] : keys.map(charge);
  return { class: kind, weight, account, queue: new PriorityQueue(), charges, blocked: false, asking: false, order: 0, key: 0 };
};
