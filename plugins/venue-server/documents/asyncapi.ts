/**
 * The WebSocket side of the contract as an AsyncAPI 3.0 document.
 *
 * Invariants: pure; made from the tables alone. The description contains only the two limits of the socket; every
 * message here fills gap G14, as stated in the document.
 * Not here: serving it (the venue does), REST (openapi.ts).
 */
import { type Contract, environments, websocketLimits, wire } from "sluice/dialect";

import { assumptionLines } from "./endpoint-notes.ts";
import { exampleAt, exampleMessage } from "./examples.ts";
import { type Json, publishedSchema } from "./published.ts";

const { channels, schemas } = wire;

interface AsyncApiOptions {
  /** URL of the socket; the two environments of the description when left out. */
  readonly wsUrl?: string;
}

const records: Readonly<Record<wire.channels.ChannelName, object>> = {
  trades: channels.tradeMessage,
  tickers: channels.tickerMessage,
  books: channels.bookMessage,
  candle1m: channels.candleMessage,
  orders: schemas.orderRecord,
  positions: schemas.positionRecord,
  account: schemas.balanceRecord,
};

const says: Readonly<Record<wire.channels.ChannelName, string>> = {
  trades: "Public trades.",
  tickers: "Best bid and ask; empty text where there is none.",
  books: "The book: first whole, then changes. A size of 0 removes the price.",
  candle1m: "Bars of one minute, also unfinished ones.",
  orders: "The user's orders as they change.",
  positions: "The user's positions as they change.",
  account: "The user's balances as they change.",
};

const isKnown = (name: string): name is wire.channels.ChannelName => Object.hasOwn(records, name);

/** The WebSocket channels of the service as an AsyncAPI 3 document. */
export const asyncApi = (contract: Contract, { wsUrl }: AsyncApiOptions = {}): Json => {
  const messages = messagesOf(contract);
  const refs = (names: readonly string[]): readonly Json[] =>
    names.map((name) => ({ $ref: `#/channels/socket/messages/${name}` }));
  const { publicChannels, privateChannels, silenceMsMax } = contract.profile.websocket;
  const pushes = (names: readonly string[]): readonly Json[] => refs(names.map(pushName));
  return {
    asyncapi: "3.0.0",
    info: infoOf(contract),
    servers: wsUrl === undefined ? environmentServers() : { this: serverOf(wsUrl) },
    defaultContentType: "application/json",
    channels: {
      socket: {
        address: contract.profile.websocket.path,
        title: "The socket",
        description: [
          "Public and private channels share one connection.",
          `When nothing was received for ${silenceMsMax} ms, or the client reads too slowly, the service closes with 1008; after a message that is too large with 1009, for a restart with 1012, and at its end with 1001.`,
          "The text `ping`, which is no JSON, is answered with the text `pong`.",
        ].join(" "),
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
      },
    },
    operations: {
      subscribe: operation("receive", "Subscribe or unsubscribe", refs(["subscribe"]), refs(["subscribed", "refused"])),
      login: operation("receive", "Prove who asks", refs(["login"]), refs(["loggedIn", "refused"])),
      pong: operation("receive", "Answer a ping", refs(["pong"])),
      ping: operation("send", "Ask for a sign of life", refs(["ping"])),
      pushPublic: operation("send", "Report events of the market", pushes(publicChannels)),
      pushPrivate: {
        ...operation("send", "Report events of the user", pushes(privateChannels)),
        security: [{ $ref: "#/components/securitySchemes/login" }],
      },
    },
    components: {
      messages,
      securitySchemes: {
        login: {
          type: "apiKey",
          in: "user",
          description: "The login message on the open socket; private channels need it.",
        },
      },
    },
  };
};

const infoOf = (contract: Contract): Json => {
  const { connectionsPerIp, subscriptionsPerConnection } = websocketLimits;
  const { publicChannels, privateChannels } = contract.profile.websocket;
  return {
    title: "Trading service, WebSocket",
    version: "v1",
    license: { name: "MIT", url: "https://opensource.org/license/mit" },
    description: [
      `At most ${connectionsPerIp} concurrent connections of one address, and at most ${subscriptionsPerConnection} channel subscriptions of one connection.`,
      `Public channels: ${publicChannels.join(", ")}. Private channels, after a login: ${privateChannels.join(", ")}.`,
      "The description contains nothing further about the socket. Assumed:",
      assumptionLines(
        contract,
        Object.keys(contract.profile.websocket).map((key) => `websocket.${key}`),
      ).join("\n"),
    ].join("\n\n"),
  };
};

const environmentServers = (): Json =>
  Object.fromEntries(
    Object.keys(environments).map((name) => [
      name,
      {
        host: `${name}.invalid`,
        protocol: "wss",
        description: `The ${name} environment; the description names no address.`,
      },
    ]),
  );

const serverOf = (wsUrl: string): Json => {
  const { protocol, host } = new URL(wsUrl);
  return { host, protocol: protocol.replace(":", ""), description: "This service" };
};

const operation = (
  action: "send" | "receive",
  title: string,
  messages: readonly Json[],
  reply?: readonly Json[],
): Json => ({
  action,
  title,
  channel: { $ref: "#/channels/socket" },
  messages,
  ...(reply && { reply: { channel: { $ref: "#/channels/socket" }, messages: reply } }),
});

const message = (name: string, summary: string, payload: Json, example: Json): Json => ({
  name,
  title: name,
  summary,
  payload,
  examples: [{ name: "example", payload: example }],
});

const whole = { type: "integer", minimum: 0 } as const;
const code = { type: "string" } as const;

const shaped = (properties: Json, optional: readonly string[] = []): Json => ({
  type: "object",
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
  properties,
});

/** Returns all messages of the socket by name: requests of the client, answers and pushes of the service. */
const messagesOf = (contract: Contract): Readonly<Record<string, Json>> => {
  const { profile } = contract;
  const arg = publishedSchema(profile, channels.channelArg);
  const exampleArg = { channel: profile.websocket.publicChannels[0] ?? "trades", instId: "BTC-USDT-SWAP" };
  const ts = exampleAt;
  const login = {
    apiKey: "key",
    passphrase: "phrase",
    timestamp: wire.signing.timestampText(profile, exampleAt),
    sign: "c2lnbmF0dXJl",
  };
  const named: Readonly<Record<string, Json>> = {
    subscribe: message(
      "subscribe",
      "Start or end subscriptions.",
      publishedSchema(profile, channels.subscribeRequest),
      {
        op: "subscribe",
        args: [exampleArg],
      },
    ),
    login: message(
      "login",
      `Signed like a request: GET ${profile.websocket.loginPath} without a body.`,
      publishedSchema(profile, channels.loginRequest),
      { op: "login", args: [login] },
    ),
    pong: message("pong", "The answer to a ping.", publishedSchema(profile, channels.pongRequest), { op: "pong" }),
    subscribed: message(
      "subscribed",
      "A subscription was begun or ended.",
      shaped({ event: { type: "string", enum: ["subscribe", "unsubscribe"] }, arg, ts: whole }),
      { event: "subscribe", arg: exampleArg, ts },
    ),
    loggedIn: message(
      "loggedIn",
      "The login was accepted.",
      shaped({ event: { type: "string", const: "login" }, code, ts: whole }),
      {
        event: "login",
        code: "0",
        ts,
      },
    ),
    refused: message(
      "refused",
      "A request was refused.",
      shaped({ event: { type: "string", const: "error" }, code, msg: { type: "string" }, arg, ts: whole }, ["arg"]),
      { event: "error", code: profile.answers.badRequestCode, msg: "No such channel.", arg: exampleArg, ts },
    ),
    ping: message(
      "ping",
      "Request for a sign of life.",
      shaped({ event: { type: "string", const: "ping" }, ts: whole }),
      {
        event: "ping",
        ts,
      },
    ),
  };
  const { publicChannels, privateChannels } = profile.websocket;
  return {
    ...named,
    ...Object.fromEntries(
      [...publicChannels, ...privateChannels].map((name) => [pushName(name), pushOf(contract, name)]),
    ),
  };
};

const pushName = (channel: string): string => `push-${channel}`;

const pushOf = (contract: Contract, channel: string): Json => {
  const { profile } = contract;
  const { sequenced, publicChannels } = profile.websocket;
  const isPublic = publicChannels.includes(channel);
  const known = isKnown(channel);
  const order = sequenced ? { seqId: whole, prevSeqId: { type: "integer", minimum: -1 } } : {};
  const payload = shaped({
    event: { type: "string", const: channel },
    arg: publishedSchema(profile, channels.channelArg),
    data: { type: "array", items: known ? publishedSchema(profile, records[channel]) : { type: "object" } },
    ts: whole,
    ...(channel === "books" && { action: { type: "string", enum: ["snapshot", "update"] } }),
    ...order,
  });
  const example = {
    event: channel,
    arg: { channel, ...(isPublic && { instId: "BTC-USDT-SWAP" }) },
    data: known ? [exampleMessage(contract, channel)] : [],
    ts: exampleAt,
    ...(channel === "books" && { action: "snapshot" }),
    ...(sequenced && { seqId: 1, prevSeqId: -1 }),
  };
  return message(pushName(channel), known ? says[channel] : `Channel ${channel}.`, payload, example);
};
