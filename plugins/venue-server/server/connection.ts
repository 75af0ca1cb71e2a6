/**
 * One connection: answers the client's messages, and closes the connection when necessary.
 *
 * Invariants: every request is answered, each argument on its own; a client that is silent for too long, sends too many
 * invalid messages or reads too slowly is disconnected with the reason; after the end no timer and no listener of the
 * connection is left.
 * Not here: opening (sockets.ts), subscriptions (subscriptions.ts), the order of output (outbox.ts).
 */

import type { Venue } from "sluice/backtest";
import type { Contract } from "sluice/dialect";
import type { Clock, venueAnswers } from "sluice/extension";
import type { WebSocket } from "ws";
import type { Faults } from "./faults.ts";
import type { Keyring, ServerKey } from "./keyring.ts";
import { Outbox } from "./outbox.ts";
import { nonsense, textOf } from "./parse-message.ts";
import type { PrivateChannels } from "./private-channels.ts";
import type { PublicChannels } from "./public-channels.ts";
import type { Claim, Reply, Speech } from "./served-dialect.ts";
import { SocketHeartbeat } from "./socket-heartbeat.ts";
import { type SubscriptionAnswer, Subscriptions } from "./subscriptions.ts";

export interface ConnectionOptions {
  readonly contract: Contract;
  readonly venue: Venue;
  readonly clock: Clock;
  readonly keyring: Pick<Keyring, "check">;
  readonly speech: Speech;
  /** Path at which it was opened. */
  readonly path: string;
  readonly faults: Pick<Faults, "clock" | "socket">;
  readonly board: PublicChannels;
  readonly privateBoard: PrivateChannels;
  /** Unsent bytes after which a reader counts as too slow. */
  readonly backlogBytesMax: number;
}

/** Number of invalid messages that are tolerated. */
const nonsenseMax = 20;

/** Close codes of the protocol. */
const codes = { leaving: 1001, refused: 1008, restarting: 1012 } as const;

export class Connection {
  readonly #socket: WebSocket;
  readonly #options: ConnectionOptions;
  readonly #outbox: Outbox;
  readonly #subscriptions: Subscriptions;
  readonly #heartbeat: SocketHeartbeat;
  /** Key of the login, if any. */
  #key: ServerKey | undefined;
  #nonsense = 0;
  #ended = false;

  constructor(socket: WebSocket, options: ConnectionOptions) {
    const { contract, clock, faults, speech, backlogBytesMax: bytesMax } = options;
    const { pingMs, silenceMsMax } = contract.profile.websocket;
    this.#socket = socket;
    this.#options = options;
    this.#outbox = new Outbox({
      socket,
      clock,
      bytesMax,
      overflowed: () => this.#end(codes.refused, `too slow: more than ${bytesMax} bytes are unread`),
      closed: () => this.#end(codes.restarting, "the service restarts"),
      // A half-open connection does not hang up either.
      muted: () => this.#heartbeat.stop(),
    });
    this.#subscriptions = new Subscriptions({
      ...options,
      push: (arg, stream, write) => {
        // A fault that is drawn is used up, so none is drawn for a connection that is past hearing.
        if (this.#ended || this.#outbox.mute) return;
        const text = write(this.#stamp());
        if (text === undefined) return;
        this.#outbox.push(stream, text, faults.socket(arg.channel));
        if (speech.heartbeat.sendingCounts) this.#heartbeat.heard();
      },
      ended: (stream) => this.#outbox.forget(stream),
    });
    this.#heartbeat = new SocketHeartbeat(clock, {
      pingMs: speech.heartbeat.pings ? pingMs : Number.POSITIVE_INFINITY,
      silenceMsMax,
      ping: () => this.#say({ event: "ping" }),
      silent: () => this.#end(codes.refused, `nothing was received for ${silenceMsMax} ms`),
    });
    this.#listen();
  }

  /** Sends a close message and ends the connection. */
  close(): void {
    this.#end(codes.leaving, "the service is closing");
    this.#socket.terminate();
  }

  #listen(): void {
    const socket = this.#socket;
    const { speech } = this.#options;
    socket.on("message", (data, isBinary) => {
      if (this.#ended || this.#outbox.mute) return;
      this.#heartbeat.heard();
      this.#obey(isBinary ? nonsense("Messages are text.") : speech.hear(textOf(data)));
    });
    socket.on("ping", (data) => {
      this.#heartbeat.heard();
      this.#outbox.echo(data);
    });
    socket.on("close", () => this.#leave());
    // An invalid frame closes the socket; nothing else is to be done.
    socket.on("error", () => undefined);
  }

  #stamp(): number {
    return Math.floor(this.#options.faults.clock.wallNow());
  }

  #say(reply: Reply): void {
    this.#outbox.send(this.#options.speech.say(reply, this.#stamp()));
  }

  #refuse({ code, msg }: venueAnswers.Refusal, arg?: SubscriptionAnswer["arg"]): void {
    this.#say({ event: "error", code, msg, ...(arg === undefined ? {} : { arg }) });
  }

  #leave(): void {
    this.#ended = true;
    this.#heartbeat.stop();
    this.#subscriptions.clear();
    this.#outbox.stop();
  }

  #end(code: number, reason: string): void {
    if (this.#ended) return;
    this.#leave();
    this.#socket.close(code, reason);
  }

  #obey(request: ReturnType<Speech["hear"]>): void {
    switch (request.op) {
      case "ping":
        this.#outbox.send("pong");
        break;
      case "pong":
        break;
      case "subscribe":
      case "unsubscribe":
        for (const arg of request.args) this.#change(request.op, arg);
        break;
      case "login":
        this.#login(request.claim);
        break;
      case "nonsense":
        this.#refuse({ code: this.#options.contract.profile.answers.badRequestCode, msg: request.msg });
        if (++this.#nonsense > nonsenseMax)
          this.#end(codes.refused, `more than ${nonsenseMax} messages were no requests`);
        break;
    }
  }

  #change(op: "subscribe" | "unsubscribe", given: unknown): void {
    const { arg, refusal, begin } =
      op === "subscribe" ? this.#subscriptions.subscribe(given, this.#key) : this.#subscriptions.unsubscribe(given);
    if (refusal !== undefined) this.#refuse(refusal, arg);
    else if (arg !== undefined) this.#say({ event: op, arg });
    begin?.();
  }

  #login(claim: Claim): void {
    const { contract, keyring, faults, speech } = this.#options;
    const { badRequestCode } = contract.profile.answers;
    const check = this.#key === undefined ? keyring.check(claim, faults.clock.wallNow()) : undefined;
    if (check === undefined) this.#refuse({ code: badRequestCode, msg: "This connection is logged in already." });
    else if (!check.ok) this.#refuse(speech.keyRefusal(check.problem, "login"));
    else {
      this.#key = check.key;
      this.#say({ event: "login", code: "0" });
    }
  }
}
