/** Sockets without a network: the test is the other side, by hand or by a simple obedient service. */

import { wholeDialect } from "../../../src/client/transport/dialect.ts";
import type { Redact } from "../../../src/client/transport/redaction.ts";
import type { OpenSocket } from "../../../src/client/transport/socket.ts";
import type { ChannelListener } from "../../../src/client/transport/socket-channel.ts";
import type { Push } from "../../../src/client/transport/socket-message.ts";
import { type ChannelHandle, type Login, SocketPool } from "../../../src/client/transport/socket-pool.ts";
import { createVirtualClock, type VirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { websocketLimits } from "../../../src/contract/limits.ts";
import { createRandom, type Random } from "../../../src/random.ts";

type SocketEvents = Parameters<OpenSocket>[1];

export interface Request {
  readonly op: string;
  readonly args?: readonly Readonly<Record<string, string>>[];
}

export class FakeSocket {
  readonly url: string;
  readonly sent: (Request | string)[] = [];
  /** Our side has closed it. */
  left = false;
  /** It has told its end. */
  ended = false;
  isOpen = false;
  /** What the service answers to a request; nothing while undefined. */
  answer: ((request: Request | string, socket: FakeSocket) => void) | undefined;
  readonly #events: SocketEvents;
  readonly #sequences = new Map<string, number>();

  constructor(url: string, events: SocketEvents) {
    this.url = url;
    this.#events = events;
  }

  open(): void {
    this.isOpen = true;
    this.#events.opened();
  }

  /** The service says something. */
  say(message: object | string): void {
    if (!this.ended) this.#events.text(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** The next message of a channel, numbered as the service numbers it. */
  push(
    channel: string,
    data: readonly unknown[],
    more: { readonly instId?: string; readonly action?: string; readonly skip?: number } = {},
  ): void {
    const { instId, action, skip = 0 } = more;
    const arg = instId === undefined ? { channel } : { channel, instId };
    const name = JSON.stringify(arg);
    const prevSeqId = (this.#sequences.get(name) ?? -1) + skip;
    this.#sequences.set(name, prevSeqId + 1);
    this.say({
      event: channel,
      arg,
      data,
      ts: 0,
      seqId: prevSeqId + 1,
      prevSeqId,
      ...(action === undefined ? {} : { action }),
    });
  }

  restart(channel: string, instId?: string): void {
    this.#sequences.delete(JSON.stringify(instId === undefined ? { channel } : { channel, instId }));
  }

  end(reason = "gone"): void {
    if (this.ended) return;
    this.ended = true;
    this.isOpen = false;
    this.#events.closed(reason);
  }

  send(text: string): void {
    if (!this.isOpen) return;
    const request: Request | string = text.startsWith("{") ? (JSON.parse(text) as Request) : text;
    this.sent.push(request);
    this.answer?.(request, this);
  }

  close(): void {
    this.left = true;
    this.end("closed by us");
  }

  /** Requests of one kind, each as the list of its channels. */
  asked(op: string): readonly string[][] {
    return this.sent.flatMap((request) =>
      typeof request !== "string" && request.op === op
        ? [(request.args ?? []).map((arg) => Object.values(arg).join(" "))]
        : [],
    );
  }
}

/** Grants every login and subscription, and answers a ping. */
export const obedient = (request: Request | string, socket: FakeSocket): void => {
  if (request === "ping") socket.say("pong");
  else if (typeof request === "string") return;
  else if (request.op === "login") socket.say({ event: "login", code: "0", ts: 0 });
  else if (request.op === "subscribe") {
    for (const arg of request.args ?? []) {
      socket.restart(arg["channel"] ?? "", arg["instId"]);
      socket.say({ event: "subscribe", arg, ts: 0 });
    }
  } else if (request.op === "unsubscribe")
    for (const arg of request.args ?? []) socket.say({ event: "unsubscribe", arg, ts: 0 });
};

export interface Network {
  readonly open: OpenSocket;
  readonly sockets: readonly FakeSocket[];
  readonly last: FakeSocket;
  /** Sockets that have not ended. */
  readonly alive: number;
}

/** `prepare` is called with each socket before anything happens on it. */
export const createNetwork = (prepare: (socket: FakeSocket) => void = () => undefined): Network => {
  const sockets: FakeSocket[] = [];
  return {
    sockets,
    get last() {
      return sockets.at(-1) as FakeSocket;
    },
    get alive() {
      return sockets.filter(({ ended }) => !ended).length;
    },
    open: (url, events) => {
      const socket = new FakeSocket(url, events);
      sockets.push(socket);
      prepare(socket);
      return socket;
    },
  };
};

export interface Rig {
  readonly clock: VirtualClock;
  readonly network: Network;
  readonly pool: SocketPool;
  readonly anomalies: string[];
  subscribe(channel: string, instId?: string, login?: Login): Heard;
}

export interface Heard {
  readonly handle: ChannelHandle;
  /** States and messages in the order in which they came. */
  readonly story: string[];
  readonly pushes: Push[];
}

export interface RigOptions {
  readonly prepare?: (socket: FakeSocket, clock: VirtualClock) => void;
  readonly leave?: (clock: VirtualClock) => number | undefined;
  readonly limits?:
    | typeof websocketLimits
    | { readonly connectionsPerIp: number; readonly subscriptionsPerConnection: number };
  readonly random?: Random;
  readonly sequenced?: boolean;
  readonly redact?: Redact;
}

export const url = "ws://127.0.0.1/ws/v1";

export const createRig = (options: RigOptions = {}): Rig => {
  const {
    prepare = () => undefined,
    leave = () => undefined,
    limits = websocketLimits,
    random = createRandom("sockets"),
  } = options;
  const clock = createVirtualClock(1_000_000);
  const network = createNetwork((socket) => prepare(socket, clock));
  const anomalies: string[] = [];
  const { websocket } = createContract(
    options.sequenced === undefined ? {} : { websocket: { sequenced: options.sequenced } },
  ).profile;
  const pool = new SocketPool({
    url: () => url,
    open: network.open,
    clock,
    random,
    websocket,
    dialect: wholeDialect({ name: "rig", sockets: limits }),
    leave: () => leave(clock),
    onAnomaly: (what, detail) => anomalies.push(`${what}: ${detail}`),
    ...(options.redact && { redact: options.redact }),
  });
  return {
    clock,
    network,
    pool,
    anomalies,
    subscribe: (channel, instId, login) => {
      const story: string[] = [];
      const pushes: Push[] = [];
      const listener: ChannelListener = {
        message: (push) => {
          pushes.push(push);
          story.push(`message ${JSON.stringify(push.data)}`);
        },
        state: (state, reason) => story.push(`${state}: ${reason}`),
      };
      const handle = pool.subscribe(instId === undefined ? { channel } : { channel, instId }, listener, login);
      return { handle, story, pushes };
    },
  };
};
