/**
 * What one connection listens to.
 *
 * Invariants: a channel and instrument are listened to at most once; there are at most as many as the description allows; the
 * messages of each are numbered from its subscription on, without holes.
 * Not here: who may (subscription-rules.ts), sending (outbox.ts), reading requests (parse-message.ts).
 */
import type { ChannelArg } from "../../contract/channels.ts";
import type { Contract } from "../../contract/contract.ts";
import { websocketLimits } from "../../contract/limits.ts";
import type { Refusal } from "../responses.ts";
import type { Venue } from "../venue.ts";
import type { ServerKey } from "./keyring.ts";
import type { PrivateChannel, PrivateChannels } from "./private-channels.ts";
import type { PublicChannels } from "./public-channels.ts";
import { channelProblem, echoOf, formProblem } from "./subscription-rules.ts";

/** A push in two parts: its `ts` goes between them, and a brace behind. */
type PushListener = (arg: ChannelArg, stream: string, head: string, tail: string) => void;

/** `arg` is what can be repeated of the question. */
export interface SubscriptionAnswer {
  readonly arg: ChannelArg | undefined;
  /** Why not. */
  readonly refusal?: Refusal;
  /** Starts to listen, for after the acknowledgement: the first message may come before it returns. */
  readonly begin?: () => void;
}

interface SubscriptionOptions {
  readonly contract: Contract;
  readonly venue: Venue;
  readonly board: PublicChannels;
  readonly privateBoard: PrivateChannels;
  readonly push: PushListener;
  readonly ended: (stream: string) => void;
}

const { subscriptionsPerConnection } = websocketLimits;

const streamOf = ({ channel, instId = "" }: ChannelArg): string => `${channel} ${instId}`;

export class Subscriptions {
  readonly #options: SubscriptionOptions;
  readonly #leavers = new Map<string, () => void>();

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  subscribe(given: unknown, key: ServerKey | undefined): SubscriptionAnswer {
    const { contract, venue } = this.#options;
    const form = formProblem(contract, given);
    if (form !== undefined) return { arg: echoOf(given), refusal: form };
    const arg = given as ChannelArg;
    const stream = streamOf(arg);
    // Asking twice is harmless and changes nothing.
    if (this.#leavers.has(stream)) return { arg };
    const refusal = channelProblem(contract, venue, arg, key);
    if (refusal !== undefined) return { arg: echoOf(arg), refusal };
    if (this.#leavers.size < subscriptionsPerConnection) return { arg, begin: () => this.#begin(arg, stream, key) };
    const msg = `A connection has at most ${subscriptionsPerConnection} subscriptions.`;
    return { arg, refusal: { code: contract.profile.answers.limitedCode, msg } };
  }

  unsubscribe(given: unknown): SubscriptionAnswer {
    const { contract, ended } = this.#options;
    const form = formProblem(contract, given);
    if (form !== undefined) return { arg: echoOf(given), refusal: form };
    const arg = given as ChannelArg;
    const stream = streamOf(arg);
    const leave = this.#leavers.get(stream);
    if (leave === undefined) {
      return { arg: echoOf(arg), refusal: { code: contract.profile.answers.badRequestCode, msg: "There is no such subscription." } };
    }
    this.#leavers.delete(stream);
    leave();
    ended(stream);
    return { arg };
  }

  clear(): void {
    const leaving = [...this.#leavers.values()];
    this.#leavers.clear();
    for (const leave of leaving) leave();
  }

  #begin(arg: ChannelArg, stream: string, key: ServerKey | undefined): void {
    // The place is taken before listening starts: the first message comes at once, and may end the connection.
    let leave = (): void => undefined;
    const own = (): void => leave();
    this.#leavers.set(stream, own);
    leave = listen(this.#options, arg, stream, key);
    if (this.#leavers.get(stream) !== own) leave();
  }
}

const listen = (options: SubscriptionOptions, arg: ChannelArg, stream: string, key: ServerKey | undefined): (() => void) => {
  const { board, privateBoard } = options;
  const next = numbered(options, arg, stream);
  if (board.offers(arg.channel)) return board.subscribe(arg.channel, arg.instId ?? "", ({ text, action }) => next(text, action));
  return privateBoard.subscribe(arg.channel as PrivateChannel, key?.uid ?? "", (text) => next(text));
};

/** Numbers the messages of a subscription and hands them on. */
const numbered = ({ contract, push }: SubscriptionOptions, arg: ChannelArg, stream: string) => {
  const opening = `{"event":${JSON.stringify(arg.channel)},"arg":${JSON.stringify(arg)}`;
  const { sequenced } = contract.profile.websocket;
  let last = -1;
  return (text: string, action?: string): void => {
    const before = last++;
    const named = action === undefined ? "" : `,"action":"${action}"`;
    push(arg, stream, `${opening}${named},"data":${text}`, sequenced ? `,"seqId":${last},"prevSeqId":${before}` : "");
  };
};
