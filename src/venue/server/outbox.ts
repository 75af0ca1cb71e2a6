/**
 * What leaves one connection, in order, and what spoils it on the way.
 *
 * Invariants: texts leave in the order they were given, faults apart; what waits to leave, here and in the socket, is bounded: a
 * reader that falls behind by more is reported once and nothing is kept for it any more; a fault meets pushes only.
 * Not here: what the texts say (connection.ts), which fault it is (faults.ts).
 */
import type { WebSocket } from "ws";
import type { Clock, Timer } from "../../clock/clock.ts";
import type { SocketFault } from "./faults.ts";

interface Outbox {
  send(text: string): void;
  /** A message of a stream, which a fault may meet. */
  push(stream: string, text: string, fault: SocketFault | undefined): void;
  /** Answers a ping of the protocol. */
  echo(data: Buffer): void;
  /** The stream has ended: a message of it that waits for the next one is dropped. */
  forget(stream: string): void;
  /** Nothing is sent any more, though the connection stays. */
  readonly mute: boolean;
  /** Lets nothing more out and keeps nothing. */
  stop(): void;
}

interface OutboxOptions {
  readonly socket: WebSocket;
  readonly clock: Clock;
  readonly bytesMax: number;
  /** The reader is too slow. */
  readonly overflowed: () => void;
  /** A fault closes the connection. */
  readonly closed: () => void;
  /** A fault makes it half open. */
  readonly muted: () => void;
}

/** Looks like a message that was cut in two. */
const garbage = '{"event":"tra\u0000\u0007\ufffd';

/** What has been said and not left: texts behind a delayed one, then those in the socket. */
interface Line {
  say(text: string): void;
  /** Nothing leaves before `ms` have passed. */
  hold(ms: number): void;
  stop(): void;
  readonly holding: boolean;
  readonly stopped: boolean;
}

const createLine = ({ socket, clock, bytesMax, overflowed }: OutboxOptions, stop: () => void): Line => {
  const held: string[] = [];
  let heldBytes = 0;
  let timer: Timer | undefined;
  let stopped = false;
  const check = (): void => {
    if (socket.bufferedAmount + heldBytes <= bytesMax) return;
    stop();
    overflowed();
  };
  const release = (): void => {
    timer = undefined;
    heldBytes = 0;
    for (const text of held.splice(0)) socket.send(text);
    check();
  };
  return {
    say: (text) => {
      if (stopped) return;
      if (timer === undefined) socket.send(text);
      else {
        held.push(text);
        heldBytes += text.length;
      }
      check();
    },
    hold: (ms) => {
      // A second delay inside the first is part of it: what stands in line cannot stand in line twice.
      timer ??= clock.setTimer(clock.now() + ms, release);
    },
    stop: () => {
      stopped = true;
      timer?.cancel();
      held.length = 0;
    },
    get holding() {
      return timer !== undefined;
    },
    get stopped() {
      return stopped;
    },
  };
};

export const createOutbox = (options: OutboxOptions): Outbox => {
  /** By stream, a text that lets the next one pass. */
  const overtaken = new Map<string, string>();
  let mute = false;
  const stop = (): void => {
    line.stop();
    overtaken.clear();
  };
  const line = createLine(options, stop);
  const sayPast = (stream: string, text: string): void => {
    line.say(text);
    const late = overtaken.get(stream);
    if (late === undefined) return;
    overtaken.delete(stream);
    line.say(late);
  };
  const meet = (stream: string, text: string, { kind, ms }: SocketFault): void => {
    switch (kind) {
      case "delay":
        line.hold(ms);
        sayPast(stream, text);
        break;
      case "gap":
        break;
      case "half_open":
        mute = true;
        stop();
        options.muted();
        break;
      case "close":
        stop();
        options.closed();
        break;
      case "reorder":
        if (overtaken.has(stream)) sayPast(stream, text);
        else overtaken.set(stream, text);
        break;
      case "duplicate":
        sayPast(stream, text);
        line.say(text);
        break;
      case "garbage":
        line.say(garbage);
        break;
    }
  };
  return {
    send: (text) => line.say(text),
    push: (stream, text, fault) => {
      if (line.stopped) return;
      if (fault !== undefined) meet(stream, text, fault);
      else if (overtaken.size === 0) line.say(text);
      else sayPast(stream, text);
    },
    echo: (data) => {
      if (!line.stopped && !line.holding) options.socket.pong(data);
    },
    forget: (stream) => {
      overtaken.delete(stream);
    },
    get mute() {
      return mute;
    },
    stop,
  };
};
