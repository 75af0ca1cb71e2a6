/**
 * The embedded service as a real server on this machine: one port for HTTP and WebSocket.
 *
 * Invariants: it listens on loopback only; closing ends every connection and timer it has, in order: nothing new,
 * sockets, requests; the venue is driven on the service's clock (`faults.clock`), and so must be the player of its
 * market.
 * Not here: the market (backtest/serve/market-replay.ts), the owners of keys (the caller passes them to venue and
 * server).
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Random, SluiceError } from "sluice";
import type { Venue } from "sluice/backtest";
import type { Contract } from "sluice/dialect";
import { type Clock, lateListings } from "sluice/extension";
import { createAuthentication } from "./authentication.ts";
import { createFaults, type FaultPlan, type Faults } from "./faults.ts";
import { spendForeign } from "./foreign.ts";
import { HttpHandler } from "./http-handler.ts";
import { Keyring, type ServerKey } from "./keyring.ts";
import { type Page, pagesOf } from "./pages.ts";
import { PendingTimers } from "./pending-timers.ts";
import { PublicChannels } from "./public-channels.ts";
import { describedService, type ServedDialect } from "./served-dialect.ts";
import { addressOf, attachSockets } from "./sockets.ts";

/** Options of `startVenueServer`. */
export interface VenueServerOptions {
  readonly venue: Venue;
  readonly contract: Contract;
  readonly clock: Clock;
  readonly random: Random;
  /** Dialect on the wire, with a contract made for it; the described service's API when left out. */
  readonly dialect?: ServedDialect;
  /** Their names are those of the venue's keys. */
  readonly keys: readonly ServerKey[];
  /** A free one when left out. */
  readonly port?: number;
  readonly faults?: FaultPlan;
  /** Shown as JSON to GET, by path; a function is asked once the addresses are known. */
  readonly documents?: Documents | ((at: { readonly url: string; readonly wsUrl: string }) => Documents);
  /** The address that the layer of addresses counts; the connection's when left out. */
  readonly ipOf?: (request: IncomingMessage) => string;
  /** Timeouts of connections, in milliseconds. */
  readonly patience?: Partial<Patience>;
  /** Called with internal errors; the client received a 500. */
  readonly onError?: (error: unknown) => void;
}

export type Documents = Readonly<Record<string, unknown>>;

export interface Patience {
  /** Timeout for the whole head of a request. */
  readonly headMs: number;
  /** Timeout for the whole request. */
  readonly requestMs: number;
  /** Between requests. */
  readonly idleMs: number;
}

/** The embedded service on a port of this machine. */
export interface VenueServer {
  readonly url: string;
  readonly wsUrl: string;
  readonly board: PublicChannels;
  readonly faults: Faults;
  close(): Promise<void>;
  readonly counts: () => { connections: number; sockets: number; requests: number };
}

const host = "127.0.0.1";
const headerBytesMax = 16_384;
const patienceDefault: Patience = { headMs: 10_000, requestMs: 30_000, idleMs: 60_000 };

/** Opens the embedded service on this machine, over HTTP and WebSocket; resolves when it listens. `close` ends it. */
export const startVenueServer = async (options: VenueServerOptions): Promise<VenueServer> => {
  const { venue, contract, clock, keys, dialect = describedService, onError = () => undefined } = options;
  const random = options.random.fork("server");
  const faults = createFaults(options.faults, clock, random);
  const keyring = new Keyring(contract.profile, keys);
  const board = new PublicChannels(contract);
  const pendingTimers = new PendingTimers(clock);
  const speech = dialect.speak({ contract, listing: venue.listing });
  const pages = new Map<string, Page>();
  const { listings: lag, foreign = [] } = faults.plan;
  const uids = [...new Set(keys.map(({ uid }) => uid))];
  const listings = lag && lateListings(venue, contract, faults.clock, lag.lagMs);
  const requests = new HttpHandler({
    contract,
    judge: createAuthentication({ venue, contract, keyring, faults, speech, listings }),
    faults,
    pendingTimers,
    routes: speech.routes,
    pages,
    ipOf: options.ipOf ?? addressOf,
    onError,
  });
  const server = serverFor({ ...patienceDefault, ...options.patience });
  let connections = 0;
  server.on("connection", (socket) => {
    connections++;
    socket.on("close", () => {
      connections--;
    });
  });
  server.on("request", (request, response) => requests.request(request, response));
  server.on("connect", (_, socket) => requests.tunnel(socket));
  server.on("checkExpectation", (_, response) => requests.unexpected(response));
  server.on("clientError", (error, socket) => requests.refuse(error, socket));
  // Patience with a silent client is measured on the steady clock: the calendar may step.
  const sockets = attachSockets(server, {
    venue,
    contract,
    clock,
    keyring,
    speech,
    faults,
    board,
    ipOf: options.ipOf ?? addressOf,
  });
  const close = async (): Promise<void> => {
    pendingTimers.clear();
    listings?.stop();
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    await sockets.close();
    // Answers are given at once unless a fault holds them, and those are not waited for.
    server.closeAllConnections();
    await closed;
  };
  try {
    spendForeign(foreign, uids, venue, faults.clock, pendingTimers, random);
    await listen(server, options.port ?? 0);
  } catch (error) {
    await close();
    throw error;
  }
  server.on("error", onError);
  const { port } = server.address() as AddressInfo;
  const at = { url: `http://${host}:${port}`, wsUrl: `ws://${host}:${port}${speech.socketPaths[0]}` };
  const { documents = {} } = options;
  for (const [path, page] of pagesOf(contract, speech, typeof documents === "function" ? documents(at) : documents))
    pages.set(path, page);
  let closing: Promise<void> | undefined;
  return {
    ...at,
    board,
    faults,
    close: () => {
      closing ??= close();
      return closing;
    },
    counts: () => ({ connections, sockets: sockets.count, requests: requests.requests }),
  };
};

const serverFor = ({ headMs, requestMs, idleMs }: Patience): Server =>
  createServer({
    headersTimeout: headMs,
    requestTimeout: Math.max(headMs, requestMs),
    keepAliveTimeout: idleMs,
    // Interval at which the two deadlines above are checked.
    connectionsCheckingInterval: Math.min(1_000, headMs, requestMs),
    maxHeaderSize: headerBytesMax,
    // A request without a host gets an answer in the service's form.
    requireHostHeader: false,
  });

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      const why = error.code === "EADDRINUSE" ? "another program listens there" : (error.code ?? error.message);
      reject(
        new SluiceError(
          "PORT_UNAVAILABLE",
          `Cannot listen on ${host}:${port}: ${why}. Choose another port, or 0 for any that is free.`,
        ),
      );
    };
    server.once("error", failed);
    server.listen(port, host, () => {
      server.off("error", failed);
      resolve();
    });
  });
