/**
 * One subscription: whether what it tells can be trusted at this moment.
 *
 * Invariants: messages reach the listener only while the state is `live`, in the sequence of the service and without a hole;
 * a gap, a duplicate or disorder ends `live` at once and subscribes anew, ever more slowly when that does not help; what is not
 * acknowledged in time, or is refused, is `refused` until a later try succeeds; the listener is told of changes only.
 * Not here: the connection (socket-connection.ts), what records mean (live/).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import type { ChannelArg } from "../../contract/channels.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Random } from "../../random.ts";
import { type BackoffBounds, backoffMs } from "./backoff.ts";
import { channelKey, type Push } from "./socket-message.ts";

/** `waiting`: nothing is told for now; `live`: everything is; `refused`: the service does not want to tell. */
export type ChannelState = "waiting" | "live" | "refused";

export interface ChannelListener {
  message(push: Push): void;
  state(state: ChannelState, reason: string): void;
}

export interface ChannelHandle {
  readonly state: ChannelState;
  /** What was told cannot be trusted: subscribes anew. Nothing while that is under way already. */
  repair(reason: string): void;
  /** Ends the subscription; nothing is told afterwards. */
  close(): void;
}

/** What happened on the wire that should not, for counting: a stable name and the story. */
export type OnAnomaly = (what: string, detail: string) => void;

export interface SocketChannel {
  readonly arg: ChannelArg;
  readonly key: string;
  readonly state: ChannelState;
  /** The request was sent. `first`: the service has not told this connection of the channel before. */
  asked(first: boolean): void;
  acknowledged(): void;
  refuse(reason: string): void;
  /** There is no connection for it; it is asked for when there is. */
  full(reason: string): void;
  push(push: Push): void;
  /** The connection is gone. */
  lost(reason: string): void;
  readonly repair: (reason: string) => void;
  close(): void;
}

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
/** Whoever was live so long starts over with quick repairs. */
const steadyMs = 60_000;
const refusedRetryMs = 300_000;
/** Before the first message of a channel on a connection. */
const none = -1;

export const createSocketChannel = (options: SocketChannelOptions): SocketChannel => {
  const { arg, listener, clock, random, websocket, onAnomaly, send } = options;
  const key = channelKey(arg);
  let state: ChannelState = "waiting";
  let timer: Timer | undefined;
  let repairs = 0;
  let liveAt = 0;
  let last: number | undefined;
  /** A request was sent, and no acknowledgement of it was read. */
  let awaited = false;
  let closed = false;

  const turn = (next: ChannelState, reason: string): void => {
    if (state === next || closed) return;
    state = next;
    listener.state(next, reason);
  };
  const wait = (ms: number, run: () => void): void => {
    timer?.cancel();
    timer = clock.setTimer(clock.now() + ms, run);
  };
  const ask = (): void => {
    asked(false);
    send("subscribe", arg);
  };
  const asked = (first: boolean): void => {
    last = first ? none : undefined;
    awaited = true;
    wait(websocket.ackMsMax, () => {
      refuse(`not acknowledged within ${websocket.ackMsMax} ms`);
    });
  };
  const refuse = (reason: string): void => {
    if (closed) return;
    if (state !== "refused") onAnomaly("channel.refused", `${key}: ${reason}`);
    wait(refusedRetryMs, ask);
    turn("refused", reason);
  };
  const repair = (reason: string): void => {
    if (state !== "live" || closed) return;
    if (clock.now() - liveAt >= steadyMs) repairs = 0;
    awaited = false;
    onAnomaly("channel.repaired", `${key}: ${reason}`);
    turn("waiting", reason);
    // Whoever was told of it may have left.
    if (closed) return;
    send("unsubscribe", arg);
    repairs++;
    if (repairs === 1) ask();
    else wait(backoffMs(repairBounds, repairs - 1, random), ask);
  };
  return {
    arg,
    key,
    get state() {
      return state;
    },
    asked,
    refuse,
    repair,
    full: (reason) => {
      onAnomaly("channel.refused", `${key}: ${reason}`);
      turn("refused", reason);
    },
    acknowledged: () => {
      // One that nobody waits for belongs to an earlier request.
      if (closed || !awaited) return;
      awaited = false;
      timer?.cancel();
      timer = undefined;
      liveAt = clock.now();
      turn("live", "subscribed");
    },
    push: (push) => {
      if (state !== "live" || closed) return;
      const problem = websocket.sequenced ? sequenceProblem(push, last) : undefined;
      if (problem !== undefined) {
        repair(problem);
        return;
      }
      last = push.seqId;
      listener.message(push);
    },
    lost: (reason) => {
      timer?.cancel();
      timer = undefined;
      awaited = false;
      turn("waiting", reason);
    },
    close: () => {
      timer?.cancel();
      timer = undefined;
      closed = true;
    },
  };
};

/** What is wrong with the place of a message after `last`, which is undefined when any place is right. */
const sequenceProblem = ({ seqId, prevSeqId }: Push, last: number | undefined): string | undefined => {
  if (seqId === undefined || prevSeqId === undefined || last === undefined) return undefined;
  if (seqId <= last) return seqId === last ? `message ${seqId} came twice` : `message ${seqId} came after ${last}`;
  return prevSeqId === last ? undefined : `message ${seqId} follows ${prevSeqId}, but the last one read is ${last}`;
};
