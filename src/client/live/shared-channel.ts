/**
 * One channel of one instrument, read once and told to all who need it.
 *
 * Invariants: readers hear records and states in the order in which they joined, whether or not they hold the line; it is
 * subscribed while one of them does.
 */
import type { Clock } from "../../clock/clock.ts";
import type { ChannelState, OnAnomaly } from "../transport/socket-channel.ts";
import { createChannelSubscription, type Subscribe } from "./channel-subscription.ts";
import { type MarketChannel, type MarketRecords, readRecords } from "./records.ts";

export type SharedChannelState = ChannelState | "ended";

export interface SharedChannelMessage<C extends MarketChannel> {
  readonly records: readonly MarketRecords[C][];
  /** False when a record of the message could not be read. */
  readonly whole: boolean;
  readonly action: string | undefined;
}

interface SharedChannelReader<C extends MarketChannel> {
  take(message: SharedChannelMessage<C>): void;
  state(state: SharedChannelState): void;
}

export interface SharedChannel<C extends MarketChannel> {
  /** The result says whether this reader needs the line now; it may be called as often as one likes. */
  join(reader: SharedChannelReader<C>): (needed: boolean) => void;
  readonly refused: boolean;
  /** What was told cannot be trusted. */
  repair(reason: string): void;
  stop(): void;
}

export interface SharedChannelOptions {
  readonly clock: Clock;
  readonly subscribe: Subscribe;
  /** Names of the channels the service offers. */
  readonly channels: readonly string[];
  readonly onAnomaly: OnAnomaly;
}

export const createSharedChannel = <C extends MarketChannel>(
  channel: C,
  instId: string,
  options: SharedChannelOptions,
): SharedChannel<C> => {
  const { clock, subscribe, channels, onAnomaly } = options;
  const readers: SharedChannelReader<C>[] = [];
  let refused = false;
  const source = createChannelSubscription({
    clock,
    subscribe,
    arg: { channel, instId },
    offered: channels.includes(channel),
    message: (push) => {
      const message = { ...readRecords(channel, instId, push, onAnomaly), action: push.action };
      for (const reader of readers) reader.take(message);
    },
    state: (state) => {
      refused = state === "refused";
      for (const reader of readers) reader.state(state);
    },
  });
  return {
    get refused() {
      return refused;
    },
    repair: source.repair,
    stop: source.stop,
    join: (reader) => {
      readers.push(reader);
      let release: (() => void) | undefined;
      return (needed) => {
        if (needed) {
          release ??= source.hold();
          return;
        }
        release?.();
        release = undefined;
      };
    },
  };
};
