/**
 * Lanes of waiting actions. The ledger treats all members of a lane alike.
 *
 * Invariants: if the head of a lane has no room, none behind it has; lanes are few (classes × weights × accounts, and
 * products where a layer counts each) and kept in the order of their heads. While a user's quota is being probed, the
 * lightest call comes first.
 */
import type { EndpointName } from "../contract/endpoints.ts";
import type { Account, Action } from "./action.ts";
import { type Budgets, classRules, FairShares } from "./priority.ts";
import { PriorityQueue } from "./priority-queue.ts";
import { type Landing, type Lane, type LaneGroup, QueuedAction } from "./queued-action.ts";
import type { Charge } from "./quota/layers.ts";
import type { Ledger } from "./quota/ledger.ts";

/** The lanes of one endpoint and account, and whether they are kept product by product. */
interface Way {
  readonly lanes: Lane[];
  readonly byProduct: boolean;
}

export class Lanes {
  /** Actions that wait. */
  count = 0;
  readonly #ledger: Pick<Ledger, "probing" | "turns">;
  readonly #landing: Landing;
  readonly #budgets: Budgets;
  readonly #byProduct: (endpoint: EndpointName) => boolean;
  readonly #fair: FairShares;
  readonly #lanes: Lane[] = [];
  readonly #byName = new Map<string, Lane>();
  /** By user, and by user and keys. */
  readonly #groups = new Map<string, LaneGroup>();
  readonly #byAccount = new WeakMap<Account, Map<EndpointName, Way>>();
  /** Lanes with something to send, best head first. */
  readonly #ready: Lane[] = [];
  /** True while `#ready` is sorted, apart from heads that came or went since. */
  #sorted = false;
  #turns = 0;
  #sequence = 0;

  /**
   * Owners with a budget get lanes of their own, so that they can be held back without holding back others. Products
   * get lanes of their own for endpoints that `byProduct` names.
   */
  constructor(
    ledger: Pick<Ledger, "probing" | "turns">,
    landing: Landing,
    shares: Readonly<Record<string, number>> | undefined,
    budgets: Budgets,
    byProduct: (endpoint: EndpointName) => boolean,
  ) {
    this.#byProduct = byProduct;
    this.#ledger = ledger;
    this.#landing = landing;
    this.#budgets = budgets;
    this.#fair = new FairShares(shares);
  }

  add(action: Action, now: number): QueuedAction {
    const lane = this.#laneOf(action);
    const share = this.#fair.of(action.owner, now);
    const key = share.enter(action.weight, now) - classRules[action.class].headStartMs;
    const order = ++this.#sequence;
    const entry = new QueuedAction(order, action, lane, share, now);
    lane.queue.push(entry, key, order);
    // An entry that is not the new head does not change the sequence of the lanes.
    if (this.#sorted && (lane.queue.size === 1 || lane.queue.head() === entry)) this.#sorted = false;
    this.count++;
    return entry;
  }

  /** Removes the head of a lane. */
  take(lane: Lane): void {
    const entry = lane.queue.pop();
    if (entry === undefined) return;
    entry.removed = true;
    entry.share.queued--;
    this.count--;
    if (this.#sorted && this.#ready[0] === lane) this.#sink(lane);
    else this.#sorted = false;
  }

  /** Removes a waiting entry. Returns false when it has already left. */
  withdraw(entry: QueuedAction): boolean {
    if (entry.removed) return false;
    entry.lane.queue.remove(entry);
    entry.share.queued--;
    this.count--;
    this.#sorted = false;
    return true;
  }

  /** Lanes with something to send, best head first, valid until the next call. */
  ready(): readonly Lane[] {
    if (!this.#sorted || this.#turns !== this.#ledger.turns) this.#sort();
    return this.#ready;
  }

  #laneOf(action: Action): Lane {
    const { class: kind, endpoint, weight, elements = 1, elementWeight = 0, account } = action;
    let own = this.#byAccount.get(account);
    if (own === undefined) {
      own = new Map();
      this.#byAccount.set(account, own);
    }
    let near = own.get(endpoint);
    if (near === undefined) {
      near = { lanes: [], byProduct: this.#byProduct(endpoint) };
      own.set(endpoint, near);
    }
    const owner = !this.#budgets.none && this.#budgets.has(action.owner) ? action.owner : undefined;
    const instId = near.byProduct ? action.instId : undefined;
    const { lanes } = near;
    for (let index = 0; index < lanes.length; index++) {
      const lane = lanes[index] as Lane;
      const alike =
        lane.class === kind &&
        lane.weight === weight &&
        lane.elements === elements &&
        lane.elementWeight === elementWeight;
      if (alike && lane.owner === owner && lane.instId === instId) return lane;
    }
    const lane = this.#open(action, owner, instId);
    lanes.push(lane);
    return lane;
  }

  #open(action: Action, owner: string | undefined, instId: string | undefined): Lane {
    const { class: kind, endpoint, weight, elements = 1, elementWeight = 0, account } = action;
    // Equal account objects share a lane.
    const size = `${weight}|${elements}|${elementWeight}`;
    const name = `${kind}${endpoint}|${owner ?? ""}|${instId ?? ""}|${size}|${account.uid}|${account.ip}|${account.keys.join()}`;
    let lane = this.#byName.get(name);
    if (lane !== undefined) return lane;
    const user = this.#groupOf(account.uid);
    const sameKeys = this.#groupOf(`${account.uid}|${account.keys.join("|")}`);
    lane = openLane(action, { owner, instId, age: this.#lanes.length, user, sameKeys, landing: this.#landing });
    this.#lanes.push(lane);
    this.#byName.set(name, lane);
    return lane;
  }

  #groupOf(name: string): LaneGroup {
    const group = this.#groups.get(name) ?? { round: 0, lighterThan: 0, heldOrder: 0, heldLayer: "" };
    this.#groups.set(name, group);
    return group;
  }

  #sort(): void {
    const ready = this.#ready;
    let count = 0;
    for (let index = 0; index < this.#lanes.length; index++) {
      const lane = this.#lanes[index] as Lane;
      if (lane.queue.size > 0) ready[count++] = lane;
    }
    while (ready.length > count) ready.pop();
    // A single lane needs no sorting, and usually there is only one.
    if (ready.length > 1) this.#rank(ready);
    this.#sorted = true;
    this.#turns = this.#ledger.turns;
  }

  #rank(ready: Lane[]): void {
    for (let index = 0; index < ready.length; index++) {
      const lane = ready[index] as Lane;
      // Withdrawn entries are skipped, so that the key is that of a waiting entry.
      lane.queue.head();
      // A call that is sent without knowledge of the use should be the lightest one, because it could exceed the
      // minute.
      lane.order = this.#ledger.probing(lane.charges[0] as Charge) ? lane.weight - 1_000 : classRules[lane.class].order;
      lane.key = lane.queue.headKey();
    }
    ready.sort(compare);
  }

  /** Called when the best lane has lost its head. The other lanes keep their sequence. */
  #sink(lane: Lane): void {
    const ready = this.#ready;
    if (lane.queue.size === 0 || lane.queue.head() === undefined) {
      // The array keeps its memory if it is never emptied: usually a single lane comes and goes.
      if (ready.length > 1) ready.shift();
      else this.#sorted = false;
      return;
    }
    lane.key = lane.queue.headKey();
    let position = 0;
    for (; position + 1 < ready.length && compare(ready[position + 1] as Lane, lane) < 0; position++)
      ready[position] = ready[position + 1] as Lane;
    ready[position] = lane;
  }
}

const compare = (a: Lane, b: Lane): number => a.order - b.order || a.key - b.key || a.age - b.age;

const openLane = (
  action: Action,
  {
    owner,
    instId,
    age,
    user,
    sameKeys,
    landing,
  }: Pick<Lane, "owner" | "instId" | "age" | "user" | "sameKeys" | "landing">,
): Lane => {
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
    ...(instId !== undefined && { instId }),
  });
  return {
    class: kind,
    rank: classRules[kind].rank,
    weight,
    elements,
    elementWeight,
    instId,
    account,
    owner,
    user,
    sameKeys,
    landing,
    queue: new PriorityQueue<QueuedAction>(),
    charges: keys.length === 0 ? [charge(undefined)] : keys.map(charge),
    blockedIn: 0,
    asking: false,
    refusal: undefined,
    refusedIn: 0,
    order: 0,
    key: 0,
    age,
  };
};
