/**
 * Connection pool for subscriptions: as many channels on a connection as the service allows, and another connection
 * when it is full.
 *
 * Invariants: never more connections or subscriptions than the limits, closing sockets included; a private channel
 * shares a connection only with channels of the same login and address; a subscription without room is `refused`, and
 * subscribed when another one ends; nothing is opened before `start`; after `close` has resolved no socket and no timer
 * is left.
 * Not here: a single connection (socket-connection.ts), the limits (contract/limits.ts).
 */
import type { Clock } from "../../clock/clock.ts";
import type { ChannelArg } from "../../contract/channels.ts";
import type { Profile } from "../../contract/profile.ts";
import { assert } from "../../errors.ts";
import type { Random } from "../../random.ts";
import type { WholeDialect } from "./dialect.ts";
import type { Redact } from "./redaction.ts";
import type { OpenSocket } from "./socket.ts";
import { type ChannelListener, type OnAnomaly, SocketChannel } from "./socket-channel.ts";
import { SocketConnection } from "./socket-connection.ts";

/** Login of a channel: channels of one login share connections. `arg` is called for each login, as each is signed. */
export interface Login {
  readonly name: string;
  readonly arg: () => Readonly<Record<string, string>>;
}

interface PoolCounts {
  readonly connections: number;
  /** Sockets that are not closed. */
  readonly sockets: number;
  readonly subscriptions: number;
}

interface SocketPoolOptions {
  /** Address of the socket that offers a channel. */
  readonly url: (arg: ChannelArg) => string;
  readonly open: OpenSocket;
  readonly clock: Clock;
  readonly random: Random;
  readonly websocket: Profile["websocket"];
  readonly dialect: WholeDialect;
  /** Undefined if a socket may be opened now, otherwise the instant to ask again. */
  readonly leave: () => number | undefined;
  readonly onAnomaly: OnAnomaly;
  /** Removes secrets from messages of the other side. */
  readonly redact?: Redact;
}

interface Subscription {
  readonly channel: SocketChannel;
  readonly login: Login | undefined;
  connection: SocketConnection | undefined;
}

/** Address and login that channels of one connection share. */
interface Place {
  readonly url: string;
  readonly login: Login["name"] | undefined;
}

/** Handle of a subscription: after `close` its listener is not called any more. */
export interface ChannelHandle extends Pick<SocketChannel, "state" | "repair"> {
  close(): void;
}

/** Pause while sockets of old connections close. */
const roomPauseMs = 1_000;

export class SocketPool {
  readonly #options: SocketPoolOptions;
  readonly #connections = new Map<SocketConnection, Place>();
  /** Subscriptions without room, first come first. */
  readonly #waiting = new Set<Subscription>();
  #sockets = 0;
  #started = false;
  #closed = false;
  #settle: (() => void) | undefined;

  constructor(options: SocketPoolOptions) {
    this.#options = options;
  }

  /** Connects for the subscriptions made so far; later ones connect at once. */
  start(): void {
    this.#started = true;
    for (const connection of this.#connections.keys()) connection.start();
  }

  /**
   * Adds a subscription; a channel is subscribed once at a time for each login. The listener may be called before this
   * returns.
   */
  subscribe(arg: ChannelArg, listener: ChannelListener, login?: Login): ChannelHandle {
    assert(!this.#closed, "nothing is subscribed at a closed pool");
    const { clock, random, websocket, onAnomaly, dialect } = this.#options;
    const send = (op: "subscribe" | "unsubscribe", to: ChannelArg): void =>
      subscription.connection?.send({ op, args: [to] });
    const channel = new SocketChannel({ arg, listener, clock, random, websocket, onAnomaly, send });
    assert(!this.#isTaken(channel.key, login), `${channel.key} is subscribed once`);
    const subscription: Subscription = { channel, login, connection: undefined };
    if (!this.#place(subscription)) {
      this.#waiting.add(subscription);
      channel.full(`all ${dialect.sockets.connectionsPerIp} connections are full`);
    }
    return {
      get state() {
        return channel.state;
      },
      repair: (reason) => channel.repair(reason),
      close: () => {
        if (!this.#closed) this.#end(subscription);
      },
    };
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#closed = true;
      this.#settle = resolve;
      for (const connection of this.#connections.keys()) {
        connection.close();
        for (const channel of connection.channels.values()) channel.close();
      }
      this.#connections.clear();
      this.#waiting.clear();
      if (this.#sockets === 0) resolve();
    });
  }

  counts(): PoolCounts {
    return {
      connections: this.#connections.size,
      sockets: this.#sockets,
      subscriptions: [...this.#connections.keys()].reduce((total, { channels }) => total + channels.size, 0),
    };
  }

  /** Finds a connection for it. Returns false if there is no room. */
  #place(subscription: Subscription): boolean {
    const connection = this.#roomFor(subscription);
    if (connection === undefined) return false;
    subscription.connection = connection;
    connection.add(subscription.channel);
    if (this.#started) connection.start();
    return true;
  }

  #roomFor({ channel, login }: Subscription): SocketConnection | undefined {
    const { dialect, clock } = this.#options;
    const { connectionsPerIp, subscriptionsPerConnection } = dialect.sockets;
    const url = this.#options.url(channel.arg);
    for (const [connection, place] of this.#connections) {
      if (place.url === url && place.login === login?.name && connection.channels.size < subscriptionsPerConnection)
        return connection;
    }
    if (this.#connections.size >= connectionsPerIp) return undefined;
    const connection = new SocketConnection({
      ...this.#options,
      url,
      login: login?.arg,
      leave: () => (this.#sockets >= connectionsPerIp ? clock.now() + roomPauseMs : this.#options.leave()),
      onSocket: (change) => {
        this.#sockets += change;
        if (this.#sockets === 0) this.#settle?.();
      },
    });
    this.#connections.set(connection, { url, login: login?.name });
    return connection;
  }

  #end(subscription: Subscription): void {
    this.#waiting.delete(subscription);
    const { connection, channel } = subscription;
    if (connection === undefined) {
      channel.close();
      return;
    }
    subscription.connection = undefined;
    connection.remove(channel);
    if (connection.channels.size === 0) {
      this.#connections.delete(connection);
      connection.close();
    }
    for (const next of this.#waiting) if (this.#place(next)) this.#waiting.delete(next);
  }

  #isTaken(key: string, login: Login | undefined): boolean {
    for (const [connection, place] of this.#connections)
      if (place.login === login?.name && connection.channels.has(key)) return true;
    return false;
  }
}
