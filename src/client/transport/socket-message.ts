/**
 * Parser of WebSocket messages into a few kinds.
 *
 * Invariants: any text gives a value, never an exception; texts of the other side are shortened and stripped of control
 * characters before they are shown.
 * Not here: validation of records (client/live/), the messages themselves (contract/channels.ts).
 */
import type { ChannelArg } from "../../contract/channels.ts";

/** A push with unparsed records. */
export interface Push {
  readonly arg: ChannelArg;
  readonly data: readonly unknown[];
  readonly action: string | undefined;
  readonly seqId: number | undefined;
  readonly prevSeqId: number | undefined;
}

/** A parsed message: an acknowledgement, a refusal, a ping, or records of a channel. */
export type ParsedMessage =
  | { readonly kind: "push"; readonly push: Push }
  | { readonly kind: "subscribed" | "unsubscribed"; readonly arg: ChannelArg }
  | { readonly kind: "login"; readonly refused: string | undefined }
  | { readonly kind: "error"; readonly arg: ChannelArg | undefined; readonly reason: string }
  | { readonly kind: "ping" | "pong" }
  | { readonly kind: "malformed"; readonly problem: string };

/** The name under which a subscription is kept. */
export const channelKey = ({ channel, instId }: ChannelArg): string =>
  instId === undefined ? channel : `${channel} ${instId}`;

const textMax = 120;
/** A book of 5000 levels is one record; no channel sends so many records at once. */
const recordsMax = 10_000;

/** Text of the other side as one short line. */
export const shown = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  const line = text.replaceAll(/\p{C}+/gu, " ");
  return line.length > textMax ? `${line.slice(0, textMax - 3)}...` : line;
};

const malformed = (problem: string): ParsedMessage => ({ kind: "malformed", problem });

export const readMessage = (text: string): ParsedMessage => {
  if (text === "ping" || text === "pong") return { kind: text };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return malformed(`not JSON: ${shown(text)}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    return malformed(`not an object: ${shown(text)}`);
  return readObject(value as Readonly<Record<string, unknown>>) ?? malformed(`of no known kind: ${shown(text)}`);
};

const readObject = (message: Readonly<Record<string, unknown>>): ParsedMessage | undefined => {
  const { event, code, msg } = message;
  const arg = readArg(message["arg"]);
  switch (event) {
    case "ping":
    case "pong":
      return { kind: event };
    case "subscribe":
      return arg && { kind: "subscribed", arg };
    case "unsubscribe":
      return arg && { kind: "unsubscribed", arg };
    case "login":
      return { kind: "login", refused: code === undefined || shown(code) === "0" ? undefined : reasonOf(code, msg) };
    case "error":
      return { kind: "error", arg, reason: reasonOf(code, msg) };
    default:
      return arg && readPush(message, arg);
  }
};

const readPush = (message: Readonly<Record<string, unknown>>, arg: ChannelArg): ParsedMessage | undefined => {
  const { event, data, action } = message;
  if (event !== undefined && event !== arg.channel) return undefined;
  if (!Array.isArray(data) || data.length > recordsMax) return undefined;
  const numbered = { seqId: readSequence(message["seqId"]), prevSeqId: readSequence(message["prevSeqId"]) };
  return { kind: "push", push: { arg, data, action: typeof action === "string" ? action : undefined, ...numbered } };
};

const readArg = (value: unknown): ChannelArg | undefined => {
  const { channel, instId } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof channel !== "string") return undefined;
  return typeof instId === "string" ? { channel, instId } : { channel };
};

const readSequence = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) ? (value as number) : undefined;

const reasonOf = (code: unknown, msg: unknown): string => shown(`${shown(code ?? "")} ${shown(msg ?? "")}`.trim());
