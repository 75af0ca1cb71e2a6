/**
 * Shared market data channel of one instrument: subscribed while a reader needs it and a little longer, parsed once for
 * all readers.
 *
 * Invariants: one subscription for any number of readers, kept for a reader that returns within the pause; readers
 * receive records and states in the order in which they joined, whether or not they need the channel; a channel that
 * the service does not offer is refused without a request; nothing is left after `stop`.
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import type { ChannelArg } from "../../contract/channels.ts";
import type { ChannelListener, ChannelState, OnAnomaly } from "../transport/socket-channel.ts";
import type { ChannelHandle } from "../transport/socket-pool.ts";
import { type MarketChannel, type MarketRecords, readRecords } from "./records.ts";

/** `ended`: no reader needs the channel any more, and its last data is discarded. */
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

export interface SharedChannelOptions {
  readonly clock: Clock;
  readonly subscribe: (arg: ChannelArg, listener: ChannelListener) => ChannelHandle;
  /** Names of the channels the service offers. */
  readonly channels: readonly string[];
  readonly onAnomaly: OnAnomaly;
}

const lingerMs = 5_000;

export class SharedChannel<C extends MarketChannel> {
  readonly #channel: C;
  readonly #instId: string;
  readonly #options: SharedChannelOptions;
  readonly #readers: SharedChannelReader<C>[] = [];
  #needed = 0;
  #handle: ChannelHandle | undefined;
  #timer: Timer | undefined;
  #refused = false;
  #stopped = false;

  constructor(channel: C, instId: string, options: SharedChannelOptions) {
    this.#channel = channel;
    this.#instId = instId;
    this.#options = options;
  }

  get refused(): boolean {
    return this.#refused;
  }

  /**
   * Adds a reader. The returned function sets whether it needs the channel now; it may be called any number of times.
   */
  join(reader: SharedChannelReader<C>): (needed: boolean) => void {
    this.#readers.push(reader);
    let needs = false;
    return (needed) => {
      if (needed === needs || this.#stopped) return;
      needs = needed;
      this.#needed += needed ? 1 : -1;
      if (needed && this.#needed === 1) this.#begin();
      else if (this.#needed === 0) this.#endSoon();
    };
  }

  /** Called when the received data is not reliable. Subscribes again. */
  repair(reason: string): void {
    this.#handle?.repair(reason);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#handle?.close();
    this.#handle = undefined;
  }

  #begin(): void {
    const { subscribe, channels } = this.#options;
    this.#timer?.cancel();
    if (this.#handle !== undefined) return;
    if (!channels.includes(this.#channel)) {
      this.#notify("refused");
      return;
    }
    const message: ChannelListener["message"] = (push) => {
      const read = { ...readRecords(this.#channel, this.#instId, push, this.#options.onAnomaly), action: push.action };
      for (const reader of this.#readers) reader.take(read);
    };
    this.#handle = subscribe(
      { channel: this.#channel, instId: this.#instId },
      { message, state: (state) => this.#notify(state) },
    );
  }

  #endSoon(): void {
    const { clock } = this.#options;
    this.#timer = clock.setTimer(clock.now() + lingerMs, () => {
      this.#handle?.close();
      this.#handle = undefined;
      this.#notify("ended");
    });
  }

  #notify(state: SharedChannelState): void {
    this.#refused = state === "refused";
    for (const reader of this.#readers) reader.state(state);
  }
}
