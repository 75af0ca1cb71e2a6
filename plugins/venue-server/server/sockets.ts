/**
 * Opens WebSocket connections on the service's HTTP server, as many as an address may have.
 *
 * Invariants: an upgrade counts as a request of its address, before any other check; one that is refused gets an HTTP
 * answer and its socket is closed; frames are never compressed and never longer than the bound; after `close` no
 * socket, timer or listener is left.
 * Not here: messages of a connection (connection.ts).
 */
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { websocketLimits } from "sluice/dialect";
import { venueAnswers } from "sluice/extension";
import { WebSocketServer } from "ws";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { PrivateChannels } from "./private-channels.ts";

interface SocketsOptions extends Omit<ConnectionOptions, "path" | "privateBoard" | "backlogBytesMax"> {
  /** Unsent bytes of one connection after which it is closed. Default 4 MiB. */
  readonly backlogBytesMax?: number;
  /** The address that limits count; the connection's when left out. */
  readonly ipOf?: (request: IncomingMessage) => string;
}

interface Sockets {
  close(): Promise<void>;
  /** Connections that are open. */
  readonly count: number;
}

/** A request of many subscriptions is a few kilobytes. */
const payloadBytesMax = 65_536;
const backlogBytesDefault = 4 * 1_048_576;
/** Longest wait for a client's answer to a close message. */
const goodbyeMsMax = 2_000;

const frames = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: payloadBytesMax,
  // A half-open connection must not answer pings either.
  autoPong: false,
  closeTimeout: goodbyeMsMax,
} as const;

export const attachSockets = (server: Server, options: SocketsOptions): Sockets => {
  const { venue, contract, faults, speech, ipOf = addressOf } = options;
  const privateBoard = new PrivateChannels(venue, contract);
  const opened = new WebSocketServer(frames);
  const connections = new Set<Connection>();
  const perAddress = new Map<string, number>();
  let emptied = (): void => undefined;

  const refusalOf = (request: IncomingMessage, address: string): venueAnswers.Answer | undefined => {
    const { profile } = contract;
    if (!venue.knock(address, faults.clock.now())) return venueAnswers.limited(profile);
    if (!speech.socketPaths.includes(pathOf(request))) return venueAnswers.unknownPath(profile);
    return (perAddress.get(address) ?? 0) >= websocketLimits.connectionsPerIp
      ? venueAnswers.limited(profile)
      : undefined;
  };
  const upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    stream.on("error", () => undefined);
    const address = ipOf(request);
    const refusal = refusalOf(request, address);
    if (refusal !== undefined) {
      refuse(stream, refusal);
      return;
    }
    opened.handleUpgrade(request, stream, head, (socket) => {
      perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
      const connection = new Connection(socket, {
        ...options,
        path: pathOf(request),
        privateBoard,
        backlogBytesMax: options.backlogBytesMax ?? backlogBytesDefault,
      });
      connections.add(connection);
      socket.on("close", () => {
        connections.delete(connection);
        const left = (perAddress.get(address) ?? 1) - 1;
        if (left > 0) perAddress.set(address, left);
        else perAddress.delete(address);
        if (connections.size === 0) emptied();
      });
    });
  };
  server.on("upgrade", upgrade);
  return {
    close: async () => {
      server.off("upgrade", upgrade);
      privateBoard.stop();
      if (connections.size === 0) return;
      const empty = new Promise<void>((resolve) => {
        emptied = resolve;
      });
      for (const connection of connections) connection.close();
      await empty;
    },
    get count() {
      return connections.size;
    },
  };
};

const pathOf = ({ url = "" }: IncomingMessage): string => url.split("?", 1)[0] ?? "";

/** Returns the address of a client in one spelling, for IPv4 and mapped IPv6. */
export const addressOf = ({ socket }: IncomingMessage): string => (socket.remoteAddress ?? "").replace(/^::ffff:/, "");

const refuse = (stream: Duplex, { status, body }: venueAnswers.Answer): void => {
  const text = JSON.stringify(body);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}`;
  stream.end(`${head}\r\n\r\n${text}`, () => {
    stream.destroy();
  });
};
