/**
 * The connections of one transport: kept open between requests, bounded, counted, and closed to the last one.
 *
 * Invariants: bytes that arrive while nobody has asked end their connection, so that they are never read as the answer to the
 * next request; certificates are always verified, whatever the environment says.
 * Not here: requests (http.ts).
 */
import { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import type { Duplex } from "node:stream";
import type { Origin } from "./base-url.ts";

interface Connections {
  readonly agent: Agent;
  readonly open: () => number;
  /** Ends every connection and resolves when none is left. */
  close(): Promise<void>;
}

/** Idle connections are given up before servers usually do: a request that meets a closing one is an unknown outcome. */
const idleMs = 4_000;
const idleMax = 8;

const endIt = function (this: Duplex): void {
  this.destroy();
};

export const createConnections = ({ secure }: Origin, sockets: number, ca: string | undefined): Connections => {
  // The oldest first: it is the only order in which a connection that has just ended is not picked.
  const common = { keepAlive: true, maxSockets: sockets, maxFreeSockets: idleMax, scheduling: "fifo", timeout: idleMs } as const;
  const agent = secure ? new SecureAgent({ ...common, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) }) : new Agent(common);
  const open = new Set<Duplex>();
  let closed: (() => void) | undefined;

  const connect = agent.createConnection.bind(agent) as Agent["createConnection"];
  agent.createConnection = (options, callback) => {
    // A connection that ends makes room for the next request in line, also for one that has been given up.
    if (closed !== undefined) {
      callback?.(new Error("closed"), undefined as unknown as Duplex);
      return undefined;
    }
    const socket = connect(options, callback);
    if (socket === undefined || socket === null) return socket;
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      if (open.size === 0) closed?.();
    });
    return socket;
  };
  // The platform answers whether it may be kept, which its types leave out.
  const keep = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean;
  agent.keepSocketAlive = (socket) => {
    if (!keep(socket)) return false;
    socket.on("data", endIt);
    return true;
  };
  const reuse = agent.reuseSocket.bind(agent);
  agent.reuseSocket = (socket, request) => {
    socket.removeListener("data", endIt);
    reuse(socket, request);
  };

  return {
    agent,
    open: () => open.size,
    close: () =>
      new Promise((resolve) => {
        const before = closed;
        closed = () => {
          before?.();
          resolve();
        };
        for (const socket of open) socket.destroy();
        if (open.size === 0) closed();
      }),
  };
};
