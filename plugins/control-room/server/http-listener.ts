/**
 * HTTP listener of the control port: connections, their bounds, and the guard in front of the routes.
 *
 * Invariants: at most `connectionsMax` connections, `headerBytesMax` of headers, `headMs` for a head; every answer
 * carries the same headers of protection and none that would let another site read it; wrong tokens are answered late,
 * and only a bounded number at a time.
 * Not here: the decisions (request-guard.ts), the routes (control-app.ts).
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "sluice/extension";
import { type Access, type GuardRules, hostsOf, judge, type RefusalCode } from "./request-guard.ts";
import type { PortFacts } from "./thread-messages.ts";

const connectionsMax = 512;
const headerBytesMax = 8 * 1024;
const headersMax = 64;
const headMs = 5_000;
const requestMs = 10_000;
const idleMs = 5_000;
const slowedMax = 16;
const slowedMs = 500;
const partingMs = 300;

/** Sent with every answer. */
const protection: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
};

type Routes = (incoming: IncomingMessage, outgoing: ServerResponse, access: Access) => void;

interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

const options: ServerOptions = {
  maxHeaderSize: headerBytesMax,
  headersTimeout: headMs,
  requestTimeout: requestMs,
  keepAliveTimeout: idleMs,
  connectionsCheckingInterval: 1_000,
  insecureHTTPParser: false,
  requireHostHeader: false,
  joinDuplicateHeaders: false,
};

/** Rejects when the port cannot be had. */
export const listen = async (facts: PortFacts, clock: Clock, routes: Routes): Promise<Listening> => {
  const { host, port, tls, names, behindProxy, isOpen, tokens } = facts;
  const rules: { guard: GuardRules | undefined } = { guard: undefined };
  const answer: RequestListener = guarded(() => rules.guard as GuardRules, clock, routes);
  const server: Server =
    tls === undefined ? createServer(options, answer) : createTlsServer({ ...options, ...tls }, answer);
  bound(server);
  server.on("checkContinue", answer);
  server.on("checkExpectation", answer);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const scheme = tls !== undefined || behindProxy ? "https" : "http";
  const taken = (server.address() as AddressInfo).port;
  rules.guard = { isOpen, scheme, hosts: hostsOf(taken, scheme, names), tokens };
  return { port: taken, close: () => closed(server, clock) };
};

const bound = (server: Server): void => {
  server.maxConnections = connectionsMax;
  server.maxHeadersCount = headersMax;
  server.maxRequestsPerSocket = 1_000;
  const hangUp = (_: unknown, socket: Duplex): void => {
    socket.on("error", () => undefined);
    if (socket.writable)
      socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n", () => socket.destroy());
    else socket.destroy();
  };
  server.on("clientError", hangUp);
  server.on("upgrade", hangUp);
  server.on("connect", hangUp);
};

const guarded = (rules: () => GuardRules, clock: Clock, routes: Routes): RequestListener => {
  let slowed = 0;
  return (incoming, outgoing) => {
    const { httpVersion, method = "", url = "", rawHeaders, socket } = incoming;
    for (const [name, value] of Object.entries(protection)) outgoing.setHeader(name, value);
    const verdict = judge({ peer: socket.remoteAddress ?? "", httpVersion, method, url, rawHeaders }, rules());
    if (verdict.ok) {
      routes(incoming, outgoing, verdict.access);
      return;
    }
    const { status, code, text } = verdict;
    if (code !== "TOKEN_WRONG") refuse(outgoing, status, code, text);
    else if (slowed >= slowedMax) refuse(outgoing, 429, "RATE_LIMITED", "Too many wrong tokens.");
    else {
      slowed++;
      clock.setTimer(clock.now() + slowedMs, () => {
        slowed--;
        refuse(outgoing, status, code, text);
      });
    }
  };
};

/** Refuses a request and ends its connection: the rest of the request is not read. */
const refuse = (outgoing: ServerResponse, status: number, code: RefusalCode | "RATE_LIMITED", text: string): void => {
  const body = JSON.stringify({ ok: false, code, text });
  const more = status === 401 ? { "www-authenticate": "Bearer" } : {};
  outgoing.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
    ...more,
  });
  outgoing.end(body);
};

/** Closes the server after its last output, such as the end of a stream, was sent. */
const closed = (server: Server, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    const timer = clock.setTimer(clock.now() + partingMs, () => server.closeAllConnections());
    server.close(() => {
      timer.cancel();
      resolve();
    });
    server.closeIdleConnections();
  });
