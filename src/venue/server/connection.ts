/**
 * One connection: answers what a client says, and ends it when it must.
 *
 * Invariants: every request is answered, each argument on its own; a client that says nothing for too long, talks nonsense too
 * often or reads too slowly is closed with the reason; after its end no timer and no listener of it is left.
 * Not here: how it was opened (sockets.ts), what may be listened to (subscriptions.ts), what leaves when (outbox.ts).
 */
import type { WebSocket } from "ws";
import type { Clock } from "../../clock/clock.ts";
import type { LoginArg, SocketMessage } from "../../contract/channels.ts";
import type { Contract } from "../../contract/contract.ts";
import type { Refusal } from "../responses.ts";
import type { Venue } from "../venue.ts";
import type { Faults } from "./faults.ts";
import type { KeyProblem, Keyring, ServerKey } from "./keyring.ts";
import { createOutbox } from "./outbox.ts";
import { type ReadRequest, readRequest } from "./parse-message.ts";
import type { PrivateChannels } from "./private-channels.ts";
import type { OpenPublicChannels } from "./public-channels.ts";
import { createHeartbeat } from "./socket-heartbeat.ts";
import { createSubscriptions, type SubscriptionAnswer, type Subscriptions } from "./subscriptions.ts";

export interface ConnectionOptions {
  readonly contract: Contract;
  readonly venue: Venue;
  readonly clock: Clock;
  readonly keyring: Pick<Keyring, "login">;
  readonly faults: Pick<Faults, "clock" | "socket">;
  readonly board: OpenPublicChannels;
  readonly privateBoard: PrivateChannels;
  /** Unsent bytes after which a reader counts as too slow. */
  readonly backlogBytesMax: number;
}

export interface Connection {
  /** Says goodbye and ends it, whoever listens. */
  close(): void;
}

/** Messages that are no request, forgiven so many times. */
const nonsenseMax = 20;

/** Close codes of the protocol. */
const codes = { leaving: 1001, refused: 1008, restarting: 1012 } as const;

type Unstamped<M> = M extends unknown ? Omit<M, "ts"> : never;
type Say = (message: Unstamped<SocketMessage>) => void;
type End = (code: number, reason: string) => void;

export const openConnection = (socket: WebSocket, options: ConnectionOptions): Connection => {
  const { contract, clock, faults, backlogBytesMax } = options;
  const { pingMs, silenceMsMax } = contract.profile.websocket;
  let ended = false;
  const stamp = (): number => Math.floor(faults.clock.wallNow());
  const say: Say = (message) => {
    outbox.send(JSON.stringify({ ...message, ts: stamp() }));
  };
  const leave = (): void => {
    ended = true;
    heartbeat.stop();
    subscriptions.clear();
    outbox.stop();
  };
  const end: End = (code, reason) => {
    if (ended) return;
    leave();
    socket.close(code, reason);
  };

  const outbox = createOutbox({
    socket,
    clock,
    bytesMax: backlogBytesMax,
    overflowed: () => end(codes.refused, `too slow: more than ${backlogBytesMax} bytes are unread`),
    closed: () => end(codes.restarting, "the service restarts"),
    // Whoever plays dead does not hang up either.
    muted: () => heartbeat.stop(),
  });
  const subscriptions = createSubscriptions({
    ...options,
    push: (arg, stream, head, tail) => {
      // A fault that is drawn is used up, so none is drawn for a connection that is past hearing.
      if (!ended && !outbox.mute) outbox.push(stream, `${head},"ts":${stamp()}${tail}}`, faults.socket(arg.channel));
    },
    ended: (stream) => outbox.forget(stream),
  });
  const heartbeat = createHeartbeat(clock, {
    pingMs,
    silenceMsMax,
    ask: () => say({ event: "ping" }),
    silent: () => end(codes.refused, `nothing was heard for ${silenceMsMax} ms`),
  });
  const obey = obedience(options, subscriptions, say, end);

  socket.on("message", (data, isBinary) => {
    if (ended || outbox.mute) return;
    heartbeat.heard();
    const request = readRequest(data, isBinary);
    if (request.op === "ping") outbox.send("pong");
    else obey(request);
  });
  socket.on("ping", (data) => {
    heartbeat.heard();
    outbox.echo(data);
  });
  socket.on("close", leave);
  // What is wrong with a frame closes the socket by itself; there is nothing to add.
  socket.on("error", () => undefined);
  return {
    close: () => {
      end(codes.leaving, "the service is closing");
      socket.terminate();
    },
  };
};

const loginProblems: Readonly<Record<KeyProblem, string>> = {
  unknown_key: "The API key is missing or unknown.",
  signature: "The signature does not match.",
  timestamp: "The timestamp is not of the right form or too far from now.",
  passphrase: "The passphrase does not match.",
};

/** What is done about requests; it knows who has logged in. */
const obedience = ({ contract, keyring, faults }: ConnectionOptions, subscriptions: Subscriptions, say: Say, end: End) => {
  const { authCode, badRequestCode } = contract.profile.answers;
  let key: ServerKey | undefined;
  let nonsense = 0;
  const refuse = ({ code, msg }: Refusal, arg?: SubscriptionAnswer["arg"]): void => {
    say({ event: "error", code, msg, ...(arg === undefined ? {} : { arg }) });
  };
  const answer = (op: "subscribe" | "unsubscribe", given: unknown): void => {
    const { arg, refusal, begin } = op === "subscribe" ? subscriptions.subscribe(given, key) : subscriptions.unsubscribe(given);
    if (refusal !== undefined) refuse(refusal, arg);
    else if (arg !== undefined) say({ event: op, arg });
    begin?.();
  };
  const login = (arg: LoginArg): void => {
    const check = key === undefined ? keyring.login(arg, faults.clock.wallNow()) : undefined;
    if (check === undefined) refuse({ code: badRequestCode, msg: "This connection is logged in already." });
    else if (!check.ok) refuse({ code: authCode, msg: loginProblems[check.problem] });
    else {
      key = check.key;
      say({ event: "login", code: "0" });
    }
  };
  return (request: ReadRequest): void => {
    switch (request.op) {
      case "subscribe":
      case "unsubscribe":
        for (const arg of request.args) answer(request.op, arg);
        break;
      case "login":
        login(request.arg);
        break;
      case "nonsense":
        refuse({ code: badRequestCode, msg: request.msg });
        if (++nonsense > nonsenseMax) end(codes.refused, `more than ${nonsenseMax} messages were no requests`);
        break;
      case "ping":
      case "pong":
        break;
    }
  };
};
