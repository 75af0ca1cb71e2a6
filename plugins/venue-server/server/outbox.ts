/**
 * Outgoing messages of one connection, in order, and the faults that meet them.
 *
 * Invariants: texts leave in the order they were given, faults apart; waiting output, here and in the socket, is
 * bounded: a reader that falls behind by more is reported once and nothing more is kept for it; faults affect pushes
 * only.
 * Not here: the texts (connection.ts), the choice of faults (faults.ts).
 */

import type { Clock, Timer } from "sluice/extension";
import type { WebSocket } from "ws";
import type { SocketFault } from "./faults.ts";

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

export class Outbox {
  readonly #options: OutboxOptions;
  /** Texts behind a delayed one. */
  readonly #held: string[] = [];
  #heldBytes = 0;
  #timer: Timer | undefined;
  /** By stream, a text that lets the next one pass. */
  readonly #overtaken = new Map<string, string>();
  #stopped = false;
  #mute = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Nothing is sent any more, though the connection stays. */
  get mute(): boolean {
    return this.#mute;
  }

  send(text: string): void {
    if (this.#stopped) return;
    if (this.#timer === undefined) this.#options.socket.send(text);
    else {
      this.#held.push(text);
      this.#heldBytes += text.length;
    }
    this.#check();
  }

  /** A message of a stream, which a fault may meet. */
  push(stream: string, text: string, fault: SocketFault | undefined): void {
    if (this.#stopped) return;
    if (fault !== undefined) this.#meet(stream, text, fault);
    else if (this.#overtaken.size === 0) this.send(text);
    else this.#sendPast(stream, text);
  }

  /** Answers a ping of the protocol. */
  echo(data: Buffer): void {
    if (!this.#stopped && this.#timer === undefined) this.#options.socket.pong(data);
  }

  /** The stream has ended: a message of it that waits for the next one is dropped. */
  forget(stream: string): void {
    this.#overtaken.delete(stream);
  }

  /** Lets nothing more out and keeps nothing. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#held.length = 0;
    this.#overtaken.clear();
  }

  #check(): void {
    if (this.#options.socket.bufferedAmount + this.#heldBytes <= this.#options.bytesMax) return;
    this.stop();
    this.#options.overflowed();
  }

  #release(): void {
    this.#timer = undefined;
    this.#heldBytes = 0;
    for (const text of this.#held.splice(0)) this.#options.socket.send(text);
    this.#check();
  }

  #sendPast(stream: string, text: string): void {
    this.send(text);
    const late = this.#overtaken.get(stream);
    if (late === undefined) return;
    this.#overtaken.delete(stream);
    this.send(late);
  }

  #meet(stream: string, text: string, { kind, ms }: SocketFault): void {
    const { clock, muted, closed } = this.#options;
    switch (kind) {
      case "delay":
        // A second delay inside the first is part of it: what waits in line cannot wait in line twice.
        this.#timer ??= clock.setTimer(clock.now() + ms, () => this.#release());
        this.#sendPast(stream, text);
        break;
      case "gap":
        break;
      case "half_open":
        this.#mute = true;
        this.stop();
        muted();
        break;
      case "close":
        this.stop();
        closed();
        break;
      case "reorder":
        if (this.#overtaken.has(stream)) this.#sendPast(stream, text);
        else this.#overtaken.set(stream, text);
        break;
      case "duplicate":
        this.#sendPast(stream, text);
        this.send(text);
        break;
      case "garbage":
        this.send(garbage);
        break;
    }
  }
}
