/**
 * Subscriptions packed into few connections: as many channels on one as the service allows, and one more when it is full.
 *
 * Invariants: never more connections or subscriptions than the limits say, sockets that are still closing included; a private
 * channel shares a connection only with channels of the same login; what finds no room is `refused` and let in when somebody
 * leaves; nothing is opened before `start`; after `close` has resolved no socket and no timer is left.
 * Not here: what a connection does (socket-connection.ts), the numbers (contract/limits.ts).
 */
import type { Clock } from "../../clock/clock.ts";
import type { ChannelArg, LoginArg } from "../../contract/channels.ts";
import type { Profile } from "../../contract/profile.ts";
import { assert } from "../../errors.ts";
import type { Random } from "../../random.ts";
import type { OpenSocket } from "./socket.ts";
import { type ChannelHandle, type ChannelListener, createSocketChannel, type OnAnomaly, type SocketChannel } from "./socket-channel.ts";
import { type Connection, createConnection } from "./socket-connection.ts";

/** Who asks: channels of one login share connections. `arg` is called for each login, as each is signed anew. */
export interface Login {
  readonly name: string;
  readonly arg: () => LoginArg;
}

export interface SocketPool {
  /** Connects to what was asked for, and from now on at once. */
  start(): void;
  /** One subscription; a channel is subscribed once at a time for each login. The listener may be told before this returns. */
  readonly subscribe: (arg: ChannelArg, listener: ChannelListener, login?: Login) => ChannelHandle;
  close(): Promise<void>;
  counts(): PoolCounts;
}

interface PoolCounts {
  readonly connections: number;
  /** Sockets that have not told their end. */
  readonly sockets: number;
  readonly subscriptions: number;
}

interface SocketPoolOptions {
  readonly url: string;
  readonly open: OpenSocket;
  readonly clock: Clock;
  readonly random: Random;
  readonly websocket: Profile["websocket"];
  readonly limits: { readonly connectionsPerIp: number; readonly subscriptionsPerConnection: number };
  /** Undefined: a socket may be opened now; otherwise the instant to ask again. */
  readonly leave: () => number | undefined;
  readonly onAnomaly: OnAnomaly;
}

interface Seat {
  readonly channel: SocketChannel;
  readonly login: Login | undefined;
  connection: Connection | undefined;
}

/** While sockets of old connections say goodbye. */
const roomPauseMs = 1_000;

export const createSocketPool = (options: SocketPoolOptions): SocketPool => {
  const { url, open, clock, random, websocket, limits, onAnomaly } = options;
  const connections = new Map<Connection, Login["name"] | undefined>();
  /** Subscriptions without room, first come first. */
  const standing = new Set<Seat>();
  let sockets = 0;
  let started = false;
  let closed = false;
  let settle: (() => void) | undefined;

  const leave = (): number | undefined => (sockets >= limits.connectionsPerIp ? clock.now() + roomPauseMs : options.leave());
  const onSocket = (change: 1 | -1): void => {
    sockets += change;
    if (sockets === 0) settle?.();
  };
  const roomFor = (login: Login | undefined): Connection | undefined => {
    for (const [connection, name] of connections) {
      if (name === login?.name && connection.channels.size < limits.subscriptionsPerConnection) return connection;
    }
    if (connections.size >= limits.connectionsPerIp) return undefined;
    const own = { url, open, clock, random, websocket, onAnomaly, leave, onSocket, login: login?.arg };
    const connection = createConnection(own);
    connections.set(connection, login?.name);
    return connection;
  };
  const seat = (one: Seat): boolean => {
    const connection = roomFor(one.login);
    if (connection === undefined) return false;
    one.connection = connection;
    connection.add(one.channel);
    if (started) connection.start();
    return true;
  };
  const rise = (one: Seat): void => {
    standing.delete(one);
    const { connection, channel } = one;
    if (connection === undefined) {
      channel.close();
      return;
    }
    one.connection = undefined;
    connection.remove(channel);
    if (connection.channels.size === 0) {
      connections.delete(connection);
      connection.close();
    }
    for (const next of standing) if (seat(next)) standing.delete(next);
  };
  const isTaken = (key: string, login: Login | undefined): boolean => {
    for (const [connection, name] of connections) if (name === login?.name && connection.channels.has(key)) return true;
    return false;
  };
  return {
    start: () => {
      started = true;
      for (const connection of connections.keys()) connection.start();
    },
    subscribe: (arg, listener, login) => {
      assert(!closed, "nobody subscribes to a closed pool");
      const send = (op: "subscribe" | "unsubscribe", to: ChannelArg): void => {
        one.connection?.send({ op, args: [to] });
      };
      const channel = createSocketChannel({ arg, listener, clock, random, websocket, onAnomaly, send });
      assert(!isTaken(channel.key, login), `${channel.key} is subscribed once`);
      const one: Seat = { channel, login, connection: undefined };
      if (!seat(one)) {
        standing.add(one);
        channel.full(`all ${limits.connectionsPerIp} connections are full`);
      }
      return {
        get state() {
          return channel.state;
        },
        repair: channel.repair,
        close: () => {
          if (!closed) rise(one);
        },
      };
    },
    close: () =>
      new Promise((resolve) => {
        closed = true;
        settle = resolve;
        for (const connection of connections.keys()) {
          connection.close();
          for (const channel of connection.channels.values()) channel.close();
        }
        connections.clear();
        standing.clear();
        if (sockets === 0) resolve();
      }),
    counts: () => ({
      connections: connections.size,
      sockets,
      subscriptions: [...connections.keys()].reduce((total, { channels }) => total + channels.size, 0),
    }),
  };
};
