/**
 * One connection and what is subscribed over it: opened, logged in where that is asked for, watched, and opened again.
 *
 * Invariants: at most one socket is used at a time; no attempt is made without leave; silence ends a
 * connection, as a dead one looks the same; the waits between attempts grow, and those after a refused login are long; after
 * `close` no event of an old socket has an effect.
 * Not here: how subscriptions share connections (socket-pool.ts), what one subscription is worth (socket-channel.ts).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import type { LoginArg, SocketRequest } from "../../contract/channels.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Random } from "../../random.ts";
import { type BackoffBounds, backoffMs } from "./backoff.ts";
import { createKeepAlive } from "./keep-alive.ts";
import type { OpenSocket, Socket } from "./socket.ts";
import type { OnAnomaly, SocketChannel } from "./socket-channel.ts";
import { channelKey, type Heard, readMessage } from "./socket-message.ts";

export interface Connection {
  readonly channels: ReadonlyMap<string, SocketChannel>;
  /** Begins to connect; nothing when it has begun. */
  start(): void;
  add(channel: SocketChannel): void;
  remove(channel: SocketChannel): void;
  /** Sends when the connection is up; otherwise what is subscribed then is asked for anyway. */
  send(request: SocketRequest): void;
  readonly up: boolean;
  close(): void;
}

interface ConnectionOptions {
  readonly url: string;
  readonly open: OpenSocket;
  readonly clock: Clock;
  readonly random: Random;
  readonly websocket: Profile["websocket"];
  readonly onAnomaly: OnAnomaly;
  /** Undefined: open now; otherwise the instant to ask again. */
  readonly leave: () => number | undefined;
  /** Called for each login, as each is signed anew. */
  readonly login: (() => LoginArg) | undefined;
  /** A socket was opened (1) or has ended (-1). */
  readonly onSocket: (change: 1 | -1) => void;
}

const lostBounds: BackoffBounds = { baseMs: 1_000, msMax: 30_000, certain: 0 };
/** A key that is wrong stays wrong: asking often only looks like an attack. */
const loginBounds: BackoffBounds = { baseMs: 15_000, msMax: 900_000, certain: 0.5 };
const openMsMax = 15_000;
/** A connection that held so long is a good one: its loss starts with short waits. */
const steadyMs = 30_000;
const failuresSaid = 3;

type Phase = "new" | "waiting" | "opening" | "login" | "up" | "closed";

export const createConnection = (options: ConnectionOptions): Connection => {
  const { url, clock, random, websocket, onAnomaly, leave, login, onSocket } = options;
  const channels = new Map<string, SocketChannel>();
  /** What this connection has been told of; such a channel's numbers go on where they were. */
  const told = new Set<string>();
  let phase: Phase = "new";
  let timer: Timer | undefined;
  let socket: Socket | undefined;
  let upAt = 0;
  let failures = 0;
  let rejections = 0;
  let tries = 0;

  const wait = (at: number, run: () => void): void => {
    timer?.cancel();
    timer = clock.setTimer(at, run);
  };
  const say = (request: SocketRequest): void => {
    socket?.send(JSON.stringify(request));
  };
  const pulse = createKeepAlive({
    clock,
    silenceMsMax: websocket.silenceMsMax,
    ask: () => {
      socket?.send("ping");
    },
    dead: (reason) => {
      drop(reason);
    },
  });
  const connect = (): void => {
    const until = leave();
    if (until !== undefined) {
      wait(Math.max(until, clock.now() + 1), connect);
      return;
    }
    phase = "opening";
    onSocket(1);
    const current = (run: () => void): void => {
      if (socket === mine) run();
    };
    const mine = options.open(url, {
      opened: () => {
        current(opened);
      },
      text: (text) => {
        current(() => {
          heard(readMessage(text));
        });
      },
      closed: (reason) => {
        onSocket(-1);
        current(() => {
          drop(reason);
        });
      },
    });
    socket = mine;
    wait(clock.now() + openMsMax, () => {
      drop(`not open within ${openMsMax} ms`);
    });
  };
  const opened = (): void => {
    if (login === undefined) {
      begin();
      return;
    }
    phase = "login";
    wait(clock.now() + websocket.ackMsMax, () => {
      drop(`the login was not answered within ${websocket.ackMsMax} ms`);
    });
    say({ op: "login", args: [login()] });
  };
  const begin = (): void => {
    phase = "up";
    upAt = clock.now();
    failures = 0;
    rejections = 0;
    // From here on the pulse is the timer.
    timer?.cancel();
    pulse.start();
    subscribe([...channels.values()]);
  };
  const subscribe = (wanted: readonly SocketChannel[]): void => {
    if (wanted.length === 0) return;
    for (const channel of wanted) {
      channel.asked(!told.has(channel.key));
      told.add(channel.key);
    }
    say({ op: "subscribe", args: wanted.map(({ arg }) => arg) });
  };

  const heard = (message: Heard): void => {
    pulse.heard();
    switch (message.kind) {
      case "push":
        channelOf(message.push.arg)?.push(message.push);
        return;
      case "subscribed":
        channels.get(channelKey(message.arg))?.acknowledged();
        return;
      case "login":
        if (phase === "login") answered(message.refused);
        return;
      case "error":
        if (phase === "login") answered(message.reason);
        else refused(message);
        return;
      case "ping":
        say({ op: "pong" });
        return;
      case "malformed":
        onAnomaly("message.malformed", message.problem);
        return;
      case "unsubscribed":
      case "pong":
        return;
    }
  };
  /** A channel of all products may be told by product. */
  const channelOf = (arg: { readonly channel: string; readonly instId?: string }): SocketChannel | undefined =>
    channels.get(channelKey(arg)) ?? channels.get(arg.channel);
  const refused = ({ arg, reason }: Extract<Heard, { kind: "error" }>): void => {
    const channel = arg && channels.get(channelKey(arg));
    if (channel !== undefined && channel.state !== "live") channel.refuse(reason);
    else onAnomaly("socket.error", reason);
  };
  const answered = (problem: string | undefined): void => {
    if (problem === undefined) {
      begin();
      return;
    }
    rejections++;
    if (rejections === 1) onAnomaly("login.refused", `${problem}; orders are polled, and the login is tried again after long pauses`);
    leaveSocket(`the login was refused: ${problem}`);
    pause(backoffMs(loginBounds, rejections - 1, random));
  };

  /** A listener that was told of the loss may have closed the connection. */
  const pause = (ms: number): void => {
    if (phase !== "closed") wait(clock.now() + ms, connect);
  };
  /** Turns away from the socket, whatever it may still tell. */
  const leaveSocket = (reason: string): void => {
    const old = socket;
    socket = undefined;
    timer?.cancel();
    timer = undefined;
    pulse.stop();
    phase = "waiting";
    told.clear();
    old?.close();
    for (const channel of channels.values()) channel.lost(reason);
  };
  const drop = (reason: string): void => {
    const wasUp = phase === "up";
    leaveSocket(reason);
    if (wasUp) {
      onAnomaly("socket.lost", reason);
      if (clock.now() - upAt >= steadyMs) tries = 0;
    } else {
      failures++;
      if (failures === failuresSaid) onAnomaly("socket.unreachable", `${url} failed ${failures} times: ${reason}; it is tried again`);
    }
    pause(backoffMs(lostBounds, tries, random));
    tries++;
  };
  return {
    channels,
    get up() {
      return phase === "up";
    },
    start: () => {
      if (phase !== "new") return;
      phase = "waiting";
      connect();
    },
    add: (channel) => {
      channels.set(channel.key, channel);
      if (phase === "up") subscribe([channel]);
    },
    remove: (channel) => {
      channels.delete(channel.key);
      if (phase === "up" && channel.state !== "refused") say({ op: "unsubscribe", args: [channel.arg] });
      channel.close();
    },
    send: (request) => {
      if (phase === "up") say(request);
    },
    close: () => {
      leaveSocket("closed by us");
      phase = "closed";
    },
  };
};
