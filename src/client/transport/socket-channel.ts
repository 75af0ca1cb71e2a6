/**
 * WebSocket subscription: its state, and the check of sequence numbers.
 *
 * Invariants: messages reach the listener only while the state is `live`, in the service's sequence and without gaps; a gap, a duplicate
 * or disorder ends `live` at once and subscribes again, at growing intervals; a subscription that is not acknowledged in time, or is
 * refused, is `refused` until a later try succeeds; the listener is notified of changes of state only.
 * Not here: the connection (socket-connection.ts), the records (live/).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import type { ChannelArg } from "../../contract/channels.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Random } from "../../random.ts";
import { type BackoffBounds, backoffMs } from "./backoff.ts";
import { channelKey, type Push } from "./socket-message.ts";

/** `waiting`: no data for now; `live`: complete data; `refused`: the service refuses the subscription. */
export type ChannelState = "waiting" | "live" | "refused";

export interface ChannelListener {
  message(push: Push): void;
  state(state: ChannelState, reason: string): void;
}

/** What happened on the wire that should not, for counting: a stable name and the story. */
export type OnAnomaly = (what: string, detail: string) => void;

interface SocketChannelOptions {
  readonly arg: ChannelArg;
  readonly listener: ChannelListener;
  readonly clock: Clock;
  readonly random: Random;
  readonly websocket: Profile["websocket"];
  readonly onAnomaly: OnAnomaly;
  readonly send: (op: "subscribe" | "unsubscribe", arg: ChannelArg) => void;
}

const repairBounds: BackoffBounds = { baseMs: 1_000, msMax: 60_000, certain: 0.5 };
/** A channel that was live so long starts over with quick repairs. */
const steadyMs = 60_000;
const refusedRetryMs = 300_000;
/** Before the first message of a channel on a connection. */
const none = -1;

export class SocketChannel {
  readonly arg: ChannelArg;
  readonly key: string;
  readonly #options: SocketChannelOptions;
  #state: ChannelState = "waiting";
  #timer: Timer | undefined;
  #repairs = 0;
  #liveAt = 0;
  #last: number | undefined;
  /** A request was sent, and no acknowledgement of it was read. */
  #awaited = false;
  #closed = false;

  constructor(options: SocketChannelOptions) {
    this.arg = options.arg;
    this.key = channelKey(options.arg);
    this.#options = options;
  }

  get state(): ChannelState {
    return this.#state;
  }

  /** The request was sent. `first`: this connection has not subscribed to the channel before. */
  asked(first: boolean): void {
    const { ackMsMax } = this.#options.websocket;
    this.#last = first ? none : undefined;
    this.#awaited = true;
    this.#wait(ackMsMax, () => this.refuse(`not acknowledged within ${ackMsMax} ms`));
  }

  acknowledged(): void {
    // An acknowledgement that is not awaited belongs to an earlier request.
    if (this.#closed || !this.#awaited) return;
    this.#rest();
    this.#liveAt = this.#options.clock.now();
    this.#turn("live", "subscribed");
  }

  refuse(reason: string): void {
    if (this.#closed) return;
    if (this.#state !== "refused") this.#options.onAnomaly("channel.refused", `${this.key}: ${reason}`);
    this.#wait(refusedRetryMs, () => this.#ask());
    this.#turn("refused", reason);
  }

  /** No connection has room for it; it is subscribed when one has. */
  full(reason: string): void {
    this.#options.onAnomaly("channel.refused", `${this.key}: ${reason}`);
    this.#turn("refused", reason);
  }

  push(push: Push): void {
    if (this.#state !== "live" || this.#closed) return;
    const problem = this.#options.websocket.sequenced ? sequenceProblem(push, this.#last) : undefined;
    if (problem !== undefined) {
      this.repair(problem);
      return;
    }
    this.#last = push.seqId;
    this.#options.listener.message(push);
  }

  /** The received data is not reliable: subscribes again, unless that is in progress. */
  repair(reason: string): void {
    if (this.#state !== "live" || this.#closed) return;
    const { clock, random, onAnomaly, send } = this.#options;
    if (clock.now() - this.#liveAt >= steadyMs) this.#repairs = 0;
    this.#awaited = false;
    onAnomaly("channel.repaired", `${this.key}: ${reason}`);
    this.#turn("waiting", reason);
    // The listener may have left when it was notified.
    if (this.#closed) return;
    send("unsubscribe", this.arg);
    this.#repairs++;
    if (this.#repairs === 1) this.#ask();
    else this.#wait(backoffMs(repairBounds, this.#repairs - 1, random), () => this.#ask());
  }

  /** The connection is gone. */
  lost(reason: string): void {
    this.#rest();
    this.#turn("waiting", reason);
  }

  close(): void {
    this.#rest();
    this.#closed = true;
  }

  #ask(): void {
    this.asked(false);
    this.#options.send("subscribe", this.arg);
  }

  /** Waits for nothing. */
  #rest(): void {
    this.#awaited = false;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #wait(ms: number, run: () => void): void {
    const { clock } = this.#options;
    this.#timer?.cancel();
    this.#timer = clock.setTimer(clock.now() + ms, run);
  }

  #turn(next: ChannelState, reason: string): void {
    if (this.#state === next || this.#closed) return;
    this.#state = next;
    this.#options.listener.state(next, reason);
  }
}

/** What is wrong with the place of a message after `last`, which is undefined when any place is right. */
const sequenceProblem = ({ seqId, prevSeqId }: Push, last: number | undefined): string | undefined => {
  if (seqId === undefined || prevSeqId === undefined || last === undefined) return undefined;
  if (seqId <= last) return seqId === last ? `message ${seqId} came twice` : `message ${seqId} came after ${last}`;
  return prevSeqId === last ? undefined : `message ${seqId} follows ${prevSeqId}, but the last one read is ${last}`;
};
