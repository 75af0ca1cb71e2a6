/**
 * Subscriptions of one connection.
 *
 * Invariants: a channel and instrument are subscribed to at most once; there are at most as many as the description
 * allows; the messages of each are numbered from its subscription on, without holes.
 * Not here: permissions (subscription-rules.ts), sending (outbox.ts), reading requests (parse-message.ts).
 */

import type { Venue } from "sluice/backtest";
import { type ChannelArg, type Contract, websocketLimits } from "sluice/dialect";
import { venueAnswers } from "sluice/extension";
import type { ServerKey } from "./keyring.ts";
import type { PrivateChannel, PrivateChannels } from "./private-channels.ts";
import type { PublicChannels } from "./public-channels.ts";
import type { Speech, Wanted } from "./served-dialect.ts";
import { channelProblem, echoOf } from "./subscription-rules.ts";

/** `write` is given the time to write on the push; undefined when there is nothing to send. */
type PushListener = (arg: ChannelArg, stream: string, write: (ts: number) => string | undefined) => void;

/** `arg` is what can be repeated of the question. */
export interface SubscriptionAnswer {
  readonly arg: unknown;
  /** Reason of the refusal. */
  readonly refusal?: venueAnswers.Refusal;
  /** Starts to listen, for after the acknowledgement: the first message may come before it returns. */
  readonly begin?: () => void;
}

interface SubscriptionOptions {
  readonly contract: Contract;
  readonly venue: Venue;
  readonly board: PublicChannels;
  readonly privateBoard: PrivateChannels;
  readonly speech: Speech;
  /** Path at which the connection was opened. */
  readonly path: string;
  readonly push: PushListener;
  readonly ended: (stream: string) => void;
}

const { subscriptionsPerConnection } = websocketLimits;

export class Subscriptions {
  readonly #options: SubscriptionOptions;
  readonly #leavers = new Map<string, () => void>();

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  subscribe(given: unknown, key: ServerKey | undefined): SubscriptionAnswer {
    const { contract, venue, speech, path } = this.#options;
    const wanted = speech.subscription(given, path);
    if (venueAnswers.isRefusal(wanted)) return { arg: echoOf(given), refusal: wanted };
    const { stream, echo } = wanted;
    // Asking twice is harmless and changes nothing.
    if (this.#leavers.has(stream)) return { arg: echo };
    const refusal = channelProblem(contract, venue, wanted.arg, key);
    if (refusal !== undefined) return { arg: echoOf(echo), refusal };
    if (this.#leavers.size < subscriptionsPerConnection) return { arg: echo, begin: () => this.#begin(wanted, key) };
    const msg = `A connection has at most ${subscriptionsPerConnection} subscriptions.`;
    return { arg: echo, refusal: { code: contract.profile.answers.limitedCode, msg } };
  }

  unsubscribe(given: unknown): SubscriptionAnswer {
    const { contract, ended, speech, path } = this.#options;
    const wanted = speech.subscription(given, path);
    if (venueAnswers.isRefusal(wanted)) return { arg: echoOf(given), refusal: wanted };
    const { stream, echo } = wanted;
    const leave = this.#leavers.get(stream);
    if (leave === undefined) {
      return {
        arg: echoOf(echo),
        refusal: { code: contract.profile.answers.badRequestCode, msg: "There is no such subscription." },
      };
    }
    this.#leavers.delete(stream);
    leave();
    ended(stream);
    return { arg: echo };
  }

  clear(): void {
    const leaving = [...this.#leavers.values()];
    this.#leavers.clear();
    for (const leave of leaving) leave();
  }

  #begin(wanted: Wanted, key: ServerKey | undefined): void {
    // The place is taken before listening starts: the first message comes at once, and may end the connection.
    let leave = (): void => undefined;
    const own = (): void => leave();
    const { stream } = wanted;
    this.#leavers.set(stream, own);
    leave = listen(this.#options, wanted, key);
    if (this.#leavers.get(stream) !== own) leave();
  }
}

const listen = (options: SubscriptionOptions, wanted: Wanted, key: ServerKey | undefined): (() => void) => {
  const { board, privateBoard } = options;
  const { arg } = wanted;
  const next = numbered(options, wanted);
  if (board.offers(arg.channel))
    return board.subscribe(arg.channel, arg.instId ?? "", ({ text, action }) => next(text, action));
  return privateBoard.subscribe(arg.channel as PrivateChannel, key?.uid ?? "", (text) => next(text));
};

/** Numbers the messages of a subscription and hands them on. */
const numbered = ({ speech, push }: SubscriptionOptions, wanted: Wanted) => {
  const { arg, stream } = wanted;
  const written = speech.writer(wanted);
  let last = -1;
  return (data: string, action?: string): void => {
    const prevSeqId = last++;
    const seqId = last;
    push(arg, stream, (ts) => written({ data, action, seqId, prevSeqId }, ts));
  };
};
