/**
 * WebSocket subscription: its state, and the check of sequence numbers.
 *
 * Invariants: messages reach the listener only while the state is `live`, in the service's sequence and without gaps; a
 * gap, a duplicate or disorder ends `live` at once and subscribes again, at growing intervals; data of a channel that
 * was asked for acknowledges it; a subscription without acknowledgement is asked for again at growing intervals of one
 * minute at most, one that the service refuses every five minutes, and both are `refused` until a later try succeeds;
 * the listener is notified of changes of state only. In a channel whose messages are self-contained a gap is reported
 * as a short `waiting`, a duplicate is dropped, and the subscription continues.
 * Not here: the connection (socket-connection.ts), the records (client/live/).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import { type ChannelArg, isSelfContained } from "../../contract/channels.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Random } from "../../random.ts";
import { type BackoffBounds, backoffMs } from "./backoff.ts";
import { channelKey, type Push } from "./socket-message.ts";

/**
 * `waiting`: no data for now; `live`: complete data; `refused`: the service refuses the subscription, or does not
 * answer.
 */
export type ChannelState = "waiting" | "live" | "refused";

export interface ChannelListener {
  message(push: Push): void;
  state(state: ChannelState, reason: string): void;
}

/** Reports an anomaly on the wire: a stable name for counting, and a text. */
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
/** After a request that was not acknowledged. */
const askBounds: BackoffBounds = { baseMs: 1_000, msMax: 60_000, certain: 0.5 };
/** A channel that was live for this long begins again with quick repairs. */
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
  /** Requests in a row without an acknowledgement. */
  #unanswered = 0;
  /** True while an unsubscribe request is not answered: data and a refusal may belong to the earlier subscription. */
  #leaving = false;
  #closed = false;

  constructor(options: SocketChannelOptions) {
    this.arg = options.arg;
    this.key = channelKey(options.arg);
    this.#options = options;
  }

  get state(): ChannelState {
    return this.#state;
  }

  /** Called when the request was sent. `first` is true if this connection has not subscribed to the channel before. */
  asked(first: boolean): void {
    const { ackMsMax } = this.#options.websocket;
    this.#last = first ? none : undefined;
    this.#awaited = true;
    this.#wait(ackMsMax, () => this.#unacknowledged(`not acknowledged within ${ackMsMax} ms`));
  }

  acknowledged(): void {
    // An acknowledgement that is not awaited belongs to an earlier request.
    if (this.#closed || !this.#awaited) return;
    this.#awaited = false;
    // A new subscription starts its numbers again, and its data may have come before the acknowledgement.
    if (this.#state === "live") this.#last = undefined;
    else this.#begin("subscribed");
  }

  /** Called when the service rejected the request. */
  refused(reason: string): void {
    if (this.#closed) return;
    if (this.#leaving) {
      this.#leaving = false;
      return;
    }
    this.#unanswered = 0;
    this.#refuse(reason, refusedRetryMs);
  }

  /** Called when the service has ended the subscription, on request or not. */
  unsubscribed(): void {
    if (this.#leaving) this.#leaving = false;
    else this.repair("the service ended the subscription");
  }

  /** True if the service may have a subscription to the channel. */
  get isRequested(): boolean {
    return this.#state !== "refused" || this.#unanswered > 0;
  }

  /** Called when no connection has room for it. It is subscribed when one has. */
  full(reason: string): void {
    this.#options.onAnomaly("channel.refused", `${this.key}: ${reason}`);
    this.#turn("refused", reason);
  }

  push(push: Push): void {
    if (this.#closed || !this.#hears()) return;
    const problem = this.#options.websocket.sequenced ? sequenceProblem(push, this.#last) : undefined;
    if (problem !== undefined && !this.#passesOver(problem)) return;
    this.#last = push.seqId;
    if (!this.#closed) this.#options.listener.message(push);
  }

  /** Called when the received data is not reliable. Subscribes again, unless that is in progress. */
  repair(reason: string): void {
    if (this.#state !== "live" || this.#closed) return;
    const { clock, random, onAnomaly, send } = this.#options;
    if (clock.now() - this.#liveAt >= steadyMs) this.#repairs = 0;
    this.#rest();
    onAnomaly("channel.repaired", `${this.key}: ${reason}`);
    this.#turn("waiting", reason);
    // The listener may have left when it was notified.
    if (this.#closed) return;
    this.#leaving = true;
    send("unsubscribe", this.arg);
    this.#repairs++;
    if (this.#repairs === 1) this.#ask();
    else this.#wait(backoffMs(repairBounds, this.#repairs - 1, random), () => this.#ask());
  }

  /** Called when the connection is gone. */
  lost(reason: string): void {
    this.#rest();
    this.#unanswered = 0;
    this.#leaving = false;
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

  /**
   * True while messages are passed on. Data counts as an acknowledgement, unless it may belong to the previous
   * subscription.
   */
  #hears(): boolean {
    if (this.#state === "live") return true;
    if (this.#leaving || !this.#awaited) return false;
    // Completeness of earlier messages was not guaranteed.
    this.#last = undefined;
    this.#begin("data came without an acknowledgement");
    return true;
  }

  /** Handles a message that is out of sequence. True where it is passed on. */
  #passesOver(problem: Problem): boolean {
    if (!isSelfContained(this.arg) || problem.kind === "disorder") {
      this.repair(problem.text);
      return false;
    }
    this.#options.onAnomaly("channel.gap", `${this.key}: ${problem.text}`);
    if (problem.kind === "twice") return false;
    this.#turn("waiting", problem.text);
    this.#turn("live", "its messages are self-contained");
    return true;
  }

  #begin(reason: string): void {
    const { clock } = this.#options;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#unanswered = 0;
    this.#leaving = false;
    this.#liveAt = clock.now();
    this.#turn("live", reason);
  }

  /** Called when the service did not answer: the request, its acknowledgement or the data may have been lost. */
  #unacknowledged(reason: string): void {
    this.#leaving = false;
    this.#refuse(reason, backoffMs(askBounds, this.#unanswered, this.#options.random));
    this.#unanswered++;
  }

  #refuse(reason: string, retryMs: number): void {
    if (this.#state !== "refused") this.#options.onAnomaly("channel.refused", `${this.key}: ${reason}`);
    this.#wait(retryMs, () => this.#ask());
    this.#turn("refused", reason);
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

interface Problem {
  readonly kind: "gap" | "twice" | "disorder";
  readonly text: string;
}

/** Problem of a message's place after `last`, which is undefined when any place is right. */
const sequenceProblem = ({ seqId, prevSeqId }: Push, last: number | undefined): Problem | undefined => {
  if (seqId === undefined || prevSeqId === undefined || last === undefined) return undefined;
  if (seqId === last) return { kind: "twice", text: `message ${seqId} came twice` };
  if (seqId < last) return { kind: "disorder", text: `message ${seqId} came after ${last}` };
  if (prevSeqId === last) return undefined;
  return { kind: "gap", text: `message ${seqId} follows ${prevSeqId}, but the last one read is ${last}` };
};
