/**
 * WebSocket connection and its channels: connects, logs in where needed, monitors silence, and reconnects.
 *
 * Invariants: at most one socket is in use; each attempt needs a granted charge; silence ends a connection, because a
 * dead one looks the same; the waits between attempts grow, and are long after a refused login; after `close` no event
 * of an old socket has an effect.
 * Not here: how subscriptions share connections (socket-pool.ts), the state of a subscription (socket-channel.ts).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import type { SocketRequest } from "../../contract/channels.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Random } from "../../random.ts";
import { type BackoffBounds, backoffMs } from "./backoff.ts";
import type { WholeDialect } from "./dialect.ts";
import { KeepAlive } from "./keep-alive.ts";
import { type Redact, redactedJson } from "./redaction.ts";
import { proofsIn } from "./sign.ts";
import type { OpenSocket, Socket } from "./socket.ts";
import type { OnAnomaly, SocketChannel } from "./socket-channel.ts";
import { channelKey, type ParsedMessage } from "./socket-message.ts";

interface ConnectionOptions {
  readonly url: string;
  readonly open: OpenSocket;
  readonly clock: Clock;
  readonly random: Random;
  readonly websocket: Profile["websocket"];
  /** Encodes requests and parses texts. */
  readonly dialect: Pick<WholeDialect, "say" | "hear" | "sockets">;
  readonly onAnomaly: OnAnomaly;
  /** Undefined if a socket may be opened now, otherwise the instant to ask again. */
  readonly leave: () => number | undefined;
  /** Called for each login, as each is signed again. */
  readonly login: (() => Readonly<Record<string, string>>) | undefined;
  /** Removes secrets from messages of the other side. */
  readonly redact?: Redact;
  /** A socket was opened (1) or has ended (-1). */
  readonly onSocket: (change: 1 | -1) => void;
}

const lostBounds: BackoffBounds = { baseMs: 1_000, msMax: 30_000, certain: 0 };
/** A wrong key stays wrong, and frequent attempts look like an attack. */
const loginBounds: BackoffBounds = { baseMs: 15_000, msMax: 900_000, certain: 0.5 };
const openMsMax = 15_000;
/** A connection that lasted this long counts as good: after its loss the waits begin short. */
const steadyMs = 30_000;
const failuresSaid = 3;

type Phase = "new" | "waiting" | "opening" | "login" | "up" | "closed";

export class SocketConnection {
  readonly #options: ConnectionOptions;
  readonly #channels = new Map<string, SocketChannel>();
  /** Channels subscribed on this socket before; their sequence numbers continue. */
  readonly #subscribed = new Set<string>();
  readonly #keepAlive: KeepAlive;
  #phase: Phase = "new";
  #timer: Timer | undefined;
  #socket: Socket | undefined;
  #upAt = 0;
  #failures = 0;
  #rejections = 0;
  #tries = 0;
  /** Signature and the like of the last login. */
  #proofs: readonly string[] = [];

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#keepAlive = new KeepAlive({
      clock: options.clock,
      silenceMsMax: options.websocket.silenceMsMax,
      everyMs: options.dialect.sockets.pingEveryMs,
      ask: () => this.#socket?.send("ping"),
      dead: (reason) => this.#drop(reason),
    });
  }

  get channels(): ReadonlyMap<string, SocketChannel> {
    return this.#channels;
  }

  /** Begins to connect. Has no effect if it has begun. */
  start(): void {
    if (this.#phase !== "new") return;
    this.#phase = "waiting";
    this.#connect();
  }

  add(channel: SocketChannel): void {
    this.#channels.set(channel.key, channel);
    if (this.#phase === "up") this.#subscribe([channel]);
  }

  remove(channel: SocketChannel): void {
    this.#channels.delete(channel.key);
    if (channel.isRequested) this.send({ op: "unsubscribe", args: [channel.arg] });
    channel.close();
  }

  /** Sends if the connection is up; otherwise every channel is subscribed when it comes up. */
  send(request: SocketRequest): void {
    if (this.#phase === "up") this.#say(request);
  }

  close(): void {
    this.#leaveSocket("closed by us");
    this.#phase = "closed";
  }

  #connect(): void {
    const { url, clock, open, leave, onSocket } = this.#options;
    const until = leave();
    if (until !== undefined) {
      this.#wait(Math.max(until, clock.now() + 1), () => this.#connect());
      return;
    }
    this.#phase = "opening";
    onSocket(1);
    const socket = open(url, {
      opened: () => {
        if (this.#socket === socket) this.#opened();
      },
      text: (text) => {
        if (this.#socket === socket) this.#text(text);
      },
      closed: (reason) => {
        onSocket(-1);
        if (this.#socket === socket) this.#drop(reason);
      },
    });
    this.#socket = socket;
    this.#wait(clock.now() + openMsMax, () => this.#drop(`not open within ${openMsMax} ms`));
  }

  #opened(): void {
    const { clock, login, websocket } = this.#options;
    if (login === undefined) {
      this.#begin();
      return;
    }
    this.#phase = "login";
    this.#wait(clock.now() + websocket.ackMsMax, () =>
      this.#drop(`the login was not answered within ${websocket.ackMsMax} ms`),
    );
    const arg = login();
    this.#proofs = proofsIn(arg);
    this.#say({ op: "login", args: [arg] });
  }

  #begin(): void {
    this.#phase = "up";
    this.#upAt = this.#options.clock.now();
    this.#failures = 0;
    this.#rejections = 0;
    // From here on the timer belongs to the keep-alive.
    this.#timer?.cancel();
    this.#keepAlive.start();
    this.#subscribe([...this.#channels.values()]);
  }

  #subscribe(wanted: readonly SocketChannel[]): void {
    if (wanted.length === 0) return;
    for (const channel of wanted) {
      channel.asked(!this.#subscribed.has(channel.key));
      this.#subscribed.add(channel.key);
    }
    this.#say({ op: "subscribe", args: wanted.map(({ arg }) => arg) });
  }

  #text(text: string): void {
    this.#keepAlive.received();
    const socket = this.#socket;
    // A message may end the connection.
    for (const message of this.#read(text)) if (this.#socket === socket) this.#receive(message);
  }

  /** Market data holds no text that is shown, and comes often: it is not searched for secrets. */
  #read(text: string): readonly ParsedMessage[] {
    const { dialect, login, redact } = this.#options;
    const messages = dialect.hear(text);
    if (redact === undefined) return messages;
    if (messages.every(({ kind }) => kind === "push"))
      return login === undefined ? messages : redact(messages, this.#proofs);
    // Other messages contain shortened texts, in which a part of a secret would not be found.
    const clean = redactedJson(text, redact, this.#proofs);
    return clean === text ? messages : dialect.hear(clean);
  }

  #receive(message: ParsedMessage): void {
    switch (message.kind) {
      case "push": {
        const { arg } = message.push;
        // A channel for all products may push by product.
        (this.#channels.get(channelKey(arg)) ?? this.#channels.get(arg.channel))?.push(message.push);
        return;
      }
      case "subscribed":
        this.#channels.get(channelKey(message.arg))?.acknowledged();
        return;
      case "login":
        if (this.#phase === "login") this.#answered(message.refused);
        return;
      case "error":
        if (this.#phase === "login") this.#answered(message.reason);
        else this.#refused(message);
        return;
      case "ping":
        this.#say({ op: "pong" });
        return;
      case "malformed":
        this.#options.onAnomaly("message.malformed", message.problem);
        return;
      case "unsubscribed":
        this.#channels.get(channelKey(message.arg))?.unsubscribed();
        return;
      case "pong":
        return;
    }
  }

  #refused({ arg, reason }: Extract<ParsedMessage, { kind: "error" }>): void {
    const channel = arg && this.#channels.get(channelKey(arg));
    if (channel !== undefined && channel.state !== "live") channel.refused(reason);
    else this.#options.onAnomaly("socket.error", reason);
  }

  /** Called when the login was answered. */
  #answered(problem: string | undefined): void {
    if (problem === undefined) {
      this.#begin();
      return;
    }
    const { onAnomaly, random } = this.#options;
    this.#rejections++;
    if (this.#rejections === 1)
      onAnomaly("login.refused", `${problem}; orders are polled, and the login is tried again after long pauses`);
    this.#leaveSocket(`the login was refused: ${problem}`);
    this.#pause(backoffMs(loginBounds, this.#rejections - 1, random));
  }

  /** A listener that was notified of the loss may have closed the connection. */
  #pause(ms: number): void {
    if (this.#phase !== "closed") this.#wait(this.#options.clock.now() + ms, () => this.#connect());
  }

  /** Detaches from the socket and ignores its later events. */
  #leaveSocket(reason: string): void {
    const old = this.#socket;
    this.#socket = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#keepAlive.stop();
    this.#phase = "waiting";
    this.#subscribed.clear();
    old?.close();
    for (const channel of this.#channels.values()) channel.lost(reason);
  }

  #drop(why: string): void {
    const { url, clock, random, onAnomaly, redact } = this.#options;
    const reason = redact?.(why, this.#proofs) ?? why;
    const wasUp = this.#phase === "up";
    this.#leaveSocket(reason);
    if (wasUp) {
      onAnomaly("socket.lost", reason);
      if (clock.now() - this.#upAt >= steadyMs) this.#tries = 0;
    } else {
      this.#failures++;
      const times = this.#failures;
      if (times === failuresSaid)
        onAnomaly("socket.unreachable", `${url} failed ${times} times: ${reason}; it is tried again`);
    }
    this.#pause(backoffMs(lostBounds, this.#tries, random));
    this.#tries++;
  }

  #wait(at: number, run: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.setTimer(at, run);
  }

  #say(request: SocketRequest): void {
    for (const text of this.#options.dialect.say(request)) this.#socket?.send(text);
  }
}
