/**
 * Checks of one argument of a subscription.
 *
 * Invariants: checks run in a fixed order (channel, instrument or login, permission), and the first that fails gives
 * the code; an answer repeats only fields of a valid subscription.
 * Not here: the number of subscriptions (subscriptions.ts).
 */

import type { Venue } from "sluice/backtest";
import type { ChannelArg, Contract } from "sluice/dialect";
import type { venueAnswers } from "sluice/extension";
import type { ServerKey } from "./keyring.ts";
import type { PrivateChannel } from "./private-channels.ts";

const echoLengthMax = 48;

/** Returns the argument to repeat in the answer, if it names a channel at all. */
export const echoOf = (arg: unknown): ChannelArg | undefined => {
  if (arg === null || typeof arg !== "object" || !("channel" in arg) || typeof arg.channel !== "string")
    return undefined;
  const named = "instId" in arg && typeof arg.instId === "string" ? { instId: arg.instId.slice(0, echoLengthMax) } : {};
  return { channel: arg.channel.slice(0, echoLengthMax), ...named };
};

/** Returns the permission of a private channel: that of the endpoint with the same data. */
const permissionOf = ({ endpoints }: Contract, channel: PrivateChannel): string =>
  ({ orders: endpoints.pendingOrders, positions: endpoints.positions, account: endpoints.spotBalance })[channel]
    .permission;

const isPrivate = (channel: string): channel is PrivateChannel => ["orders", "positions", "account"].includes(channel);

/** Returns the reason for which this key cannot subscribe to the channel; undefined if it can. */
export const channelProblem = (
  contract: Contract,
  venue: Venue,
  arg: ChannelArg,
  key: ServerKey | undefined,
): venueAnswers.Refusal | undefined => {
  const { answers, websocket } = contract.profile;
  const { channel, instId } = arg;
  const bad = (msg: string): venueAnswers.Refusal => ({ code: answers.badRequestCode, msg });
  if (websocket.publicChannels.includes(channel)) {
    if (instId === undefined) return bad("This channel needs an instId.");
    return venue.lists(instId) ? undefined : { code: answers.instrumentCode, msg: `${instId} is not tradable.` };
  }
  if (!websocket.privateChannels.includes(channel) || !isPrivate(channel)) {
    return bad(
      `There is no such channel; there are ${[...websocket.publicChannels, ...websocket.privateChannels].join(", ")}.`,
    );
  }
  if (instId !== undefined) return bad("This channel takes no instId: it covers all.");
  if (key === undefined) return { code: answers.authCode, msg: "This channel needs a login first." };
  const permission = permissionOf(contract, channel);
  if (key.permissions.includes(permission)) return undefined;
  return { code: answers.permissionCode, msg: `Permission denied: the key needs "${permission}".` };
};
