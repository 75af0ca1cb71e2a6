/**
 * WebSocket with three events: opened, text, closed.
 *
 * Invariants: `closed` is called exactly once, also after `close()`; no event is emitted before `openWebSocket` has
 * returned or after `closed`; a certificate is always verified; no reconnection, no redirect, no decompression; a
 * message or a backlog beyond its limit closes the socket; the wait for the other side's close frame is short.
 * Not here: when to connect, and the messages (socket-connection.ts).
 */
import { WebSocket } from "ws";
import { socketAgentOf } from "./proxy.ts";

interface SocketEvents {
  opened(): void;
  text(message: string): void;
  /** The socket is closed, for `reason`. */
  closed(reason: string): void;
}

export interface Socket {
  /** Sends, or does nothing when the socket is not open. */
  send(text: string): void;
  close(): void;
}

export type OpenSocket = (url: string, events: SocketEvents) => Socket;

/** A whole book of many levels is far smaller. */
const payloadBytesMax = 1_048_576;
/** Our messages are small; a backlog of this size means that the other side does not read. */
const backlogBytesMax = 262_144;
const handshakeMsMax = 10_000;
const closeMsMax = 500;

const options = {
  maxPayload: payloadBytesMax,
  perMessageDeflate: false,
  followRedirects: false,
  handshakeTimeout: handshakeMsMax,
  closeTimeout: closeMsMax,
  // Independent of environment variables, because a login is sent over it.
  rejectUnauthorized: true,
} as const;

/** A socket over `ws`. */
export const openWebSocket: OpenSocket = (url, events) => {
  const agent = socketAgentOf(url);
  const socket = new WebSocket(url, agent === undefined ? options : { ...options, agent });
  const state = { reason: "", leaving: false };
  socket.on("open", () => {
    if (!state.leaving) events.opened();
  });
  // Binary frames are read as text; the parser decides.
  socket.on("message", (data) => {
    if (!state.leaving) events.text(textOf(data));
  });
  socket.on("error", (error) => {
    state.reason ||= error.message;
  });
  socket.on("close", (code, reason) => {
    events.closed(state.reason || reason.toString() || `code ${code}`);
  });
  const leave = (reason: string): void => {
    state.leaving = true;
    state.reason ||= reason;
  };
  return {
    send: (text) => {
      if (socket.readyState !== WebSocket.OPEN || state.leaving) return;
      if (socket.bufferedAmount > backlogBytesMax) {
        leave(`more than ${backlogBytesMax} bytes were waiting to be sent`);
        socket.terminate();
        return;
      }
      socket.send(text);
    },
    close: () => {
      leave("closed by us");
      socket.close(1000);
    },
  };
};

const textOf = (data: Buffer | ArrayBuffer | Buffer[]): string => {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return data instanceof ArrayBuffer ? Buffer.from(data).toString() : data.toString();
};
