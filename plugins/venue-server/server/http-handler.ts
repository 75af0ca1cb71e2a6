/**
 * The wire side of the service's REST endpoints: requests in, answers out, and the faults in between.
 *
 * Invariants: every request that can be read gets exactly one answer, or loses its connection by a fault; an internal
 * error is a 500 with an envelope, never the end of the process; bytes that are no HTTP get a plain 4xx and the
 * connection is closed.
 * Not here: signatures and permissions (authentication.ts), the listening socket (server.ts).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { VenueResponse } from "sluice/backtest";
import type { Contract, EndpointName } from "sluice/dialect";
import type { Arrival, Authentication } from "./authentication.ts";
import type { Faults } from "./faults.ts";
import { drop, send, spoil, type Way } from "./http-faults.ts";
import type { Page } from "./pages.ts";
import { readBody, targetOf } from "./parse-request.ts";
import type { PendingTimers } from "./pending-timers.ts";

interface HttpHandlerOptions {
  readonly contract: Contract;
  readonly judge: Authentication;
  readonly faults: Faults;
  readonly pendingTimers: PendingTimers;
  readonly routes: ReadonlyMap<string, EndpointName>;
  readonly pages: ReadonlyMap<string, Page>;
  readonly ipOf: (request: IncomingMessage) => string;
  /** Called with internal errors. */
  readonly onError: (error: unknown) => void;
}

export class HttpHandler {
  /** Requests so far. */
  requests = 0;
  readonly #options: HttpHandlerOptions;

  constructor(options: HttpHandlerOptions) {
    this.#options = options;
  }

  request(request: IncomingMessage, response: ServerResponse): void {
    const { pages, pendingTimers, ipOf } = this.#options;
    this.requests++;
    // The service stamps its own time, or none.
    response.sendDate = false;
    response.on("error", () => undefined);
    const { method = "", url = "", headers, httpVersion } = request;
    const malformed = malformedBy(httpVersion, headers.host);
    if (malformed !== undefined) {
      this.#unread(response, 400, malformed);
      return;
    }
    const way: Way = { response, pendingTimers, url };
    const target = targetOf(url);
    const shown = method === "GET" || method === "HEAD" ? pages.get(target.path) : undefined;
    if (shown !== undefined) {
      response.writeHead(200, shown.headers);
      response.end(shown.text);
      return;
    }
    // A header sent twice is one text with a comma in it by now, and no key or signature.
    const arrival = { method, target, ip: ipOf(request), headers: headers as Arrival["headers"] };
    readBody(request, (body) => {
      this.#guarded(way, () => this.#serve(way, { ...arrival, body }));
    });
  }

  /** A request that expects what no server here does. */
  unexpected(response: ServerResponse): void {
    this.requests++;
    response.sendDate = false;
    this.#unread(response, 417, "the header Expect has something other than 100-continue.");
  }

  /** A request for a tunnel, which only a proxy makes. */
  tunnel(socket: Duplex): void {
    this.requests++;
    socket.on("error", () => undefined);
    this.#write(socket, "405 Method Not Allowed", "this is no proxy.");
  }

  /** Bytes that are no request, or that come too slowly to be one. */
  refuse({ code = "" }: Error & { readonly code?: string }, socket: Duplex): void {
    if (!socket.writable || code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    const status = statuses[code] ?? "400 Bad Request";
    this.#write(socket, status, `${status.slice(4)}.`);
  }

  /** Envelope for a request that is refused before the service sees it. */
  #refusal(problem: string): VenueResponse["body"] {
    return { code: this.#options.contract.profile.answers.badRequestCode, msg: `request: ${problem}`, data: [] };
  }

  /** Answers a request whose body is not read, and closes the connection. */
  #unread(response: ServerResponse, status: number, problem: string): void {
    send({ response }, { status, headers: { connection: "close" }, body: this.#refusal(problem) });
  }

  #write(socket: Duplex, status: string, problem: string): void {
    const text = JSON.stringify(this.#refusal(problem));
    const head = `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`;
    socket.end(head + text);
  }

  #guarded(way: Way, run: () => void): void {
    try {
      run();
    } catch (error) {
      const { contract, onError } = this.#options;
      onError(error);
      if (way.response.headersSent) drop(way);
      else {
        const body = { code: contract.profile.answers.unavailableCode, msg: "The service failed.", data: [] };
        send(way, { status: 500, headers: {}, body });
      }
    }
  }

  #serve(way: Way, arrival: Arrival): void {
    const { judge, faults, routes, pendingTimers } = this.#options;
    const fault = faults.http(routes.get(`${arrival.method} ${arrival.target.path}`));
    if (fault === undefined) send(way, judge(arrival));
    else if (fault.kind === "drop_request") drop(way);
    else if (fault.leg === "out") {
      if (fault.kind === "duplicate") judge(arrival);
      spoil(way, judge(arrival), fault);
    } else if (fault.kind === "delay") {
      pendingTimers.later(fault.ms, () => {
        this.#guarded(way, () => send(way, judge(arrival)));
      });
    } else spoil(way, unseen, fault);
  }
}

/** Problem of a request line and its host; undefined where there is none. */
const malformedBy = (httpVersion: string, host: string | undefined): string | undefined => {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return `the version ${httpVersion} of HTTP is not served.`;
  return host === undefined && httpVersion === "1.1" ? "the header Host is missing." : undefined;
};

/** Answer that a fault corrupts if the service was never asked: an empty success. */
const unseen: VenueResponse = { status: 200, headers: {}, body: { code: "0", msg: "", data: [] } };

const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};
