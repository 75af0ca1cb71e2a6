/**
 * One channel of market data, subscribed while somebody needs it and a little longer.
 *
 * Invariants: one subscription however many hold it; who comes back within the pause finds it running; a channel the service
 * does not offer is refused without a request; nothing is left after `stop`.
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import type { ChannelArg } from "../../contract/channels.ts";
import type { ChannelListener, ChannelState } from "../transport/socket-channel.ts";
import type { ChannelHandle } from "../transport/socket-pool.ts";

export type Subscribe = (arg: ChannelArg, listener: ChannelListener) => ChannelHandle;

interface ChannelSubscription {
  /** Holds the subscription until the result is called. */
  hold(): () => void;
  /** What was told cannot be trusted. */
  readonly repair: (reason: string) => void;
  readonly stop: () => void;
}

interface ChannelSubscriptionOptions {
  readonly clock: Clock;
  readonly subscribe: Subscribe;
  readonly arg: ChannelArg;
  readonly offered: boolean;
  readonly message: ChannelListener["message"];
  /** `ended`: nobody held it any more; what is known of the channel is over. */
  readonly state: (state: ChannelState | "ended", reason: string) => void;
}

const lingerMs = 5_000;

export const createChannelSubscription = ({
  clock,
  subscribe,
  arg,
  offered,
  message,
  state,
}: ChannelSubscriptionOptions): ChannelSubscription => {
  let holders = 0;
  let handle: ChannelHandle | undefined;
  let timer: Timer | undefined;
  let stopped = false;

  const begin = (): void => {
    timer?.cancel();
    timer = undefined;
    if (handle !== undefined) return;
    if (offered) handle = subscribe(arg, { message, state });
    else state("refused", "the service does not offer this channel");
  };
  const end = (): void => {
    timer = undefined;
    handle?.close();
    handle = undefined;
    state("ended", "nobody listens");
  };
  return {
    hold: () => {
      if (stopped) return () => undefined;
      holders++;
      if (holders === 1) begin();
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        holders--;
        if (holders === 0 && !stopped) timer = clock.setTimer(clock.now() + lingerMs, end);
      };
    },
    repair: (reason) => {
      handle?.repair(reason);
    },
    stop: () => {
      stopped = true;
      timer?.cancel();
      timer = undefined;
      handle?.close();
      handle = undefined;
    },
  };
};
