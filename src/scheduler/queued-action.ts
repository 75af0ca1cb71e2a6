/**
 * One action from submission to its ending: it waits in a lane, leaves on a lease, and is the sink of its response.
 *
 * Invariants: a lease given to it ends once with any transport: the first response or failure ends it, and later ones
 * are ignored. One object for all of this, because hundreds of thousands may wait or be under way.
 * Not here: what the response does (in-flight.ts), who goes next (lanes.ts).
 */

import type { ResponseSink, WireResponse } from "../contract/transport.ts";
import type { ActionClass } from "../journal/events.ts";
import type { Account, Action } from "./action.ts";
import type { Share } from "./priority.ts";
import type { PriorityQueue, Queued } from "./priority-queue.ts";
import type { Charge } from "./quota/layers.ts";
import type { Rank, Refusal } from "./quota/ledger.ts";
import type { Lease } from "./quota/port.ts";

/** Receiver of the end of a request in flight. */
export interface Landing {
  answered(entry: QueuedAction, lease: Lease, response: WireResponse): void;
  failed(entry: QueuedAction, lease: Lease, error: unknown): void;
  /** True once no answer is processed any more. */
  readonly closed: boolean;
}

/** Lanes that one refusal may hold back: all lanes of a user, or those on the same keys. */
export interface LaneGroup {
  /** The round in which one of their calls had to wait, and the weight below which others may pass it. */
  round: number;
  lighterThan: number;
  /** The action that was last reported as waiting, and the layer it waits for. */
  heldOrder: number;
  heldLayer: string;
}

export interface Lane {
  readonly class: ActionClass;
  readonly rank: Rank;
  readonly weight: number;
  readonly elements: number;
  readonly elementWeight: number;
  /** The product of its members, if some layer counts them by product. */
  readonly instId: string | undefined;
  readonly account: Account;
  readonly user: LaneGroup;
  /** Lanes of the user on the same keys. */
  readonly sameKeys: LaneGroup;
  readonly queue: PriorityQueue<QueuedAction>;
  /** One charge per key that may carry the call. */
  readonly charges: readonly Charge[];
  readonly landing: Landing;
  /**
   * The epoch in which nothing of this lane could leave. A new epoch begins when quota is freed and at each wake-up.
   */
  blockedIn: number;
  /** True while a lease was requested and the port has not answered. */
  asking: boolean;
  /** Last refusal that the port answered with a delay, and the epoch of that answer. */
  refusal: Refusal | undefined;
  refusedIn: number;
  /**
   * Rank and key of the head when the lanes were last sorted, and the age of the lane, which decides between equal
   * ones.
   */
  order: number;
  key: number;
  readonly age: number;
  /** The owner of the lane, if it has a lane of its own. */
  readonly owner: string | undefined;
}

export class QueuedAction implements Queued, ResponseSink {
  readonly order: number;
  readonly action: Action;
  readonly lane: Lane;
  readonly share: Share;
  readonly submittedAt: number;
  sentAt: number;
  /** Set while the action is under way. */
  lease: Lease | undefined;
  /** True once it was withdrawn or has ended. Its owner is not called any more. */
  over: boolean;
  /** True once it is no longer in its lane, because it was sent, dropped or withdrawn. */
  removed: boolean;

  constructor(order: number, action: Action, lane: Lane, share: Share, now: number) {
    this.order = order;
    this.action = action;
    this.lane = lane;
    this.share = share;
    this.submittedAt = now;
    this.sentAt = now;
    this.lease = undefined;
    this.over = false;
    this.removed = false;
  }

  response(response: WireResponse): void {
    const { lease } = this;
    if (lease === undefined || this.lane.landing.closed) return;
    this.lease = undefined;
    this.lane.landing.answered(this, lease, response);
  }

  failed(error: unknown): void {
    const { lease } = this;
    if (lease === undefined || this.lane.landing.closed) return;
    this.lease = undefined;
    this.lane.landing.failed(this, lease, error);
  }

  get closed(): boolean {
    return this.lease === undefined || this.lane.landing.closed;
  }
}
